"""Columns with a period are cut where fewest rows lie, so that no group is split where its angles start again."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import find_clusters
from gnomon.clusters.circles import cuts_of, unrolled


def wrapped(values):
    return (values + 180.0) % 360.0 - 180.0


def test_a_column_is_cut_in_the_middle_of_its_widest_gap():
    rng = np.random.default_rng(0)
    X = np.column_stack([wrapped(rng.normal(180, 20, 500)), rng.normal(0, 20, 500), rng.normal(0, 1e3, 500)])
    periods, cuts = cuts_of(X, "periodic(360, 360, inf)")
    assert periods.tolist() == [360, 360, np.inf]
    assert abs(cuts[0]) % 360 < 30 or abs(cuts[0]) % 360 > 330
    assert abs(cuts[1] - 180) < 30
    rows = unrolled(X, (periods, cuts))
    np.testing.assert_array_equal(rows[:, 2], X[:, 2])
    assert rows[:, :2].min() >= 0
    assert rows[:, :2].max() < 360
    np.testing.assert_allclose(wrapped(rows[:, :2] + cuts[:2]), X[:, :2], atol=1e-9)
    assert np.ptp(rows[:, 0]) < 180  # in one piece


def test_longitudes_have_a_period_and_other_columns_none():
    places = np.column_stack([np.zeros(80), wrapped(np.linspace(150, 210, 80)) * np.pi / 180])
    assert np.ptp(unrolled(places, cuts_of(places, "haversine"))[:, 1]) < 1.1
    for metric, X in (("euclidean", places), ("cosine", places), ("periodic(360)", sp.csr_array(places))):
        assert cuts_of(X, metric) is None
        assert unrolled(X, None) is X
    assert cuts_of(np.arange(72.0)[:, None] / 72, "periodic(1)")[1].tolist() == [0.0]  # nowhere fewer than elsewhere


@pytest.mark.parametrize("seed", range(3))
def test_a_group_on_both_sides_of_the_seam_is_one(seed):
    rng = np.random.default_rng(seed)
    X = wrapped(np.concatenate([rng.normal(180, 20, (500, 3)), rng.normal(60, 20, (500, 3))]))
    found = find_clusters(X, metric="periodic(360)", random_state=0)
    assert len(found.level().clusters) == 2
    labels = found.level().labels
    assert np.mean(labels[:500] == np.bincount(labels[:500] + 1).argmax() - 1) > 0.95
