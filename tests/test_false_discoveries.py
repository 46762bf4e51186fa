"""P-values of normal deviations: those of the literature and of SciPy, in gnomon's own arithmetic."""

import numpy as np
import pytest
from scipy.special import ndtr

from gnomon._false_discoveries import normal_p_values

_EPSILON = np.finfo(np.float64).eps


@pytest.mark.parametrize(
    ("deviation", "expected"),
    [
        (0.5, 0.61707507745197379272),
        (1.0, 0.31731050786291410283),
        (2.0, 0.045500263896358414401),
        (5.0, 5.7330314375838782335e-7),
        (10.0, 1.5239706048321052132e-23),
        (30.0, 9.8134278542963741191e-198),
        (9.7, 3.0149863376204097461e-22),
        (31.4, 2.0233795543910683142e-216),
    ],
)
def test_tails_of_the_normal_distribution_are_known_to_the_last_bits(deviation, expected):
    np.testing.assert_allclose(normal_p_values(np.array([deviation, -deviation])), expected, rtol=4 * _EPSILON)


def test_p_values_are_those_of_scipy_and_fall_also_where_approximations_meet():
    deviations = np.linspace(0.0, 37.0, 10001)
    p_values = normal_p_values(deviations)
    np.testing.assert_allclose(p_values, 2.0 * ndtr(-deviations), rtol=4e-13)
    assert (np.diff(p_values) < 0.0).all()
    for end in (np.sqrt(2.0) * 0.46875, np.sqrt(2.0) * 4.0):
        around = end + np.linspace(-1e-9, 1e-9, 101)
        np.testing.assert_allclose(normal_p_values(around), 2.0 * ndtr(-around), rtol=2e-14)


def test_ends_of_the_range_and_shapes():
    deviations = np.array([[0.0, -0.0, np.inf], [-np.inf, 1e300, np.nan]])
    np.testing.assert_array_equal(normal_p_values(deviations), [[1.0, 1.0, 0.0], [0.0, 0.0, np.nan]])
    assert normal_p_values(np.empty((0, 3))).shape == (0, 3)
    np.testing.assert_array_equal(normal_p_values(np.float32([0.5])), normal_p_values(np.array([0.5])))


def test_a_p_value_has_the_same_bits_wherever_its_deviation_stands():
    deviations = np.random.default_rng(0).uniform(0.0, 8.0, 37)
    together = normal_p_values(deviations)
    np.testing.assert_array_equal([normal_p_values(one)[()] for one in deviations], together)
    np.testing.assert_array_equal(normal_p_values(deviations[::-2]), together[::-2])
