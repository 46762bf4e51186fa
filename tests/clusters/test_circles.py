"""Columns with a period are cut where fewest rows lie, so that no group is split where its angles start again."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import find_clusters
from gnomon.neighbors.circles import find_seams


def wrapped(values):
    return (values + 180.0) % 360.0 - 180.0


def test_a_column_is_cut_in_the_middle_of_its_widest_gap():
    rng = np.random.default_rng(0)
    X = np.column_stack([wrapped(rng.normal(180, 20, 500)), rng.normal(0, 20, 500), rng.normal(0, 1e3, 500)])
    seams = find_seams(X, "periodic(360, 360, inf)")
    assert seams.periods.tolist() == [360, 360, np.inf]
    assert abs(wrapped(seams.begins[0])) < 30
    rows = seams.apply(X)
    np.testing.assert_array_equal(rows[:, 1:], X[:, 1:])
    assert rows[:, 0].min() >= seams.begins[0]
    assert rows[:, 0].max() < seams.begins[0] + 360
    np.testing.assert_allclose(wrapped(rows[:, 0]), X[:, 0], atol=1e-9)
    assert np.ptp(rows[:, 0]) < 180  # in one piece


def test_longitudes_have_a_period_and_other_columns_none():
    places = np.column_stack([np.zeros(80), wrapped(np.linspace(150, 210, 80)) * np.pi / 180])
    assert np.ptp(find_seams(places, "haversine").apply(places)[:, 1]) < 1.1
    for metric, X in (("euclidean", places), ("cosine", places), ("periodic(360)", sp.csr_array(places))):
        assert find_seams(X, metric) is None
    even = np.arange(72.0)[:, None] / 72
    assert find_seams(even, "periodic(1)").moved.tolist() == []  # nowhere fewer than elsewhere


@pytest.mark.parametrize("seed", range(3))
def test_a_group_on_both_sides_of_the_seam_is_one(seed):
    rng = np.random.default_rng(seed)
    X = wrapped(np.concatenate([rng.normal(180, 20, (500, 3)), rng.normal(60, 20, (500, 3))]))
    found = find_clusters(X, metric="periodic(360)", random_state=0)
    assert len(found.level().clusters) == 2
    labels = found.level().labels
    assert np.mean(labels[:500] == np.bincount(labels[:500] + 1).argmax() - 1) > 0.95


def test_columns_are_moved_only_where_rows_lie_across_their_ends():
    rng = np.random.default_rng(0)
    inside, across, turns = rng.normal(0, 20, 500), wrapped(rng.normal(180, 20, 500)), rng.normal(0, 20, 500)
    X = np.column_stack([inside, across, turns + 360 * rng.integers(-2, 3, 500), rng.uniform(-180, 180, 500), inside])
    seams = find_seams(X, "periodic(360, 360, 360, 360, inf)")
    assert seams.moved.tolist() == [1, 2]
    assert seams.crowded.tolist() == [False, False, False, True, False]
    told = seams.apply(X)
    np.testing.assert_array_equal(told[:, [0, 3, 4]], X[:, [0, 3, 4]])
    assert np.ptp(told[:, 1]) < 180
    assert np.ptp(told[:, 2]) < 180
    np.testing.assert_allclose(wrapped(told[:, :4]), wrapped(X[:, :4]), atol=1e-9)
    assert abs(np.median(told[:, 2])) < 10
    np.testing.assert_allclose(seams.apply(X[7]), told[7])
    assert seams.apply(X.astype(np.float32)).dtype == np.float32


def test_a_column_that_is_thin_at_one_place_is_cut_there_and_keeps_its_caution():
    rng = np.random.default_rng(0)
    thin = wrapped(np.concatenate([rng.normal(180, 40, 900), rng.uniform(-180, 180, 100)]))
    seams = find_seams(thin[:, None], "periodic(360)")
    assert seams.crowded.tolist() == [True]
    assert abs(wrapped(seams.begins[0])) < 60
    assert find_seams(sp.csr_array(thin[:, None]), "periodic(360)") is None
    assert find_seams(thin[:, None], "euclidean") is None
