"""A few cells that lie so far out that what their column is divided by tells of them alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.scaling import Scaling, told_times
from gnomon.exceptions import DataWarning

__all__ = ["find_wild_cells", "warn_of_wild_cells", "warn_of_wild_columns"]

Ints = npt.NDArray[np.int64]

_FAR = 10.0  # times as far from the median as all others
_TIMES = 3.0  # that the standard deviation is of what it is without them
_FEWEST, _SHARE, _MOST = 3, 0.002, 20  # cells, at most: three, or one of 500 rows up to twenty
_SHARE_OF_FEW = 0.05  # cells of a short column, at most
_GROUP, _SHARE_OF_GROUP = 4, 0.02  # cells that half as many may lie between and the rest, and at most so many rows
_SAME = 1e-4  # relative error of a spread that is the standard deviation or the range
_NAMED = 5  # columns, and cells of each


def find_wild_cells(values: npt.NDArray[Any]) -> Ints:
    """Return the rows of a few cells that make most of the standard deviation of a column; none of most columns.

    They lie ten times as far from the median as all others, and without them the standard deviation is a third or less.
    They are three, or one of 500 rows up to 20. Of a column whose middle half is not constant they may be one of 50
    rows, and if they are four or more, half as many other cells may lie in between: where some cells are in another
    unit, those that were next to the median are not far off.

    Of 22,377 columns of numbers in 2,010 tables of textbooks 54 had such cells, three of them more than one of 500 rows
    or with others in between; of columns of 1,000 values that are exponentials of normal ones one in 100 if the normal
    ones have a standard deviation of 2, none of a deviation of 1.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite numbers.

    Returns
    -------
    ndarray of int64
        From the farthest on.
    """
    n = len(values)
    few = min(max(_FEWEST, int(_SHARE * n)), _MOST, int(_SHARE_OF_FEW * n))
    if few < 1:
        return np.empty(0, dtype=np.int64)
    column = values.astype(np.float64)
    most = max(few, int(_SHARE_OF_GROUP * n))
    away = np.abs(column - np.median(column))
    kept = min(n, most + most // 2 + 1)
    last = np.argpartition(away, n - kept)[n - kept :]
    rows = last[np.argsort(-away[last], kind="stable")]
    farthest, counts = away[rows], np.arange(1, most + 1)
    beyond = np.searchsorted(-farthest, -farthest[:most] / _FAR, side="left")  # cells more than a tenth as far
    apart = (beyond < kept) & (beyond - counts <= np.where(counts >= _GROUP, counts // 2, 0))
    apart[apart] = farthest[beyond[apart]] > 0.0
    if apart.any() and np.subtract(*np.quantile(column, (0.75, 0.25))) <= 0.0:
        apart &= (beyond == counts) & (counts <= few)
    if not apart.any():
        return np.empty(0, dtype=np.int64)
    found = rows[: int(counts[apart][-1])]  # fewer would leave the others a larger deviation
    wild = column.std() >= _TIMES * np.delete(column, found).std()
    return found if wild else np.empty(0, dtype=np.int64)


def warn_of_wild_cells(values: Any, scaling: Scaling | None, names: Sequence[str]) -> None:
    """Warn of columns that are divided by a standard deviation or range that a few cells make; nothing is changed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features), or a sparse matrix, which is passed over
        Finite numbers.
    scaling : Scaling or None
        By which the columns are divided.
    names : sequence of str
        One for each feature.

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
    told, robust = [], scaling.name == "standard"
    for f in np.flatnonzero(by_range | _may_be_wild(farthest, len(values))).tolist():
        column = values[:, f].astype(np.float64)
        deviation, spread = float(column.std()), float(scaling.spread[f])
        if not (by_range[f] or abs(deviation - spread) <= _SAME * spread):
            continue
        rows = find_wild_cells(column)
        if len(rows):
            rest = np.delete(column, rows)
            own = float(np.ptp(rest)) if by_range[f] else float(rest.std())
            what = "range" if by_range[f] else "standard deviation"
            cells = _told(names[f], column, rows, np.arange(len(column)))
            told.append(
                f"{cells}, and is divided by a {what} that is {told_times(spread / own)} times as large as without"
            )
            robust = robust and _has_quartiles(column)
    if told:
        remedy = "Put NaN in place of cells that are wrong" + (", or pass scale='robust'." if robust else ".")
        warn(f"{_joined(told)}. These columns hardly count in distances. {remedy}", DataWarning)


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
    told, robust = [], True
    for f, name in enumerate(names):
        known = np.flatnonzero(np.isfinite(values[:, f]))
        column = values[known, f].astype(np.float64)
        largest = float(np.abs(column).max(initial=0.0))
        relative = column / largest if largest > 0.0 else column  # squares are in range
        deviation = float(relative.std()) if len(column) else 0.0
        if not (deviation > 0.0 and _may_be_wild(np.abs(relative - relative.mean()).max() / deviation, len(column))):
            continue
        rows = find_wild_cells(relative)
        if len(rows):
            times = told_times(deviation / float(np.delete(relative, rows).std()))
            cells = _told(name, column, rows, known)
            told.append(f"{cells}, and has a standard deviation that is {times} times as large as without")
            robust = robust and _has_quartiles(relative)
    if told:
        remedy = "Put NaN in place of cells that are wrong" + (", or divide by quartiles." if robust else ".")
        warn(
            f"{_joined(told)}. Divided by it these columns hardly count in distances; undivided the cells make nearly "
            f"all distances. {remedy}",
            DataWarning,
        )


def _may_be_wild(deviations: Any, n: int) -> Any:
    """Return whether a few cells can make most of the deviation of n, by how many of it the farthest lies out."""
    return deviations**2 * (_TIMES**2 / (_TIMES**2 - 1.0) * max(_MOST, _SHARE_OF_GROUP * n)) >= n


def _has_quartiles(column: npt.NDArray[np.float64]) -> bool:
    return bool(np.subtract(*np.quantile(column, (0.75, 0.25))) > 0.0)


def _joined(told: Sequence[str]) -> str:
    more = f"; so have {len(told) - _NAMED:,} more columns" if len(told) > _NAMED else ""
    return f"{'; '.join(told[:_NAMED])}{more}"


def _told(name: str, column: npt.NDArray[np.float64], rows: Ints, known: npt.NDArray[np.intp]) -> str:
    """Say which cells lie far out; `known` are the rows of the table that the values of the column are of."""
    cells = [f"{column[i]:.6g} (row {known[i]})" for i in rows[:_NAMED]]
    more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
    away = np.abs(column - np.median(column))
    others = column[away <= away[rows[-1]] / _FAR]
    between = len(column) - len(rows) - len(others)
    but = f" but {between:,}" if between else ""
    return f"{name!r} has {', '.join(cells)}{more} far from all others{but} ({others.min():.6g} to {others.max():.6g})"
