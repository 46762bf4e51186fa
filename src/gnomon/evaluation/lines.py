"""How rows of two groups lie along the line that tells them apart best, where dimensions are too many for densities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import product
from gnomon.linalg import principal_components
from gnomon.linalg.within import variation_within

__all__ = ["THIN", "Line"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_COMPONENTS = 50  # principal components in which the line is sought
_PLACES = (0.375, 0.5, 0.625)  # of windows between the groups, in units of the distance of their medians
_HALF = 0.0625  # half the width of a window, in the same units
_LEAST = 0.37  # times the median deviation of a group, a quarter of a standard one: half the width of a window at least
THIN = 0.6  # share of the sparser group's density above which no split of `gnomon.find_clusters` holds


@dataclass(frozen=True)
class Line:
    """Rows counted in windows of equal width along the line.

    Attributes
    ----------
    between : int
        In the window between the groups that holds the fewest.
    peak : int
        In the window at the median of the group with fewer rows there.
    """

    between: int
    peak: int

    @classmethod
    def of(cls, X: Floats, a: Mask, b: Mask, seed: int) -> Self:
        """Count the rows of both groups, each along the line that the other half of the rows, chosen at random, tells.

        The line is Fisher's discriminant in 50 principal components, with the covariance shrunk towards a multiple of
        the identity by n_features / n_rows.
        """
        rows = np.flatnonzero(a | b)
        points = principal_components(X, min(_COMPONENTS, *X.shape), seed=seed).transform(X)[rows].astype(np.float64)
        first = a[rows]
        draw, fold = np.random.default_rng((seed, 2)), np.zeros(len(rows), dtype=np.bool_)
        for side in (np.flatnonzero(first), np.flatnonzero(~first)):
            fold[draw.permutation(side)[: len(side) // 2]] = True
        counts = np.zeros(len(_PLACES) + 2, dtype=np.int64)
        for half in (fold, ~fold):
            along = product(points[~half], _direction(points[half & first], points[half & ~first]))
            sides = along[first[~half]], along[~first[~half]]
            low, high = (float(np.median(side)) for side in sides)
            spread = min(float(np.median(np.abs(side - np.median(side)))) for side in sides)
            width = max(_HALF * abs(high - low), _LEAST * spread)
            centers = low + np.array([*_PLACES, 0.0, 1.0]) * (high - low)
            counts += np.count_nonzero(np.abs(along[:, None] - centers) <= width, axis=0)
        return cls(int(counts[:-2].min()), int(counts[-2:].min()))

    def joins(self, share: float, alpha: float) -> bool:
        """Return whether density between the groups is surely above a share of that of the sparser one.

        Not where rows thin out as much as between two clusters of `gnomon.find_clusters`.
        """
        both = self.between + self.peak
        thin = scipy.special.bdtr(self.between, both, 0.5) <= alpha and self.between <= THIN * self.peak
        return bool(not thin and scipy.special.bdtrc(self.between - 1, both, share / (1.0 + share)) <= alpha)


def _direction(a: Floats, b: Floats) -> Floats:
    """Return the direction along which two groups differ most for how much rows within them vary."""
    variances, axes = variation_within(a, b)
    found: Floats = product(axes, product(axes.T, b.mean(axis=0) - a.mean(axis=0)) / variances)
    return found
