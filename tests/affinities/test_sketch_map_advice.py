"""Advice for sketch-map from the histogram of distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.affinities import sketch_map_advice

rng = np.random.default_rng(0)


@pytest.mark.parametrize(("dimension", "tolerance"), [(1, 0.15), (2, 0.2), (5, 0.8)])
def test_the_dimension_of_a_uniform_sheet_is_found(dimension, tolerance):
    X = np.zeros((1000, 10))
    X[:, :dimension] = rng.random((1000, dimension))
    advice = sketch_map_advice(X)
    assert advice.dimension == pytest.approx(dimension, abs=tolerance)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_the_histogram_holds_the_mode_and_sigma_lies_just_below_it(unit):
    X = rng.normal(size=(400, 8)) * unit
    advice = sketch_map_advice(X)
    between = cdist(X / unit, X / unit)[np.triu_indices(400, 1)]
    assert advice.counts.sum() == len(between)
    assert advice.edges[-1] == pytest.approx(between.max() * unit)
    assert advice.mode / unit == pytest.approx(3.9, abs=0.4)  # of a chi distribution with 8 degrees, times sqrt(2)
    assert 0.5 * advice.mode < advice.sigma < advice.mode


def test_exponents_follow_the_rule_of_thumb():
    X = rng.normal(size=(500, 8))
    for d in (1, 2, 3):
        advice = sketch_map_advice(X, n_components=d)
        A, a = advice.high[0], advice.low[0]
        assert np.clip(round(advice.dimension), 2, 12) == A
        assert a == pytest.approx(np.clip(A * d / advice.dimension, 1.0, 3.0), abs=0.051)
        assert (advice.high[1], advice.low[1]) == (6.0, 3.0)
        for number in (advice.mode, advice.sigma, advice.dimension):
            assert f"{number:.3g}"[:3] in advice.reasons


def test_islands_far_apart_do_not_hide_the_distances_within():
    X = np.concatenate([rng.normal(size=(40, 4)) + 1e6 * k for k in range(3)])
    assert 0.5 < sketch_map_advice(X).sigma < 5.0


def test_distances_given_and_rows_drawn_agree():
    X = rng.normal(size=(300, 6))
    rows, given = sketch_map_advice(X, max_rows=100), sketch_map_advice(cdist(X, X), metric="precomputed", max_rows=100)
    assert given.sigma == pytest.approx(rows.sigma, rel=1e-9)
    assert rows.counts.sum() == 100 * 99 // 2
    assert sketch_map_advice(X).sigma == pytest.approx(rows.sigma, rel=0.2)


def test_two_rows_and_equal_rows_have_advice():
    for X in (np.array([[0.0], [2.0]]), np.ones((5, 3)), np.eye(20)):
        advice = sketch_map_advice(X)
        assert np.isfinite([advice.mode, advice.sigma, *advice.high, *advice.low]).all()
        assert advice.sigma > 0.0


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError, match="sketch_map_advice: max_rows=1 must be an integer >= 2"):
        sketch_map_advice(np.eye(3), max_rows=1)
