"""Whether the columns of a table have unlike units, or a few of them make most of its distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.data.column_scales import ColumnScales, column_scales
from gnomon.data.kinds import MOST_NAMED, Spreads, describe_kinds, describe_spreads, may_be_of_kinds
from gnomon.data.wild_cells import without_wild_cells

__all__ = [
    "Unlike",
    "WideColumns",
    "are_uncorrelated",
    "describe_unlike_columns",
    "find_unlike",
    "find_unlike_rows",
    "find_wide_columns",
    "rows_that_decide",
    "spreads_are_known",
    "told_times",
]

Float64Array = npt.NDArray[np.float64]

_ROWS = 10_000  # rows that decide, at most
_FEWEST_ROWS = 10  # fewer say nothing about spreads
_ONE_COLUMN = 30.0  # times that the widest column must spread more than the median of the others
_MANY_COLUMNS = 100.0  # times that a tenth of the columns must spread more than another tenth
_SHARING, _OF_ONE_KIND = 0.95, 1 / 3  # columns with one minimum, and values at it: pixels, words, logarithms of counts
_SHARING_COUNTS, _COUNTS = 0.5, 0.1  # the same of whole numbers from 0
_SHARING_MOST = 0.8  # the same where no column makes most distances
_UNCORRELATED = 1e-4  # principal components
_WIDE, _FEW = 5.0, 0.1  # times that wide columns spread more than the median, and share of the columns that they are
_WIDEST = 50  # columns that are looked at for it, and for wild cells
_CHANCE = 8.0  # standard errors of a correlation that some rows would show of columns without any


class Unlike(NamedTuple):
    """What tells that columns have unlike units.

    Attributes
    ----------
    ruling : str
        Which columns make nearly all distances, a clause without a full stop; empty if none do.
    kinds : str
        Which columns are of different kinds and spread unlike; empty if none are, or if some columns rule.
    spreads : str
        Which columns spread unlike, of a table of which more is not known; empty if none do.
    """

    ruling: str = ""
    kinds: str = ""
    spreads: str = ""


def describe_unlike_columns(X: Any, names: list[str]) -> str:
    """Say which columns have other units than others, as `find_unlike` finds them; empty if none have."""
    found = find_unlike(X, names)
    return found.ruling or found.kinds


def find_unlike(X: Any, names: list[str]) -> Unlike:
    """Say which columns spread so much more than others that they must have other units.

    Three findings count, from at most 10,000 rows and without constant columns. One: one or two columns make more
    than half of the squared distances, and the widest spreads more than 30 times as much as the median of the
    others. Many: a tenth of the columns spread more than 100 times as much as another tenth. Kinds, in a table of at
    most 50 columns with names: a column spreads more than 5 times as much as another, by deviation, range and middle
    half, and is of another kind of quantity, see `describe_kinds`.

    Values of one kind never count, because their spreads mean something: a sparse table; whole numbers of which a tenth
    are 0, in half of the columns at least; columns with one minimum that a third of their values share, such as pixels,
    words and logarithms of counts, columns of two values left out; and columns without correlation, such as principal
    components. For kinds a minimum of four fifths of the columns that a tenth of the values share is enough, and names
    may tell that columns are of one kind: `may_be_of_kinds`.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    names : list of str
        One name for each column.

    Returns
    -------
    Unlike
    """
    if hasattr(X, "tocsr"):
        return Unlike()
    return find_unlike_rows(np.asarray(X[rows_that_decide(len(X))]), names, lambda some: _uncorrelated(X[:, some]))


def rows_that_decide(n_samples: int) -> slice:
    """Return which rows of a table decide whether its columns have unlike units: 10,000 at most."""
    return slice(0, n_samples, max(1, -(-n_samples // _ROWS)))


def find_unlike_rows(
    rows: npt.NDArray[Any], names: list[str], uncorrelated: Callable[[npt.NDArray[np.intp]], bool]
) -> Unlike:
    """Say of some rows what `find_unlike` says of a table.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Those of `rows_that_decide`.
    names : list of str
    uncorrelated : callable
        Takes numbers of columns, 50 at most, to whether all rows of the table have no correlation between them.
    """
    if len(rows) < _FEWEST_ROWS:
        return Unlike()
    rows, scales = _without_wild_cells(rows)
    varying, order = _varying(scales)
    if len(varying) < 2:
        return Unlike()
    spreads = scales.deviation[order]
    clause = _one_column(spreads, order, names) or _many_columns(spreads, order, names)
    if clause:
        of_one_kind = _of_one_kind(rows[:, varying]) or uncorrelated(order[:_WIDEST])
        return Unlike() if of_one_kind else Unlike(ruling=clause)
    named = [names[f] for f in varying]
    values = rows if len(varying) == rows.shape[1] else rows[:, varying]
    measured = _measured_spreads(values, scales, varying)
    told = describe_spreads(measured, named)
    if not told or _shares_minimum(values, _SHARING_MOST, _COUNTS) or _of_one_kind(values):
        return Unlike()
    if _may_be_uncorrelated(rows[:, order[:_WIDEST]]) and uncorrelated(order[:_WIDEST]):
        return Unlike()
    return Unlike(kinds=describe_kinds(values, measured, named) if may_be_of_kinds(names) else "", spreads=told)


class WideColumns(NamedTuple):
    """A few columns that make most of the squared distances of a table.

    Attributes
    ----------
    columns : ndarray of intp
        The widest first.
    share : float in (0.5, 1]
        Of the squared distances.
    """

    columns: npt.NDArray[np.intp]
    share: float


def find_wide_columns(X: Any) -> WideColumns | None:
    """Return a few columns that spread much more than others, of a table in which spreads need not mean something.

    They spread more than 5 times as much as the median column, are a tenth of the columns at most, and make more than
    half of the squared distances. None are found in tables of one kind, as `find_unlike` tells them.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)

    Returns
    -------
    WideColumns or None
    """
    if hasattr(X, "tocsr") or len(X) < _FEWEST_ROWS:
        return None
    rows, scales = _without_wild_cells(np.asarray(X[rows_that_decide(len(X))]))
    varying, order = _varying(scales)
    if len(varying) < 2:
        return None
    spreads = scales.deviation[order]
    squares = (spreads / spreads[0]) ** 2
    n_wide = int(np.count_nonzero(spreads > _WIDE * np.median(spreads)))
    share = float(squares[:n_wide].sum() / squares.sum())
    if not 0 < n_wide <= _FEW * len(order) or share <= 0.5:
        return None
    if _are_of_one_kind(X, rows, varying, order):
        return None
    return WideColumns(order[:n_wide], share)


def spreads_are_known(X: Any) -> bool:
    """Say whether spreads of columns mean something for all that is known of the values, see `find_unlike`.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    """
    if hasattr(X, "tocsr"):
        return True
    rows = np.asarray(X[rows_that_decide(len(X))])
    varying, order = _varying(column_scales(rows))
    return len(varying) < 2 or _are_of_one_kind(X, rows, varying, order)


def _are_of_one_kind(
    X: Any, rows: npt.NDArray[Any], varying: npt.NDArray[np.intp], order: npt.NDArray[np.intp]
) -> bool:
    return _of_one_kind(rows[:, varying]) or _uncorrelated(X[:, order[:_WIDEST]])


def _without_wild_cells(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ColumnScales]:
    """Return rows whose wild cells lie in the middle of their column, and what their columns range over."""
    scales = column_scales(rows)
    widest = np.argsort(-scales.deviation, kind="stable")[:_WIDEST]  # of more columns only these may rule
    farthest = np.zeros(len(scales.deviation))
    farthest[widest] = scales.farthest[widest]
    judged = without_wild_cells(rows, farthest)
    return (rows, scales) if judged is rows else (judged, column_scales(judged))


def _varying(scales: ColumnScales) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the columns that are not constant, in their order and the widest first."""
    varying = np.flatnonzero(scales.deviation > 0)
    return varying, varying[np.argsort(-scales.deviation[varying], kind="stable")]


def _measured_spreads(rows: npt.NDArray[Any], scales: ColumnScales, varying: npt.NDArray[np.intp]) -> Spreads:
    """Return the spreads of columns that vary."""
    low, high = scales.low[varying], scales.high[varying]
    two_values = ((rows == low) | (rows == high)).all(axis=0)
    deviation = np.where(two_values, (high - low) / 2.0, scales.deviation[varying])
    middle = None
    if len(varying) <= MOST_NAMED:
        quarters = np.quantile(rows, (0.25, 0.75), axis=0)
        middle = quarters[1] - quarters[0]
    return Spreads(deviation, high - low, middle)


def _one_column(spreads: Float64Array, order: npt.NDArray[np.intp], names: list[str]) -> str:
    """Say it if one or two columns make more than half of the squared distances; `spreads` fall."""
    count = 2 if len(spreads) > 3 and spreads[1] > _ONE_COLUMN * np.median(spreads[2:]) else 1
    squares = (spreads / spreads[0]) ** 2
    share = float(squares[:count].sum() / squares.sum())
    ratio = float(spreads[0] / np.median(spreads[count:]))
    if share <= 0.5 or ratio <= _ONE_COLUMN:
        return ""
    times = told_times(ratio)
    first, *second = (repr(names[f]) for f in order[:count])
    made = f"{first} and {second[0]} make" if second else f"{first} makes"
    return (
        f"{made} {share:.1%} of the squared distances and {f'{first} ' if second else ''}spreads {times} times as much "
        "as the median of the others"
    )


def _many_columns(spreads: Float64Array, order: npt.NDArray[np.intp], names: list[str]) -> str:
    low, high = np.quantile(spreads, (0.1, 0.9))
    if not high > _MANY_COLUMNS * low:
        return ""
    times = told_times(high / low)
    return (
        f"a tenth of the columns, such as {names[order[0]]!r}, spread more than {times} times as much as another "
        f"tenth, such as {names[order[-1]]!r}"
    )


def told_times(ratio: float) -> str:
    """Return a ratio in a few characters."""
    return f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.2g}"


def _of_one_kind(rows: npt.NDArray[Any]) -> bool:
    low, high = rows.min(axis=0), rows.max(axis=0)
    several = ~((rows == low) | (rows == high)).all(axis=0)
    if not several.any():
        return True
    rows = rows[:, several]
    if low[several].min() == 0 and (rows == np.floor(rows)).all():
        return _shares_minimum(rows, _SHARING_COUNTS, _COUNTS)
    return _shares_minimum(rows, _SHARING, _OF_ONE_KIND)


def _shares_minimum(rows: npt.NDArray[Any], columns: float, values: float) -> bool:
    """Return whether so many columns have the least value of all, and so many values are this."""
    low = rows.min(axis=0)
    least = low.min()
    return float(np.mean(low == least)) >= columns and float(np.mean(rows == least)) >= values


def _may_be_uncorrelated(rows: npt.NDArray[Any]) -> bool:
    """Return whether rows have as little correlation as some rows of a table without any."""
    with np.errstate(invalid="ignore"):
        correlations = np.corrcoef(np.asarray(rows, dtype=np.float64), rowvar=False)
    return _largest(correlations) < _CHANCE / float(np.sqrt(len(rows)))


def _uncorrelated(rows: npt.NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        return are_uncorrelated(np.corrcoef(np.asarray(rows, dtype=np.float64), rowvar=False))


def are_uncorrelated(correlations: Any) -> bool:
    """Say whether correlations, (n_features, n_features), are those of principal components."""
    return _largest(correlations) < _UNCORRELATED


def _largest(correlations: Any) -> float:
    """Return the largest correlation of two columns, either sign."""
    found = np.atleast_2d(correlations)
    return float(np.abs(found - np.diag(np.diag(found))).max())
