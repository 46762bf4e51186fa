"""Columns of which some rows are in another unit, such as glucose in mg/dl and mmol/l, or a decimal point away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon._validation import warn
from gnomon.data.columns import ColumnRule, features_of
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.data.wild_cells import find_wild_cells
from gnomon.exceptions import DataWarning

__all__ = ["MixedUnits", "find_mixed_units", "find_slips", "warn_of_mixed_units"]

Float64Array = npt.NDArray[np.float64]

_FACTORS = (
    (1.609344, "kilometres and miles"),
    (2.204623, "pounds and kilograms"),
    (2.54, "centimetres and inches"),
    (3.28084, "feet and metres"),
    (10.0, "units of which one is 10 of the other"),
    (18.0156, "mg/dl and mmol/l of glucose"),
    (38.67, "mg/dl and mmol/l of cholesterol"),
    (88.42, "umol/l and mg/dl of creatinine"),
    (100.0, "units of which one is 100 of the other"),
    (1000.0, "units of which one is 1000 of the other"),
)
_FAHRENHEIT = "degrees Fahrenheit and Celsius"
_FEWEST, _SHARE = 20, 0.02  # rows of the smaller part; fewer are cells far out
_DIFFERENT = 15  # values of each part: what is measured, not levels of a scale, prices and codes
_BETWEEN = 0.005  # of the rows that may lie in the middle third between the parts
_ERRORS, _FLOOR, _WIDEST = 3.0, 0.01, 0.08  # of the logarithm of the ratio: standard errors, and the interval's half
_CHANCE_SPREAD, _FLOOR_SPREAD, _WIDEST_SPREAD = 2.6, 0.05, 0.5  # the same of the logarithm of the ratio of spreads
_CHANCE, _ALIKE = 1.63, 0.1  # largest difference of the distributions: of one in a hundred pairs, and let pass anyway
_DECIMALS = 9  # of logarithms, so that ties stay ties
_FIRST, _FIRST_BETWEEN = 256, 0.1  # rows by which most columns are seen not to be parted
_GOLDEN = (5.0**0.5 - 1.0) / 2.0
_NARROW, _MOST_SLIPS = 10.0**0.5, 0.05  # ratio of largest to least of a column with slips, and share of these
_BEYOND = 1.5  # times the range of the others, in logarithms, that slips lie beyond these
_SLIPS = (10.0, 100.0, 1000.0)
_NAMED = 5


class MixedUnits(NamedTuple):
    """Two parts of a column that are one another's values in another unit.

    Attributes
    ----------
    share : float
        Of the rows that are in the part of the larger values.
    low, high : float
        Medians of the parts.
    units : str
        What they may be.
    factor : float
        Known ratio of the units; NaN for degrees Fahrenheit and Celsius.
    boundary : float
        Between the parts.
    """

    share: float
    low: float
    high: float
    units: str
    factor: float
    boundary: float


def find_mixed_units(values: npt.NDArray[Any]) -> MixedUnits | None:
    """Return the two parts of a column of positive numbers that may be in two units; None without.

    The parts are those of least variance of the logarithms, of 20 rows and one in 50 and 15 different values at least,
    with next to nothing in the middle third between them. The difference of the means of their logarithms is that of a
    known factor within three standard errors, which tell it to 8 % or less, and their distributions are the same once
    one is multiplied by it: their standard deviations within what is seen in one of a hundred pairs by chance, and the
    statistic of Kolmogorov and Smirnov, up to a tenth in any case. Fahrenheit and Celsius are compared in degrees.

    Of 33,189 columns of numbers in 2,293 tables of textbooks one had such parts, of 62 rows. Of 1,000 columns of
    two lognormal groups of any ratio, 11 of 100 rows, 10 of 400 and one of 2,000.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite numbers.

    Returns
    -------
    MixedUnits or None
    """
    n = len(values)
    fewest = max(_FEWEST, int(np.ceil(_SHARE * n)))
    if n < 2 * fewest or not values.min() > 0.0:
        return None
    ordered = np.sort(values.astype(np.float64))
    logs = log(ordered)
    k = _parted(logs[None, :], fewest)[0]
    if not fewest <= k <= n - fewest or _between(logs[None, :], np.array([k]))[0] > _BETWEEN:
        return None
    low, high = ordered[:k], ordered[k:]
    if min(len(np.unique(low)), len(np.unique(high))) < _DIFFERENT:
        return None
    told = (len(high) / n, float(np.median(low)), float(np.median(high)))
    boundary = float(np.sqrt(low[-1]) * np.sqrt(high[0]))
    for factor, units in _FACTORS:
        if _are_one(logs[:k] + float(log(factor)), logs[k:]):
            return MixedUnits(*told, units, factor, boundary)
    celsius = (high - 32.0) / 1.8
    if celsius[0] > 0.0 and _are_one(logs[:k], log(celsius)):
        return MixedUnits(*told, _FAHRENHEIT, float("nan"), boundary)
    return None


def find_slips(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the rows of a few cells that are the others' values a decimal point away, such as 17.5 among 150 to 200.

    The others are positive, of 15 different values at least, and range so little that in logarithms the cells lie one
    and a half times as far from all of them, and are ten, a hundred or a thousand times as much or as little as some
    value between them. They are fewer than parts of a column in two units, and one in 20 at most. What
    `find_wild_cells` finds is neither. Four of 33,189 columns of textbooks had some.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite numbers.

    Returns
    -------
    ndarray of int
        Ascending.
    """
    none = np.empty(0, dtype=np.intp)
    if not len(values) or not values.min() > 0.0:
        return none
    relative = values / float(values.max())  # squares are in range
    kept = np.setdiff1d(np.arange(len(values)), find_wild_cells(relative))
    column = relative[kept].astype(np.float64)
    middle = float(np.median(column))
    is_out = (column * _NARROW < middle) | (column > middle * _NARROW)
    n_out, n = int(is_out.sum()), len(column)
    if not 0 < n_out <= _MOST_SLIPS * n or n_out >= max(_FEWEST, _SHARE * n):
        return none
    out, rest = column[is_out], column[~is_out]
    low, high = float(rest.min()), float(rest.max())
    if high > _NARROW * low or len(np.unique(rest)) < _DIFFERENT:
        return none
    moved = out[:, None] * np.array([*_SLIPS, *(1.0 / one for one in _SLIPS)])
    slack = 8.0 * float(np.finfo(values.dtype if values.dtype == np.float32 else np.float64).eps)
    fit = ((moved >= low * (1.0 - slack)) & (moved <= high * (1.0 + slack))).any(axis=1)
    gap = log(np.maximum(low / out, out / high))
    slips: npt.NDArray[np.intp] = kept[is_out]
    return slips if (fit & (gap >= _BEYOND * float(log(high / low)))).all() else none


def warn_of_mixed_units(
    values: npt.NDArray[Any],
    names: Sequence[str] | None = None,
    columns: Sequence[ColumnRule] | None = None,
    filled: npt.NDArray[np.bool_] | None = None,
) -> None:
    """Warn of columns of which some rows seem to be in another unit or a decimal point away; nothing is changed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Numbers, and NaN where a value is missing.
    names : sequence of str or None
        One for each feature.
    columns : sequence of ColumnRule or None
        What became of the columns of the table; None if all were numbers.
    filled : ndarray of bool, of the shape of `values`, default=None
        Cells that were missing and filled in, which are not looked at.

    Warns
    -----
    DataWarning
        Names the columns, the share of the rows, the factor and a remedy.
    """
    names = default_names(values.shape[1]) if names is None else names
    numbers = {at.start for rule, at in features_of(columns or ()).items() if rule.kind in ("number", "written")}
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    looked_at = (low > 0.0) & (high / _FACTORS[0][0] > low)
    if columns is not None:
        looked_at &= np.isin(np.arange(len(low)), [*numbers])
    mixed, slips, first = [], [], None
    rows = _some_rows(len(values))
    some = values[rows] if filled is None else np.where(filled[rows], np.nan, values[rows])
    parted, narrow = _may_be_parted_or_narrow(some, np.flatnonzero(looked_at))
    for f in sorted(parted | narrow):
        is_known = np.isfinite(values[:, f]) if filled is None else ~filled[:, f]
        known = np.flatnonzero(is_known)
        column = values[known, f]
        if f in parted and (found := find_mixed_units(column)):
            mixed.append(_told(names[f], found))
            first = first or (names[f], found)
        elif len(rows := find_slips(column)):
            slips.append(_told_slips(names[f], column, rows, known))
    if first:
        facts = first_few(mixed, _NAMED, of="column", between="; ", before="; so have")
        warn(f"{facts}. Clusters may then be units. Nothing is changed: {_remedy(*first)}", DataWarning)
    if slips:
        facts = first_few(slips, _NAMED, of="column", between="; ", before="; so have")
        warn(
            f"{facts}. They are taken as they are. If a decimal point is wrong in them, mend it or put NaN.",
            DataWarning,
        )


def _some_rows(n: int) -> npt.NDArray[np.intp]:
    """Return rows that are spread evenly without a period, in which rows of one unit may come."""
    return np.unique((np.arange(_FIRST) * _GOLDEN % 1.0 * n).astype(np.intp)) if n > _FIRST else np.arange(n)


def _may_be_parted_or_narrow(rows: npt.NDArray[Any], columns: npt.NDArray[np.intp]) -> tuple[set[int], set[int]]:
    """Return which columns of positive numbers may lie in two parts, and which may range over little but for slips.

    Some rows tell; columns that lack a value in them may be either.
    """
    if not len(columns) or len(rows) < 2:
        return set(), set()
    some = rows[:, columns].T.astype(np.float64)
    whole = np.isfinite(some).all(axis=1)
    logs = np.sort(log(some[whole]), axis=1)
    parted, narrow = np.ones((2, len(columns)), dtype=bool)
    parted[whole] = _between(logs, _parted(logs, 1)) <= _FIRST_BETWEEN
    tenth = logs.shape[1] // 10
    narrow[whole] = logs[:, -1 - tenth] - logs[:, tenth] <= float(log(_NARROW))
    return {*columns[parted].tolist()}, {*columns[narrow].tolist()}


def _told(name: str, found: MixedUnits) -> str:
    """Say which parts a column has, and what their ratio is."""
    of = f"{1.0 - found.share:.0%} of the rows and {found.high:.4g} in the others"
    parts = f"{name!r} is around {found.low:.4g} in {of}"
    if np.isnan(found.factor):
        return f"{parts}, as of {found.units}, and varies alike in both"
    ratio = f"{found.high / found.low:.4g} times as much"
    return f"{parts}, {ratio}, as of {found.units} ({found.factor:.5g}), and varies alike in both"


def _told_slips(name: str, column: npt.NDArray[Any], rows: npt.NDArray[np.intp], known: npt.NDArray[np.intp]) -> str:
    """Say which cells are a decimal point away; `known` are the rows of the table that the column's values are of."""
    cells = first_few((f"{column[i]:.6g} (row {known[i]})" for i in rows), _NAMED)
    rest = np.delete(column, rows)
    return f"{name!r} has {cells}, a decimal point away from the others ({rest.min():.6g} to {rest.max():.6g})"


def _remedy(name: str, found: MixedUnits) -> str:
    """Return how the values of a column are brought into one unit."""
    rows = f"X.loc[X[{name!r}] < {found.boundary:.3g}, {name!r}]"
    change = f"= 1.8 * {rows} + 32" if np.isnan(found.factor) else f"*= {found.factor:.5g}"
    return f"if rows are in two units bring them into one, {rows} {change} of a data frame X."


def _parted(logs: Float64Array, fewest: int) -> npt.NDArray[np.intp]:
    """Return where ascending rows of numbers are parted such that the parts have the least variance."""
    n = logs.shape[1]
    away = logs - logs.mean(axis=1, keepdims=True)
    size = np.arange(1, n)
    gained = np.cumsum(away, axis=1)[:, :-1] ** 2 / (size * (n - size))
    inner = slice(fewest - 1, n - fewest)
    found: npt.NDArray[np.intp] = np.argmax(gained[:, inner], axis=1) + fewest
    return found


def _between(logs: Float64Array, k: npt.NDArray[np.intp]) -> Float64Array:
    """Return the share of each row that lies in the middle third between the medians of its parts."""
    n, which = logs.shape[1], np.arange(len(logs))
    low, high = logs[which, k // 2], logs[which, (k + n) // 2]
    third = (high - low)[:, None] / 3.0
    inside = (logs > low[:, None] + third) & (logs < high[:, None] - third)
    share: Float64Array = np.where(high > low, inside.mean(axis=1), 1.0)
    return share


def _are_one(a: Float64Array, b: Float64Array) -> bool:
    """Return whether two ascending samples of logarithms tell their difference narrowly and are of one distribution."""
    error = _ERRORS * float(np.sqrt(a.var() / len(a) + b.var() / len(b)))
    if error > _WIDEST or abs(float(a.mean() - b.mean())) > max(error, _FLOOR):
        return False
    error = _CHANCE_SPREAD * float(np.sqrt(_variance_of_spread(a) + _variance_of_spread(b)))
    if error > _WIDEST_SPREAD or abs(float(log(a.std() / b.std()))) > max(error, _FLOOR_SPREAD):
        return False
    a, b = np.round(a, _DECIMALS), np.round(b, _DECIMALS)
    every = np.concatenate([a, b])
    apart = _below(a, every) - _below(b, every)
    return bool(np.abs(apart).max() <= max(_CHANCE * np.sqrt(1.0 / len(a) + 1.0 / len(b)), _ALIKE))


def _variance_of_spread(sample: Float64Array) -> float:
    """Return the variance of the logarithm of a sample's standard deviation, by its fourth moment."""
    squares = (sample - sample.mean()) ** 2
    return float(squares.var() / squares.mean() ** 2 / (4.0 * len(sample)))


def _below(sample: Float64Array, values: Float64Array) -> Float64Array:
    """Return the share of an ascending sample below values, and half of that at them: steps of rounding even out."""
    twice = np.searchsorted(sample, values, "left") + np.searchsorted(sample, values, "right")
    share: Float64Array = twice / (2.0 * len(sample))
    return share
