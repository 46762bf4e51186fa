"""Rows that were measured several times: found where they are, and nowhere else."""

import numpy as np
import pytest

from gnomon.neighbors import (
    NeighborGraph,
    compute_neighbors,
    find_repeats,
    near_copies,
    near_sets,
    query_neighbors,
    repeats,
    repeats_of_graph,
)


def _several(n, times, noise, d=5, seed=0):
    draw = np.random.default_rng(seed)
    return np.repeat(draw.normal(size=(n, d)), times, axis=0) + noise * draw.normal(size=(n * times, d))


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("times", [2, 3, 5, 10])
def test_sets_are_those_that_were_measured_several_times(times, noise):
    kept, inverse = find_repeats(_several(120, times, noise), seed=0)
    assert np.mean(kept[inverse] == np.repeat(np.arange(120) * times, times)) > 0.9


@pytest.mark.parametrize("noise", [0.0, 1e-5])
@pytest.mark.parametrize(("times", "d"), [(2, 3), (3, 3), (5, 3), (2, 6)])
def test_sets_that_happen_to_lie_near_each_other_are_not_one(times, d, noise):
    for seed in range(3):
        kept, inverse = find_repeats(_several(300 // times, times, noise, d, seed), seed=0)
        assert np.array_equal(kept[inverse], np.arange(300) // times * times)


def test_sets_of_a_large_table_are_found_in_any_order():
    X = _several(800, 3, 0.02)
    order = np.random.default_rng(1).permutation(2400)
    kept, inverse = find_repeats(X[order], seed=0)
    assert np.all(np.diff(kept) > 0)
    assert np.array_equal(inverse[kept], np.arange(len(kept)))
    assert np.all(kept[inverse] <= np.arange(2400))
    assert np.mean(order[kept[inverse]] // 3 == order // 3) > 0.9
    assert abs(len(kept) - 800) < 80


_INDEPENDENT = {
    "normal 1": lambda draw: draw.normal(size=(300, 1)),
    "normal 2": lambda draw: draw.normal(size=(300, 2)),
    "normal 20": lambda draw: draw.normal(size=(300, 20)),
    "even": lambda draw: draw.random((300, 3)),
    "heavy tails": lambda draw: draw.standard_t(1, size=(300, 5)),
    "skewed": lambda draw: np.exp(2.0 * draw.normal(size=(300, 4))),
    "curve": lambda draw: np.sin(np.outer(6.0 * draw.random(300), np.arange(1, 6))) + 0.02 * draw.normal(size=(300, 5)),
    "clusters": lambda draw: draw.normal(size=(300, 5)) + 30.0 * draw.integers(0, 6, size=(300, 1)),
    "grid": lambda draw: np.indices((18, 18)).reshape(2, -1).T.astype(float),
}


@pytest.mark.parametrize("name", _INDEPENDENT)
def test_independent_rows_are_not_taken_for_repeated(name):
    for seed in range(5):
        X = _INDEPENDENT[name](np.random.default_rng(seed))
        assert len(find_repeats(X, seed=0)[0]) == len(X)


@pytest.mark.parametrize("n_classes", [6, 15])
@pytest.mark.parametrize("each", [4, 5, 8, 10])
def test_small_classes_are_no_copies(n_classes, each):
    """Rows of a class are independent in all columns; their centres lie six times their spread apart."""
    for seed in range(5):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(n_classes * each, 4)) + np.repeat(6.0 * draw.normal(size=(n_classes, 4)), each, axis=0)
        assert len(find_repeats(X, seed=0)[0]) == len(X)


@pytest.mark.parametrize("n_sets", [6, 19])
@pytest.mark.parametrize(("times", "noise"), [(3, 0.1), (5, 0.02), (10, 0.02), (10, 0.0)])
def test_few_sets_are_found_where_they_are_narrower_than_classes(n_sets, times, noise):
    shares = [len(find_repeats(_several(n_sets, times, noise, seed=seed), seed=0)[0]) for seed in range(5)]
    assert np.mean(shares) == pytest.approx(n_sets, rel=0.15)


def _near(X, new):
    """Return how many rows are in a set beyond doubt, and how many of the new ones copies of one."""
    graph = compute_neighbors(X, 20, seed=0)
    copied = near_copies(graph, *query_neighbors(X, new, 20))
    return np.count_nonzero(near_sets(graph) != np.arange(len(X))), np.count_nonzero(copied >= 0)


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy"])
def test_in_one_of_twenty_tables_chance_sets_rows_beyond_doubt(draw):
    """Also of one column, where steps are widest, and of new rows, each of which is compared with all."""
    found = []
    for seed in range(100):
        rows = getattr(np.random.default_rng(seed), draw)(size=(400, 1))
        found.append(_near(rows[:200], rows[200:]))
    assert np.all(np.count_nonzero(found, axis=0) <= [5, 10])


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.standard_cauchy((900, 20)),
        lambda rng: rng.standard_t(1.5, (900, 20)),
        lambda rng: np.exp(2.0 * rng.normal(size=(900, 8))),
    ],
    ids=["cauchy", "t", "log-normal"],
)
def test_rows_far_out_are_near_no_others_beyond_doubt(draw):
    for seed in range(3):
        rows = draw(np.random.default_rng(seed))
        assert _near(rows[:700], rows[700:]) == (0, 0)


@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("d", [5, 200])
def test_copies_are_found_however_many_there_are(share, d):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, (400, d)) * np.exp(rng.normal(size=d))
    chosen = rng.permutation(400)[: int(share * 400)]
    new = X[chosen] + 1e-4 * X.std(axis=0) * rng.normal(size=(len(chosen), d))
    sets = near_sets(compute_neighbors(np.concatenate([X, new]), 20, seed=0))
    np.testing.assert_array_equal(sets[400:], chosen)
    copied = near_copies(compute_neighbors(X, 20, seed=0), *query_neighbors(X, new, 20))
    np.testing.assert_array_equal(copied, chosen)


def test_a_large_table_of_independent_rows_is_told_by_some_of_them(monkeypatch):
    monkeypatch.setattr(repeats, "repeats_of_graph", None)
    kept, inverse = find_repeats(np.random.default_rng(0).normal(size=(2500, 3)), seed=0)
    assert np.array_equal(kept, np.arange(2500))
    assert np.array_equal(inverse, np.arange(2500))


def test_few_neighbors_and_equal_rows_tell_nothing():
    X = _several(50, 2, 0.01)
    assert [len(repeats_of_graph(compute_neighbors(X, k))[0]) for k in (1, 2, 5)] == [100] * 3
    assert len(repeats_of_graph(compute_neighbors(X, 20))[0]) < 60
    assert len(find_repeats(np.zeros((40, 3)), seed=0)[0]) == 40


def test_rows_whose_other_neighbors_are_not_known_are_no_set_for_that():
    """Ten rows of which each knows the others alone: how far further ones are is not said."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    graph = compute_neighbors(X, 20)
    distances, indices = graph.distances.copy(), graph.indices.copy()
    for begin in range(0, 100, 10):
        block = compute_neighbors(X[begin : begin + 10], 9)
        distances[begin : begin + 10] = np.pad(block.distances, [(0, 0), (0, 11)], constant_values=np.inf)
        indices[begin : begin + 10] = np.pad(block.indices + begin, [(0, 0), (0, 11)], mode="edge")
    given = NeighborGraph(indices, distances, mask=np.isfinite(distances), metric="euclidean")
    assert len(repeats_of_graph(given)[0]) == 200
