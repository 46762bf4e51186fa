"""The largest of many values are judged by those that follow: exactly so where the tail is a power."""

import math

import numpy as np
import pytest

from gnomon.geometry.farthest import Tail


def test_the_tail_of_five_values_in_closed_form():
    """Of 5 values the largest is left out; gaps of ranks 2 and 3 are 2 (log 8 - log 4) and 3 (log 4 - log 2)."""
    tail = Tail.learn(np.array([2.0, 8.0, 1.0, 100.0, 4.0]), 1, 2)
    slope = 2.5 * math.log(2.0)
    assert (tail.base, tail.n_beyond, tail.n_gaps) == (pytest.approx(8.0), 1, 2)
    assert tail.slope == pytest.approx(slope)
    assert tail.chance(np.array([100.0, 8.0, 1.0])) == pytest.approx(
        [(1.0 + math.log(12.5) / slope / 2.0) ** -2, 1.0, 1.0]
    )


def test_of_a_power_tail_the_chance_is_what_it_says():
    """Of the largest of the values beyond it is 1 - E(1 - exp(-t))^m, for which m E exp(-t) is a bound, and near."""
    rng = np.random.default_rng(0)
    found = np.array(
        [Tail.learn(values, 5, 20).chance(values).min() for values in rng.pareto(1.5, size=(3000, 60)) + 1.0]
    )
    for alpha in (0.2, 0.05, 0.02):
        error = 3.0 * math.sqrt(alpha * (1.0 - alpha) / len(found))
        assert 0.85 * alpha - error < (found <= alpha).mean() < alpha + error


def test_lighter_tails_have_less_than_it_says():
    rng = np.random.default_rng(1)
    least = [Tail.learn(values, 5, 20).chance(values).min() for values in rng.chisquare(40, size=(1000, 100))]
    assert np.mean(np.array(least) <= 0.05) < 0.05


def test_the_largest_values_and_the_unit_do_not_matter():
    values = np.random.default_rng(2).pareto(2.0, 200) + 1.0
    tail = Tail.learn(values, 5, 40)
    spoiled = values.copy()
    spoiled[np.argsort(values)[-5:]] = 1e9
    assert Tail.learn(spoiled, 5, 40) == tail
    np.testing.assert_allclose(Tail.learn(7.0 * values, 5, 40).chance(7.0 * values), tail.chance(values), rtol=1e-10)


def test_values_left_out_before_count_as_the_largest():
    values = np.sort(np.random.default_rng(3).pareto(2.0, 200) + 1.0)[::-1]
    assert Tail.learn(values[3:], 5, 40, n_hidden=3) == Tail.learn(values, 5, 40)
    assert Tail.learn(values, 5, 40, times=4.0).n_beyond == 20.0


def test_the_limit_is_where_the_chance_is():
    tail = Tail.learn(np.random.default_rng(4).pareto(2.0, 200) + 1.0, 5, 40)
    for chance in (0.5, 0.025, 1e-6):
        assert tail.chance(np.array([tail.limit(chance)]))[0] == pytest.approx(chance)


def test_equal_values_have_a_tail_that_rounding_does_not_pass():
    tail = Tail.learn(np.ones(100), 5, 20)
    assert tail.chance(np.array([1.0 + 1e-5]))[0] == 1.0
    assert tail.chance(np.array([1.1]))[0] < 1e-9
