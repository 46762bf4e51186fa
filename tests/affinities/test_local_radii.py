"""Radii of rows by the distances to their neighbours."""

import numpy as np
import pytest

from gnomon.affinities import LocalRadii
from gnomon.neighbors import NeighborGraph


def graph_of(distances):
    n, k = np.shape(distances)
    indices = (np.arange(n)[:, None] + np.arange(1, k + 1)) % n
    return NeighborGraph(indices.astype(np.int32), np.asarray(distances, dtype=np.float32), metric="euclidean")


@pytest.mark.parametrize("exponent", [0.5, 1.0, 3.0])
def test_radii_are_roots_of_mean_squared_distances_over_their_geometric_mean(exponent):
    distances = np.sort(np.random.default_rng(0).uniform(0.5, 4.0, (30, 5)).astype(np.float32), axis=1)
    found = LocalRadii.from_neighbors(graph_of(distances), exponent).of(distances)
    expected = np.sqrt(np.square(distances.astype(float)).mean(axis=1)) ** exponent
    np.testing.assert_allclose(found, expected / np.exp(np.log(expected).mean()), rtol=1e-12)


def test_the_unit_of_the_data_cancels_and_new_rows_have_the_same_unit():
    distances = np.sort(np.random.default_rng(1).uniform(1.0, 2.0, (20, 4)).astype(np.float32), axis=1)
    radii = LocalRadii.from_neighbors(graph_of(distances))
    larger = LocalRadii.from_neighbors(graph_of(8 * distances))
    np.testing.assert_array_equal(radii.of(distances), larger.of(8 * distances))
    np.testing.assert_allclose(radii.of(4 * distances[:2]), 4 * radii.of(distances)[:2], rtol=1e-12)


def test_radii_beyond_a_thousand_times_the_middle_one_are_the_bound():
    distances = np.repeat(np.array([[0.0], [1.0], [1.0], [1.0], [1e30]], dtype=np.float32), 3, axis=1)
    radii = LocalRadii.from_neighbors(graph_of(distances), 2.0)
    ratios = radii.of(distances) / radii.of(distances)[1]
    np.testing.assert_allclose(ratios, [1e-3, 1.0, 1.0, 1.0, 1e3], rtol=1e-12)


def test_neighbours_that_are_missing_are_left_out():
    distances = np.array([[1.0, 2.0], [1.0, np.inf], [np.inf, np.inf]], dtype=np.float32)
    radii = LocalRadii(1.0, 0.0, 1.0)
    np.testing.assert_allclose(radii.of(distances), [np.sqrt(2.5), 1.0, 1.0], rtol=1e-12)
    nothing = LocalRadii.from_neighbors(graph_of(np.zeros((4, 2))))
    np.testing.assert_array_equal(nothing.of(np.zeros((4, 2), dtype=np.float32)), np.ones(4))
