"""In which columns new rows differ from old ones: as distributions, and by holding one value alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.extension.chance import chance_of_shift, largest_shift
from gnomon.linalg.table import dense_rows, evenly_spaced

__all__ = ["ColumnShift", "largest_difference", "measure_columns"]

Floats = npt.NDArray[np.float64]

_MOST_COLUMNS = 1000
_MOST_ROWS = 2000
_TOGETHER = 64  # columns sorted at once
_ONE_VALUE_BY_CHANCE = 0.0025


@dataclass(frozen=True)
class ColumnShift:
    """How far columns of new rows differ from those of old ones, the most different column first.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,), int64
        Columns that were compared, by falling shift: all, or of more than 1000 those that vary most.
    shifts : ndarray of shape (n_columns,), float64, in [0, 1]
        Largest difference between the distributions of a column in new and in old rows (Kolmogorov-Smirnov), of at most
        2000 rows each.
    by_chance : float in [0, 1]
        What the largest of them stays below in 95 of 100 draws of rows like the old ones, at least.
    p_value : float in [0, 1]
        How likely it is at most that the largest is so large by chance, whichever column it is of.
    constant : ndarray of int64
        Columns with one value in all new rows, where as many old ones by chance hardly have one.
    """

    columns: npt.NDArray[np.int64]
    shifts: Floats
    by_chance: float
    p_value: float
    constant: npt.NDArray[np.int64]


def measure_columns(X: Any, X_new: Any, weights: Floats | None = None) -> ColumnShift:
    """Compare the columns of new rows with those of old ones.

    Parameters
    ----------
    X, X_new : ndarray or CSR of shape (n_old, n_features) and (n_new, n_features)
        At least one row each. Of more than 2000 rows evenly spaced ones are looked at.
    weights : ndarray of shape (n_old,), float64, default=None
        How much each old row counts, not all 0; None counts them alike.

    Returns
    -------
    ColumnShift
    """
    some = evenly_spaced(int(X.shape[0]), _MOST_ROWS)
    old, new = X[some], X_new[evenly_spaced(int(X_new.shape[0]), _MOST_ROWS)]
    counted = np.ones(len(some)) if weights is None else weights[some]
    old, counted = old[np.flatnonzero(counted > 0.0)], counted[counted > 0.0]
    old, new = (one if isinstance(one, np.ndarray) else one.tocsc() for one in (old, new))
    n_old, n_new = float(counted.sum() ** 2 / (counted**2).sum()), int(new.shape[0])
    share = counted / counted.sum()
    columns = _columns(old, new)
    shifts, constant = np.zeros(len(columns)), np.zeros(len(columns), dtype=np.bool_)
    for at, a, b in _blocks(old, new, columns):
        shifts[at] = largest_difference(a, b, share)
        for j in np.flatnonzero((b == b[0]).all(axis=0)):
            constant[at][j] = _chance_of_one(a[:, j], b[0, j], share, n_new) * len(columns) <= _ONE_VALUE_BY_CHANCE
    order = np.argsort(-shifts, kind="stable")
    largest = float(shifts[order[0]]) if len(order) else 0.0
    return ColumnShift(
        columns=columns[order],
        shifts=shifts[order],
        by_chance=largest_shift(n_old, n_new, n_compared=max(len(columns), 1)),
        p_value=min(1.0, chance_of_shift(largest, n_old, n_new) * max(len(columns), 1)),
        constant=columns[constant],
    )


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
    found = float((shares**n_new).sum())
    return found if n_new > 1 else 1.0
