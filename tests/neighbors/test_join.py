"""Bridges as neighbours of their ends."""

from __future__ import annotations

import numpy as np

from gnomon.neighbors import Bridges, bridged_graph, compute_neighbors, find_bridges, graph_components


def test_ends_become_neighbors_and_the_graph_connected():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 3)) + 100 * shift for shift in range(4)])
    graph = compute_neighbors(X, 4)
    bridges = find_bridges(X, graph)
    joined = bridged_graph(graph, bridges)
    assert graph_components(joined).max() == 0
    for source, target, length in zip(bridges.sources, bridges.targets, bridges.distances, strict=True):
        for row, other in ((source, target), (target, source)):
            at = np.flatnonzero((joined.indices[row] == other) & joined.mask[row])
            assert at.size == 1
            np.testing.assert_allclose(joined.distances[row, at], length, rtol=1e-6)
    assert int(joined.mask[:, 4:].sum()) == 2 * len(bridges)
    np.testing.assert_array_equal(joined.indices[:, :4], graph.indices)
    finite = np.where(joined.mask, joined.distances, np.inf)
    assert (np.diff(finite, axis=1)[np.isfinite(finite[:, 1:])] >= 0).all()


def test_without_bridges_the_graph_is_itself():
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(20, 2)), 5)
    assert bridged_graph(graph, Bridges.none()) is graph


def test_a_row_may_have_several_bridges():
    graph = compute_neighbors(np.arange(12.0)[:, None], 2)
    bridges = Bridges(np.array([0, 0], np.int32), np.array([7, 11], np.int32), np.array([7.0, 11.0]))
    joined = bridged_graph(graph, bridges)
    assert joined.indices[0, 2:].tolist() == [7, 11]
    assert joined.distances[0, 2:].tolist() == [7.0, 11.0]
    assert joined.mask[[0, 7, 11, 1], 2:].tolist() == [[True, True], [True, False], [True, False], [False, False]]
