"""Values that people write for a missing one, such as 999 and 9999-12-31, where they lie far from all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.columns import ColumnRule, features_of
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning

__all__ = ["find_sentinels", "warn_of_sentinels"]

Float64Array = npt.NDArray[np.float64]

_DAY = 86400.0
_FEWEST, _SHARE = 3, 0.002  # rows that have the value, and share of all
_FAR, _FAR_DIGIT, _FAR_DATE = 0.5, 3.0, 0.1  # of the range of all others, from their end
_DIFFERENT = 20  # other values that make a single value below 0 odd
_ENDING = 0.5  # share of prices such as 49 and 199, among which 999 is one more
_NAMED = 5  # columns
_MANY, _SHARING, _OF_ALL = 20, 0.95, 1 / 3  # columns, and values, that have one least value which is not missing
_ODD = 0.5  # columns in which it is odd, if it is missing


def _codes() -> list[float]:
    nines = [float("9" * k) for k in range(1, 11)]
    others = [float(f"{'9' * k}{last}") for k in (1, 2, 3, 4) for last in (7, 8)]
    repeated = [float(str(digit) * k) for digit in (7, 8) for k in (2, 3, 4)]
    decimals = [99.9, 999.9, 9999.9, 99.99, 999.99, 9999.99]
    sizes = [1e20, 1e30, 1e34, 1e35, 1e36, 9.969209968386869e36, 2.0**15 - 1, 2.0**16 - 1, 2.0**31 - 1, 2.0**32 - 1]
    known = [*nines, *others, *repeated, *decimals, *sizes]
    return [*known, *(-value for value in known), -1.0, -7.0, -8.0, -(2.0**15), -(2.0**31), -(2.0**63), 2.0**63]


_CODES = np.array(sorted(set(_codes())))
_DATES = np.sort(
    np.array(
        [
            *("0001-01-01", "1677-09-21", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01"),
            *("1901-01-01", "1904-01-01", "1970-01-01", "2099-12-31", "2100-01-01", "2262-04-11", "2999-12-31"),
            *("3000-01-01", "9999-01-01", "9999-12-31"),
        ],
        dtype="datetime64[D]",
    )
    .astype(np.int64)
    .astype(np.float64)
)


def find_sentinels(values: npt.NDArray[Any]) -> list[float]:
    """Return values of a column of numbers that may stand for a missing one.

    They are what people and programs write for it, such as -1, 99, -999, 9999.9 and the bounds of integers; at least
    three rows and one in 500 have them; and they lie beyond all others by more than half of their range (numbers of one
    digit by three times it), or are the only ones below 0 of more than 20 different values. Among prices, of which half
    end with 9, 99 and 999 are none.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite numbers.

    Returns
    -------
    list of float
        Ascending.
    """
    different, counts = np.unique(values, return_counts=True)
    codes = np.isin(different, _CODES.astype(values.dtype)) & (counts >= _fewest(len(values)))
    rest = different[~codes].astype(np.float64)
    if not codes.any() or len(rest) < 2:
        return []
    low, high = float(rest[0]), float(rest[-1])
    whole = bool((rest == np.floor(rest)).all())
    priced = bool(np.mean(np.floor(np.abs(rest)) % 10 == 9) >= _ENDING)

    def odd(value: float) -> bool:
        gap = max(value - high, low - value)
        if value < 0.0 <= low and len(rest) >= _DIFFERENT and not (whole and gap <= 1.0):
            return True
        return gap > (_FAR if abs(value) >= 10.0 else _FAR_DIGIT) * (high - low) and not (priced and value > 0.0)

    return [value for value in different[codes].astype(np.float64).tolist() if odd(value)]


def _find_dates(days: Float64Array) -> list[float]:
    """Return days since 1970 that may stand for a missing date, of whole days."""
    different, counts = np.unique(days, return_counts=True)
    codes = np.isin(different, _DATES) & (counts >= _fewest(len(days)))
    rest = different[~codes]
    if not codes.any() or len(rest) < 2:
        return []
    beyond = np.maximum(different - rest[-1], rest[0] - different)
    far = beyond > max(366.0, _FAR_DATE * float(rest[-1] - rest[0]))
    return [float(day) for day in different[codes & far]]


def _fewest(n: int) -> float:
    return max(_FEWEST, _SHARE * n)


def warn_of_sentinels(
    values: npt.NDArray[Any],
    names: Sequence[str] | None = None,
    columns: Sequence[ColumnRule] | None = None,
    *,
    of_cells: bool = False,
) -> None:
    """Warn of values that may stand for missing ones; nothing is changed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Finite numbers.
    names : sequence of str or None
        One for each feature.
    columns : sequence of ColumnRule or None
        What became of the columns of the table; None if all were numbers.
    of_cells : bool, default=False
        Whether columns are genes: one least value of nearly all is what 0 became, however odd it is in each.

    Warns
    -----
    DataWarning
        Names the columns, the values, and how many rows have them.
    """
    names = default_names(values.shape[1]) if names is None else names
    dates = {at.start: rule for rule, at in features_of(columns or ()).items() if rule.kind == "date"}
    numbers = {at.start for rule, at in features_of(columns or ()).items() if rule.kind in ("number", "written")}
    codes = _CODES.astype(values.dtype)
    low = values.min(axis=0)
    ends = (np.isin(low, codes) & (low != _floor(values, low, of_cells))) | np.isin(values.max(axis=0), codes)
    told = []
    for f in sorted({*np.flatnonzero(ends).tolist(), *dates}):
        if f in dates:
            told.append(_told_dates(dates[f], values[:, f]))
        elif columns is None or f in numbers:
            told.append(_told(names[f], values[:, f], find_sentinels(values[:, f]), _shown))
    told = [one for one in told if one]
    if told:
        facts = first_few(told, _NAMED, of="column", between="; ", before="; so have")
        remedy = "Such values often stand for missing ones: if these do, put NaN in their place."
        warn(f"{facts}. They are taken as they are. {remedy}", DataWarning)


def _floor(values: npt.NDArray[Any], low: npt.NDArray[Any], of_cells: bool) -> float:
    """Return the least value that nearly all of many columns share and a third of all values are; NaN without one.

    It is what 0 became where logarithms of counts were shifted, and not missing, unless it is odd in half of columns
    that may be of other things than cells.
    """
    least = low.min(initial=np.inf)
    shares = low == least
    if len(low) < _MANY or shares.mean() < _SHARING or np.mean(values == least) < _OF_ALL:
        return float("nan")
    if of_cells:
        return float(least)
    odd = sum(float(least) in find_sentinels(values[:, f]) for f in np.flatnonzero(shares).tolist())
    return float("nan") if odd >= _ODD * np.count_nonzero(shares) else float(least)


def _told_dates(rule: ColumnRule, values: npt.NDArray[Any]) -> str:
    if " since " not in rule.features[0].removeprefix(rule.name):  # a duration
        return ""
    days = np.floor((values.astype(np.float64) * rule.unit + rule.start + 0.5) / _DAY)
    return _told(rule.name, days, _find_dates(days), _day)


def _told(name: str, values: npt.NDArray[Any], found: list[float], show: Callable[[float], str]) -> str:
    """Say which odd values a column has, and how many rows have them; empty without any."""
    if not found:
        return ""
    odd = np.isin(values, np.array(found).astype(values.dtype))
    rest, words = values[~odd], map(show, found)
    n, share = int(odd.sum()), float(odd.mean())
    bounds = f"{show(float(rest.min()))} to {show(float(rest.max()))}"
    return f"{name!r} has {' and '.join(words)} in {n:,} rows ({share:.1%}), far from all others ({bounds})"


def _shown(value: float) -> str:
    return f"{value:.12g}" if abs(value) < 1e12 else f"{value:.4g}"


def _day(day: float) -> str:
    return str(np.datetime64(int(day), "D"))
