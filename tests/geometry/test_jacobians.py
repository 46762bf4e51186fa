"""Properties that the definition promises (methods.md 19b), against float64 NumPy and the reference values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors
from tests.threads import on_threads

from gnomon.geometry import LocalJacobians, feature_effects, local_jacobians
from gnomon.neighbors import NeighborGraph


def neighbor_graph(X, n_neighbors=12):
    found = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    distances, indices = found.kneighbors()
    return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))


def curved_data(n=90, n_features=7, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, (n, 2))
    X = np.column_stack([t, t**2, np.sin(2 * t), t[:, 0] * t[:, 1]])[:, :n_features]
    return X + 0.01 * rng.normal(size=X.shape), rng


def local_frame(X, graph, i, share, weights=None, origin="mean"):
    """The oracle: tangent frame (D, m), singular values (m) and displacements by a float64 SVD."""
    w = np.ones(graph.n_neighbors) if weights is None else weights[i].astype(float)
    w = w / w.sum()
    Z = X[graph.indices[i]].astype(float) - X[i].astype(float)
    if origin == "mean":
        Z -= w @ Z
    _, s, vt = np.linalg.svd(np.sqrt(w)[:, None] * Z, full_matrices=False)
    keep = int(np.searchsorted(np.cumsum(s**2), share * np.sum(s**2) * (1 - 1e-12)) + 1)
    keep = min(keep, int(np.sum(s**2 > 1e-12 * s[0] ** 2)))
    return vt[:keep].T, s[:keep], Z, w


def oracle(X, Y, graph, i, *, ridge, share, weights=None, origin="mean"):
    V, s, Z, w = local_frame(X, graph, i, share, weights, origin)
    T = Z @ V
    r = ridge * np.mean(s**2)
    dY = Y[graph.indices[i]] - Y[i]
    own = np.zeros(len(w))
    if origin == "mean":
        dY, own = dY - w @ dY, w
    J = np.linalg.solve(T.T @ (w[:, None] * T) + r * np.eye(T.shape[1]), T.T @ (w[:, None] * dY)).T
    residual = dY - T @ J.T
    leverage = np.einsum("jl,lm,jm->j", T, np.linalg.inv(T.T @ (w[:, None] * T) + r * np.eye(T.shape[1])), T) * w
    total = np.sum(w[:, None] * dY**2)
    r2 = 1 - np.sum(w[:, None] * residual**2) / total
    left_out = np.sum(w[:, None] * (dY / (1 - own)[:, None]) ** 2)
    predicted = 1 - np.sum(w[:, None] * (residual / (1 - leverage - own)[:, None]) ** 2) / left_out
    return J @ V.T, J @ J.T, r2, predicted, V.shape[1]


@pytest.mark.parametrize("share", [0.6, 0.9, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("origin", ["mean", "point"])
def test_agrees_with_a_float64_oracle(share, weighted, origin):
    X, rng = curved_data()
    Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2]) + 0.05 * rng.normal(size=(len(X), 2))
    graph = neighbor_graph(X)
    weights = rng.uniform(0.1, 1, graph.indices.shape).astype(np.float32) if weighted else None
    found = local_jacobians(X, Y, graph, ridge=0.01, variance_share=share, weights=weights, origin=origin)
    for i in range(len(X)):
        expected = oracle(X, Y, graph, i, ridge=0.01, share=share, weights=weights, origin=origin)
        B, ellipse, r2, predicted, m = expected
        assert found.dimension[i] == m
        np.testing.assert_allclose(found.axes(X, i), B, rtol=1e-7, atol=1e-9 * np.abs(B).max())
        np.testing.assert_allclose(found.ellipses[i], ellipse, rtol=1e-5, atol=1e-6 * np.abs(ellipse).max())
        assert found.r2[i] == pytest.approx(r2, abs=1e-6)
        assert found.predicted_r2[i] == pytest.approx(predicted, abs=1e-5)


@pytest.mark.parametrize("ridge", [0.001, 0.1, 10.0])
@pytest.mark.parametrize("origin", ["mean", "point"])
def test_agrees_with_the_oracle_where_neighbors_span_as_many_directions_as_there_are(ridge, origin):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 30))
    Y = X[:, :2] + X[:, :2] ** 2
    graph = neighbor_graph(X, 9)
    weights = rng.uniform(0.1, 1, graph.indices.shape).astype(np.float32)
    weights[::3, 4] = 0.0  # takes no part
    X[graph.indices[7, 1]] = X[graph.indices[7, 0]]  # fewer directions than neighbours, as many as points differ
    found = local_jacobians(X, Y, graph, ridge=ridge, variance_share=1.0, weights=weights, origin=origin)
    for i in range(len(X)):
        B, ellipse, r2, predicted, m = oracle(X, Y, graph, i, ridge=ridge, share=1.0, weights=weights, origin=origin)
        assert found.dimension[i] == m
        np.testing.assert_allclose(found.axes(X, i), B, rtol=1e-7, atol=1e-9 * np.abs(B).max())
        np.testing.assert_allclose(found.ellipses[i], ellipse, rtol=1e-7, atol=1e-9 * np.abs(ellipse).max())
        assert found.r2[i] == pytest.approx(r2, abs=1e-6)
        assert found.predicted_r2[i] == pytest.approx(predicted, abs=1e-5)


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_affine_maps_give_their_matrix_on_the_tangent_space_exactly(share, offset):
    X, rng = curved_data()
    A = rng.normal(size=(X.shape[1], 3))
    Y = X @ A + rng.normal(size=3)
    graph = neighbor_graph(X)
    X = X + offset  # displacements are formed in double: only the rounding of the data themselves is left
    tolerance = 1e-8 if offset == 0 else 1e-3
    found = local_jacobians(X, Y, graph, ridge=0.0, variance_share=share)
    for i in range(0, len(X), 7):
        V, *_ = local_frame(X, graph, i, share)
        np.testing.assert_allclose(found.axes(X, i), A.T @ V @ V.T, atol=tolerance)
    if share == 1.0:
        np.testing.assert_allclose(found.r2, 1.0, atol=1e-6)
        np.testing.assert_allclose(found.predicted_r2, 1.0, atol=1e-6 if offset == 0 else 1e-4)


def test_rotating_scaling_and_shifting_the_map_does_the_same_to_the_axes():
    X, rng = curved_data()
    Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1]])
    Q, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    graph = neighbor_graph(X)
    plain, moved = local_jacobians(X, Y, graph), local_jacobians(X, 3 * Y @ Q.T + [5, -7], graph)
    for i in range(0, len(X), 5):
        np.testing.assert_allclose(moved.axes(X, i), 3 * Q @ plain.axes(X, i), atol=1e-10)
    np.testing.assert_allclose(moved.ellipses, 9 * Q @ plain.ellipses @ Q.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(moved.r2, plain.r2, atol=1e-6)


def test_rotating_and_shifting_the_data_does_not_change_the_ellipses():
    X, rng = curved_data()
    Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1]])
    R, _ = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))
    graph = neighbor_graph(X)
    plain, turned = local_jacobians(X, Y, graph), local_jacobians(X @ R.T + 4, Y, graph)
    np.testing.assert_allclose(turned.ellipses, plain.ellipses, rtol=1e-4, atol=1e-5)
    for i in range(0, len(X), 5):
        np.testing.assert_allclose(turned.axes(X @ R.T + 4, i), plain.axes(X, i) @ R.T, atol=1e-8)


def test_isometric_charts_give_circles():
    rng = np.random.default_rng(0)
    Y = rng.uniform(0, 1, (2000, 2))
    X = np.column_stack([np.cos(Y[:, 0]), np.sin(Y[:, 0]), Y[:, 1]])  # a rolled sheet
    found = local_jacobians(X, Y, neighbor_graph(X, 15), ridge=1e-6)
    errors = np.abs(found.ellipses - np.eye(2)).max(axis=(1, 2))
    assert np.median(errors) < 1e-3
    assert np.quantile(errors, 0.99) < 0.02


def test_tends_to_the_derivative_as_the_neighborhood_shrinks():
    rng = np.random.default_rng(0)
    errors = []
    for scale in (0.1, 0.01):
        X = np.vstack([[0.3, -0.2], [0.3, -0.2] + scale * rng.normal(size=(20, 2))])
        Y = np.column_stack([np.exp(X[:, 0]) * np.cos(X[:, 1]), np.exp(X[:, 0]) * np.sin(X[:, 1])])
        found = local_jacobians(X, Y, neighbor_graph(X, 20), rows=[0], ridge=0.0, variance_share=1.0)
        c, s = np.exp(0.3) * np.cos(-0.2), np.exp(0.3) * np.sin(-0.2)
        errors.append(np.abs(found.axes(X, 0) - [[c, -s], [s, c]]).max())
    assert errors[1] < 0.2 * errors[0] < 0.05


def test_reproduces_the_reference_values_of_a_weighted_point():
    i, j = np.arange(8)[:, None], np.arange(3)
    X = np.sin(1 + 1.7 * i + 0.9 * j + 0.31 * i * j)
    i, j = np.arange(8)[:, None], np.arange(2)
    Y = np.cos(0.5 + 1.1 * i + 2.3 * j + 0.17 * i * j)
    indices = np.tile(np.array([3, 4, 6, 7], np.int32), (8, 1))
    weights = np.tile([0.3725158461, 0.1706997173, 0.1812665675, 0.275517869], (8, 1))
    graph = NeighborGraph(indices, np.ones((8, 4), np.float32))
    found = local_jacobians(X, Y, graph, weights=weights, rows=[0], ridge=0.0, variance_share=0.9, origin="point")
    axes = [[0.4726035815, 0.5147413698, 0.4186558273], [-0.5701600279, -0.6930474265, -0.5223382297]]
    assert found.dimension[0] == 2
    np.testing.assert_allclose(found.axes(X, 0), axes, rtol=1e-4)
    np.testing.assert_allclose(
        found.ellipses[0], [[0.6635855247, -0.8448797965], [-0.8448797965, 1.078234419]], rtol=1e-4
    )
    assert found.r2[0] == pytest.approx(0.6476569481, rel=1e-4)


def test_a_random_map_is_fitted_but_not_predicted():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 40)), rng.normal(size=(300, 2))
    found = local_jacobians(X, Y, neighbor_graph(X, 15))
    assert np.median(found.r2) > 0.7
    assert np.median(found.predicted_r2) < 0.1


def sparse_data(n=80, n_features=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.2)
    return X.astype(np.float32), rng


def test_sparse_and_dense_and_all_number_types_agree():
    X, rng = sparse_data()
    X = np.round(np.abs(X) * 20)
    Y = rng.normal(size=(len(X), 2))
    graph = neighbor_graph(X)
    expected = local_jacobians(X.astype(np.float64), Y, graph)
    effects = feature_effects(X.astype(np.float64), expected, all_features=True)
    shuffled = sp.coo_matrix(X)
    order = rng.permutation(shuffled.nnz)
    shuffled = sp.coo_matrix((shuffled.data[order], (shuffled.row[order], shuffled.col[order])), X.shape)
    forms = [X.astype(t) for t in (np.float32, np.uint8, np.int16, np.int64, ">f8")]
    forms += [np.asfortranarray(X), sp.csr_matrix(X), sp.csr_array(X.astype(np.float64)), sp.csc_matrix(X), shuffled]
    for form in forms:
        found = local_jacobians(form, Y, graph)
        np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-7, atol=1e-12)
        table = form.tocsr() if sp.issparse(form) else form
        np.testing.assert_allclose(found.axes(table, 3), expected.axes(X, 3), rtol=1e-7, atol=1e-12)
        other = feature_effects(form, found, all_features=True)
        np.testing.assert_allclose(other.all_importance, effects.all_importance, rtol=1e-5)
        np.testing.assert_array_equal(other.indices, effects.indices)
        np.testing.assert_allclose(other.arrows, effects.arrows, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(other.mean_importance, effects.mean_importance, rtol=1e-7)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_same_bits_for_any_number_of_threads_and_any_subset_of_rows(form):
    rng = np.random.default_rng(1)
    X = form((rng.normal(size=(1500, 20)) * (rng.random((1500, 20)) < 0.5)).astype(np.float32))
    Y = rng.normal(size=(1500, 2))
    graph = neighbor_graph(X)
    one = on_threads(1, local_jacobians)(X, Y, graph)
    effects = on_threads(1, feature_effects)(X, one, all_features=True)
    for n_threads in (2, 3, 5):
        many = on_threads(n_threads, local_jacobians)(X, Y, graph)
        for name in ("coefficients", "r2", "predicted_r2", "ellipses"):
            assert getattr(one, name).tobytes() == getattr(many, name).tobytes()
        other = on_threads(n_threads, feature_effects)(X, many, all_features=True)
        for name in ("indices", "arrows", "importance", "mean_importance", "all_importance"):
            assert getattr(effects, name).tobytes() == getattr(other, name).tobytes()
    rows = rng.permutation(1500)[:333]
    some = local_jacobians(X, Y, graph, rows=rows)
    assert some.coefficients.tobytes() == one.coefficients[rows].tobytes()
    assert feature_effects(X, some).arrows.tobytes() == effects.arrows[rows].tobytes()


def test_nothing_is_said_where_nothing_can_be():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[:10] = X[0]  # ten copies
    Y = rng.normal(size=(40, 2))
    Y[20] = np.nan
    indices = np.vstack([np.tile(np.arange(10), (10, 1)), rng.integers(21, 40, (30, 10))]).astype(np.int32)
    indices[30, :] = 5  # one distinct neighbour only
    indices[25, 0] = 20  # one neighbour without a place
    mask = np.ones((40, 10), bool)
    mask[31] = False
    graph = NeighborGraph(indices, np.ones((40, 10), np.float32), mask)
    found = local_jacobians(X, Y, graph)
    undefined = np.r_[np.arange(10), 20, 30, 31]
    np.testing.assert_array_equal(np.flatnonzero(~found.mask), undefined)
    effects = feature_effects(X, found, all_features=True)
    for values in (found.r2, found.predicted_r2, found.ellipses, found.coefficients, effects.arrows):
        assert np.isnan(values[undefined]).all()
        assert np.isfinite(values[found.mask]).all()
    assert np.isfinite(effects.mean_importance).all()


def test_a_collapsed_map_has_zero_axes_and_r2():
    X, _ = curved_data()
    found = local_jacobians(X, np.zeros((len(X), 2)), neighbor_graph(X))
    assert found.mask.all()
    assert not found.coefficients.any()
    assert not found.r2.any()


@settings(max_examples=25, deadline=None)
@given(
    constant=st.floats(-1e6, 1e6),
    column=st.integers(0, 4),
    seed=st.integers(0, 10**6),
    sparse=st.booleans(),
    scale=st.sampled_from([1e-30, 1.0, 1e30]),
)
def test_constant_features_move_nothing(constant, column, seed, sparse, scale):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(30, 5))
    X[:, column] = constant
    form = sp.csr_matrix(X) if sparse else X
    found = local_jacobians(form, rng.normal(size=(30, 2)), neighbor_graph(X, 8))
    effects = feature_effects(form, found, n_top=5, all_features=True)
    assert not effects.all_importance[:, column].any()
    assert effects.mean_importance[column] == 0
    assert (effects.indices[:, 4] == column).all()
    assert not found.axes(form, 0)[:, column].any()
    assert np.isfinite(effects.arrows).all()


def test_effects_are_the_axes_times_the_local_deviation():
    X, rng = curved_data()
    X *= np.array([1, 10, 100, 1, 0.1, 1, 1])
    Y = X[:, :2] + 0.1 * rng.normal(size=(len(X), 2))
    graph = neighbor_graph(X)
    weights = rng.uniform(0.2, 1, graph.indices.shape).astype(np.float32)
    found = local_jacobians(X, Y, graph, weights=weights)
    effects = feature_effects(X, found, n_top=3, all_features=True)
    total = np.zeros(X.shape[1])
    for i in range(len(X)):
        w = weights[i].astype(float) / weights[i].astype(float).sum()
        deviation = np.sqrt(w @ (X[graph.indices[i]] - X[i]) ** 2)
        arrows = (found.axes(X, i) * deviation).T
        lengths = np.linalg.norm(arrows, axis=1)
        total += lengths
        np.testing.assert_allclose(effects.all_importance[i], lengths, rtol=1e-5, atol=1e-7)
        top = np.argsort(-lengths, kind="stable")[:3]
        np.testing.assert_array_equal(effects.indices[i], top)
        np.testing.assert_allclose(effects.arrows[i], arrows[top], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(effects.mean_importance, total / len(X), rtol=1e-10)


def test_wrong_arguments_are_refused():
    X, _ = curved_data()
    graph = neighbor_graph(X)
    with pytest.raises(ValueError, match="X with 90 rows, Y with 89 and a graph with 90 must be of the same length"):
        local_jacobians(X, X[:-1, :2], graph)
    with pytest.raises(ValueError, match=r"ridge=-1\.0 must be a number >= 0"):
        local_jacobians(X, X[:, :2], graph, ridge=-1.0)
    with pytest.raises(ValueError, match="weights of shape"):
        local_jacobians(X, X[:, :2], graph, weights=-np.ones(graph.indices.shape))


def test_rows_give_a_result_of_their_length():
    X, _ = curved_data()
    found = local_jacobians(X, X[:, :2], neighbor_graph(X), rows=[])
    assert isinstance(found, LocalJacobians)
    assert found.coefficients.shape == (0, 12, 2)
