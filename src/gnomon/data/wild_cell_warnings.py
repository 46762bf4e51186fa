"""Warnings of a few cells that make the spread of their column, or the distances of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon._validation import warn
from gnomon.data.column_scales import column_scales
from gnomon.data.dataset import first_few, listed
from gnomon.data.scaling import Scaling
from gnomon.data.unlike_columns import told_times
from gnomon.data.wild_cells import FAR, find_wild_cells, may_be_wild
from gnomon.exceptions import DataWarning

__all__ = ["warn_of_wild_cells", "warn_of_wild_columns", "warn_of_wild_rows"]

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_BEYOND_TAIL = 2.5  # times as far as all others from the median in logarithms of distances from it
_BEYOND_ORDINARY = 2.0  # so many times where the standard deviation is made by them: else their column may have a tail
_SAME = 1e-4  # relative error of a spread that is the standard deviation or the range
_ROWS = 1000  # rows whose middle half tells which columns to look at
_NAMED = 5  # columns, and cells of each


def warn_of_wild_cells(values: Any, scaling: Scaling | None, names: Sequence[str], filled: Mask | None = None) -> None:
    """Warn of columns that are divided by a standard deviation or range that a few cells make; nothing is changed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features), or a sparse matrix, which is passed over
        Finite numbers.
    scaling : Scaling or None
        By which the columns are divided.
    names : sequence of str
        One for each feature.
    filled : ndarray of bool, of the shape of `values`, default=None
        Cells that were missing and filled in: they are neither told nor do others lie far from them.

    Warns
    -----
    DataWarning
        Names the columns, the cells and the rest.
    """
    if scaling is None or not isinstance(values, np.ndarray) or not len(values):
        return
    low, high = (np.asarray(end, dtype=np.float64) for end in (values.min(axis=0), values.max(axis=0)))
    farthest = np.maximum(high - scaling.center, scaling.center - low) / scaling.spread
    by_range = np.abs(high - low - scaling.spread) <= _SAME * scaling.spread
    told, found, tails, robust = [], list[Ints](), dict[str, bool](), scaling.name == "standard"
    for f in np.flatnonzero(by_range | may_be_wild(farthest, len(values))).tolist():
        column = values[:, f].astype(np.float64)
        deviation, spread = float(column.std()), float(scaling.spread[f])
        if not (by_range[f] or abs(deviation - spread) <= _SAME * spread):
            continue
        known = _known(filled, f, len(column))
        wild = find_wild_cells(column[known])
        if len(wild):
            rows = known[wild]
            rest = np.delete(column, rows)
            own = float(np.ptp(rest)) if by_range[f] else float(rest.std())
            what = "range" if by_range[f] else "standard deviation"
            column = column[known]
            cells = _told(names[f], column, wild, known)
            told.append(
                f"{cells}, and is divided by a {what} that is {told_times(spread / own)} times as large as without"
            )
            found.append(rows)
            if not _lies_beyond_tail(column, wild, _BEYOND_ORDINARY):
                tails[names[f]] = float(column.min()) > 0.0
            robust = robust and _has_quartiles(column)
    if told:
        remedy = _remedy(found, tails, "pass scale='robust'" if robust else "")
        warn(f"{_joined(told)}. These columns hardly count in distances. {remedy}", DataWarning)


def warn_of_wild_rows(values: Any, names: Sequence[str], filled: Mask | None = None) -> None:
    """Warn of a few cells by which alone their rows lie far from all others, in a table whose columns are not divided.

    They make more than half of the squared distance of their row from a usual one, and are no end of a heavy tail: in
    logarithms of distances from the median they lie two and a half times as far from a usual value as all others. The
    middle half of their column is not constant. Nothing is changed.

    Of 555 tables of textbooks none had such cells; of 20 tables of 50 Pareto or lognormal columns, of exponents 1 to 3
    and a deviation of 2, two at most of 100 rows and none of 1,000.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features), or a sparse matrix, which is passed over
        Finite numbers.
    names : sequence of str
        One for each feature.
    filled : ndarray of bool, of the shape of `values`, default=None
        Cells that were missing and filled in: they are neither told nor do others lie far from them.

    Warns
    -----
    DataWarning
        Names the columns, the cells and the rest.
    """
    if not isinstance(values, np.ndarray) or not len(values):
        return
    middle = np.subtract(*np.quantile(values[:: -(-len(values) // _ROWS)], (0.75, 0.25), axis=0)).astype(np.float64)
    least = float((middle**2).sum()) / 8.0  # no variance is less than an eighth of the square of its middle half
    low, high = (np.asarray(end, dtype=np.float64) for end in (values.min(axis=0), values.max(axis=0)))
    if not (((high - low) ** 2 >= least) & (middle > 0.0)).any():
        return
    scales = column_scales(values)
    variances, wild = scales.deviation**2, dict[int, Ints]()
    may_matter = (scales.farthest * scales.deviation) ** 2 > least
    for f in np.flatnonzero(may_be_wild(scales.farthest, len(values)) & may_matter & (middle > 0.0)).tolist():
        known = _known(filled, f, len(values))
        rows = find_wild_cells(values[known, f])
        if len(rows):
            wild[f] = rows
            variances[f] = np.delete(values[:, f].astype(np.float64), known[rows]).var()
    usual = float(np.sqrt(2.0 * variances.sum()))  # root of the mean squared distance of two rows
    told, found = [], list[Ints]()
    for f, rows in wild.items():
        known = _known(filled, f, len(values))
        column = values[known, f].astype(np.float64)
        away = np.abs(column - np.median(column))
        if away[rows[0]] > usual and _has_quartiles(column) and _lies_beyond_tail(column, rows, _BEYOND_TAIL):
            times = told_times(float(scales.deviation[f] / np.sqrt(variances[f])))
            cells = _told(names[f], column, rows, known)
            told.append(f"{cells}, and a standard deviation that is {times} times as large as without")
            found.append(known[rows])
    if told:
        warn(f"{_joined(told)}. Such cells make most of the distances of their rows. {_remedy(found)}", DataWarning)


def warn_of_wild_columns(values: npt.NDArray[Any], names: Sequence[str]) -> None:
    """Warn of columns of which a few cells make the standard deviation, by which they may be divided later.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        NaN where a value is missing.
    names : sequence of str
        One for each feature.

    Warns
    -----
    DataWarning
        Names the columns, the cells and the rest.
    """
    told, found, tails, robust = [], list[Ints](), dict[str, bool](), True
    for f, name in enumerate(names):
        known = np.flatnonzero(np.isfinite(values[:, f]))
        column = values[known, f].astype(np.float64)
        largest = float(np.abs(column).max(initial=0.0))
        relative = column / largest if largest > 0.0 else column  # squares are in range
        deviation = float(relative.std()) if len(column) else 0.0
        if not (deviation > 0.0 and may_be_wild(np.abs(relative - relative.mean()).max() / deviation, len(column))):
            continue
        rows = find_wild_cells(relative)
        if len(rows):
            times = told_times(deviation / float(np.delete(relative, rows).std()))
            cells = _told(name, column, rows, known)
            told.append(f"{cells}, and has a standard deviation that is {times} times as large as without")
            found.append(known[rows])
            if not _lies_beyond_tail(relative, rows, _BEYOND_ORDINARY):
                tails[name] = float(relative.min()) > 0.0
            robust = robust and _has_quartiles(relative)
    if told:
        remedy = _remedy(found, tails, "divide by quartiles" if robust else "")
        warn(
            f"{_joined(told)}. Divided by it these columns hardly count in distances; undivided the cells make nearly "
            f"all distances. {remedy}",
            DataWarning,
        )


def _known(filled: Mask | None, f: int, n: int) -> Ints:
    """Return the rows whose value of a column was not filled in."""
    return np.arange(n) if filled is None else np.flatnonzero(~filled[:, f])


def _has_quartiles(column: npt.NDArray[np.float64]) -> bool:
    return bool(np.subtract(*np.quantile(column, (0.75, 0.25))) > 0.0)


def _lies_beyond_tail(column: npt.NDArray[np.float64], rows: Ints, times: float) -> bool:
    """Return whether cells lie so much farther from the median than others that these have no tail up to them."""
    away = np.abs(column - np.median(column))
    nearest = float(away[rows[-1]])
    others = away[(away > 0.0) & (away <= nearest / FAR)]
    if not len(others):
        return True
    usual = float(np.median(others))
    return bool(log(nearest / usual) > times * log(float(others.max()) / usual))


def _remedy(found: Sequence[Ints], tails: Mapping[str, bool] = MappingProxyType({}), robust: str = "") -> str:
    """Say what to do about the rows that columns have wild cells in.

    Parameters
    ----------
    found : sequence of ndarray
        The rows of each column.
    tails : mapping of str to bool
        Columns whose cells may be the end of a heavy tail, and whether they have logarithms.
    robust : str, default=""
        What else helps; empty if nothing does.
    """
    cells = "Put NaN in place of cells that are wrong"
    rows = {*np.concatenate(found).tolist()}
    if len(found) > 1 == len(rows):
        cells = f"Leave row {rows.pop()} out if it is a total, or p{cells[1:]}"
    if tails:
        which = "Such cells" if len(tails) == len(found) else f"Those of {listed(tails)}"
        ways = " or ".join(["take logarithms"] * all(tails.values()) + [robust] * bool(robust))
        return f"{which} may be right, the end of a heavy tail{ways and f': then {ways}'}. {cells}."
    return f"{cells}, or {robust}." if robust else f"{cells}."


def _joined(told: Sequence[str]) -> str:
    return first_few(told, _NAMED, of="column", between="; ", before="; so have")


def _told(name: str, column: npt.NDArray[np.float64], rows: Ints, known: npt.NDArray[np.intp]) -> str:
    """Say which cells lie far out; `known` are the rows of the table that the values of the column are of."""
    cells = first_few((f"{column[i]:.6g} (row {known[i]})" for i in rows), _NAMED)
    away = np.abs(column - np.median(column))
    others = column[away <= away[rows[-1]] / FAR]
    between = len(column) - len(rows) - len(others)
    but = f" but {between:,}" if between else ""
    return f"{name!r} has {cells} far from all others{but} ({others.min():.6g} to {others.max():.6g})"
