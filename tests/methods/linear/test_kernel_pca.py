"""KernelPCA against scikit-learn, closed forms, limits of its kernels, transform, pre-images and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as Peer

from gnomon import PCA
from gnomon.affinities import Gram
from gnomon.exceptions import DataWarning
from gnomon.linalg import eigenpairs, symmetric_operator
from gnomon.methods.linear import kernel_pca
from gnomon.methods.linear.kernel_pca import KernelPCA

X = np.random.default_rng(0).normal(size=(70, 4)) * [3.0, 2.0, 1.0, 0.5] + 2.0
NEW = np.random.default_rng(1).normal(size=(9, 4)) + 2.0
SAME = {
    "gaussian": ({"kernel_params": {"sigma": 1.5}}, {"kernel": "rbf", "gamma": 0.5 / 1.5**2}),
    "polynomial": (
        {"kernel_params": {"coefficients": (1, 3, 3, 1), "scale": 4.0}},
        {"kernel": "poly", "degree": 3, "gamma": 0.25, "coef0": 1},
    ),
    "cosine": ({}, {"kernel": "cosine"}),
    "linear": ({}, {"kernel": "linear"}),
}
# Independent values for x_ij = sin(1 + 1.7 i + 0.9 j + 0.31 i j), a Gaussian kernel of width 1.2.
EIGENVALUES = [1.481230429, 1.363340939, 0.8231858661, 0.3071311856, 0.1844784628, 0.1422905042, 0.08070610692]


@pytest.mark.parametrize("approximation", [None, "nystrom", "cholesky"])
@pytest.mark.parametrize("kernel", SAME)
def test_scores_and_new_rows_are_those_of_scikit_learn(kernel, approximation):
    """With all rows as landmarks the approximations are exact."""
    ours, theirs = SAME[kernel]
    model = KernelPCA(3, kernel=kernel, approximation=approximation, random_state=0, **ours).fit(X)
    peer = Peer(3, **theirs).fit(X)
    signs = np.sign(np.sum(model.embedding_ * peer.fit_transform(X), axis=0))
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.embedding_, signs * peer.fit_transform(X), atol=1e-7 * size)
    np.testing.assert_allclose(model.transform(NEW), signs * peer.transform(NEW), atol=1e-7 * size)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-7 * size)
    np.testing.assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-8)
    assert model.approximation_ == approximation
    assert model.negative_inertia_ == 0.0
    largest = np.abs(model.eigenvectors_).argmax(axis=0)
    assert (model.eigenvectors_[largest, np.arange(3)] > 0).all()


def test_given_similarities_are_those_of_their_kernel():
    K, cross = X @ X.T, NEW @ X.T
    for matrix in (K, sp.csr_array(K)):
        for approximation in (None, "cholesky"):
            model = KernelPCA(2, kernel="precomputed", approximation=approximation, random_state=0).fit(matrix)
            peer = Peer(2, kernel="precomputed").fit(K)
            np.testing.assert_allclose(np.abs(model.transform(cross)), np.abs(peer.transform(cross)), atol=1e-8)
    called = KernelPCA(2, kernel=lambda a, b: a @ b.T, random_state=0).fit(X)
    np.testing.assert_allclose(called.transform(NEW), model.transform(cross), atol=1e-8)


def test_agrees_with_independent_values():
    i, j = np.indices((8, 3))
    model = KernelPCA(7, kernel_params={"sigma": 1.2}).fit(np.sin(1 + 1.7 * i + 0.9 * j + 0.31 * i * j))
    np.testing.assert_allclose(model.eigenvalues_, EIGENVALUES, rtol=1e-6)
    assert model.explained_ratio_[:2].sum() == pytest.approx(0.6490952593, rel=1e-6)
    assert model.explained_ratio_.sum() == pytest.approx(1.0)


def test_a_wide_gaussian_is_pca_and_a_narrow_one_tells_rows_apart_only():
    wide = KernelPCA(2, kernel_params={"sigma": 1e4}).fit(X)
    np.testing.assert_allclose(np.abs(wide.embedding_) * 1e4, np.abs(PCA(2).fit_transform(X)), rtol=1e-3, atol=1e-3)
    narrow = KernelPCA(3, kernel_params={"sigma": 1e-4}).fit(X)
    np.testing.assert_allclose(narrow.eigenvalues_, 1.0)  # H K H tends to H


def test_the_polynomial_has_the_spectrum_of_its_extended_features():
    x, y = X[:, :2].T
    features = np.stack([x, y, x**2, y**2, np.sqrt(2) * x * y], axis=1)
    with pytest.warns(DataWarning, match="5 of 7 eigenvalues are positive; the other columns are zero"):
        model = KernelPCA(7, kernel="polynomial").fit(X[:, :2])
    variances = np.linalg.svd(features - features.mean(0), compute_uv=False) ** 2
    np.testing.assert_allclose(model.eigenvalues_[:5], variances, rtol=1e-8)
    assert not model.embedding_[:, 5:].any()
    assert not model.transform(NEW[:, :2])[:, 5:].any()
    without_root = np.stack([x, y, x**2, y**2, x * y], axis=1)
    assert not np.allclose(
        np.linalg.svd(without_root - without_root.mean(0), compute_uv=False) ** 2, variances, rtol=0.01
    )


def test_only_squared_dissimilarities_take_minus_one_half():
    squared = np.square(X[:, None] - X[None]).sum(-1)
    K = np.exp(-squared / 8)
    true = KernelPCA(2, kernel_params={"sigma": 2.0}).fit(X)
    distance = KernelPCA(2, kernel="precomputed").fit(-0.5 * (2 - 2 * K))  # the squared distance in the feature space
    np.testing.assert_allclose(distance.embedding_, true.embedding_, atol=1e-9)
    halved = KernelPCA(2, kernel="precomputed").fit(-0.5 * (1 - K))
    np.testing.assert_allclose(halved.embedding_, true.embedding_ / np.sqrt(2), atol=1e-9)
    with pytest.warns(DataWarning, match="0 of 2 eigenvalues are positive"):
        wrong = KernelPCA(2, kernel="precomputed").fit(-0.5 * K)
    assert wrong.negative_inertia_ == pytest.approx(1.0)


def test_centring_does_not_make_a_symmetric_matrix_semidefinite():
    distances = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    with pytest.warns(DataWarning, match="1 of 2"):
        model = KernelPCA(2, kernel="precomputed").fit(-0.5 * distances**2)
    np.testing.assert_allclose(model.eigenvalues_, [12.5, 0.0])
    assert model.negative_inertia_ == pytest.approx(3.5 / 16)


@pytest.mark.parametrize(
    ("kernel", "parameters"), [("sketch_map", {"sigma": 1.0, "a": 4.0, "b": 4.0}), ("umap", {"sigma": 1.0, "b": 1.6})]
)
def test_indefinite_kernels_keep_the_positive_part_and_report_the_rest(kernel, parameters):
    line = np.linspace(0.0, 4.0, 40)[:, None]
    model = KernelPCA(2, kernel=kernel, kernel_params=parameters, random_state=0).fit(line)
    values = np.linalg.eigvalsh(Gram.from_kernel(kernel, line, parameters=parameters).centred().dense())
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-9)
    assert model.negative_inertia_ == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    assert model.negative_inertia_ > 0.005
    np.testing.assert_allclose(model.transform(line), model.embedding_, atol=1e-9)


def test_order_of_rows_moving_and_threads_change_nothing(digits):
    rows = digits[0][:700]
    first = KernelPCA(3, random_state=0, n_jobs=1).fit(rows)
    order = np.random.default_rng(0).permutation(len(rows))
    again = KernelPCA(3, kernel_params={"sigma": first.sigma_}, random_state=0).fit(rows[order] + 1000.0)
    np.testing.assert_allclose(np.abs(again.embedding_), np.abs(first.embedding_[order]), atol=1e-7)
    for approximation in (None, "nystrom", "cholesky"):
        found = set()
        for n_jobs in (1, 2, 3):
            model = KernelPCA(3, approximation=approximation, rank=50, random_state=0, n_jobs=n_jobs).fit(rows)
            found.add(model.embedding_.tobytes() + model.transform(rows[:90]).tobytes())
        assert len(found) == 1


def test_auto_turns_to_landmarks_and_both_sides_agree(digits, monkeypatch):
    exact = KernelPCA(3, random_state=0).fit(digits[0])
    monkeypatch.setattr(kernel_pca, "_MOST_EXACT", 1000)
    auto = KernelPCA(3, random_state=0).fit(digits[0])
    assert (exact.approximation_, auto.approximation_) == (None, "nystrom")
    assert len(auto.landmarks_) == 500
    np.testing.assert_allclose(auto.eigenvalues_, exact.eigenvalues_, rtol=0.01)
    np.testing.assert_allclose(auto.embedding_, exact.embedding_, atol=0.02 * np.abs(exact.embedding_).max())
    np.testing.assert_allclose(auto.transform(digits[0][:20]), auto.embedding_[:20], atol=1e-9)
    assert 0.0 < auto.approximation_residual_ < 0.2
    indefinite = KernelPCA(2, kernel="umap", kernel_params={"b": 1.5}, random_state=0).fit(digits[0][:1100])
    assert indefinite.approximation_ is None


def test_each_row_is_placed_by_itself():
    model = KernelPCA(2, random_state=0).fit(X)
    together = model.transform(NEW)
    for i in range(len(NEW)):
        np.testing.assert_allclose(model.transform(NEW[i : i + 1])[0], together[i], atol=1e-13)
    assert model.transform(NEW[:0]).shape == (0, 2)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).transform(NEW), together, atol=0)


@pytest.mark.parametrize("n_rows", [610])  # above 600, where they begin
def test_blocks_of_vectors_find_the_pairs_of_a_dense_solver(n_rows):
    """Flat, decaying and repeated spectra."""
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(n_rows, n_rows)))[0]
    for values in (1.0 / np.arange(1, n_rows + 1), np.r_[3.0, 3.0, 3.0, np.zeros(n_rows - 3)], -np.ones(n_rows)):
        matrix = (basis * values) @ basis.T
        operator = symmetric_operator(lambda Y, matrix=matrix: matrix @ Y, n_rows)
        found = eigenpairs(operator, 4, which="largest")
        np.testing.assert_allclose(found.values, np.sort(values)[::-1][:4], atol=1e-10)
        np.testing.assert_allclose(matrix @ found.vectors, found.vectors * found.values, atol=1e-9)
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("approximation", [None, "nystrom"])
@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "laplacian", "sketch_map", "umap"])
def test_the_nearest_image_of_a_fitted_row_is_the_row(kernel, approximation):
    model = KernelPCA(60, kernel=kernel, approximation=approximation, inverse="fixed_point", random_state=0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=0.15)


def test_the_inverse_of_the_linear_kernel_is_that_of_pca():
    for approximation in (None, "nystrom"):
        model = KernelPCA(2, kernel="linear", approximation=approximation, random_state=0).fit(X)
        expected = PCA(2).fit(X)
        np.testing.assert_allclose(
            model.inverse_transform(model.embedding_), expected.inverse_transform(expected.embedding_), atol=1e-8
        )


def test_pre_images_remove_noise_better_than_scikit_learn(digits):
    clean, rng = digits[0][:500].astype(float) / 16, np.random.default_rng(0)
    train, held = clean[:350], clean[350:]
    noisy = held + 0.25 * rng.normal(size=held.shape)
    model = KernelPCA(32, random_state=0).fit(train)
    peer = Peer(32, kernel="rbf", gamma=0.5 / model.sigma_**2, fit_inverse_transform=True).fit(train)
    error = np.square(peer.inverse_transform(peer.transform(noisy)) - held).mean()
    for inverse in ("ridge", "fixed_point"):
        found = model.set_params(inverse=inverse).inverse_transform(model.transform(noisy))
        assert np.square(found - held).mean() < 0.9 * error
        assert np.square(found - held).mean() < 0.5 * np.square(noisy - held).mean()


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_equal_rows_share_one_place():
    model = KernelPCA(2).fit(np.full((20, 3), 2.5))
    assert not model.embedding_.any()
    assert not model.explained_ratio_.any()
    assert np.isfinite(model.inverse_transform(model.embedding_)).all()


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"n_components": 70}, ValueError, "KernelPCA: n_components=70 must be less than n_samples=70"),
        ({"n_components": -1}, ValueError, "KernelPCA: n_components=-1 must be an integer >= 1"),
        ({"kernel": "rbf"}, ValueError, "KernelPCA: kernel='rbf' must be one of 'linear', "),
        ({"kernel": 3}, TypeError, "KernelPCA: kernel=3 must be "),
        ({"kernel_params": {"gamma": 1}}, ValueError, "parameters gamma .* must be among sigma"),
        ({"approximation": "magic"}, ValueError, "approximation='magic' must be one of 'auto', 'nystrom', 'cholesky'"),
        ({"approximation": "nystrom", "rank": 99}, ValueError, "rank=99 must be at most n_samples=70"),
        ({"rank": 0}, ValueError, "rank=0 must be an integer >= 1"),
        ({"alpha": 0.0}, ValueError, "alpha=0.0 must be a number > 0"),
        ({"inverse": "magic"}, ValueError, "inverse='magic' must be one of 'ridge', 'fixed_point'"),
    ],
)
def test_errors_name_the_argument_and_the_rule(parameters, error, text):
    with pytest.raises(error, match=text):
        clone(KernelPCA()).set_params(**parameters).fit(X)


def test_pre_images_say_what_they_cannot_do():
    model = KernelPCA(2, kernel="cosine", inverse="fixed_point").fit(X)
    with pytest.raises(ValueError, match="inverse='fixed_point' must be 'ridge' for a kernel that is not one of the"):
        model.inverse_transform(model.embedding_)
    with pytest.raises(ValueError, match="Y with 3 columns must be of 2 columns"):
        model.inverse_transform(X[:, :3])
    given = KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(ValueError, match="kernel='precomputed' must be a kernel of rows"):
        given.inverse_transform(given.embedding_)
