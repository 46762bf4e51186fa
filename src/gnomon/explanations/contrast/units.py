"""Whether features differ between units, such as donors, each of which gave many rows that are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data import check_labels
from gnomon.data.labels import sort_into_classes

__all__ = ["FEWEST_UNITS", "chances_between_units", "sort_units"]

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

FEWEST_UNITS = 3
"""Units on either side, or on both, from which on anything is told of them."""


def sort_units(units: Any, n_samples: int) -> Codes:
    """Return the number of the unit of each row, -1 for a row without one."""
    return sort_into_classes(check_labels(units, n_samples, name="units")).codes.astype(np.int64)


def chances_between_units(present: Codes, means: Array | None) -> tuple[Array | None, tuple[int, int]]:
    """Return how likely such differences are between units that are alike, by Student's test of their means.

    Parameters
    ----------
    present : ndarray of shape (n_means,), int64
        Twice the number of a unit, and one more for its rows in the rest.
    means : ndarray of shape (n_means, n_features), float64, or None
        Means of these rows; None if there are no two.

    Returns
    -------
    p_values : ndarray of shape (n_features,), float64, or None
        None if there are too few units.
    n_units : tuple (int, int)
        Units that are compared on both sides.
    """
    from scipy.special import stdtr

    owners, sides = present // 2, present % 2
    shared = np.intersect1d(owners[sides == 0], owners[sides == 1])
    is_shared = np.isin(owners, shared)
    if len(shared) >= FEWEST_UNITS and means is not None:
        gaps = means[is_shared & (sides == 0)] - means[is_shared & (sides == 1)]
        n = len(shared)
        return _two_sided(gaps.mean(axis=0), gaps.var(axis=0, ddof=1) / n, n - 1, stdtr), (n, n)
    own = [np.flatnonzero(~is_shared & (sides == side)) for side in (0, 1)]
    n_units = len(own[0]), len(own[1])
    if min(n_units) < FEWEST_UNITS or means is None:
        return None, n_units if len(shared) == 0 else (n_units[0] + len(shared), n_units[1] + len(shared))
    one, other = (means[rows] for rows in own)
    freedom = sum(n_units) - 2
    spread = (((one - one.mean(axis=0)) ** 2).sum(axis=0) + ((other - other.mean(axis=0)) ** 2).sum(axis=0)) / freedom
    variance = spread * (1.0 / n_units[0] + 1.0 / n_units[1])
    return _two_sided(one.mean(axis=0) - other.mean(axis=0), variance, freedom, stdtr), n_units


def _two_sided(gap: Array, variance: Array, freedom: int, stdtr: Any) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gap == 0.0, 0.0, np.abs(gap) / np.sqrt(variance))
    found: Array = 2.0 * stdtr(freedom, -t)
    return found
