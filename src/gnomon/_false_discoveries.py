"""P-values of many tests, adjusted; `scipy.stats`, which has the same, takes as long to load as a small map to make.

Those of normal deviations are of gnomon's own arithmetic: SciPy's have other last bits on other processors.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log1p

__all__ = ["adjusted_p_values", "are_discoveries", "normal_deviations", "normal_p_values"]

Float64Array = npt.NDArray[np.float64]

# Numerators and denominators of the approximations of Cody, highest powers first.
_NEAR = (
    (0.185777706184603153, 3.16112374387056560, 113.864154151050156, 377.485237685302021, 3209.37758913846947),
    (1.0, 23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062),
)
_MIDDLE = (
    (2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594, 66.1191906371416295, 298.635138197400131,
     881.952221241769090, 1712.04761263407058, 2051.07837782607147, 1230.33935479799725),
    (1.0, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019,
     3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942),
)  # fmt: skip
_FAR = (
    (0.0163153871373020978, 0.305326634961232344, 0.360344899949804439, 0.125781726111229246,
     0.0160837851487422766, 0.000658749161529837803),
    (1.0, 2.56852019228982242, 1.87295284992346725, 0.527905102951428412, 0.0605183413124413191,
     0.00233520497626869185),
)  # fmt: skip
_UP_TO_NEAR, _UP_TO_MIDDLE = 0.46875, 4.0  # deviations over the root of 2 where each ends
_BEYOND = 40.0  # p-values of larger deviations are 0
_STEPS = 16.0  # of a deviation whose square is exact


def adjusted_p_values(p_values: npt.NDArray[np.floating]) -> Float64Array:
    """Return the least false-discovery rates at which each is significant [1]_.

    Parameters
    ----------
    p_values : ndarray of any shape
        In [0, 1]; NaN where there was no test.

    Returns
    -------
    ndarray of the same shape, float64
        At least the p-value, NaN where it is NaN.

    References
    ----------
    .. [1] Benjamini & Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57, 1995.
    """
    adjusted = np.full(p_values.shape, np.nan)
    known = np.isfinite(p_values)
    tested = p_values[known].astype(np.float64)
    order = np.argsort(tested, kind="stable")
    ranks = np.arange(1, len(tested) + 1)
    least = np.minimum.accumulate((tested[order] * (len(tested) / ranks))[::-1])[::-1]
    rates = np.empty(len(tested))
    rates[order] = np.minimum(least, 1.0)
    adjusted[known] = rates
    return adjusted


def are_discoveries(p_values: npt.NDArray[np.floating], alpha: float) -> npt.NDArray[np.bool_]:
    """Return which tests are significant at a rate of false discoveries: ``adjusted_p_values(p_values) <= alpha``.

    Parameters
    ----------
    p_values : ndarray of any shape
        In [0, 1], all known.
    alpha : float in (0, 1)
    """
    small = p_values <= alpha  # no other is one, and their ranks are the lowest
    ordered = np.sort(p_values[small])
    below = np.flatnonzero(ordered * (p_values.size / np.arange(1, len(ordered) + 1)) <= alpha)
    if not len(below):
        return np.zeros(p_values.shape, dtype=np.bool_)
    found: npt.NDArray[np.bool_] = p_values <= ordered[below[-1]]
    return found


def normal_deviations(ratio: Float64Array, degrees: Float64Array | float) -> Float64Array:
    """Return the normal deviations whose tails bound those of Student's distribution from above [1]_.

    From 20 degrees of freedom on they are at most a fifth larger, down to 1e-14; from three on at most three times.

    Parameters
    ----------
    ratio : ndarray of any shape, float64
        Student's ratios, at least 0; they may be infinite.
    degrees : ndarray of a shape that goes with it, or float
        Degrees of freedom.

    Returns
    -------
    ndarray, float64

    References
    ----------
    .. [1] Wallace, "Bounds on normal approximations to Student's and the chi-square distributions", Ann. Math. Stat.
       30, 1959.
    """
    with np.errstate(over="ignore"):
        squared: Float64Array = np.sqrt(degrees * log1p(ratio**2 / degrees))
    return (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * squared


def normal_p_values(deviations: npt.NDArray[np.floating] | float) -> Float64Array:
    """Return how likely deviations as large as these, of either sign, are by a normal distribution [1]_.

    Parameters
    ----------
    deviations : ndarray of any shape, or float
        In standard errors; they may be infinite. NaN where there was no test.

    Returns
    -------
    ndarray of the same shape, float64
        To a few units in the last place, NaN where a deviation is NaN. The same bits on every processor.

    References
    ----------
    .. [1] Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23, 1969.
    """
    size = np.minimum(np.abs(np.asarray(deviations, dtype=np.float64)), _BEYOND)
    scaled = size * math.sqrt(0.5)
    squared = scaled * scaled
    coarse = np.floor(size * _STEPS) / _STEPS
    density = exp(-0.5 * coarse * coarse) * exp(-0.5 * (size - coarse) * (size + coarse))
    at_least = np.maximum(scaled, 1.0)  # its own where it is used
    inverse = 1.0 / (at_least * at_least)
    near = 1.0 - scaled * _ratio(_NEAR, squared)
    middle = density * _ratio(_MIDDLE, scaled)
    far = density * (1.0 / math.sqrt(math.pi) - inverse * _ratio(_FAR, inverse)) / at_least
    return np.where(scaled <= _UP_TO_NEAR, near, np.where(scaled <= _UP_TO_MIDDLE, middle, far))


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Float64Array) -> Float64Array:
    """Return the quotient of two polynomials."""
    above, below = (np.full(x.shape, coefficients[0]) for coefficients in polynomials)
    for found, coefficients in zip((above, below), polynomials, strict=True):
        for coefficient in coefficients[1:]:
            np.add(found * x, coefficient, out=found)
    return np.asarray(above / below)
