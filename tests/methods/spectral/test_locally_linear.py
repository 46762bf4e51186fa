"""Locally linear embedding against scikit-learn, closed forms and the structure of known surfaces."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding as Peer

from gnomon.affinities import reconstruction_weights
from gnomon.exceptions import ConvergenceWarning, DataWarning, NeighborsWarning
from gnomon.linalg import eigenpairs
from gnomon.linalg.eigen import eigenpairs as choice
from gnomon.methods.spectral.locally_linear import LocallyLinearEmbedding
from gnomon.neighbors import bridged_graph, compute_neighbors, find_bridges

VARIANTS = ["standard", "modified", "hessian", "ltsa"]
REFERENCE_EIGENVALUES = [5.095140488e-07, 2.200201414e-06, 8.481890774e-06]  # lle.iris_j_k10_M_smallest after the zeros


def roll(n, seed=0):
    X, t = make_swiss_roll(n, random_state=seed)
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))  # length along the spiral
    return X, np.column_stack([arc, X[:, 1]])


@pytest.mark.parametrize("solver", ["dense", "factor"])
def test_agrees_with_stored_reference(iris, solver):
    i, j = np.indices(iris[0].shape)
    X = iris[0] + 1e-3 * np.sin(1 + 7 * i + 3 * j)
    M = reconstruction_weights(X, compute_neighbors(X, 10)).M
    found = eigenpairs(M, 4, known=np.ones(150), solver=solver)
    np.testing.assert_allclose(found.values, [0.0, *REFERENCE_EIGENVALUES], rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("variant", ["standard", "modified", "ltsa"])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_the_map_is_that_of_scikit_learn_up_to_sign(digits, variant, n_components):
    X = digits[0][:150] + 1e-3 * np.random.default_rng(0).normal(size=(150, 64))  # no equal distances
    parameters = {"n_neighbors": 12, "n_components": n_components}
    expected = Peer(**parameters, method=variant, eigen_solver="dense").fit(X)
    fitted = LocallyLinearEmbedding(**parameters, variant=variant).fit(X)
    np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(expected.embedding_), atol=1e-7)
    np.testing.assert_allclose(fitted.reconstruction_error_, expected.reconstruction_error_, rtol=1e-6)


@pytest.mark.parametrize("variant", ["hessian", "ltsa"])
@pytest.mark.parametrize("solver", ["dense", "factor"])
def test_a_swiss_roll_is_unrolled(variant, solver):
    X, flat = roll(1200)
    fitted = LocallyLinearEmbedding(12, 2, variant=variant, solver=solver, random_state=0).fit(X)
    Y = np.column_stack([fitted.embedding_, np.ones(1200)])
    errors = flat - Y @ np.linalg.lstsq(Y, flat, rcond=None)[0]  # the map is the surface up to a linear map
    assert (errors.std(axis=0) < 0.03 * flat.std(axis=0)).all()
    assert fitted.solver_ == solver


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_first_coordinate_follows_the_roll(variant):
    X, flat = roll(1500)
    Y = LocallyLinearEmbedding(12, 2, variant=variant, random_state=0).fit_transform(X)
    ranks = [np.argsort(np.argsort(column)) for column in (*Y.T, flat[:, 0])]
    assert max(abs(np.corrcoef(ranks[a], ranks[2])[0, 1]) for a in (0, 1)) > 0.98


@pytest.mark.parametrize("variant", ["hessian", "ltsa"])
def test_flat_data_come_back_exactly_up_to_a_linear_map(variant):
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(400, 2))
    X = flat @ rng.normal(size=(2, 6)) + 5.0
    fitted = LocallyLinearEmbedding(10, 2, variant=variant, random_state=0).fit(X)
    np.testing.assert_allclose(fitted.eigenvalues_, 0.0, atol=1e-12)
    whitened = np.linalg.qr(flat - flat.mean(axis=0))[0]
    np.testing.assert_allclose(np.linalg.svd(whitened.T @ fitted.embedding_)[1], 1.0, atol=1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [300, 900])
def test_columns_are_orthonormal_of_mean_zero_and_known_sign(variant, n):
    fitted = LocallyLinearEmbedding(10, 2, variant=variant, random_state=0).fit(roll(n)[0])
    Y = fitted.embedding_
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-12)
    assert (Y[np.abs(Y).argmax(axis=0), [0, 1]] > 0).all()
    assert fitted.converged_
    assert (np.diff(fitted.eigenvalues_) >= 0).all()


def test_the_eigenvalues_sum_to_the_squared_error_of_reconstruction():
    X = roll(400)[0]
    fitted = LocallyLinearEmbedding(10, 2, random_state=0).fit(X)
    W = reconstruction_weights(X, fitted.graph_).W
    error = np.sum((fitted.embedding_ - W @ fitted.embedding_) ** 2)
    np.testing.assert_allclose(fitted.reconstruction_error_, error, rtol=1e-6)
    np.testing.assert_allclose(fitted.eigenvalues_.sum(), error, rtol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_bytes_do_not_depend_on_threads(variant):
    X = roll(700)[0]
    fitted = [LocallyLinearEmbedding(10, variant=variant, random_state=0, n_jobs=n).fit(X) for n in (1, 2, 3)]
    assert len({one.embedding_.tobytes() for one in fitted}) == 1
    assert len({one.place(X[:50] + 0.01).tobytes() for one in fitted}) == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_map_is_the_same_on_both_sides_of_the_switch(variant, monkeypatch):
    X = roll(610)[0]
    sparse = LocallyLinearEmbedding(10, variant=variant, random_state=0).fit(X)
    monkeypatch.setattr(choice, "LARGEST_DENSE", 1000)
    dense = LocallyLinearEmbedding(10, variant=variant, random_state=0).fit(X)
    assert (sparse.solver_, dense.solver_) == ("factor", "dense")
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_fitted_row_gets_its_fitted_position_and_a_row_is_placed_by_itself(variant, make):
    X = np.random.default_rng(0).poisson(2.0, size=(90, 6)).astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (DataWarning, NeighborsWarning))
        fitted = LocallyLinearEmbedding(8, variant=variant, random_state=0).fit(make(X))
    np.testing.assert_array_equal(fitted.place(make(X)), fitted.embedding_)
    new = X[:30] + 0.25
    together = fitted.place(make(new))
    one_by_one = np.concatenate([fitted.place(make(new[i : i + 1])) for i in range(30)])
    np.testing.assert_array_equal(together, one_by_one)


def test_new_rows_of_flat_data_are_placed_exactly():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    fitted = LocallyLinearEmbedding(8, variant="ltsa", regularization=0.0, random_state=0).fit(X)
    affine = np.linalg.lstsq(np.column_stack([X, np.ones(300)]), fitted.embedding_, rcond=None)[0]
    new = rng.uniform(size=(50, 2))
    np.testing.assert_allclose(fitted.place(new), np.column_stack([new, np.ones(50)]) @ affine, atol=1e-8)


def test_new_rows_are_placed_where_scikit_learn_places_them():
    X = roll(200)[0]
    new = roll(30, seed=5)[0]
    fitted = LocallyLinearEmbedding(10, random_state=0).fit(X)
    peer = Peer(n_neighbors=10, n_components=2, eigen_solver="dense").fit(X)
    signs = np.sign(np.sum(peer.embedding_ * fitted.embedding_, axis=0))
    np.testing.assert_allclose(fitted.place(new), peer.transform(new) * signs, atol=1e-5)


def test_equal_rows_share_one_position():
    X = roll(100)[0]
    with pytest.warns(DataWarning, match="200 rows hold 100 distinct rows"):
        fitted = LocallyLinearEmbedding(8, random_state=0).fit(np.concatenate([X, X]))
    np.testing.assert_array_equal(fitted.embedding_[:100], fitted.embedding_[100:])
    np.testing.assert_array_equal(fitted.embedding_[:100], LocallyLinearEmbedding(8, random_state=0).fit_transform(X))


def islands():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(30, 3)) + 50, rng.normal(size=(4, 3)) - 50])


@pytest.mark.parametrize("variant", VARIANTS)
def test_f17_a_graph_in_pieces_is_connected_with_a_warning(variant):
    # Four rows reach others within seven neighbours, so that the smallest piece joins another by itself.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = LocallyLinearEmbedding(7, variant=variant, random_state=0).fit(islands())
    assert [one.category for one in caught].count(NeighborsWarning) == 1
    assert "2 components of 44, 30 rows" in str(caught[0].message)
    assert fitted.n_graph_components_ == 2
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.graph_.n_neighbors == 7
    if variant == "standard":
        joined = bridged_graph(fitted.graph_, find_bridges(islands(), fitted.graph_))
        eigenvalues = np.linalg.eigvalsh(reconstruction_weights(islands(), joined).M.toarray())
        np.testing.assert_allclose(fitted.eigenvalues_, eigenvalues[1:3], atol=1e-13)
        assert fitted.eigenvalues_[0] > 1e-11


def test_f17_pieces_can_be_mapped_apart_or_refused():
    X = np.concatenate([roll(60)[0], roll(80, seed=1)[0] + 500])
    with pytest.warns(NeighborsWarning, match="2 components of 80, 60 rows; they are mapped one by one"):
        fitted = LocallyLinearEmbedding(8, disconnected="separate", random_state=0).fit(X)
    assert fitted.eigenvalues_.shape == (2, 2)
    alone = LocallyLinearEmbedding(8, random_state=0).fit(X[:60])
    np.testing.assert_allclose(fitted.eigenvalues_[0], alone.eigenvalues_, rtol=1e-6)
    centred = fitted.embedding_[:60] - fitted.embedding_[:60].mean(axis=0)
    np.testing.assert_allclose(centred / np.linalg.norm(centred[:, 0]), alone.embedding_, atol=1e-6)
    assert np.linalg.norm(fitted.embedding_[:60].mean(axis=0) - fitted.embedding_[60:].mean(axis=0)) > 0.1
    with pytest.raises(ValueError, match=r"must be connected \(it has 2 components of 80, 60 rows\)"):
        LocallyLinearEmbedding(8, disconnected="error").fit(X)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_neighbors": 5, "variant": "hessian"}, r"n_neighbors=5 must be at least 6 \(variant='hessian' with n_comp"),
        ({"n_neighbors": 3, "variant": "ltsa"}, r"n_neighbors=3 must be at least 4 \(variant='ltsa'"),
        ({"variant": "magic"}, "variant='magic' must be one of 'standard', 'modified', 'hessian', 'ltsa'"),
        ({"metric": "precomputed"}, "metric='precomputed' must be one that is computed from rows"),
        ({"n_components": 40}, r"n_components=40 must be at most 39 \(40 distinct rows\)"),
        ({"tol": 0}, "tol=0 must be a number > 0"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(parameters, text):
    X = np.random.default_rng(0).uniform(size=(40, 40))
    with pytest.raises(ValueError, match=text):
        LocallyLinearEmbedding(**parameters).fit(X)


def test_f20_neighbors_of_fewer_dimensions_than_the_map_are_said():
    line = np.linspace(0, 1, 60)[:, None] * np.ones((1, 3))
    with pytest.warns(DataWarning, match="neighbours of 60 of 60 rows span fewer than n_components=2 dimensions"):
        Y = LocallyLinearEmbedding(8, variant="ltsa", random_state=0).fit_transform(line)
    assert abs(np.corrcoef(Y[:, 0], line[:, 0])[0, 1]) > 0.999


def test_a_search_that_did_not_converge_is_said(digits):
    with pytest.warns(ConvergenceWarning, match=r"did not converge, the largest residual is .*; see residuals_"):
        fitted = LocallyLinearEmbedding(
            10, solver="descent", random_state=0, callback=lambda progress: progress.stage == "eigenvectors"
        ).fit(digits[0][:700])
    assert not fitted.converged_
    assert fitted.residuals_.max() > 0


def test_all_rows_equal_have_one_position():
    with pytest.warns(DataWarning, match="1 distinct row"):
        fitted = LocallyLinearEmbedding(5, random_state=0).fit(np.ones((10, 3)))
    np.testing.assert_array_equal(fitted.place(np.ones((2, 3))), fitted.embedding_[:2])


def test_non_negative_weights_stay_in_the_hull_of_the_neighbors():
    X = roll(300)[0]
    fitted = LocallyLinearEmbedding(10, weights="non_negative", random_state=0).fit(X)
    with pytest.warns(DataWarning, match="20 of 20 rows lie out of range"):
        far = fitted.place(X[:20] + 100.0)
    assert (far <= fitted.embedding_.max(axis=0)).all()
    assert (far >= fitted.embedding_.min(axis=0)).all()
