"""Rows that are in very many lists of neighbours, and in none, are counted and told."""

import numpy as np

import gnomon as gn
from gnomon.maps.hubs import MANY_IN_NONE, hubs_told, neighbor_lists
from gnomon.neighbors import NeighborGraph, compute_neighbors


def test_lists_that_a_row_is_in_are_counted_one_by_one():
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(80, 4)).astype(np.float32), 7)
    expected = [sum(row in near for near in graph.indices.tolist()) for row in range(80)]
    assert graph.in_lists.tolist() == expected
    assert graph.in_lists.sum() == 80 * 7


def test_neighbours_that_do_not_exist_are_in_no_list():
    indices = np.array([[1, 1], [0, 2], [1, 0]], dtype=np.int32)
    mask = np.array([[True, False], [True, True], [True, True]])
    distances = np.where(mask, np.float32(1.0), np.float32(np.inf)).astype(np.float32)
    assert NeighborGraph(indices, distances, mask).in_lists.tolist() == [2, 2, 1]


def test_the_report_tells_hubs_where_rows_are_of_unlike_length_and_not_on_a_plane():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(100, 40)) * np.exp(0.5 * rng.normal(size=(100, 1)))
    for X, hubs in ((wide, True), (rng.normal(size=(100, 2)), False)):
        m = gn.Map(X, X[:, :2])
        facts = neighbor_lists(m)
        counts = m.neighbors().nearest(15).in_lists
        assert (facts["largest"], facts["in_none"]) == (counts.max(), np.count_nonzero(counts == 0))
        assert (counts[facts["row"]], facts["median"]) == (counts.max(), np.median(counts))
        assert (facts["share_in_none"] >= MANY_IN_NONE) == hubs
        assert ("hubs" in hubs_told(facts)) == hubs
    assert f"  {hubs_told(facts)}" in m.report(verdicts=False).splitlines()
    assert m.to_dict()["neighbor_lists"] == facts
