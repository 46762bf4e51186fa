"""Neighbours in blocks of columns: joined distances, ties, candidates of large tables, new rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.neighbors import blocks, compute_neighbors
from gnomon.neighbors.blocks import BlockPart, BlockSearch, find_block_neighbors, usual_distances

K = 12


def _table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 3))
    codes = rng.integers(0, 3, size=(n, 4)).astype(float)
    return np.hstack([numbers, codes])


def _parts(X, weights=(1.0, 0.5)):
    parts = (BlockPart(0, 3, "euclidean", None, weights[0]), BlockPart(3, 7, "manhattan", None, weights[1]))
    return usual_distances(X, parts)


def _joined(X, parts, power):
    total = 0.0
    for part, metric in zip(parts, ("euclidean", "cityblock"), strict=True):
        distances = cdist(part.of(X), part.of(X), metric)
        nearest = np.sort(distances + np.diag(np.full(len(X), np.inf)), axis=1)[:, :K]
        unit = np.maximum(nearest.mean(axis=1), 0.25 * part.usual)
        total = total + part.weight * (distances / unit[:, None]) ** power
    return total ** (1.0 / power) + np.diag(np.full(len(X), np.inf))


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_joined_neighbours_are_nearest_by_the_stated_sum(power):
    X = _table()
    found = find_block_neighbors(X, _parts(X), K, power=power).joined
    wanted = _joined(X, _parts(X), power)
    order = np.argsort(wanted, axis=1, kind="stable")[:, :K]
    np.testing.assert_allclose(found.distances, np.take_along_axis(wanted, order, axis=1), rtol=1e-6)
    np.testing.assert_array_equal(np.sort(found.indices, axis=1), np.sort(order, axis=1))
    assert found.recall == 1.0


def test_the_usual_distance_is_the_root_mean_square():
    X = _table(300)
    assert _parts(X)[0].usual == pytest.approx(np.sqrt(np.mean(cdist(X[:, :3], X[:, :3]) ** 2)))


def test_of_rows_equal_in_a_block_those_near_in_all_are_its_neighbours():
    X = _table()
    X[:, 3:] = 0.0  # all rows are equal in the second block
    one, other = find_block_neighbors(X, _parts(X), K, power=1.0, each=True).of_blocks
    np.testing.assert_array_equal(np.sort(other.indices, axis=1), np.sort(one.indices, axis=1))
    np.testing.assert_array_equal(other.distances, 0.0)
    plain = compute_neighbors(np.ascontiguousarray(X[:, :3]), K)
    np.testing.assert_array_equal(one.indices, plain.indices)
    np.testing.assert_allclose(one.distances, plain.distances, rtol=1e-6)


def test_candidates_of_a_large_table_are_the_neighbours_of_all_pairs(monkeypatch):
    X = _table(700)
    whole = find_block_neighbors(X, _parts(X), K, power=1.0)
    monkeypatch.setattr(blocks, "ALL_PAIRS", 0.0)
    some = find_block_neighbors(X, _parts(X), K, power=1.0, each=True)
    assert some.joined.method == "candidates"
    assert some.joined.recall >= 0.98
    shared = [len(np.intersect1d(a, b)) for a, b in zip(some.joined.indices, whole.joined.indices, strict=True)]
    assert np.mean(shared) / K >= 0.97
    assert len(some.of_blocks) == 2
    assert (some.joined.indices != np.arange(700)[:, None]).all()


def test_a_new_row_is_searched_by_itself():
    X, new = _table(), _table(30, seed=1)
    for each in (False, True):
        search = BlockSearch(X, _parts(X), K, 1.0, each)
        indices, distances = search.find(new)
        assert indices.shape == (30, K * (2 if each else 1))
        for row in (0, 17):
            own, lengths = search.find(new[row : row + 1])
            np.testing.assert_array_equal(own[0], indices[row])
            np.testing.assert_array_equal(lengths[0], distances[row])
