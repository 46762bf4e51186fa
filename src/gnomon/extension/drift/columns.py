"""In which columns new rows differ from old ones: as distributions, and by holding one value alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.extension.drift.chance import chance_of_more, chance_of_shift, largest_shift
from gnomon.linalg.table import dense_rows, evenly_spaced

__all__ = [
    "ColumnShift",
    "Masks",
    "MissingShift",
    "Unknown",
    "UnknownShift",
    "largest_difference",
    "measure_columns",
    "measure_missing",
    "measure_unknown",
]

Floats = npt.NDArray[np.float64]
Masks = tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
"""Which values of old and of new rows were missing and filled in."""

_MOST_COLUMNS = 1000
_MOST_ROWS = 2000
_TOGETHER = 64  # columns sorted at once
_FEWEST_TOGETHER = 2  # columns, else they are judged alone
_SAME = 1e-12  # of the mean of a column: less is no spread
_ONE_VALUE_BY_CHANCE = 0.0025
_MOST_MISSING = 0.1  # more of the new rows than of the old
_MISSING_BY_CHANCE = 0.0025
_UNKNOWN_BY_CHANCE = 0.0025


@dataclass(frozen=True)
class ColumnShift:
    """How far columns of new rows differ from those of old ones, the most different column first.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,), int64
        Columns that were compared, by falling shift: all, or of more than 1000 those that vary most. One with missing
        values has the place of the shift that as many whole rows give so rarely.
    shifts : ndarray of shape (n_columns,), float64, in [0, 1]
        Largest difference between the distributions of a column in new and in old rows (Kolmogorov-Smirnov), of at most
        2000 rows each, of those in which it is known; 0 if there are none.
    by_chance : float in [0, 1]
        What the largest of them stays below in 95 of 100 draws of rows like the old ones, at least.
    p_value : float in [0, 1]
        How likely it is at most that the largest is so large by chance, whichever column it is of.
    constant : ndarray of int64
        Columns with one value in all new rows, where as many old ones by chance hardly have one.
    n_together : int
        Columns of `columns` without missing values that vary among old rows, at least two, or none. Of each row the
        mean over them is taken, in each column as a multiple of the standard deviation of old rows from their mean:
        what moves many columns a little in one direction moves it much.
    together : float in [-1, 1]
        Largest difference between the distributions of this mean in new and in old rows, less than 0 where its median
        is lower in new rows.
    together_by_chance : float in [0, 1]
        What its size stays below in 95 of 100 draws of rows like the old ones.
    together_p_value : float in [0, 1]
        How likely it is as large by chance.
    """

    columns: npt.NDArray[np.int64]
    shifts: Floats
    by_chance: float
    p_value: float
    constant: npt.NDArray[np.int64]
    n_together: int = 0
    together: float = 0.0
    together_by_chance: float = 1.0
    together_p_value: float = 1.0


@dataclass(frozen=True)
class MissingShift:
    """Columns of which new rows lack values more often than old ones, the largest difference first.

    Attributes
    ----------
    columns : ndarray of int64
        Those where the share of the new rows is larger by more than 0.1, and than chance gives in one draw of 400.
    of_old, of_new : ndarray of float64, in [0, 1]
        Share of the rows that lack a value of each of them.
    """

    columns: npt.NDArray[np.int64]
    of_old: Floats
    of_new: Floats


class Unknown(NamedTuple):
    """Categories of new rows that a map does not know.

    Attributes
    ----------
    name : str
        Of the column.
    values : str
        The categories, listed.
    n_new : int
        New rows that have one.
    n_single : int
        Old rows whose category no other old row has: each was unknown to the others.
    """

    name: str
    values: str
    n_new: int
    n_single: int


@dataclass(frozen=True)
class UnknownShift:
    """Columns of which new rows have categories that the map does not know, the largest share first.

    Attributes
    ----------
    names : tuple of str
    values : tuple of str
        The categories of each column, listed.
    of_new : ndarray of float64, in (0, 1]
        Share of the new rows that have one.
    by_chance : ndarray of bool
        Whether as many rows like the old ones have one in a draw of 400 or more often, as told by how many old rows
        have a category of their own, and one more.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]
    of_new: Floats
    by_chance: npt.NDArray[np.bool_]


def measure_unknown(unknown: Sequence[Unknown], n_old: int, n_new: int, n_columns: int = 1) -> UnknownShift:
    """Say how often new rows have categories that a map does not know, and whether that may be chance.

    Parameters
    ----------
    unknown : sequence of Unknown
        Of each column that has some.
    n_old, n_new : int >= 1
    n_columns : int >= 1, default=1
        Columns that could have some.

    Returns
    -------
    UnknownShift
    """
    ordered = sorted(unknown, key=lambda one: -one.n_new)
    singles = [min(one.n_single + 1, n_old) for one in ordered]  # none is no proof that none come
    chances = [
        chance_of_more(single, n_old, one.n_new, n_new) * n_columns
        for single, one in zip(singles, ordered, strict=True)
    ]
    return UnknownShift(
        tuple(one.name for one in ordered),
        tuple(one.values for one in ordered),
        np.array([one.n_new / n_new for one in ordered]),
        np.array([chance > _UNKNOWN_BY_CHANCE for chance in chances], dtype=np.bool_),
    )


def measure_missing(missing: Masks) -> MissingShift:
    """Compare how often new and old rows lack the values of columns.

    Parameters
    ----------
    missing : tuple of ndarray of shape (n_old, n_columns) and (n_new, n_columns), bool

    Returns
    -------
    MissingShift
    """
    old, new = missing
    of_old, of_new = (one.mean(axis=0) for one in missing)
    chances = [
        chance_of_more(int(a), len(old), int(b), len(new)) * len(of_old)
        for a, b in zip(old.sum(axis=0), new.sum(axis=0), strict=True)
    ]
    found = np.flatnonzero((of_new - of_old > _MOST_MISSING) & (np.array(chances) <= _MISSING_BY_CHANCE))
    found = found[np.argsort(-(of_new - of_old)[found], kind="stable")]
    return MissingShift(found.astype(np.int64), of_old[found], of_new[found])


def measure_columns(
    X: Any,
    X_new: Any,
    weights: Floats | None = None,
    missing: Masks | None = None,
    without: Sequence[int] = (),
) -> ColumnShift:
    """Compare the columns of new rows with those of old ones.

    Parameters
    ----------
    X, X_new : ndarray or CSR of shape (n_old, n_features) and (n_new, n_features)
        At least one row each. Of more than 2000 rows evenly spaced ones are looked at.
    weights : ndarray of shape (n_old,), float64, default=None
        How much each old row counts, not all 0; None counts them alike.
    missing : tuple of ndarray of the shapes of X and X_new, bool, default=None
        Values that were filled in, which are not compared. None for none.
    without : sequence of int, default=()
        Columns that are not compared, such as times, which go on.

    Returns
    -------
    ColumnShift
    """
    some, others = (evenly_spaced(int(one.shape[0]), _MOST_ROWS) for one in (X, X_new))
    counted = np.ones(len(some)) if weights is None else weights[some]
    some, counted = some[counted > 0.0], counted[counted > 0.0]
    old, new = X[some], X_new[others]
    old, new = (one if isinstance(one, np.ndarray) else one.tocsc() for one in (old, new))
    n_old, n_new = _effective(counted), int(new.shape[0])
    share = counted / counted.sum()
    columns = np.setdiff1d(_columns(old, new), np.asarray(without, dtype=np.int64))
    shifts, constant = np.zeros(len(columns)), np.zeros(len(columns), dtype=np.bool_)
    whole = np.ones(len(columns), dtype=np.bool_)
    if missing is not None:
        known = ~missing[0][np.ix_(some, columns)], ~missing[1][np.ix_(others, columns)]
        whole = np.asarray(known[0].all(axis=0) & known[1].all(axis=0), dtype=np.bool_)
    means, n_together = (np.zeros(len(some)), np.zeros(n_new)), 0
    for at, a, b in _blocks(old, new, columns):
        shifts[at] = largest_difference(a, b, share)
        n_together += _add_deviations(means, a[:, whole[at]], b[:, whole[at]], share, n_old)
        for j in np.flatnonzero((b == b[0]).all(axis=0)):
            constant[at][j] = _chance_of_one(a[:, j], b[0, j], share, n_new) * len(columns) <= _ONE_VALUE_BY_CHANCE
    sizes = np.tile([n_old, n_new], (len(columns), 1))
    if missing is not None:
        for j in np.flatnonzero(~whole):
            a, b = (dense_rows(one[:, columns[j : j + 1]]) for one in (old, new))
            a, b = a[known[0][:, j]], b[known[1][:, j]]
            own = counted[known[0][:, j]]
            shifts[j], constant[j], sizes[j] = 0.0, False, (_effective(own), len(b))
            if len(a) and len(b):
                shifts[j] = largest_difference(a, b, own / own.sum())[0]
                if (b == b[0]).all():
                    rare = _chance_of_one(a[:, 0], b[0, 0], own / own.sum(), len(b))
                    constant[j] = rare * len(columns) <= _ONE_VALUE_BY_CHANCE
    usual = np.array([largest_shift(a, int(b)) if min(a, b) >= 1 else 1.0 for a, b in sizes])
    order = np.argsort(-shifts / usual, kind="stable")
    largest, size = (float(shifts[order[0]]), sizes[order[0]]) if len(order) else (0.0, (n_old, n_new))
    n_compared = max(len(columns), 1)
    together = 0.0
    if n_together >= _FEWEST_TOGETHER:
        together = float(largest_difference(means[0][:, None], means[1][:, None], share)[0])
        if np.median(means[1]) < np.median(means[0]):
            together = -together
    return ColumnShift(
        columns=columns[order],
        shifts=shifts[order],
        by_chance=largest_shift(size[0], int(size[1]), n_compared=n_compared),
        p_value=min(1.0, chance_of_shift(largest, size[0], int(size[1])) * n_compared) if largest else 1.0,
        constant=columns[constant],
        n_together=n_together if n_together >= _FEWEST_TOGETHER else 0,
        together=together,
        together_by_chance=largest_shift(n_old, n_new),
        together_p_value=chance_of_shift(abs(together), n_old, n_new) if together else 1.0,
    )


def _add_deviations(sums: tuple[Floats, Floats], old: Floats, new: Floats, share: Floats, n_old: float) -> int:
    """Add to the sums of old and new rows how far each column is from the mean of all; return of how many it is.

    Mean and spread are those of both, so that neither is alike to what it is compared by: of columns with rare values
    those that happen to be rare among the old rows would weigh more.
    """
    n_new = len(new)
    part = n_old / (n_old + n_new)
    center = part * (share @ old) + (1.0 - part) * new.mean(axis=0)
    spread = np.sqrt(part * (share @ (old - center) ** 2) + (1.0 - part) * ((new - center) ** 2).mean(axis=0))
    varies = np.isfinite(spread) & (spread > _SAME * np.abs(center))
    for one, rows in zip(sums, (old, new), strict=True):
        one += ((rows[:, varies] - center[varies]) / spread[varies]).sum(axis=1)
    return int(np.count_nonzero(varies))


def _effective(weights: Floats) -> float:
    """Return as how many rows rows of such weights count; 0 for none."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


def largest_difference(old: Floats, new: Floats, share: Floats) -> Floats:
    """Return for each column the largest difference of the distributions of two tables.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, n_columns) and (n_new, n_columns)
    share : ndarray of shape (n_old,)
        Of each old row among all of them.

    Returns
    -------
    ndarray of shape (n_columns,), float64, in [0, 1]
    """
    values = np.concatenate([old, new])
    order = np.argsort(values, axis=0, kind="stable")
    steps = np.append(share, np.full(len(new), -1.0 / len(new)))
    above = np.cumsum(steps[order], axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    ends = np.ones(values.shape, dtype=np.bool_)
    ends[:-1] = ordered[1:] != ordered[:-1]  # equal values come together
    found: Floats = np.minimum(np.abs(np.where(ends, above, 0.0)).max(axis=0), 1.0)
    return found


def _columns(old: Any, new: Any) -> npt.NDArray[np.int64]:
    """Return the columns to compare: those that vary among all rows, and the most varying of very many."""
    n_columns = int(old.shape[1])
    spread = np.zeros(n_columns)
    for at, a, b in _blocks(old, new, np.arange(n_columns)):
        both = np.concatenate([a, b])
        spread[at] = np.where((both != both[0]).any(axis=0), np.maximum(both.std(axis=0), np.finfo(float).tiny), 0.0)
    varying = np.flatnonzero(spread > 0.0)
    most = varying[np.argsort(-spread[varying], kind="stable")[:_MOST_COLUMNS]]
    return np.sort(most).astype(np.int64)


def _blocks(old: Any, new: Any, columns: npt.NDArray[np.int64]) -> Iterator[tuple[slice, Floats, Floats]]:
    for begin in range(0, len(columns), _TOGETHER):
        at = slice(begin, min(begin + _TOGETHER, len(columns)))
        yield at, dense_rows(old[:, columns[at]]), dense_rows(new[:, columns[at]])


def _chance_of_one(old: Floats, value: float, share: Floats, n_new: int) -> float:
    """Return how likely it is that so many rows have one value, the same in all, as drawn from old ones."""
    _, inverse = np.unique(old, return_inverse=True)
    shares = np.bincount(inverse.ravel(), share)
    return float((shares**n_new).sum())
