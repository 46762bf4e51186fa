"""GradientPCA against PCA and kernel PCA, its determinism, its stopping and its errors."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import KernelPCA

from gnomon import PCA, GradientPCA
from gnomon.exceptions import ConvergenceWarning, DataWarning


@pytest.mark.parametrize("step", ["safe", "babylonian"])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_the_map_is_that_of_pca_signs_included(iris, step, n_components):
    X = iris[0]
    model = GradientPCA(n_components, step=step, tol=1e-10, random_state=0).fit(X)
    expected = PCA(n_components).fit_transform(X)
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-6)
    assert model.procrustes_error_ < 1e-6
    assert model.solution_.converged
    assert model.embedding_.dtype == np.float64


@pytest.mark.parametrize("approximation", [None, "randomized", "nystrom", "cholesky"])
def test_approximations_of_full_rank_change_nothing(iris, approximation):
    model = GradientPCA(approximation=approximation, rank=20, tol=1e-10, random_state=1).fit(iris[0])
    np.testing.assert_allclose(model.embedding_, PCA().fit_transform(iris[0]), atol=1e-6)
    assert (model.low_rank_ is None) == (approximation is None)
    if approximation is not None:
        assert model.low_rank_.rank == 4


@pytest.mark.parametrize("approximation", [None, "nystrom", "cholesky", "randomized"])
def test_the_gaussian_kernel_gives_kernel_pca(iris, approximation):
    X = iris[0]
    model = GradientPCA(
        kernel="gaussian", kernel_params={"sigma": 1.5}, approximation=approximation, rank=140, random_state=0
    ).fit(X)
    expected = KernelPCA(2, kernel="rbf", gamma=0.5 / 1.5**2).fit_transform(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), atol=1e-5)


def test_similarities_may_be_given_as_a_matrix_or_a_function(iris):
    X = iris[0]
    expected = GradientPCA(random_state=0).fit(X).embedding_
    centred = X - X.mean(0)
    for kernel, table in (
        ("precomputed", X @ X.T),
        ("precomputed", sp.csr_array(X @ X.T)),
        (lambda a, b: a @ b.T, X),
        ("precomputed", -0.5 * np.square(centred[:, None] - centred[None]).sum(-1)),  # classical scaling
    ):
        model = GradientPCA(kernel=kernel, random_state=0).fit(table)
        np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), atol=1e-5)
        largest = np.abs(model.embedding_).argmax(axis=0)
        assert (model.embedding_[largest, [0, 1]] > 0).all()


def test_sparse_agrees_with_dense(digits):
    X = digits[0][:200].astype(np.float64)
    dense = GradientPCA(random_state=0).fit_transform(X)
    for form in (sp.csr_matrix, sp.csc_array):
        np.testing.assert_allclose(GradientPCA(random_state=0).fit_transform(form(X)), dense, atol=1e-4)


def test_moving_the_rows_moves_nothing(iris):
    expected = GradientPCA(tol=1e-10, random_state=0).fit_transform(iris[0])
    np.testing.assert_allclose(GradientPCA(tol=1e-10, random_state=0).fit_transform(iris[0] + 1e4), expected, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        GradientPCA(random_state=3, max_iter=40),
        GradientPCA(kernel="gaussian", random_state=3, max_iter=40, step="babylonian"),
        GradientPCA(kernel="cosine", approximation="cholesky", rank=30, random_state=3, max_iter=40),
    ],
)
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.ConvergenceWarning")
def test_same_bytes_for_any_number_of_threads(model, digits):
    X = digits[0][:400]
    maps = [clone(model).set_params(n_jobs=n).fit_transform(X).tobytes() for n in (1, 2, 3, 5)]
    assert len(set(maps)) == 1
    assert clone(model).set_params(random_state=4).fit_transform(X).tobytes() != maps[0]


def test_safe_losses_never_rise_and_ten_iterations_lie_between_them(digits):
    model = GradientPCA(random_state=0).fit(digits[0])
    iterations, losses = map(np.array, zip(*model.solution_.loss, strict=True))
    assert (np.diff(losses) <= 1e-13 * losses[0]).all()
    assert (np.diff(iterations)[:-1] == 10).all()
    assert model.strain_ == losses[-1]
    assert model.n_iter_ == iterations[-1]
    assert model.procrustes_error_ < 1e-5
    assert 0 < model.safe_step_ < 1 / (3 * model.gram_.leading_eigenpairs(1).values[0])


def test_a_start_that_is_given_is_used(iris):
    start = PCA().fit_transform(iris[0])[:, [0, 1]]
    model = GradientPCA(init=start).fit(iris[0])
    assert model.n_iter_ == 0
    with pytest.raises(ValueError, match=r"GradientPCA: init of shape \(5, 2\) must be of shape"):
        GradientPCA(init=start[:5]).fit(iris[0])


def test_a_callback_sees_progress_and_can_stop_the_descent(iris):
    seen = []

    def stop(progress):
        seen.append(progress.stage)
        return progress.stage == "descent" and progress.done >= 20

    model = GradientPCA(callback=stop, random_state=0, approximation="cholesky", rank=4).fit(iris[0])
    assert model.n_iter_ == 20
    assert list(dict.fromkeys(seen)) == ["similarity", "approximation", "initialization", "descent", "comparison"]
    assert set(model.timings_) == set(seen)
    assert not model.solution_.converged


def test_too_few_iterations_are_a_warning_with_the_remedy(iris):
    with pytest.warns(ConvergenceWarning, match=r"GradientPCA: 5 iterations did not reach tol=1e-08\. Raise max_it"):
        GradientPCA(max_iter=5, random_state=0).fit(iris[0])


def test_equal_rows_share_one_position():
    with pytest.warns(DataWarning, match="all points are equally similar"):
        model = GradientPCA(random_state=0).fit(np.full((10, 3), 7.0))
    np.testing.assert_array_equal(model.embedding_, 0)


def test_names_of_columns_are_kept(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    model = GradientPCA(random_state=0).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.get_feature_names_out()) == ["gradientpca0", "gradientpca1"]


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"n_components": 5}, ValueError, r"GradientPCA: n_components=5 must be at most n_features=4\. Use n_comp"),
        (
            {"n_components": 150, "kernel": "cosine"},
            ValueError,
            r"n_components=150 must be less than n_samples",
        ),
        ({"kernel": "cosin"}, ValueError, r"kernel='cosin' must be one of 'linear', .* or a callable"),
        ({"kernel": "precomputed"}, ValueError, r"a similarity of shape \(150, 4\) must be a square matrix"),
        ({"kernel_params": {"sigma": 1.0}}, ValueError, r"parameters sigma of kernel='linear'"),
        ({"approximation": "svd"}, ValueError, r"approximation='svd' must be one of 'randomized', .* or None"),
        ({"approximation": "nystrom", "rank": 500}, ValueError, r"Gram: rank=500 must be at most n_samples=150"),
        ({"step": 0.1}, TypeError, r"step=0.1 must be one of 'safe', 'babylonian'"),
        ({"tol": -1.0}, ValueError, r"tol=-1.0 must be a number >= 0"),
    ],
)
def test_errors_name_the_argument_and_the_rule(iris, parameters, error, text):
    with pytest.raises(error, match=text):
        GradientPCA(**parameters).fit(iris[0])


def test_an_asymmetric_similarity_is_refused(iris):
    K = iris[0] @ iris[0].T
    K[3, 5] += 1.0
    with pytest.raises(ValueError, match=r"GradientPCA: the similarity must be symmetric \(40\.56 at row 3, column 5"):
        GradientPCA(kernel="precomputed").fit(K)


def test_the_seed_that_was_drawn_repeats_the_run(iris):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = GradientPCA().fit(iris[0])
        again = GradientPCA(random_state=drawn.seed_).fit(iris[0])
    np.testing.assert_array_equal(drawn.embedding_, again.embedding_)
