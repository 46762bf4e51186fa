"""Whether rows that follow each other in a table are alike, as those of a time series are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._printed import ordinal
from gnomon._run import made_once
from gnomon.linalg import uniform_matrix
from gnomon.neighbors.distances import pair_distances
from gnomon.neighbors.stretches import chance_of_stretches

__all__ = ["VOTES", "Succession", "keep_succession", "succession_of_rows"]

Floats = npt.NDArray[np.float64]

VOTES = "neighbours are those next in order, which share a label for that alone"
"""What the order of the rows says against answers in which neighbours tell a row's label."""
_SURE = 1e-6  # chance of so many quadruples, or of such an order of stretches
_FOUR = 4  # rows that are compared in three pairings
_CHANCE = 1.0 / 3.0
_BEYOND_GROUPS = 1e-3  # chance of so many quadruples in a table in groups of rows, sorted by these
_GROUPS = 1.5  # times as many of them as if all were as long as the likeness reaches
_FEWEST_ROWS = 40
_GONE = 0.97  # of the usual distance
_LEAST_STEP = 5  # rows that are alike over fewer are hardly fewer than they seem
_USUAL = 8  # other rows, drawn for each
_STREAM = 0x5375
_MOST_TURNS = 64  # series that take turns
_FEWEST_TURNS = 16  # of each of them
_FEWEST_KEPT = 60  # rows that clusters and verdicts need
_STEPS_OF_UNIT = 2  # after which means of blocks are hardly alike
_FEWEST_UNITS = 6  # three of each side
_WINDOW = 4096  # rows in which turns are looked for: as many quadruples as in a quarter of them


@dataclass(frozen=True)
class Succession:
    """Rows of which those that follow each other are alike.

    Attributes
    ----------
    p_value : float
        Chance of so many quadruples of rows whose nearest pairs are those of the order, or of so near stretches.
    step : int
        How many rows apart the likeness is gone: their distance is 97 % of the usual one. Half of the rows where it is
        not gone before. Of series that take turns a multiple of `turns`.
    n_samples : int
        Rows of the table.
    turns : int, default=1
        How many rows apart the rows that are alike follow each other: 16 where those of 16 series take turns.
    """

    p_value: float
    step: int
    n_samples: int
    turns: int = 1

    def told(self, consequence: str, *, by_units: bool = False) -> str:
        """Return what was found in words, what follows from it, and what to do.

        Parameters
        ----------
        consequence : str
            What does not hold, as the middle of a sentence.
        by_units : bool, default=False
            Whether the question takes `units`: `units` are then the remedy, and not to keep fewer rows.
        """
        kept = self.n_independent
        if self.turns > 1:
            found = (
                f"Rows {self.turns} apart in the table are more alike than the rows between, and than rows a little "
                f"further on, as those of {self.turns} time series are that take turns. Unless independent rows were "
                f"only laid so, {consequence}: "
            )
            which, take = f"of every {self.step:,} rows ", f"the first {self.turns}"
        else:
            found = (
                "Rows that follow each other in the table are more alike than rows further on, as those of a time "
                "series are, or of a table sorted by its values, by stages or in small groups. Unless independent rows "
                f"were only sorted so, {consequence}: "
            )
            which, take = "", f"every {ordinal(self.step)} row"
        if by_units:
            return f"{found}{self._units_told()}"
        if kept >= _FEWEST_KEPT:
            return f"{found}{which}take {take}, about {kept:,} in all, and look again."
        enough = _FEWEST_KEPT * self.step // self.turns
        return (
            f"{found}{which}{take}, about {kept} in all, would be independent, too few to look again. It takes a "
            f"longer series, of some {_in_round(enough)} such rows or more."
        )

    def _units_told(self) -> str:
        """Return which units to pass, as code."""
        n, size = f"numpy.arange({self.n_samples})", _STEPS_OF_UNIT * self.step
        code = f"{n} // {size}" if self.turns == 1 else f"{n} // {size} * {self.turns} + {n} % {self.turns}"
        of = "" if self.turns == 1 else " of each series"
        if len(np.unique(self.units)) < _FEWEST_UNITS:
            return f"blocks of {size:,} rows would be independent, too few to judge between. It takes a longer series."
        return f"pass units={code}, to judge between blocks of {size // self.turns:,} rows{of}."

    @property
    def units(self) -> npt.NDArray[np.int64]:
        """Number of a block of rows of each row, as answers take them as `units`: blocks are hardly like the next.

        A block is twice as long as the likeness reaches, and of one series where several take turns.
        """
        rows = np.arange(self.n_samples, dtype=np.int64)
        return rows // (_STEPS_OF_UNIT * self.step) * self.turns + rows % self.turns

    @property
    def independent(self) -> npt.NDArray[np.int64]:
        """Rows of which none is like the next: every so many-th, or the first of each series."""
        return np.flatnonzero(np.arange(self.n_samples) % self.step < self.turns)

    @property
    def n_independent(self) -> int:
        """About how many rows remain of which none is like the next."""
        return max(1, round(self.n_samples * self.turns / self.step))


def _in_round(number: int) -> str:
    """Return a number with two digits and noughts, rounded up."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // unit) * unit:,}"


def succession_of_rows(X: Any, metric: str | Callable[..., float] = "euclidean", *, seed: int = 0) -> Succession | None:
    """Look whether rows that follow each other in a table are alike.

    Of each four rows in a row the two distances within pairs are summed for the three ways to pair them. In a table in
    random order each way has the smallest sum in a third of the quadruples, whatever the rows are. Where they are
    alike over a few rows the first two and the last two are it more often, which a binomial test tells without any
    assumption. A table sorted by classes is in random order within each, so that they show only where one ends in the
    middle of a quadruple. So as many are asked for as classes of as many rows as the likeness reaches would not have,
    and half as many more, with a chance of one in a thousand.

    Where the rows of several series take turns, such as replicas whose frames were stored one time after another, those
    so many rows apart are alike. So in 4096 rows of the table the test is made also at the number of rows, up to 64,
    that are nearest so far apart. A table sorted by classes shows there, and one in which classes take turns does not;
    of two rows and the two that are so many rows further on each, the pairs of those are nearest more often where
    series or classes take turns, but not in a sorted table. Both are asked for, with a chance of less than one in a
    million over all numbers up to 64.

    Noise hides a slow series from this: the next row is hardly nearer than the third. Where nothing was seen yet the
    table is cut into stretches where its rows change, and it is asked whether stretches that follow each other are
    nearer than a random order of them would make it, see `gnomon.neighbors.stretches`.

    Groups are taken to be about as long as each other. Of tables of 1,000 and 4,000 groups of rows, sorted by these,
    whose sizes are lognormal or have a Pareto tail, 14 of 16 were taken for a series, of 100 and 400 such groups 1 of
    16, and of 4,000 of geometric sizes all; none of equal sizes. A trend under noise is seen by stretches alone: of
    1,000 rows, with noise of a quarter of the whole rise in each of ten columns, in 8 of 10 tables, of 200 rows or
    noise of half of it in none.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        In the order of the table.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`.
    seed : int, default=0
        Draws the rows by which the usual distance is told.

    Returns
    -------
    Succession or None
        None if no likeness is shown, which takes a chance of less than one in a million in one of these ways, and a
        likeness over five rows (of each series) at least; of fewer than 40 rows; and of distances given as a sparse
        matrix, which lacks most.
    """
    if int(X.shape[0]) < _FEWEST_ROWS or (metric == "precomputed" and not isinstance(X, np.ndarray)):
        return None
    return _kept(X, metric, seed, lambda: _look(X, metric, seed))


def keep_succession(X: Any, metric: str | Callable[..., float], found: Succession | None) -> None:
    """Let `succession_of_rows` return what was found of a table before, within the present call of a user.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The same object.
    metric : str or callable
        The same name.
    found : Succession or None
        What `succession_of_rows` returned.
    """
    _kept(X, metric, 0, lambda: found)


def _kept(X: Any, metric: Any, seed: int, make: Callable[[], Succession | None]) -> Succession | None:
    """Return what is made of a table under a metric with a name, once within the call of a user."""
    if not isinstance(metric, str):
        return make()
    # of a sparse table its other arrays are held, so that no other table has their places in memory
    dense = isinstance(X, np.ndarray)
    held = () if dense else (X.indices, X.indptr)
    kind = f"succession {metric} {seed} {X.shape} {[one.ctypes.data for one in held]}"
    return made_once(kind, X if dense else X.data, lambda: (make(), held))[0]


def _look(X: Any, metric: str | Callable[..., float], seed: int) -> Succession | None:
    """Return what `succession_of_rows` does of a table of rows enough."""
    n = int(X.shape[0])
    for p, turns, step in _sure(X, metric, seed):
        if step >= _LEAST_STEP:
            return Succession(p, step * turns, n, turns)
    return None


def _sure(X: Any, metric: Any, seed: int) -> Iterator[tuple[float, int, int]]:
    """Return the numbers of series that take turns at which rows are surely alike, the chance of as much, and how far.

    One series is looked for first, in all rows; then the number at which rows are nearest. Its chance is that of the
    smaller likeness, times all numbers that it might have been. Then stretches of one series are looked at.
    """
    apart = _apart(X, np.arange(1, _FOUR), metric)
    if (p := _chance(apart)) <= _SURE:
        step = _step_of(X, metric, seed, 1)
        if _chance_in_groups(apart, step) <= _BEYOND_GROUPS:
            yield p, 1, step
    yield from ((p, turns, _step_of(X, metric, seed, turns)) for p, turns in _sure_turns(X, metric))
    if (p := chance_of_stretches(X, metric, seed=seed)) <= _SURE:
        yield p, 1, _step_of(X, metric, seed, 1)


def _sure_turns(X: Any, metric: Any) -> Iterator[tuple[float, int]]:
    """Return the number of series that take turns at which rows are surely alike, and the chance of as much."""
    n = X.shape[0]
    begin = max(0, n - _WINDOW) // 2
    rows = slice(begin, begin + min(n, _WINDOW))
    some = X[rows, rows] if isinstance(metric, str) and metric == "precomputed" else X[rows]
    tried = range(2, min(_MOST_TURNS, some.shape[0] // _FEWEST_TURNS) + 1)
    if not tried:
        return
    apart = _apart(some, np.arange(1, (_FOUR - 1) * tried[-1] + 1), metric)
    n, most = apart.shape
    turns = 1 + int(np.argmin([apart[: n - lag, lag - 1].mean() for lag in range(1, most + 1)]))
    if turns in tried:
        two = _chance(apart[:, [turns - 1, 2 * turns - 1, 3 * turns - 1]], turns), _chance_of_pairs(apart, turns)
        if (p := max(two) * len(tried)) <= _SURE:
            yield p, turns


def _apart(X: Any, lags: npt.NDArray[np.int64], metric: Any) -> Floats:
    """Return the distance of each row to those some rows further on, behind the last from the first on."""
    n = X.shape[0]
    others = (np.arange(n)[:, None] + lags) % n
    return pair_distances(X, others.astype(np.int32), metric=metric).astype(np.float64)


def _chance(apart: Floats, turns: int = 1, *, expected: float = _CHANCE) -> float:
    """Return the chance of at least as many quadruples in which the pairs of the order are nearest.

    `apart` has the distances to the rows `turns`, twice and three times as many further on; `expected` is how often
    they are nearest in a table in another order.
    """
    rows = np.arange(len(apart) // (_FOUR * turns) * _FOUR * turns)
    first = rows[rows % (_FOUR * turns) < turns]
    one, two, three = apart.T
    sums = np.stack(
        [one[first] + one[first + 2 * turns], two[first] + two[first + turns], three[first] + one[first + turns]]
    )  # 12 34, 13 24, 14 23
    return _binomial(sums, expected)


def _chance_in_groups(apart: Floats, step: int) -> float:
    """Return the chance of at least as many such quadruples in a table of groups of rows, sorted by these.

    Rows of a group are in any order, and so are the groups. A quadruple that two of them share, two rows of each, has
    the pairs of the order nearest where the groups are far apart; in all others each pairing is as likely. Over the
    four rows that quadruples can begin at, the ends of groups come in the middle of one in as many as a group has rows;
    so at one of them no more often, and the largest chance is that of the table.
    """
    expected = _CHANCE + (1.0 - _CHANCE) * min(1.0, _GROUPS / step)
    return max(_chance(apart[begin:], expected=expected) for begin in range(_FOUR))


def _chance_of_pairs(apart: Floats, turns: int) -> float:
    """Return the chance of at least as many quadruples of two rows, and those that many rows further on each, whose
    pairs are nearest.

    The two rows are the first and last of as many rows in a row as there are turns, the second and the last but one,
    and so on; `apart` has the distances to all rows up to twice as many further on.
    """
    blocks = np.arange(len(apart) // (2 * turns))[:, None] * 2 * turns
    place = np.arange(turns // 2)
    i, j = (blocks + place).ravel(), (blocks + turns - 1 - place).ravel()
    gap = j - i
    return _binomial(
        np.stack(
            [
                apart[i, turns - 1] + apart[j, turns - 1],
                apart[i, gap - 1] + apart[i + turns, gap - 1],
                apart[i, turns + gap - 1] + apart[j, turns - gap - 1],
            ]
        )
    )


def _binomial(sums: Floats, expected: float = _CHANCE) -> float:
    """Return the chance of the first of three sums being the only least one as often as it is."""
    least = sums.min(axis=0)
    told = (sums == least).sum(axis=0) == 1
    hits = int((told & (sums[0] == least)).sum())
    return float(scipy.special.bdtrc(hits - 1, int(told.sum()), expected)) if hits else 1.0


def _step_of(X: Any, metric: Any, seed: int, turns: int) -> int:
    """Return the least number of turns apart at which rows are as far as usual, found by doubling and halving."""
    n = X.shape[0]
    others = 1 + (uniform_matrix(seed, _STREAM, (n, _USUAL)) * (n - 1)).astype(np.int64)
    usual = float(np.mean([_apart(X, np.asarray(column)[:, None], metric).mean() for column in others.T]))

    def alike(times: int) -> bool:
        lag = times * turns
        return float(_apart(X, np.array([lag]), metric)[: n - lag].mean()) < _GONE * usual

    most = n // (2 * turns)
    low, high = 0, 1
    while high < most and alike(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if alike(middle) else (low, middle)
    return high
