"""The recall of an approximate search: estimated without bias, with an honest error, and reached."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.neighbors import RowSearch, compute_neighbors, graph_fault
from gnomon.neighbors.samples import Draw, Sample, estimate

SEARCHES = 12


def _cloud(n=3000, width=8, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, width)) * 0.8 ** np.arange(width)).astype(np.float32)


@pytest.fixture(scope="module")
def searches():
    """Reported recalls and their errors beside the true recalls of searches with several seeds."""
    X = _cloud()
    last = compute_neighbors(X, 10, method="exact").distances[:, -1:]
    graphs = [compute_neighbors(X, 10, method="approximate", target_recall=0.8, seed=i) for i in range(SEARCHES)]
    assert {graph.method for graph in graphs} == {"cells"}
    true = np.array([(graph.distances <= last).mean() for graph in graphs])
    return np.array([graph.recall for graph in graphs]), np.array([graph.recall_error for graph in graphs]), true


def test_the_recall_asked_for_is_reached_in_truth(searches):
    _, errors, true = searches
    assert (true >= 0.8 - errors).all()
    assert true.mean() >= 0.8


def test_reported_recalls_differ_from_the_true_ones_as_their_errors_say(searches):
    reported, errors, true = searches
    z = (reported - true) / errors
    assert 0.3 < np.sqrt(np.mean(z**2)) < 1.7
    assert abs(z.mean()) < 3.0 / np.sqrt(SEARCHES)  # no bias
    assert (errors < 0.02).all()


def test_estimates_are_unbiased_for_every_draw_of_few_rows_and_their_error_is_the_spread():
    rng = np.random.default_rng(1)
    true = rng.binomial(10, 0.9, 4000) / 10
    shares = np.minimum(1.0, true + 0.1 * (rng.random(4000) < 0.1))
    drawn = [rng.choice(4000, 200, replace=False) for _ in range(600)]
    found = [estimate(shares[rows], true[rows[:40]]) for rows in drawn]
    values, errors = (np.array([getattr(one, name) for one in found]) for name in ("value", "error"))
    assert abs(values.mean() - true.mean()) < 4 * values.std() / np.sqrt(len(values))
    assert errors.mean() == pytest.approx(values.std(), rel=0.1)
    assert np.mean([one.limit for one in found] <= true.mean()) == pytest.approx(0.95, abs=0.03)


def test_an_estimate_from_rows_compared_with_all_is_their_mean():
    shares = np.array([0.5, 1.0, 0.75, 0.75])
    found = estimate(shares, shares)
    assert found.value == 0.75
    assert found.error == pytest.approx(shares.std() / 2)


def test_recalls_for_numbers_of_cells_are_those_of_searches_of_so_many():
    rng = np.random.default_rng(2)
    wide = np.sort(rng.random((30, 6)), axis=1).astype(np.float32)
    true = wide[:10].copy()
    true[::2, -1] = true[::2, -2]  # of every second row the last found is not among the nearest
    sample = Sample(np.arange(30, dtype=np.int32), wide, true)
    ranks = rng.integers(0, 5, (30, 6)).astype(np.int32)
    kept = rng.random((30, 6)) < 0.9
    by_probes = sample.recall_by_probes(ranks, kept, 4)
    for n_probes in range(1, 5):
        found = np.where(kept & (ranks < n_probes), wide, np.inf)
        expected = sample.recall(found)
        assert by_probes.value[n_probes - 1] == pytest.approx(expected.value, abs=1e-12)
        assert by_probes.error[n_probes - 1] == pytest.approx(expected.error, abs=1e-12)


def test_rows_that_judge_are_drawn_independently_of_those_that_choose():
    draw = Draw.of(1000, np.random.default_rng(0))
    first, second = draw.rows[: draw.size], draw.rows[draw.size :]
    assert len(np.unique(first)) == len(np.unique(second)) == draw.size
    shared = len(np.intersect1d(first, second))
    assert 0.5 < shared / (draw.size**2 / 1000) < 1.5  # neither the same nor set apart
    np.testing.assert_array_equal(draw.compared, np.concatenate([first[: draw.n_compared], second[: draw.n_compared]]))


def test_new_rows_have_a_recall_with_an_error():
    search = RowSearch.of(_cloud(), 10, method="approximate", target_recall=0.8)
    assert search.method == "cells"
    assert 0.0 < search.recall_error < 0.02
    assert RowSearch.of(_cloud(500), 10).recall_error == 0.0


def test_a_graph_of_fewer_neighbours_keeps_the_error_and_an_impossible_one_is_named():
    graph = compute_neighbors(_cloud(), 10, method="approximate", target_recall=0.8)
    assert graph.nearest(3).recall_error == graph.recall_error > 0.0
    assert graph_fault(graph) == ""
    assert graph_fault(replace(graph, recall_error=-1.0)) == "recall_error is -1.0, not in [0, 1]"
