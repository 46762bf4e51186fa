"""Codes that stand beside the scale of many columns, such as the -9 of those who did not answer items from 1 to 5."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BatteryCode", "fewest_coded", "find_battery_codes"]

_CODES = frozenset({*range(-9, 0), 7, 8, 9})  # of one digit; larger ones lie far from the levels of any column
_FEWEST, _SHARE = 3, 0.002  # rows of a column that have the code, and share of all
_FEWEST_COLUMNS = 4  # that have it and share a scale
_FEWEST_LEVELS, _MOST_LEVELS = 3, 11
_FIRST = 100  # rows by which most columns are seen to be no items
_FEWEST_CELLS = 20  # that have the code
_THROUGH = 0.5  # of the columns: others that use a level between the scale and the code
_FEWEST_NEXT = 5.0  # cells that would have the next level of falling counts
_NEAR, _FEWEST_NEAR = 2, 50  # steps from the end of a scale at which many cells must have the code, and many that end


@dataclass(frozen=True)
class BatteryCode:
    """A value that many columns of one scale share and that is none of its levels.

    Attributes
    ----------
    code : int
    low, high : int
        Ends of the scale.
    columns : tuple of int
        Numbers of the columns that have it.
    n_cells : int
        How often they do.
    """

    code: int
    low: int
    high: int
    columns: tuple[int, ...]
    n_cells: int


@dataclass(frozen=True)
class _Item:
    """A column: how many rows have each of its values, the ends of its levels, and what lies apart from them."""

    counts: dict[int, int]
    low: int
    high: int
    apart: tuple[int, ...]


def fewest_coded(n: int) -> float:
    """Return how many of n rows have a value at least that may stand for a missing one."""
    return max(_FEWEST, _SHARE * n)


def find_battery_codes(values: npt.NDArray[Any]) -> list[BatteryCode]:
    """Find values of one digit, -9 to -1 and 7 to 9, apart from the scale that columns share.

    A scale is of 3 to 11 consecutive whole numbers, each in some of its columns. At least four columns of one scale
    have the code, each in three rows and one in 500; a level lies between it and the scale that is empty in all of
    them, and is not used in half as many others that begin at the same level. Where only one level is empty, 50 cells
    at least have the code, and 50 that end of the scale: a level between two that are used as often would be used.
    Where numbers are the rarer the larger they are, as counts are, a code above them is one only if what they lead to
    would be there. So a code beside the scale, such as 6 behind 1 to 5, is not found, nor -1 before 0 to 10.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        NaN where a value is missing.

    Returns
    -------
    list of BatteryCode
        By code, the first scale first.
    """
    ends = np.fmin.reduce(values, axis=0, initial=np.inf), np.fmax.reduce(values, axis=0, initial=-np.inf)
    items = _items(values, *ends)
    found = []
    for code in sorted(_CODES):
        coded = {f: item for f, item in items.items() if code in item.apart}
        while len(coded) >= _FEWEST_COLUMNS:
            (low, high), _ = Counter((item.low, item.high) for item in coded.values()).most_common(1)[0]
            own = {f: item for f, item in coded.items() if low <= item.low and item.high <= high}
            coded = {f: item for f, item in coded.items() if f not in own}
            one = _judge(code, low, high, own)
            if one is not None and _through(one, *ends) <= _THROUGH * len(own):
                found.append(one)
    return found


def _judge(code: int, low: int, high: int, items: dict[int, _Item]) -> BatteryCode | None:
    """Return the code of columns that share a scale, or None if it may be a level of it."""
    counts: Counter[int] = Counter()
    for item in items.values():
        counts.update(item.counts)
    levels = [counts[level] for level in range(low, high + 1)]
    at_end = levels[-1] if code > high else levels[0]
    is_near = abs(code - (high if code > high else low)) == _NEAR
    if (
        len(items) < _FEWEST_COLUMNS
        or counts[code] < _FEWEST_CELLS
        or min(levels) == 0
        or (is_near and min(counts[code], at_end) < _FEWEST_NEAR)
        or (code > high and _would_go_on(levels) < _FEWEST_NEXT)
    ):
        return None
    return BatteryCode(code, low, high, tuple(items), counts[code])


def _would_go_on(levels: list[int]) -> float:
    """Return how often the next level would be used, of levels that are the rarer the higher; inf of others."""
    falls = all(lower >= upper for lower, upper in itertools.pairwise(levels))
    return levels[-1] ** 2 / levels[-2] if falls else np.inf


def _through(found: BatteryCode, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> int:
    """Return how many other columns use levels between the scale and the code."""
    if found.code > found.high:
        used = (low == found.low) & (high > found.high) & (high <= found.code)
    else:
        used = (high == found.high) & (low < found.low) & (low >= found.code)
    used[[*found.columns]] = False
    return int(np.count_nonzero(used))


def _items(values: npt.NDArray[Any], low: npt.NDArray[Any], high: npt.NDArray[Any]) -> dict[int, _Item]:
    """Return the columns that may be answers on a scale, with codes beside it, by their numbers."""
    may = np.flatnonzero((low >= min(_CODES)) & (high <= max(_MOST_LEVELS, *_CODES)))
    may = may[np.isin(low[may], (*_CODES,)) | np.isin(high[may], (*_CODES,))]  # a code is one end of all values
    if len(may) < _FEWEST_COLUMNS:
        return {}
    first = values[:_FIRST, may]
    may = may[((first == np.floor(first)) | np.isnan(first)).all(axis=0)]
    if len(may) < _FEWEST_COLUMNS:
        return {}
    items = {}
    for f in may.tolist():
        different, counts = np.unique(values[:, f], return_counts=True)
        known = np.isfinite(different)
        if known.sum() <= _MOST_LEVELS + len(_CODES) and (different[known] == np.floor(different[known])).all():
            pairs = zip(different[known].astype(int).tolist(), counts[known].tolist(), strict=True)
            item = _item(dict(pairs), fewest_coded(len(values)))
            if item is not None:
                items[f] = item
    return items


def _item(counts: dict[int, int], fewest: float) -> _Item | None:
    """Part the values of a column into levels and codes apart from them; None where there are none of either."""
    runs: list[list[int]] = []
    for value in sorted(counts):
        # Between levels one may be unused in this column; between a level and a code one is.
        near = runs and value - runs[-1][-1] <= (1 if value in _CODES or runs[-1][-1] in _CODES else 2)
        if near:
            runs[-1].append(value)
        else:
            runs.append([value])
    levels = max(runs, key=lambda run: (len(run), sum(counts[value] for value in run)))
    apart = [value for run in runs if run is not levels for value in run]
    low, high = levels[0], levels[-1]
    if not apart or not {*apart} <= _CODES or not _FEWEST_LEVELS <= high - low + 1 <= _MOST_LEVELS:
        return None
    return _Item(counts, low, high, tuple(value for value in apart if counts[value] >= fewest))
