"""The shortest tree that spans points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.linalg import spanning_tree


def _by_prim(distances):
    """Return the edges by Prim's way: of all edges out of the tree so far the shortest, and again."""
    inside, edges = {0}, set()
    while len(inside) < len(distances):
        found = min((distances[i, j], i, j) for i in inside for j in range(len(distances)) if j not in inside)
        inside.add(found[2])
        edges.add(tuple(sorted(found[1:])))
    return edges


@pytest.mark.parametrize("exponent", [-300, -90, -30, 0, 90, 300])
def test_it_is_that_of_prim_in_any_unit(exponent):
    points = np.random.default_rng(0).normal(size=(30, 3))
    distances = cdist(points, points)
    found = spanning_tree(distances * 2.0**exponent).tocoo()
    edges = {tuple(sorted(edge)) for edge in zip(found.row.tolist(), found.col.tolist(), strict=True)}
    assert edges == _by_prim(distances)
    np.testing.assert_array_equal(found.data, distances[found.row, found.col] * 2.0**exponent)


def test_points_at_one_place_are_joined():
    points = np.array([0.0, 0.0, 1.0, 1.0, 1.0])[:, None]
    found = spanning_tree(cdist(points, points))
    assert found.nnz == 4
    assert found.sum() == 1.0
