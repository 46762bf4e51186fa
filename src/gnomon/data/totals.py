"""Totals: columns that are the sum of others, and rows that are the sum or the mean of all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.columns import ColumnRule, features_of
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning

__all__ = ["TotalRow", "find_total_columns", "find_total_rows", "warn_of_totals"]

Float64Array = npt.NDArray[np.float64]

_FEWEST_ROWS = 10  # in which a column is the sum of others
_MOST_COLUMNS = 128
_FEWEST_VALUES = 5  # different sums: levels of answers, and indicators, add up by chance
_ROUNDING = 1e-6  # of the sum of the sizes of what is added; of float32
_OF_SUMS = 1e-14  # the same of sums of all columns before
_ROWS, _FIRST = 1000, 4  # rows looked at, and by which most sums are seen not to be equal
_FEWEST_OF_ROW, _FEWEST_ADDED = 3, 5  # columns in which a row is a total, and rows of which it is
_OF_COLUMNS = 0.8  # share of the columns that vary
_FEW = 8  # columns, in one of which a row that is a total is one
_LEAST = 1e-3  # of the sizes of what is added, that a total is beside 0
_NAMED = 3


class TotalRow(NamedTuple):
    """A row that is the sum or the mean of all others.

    Attributes
    ----------
    row : int
    is_mean : bool
    """

    row: int
    is_mean: bool


def find_total_columns(values: npt.NDArray[Any]) -> dict[int, list[int]]:
    """Return the columns that are, in every row, the sum of two columns or more that follow each other.

    What is added takes part: columns of zeros do not count. Of a column that is the sum of several runs of columns the
    longest is returned. A column itself is passed over in a run that would hold it.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Numbers; of more than 1,000 rows so many are looked at, at even steps, those with NaN left out. Nothing is found
        in fewer than 10, or in tables of more than 128 columns.

    Returns
    -------
    dict of int to list of int
        Column to the columns of which it is the sum.
    """
    if values.shape[1] < 3 or values.shape[1] > _MOST_COLUMNS:
        return {}
    some = values[_evenly(len(values), _ROWS)].astype(np.float64)
    some = some[np.isfinite(some).all(axis=1)]
    if len(some) < _FEWEST_ROWS:
        return {}
    counting = np.flatnonzero((some != some[0]).any(axis=0) & (np.abs(some).sum(axis=0) > 0.0))
    found = {}
    for column in counting.tolist():
        if len(np.unique(some[:, column])) < _FEWEST_VALUES:
            continue
        others = counting[counting != column]
        run = _longest_run(some[:, others], some[:, column])
        if run is not None:
            found[column] = others[run].tolist()
    return found


def _longest_run(others: Float64Array, total: Float64Array) -> slice | None:
    """Return the longest run of two columns or more that add up to a total in all rows."""
    begins, ends = np.triu_indices(others.shape[1] + 1, 2)
    few = _evenly(len(total), _FIRST)
    near = _add_up(others[few], total[few], begins, ends)
    lengths = (ends - begins) * near
    for at in np.argsort(-lengths, kind="stable")[: np.count_nonzero(near)].tolist():
        if _add_up(others, total, begins[at], ends[at]):
            return slice(int(begins[at]), int(ends[at]))
    return None


def _add_up(others: Float64Array, total: Float64Array, begins: Any, ends: Any) -> Any:
    """Return whether columns from each begin to its end add up to a total in all rows, but for rounding."""
    sums, sizes = (np.cumsum(np.pad(one, ((0, 0), (1, 0))), axis=1) for one in (others, np.abs(others)))
    total = total.reshape(-1, *(1 for _ in np.shape(begins)))
    off = np.abs(sums[:, ends] - sums[:, begins] - total)
    of_run = sizes[:, ends] - sizes[:, begins] + np.abs(total)
    return (off <= _ROUNDING * of_run + _OF_SUMS * sizes[:, ends]).all(axis=0)


def find_total_rows(values: npt.NDArray[Any]) -> list[TotalRow]:
    """Return the rows that are the sum of all others, or their mean, in most columns.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Numbers. A row counts that is such a sum in four of five columns that vary and in three at least, in none of
        which it is 0. Columns with NaN are not looked at.

    Returns
    -------
    list of TotalRow
    """
    n = len(values)
    if n <= _FEWEST_ADDED or values.shape[1] < _FEWEST_OF_ROW:
        return []
    some = values[_evenly(n, _ROWS)]
    columns = np.flatnonzero(np.isfinite(some).all(axis=0) & (some != some[:1]).any(axis=0))
    if len(columns) < _FEWEST_OF_ROW:
        return []
    first, found = columns[_evenly(len(columns), _FEW)], []
    for is_mean, share in ((False, 0.5), (True, 1.0 / n)):
        rows = np.flatnonzero(_are_totals(values[:, first], share).sum(axis=1) >= 2)
        if len(rows):
            least = max(_FEWEST_OF_ROW, _OF_COLUMNS * len(columns))
            are_totals = _are_totals(values[:, columns], share, rows).sum(axis=1) >= least
            found += [TotalRow(row, is_mean) for row in rows[are_totals].tolist()]
    return found


def _are_totals(values: npt.NDArray[Any], share: float, rows: Any = slice(None)) -> npt.NDArray[np.bool_]:
    """Return where rows have a share of the sums of columns, as far as rounding lets these be told from nothing."""
    sums, sizes = (share * one.sum(axis=0, dtype=np.float64) for one in (values, np.abs(values)))
    return np.asarray((np.abs(values[rows] - sums) <= _ROUNDING * sizes) & (np.abs(sums) > _LEAST * sizes))


def _evenly(n: int, most: int) -> npt.NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def warn_of_totals(
    values: npt.NDArray[Any], names: Sequence[str] | None = None, columns: Sequence[ColumnRule] | None = None
) -> None:
    """Warn of columns that are the sum of others, and of rows that are the sum or the mean of all others.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Numbers, and NaN where a value is missing.
    names : sequence of str or None
        One for each feature.
    columns : sequence of ColumnRule or None
        What became of the columns of the table; None if all were numbers.

    Warns
    -----
    DataWarning
        Names the columns, or the rows by number, and the remedy.
    """
    names = default_names(values.shape[1]) if names is None else names
    numbers = np.arange(values.shape[1])
    if columns is not None:
        rules = features_of(columns).items()
        numbers = np.array(sorted(at.start for rule, at in rules if rule.kind in ("number", "written")), dtype=np.intp)
    some = values if len(numbers) == values.shape[1] else values[:, numbers]
    totals = {
        names[numbers[column]]: [names[numbers[one]] for one in of] for column, of in find_total_columns(some).items()
    }
    if totals:
        told = [f"column {total!r} is the sum of {_named(of)} in every row" for total, of in totals.items()]
        text = first_few(told, _NAMED, of="column", between="; ", before="; so are")
        leave = ", ".join(map(repr, totals))
        warn(
            f"{text}. What is added counts twice, and in units of the table the sum counts most. If that is not meant, "
            f"leave it out: drop=[{leave}].",
            DataWarning,
        )
    rows = find_total_rows(some)
    if rows:
        which = " and ".join(
            f"row {one.row} is the {'mean' if one.is_mean else 'sum'} of all others" for one in rows[:2]
        )
        warn(f"{which}, in nearly all columns: a summary and no observation. Leave it out of the table.", DataWarning)


def _named(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"the {len(names)} columns {names[0]!r} to {names[-1]!r}"
    return f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
