"""Tangent frames: what methods.md 19a and 19b promise, against NumPy's SVD and the reference values."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from sklearn.neighbors import NearestNeighbors
from tests.threads import on_threads

from gnomon.geometry import frames as module
from gnomon.geometry import tangent_frames
from gnomon.neighbors import NeighborGraph

# Eight points in three dimensions and the neighbourhood of the first: the key "featmap_point0" of the reference values.
_POINTS = [
    [0.8414709848, 0.9463000877, 0.3349881502],
    [0.4273798802, -0.6949909732, -0.9180704747],
    [-0.9516020739, -0.35525356, 0.9155264408],
    [-0.1821625043, 0.9971119952, -0.3289788579],
    [0.9985433454, -0.492728076, -0.4674204694],
    [-0.07515112046, -0.5780774614, 0.9656577765],
    [-0.9791777292, 0.9843469452, -0.8479133452],
    [0.3274744391, -0.2590482948, 0.1892949633],
]
_NEIGHBORS = [3, 4, 6, 7]
_WEIGHTS = [0.3725158461, 0.1706997173, 0.1812665675, 0.275517869]
_SINGULAR_VALUES = [1.245831065, 0.8523861198, 0.2795505749]
_PROJECTOR = [
    [0.7302929254, -0.1034010836, 0.4315940042],
    [-0.1034010836, 0.9603577915, 0.1654657661],
    [0.4315940042, 0.1654657661, 0.3093492832],
]
_IMPORTANCE = [0.8545717789, 0.9799784648, 0.5561917683]
_IMPORTANCE_WEIGHTED = [1.023284457, 0.8671226631, 0.6925636045]


def neighbor_graph(X, n_neighbors=12):
    distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))


def cloud(n=150, n_features=30, seed=0):
    """Points whose variance falls from feature to feature, so that local singular values lie apart."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_features)) * 0.8 ** np.arange(n_features), rng


def local_svd(X, graph, i, weights=None):
    """The oracle: singular values, right singular vectors as columns, and displacements with their weights."""
    w = np.ones(graph.n_neighbors) if weights is None else weights[i].astype(float)
    w = w / w.sum()
    Z = X[graph.indices[i]].astype(float) - X[i].astype(float)
    _, values, vectors = np.linalg.svd(np.sqrt(w)[:, None] * Z, full_matrices=False)
    return values, vectors.T, Z, w


def assert_same_bytes(a, b):
    for field in fields(a):
        assert getattr(a, field.name).tobytes() == getattr(b, field.name).tobytes(), field.name


def reference_frames():
    """Frames of the reference point; its neighbourhood stands in the first row of the graph."""
    X = np.array(_POINTS)
    graph = NeighborGraph(np.tile(np.int32(_NEIGHBORS), (8, 1)), np.ones((8, 4), dtype=np.float32))
    return X, graph, np.tile(np.float32(_WEIGHTS), (8, 1))


def test_the_reference_point_has_the_reference_frame():
    X, graph, weights = reference_frames()
    full = tangent_frames(X, graph, weights=weights, rows=[0], n_components=3)
    np.testing.assert_allclose(full.values[0], _SINGULAR_VALUES, rtol=1e-6)
    two = tangent_frames(X, graph, weights=weights, rows=[0], n_components=2)
    V = two.expand(X, 0)[0]
    np.testing.assert_allclose(V @ V.T, _PROJECTOR, atol=1e-6)
    np.testing.assert_allclose(two.importance(X)[0], _IMPORTANCE_WEIGHTED, rtol=1e-6)
    np.testing.assert_allclose(two.importance(X, weighted=False)[0], _IMPORTANCE, rtol=1e-6)
    assert two.n_directions == two.dimension[0] == 2


@pytest.mark.parametrize("n_neighbors", [1, 2, 7, 12, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_numpy_at_every_point(n_neighbors, weighted):
    X, rng = cloud()
    graph = neighbor_graph(X, n_neighbors)
    weights = rng.uniform(0.1, 1, graph.indices.shape).astype(np.float32) if weighted else None
    m = min(n_neighbors, 5)
    frames = tangent_frames(X, graph, weights=weights, n_components=m, variance_share=0.8)
    V = frames.expand(X, np.arange(len(X)))
    for i in range(len(X)):
        values, vectors, Z, w = local_svd(X, graph, i, weights)
        if n_neighbors == 1:
            assert not frames.mask[i]
            continue
        squares = values**2
        np.testing.assert_allclose(frames.values[i], values[:m], rtol=1e-10)
        np.testing.assert_allclose(np.abs(V[i].T @ vectors[:, :m]), np.eye(m), atol=1e-7)
        assert frames.dimension[i] == np.searchsorted(np.cumsum(squares), 0.8 * squares.sum()) + 1
        assert frames.gap_dimension[i] == np.argmax(values[:-1] - values[1:]) + 1 or n_neighbors > X.shape[1]
        assert frames.total_variance[i] == pytest.approx(np.sum(w[:, None] * Z**2))


def test_frames_are_orthonormal_and_their_largest_entries_positive():
    X, _ = cloud(n_features=200)
    V = tangent_frames(X, neighbor_graph(X, 30), n_components=30).expand(X, np.arange(len(X)))
    assert V.shape == (150, 200, 30)
    np.testing.assert_allclose(V.transpose(0, 2, 1) @ V, np.broadcast_to(np.eye(30), (150, 30, 30)), atol=1e-9)
    largest = np.take_along_axis(V, np.abs(V).argmax(axis=1)[:, None], axis=1)
    assert np.all(largest > 0)


def test_a_constant_offset_changes_nothing_but_the_rounding_of_the_data():
    X, _ = cloud()
    graph = neighbor_graph(X)
    here, there = tangent_frames(X, graph, n_components=3), tangent_frames(X + 1e6, graph, n_components=3)
    np.testing.assert_allclose(there.values, here.values, rtol=1e-8)


def test_rotating_the_data_rotates_the_frames_and_scaling_it_scales_the_values():
    X, _ = cloud()
    graph = neighbor_graph(X)
    turn = scipy.stats.special_ortho_group.rvs(X.shape[1], random_state=2)
    here, there = tangent_frames(X, graph, n_components=3), tangent_frames(2 * X @ turn.T, graph, n_components=3)
    np.testing.assert_allclose(there.values, 2 * here.values, rtol=1e-10)
    V, W = here.expand(X, np.arange(150)), there.expand(2 * X @ turn.T, np.arange(150))
    projectors = turn @ (V @ V.transpose(0, 2, 1)) @ turn.T
    np.testing.assert_allclose(W @ W.transpose(0, 2, 1), projectors, atol=1e-8)
    np.testing.assert_allclose(here.consistency(X), there.consistency(2 * X @ turn.T), atol=1e-5)


def test_only_ratios_of_weights_matter_and_equal_ones_are_the_default():
    X, rng = cloud()
    graph = neighbor_graph(X)
    weights = rng.uniform(0.1, 1, graph.indices.shape).astype(np.float32)
    assert_same_values = np.testing.assert_array_equal
    one, four = (tangent_frames(X, graph, weights=c * weights, n_components=4) for c in (1, 4))
    assert_same_values(one.values, four.values)
    assert_same_values(one.coefficients, four.coefficients)
    assert_same_bytes(tangent_frames(X, graph), tangent_frames(X, graph, weights=np.ones(weights.shape)))


def test_squared_importances_sum_to_the_number_of_directions():
    X, _ = cloud()
    frames = tangent_frames(X, neighbor_graph(X), n_components=4)
    unweighted = frames.importance(X, weighted=False)
    np.testing.assert_allclose(np.sum(unweighted.astype(float) ** 2, axis=1), 4.0, rtol=1e-6)
    assert np.all((unweighted >= 0) & (unweighted <= 1 + 1e-6))
    weighted = frames.importance(X)
    np.testing.assert_allclose(np.sum(weighted.astype(float) ** 2, axis=1), np.sum(frames.values**2, axis=1), rtol=1e-6)


def test_with_all_directions_the_weighted_importance_is_the_local_deviation():
    X, rng = cloud()
    graph = neighbor_graph(X)
    weights = rng.uniform(0.1, 1, graph.indices.shape).astype(np.float32)
    frames = tangent_frames(X, graph, weights=weights, n_components=12)
    expected = [np.sqrt(w @ Z**2) for _, _, Z, w in (local_svd(X, graph, i, weights) for i in range(len(X)))]
    np.testing.assert_allclose(frames.local_deviation(X), expected, rtol=1e-6)
    np.testing.assert_allclose(frames.importance(X), expected, rtol=1e-6)
    np.testing.assert_allclose(frames.importance(X, [5, 3]), np.array(expected)[[5, 3]], rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_importance_is_the_mean_of_the_importances(weighted):
    X, _ = cloud(n=700)
    X[:3] = 0.0
    graph = neighbor_graph(X)
    graph.indices[0], graph.indices[1] = 1, 2  # one without a frame
    frames = tangent_frames(X, graph, n_components=7)
    each = frames.importance(X, weighted=weighted)
    assert not frames.mask[0]
    assert np.isnan(each[0]).all()
    np.testing.assert_allclose(frames.mean_importance(X, weighted=weighted), np.nanmean(each, axis=0), rtol=1e-5)


def test_a_plane_agrees_with_itself_in_any_basis_where_the_plain_cosine_does_not():
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(9, 2)))
    X = rng.normal(size=(200, 2)) @ basis.T + 5.0
    graph = neighbor_graph(X)
    frames = tangent_frames(X, graph)
    assert frames.n_directions == 2
    np.testing.assert_allclose(frames.consistency(X), 1.0, atol=1e-6)
    np.testing.assert_allclose(frames.consistency(X, kind="projector"), 1.0, atol=1e-6)
    V = frames.expand(X, np.arange(200))
    plain = np.einsum("ifl,ikfl->ik", V, V[graph.indices]) / 2
    assert plain.min() < 0.1


def test_consistency_is_the_cosine_of_the_best_rotation_and_of_the_projectors():
    X, _ = cloud()
    graph = neighbor_graph(X)
    frames = tangent_frames(X, graph, n_components=3)
    V = frames.expand(X, np.arange(150))
    singular = np.linalg.svd(np.einsum("ifl,ikfm->iklm", V, V[graph.indices]), compute_uv=False)
    np.testing.assert_allclose(frames.consistency(X), singular.mean(axis=2), atol=1e-5)
    np.testing.assert_allclose(frames.consistency(X, kind="projector"), (singular**2).mean(axis=2), atol=1e-5)
    pairs = np.column_stack([np.arange(150), graph.indices[:, 4]])
    np.testing.assert_allclose(frames.consistency(X, pairs), singular[:, 4].mean(axis=1), atol=1e-5)


def test_consistency_does_not_depend_on_how_many_frames_are_held_at_a_time(monkeypatch):
    X, _ = cloud()
    frames = tangent_frames(X, neighbor_graph(X), n_components=3)
    whole = frames.consistency(X)
    monkeypatch.setattr(module, "_EXPANDED_BYTES", 4 * 3 * 30 * 20)
    assert frames.consistency(X).tobytes() == whole.tobytes()


def test_transport_carries_a_frame_to_the_next_one():
    X, _ = cloud()
    frames = tangent_frames(X, neighbor_graph(X), n_components=3)
    V = frames.expand(X, [7, 9])
    turn = frames.transport(X, 7, 9)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    best = np.linalg.norm(V[0] @ turn - V[1])
    for seed in range(20):
        other = scipy.stats.ortho_group.rvs(3, random_state=seed)
        assert np.linalg.norm(V[0] @ other - V[1]) > best
    aligned = np.sum((V[0] @ turn) * V[1]) / 3
    assert frames.consistency(X, [[7, 9]])[0] == pytest.approx(aligned, abs=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_dimension_of_known_manifolds_is_found(d):
    rng = np.random.default_rng(d)
    t = rng.uniform(-1, 1, (1500, d))
    basis, _ = np.linalg.qr(rng.normal(size=(12, 2 * d)))
    X = np.column_stack([t, 0.1 * t**2]) @ basis.T
    frames = tangent_frames(X, neighbor_graph(X, 15))
    assert frames.n_directions == d
    assert np.mean(frames.gap_dimension == d) > 0.6
    assert np.mean(frames.dimension == d) > 0.6


@pytest.mark.parametrize("kind", ["float64", "float32", "uint8", "csr"])
def test_threads_and_chosen_rows_do_not_change_the_bytes(kind):
    X, _ = cloud(n=333)
    X = np.abs(40 * X).astype(np.uint8) if kind == "uint8" else sp.csr_matrix(X) if kind == "csr" else X.astype(kind)
    graph = neighbor_graph(X.toarray() if kind == "csr" else X.astype(float))
    whole = on_threads(1, tangent_frames)(X, graph, n_components=4)
    for n_threads in (2, 3):
        assert_same_bytes(on_threads(n_threads, tangent_frames)(X, graph, n_components=4), whole)
        for question in (whole.importance, whole.mean_importance, whole.consistency):
            assert on_threads(n_threads, question)(X).tobytes() == on_threads(1, question)(X).tobytes()
    rows = np.array([300, 5, 17, 254, 255, 256, 0])
    some = tangent_frames(X, graph, rows=rows, n_components=4)
    for name in ("values", "coefficients", "total_variance", "dimension", "gap_dimension", "mask"):
        assert getattr(some, name).tobytes() == getattr(whole, name)[rows].tobytes(), name
    assert some.expand(X, [17, 0]).tobytes() == whole.expand(X, [17, 0]).tobytes()
    assert some.importance(X).tobytes() == whole.importance(X, rows).tobytes()


@pytest.mark.parametrize("n_features", [3, 127, 128, 129, 513, 1030])
def test_bytes_floats_and_sparse_tables_of_the_same_numbers_agree(n_features):
    """Features around the sizes of the blocks in which displacements are formed."""
    rng = np.random.default_rng(n_features)
    X = (rng.integers(0, 256, (60, n_features)) * rng.integers(0, 2, (60, n_features))).astype(np.uint8)
    graph = neighbor_graph(X.astype(float), 10)
    whole = tangent_frames(X, graph, n_components=3)
    for other in (X.astype(np.float32), X.astype(np.float64), sp.csr_matrix(X.astype(np.float32))):
        assert_same_bytes(tangent_frames(other, graph, n_components=3), whole)
    values, *_ = local_svd(X, graph, 11)
    np.testing.assert_allclose(whole.values[11], values[:3], rtol=1e-10)


def test_sparse_and_dense_tables_of_any_numbers_agree():
    X, rng = cloud(n_features=70)
    X *= rng.uniform(size=X.shape) < 0.3
    graph = neighbor_graph(X)
    dense, sparse = tangent_frames(X, graph, n_components=3), tangent_frames(sp.csr_matrix(X), graph, n_components=3)
    np.testing.assert_allclose(sparse.values, dense.values, rtol=1e-12)
    np.testing.assert_allclose(sparse.importance(sp.csr_matrix(X)), dense.importance(X), atol=1e-7)
    np.testing.assert_allclose(sparse.consistency(sp.csr_matrix(X)), dense.consistency(X), atol=1e-6)


def test_duplicates_have_no_frame_and_lower_the_rank_of_others():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 6)), 4, axis=0)
    frames = tangent_frames(X, neighbor_graph(X, 3), n_components=3)
    assert not frames.mask.any()
    assert not frames.values.any()
    frames = tangent_frames(X, neighbor_graph(X, 11), n_components=4)
    assert frames.mask.all()
    assert np.all(frames.rank == 2)  # eight neighbours on two other places
    V = frames.expand(X, np.arange(120))
    assert not V[:, :, 2:].any()
    np.testing.assert_allclose(np.sum(frames.importance(X, weighted=False) ** 2, axis=1), 2.0, rtol=1e-5)
    values = frames.consistency(X, [[0, 1], [0, 0]])
    np.testing.assert_allclose(values, 1.0, atol=1e-6)


def test_isolated_points_have_no_frame_and_disturb_nobody():
    X, _ = cloud()
    graph = neighbor_graph(X)
    mask = np.ones(graph.indices.shape, dtype=bool)
    mask[5] = False
    mask[8, 1:] = False
    cut = NeighborGraph(graph.indices, graph.distances, mask)
    frames, whole = tangent_frames(X, cut, n_components=3), tangent_frames(X, graph, n_components=3)
    assert np.flatnonzero(~frames.mask).tolist() == [5, 8]
    assert np.all(frames.dimension[[5, 8]] == 0)
    others = np.setdiff1d(np.arange(150), [5, 8])
    assert frames.coefficients[others].tobytes() == whole.coefficients[others].tobytes()
    found = frames.consistency(X)
    assert np.isnan(found[[5, 8]]).all()
    assert np.isnan(found[others][np.isin(graph.indices[others], [5, 8])]).all()
    assert np.isnan(frames.transport(X, 5, 6)).all()
    assert np.isfinite(frames.mean_importance(X)).all()


def test_the_usual_number_of_directions_is_the_median_dimension():
    X, _ = cloud()
    frames = tangent_frames(X, neighbor_graph(X), variance_share=0.7)
    assert frames.n_directions == int(np.floor(np.median(frames.dimension) + 0.5))


def test_wrong_arguments_are_refused():
    X, _ = cloud()
    graph = neighbor_graph(X)
    for name, bad in (("n_components", [0, 13, 1.5, "many"]), ("variance_share", [0.0, 1.1, np.nan, "many"])):
        for value in bad:
            with pytest.raises((TypeError, ValueError), match=f"tangent_frames: {name}="):
                tangent_frames(X, graph, **{name: value})
    with pytest.raises(ValueError, match="of the same length"):
        tangent_frames(X[:-1], graph)
    with pytest.raises(ValueError, match="weights of shape"):
        tangent_frames(X, graph, weights=-np.ones(graph.indices.shape))
    with pytest.raises(ValueError, match="rows must be from 0 to 149"):
        tangent_frames(X, graph, rows=[150])
    with pytest.raises(ValueError, match="finite"):
        tangent_frames(np.where(X > 1, np.nan, X), graph)
    frames = tangent_frames(X, graph, rows=[3, 4])
    with pytest.raises(ValueError, match="row 5 must be among those fitted"):
        frames.expand(X, 5)
    with pytest.raises(ValueError, match="kind='cosine' must be"):
        frames.consistency(X, kind="cosine")
    with pytest.raises(ValueError, match="pairs of shape"):
        frames.consistency(X, [1, 2])
    with pytest.raises(ValueError, match="of the same table"):
        frames.importance(X[:5])
