"""How rows of two groups lie along the line that tells them apart best, where dimensions are too many for densities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, length, log, product
from gnomon._threads import in_order
from gnomon.linalg import principal_components
from gnomon.linalg.within import variation_within

__all__ = ["THIN", "Line", "PlantedLines", "neighbors_in_order"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_COMPONENTS = 50  # principal components in which the line is sought
_PLACES = (0.375, 0.5, 0.625)  # of windows between the groups, in units of the distance of their medians
_GAPS = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)  # of windows in which a narrow gap is looked for
_HALF = 0.0625  # half the width of a window, in the same units
_LEAST = 0.37  # times the median deviation of a group, a quarter of a standard one: half the width of a window at least
_NO_VARIANCE = 1e-12  # of the largest variance: rounding along an axis without any
_PATH = 201  # places between two peaks where the density is told
_FARTHEST = 20.0  # deviations between planted groups at most
_HALVINGS = 40  # of the range of that distance
_NEIGHBORS = 15  # that tell a group by which they are of
_PLANTED = 39  # tables with a planted gap
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
    crossing : int
        Rows of any group in the emptiest of windows anywhere between the medians; of rows of neither, of which both
        lines count all, the mean.
    in_order : float in [0, 1]
        Of pairs of a row of each group, neither of which the line was fitted to, how many lie in the order in which the
        groups do: the AUC, mean of both lines, equal places counted half. Chance has 0.5.
    """

    between: int
    peak: int
    crossing: int
    in_order: float

    @classmethod
    def of(cls, X: Floats, a: Mask, b: Mask, seed: int) -> Self:
        """Count the rows of both groups, each along the line that the other half of the rows, chosen at random, tells.

        The line is Fisher's discriminant in 50 principal components of the rows of both, with the covariance shrunk by
        n_features / n_rows: towards the variance of each where rows are many for so many components, so that a gap
        along a component of small variance is seen, and towards the mean variance where they are few.
        """
        rows, others = np.flatnonzero(a | b), np.flatnonzero(~(a | b))
        found = principal_components(X[rows], min(_COMPONENTS, len(rows), X.shape[1]), seed=seed)
        points = found.transform(X[rows]).astype(np.float64)
        beside = found.transform(X[others]).astype(np.float64) if len(others) else points[:0]
        first = a[rows]
        draw, fold = np.random.default_rng((seed, 2)), np.zeros(len(rows), dtype=np.bool_)
        for side in (np.flatnonzero(first), np.flatnonzero(~first)):
            fold[draw.permutation(side)[: len(side) // 2]] = True
        places, n_between = np.array([*_PLACES, 0.0, 1.0, *_GAPS]), len(_PLACES)
        counts, besides = (np.zeros(len(places), dtype=np.int64) for _ in range(2))
        in_order = 0.0
        for half in (fold, ~fold):
            direction = _direction(points[half & first], points[half & ~first])
            along, along_beside = product(points[~half], direction), product(beside, direction)
            sides = along[first[~half]], along[~first[~half]]
            in_order += 0.5 * _share_in_order(*sides)
            low, high = (float(np.median(side)) for side in sides)
            spread = min(float(np.median(np.abs(side - np.median(side)))) for side in sides)
            width = max(_HALF * abs(high - low), _LEAST * spread)
            centers = low + places * (high - low)
            counts += np.count_nonzero(np.abs(along[:, None] - centers) <= width, axis=0)
            besides += np.count_nonzero(np.abs(along_beside[:, None] - centers) <= width, axis=0)
        between, peaks, _ = np.split(counts, [n_between, n_between + 2])
        crossing = (counts + (besides + 1) // 2)[n_between + 2 :]
        return cls(int(between.min()), int(peaks.min()), int(crossing.min()), in_order)

    def joins(self, share: float, alpha: float) -> bool:
        """Return whether density between the groups is surely above a share of that of the sparser one.

        Not where rows thin out as much as between two clusters of `gnomon.find_clusters`.
        """
        both = self.between + self.peak
        thin = scipy.special.bdtr(self.between, both, 0.5) <= alpha and self.between <= THIN * self.peak
        return bool(not thin and scipy.special.bdtrc(self.between - 1, both, share / (1.0 + share)) <= alpha)

    @property
    def level(self) -> float:
        """How many rows lie between the groups for one at the peak."""
        return self.between / max(1, self.peak)

    def is_crossed_by_few(self, share: float, n_least: int, alpha: float) -> bool:
        """Return whether somewhere between the groups so few rows lie that there surely is a gap, if a narrow one.

        They are fewer than `n_least`, too few for a density of their own, and surely below a share of the peak.
        """
        surely = scipy.special.bdtr(self.crossing, self.crossing + self.peak, share / (1.0 + share)) <= alpha
        return bool(self.crossing < n_least and surely)


def neighbors_in_order(X: Floats, a: Mask, b: Mask, seed: int) -> float:
    """Return how well the nearest rows tell the two groups apart: the AUC of the share of them that is of one group.

    Neighbours are 15 among the rows of both, in the 50 principal components in which the line is sought, each in units
    of its deviation: so groups are seen that lie in several parts each, between which no line parts them.
    """
    rows = np.flatnonzero(a | b)
    found = principal_components(X[rows], min(_COMPONENTS, len(rows), X.shape[1]), seed=seed)
    points = found.transform(X[rows]).astype(np.float64)
    deviations = np.sqrt(np.square(points).mean(axis=0))
    points = points[:, deviations**2 > _NO_VARIANCE * float(np.square(deviations).max(initial=0.0))]
    points = points / np.sqrt(np.square(points).mean(axis=0))
    squares = np.square(points).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * product(points, points.T)
    np.fill_diagonal(distances, np.inf)
    first = a[rows]
    near = np.argsort(distances, axis=1, kind="stable")[:, :_NEIGHBORS]
    shares = first[near].mean(axis=1)
    return _share_in_order(shares[~first], shares[first])


@dataclass(frozen=True)
class PlantedLines:
    """What the line would show if there were a gap: in the rows of two groups, between which one is planted.

    The rows, less the means of their groups, are dealt anew to groups as large, one of which is moved. In the direction
    and by the distance that it is moved, the density of normal groups falls as asked. All directions are as likely once
    each axis is divided by its deviation, so that columns of noise have their part.

    Attributes
    ----------
    rows : ndarray of shape (n, n_axes), float64
        Rows less the means of their groups, along their principal axes.
    deviations : ndarray of shape (n_axes,), float64
        Standard deviations along them.
    n_hidden : int
        Columns less rows: axes along which so few rows show no deviation.
    hidden : float
        Standard deviation along each of these.
    n_first : int
        Rows of the first group.
    seed : int
    """

    rows: Floats
    deviations: Floats
    n_hidden: int
    hidden: float
    n_first: int
    seed: int

    @classmethod
    def of(cls, X: Floats, a: Mask, b: Mask, seed: int, *, n_columns: int | None = None) -> Self:
        """Take the rows of two groups of a table.

        `n_columns` is how many columns vary where X has coordinates in place of more columns than rows.
        """
        centred = np.concatenate([X[rows] - X[rows].mean(axis=0) for rows in (a, b)])
        centred = centred[:, centred.any(axis=0)] if n_columns is None else centred
        n, n_axes = centred.shape
        if n_axes == 0:
            return cls(np.zeros((n, 1)), np.zeros(1), 0, 0.0, int(np.count_nonzero(a)), seed)
        rows = principal_components(centred, min(n, n_axes), seed=seed).transform(centred).astype(np.float64)
        p = n_axes if n_columns is None else n_columns
        variances = np.square(rows).sum(axis=0) / n
        kept = variances > _NO_VARIANCE * variances.max()
        level = float(np.median(variances)) if p > n else 0.0
        if level <= _NO_VARIANCE * variances.max():
            return cls(rows[:, kept], np.sqrt(variances[kept]), 0, 0.0, int(np.count_nonzero(a)), seed)
        # Noise of p columns, seen in n rows, looks p / n times as large along n axes, and none along the others.
        hidden = level * n / p
        deviations = np.sqrt(np.maximum(variances - level, 0.0) + hidden)
        return cls(rows, deviations, p - n, math.sqrt(hidden), int(np.count_nonzero(a)), seed)

    def line(self, fall: float, number: int) -> Line:
        """Return the line of a table, half-way between whose groups the logarithm of the density is lower by `fall`."""
        draw = np.random.default_rng((self.seed, 4, number))
        n, n_axes = self.rows.shape
        dealt = self.rows[draw.permutation(n)]
        toward: Floats = draw.normal(size=(n_axes,))
        rest = math.sqrt(draw.chisquare(self.n_hidden)) if self.n_hidden else 0.0
        apart = _apart(fall, self.n_first / n) / math.hypot(length(toward), rest)
        first = np.arange(n) < self.n_first
        dealt[first] += apart * toward * self.deviations
        if self.n_hidden:
            dealt = np.column_stack([dealt, self.hidden * (draw.normal(size=n) + apart * rest * first)])
        return Line.of(dealt, first, ~first, self.seed)

    def are_below(self, level: float, fall: float, alpha: float) -> bool:
        """Return whether fewer rows lie between the groups but in a share `alpha` of tables with a planted gap.

        Not where more than that share have as many between as at the peak, as a single cloud may: there no line tells.
        """
        level = min(level, 1.0)
        above, allowed = 0, max(0.0, alpha * (1 + _PLANTED) - 1.0)
        for line in in_order(lambda number: self.line(fall, number), range(_PLANTED)):
            above += line.level >= level
            if above > allowed:
                return False
        return True


def _apart(fall: float, share: float) -> float:
    """Return how many deviations two normal groups, one of a share of the rows, are apart.

    The logarithm of the density between is at its least lower by `fall` than at the sparser peak.
    """
    shares = np.array([[share], [1.0 - share]])

    def level(apart: float) -> float:
        places = apart * np.linspace(0.0, 1.0, _PATH)
        along = (shares * exp(-0.5 * np.square(np.stack([places, apart - places])))).sum(axis=0)
        return float(along.min() / min(along[0], along[-1]))

    low, high = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if level(middle) > math.exp(-fall) else (low, middle)
    return high


def _share_in_order(low: Floats, high: Floats) -> float:
    """Return the share of pairs of which the second lies higher, ties counted half."""
    low = np.sort(low)
    below = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return int(below.sum()) / (2 * len(low) * len(high))


def _direction(a: Floats, b: Floats) -> Floats:
    """Return the direction along which two groups differ most for how much rows within them vary.

    Each column counts in units of its deviation within the groups, to the power of one less the share of shrinkage.
    """
    n, d = len(a) + len(b), a.shape[1]
    squares = np.square(a - a.mean(axis=0)).sum(axis=0) + np.square(b - b.mean(axis=0)).sum(axis=0)
    largest = float(squares.max(initial=0.0))
    if largest == 0:
        return np.asarray(b.mean(axis=0) - a.mean(axis=0))
    units = exp(0.5 * (1.0 - min(1.0, d / n)) * log(np.maximum(squares / largest, _NO_VARIANCE)))
    a, b = a / units, b / units
    variances, axes = variation_within(a, b)
    found: Floats = product(axes, product(axes.T, b.mean(axis=0) - a.mean(axis=0)) / variances)
    return np.asarray(found / units)
