"""Averaged Jacobians are means of the single ones, stay exact where these are, and know their own errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from tests.threads import on_threads

from gnomon.explanations import explain
from gnomon.geometry import feature_effects, local_jacobians
from gnomon.geometry.effects import calibrated_effects
from gnomon.geometry.expansion import expand_deviations
from gnomon.neighbors import NeighborGraph


def neighbor_graph(X, n_neighbors=12):
    distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))


@pytest.fixture
def curved():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (200, 2))
    X = np.column_stack([t, t**2, np.sin(2 * t), np.full(200, 3.5)]) * [1, 10, 1, 1, 0.1, 1, 1]
    X[:, :6] += 0.05 * rng.normal(size=(200, 6))
    return X, np.column_stack([np.sin(3 * t[:, 0]), t[:, 1] ** 2])


def averaging(graph, defined, rounds):
    """The oracle: the matrix that takes single Jacobians to averaged ones."""
    n = graph.n_samples
    W = np.eye(n)
    for i in range(n):
        W[i, graph.indices[i][defined[graph.indices[i]]]] = 1
    W /= W.sum(axis=1, keepdims=True)
    return np.linalg.matrix_power(W, rounds)


def own_deviation(X, graph, defined, i):
    near = graph.indices[i][defined[graph.indices[i]]]
    return np.sqrt(np.mean((X[near] - X[i]) ** 2, axis=0))


def averaged_deviations(X, graph, defined):
    """Root mean square displacements of the neighbours, averaged once; 0 where a row's own are 0."""
    own = np.array([own_deviation(X, graph, defined, i) for i in range(len(X))])
    return (averaging(graph, defined, 1) @ np.where(defined[:, None], own, 0.0)) * (own > 0)


@pytest.mark.parametrize("rounds", [1, 3])
def test_pooled_axes_are_means_over_neighbors_of_neighbors(curved, rounds):
    X, Y = curved
    Y = Y.copy()
    Y[17] = np.nan
    graph = neighbor_graph(X)
    single, pooled = local_jacobians(X, Y, graph), local_jacobians(X, Y, graph, pooling=rounds)
    axes = np.array([single.axes(X, i) for i in range(len(X))])
    axes[~single.mask] = 0.0
    expected = np.einsum("ij,jaf->iaf", averaging(graph, single.mask, rounds), axes)
    effects = feature_effects(X, pooled, n_top=3, all_features=True)
    deviations = averaged_deviations(X, graph, single.mask)
    np.testing.assert_allclose(expand_deviations(X, pooled, np.array([30, 5, 30])), deviations[[30, 5, 30]], rtol=1e-9)
    np.testing.assert_allclose(
        expand_deviations(X, single, np.array([4])), [own_deviation(X, graph, single.mask, 4)], rtol=1e-9
    )
    for i in np.flatnonzero(pooled.mask):
        np.testing.assert_allclose(pooled.axes(X, i), expected[i], atol=1e-9)
        np.testing.assert_allclose(effects.ellipses[i], expected[i] @ expected[i].T, rtol=1e-4, atol=1e-5)
        deviation = deviations[i]
        lengths = np.linalg.norm(expected[i], axis=0) * deviation
        np.testing.assert_allclose(effects.all_importance[i], lengths, rtol=1e-4, atol=1e-6)
        top = np.argsort(-effects.all_importance[i], kind="stable")[:3]
        np.testing.assert_array_equal(effects.indices[i], top)
        np.testing.assert_allclose(effects.arrows[i], (expected[i] * deviation).T[top], rtol=1e-3, atol=1e-5)
    assert np.isnan(effects.arrows[17]).all()
    assert np.isnan(effects.ellipses[17]).all()
    np.testing.assert_allclose(effects.mean_importance, np.nanmean(effects.all_importance, axis=0), rtol=1e-5)


def test_points_without_a_fit_take_no_part_in_the_means(curved):
    X, Y = curved
    X = X.copy()
    X[:14] = X[0]  # all neighbours of these rows lie on one point
    graph = neighbor_graph(X)
    single, pooled = local_jacobians(X, Y, graph), local_jacobians(X, Y, graph, pooling=2)
    assert not single.mask[:14].any()
    beside = np.flatnonzero(single.mask & np.any(graph.indices < 14, axis=1))
    assert len(beside) > 0
    axes = np.array([single.axes(X, i) for i in range(len(X))])
    axes[~single.mask] = 0.0
    expected = np.einsum("ij,jaf->iaf", averaging(graph, single.mask, 2), axes)
    own = np.array([own_deviation(X, graph, np.ones(len(X), bool), i) for i in range(len(X))])
    deviations = averaging(graph, single.mask, 1) @ np.where(single.mask[:, None], own, 0.0) * (own > 0)
    effects = feature_effects(X, pooled, all_features=True)
    for i in beside:
        np.testing.assert_allclose(pooled.axes(X, i), expected[i], atol=1e-9)
        np.testing.assert_allclose(expand_deviations(X, pooled, np.array([i]))[0], deviations[i], rtol=1e-9)
        lengths = np.linalg.norm(expected[i], axis=0) * deviations[i]
        np.testing.assert_allclose(effects.all_importance[i], lengths, rtol=1e-4, atol=1e-6)


def test_pooled_axes_of_an_affine_map_are_its_matrix_exactly(curved):
    X, _ = curved
    X = X[:, :6]
    A = np.random.default_rng(1).normal(size=(6, 2))
    pooled = local_jacobians(X, X @ A + 3, neighbor_graph(X), ridge=0.0, variance_share=1.0, pooling=3)
    pooled, effects = calibrated_effects(X, pooled)
    assert pooled.calibration == pytest.approx(1.0, abs=1e-6)
    for i in range(0, 200, 7):
        np.testing.assert_allclose(pooled.axes(X, i), A.T, atol=1e-6)
    np.testing.assert_allclose(effects.ellipses, np.broadcast_to(A.T @ A, (200, 2, 2)), rtol=1e-4)


def test_pooled_constant_features_move_nothing(curved):
    X, Y = curved
    pooled = local_jacobians(X, Y, neighbor_graph(X), pooling=2)
    effects = feature_effects(X, pooled, all_features=True)
    assert not effects.all_importance[:, 6].any()
    assert not pooled.axes(X, 3)[:, 6].any()
    X = X.copy()
    X[pooled.indices[5], 0] = X[5, 0]  # constant around one point only
    pooled = local_jacobians(X, Y, neighbor_graph(X), pooling=2)
    silent = [i for i in range(200) if np.all(X[pooled.indices[i], 0] == X[i, 0])]
    effects = feature_effects(X, pooled, all_features=True)
    for i in silent:
        assert effects.all_importance[i, 0] == 0
        assert expand_deviations(X, pooled, np.array([i]))[0, 0] == 0
        assert not pooled.axes(X, i)[:, 0].any()


def test_pooled_effects_of_sparse_tables_and_any_number_of_threads_agree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1100, 37)) * (rng.random((1100, 37)) < 0.4)
    Y = rng.normal(size=(1100, 2))
    graph = neighbor_graph(X)
    found = []
    for form, n_threads in ((X, 1), (X, 2), (X, 3), (sp.csr_matrix(X), 1), (sp.csr_matrix(X), 2)):
        pooled = on_threads(n_threads, local_jacobians)(X, Y, graph, pooling=2)
        _, effects = on_threads(n_threads, calibrated_effects)(form, pooled)
        found.append(
            [getattr(effects, name).tobytes() for name in ("indices", "arrows", "mean_importance", "ellipses")]
        )
    assert all(one == found[0] for one in found)


def test_blocks_that_do_not_vary_about_a_point_are_passed_over_without_a_trace():
    """Of the table with 1 added to every value none is zero, and its displacements are the same bits."""
    rng = np.random.default_rng(4)
    group, n_features = np.arange(240) // 60, 70
    own = np.arange(n_features) // 18 == group[:, None]
    X = np.where(own & (rng.uniform(size=(240, n_features)) < 0.4), rng.integers(1, 200, (240, n_features)), 0)
    X[rng.integers(240, size=12), rng.integers(n_features, size=12)] = 50  # reached from other groups by averages alone
    X = X.astype(np.uint8)
    graph, Y = neighbor_graph(X.astype(float)), rng.normal(size=(240, 2)) + 9 * np.eye(4)[group][:, :2]
    fits = [local_jacobians(table, Y, graph, ridge=0.1, pooling=3) for table in (X, X + np.uint8(1))]
    some = feature_effects(X, fits[0], n_top=5, all_features=True)
    none = feature_effects(X + np.uint8(1), fits[1], n_top=5, all_features=True)
    for name in ("indices", "arrows", "importance", "mean_importance", "all_importance", "ellipses"):
        assert getattr(some, name).tobytes() == getattr(none, name).tobytes(), name
    axes = np.array([fits[0].axes(X, i) for i in range(240)])
    lengths = np.linalg.norm(axes * expand_deviations(X, fits[0], np.arange(240))[:, None], axis=1)
    assert np.mean(lengths == 0) > 0.3
    np.testing.assert_allclose(some.all_importance, lengths, rtol=1e-4, atol=1e-6 * lengths.max())


def test_pooling_needs_all_rows(curved):
    X, Y = curved
    with pytest.raises(ValueError, match="pooling=1 must be 0 if rows are given"):
        local_jacobians(X, Y, neighbor_graph(X), pooling=1, rows=[0])
    with pytest.raises(ValueError, match="pooling=-1 must be an integer >= 0"):
        explain(X, Y, graph=neighbor_graph(X), pooling=-1)


def test_a_random_map_is_not_predicted_however_the_point_itself_is_placed():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 20)), rng.normal(size=(300, 2))
    graph = neighbor_graph(X, 15)
    assert np.median(local_jacobians(X, Y, graph).predicted_r2) < 0
    assert np.median(local_jacobians(X, Y, graph, ridge=1.0, origin="point").predicted_r2) > 0.2


@pytest.mark.parametrize("rounds", [0, 2])
def test_ninety_percent_intervals_of_axes_cover_the_truth(rounds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    A = rng.normal(size=(5, 2))
    graph = neighbor_graph(X, 14)
    points, hits = range(0, 150, 30), []
    for _ in range(16):
        Y = X @ A + 0.3 * rng.normal(size=(150, 2))
        found = local_jacobians(X, Y, graph, ridge=0.0, variance_share=1.0, pooling=rounds)
        hits += [np.abs(found.axes(X, i) - A.T) < 1.645 * found.axes_error(X, i) for i in points]
    assert 0.8 < np.mean(hits) < 0.97


def test_errors_follow_the_calibration_and_are_silent_where_the_axes_are(curved):
    X, Y = curved
    found = explain(X, Y, graph=neighbor_graph(X))
    raw = local_jacobians(X, Y, neighbor_graph(X), ridge=found.ridge, variance_share=1.0, pooling=found.pooling)
    np.testing.assert_allclose(found.axes(3), found.calibration * raw.axes(X, 3), rtol=1e-9)
    np.testing.assert_allclose(found.axes_error(3), found.calibration * raw.axes_error(X, 3), rtol=1e-9)
    assert found.axes_error(3).shape == (2, 7)
    assert not found.axes_error(3)[:, 6].any()
    assert (found.axes_error(3)[:, :6] > 0).all()


def test_the_error_of_r2_is_its_scatter_over_repeated_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    A = rng.normal(size=(3, 2))
    graph = neighbor_graph(X, 20)
    found = [
        local_jacobians(X, X @ A + 0.7 * rng.normal(size=(60, 2)), graph, ridge=0.0, variance_share=1.0)
        for _ in range(40)
    ]
    scatter = np.std([one.predicted_r2 for one in found], axis=0)
    said = np.mean([one.r2_error for one in found], axis=0)
    assert 0.7 < np.median(said / scatter) < 1.4


def test_calibrated_axes_need_no_further_stretch_and_agree_with_their_ellipses(curved):
    X, Y = curved
    pooled = local_jacobians(X, Y, neighbor_graph(X), ridge=1.0, variance_share=1.0, pooling=2)
    found, effects = calibrated_effects(X, pooled)
    assert found.calibration > 1.1
    product = square = 0.0
    for i in range(len(X)):
        predicted, actual = found.displacements(X, i) @ found.axes(X, i).T, Y[found.indices[i]]
        predicted, actual = predicted - predicted.mean(axis=0), actual - actual.mean(axis=0)
        product, square = product + np.sum(predicted * actual), square + np.sum(predicted**2)
        np.testing.assert_allclose(effects.ellipses[i], found.axes(X, i) @ found.axes(X, i).T, rtol=1e-4, atol=1e-6)
    assert product / square == pytest.approx(1.0, abs=1e-4)


def test_no_other_stretch_of_the_predictions_leaves_less_unexplained(curved):
    X, Y = curved
    fits = local_jacobians(X, Y, neighbor_graph(X), ridge=10.0)
    square = fits.predicted_square.astype(np.float64)
    product = 0.5 * (fits.predicted_r2 + square)  # of predictions and displacements
    best = fits.stretched_r2().sum()
    assert best > fits.predicted_r2.sum() + 1
    for factor in (1.0, 2.0, 5.0, 10.0, 20.0):
        assert np.sum(2 * factor * product - factor**2 * square) <= best + 1e-3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [2.0**66, 2.0**-60])
def test_pooled_arrows_do_not_depend_on_the_unit_of_the_data(curved, dtype, unit):
    X, Y = curved
    graph, X = neighbor_graph(X), X.astype(dtype)
    found, expected = (
        feature_effects(values, local_jacobians(values, Y, graph, pooling=3), n_top=4)
        for values in (X * dtype(unit), X)
    )
    assert np.isfinite(expected.arrows).all()
    np.testing.assert_allclose(found.arrows, expected.arrows, rtol=1e-4, atol=1e-6)
