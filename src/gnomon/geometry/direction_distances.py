"""How far rows lie off the directions in which columns go together and out within them, and how unusual they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log, squared_lengths
from gnomon.geometry.common_directions import FEWEST_COLUMNS, common_directions
from gnomon.geometry.farthest import Tail
from gnomon.linalg import principal_components, product, uniform_matrix
from gnomon.linalg.table import dense_rows, evenly_spaced

__all__ = ["FAMILY", "FEWEST_ROWS", "MOST_APART", "DirectionDistances", "Directions", "Steady", "direction_distances"]

Float64Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST_ROWS = 50
"""Rows of a table that is looked at."""
MOST_APART = 0.025
"""Share of the rows, five at least, that may lie far out without a word in what is usual."""
FAMILY = 0.05
"""How often, at most, any row of a table without outliers stands out, by either distance."""

_FEWEST_APART = 5
_WITHIN = 0.25  # share of the rows by which the fall of the distances is learned, those apart not counted
_GAPS = 100  # and at most so many of them
_SHARES_APART = (0.01, MOST_APART)  # the fewer, the less far out they must lie, unless there are more
_SAMPLE = 2000  # rows that directions, and contributions, are learned from
_NUMBERS = 1 << 22  # of that sample
_FOLDS, _FEW, _OF_MANY = 5, 4000, 2  # parts of the rows, up to so many, and beyond
_ROUNDS = 3
_SAME = 0.9  # share of rows with one value from which on a column says nothing
_LOOKED_AT = 500  # rows by which it is seen
_FEWEST_UNUSUAL = 10  # columns in which no other row is: fewer may be what one rare level brings with it
_LEAST = 1e-9  # of the variance of all directions: less is what rounding leaves of none
_ROUNDING = 1e-8  # of the usual squared length of a row
_LARGEST_ROOT = 700.0  # of a sum: its power is a number still
_TOGETHER = 1 << 22  # numbers that are written out at once
_STREAM, _TIES = 0x4F44, 0x5449
_MAD = 1.4826022185056018  # standard deviations of a normal column in its median deviation


@dataclass(frozen=True)
class Directions:
    """Directions of rows, their middle, and how far rows usually lie out along them.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
    components : ndarray of shape (n_directions, n_features), float64
        Orthonormal rows.
    variance : ndarray of shape (n_directions,), float64
        Along each.
    n_samples : int
        Rows that they are learned from.
    """

    mean: Float64Array
    components: Float64Array
    variance: Float64Array
    n_samples: int

    @classmethod
    def learn(cls, X: Float64Array, n_directions: int) -> Self:
        """Learn directions of largest variance that a few rows of any kind do not move.

        The first are those of the rows moved to equal distances from the median [1]_. Then the rows that lie farthest
        off these, and farthest out along them, are left out, one in forty of either, and the principal components are
        those of the others; three times.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), float64
        n_directions : int in [0, n_features]
            Directions without variance are left out.

        References
        ----------
        .. [1] Locantore et al., "Robust principal component analysis for functional data", Test 8, 1999.
        """
        n_apart = _number_apart(len(X))
        center = np.median(X, axis=0)
        rows = X - center
        lengths = np.sqrt(squared_lengths(rows))
        rows /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
        found = cls(center, np.empty((0, X.shape[1])), np.empty(0), len(X))
        if n_directions:
            components = principal_components(rows, n_directions).components
            along = product(X - center, components.T)
            spread = np.median(np.abs(along - np.median(along, axis=0)), axis=0)
            found = cls._of(center, components, np.square(_MAD * spread), len(X))
        for _ in range(_ROUNDS):
            kept = np.ones(len(X), dtype=np.bool_)
            for distances in found.distances(X):
                kept[np.argsort(-distances, kind="stable")[:n_apart]] = False
            usual = X[kept]
            if n_directions:
                principal = principal_components(usual, n_directions)
                found = cls._of(principal.mean, principal.components, principal.explained_variance, len(usual))
            else:
                found = cls(usual.mean(axis=0), found.components, found.variance, len(usual))
        return found

    @classmethod
    def _of(cls, mean: Float64Array, components: Float64Array, variance: Float64Array, n: int) -> Self:
        known = variance > _LEAST * max(float(variance.sum()), np.finfo(np.float64).tiny)
        return cls(mean, components[known], variance[known], n)

    def distances(self, X: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the squared distance of rows off the directions, and that within them, in variances along each."""
        rows = X - self.mean
        along = product(rows, self.components.T)
        return squared_lengths(rows - product(along, self.components)), squared_lengths(along / np.sqrt(self.variance))

    def contributions(self, X: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the part of each column in either distance; those of a row sum to it, and none is negative."""
        rows = X - self.mean
        along = product(rows, self.components.T)
        off = np.square(rows - product(along, self.components))
        return off, np.square(product(along / np.sqrt(self.variance), self.components))

    def loose(self, within: Float64Array) -> Float64Array:
        """Return by which factor rows that lie so far out within lie farther off, as directions are of so many rows."""
        return 1.0 + (1.0 + within) / self.n_samples


@dataclass(frozen=True)
class _Bar:
    """By what distances are judged: how those of other rows fall, and how their parts do.

    Attributes
    ----------
    own, parts : list of Tail
        None where nothing has such a distance.
    usual : float
        The median distance: what is beyond it may be one part.
    least : float
        What is added to distances, as rounding leaves as much.
    """

    own: list[Tail]
    parts: list[Tail]
    usual: float
    least: float

    @classmethod
    def learn(cls, values: Float64Array, shares: list[Float64Array], sample: Ints, least: float) -> Self:
        """Learn from the distances of all rows, and the parts of those of a sample."""
        if not values.max() > np.finfo(np.float64).tiny:
            return cls([], [], 0.0, 0.0)
        n, values = len(values), values + max(least, np.finfo(np.float64).tiny)
        counts = sorted({_number_apart(n, share) for share in _SHARES_APART})
        own = [Tail.learn(values, count, min(int(_WITHIN * n) - count, _GAPS)) for count in counts]
        n_apart = _number_apart(len(sample))
        order = np.argsort(-values[sample], kind="stable")
        parts = []
        for of_rows in shares:
            others = np.maximum(of_rows[order[n_apart:]].ravel(), np.finfo(np.float64).tiny)
            hidden = int(np.count_nonzero(of_rows[order[:n_apart]].max(axis=1) > others.max()))
            n_gaps, times = min(_GAPS, len(others) // 4), n / len(sample)
            parts.append(Tail.learn(others, max(hidden, 1), n_gaps, n_hidden=hidden, times=times))
        return cls(own, parts, float(np.median(values)), least)

    def expected(self, values: Float64Array) -> Float64Array:
        """Return of how many rows of such a table, at most on average, each distance is exceeded."""
        if not self.own:
            return np.full(len(values), np.inf)
        values = values + self.least
        by_own = np.min([len(self.own) * tail.expected(values) for tail in self.own], axis=0)
        return np.asarray(np.max([by_own, *(tail.expected(values - self.usual) for tail in self.parts)], axis=0))

    def limit(self, chance: float) -> float:
        """Return the distance beyond which less is expected; NaN where nothing has one."""
        if not self.own:
            return float("nan")
        by_own = min(tail.limit(chance / len(self.own)) for tail in self.own)
        return max(by_own, *(self.usual + tail.limit(chance) for tail in self.parts)) - self.least


@dataclass(frozen=True)
class Steady:
    """Columns of which one value is that of nine rows of ten or more, and how unusual rows are that have others.

    A row has in each the logarithm of one over the share of rows that have another value than most, if it has one as
    well, however far off: of a rare level of a category, and of a rare large number, that is no more than log n.

    Attributes
    ----------
    columns : ndarray of int64
        A row of the table may have another value in them, or none has.
    usual : ndarray of shape (n_columns,), float64
        The value of most rows in each.
    weights : ndarray of shape (n_columns,), float64
        The logarithm of one over the share of rows with another, and log n where there is none: a new row that has one
        is as the one row of the table would be.
    n_vary : int
        Columns in which any row of the table has another value.
    tails : list of Tail
        How the sums of rows fall; none of fewer than ten columns.
    least : float
        From so much on a row may stand out: more than the median by ten columns in which no other row is unusual.
    """

    columns: Ints
    usual: Float64Array
    weights: Float64Array
    n_vary: int
    tails: list[Tail]
    least: float

    @classmethod
    def learn(cls, X: Any, columns: Ints, usual: Float64Array) -> tuple[Self, Float64Array]:
        """Learn from all rows of a table; also return how unusual each is."""
        n = int(X.shape[0])
        step = max(1, _TOGETHER // max(len(columns), 1))
        starts = range(0, n, step) if len(columns) else range(0)
        n_others = np.zeros(len(columns), dtype=np.int64)
        for begin in starts:
            n_others += (dense_rows(X[begin : begin + step])[:, columns] != usual).sum(axis=0)
        weights = log(n / np.maximum(n_others, 1))
        found = cls(columns, usual, weights, int(np.count_nonzero(n_others)), [], float("nan"))
        sums = np.zeros(n)
        for begin in starts:
            sums[begin : begin + step] = found.sums(dense_rows(X[begin : begin + step]))
        if len(columns) < _FEWEST_UNUSUAL:
            return found, sums
        least = float(np.median(sums) + _FEWEST_UNUSUAL * log(float(n)))
        spread = sums + 1.0 - uniform_matrix(0, _TIES, (n, 1))[:, 0]  # of equal sums there are no gaps to learn from
        counts = sorted({_number_apart(n, share) for share in _SHARES_APART})
        tails = [Tail.learn(_stretched(spread), count, min(int(_WITHIN * n) - count, _GAPS)) for count in counts]
        return replace(found, tails=tails, least=least), sums

    def parts(self, X: Float64Array) -> Float64Array:
        """Return how unusual rows are in each column."""
        return np.where(X[:, self.columns] != self.usual, self.weights, 0.0)

    def sums(self, X: Float64Array) -> Float64Array:
        """Return how unusual rows are in all columns."""
        return np.asarray(self.parts(X).sum(axis=1))

    def expected(self, sums: Float64Array) -> Float64Array:
        """Return how many rows of such a table, at most on average, are more unusual than each."""
        if not self.tails:
            return np.full(len(sums), np.inf)
        values = _stretched(sums)
        found = np.min([len(self.tails) * tail.expected(values) for tail in self.tails], axis=0)
        return np.where(sums >= self.least, found, np.inf)

    def limit(self, chance: float) -> float:
        """Return the sum beyond which less is expected; NaN of too few columns."""
        if not self.tails:
            return float("nan")
        value = min(tail.limit(chance / len(self.tails)) for tail in self.tails)
        return max(self.least, float(np.square(log(value))))


@dataclass(frozen=True, kw_only=True)
class DirectionDistances:
    """How far each row of a table lies off common directions and within them, beside other rows.

    Attributes
    ----------
    n_directions : int
    columns : ndarray of int64
        The columns that count: those of which no value is that of nine rows of ten.
    off, within : ndarray of shape (n_samples,), float64
        Squared distances. Off: over `Directions.loose`. All NaN where there is nothing off or within.
    off_chance, within_chance : ndarray of shape (n_samples,), float64, in [0, 1]
        How likely any row of a table without outliers lies as far out.
    off_limit, within_limit : float
        From where on this is `FAMILY` over `ways`.
    unusual : ndarray of shape (n_samples,), float64
        How unusual each row is in the columns of `steady`.
    unusual_chance : ndarray of shape (n_samples,), float64, in [0, 1]
        How likely any row of a table without outliers is as unusual.
    unusual_limit : float
        From where on this is `FAMILY` over `ways`; NaN of fewer than ten columns.
    steady : Steady
    parts : list of Directions
    part : ndarray of shape (n_samples,), int64
        By which of them each row is measured; it was not learned from that row.
    bars : tuple of two
        By which distances off and within are judged.
    """

    n_directions: int
    columns: Ints
    off: Float64Array
    within: Float64Array
    off_chance: Float64Array
    within_chance: Float64Array
    off_limit: float
    within_limit: float
    unusual: Float64Array
    unusual_chance: Float64Array
    unusual_limit: float
    steady: Steady
    parts: list[Directions]
    part: Ints
    bars: tuple[_Bar, _Bar]

    @property
    def ways(self) -> int:
        """In how many ways a row may stand out, which share the chance that any does."""
        return 3 if self.steady.tails else 2

    def of_new(self, X_new: Any, level: float) -> Self:
        """Return the distances of other rows, and how likely any of as many rows like those of the table is as far.

        Parameters
        ----------
        X_new : ndarray of shape (n_rows, n_features)
        level : float in (0, 1)
            This over `ways` is the chance at the limits.

        Returns
        -------
        DirectionDistances
            Of these rows, and for as many.
        """
        of_all = dense_rows(X_new)
        rows, unusual = of_all[:, self.columns], self.steady.sums(of_all)
        times = len(rows) / len(self.part)
        off, within = self.parts[0].distances(rows)
        off /= self.parts[0].loose(within)
        of_off, of_within = self.bars
        return replace(
            self,
            off=off,
            within=within,
            off_chance=np.minimum(1.0, times * of_off.expected(off)),
            within_chance=np.minimum(1.0, times * of_within.expected(within)),
            off_limit=of_off.limit(level / self.ways / times),
            within_limit=of_within.limit(level / self.ways / times),
            unusual=unusual,
            unusual_chance=np.minimum(1.0, times * self.steady.expected(unusual)),
            unusual_limit=self.steady.limit(level / self.ways / times),
            part=np.zeros(len(rows), dtype=np.int64),
        )

    def contributions(self, X: Any, row: int) -> tuple[Float64Array, Float64Array]:
        """Return the parts of `columns` in the distances of a row, off and within."""
        directions = self.parts[self.part[row]]
        off, within = directions.contributions(dense_rows(X[row : row + 1])[:, self.columns])
        return off[0] / directions.loose(within.sum()), within[0]

    def unusual_parts(self, X: Any, row: int) -> Float64Array:
        """Return the parts of the columns of `steady` in how unusual a row is."""
        parts: Float64Array = self.steady.parts(dense_rows(X[row : row + 1]))[0]
        return parts


def direction_distances(X: Any, n_directions: int | None = None) -> DirectionDistances | None:
    """Measure how far rows lie off the directions in which columns go together, and how far out within them.

    The squared distance off them is the Q of process monitoring and chemometrics (squared prediction error), the one
    within Hotelling's T squared [1]_. Directions are learned without each row that they measure: of tables of few rows
    those that are learned from a row come close to it. They are as many as `common_directions` counts, and all of fewer
    than 20 columns.

    Distances are judged by how those of other rows fall, not by a normal distribution, see
    `gnomon.geometry.farthest.Tail`: by up to a hundred of those that follow on the largest, which are one in a hundred
    of all rows, or one in forty, and five at least; and by how the largest contributions of columns, and along each
    direction, fall, as one value with a heavy tail may be all that is odd in a row.

    Columns of which one value is that of nine rows of ten (the border of pictures, rare levels of a category) have no
    such distance. In these a row counts as the more unusual the more of them it has another value in, and the fewer
    others have, however far off; the sums are judged likewise by how those of other rows fall.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite. Of many rows 2000, evenly spaced, are learned from.
    n_directions : int >= 0, default=None
        None counts them.

    Returns
    -------
    DirectionDistances or None
        None of fewer than 50 rows, or fewer than two columns that count.

    References
    ----------
    .. [1] Jackson & Mudholkar, "Control procedures for residuals associated with principal component analysis",
       Technometrics 21, 1979.
    """
    n = int(X.shape[0])
    if n < FEWEST_ROWS:
        return None
    columns, same, usual = _columns_by_kind(X)
    if len(columns) < 2:
        return None
    k = _number_of_directions(X, columns) if n_directions is None else n_directions
    k = min(k, len(columns), n // 5)
    parts, part = _learn_parts(X, columns, k)
    off, within = np.empty(n), np.empty(n)
    step = max(1, _TOGETHER // len(columns))
    for p, directions in enumerate(parts):
        rows = np.flatnonzero(part == p)
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            off[some], within[some] = directions.distances(_rows_of(X, some, columns))
            off[some] /= directions.loose(within[some])
    sample = evenly_spaced(n, _rows_of_sample(len(columns)))
    shares = _shares(X, columns, sample, parts, part)
    rounding = _ROUNDING * (float(np.median(off)) + float(parts[0].variance.sum()))
    off_shares, within_shares, along = shares
    each = [along[:, [d]] for d in range(along.shape[1])]  # one may have a heavy tail, and most none
    bars = (
        _Bar.learn(off, [off_shares], sample, rounding),
        _Bar.learn(within, [within_shares, *each], sample, 0.0),
    )
    steady, unusual = Steady.learn(X, same, usual)
    level = FAMILY / (3 if steady.tails else 2)
    return DirectionDistances(
        n_directions=k,
        columns=columns,
        off=off,
        within=within,
        off_chance=np.minimum(1.0, bars[0].expected(off)),
        within_chance=np.minimum(1.0, bars[1].expected(within)),
        off_limit=bars[0].limit(level),
        within_limit=bars[1].limit(level),
        unusual=unusual,
        unusual_chance=np.minimum(1.0, steady.expected(unusual)),
        unusual_limit=steady.limit(level),
        steady=steady,
        parts=parts,
        part=part,
        bars=bars,
    )


def _stretched(sums: Float64Array) -> Float64Array:
    """Return values with the tail of a power where sums fall more slowly than exponentially, as by their roots."""
    stretched: Float64Array = exp(np.minimum(np.sqrt(sums), _LARGEST_ROOT))
    return stretched


def _number_apart(n: int, share: float = MOST_APART) -> int:
    return max(_FEWEST_APART, int(np.ceil(share * n)))


def _rows_of_sample(n_columns: int) -> int:
    return min(_SAMPLE, max(_NUMBERS // n_columns, 200))


def _columns_by_kind(X: Any) -> tuple[Ints, Ints, Float64Array]:
    """Return the columns of more than two values, none of which nearly all rows have; those of one, and that value.

    Those of two are answers or the levels of a category, of which a rare one is no distance.
    """
    some = np.sort(dense_rows(X[evenly_spaced(int(X.shape[0]), _LOOKED_AT)]), axis=0)
    n_same = int(_SAME * len(some))
    several = ((some > some[0]) & (some < some[-1])).any(axis=0)
    steady = (some[n_same:] == some[: len(some) - n_same]).any(axis=0)
    columns, same = (np.flatnonzero(these).astype(np.int64) for these in (several & ~steady, steady))
    return columns, same, some[len(some) // 2, same]


def _rows_of(X: Any, rows: Ints, columns: Ints) -> Float64Array:
    """Return the columns that count of some rows, in double; a table of many rows is not copied as a whole."""
    return np.ascontiguousarray(dense_rows(X[rows])[:, columns])


def _number_of_directions(X: Any, columns: Ints) -> int:
    found = common_directions(_rows_of(X, evenly_spaced(int(X.shape[0]), _LOOKED_AT), columns))
    return min(len(columns), FEWEST_COLUMNS) if found is None else found


def _learn_parts(X: Any, columns: Ints, n_directions: int) -> tuple[list[Directions], Ints]:
    """Return directions without the rows of each part, and the part of every row."""
    n = int(X.shape[0])
    n_parts = _FOLDS if n <= _FEW else _OF_MANY
    part = np.empty(n, dtype=np.int64)
    part[np.argsort(uniform_matrix(0, _STREAM, (n, 1))[:, 0], kind="stable")] = np.arange(n) % n_parts
    parts = []
    for p in range(n_parts):
        others = np.flatnonzero(part != p)
        others = others[evenly_spaced(len(others), _rows_of_sample(len(columns)))]
        parts.append(Directions.learn(_rows_of(X, others, columns), n_directions))
    return parts, part


def _shares(
    X: Any, columns: Ints, sample: Ints, parts: list[Directions], part: Ints
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return of rows of a sample the parts of columns off the directions and within them, and of directions within."""
    shape = (len(sample), len(columns))
    off, within, along = np.empty(shape), np.empty(shape), np.zeros((len(sample), max(map(_width, parts))))
    for p, directions in enumerate(parts):
        at = np.flatnonzero(part[sample] == p)
        rows = _rows_of(X, sample[at], columns)
        off[at], within[at] = directions.contributions(rows)
        scores = product(rows - directions.mean, directions.components.T)
        along[at, : scores.shape[1]] = np.square(scores) / directions.variance
    return off, within, along


def _width(directions: Directions) -> int:
    return len(directions.components)
