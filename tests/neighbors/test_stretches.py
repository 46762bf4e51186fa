"""Stretches of a slow series follow each other where noise hides that rows do; stretches of sorted classes do not."""

import itertools
import math

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.spatial.distance import cdist

from gnomon.neighbors import succession_of_rows
from gnomon.neighbors.stretches import _places, chance_of_stretches, evidence_of_order, stretches_of_rows


def _slow(n, d, tau, seed):
    """Return an Ornstein-Uhlenbeck process in one well, of a correlation time of tau rows."""
    kept = np.exp(-1.0 / tau)
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[0] /= np.sqrt(1.0 - kept**2)
    return lfilter([np.sqrt(1.0 - kept**2)], [1.0, -kept], X, axis=0)


@pytest.mark.parametrize(("tau", "noise"), [(100, 0.2), (300, 0.2), (1000, 0.1)])
def test_a_slow_series_is_seen_through_noise_in_many_columns(tau, noise):
    rng = np.random.default_rng(tau)
    X = _slow(2000, 5, tau, tau) @ np.linalg.qr(rng.normal(size=(50, 5)))[0].T + noise * rng.normal(size=(2000, 50))
    found = succession_of_rows(X)
    assert found.p_value < 1e-6
    assert found.turns == 1
    assert found.step > 50
    assert succession_of_rows(rng.permutation(X)) is None


@pytest.mark.parametrize(("window", "jitter"), [(1, 20.0), (100, 100.0)])
def test_a_series_is_seen_whose_rows_are_out_of_place_by_up_to_a_hundred(window, jitter):
    rng = np.random.default_rng(0)
    order = np.argsort(np.arange(2000) // window * window + rng.uniform(0, jitter, 2000), kind="stable")
    assert succession_of_rows(_slow(2000, 10, 200.0, 0)[order]).step > 50


@pytest.mark.parametrize("size", [10, 20, 33, 100])
@pytest.mark.parametrize("spread", [0.5, 1.5, 6.0])
def test_sorted_groups_are_cut_where_they_end_and_follow_each_other_by_chance(size, spread):
    rng = np.random.default_rng(size)
    number = np.arange(1200) // size
    X = spread * rng.normal(size=(1200, 3))[number] + rng.standard_t(4, size=(1200, 3))
    assert chance_of_stretches(X) > 1e-3
    if spread == 6.0 and size >= 33:
        cuts = [begin for begin, _ in stretches_of_rows(X)[1:]]
        assert np.mean(np.abs(np.subtract.outer(cuts, np.arange(size, 1200, size))).min(axis=1) <= 1) > 0.9


def test_rows_in_random_order_are_one_stretch():
    found = [len(stretches_of_rows(np.random.default_rng(seed).standard_t(2, size=(150, 3)))) for seed in range(100)]
    assert np.mean(np.array(found) > 1) <= 0.03


def test_the_stretches_are_the_table_in_its_order():
    found = stretches_of_rows(_slow(3000, 3, 100.0, 0))
    assert len(found) == 64
    assert found[0][0] == 0
    assert found[-1][1] == 3000
    assert all(one[1] == two[0] for one, two in itertools.pairwise(found))
    assert min(end - begin for begin, end in found) >= 8


def test_the_evidence_is_a_ratio_of_chances_and_so_its_mean_over_all_orders_is_one():
    points = np.random.default_rng(3).normal(size=(6, 2))
    squared = cdist(points, points, "sqeuclidean")
    ratios = [math.exp(evidence_of_order(squared[np.ix_(p, p)])) for p in itertools.permutations(range(6))]
    assert np.mean(ratios) == pytest.approx(1.0, rel=1e-9)
    assert np.max(ratios) <= math.factorial(5) * (1 + 1e-9)


@pytest.mark.parametrize("n", [3, 10, 11, 20])
def test_points_along_a_line_are_evidence_and_ten_are_not_enough(n):
    squared = cdist(np.arange(n)[:, None], np.arange(n)[:, None], "sqeuclidean")
    told = evidence_of_order(squared)
    assert 0 < told < math.lgamma(n)
    assert (told > math.log(1e6)) == (n >= 11)
    assert evidence_of_order(np.zeros((n, n))) == 0.0


def test_distances_tell_of_stretches_what_their_rows_tell_and_long_tables_are_thinned():
    X = _slow(600, 3, 60.0, 1) + 0.3 * np.random.default_rng(1).normal(size=(600, 3))
    assert chance_of_stretches(cdist(X, X), "precomputed") == pytest.approx(chance_of_stretches(X), rel=1e-2)
    np.testing.assert_array_equal(*(_places(np.repeat(X, k, axis=0)[: 512 * k], "euclidean", 0) for k in (4, 8)))
    assert chance_of_stretches(np.repeat([[0.0, 1.0]], 200, axis=0)) == 1.0
