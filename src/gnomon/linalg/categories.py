"""Columns of a table that are the indicators of one category: each row has exactly one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.linalg.table import dense_rows

__all__ = ["columns_of_parts", "find_categories"]

_TOGETHER = 16  # columns looked at a time
_FIRST = 64  # rows that tell which columns may have two values


def columns_of_parts(parts: Sequence[Any], columns: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return some columns of all rows of a table that comes in parts."""
    return np.concatenate([dense_rows(rows[:, columns]) for rows in parts])


def _of_two_values(parts: Sequence[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return the columns that have two values, and in which rows each has the higher one."""
    first = dense_rows(parts[0][:_FIRST])
    candidates = np.flatnonzero(((first == first.min(axis=0)) | (first == first.max(axis=0))).all(axis=0))
    columns, rows = [candidates[:0]], [np.zeros((sum(part.shape[0] for part in parts), 0), dtype=np.bool_)]
    for start in range(0, len(candidates), _TOGETHER):
        some = candidates[start : start + _TOGETHER]
        table = columns_of_parts(parts, some)
        low, high = table.min(axis=0), table.max(axis=0)
        is_high = table == high
        two = (low < high) & (is_high | (table == low)).all(axis=0)
        columns.append(some[two])
        rows.append(is_high[:, two])
    return np.concatenate(columns), np.concatenate(rows, axis=1)


def find_categories(parts: Sequence[Any]) -> list[npt.NDArray[np.intp]]:
    """Return runs of columns of which each row has exactly one high, the indicators of a category."""
    candidates, is_high = _of_two_values(parts)
    found, start = [], 0
    while start < len(candidates):
        count, end, whole = np.zeros(len(is_high), dtype=np.intp), start, False
        while end < len(candidates) and candidates[end] - candidates[start] == end - start and not whole:
            count += is_high[:, end]
            end += 1
            if (count > 1).any():
                break
            whole = bool((count == 1).all())
        if whole and end - start > 1:
            found.append(candidates[start:end])
        start = end if whole else start + 1
    return found
