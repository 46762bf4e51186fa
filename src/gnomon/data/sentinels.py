"""Values that people write for a missing one, such as 999 and 9999-12-31, where they lie far from all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.batteries import BatteryCode, fewest_coded, find_battery_codes
from gnomon.data.columns import ColumnRule, features_of
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning

__all__ = ["find_sentinels", "find_uncalled", "warn_of_sentinels"]

Float64Array = npt.NDArray[np.float64]

_DAY = 86400.0
_FAR, _FAR_DIGIT, _FAR_DATE = 0.5, 3.0, 0.1  # of the range of all others, from their end
_DIFFERENT = 20  # other values that make a single value below 0 odd
_ENDING = 0.5  # share of prices such as 49 and 199, among which 999 is one more
_NAMED = 5  # columns
_REMEDY = "Such values often stand for missing ones: if these do, put NaN in their place."
_MANY, _SHARING, _OF_ALL = 20, 0.95, 1 / 3  # columns, and values, that have one least value which is not missing
_ODD = 0.5  # columns in which it is odd, if it is missing
_GENOTYPES = (0.0, 1.0, 2.0)
_UNCALLED = (-1.0, 3.0, 4.0, 5.0)  # codes of a genotype that is not known; 9 lies far enough to be seen in each column
_FEWEST_GENOTYPES, _FEWEST_PEOPLE = 100, 30  # columns and rows from which their sameness can be judged
_MOST_UNCALLED = 0.2  # of all cells
_FOUND_IN = 0.5  # of the columns, at least
_SPREAD_OF_MEANS = 0.1  # standard deviation of the means of columns, from which on an end of a scale goes with them
_GOES_WITH = 0.4  # correlation of the share of the code with the mean of the rest; of a fourth degree it is above 0.8
_ALIKE = 0.5  # spread of the shares of columns, beyond that of chance, of their mean
_TENTH, _IN_TENTH = 0.1, 0.5  # rows, and the share of all such cells that these may hold


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
    codes = np.isin(different, _CODES.astype(values.dtype)) & (counts >= fewest_coded(len(values)))
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
    codes = np.isin(different, _DATES) & (counts >= fewest_coded(len(days)))
    rest = different[~codes]
    if not codes.any() or len(rest) < 2:
        return []
    beyond = np.maximum(different - rest[-1], rest[0] - different)
    far = beyond > max(366.0, _FAR_DATE * float(rest[-1] - rest[0]))
    return [float(day) for day in different[codes & far]]


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
        Finite numbers, and NaN where a value is missing.
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
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)  # NaN is missing
    ends = (np.isin(low, codes) & (low != _floor(values, low, of_cells))) | np.isin(high, codes)
    looked_at = np.arange(values.shape[1]) if columns is None else np.array(sorted(numbers), dtype=np.intp)
    batteries = find_battery_codes(values if len(looked_at) == values.shape[1] else values[:, looked_at])
    shared = {(int(looked_at[f]), float(one.code)) for one in batteries for f in one.columns}
    told = []
    for f in sorted({*np.flatnonzero(ends).tolist(), *dates}):
        if f in dates:
            told.append(_told_dates(dates[f], values[:, f]))
        elif columns is None or f in numbers:
            found = [code for code in find_sentinels(_known(values[:, f])) if (f, code) not in shared]
            told.append(_told(names[f], values[:, f], found, _shown))
    told = [one for one in told if one]
    if uncalled := _told_uncalled(values, looked_at):
        warn(uncalled, DataWarning)
    if batteries:
        facts = "; ".join(
            _told_battery(one, [names[f] for f in looked_at[[*one.columns]]], len(values)) for one in batteries
        )
        warn(f"{facts}. They are taken as they are. {_REMEDY}", DataWarning)
    if told:
        facts = first_few(told, _NAMED, of="column", between="; ", before="; so have")
        warn(f"{facts}. They are taken as they are. {_REMEDY}", DataWarning)


def find_uncalled(values: npt.NDArray[Any]) -> tuple[float, npt.NDArray[np.intp]] | None:
    """Return the code that stands for what is not known in many columns of 0, 1 and 2, and these columns.

    One further value, -1 or 3 to 5, in half of 100 columns and more, and in a fifth of their cells at most. An end of a
    scale, such as a fourth degree of an answer or three copies of an allele, is frequent where the others are high or
    low; what is not known comes as often in all columns, or in certain rows, whatever the mean of the others, which
    differs from column to column.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Finite numbers.

    Returns
    -------
    tuple of float and ndarray of intp, or None
    """
    n = len(values)
    if n < _FEWEST_PEOPLE or values.shape[1] < _FEWEST_GENOTYPES:
        return None
    first = np.isin(values[:_FEWEST_PEOPLE], (*_GENOTYPES, *_UNCALLED)).all(axis=0)
    if first.sum() < _FEWEST_GENOTYPES:
        return None
    low, high = values.min(axis=0), values.max(axis=0)
    some = np.flatnonzero(first & (low >= min(_UNCALLED)) & (high <= max(_UNCALLED)))
    if len(some) < _FEWEST_GENOTYPES:
        return None
    near = values if len(some) == values.shape[1] else values[:, some]
    counts = np.stack([np.count_nonzero(near == value, axis=0) for value in _GENOTYPES])
    left = n - counts.sum(axis=0)
    for code in _UNCALLED if (left > 0).sum() >= _FOUND_IN * _FEWEST_GENOTYPES else ():
        is_code = near == code
        coded = np.count_nonzero(is_code, axis=0)
        ours = (coded == left) & (coded < n)
        if ours.sum() < _FEWEST_GENOTYPES or (coded[ours] > 0).mean() < _FOUND_IN:
            continue
        share, rest = coded[ours] / n, counts[:, ours]
        means = (rest[1] + 2.0 * rest[2]) / rest.sum(axis=0)
        by_row = np.count_nonzero(is_code[:, ours], axis=1)
        if (
            share.mean() <= _MOST_UNCALLED
            and means.std() >= _SPREAD_OF_MEANS
            and not _go_together(share, means)
            and (_are_alike(share, n) or _are_of_few(by_row))
        ):
            return code, some[ours]
    return None


def _go_together(share: Float64Array, means: Float64Array) -> bool:
    """Return whether columns with more of a code have other means; shares that are all equal go with nothing."""
    return bool(share.std() > 0.0 and abs(np.corrcoef(share, means)[0, 1]) > _GOES_WITH)


def _are_alike(share: Float64Array, n: int) -> bool:
    """Return whether shares differ little more than those of n rows that all are drawn from one."""
    mean = share.mean()
    return bool(share.var() - mean * (1.0 - mean) / n <= (_ALIKE * mean) ** 2)


def _are_of_few(by_row: npt.NDArray[np.intp]) -> bool:
    """Return whether a tenth of the rows holds half of what is counted."""
    first = np.sort(by_row)[::-1][: max(1, int(_TENTH * len(by_row)))]
    return bool(first.sum() >= _IN_TENTH * by_row.sum())


def _told_uncalled(values: npt.NDArray[Any], looked_at: npt.NDArray[np.intp]) -> str:
    """Say which code of many columns of 0, 1 and 2 may stand for what is not known; empty without one."""
    found = find_uncalled(values if len(looked_at) == values.shape[1] else values[:, looked_at])
    if found is None:
        return ""
    code, of = found
    is_code = values[:, looked_at[of]] == code
    n, by_row = int(np.count_nonzero(is_code)), np.count_nonzero(is_code, axis=1)
    where = ""
    if _are_of_few(by_row):
        tenth = max(1, int(_TENTH * len(by_row)))
        held = np.sort(by_row)[::-1][:tenth].sum() / n
        where = f", {held:.0%} of them in {tenth:,} of {len(by_row):,} rows"
    return (
        f"{len(of):,} columns of 0, 1 and 2 have {_shown(code)} in {n:,} cells ({n / is_code.size:.1%}){where}, "
        "however rare or frequent 1 and 2 are. They are taken as they are. Such a code often stands for what "
        f"is not known: if this does, put NaN in its place, X = np.where(X == {_shown(code)}, np.nan, X) of an array."
    )


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


def _told_battery(found: BatteryCode, names: Sequence[str], n: int) -> str:
    """Say which code columns of one scale have beside it, and in how many cells."""
    own = first_few([repr(name) for name in names], _NAMED, of="column")
    share = found.n_cells / (n * len(names))
    return (
        f"{len(names):,} columns on a scale from {found.low} to {found.high} ({own}) have {found.code} in "
        f"{found.n_cells:,} cells ({share:.1%}), apart from all levels"
    )


def _told_dates(rule: ColumnRule, values: npt.NDArray[Any]) -> str:
    if " since " not in rule.features[0].removeprefix(rule.name):  # a duration
        return ""
    days = np.floor((values.astype(np.float64) * rule.unit + rule.start + 0.5) / _DAY)
    return _told(rule.name, days, _find_dates(_known(days)), _day)


def _told(name: str, values: npt.NDArray[Any], found: list[float], show: Callable[[float], str]) -> str:
    """Say which odd values a column has, and how many rows have them; empty without any."""
    if not found:
        return ""
    odd = np.isin(values, np.array(found).astype(values.dtype))
    rest, words = _known(values[~odd]), map(show, found)
    n, share = int(odd.sum()), float(odd.mean())
    bounds = f"{show(float(rest.min()))} to {show(float(rest.max()))}"
    return f"{name!r} has {' and '.join(words)} in {n:,} rows ({share:.1%}), far from all others ({bounds})"


def _known(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    known: npt.NDArray[Any] = values[np.isfinite(values)]
    return known


def _shown(value: float) -> str:
    return f"{value:.12g}" if abs(value) < 1e12 else f"{value:.4g}"


def _day(day: float) -> str:
    return str(np.datetime64(int(day), "D"))
