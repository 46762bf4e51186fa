"""Whether rows that are near each other are so in most columns, or in a few alone that make the distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log, power, row_distances
from gnomon._validation import unsaid
from gnomon.exceptions import DataWarning
from gnomon.linalg.table import dense_rows, evenly_spaced
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.metrics.measured import Periodic

__all__ = ["alike_in_columns", "sets_alike_in_columns"]

_COMPARED = 1000  # rows of the table that others are compared with
_COLUMNS = 500  # of those in which rows differ most often
_STEP = 1.5  # how many times as far other rows are, at least
_LOWER, _UPPER = 0.125, 0.5  # powers of how far rows lie from the median of a column
_TOGETHER = 1000  # rows measured at once

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def alike_in_columns(X: Any, sets: Rows, rows: Rows, n_table: int) -> npt.NDArray[np.bool_]:
    """Return which rows have a row of their set much nearer than others, where columns count alike.

    Distances of rows with heavy tails are those in the few columns where a row lies far out: rows that happen to lie
    far out in none are near each other for how far all others are, and have nothing in common. Here each column is
    divided by how far its rows lie from its median, and what lies far out counts by its logarithm.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_columns)
        Numbers.
    sets : ndarray of shape (n_rows,), intp
        Numbers of the sets of rows that are near each other.
    rows : ndarray of intp
        Those asked for, each in a set of several.
    n_table : int in [1, n_rows]
        The first so many rows are those of a table, of which at most 1000 evenly spaced ones are the others.

    Returns
    -------
    ndarray of shape (n_asked,), bool
        Whether all rows of other sets are 1.5 times as far as the nearest row of the own one, or farther.
    """
    others = evenly_spaced(n_table, _COMPARED)
    columns = _telling_columns(X[others])
    compared = dense_rows(X[others][:, columns])
    middle, scale = _scales(compared)
    there = _squashed((compared - middle) / scale)
    members = np.flatnonzero(np.isin(sets, sets[rows]))
    members = members[np.argsort(sets[members], kind="stable")]
    starts = np.searchsorted(sets[members], sets[rows]), np.searchsorted(sets[members], sets[rows], side="right")
    found = np.zeros(len(rows), dtype=np.bool_)
    for begin in range(0, len(rows), _TOGETHER):
        some = slice(begin, begin + _TOGETHER)
        own = _squashed((dense_rows(X[rows[some]][:, columns]) - middle) / scale)
        away = row_distances(own, there)
        away[sets[rows[some]][:, None] == sets[others]] = np.inf
        asked = zip(rows[some], own, *(part[some] for part in starts), strict=True)
        for at, (row, point, first, last) in enumerate(asked):
            beside = members[first:last]
            near = _squashed((dense_rows(X[beside[beside != row]][:, columns]) - middle) / scale)
            found[begin + at] = row_distances(point[None], near).min() * _STEP <= away[at].min()
    return found


def sets_alike_in_columns(X: Any, sets: Rows, metric: str = "euclidean") -> Rows:
    """Return the sets without rows that are not near the others in most columns, see `alike_in_columns`.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_columns)
        Numbers.
    sets : ndarray of shape (n_rows,), intp
        The first row of the set of each row, its own number where it is in none.
    metric : str, default="euclidean"
        In which they are near. Columns are those of the points whose distances it takes, such as directions.

    Returns
    -------
    ndarray of shape (n_rows,), intp
        Of the same form.
    """
    rows = np.flatnonzero(np.bincount(sets, minlength=len(sets))[sets] > 1)
    if not len(rows):
        return sets
    kept = sets.copy()
    left_out = rows[~alike_in_columns(_points(X, metric), sets, rows, len(sets))]
    kept[left_out] = left_out
    _, first, inverse = np.unique(kept, return_index=True, return_inverse=True)
    return np.asarray(first[inverse.ravel()], dtype=np.intp)


def _points(X: Any, metric: str) -> Any:
    """Return what stands for rows under a metric."""
    native = native_metric(metric)
    if native is None:
        return X
    with unsaid(DataWarning):  # the search has told of rows of zeros
        return native.circles(X) if isinstance(native, Periodic) and isinstance(X, np.ndarray) else native.rows(X)


def _telling_columns(rows: Any) -> npt.NDArray[np.int64]:
    """Return the columns in which most rows have another value than the commonest one, of a sparse table than zero."""
    if isinstance(rows, np.ndarray):
        differ = np.count_nonzero(rows != np.median(rows, axis=0), axis=0)
    else:
        differ = np.bincount(rows.tocsr().indices, minlength=rows.shape[1])
    return np.sort(np.argsort(-differ, kind="stable")[:_COLUMNS])


def _scales(rows: Floats) -> tuple[Floats, Floats]:
    """Return the median of each column, and how far rows lie from it where they do.

    Means of low powers, which the heaviest tails have, and of rows with weights by how far they lie: most may be at the
    median, or nearly.
    """
    middle = np.median(rows, axis=0)
    away = np.abs(rows - middle)
    most, least = (power(away, p).sum(axis=0) for p in (_UPPER, _LOWER))
    scale: Floats = power(most / np.where(least > 0.0, least, 1.0), 1.0 / (_UPPER - _LOWER))
    return middle, np.where(scale > 0.0, scale, 1.0)


def _squashed(values: Floats) -> Floats:
    """Return numbers whose size counts by its logarithm where it is large: the inverse of the hyperbolic sine."""
    size = np.abs(values)
    found: Floats = np.sign(values) * log(size + np.sqrt(size**2 + 1.0))
    return found
