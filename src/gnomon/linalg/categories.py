"""Columns of a table that are the indicators of one category: each row has exactly one of them.

Where a cell was missing and is filled in, the indicators say how likely each level is: such rows lie between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.linalg.table import dense_rows

__all__ = ["columns_of_parts", "find_categories", "most_likely_levels"]

_TOGETHER = 16  # columns looked at a time
_MANY = 8  # times so many candidates are more than all columns: then the ends of all columns are found in one go
_FIRST = 64  # rows that tell which columns may have two values
_AT_FIRST = 0.5  # of these rows that have one of the two, at least
_CERTAIN = 0.75  # of all rows that have one of the two, at least; the others lie between
_WHOLE = 1e-4  # by which the likelihoods of the levels may miss one, after scaling in single precision


def columns_of_parts(parts: Sequence[Any], columns: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return some columns of all rows of a table that comes in parts."""
    return np.concatenate([dense_rows(rows[:, columns]) for rows in parts])


def most_likely_levels(indicators: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the level of each row of the indicators of a category, the most likely one of a row between levels."""
    found: npt.NDArray[np.intp] = np.argmax(_likelihoods(indicators), axis=1)
    return found


def _likelihoods(indicators: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the indicators of a category as before any scaling, from 0 to 1."""
    low, high = indicators.min(axis=0).astype(np.float64), indicators.max(axis=0).astype(np.float64)
    found: npt.NDArray[np.float64] = (indicators - low) / np.where(high > low, high - low, 1.0)
    return found


def _likely_indicators(
    parts: Sequence[Any],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return columns of nearly two values alone, and in which rows each has the higher one, or one between: by columns.

    Of sparse tables, in which nothing was filled in, no column may have others. No columns where the first rows show
    that none are indicators.
    """
    sparse = any(hasattr(part, "tocsr") for part in parts)
    at_first, certain = (1.0, 1.0) if sparse else (_AT_FIRST, _CERTAIN)
    first = dense_rows(parts[0][:_FIRST])
    of_two = (first == first.min(axis=0)) | (first == first.max(axis=0))
    candidates = np.flatnonzero(of_two.mean(axis=0) >= at_first)
    if not sparse and _MANY * len(candidates) > first.shape[1]:
        low, high = (of([of(part, axis=0) for part in parts], axis=0) for of in (np.min, np.max))
        some = candidates[low[candidates] < high[candidates]]
        sides = (first[:, some] == high[some]).T, ((first[:, some] != high[some]) & (first[:, some] != low[some])).T
        candidates = some if any(_end_of_run(some, *sides, start) for start in range(len(some))) else some[:0]
    none = np.zeros((0, sum(part.shape[0] for part in parts)), dtype=np.bool_)
    columns, higher, within = [candidates[:0]], [none], [none]
    for start in range(0, len(candidates), _TOGETHER):
        some = candidates[start : start + _TOGETHER]
        rows_of = [rows[:, some] for rows in parts]
        table = np.concatenate([rows if isinstance(rows, np.ndarray) else rows.toarray() for rows in rows_of]).T
        low, high = table.min(axis=1), table.max(axis=1)
        varying = np.flatnonzero(low < high)
        some, table = some[varying], table[varying]
        is_high = table == high[varying, None]
        is_between = ~(is_high | (table == low[varying, None]))
        two = is_between.mean(axis=1) <= 1.0 - certain
        columns.append(some[two])
        higher.append(is_high[two])
        within.append(is_between[two])
    return np.concatenate(columns), np.concatenate(higher), np.concatenate(within)


def find_categories(parts: Sequence[Any]) -> list[npt.NDArray[np.intp]]:
    """Return runs of columns of which each row has exactly one high, the indicators of a category.

    A quarter of the rows may lie between the levels instead, where a missing cell was filled in: with likelihoods of
    the levels that sum to one. Many columns of sparse rows are looked at quickly if they lie column by column (CSC).
    """
    candidates, is_high, is_between = _likely_indicators(parts)
    found, start = [], 0
    while start < len(candidates):
        end = _end_of_run(candidates, is_high, is_between, start, parts)
        if end - start > 1:
            found.append(candidates[start:end])
        start = max(end, start + 1)
    return found


def _end_of_run(
    candidates: npt.NDArray[np.intp],
    is_high: npt.NDArray[np.bool_],
    is_between: npt.NDArray[np.bool_],
    start: int,
    parts: Sequence[Any] | None = None,
) -> int:
    """Return where a run of neighbouring columns ends of which each row has one high, or lies between; 0 if nowhere.

    With `parts`, the rows of the table, likelihoods of rows between must sum to one.
    """
    high, between = np.zeros((2, is_high.shape[1]), dtype=np.bool_)  # rows that a column of the run puts there
    for end in range(start, len(candidates)):
        if candidates[end] - candidates[start] != end - start:
            break
        if (is_high[end] & (high | between)).any() or (is_between[end] & high).any():
            break
        high |= is_high[end]
        between |= is_between[end]
        columns = candidates[start : end + 1]
        if (high | between).all() and (parts is None or _sum_to_one(parts, columns, between)):
            return end + 1
    return 0


def _sum_to_one(parts: Sequence[Any], columns: npt.NDArray[np.intp], between: npt.NDArray[np.bool_]) -> bool:
    """Say whether the rows between levels are few and have likelihoods that sum to one."""
    if not between.any():
        return True
    if between.mean() > 1.0 - _CERTAIN or len(columns) < 2:
        return False
    return bool((np.abs(_likelihoods(columns_of_parts(parts, columns)).sum(axis=1) - 1.0) <= _WHOLE).all())
