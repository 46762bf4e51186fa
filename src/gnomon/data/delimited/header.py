"""Whether the first row of a text table names its columns."""

from __future__ import annotations

import itertools

from gnomon.data.delimited.fields import MISSING_WORDS, is_number, with_point
from gnomon.data.written import with_exponent

__all__ = ["is_header"]

_MANY = 8  # numbers that stand in order by chance once in 20,000 times
_ALIKE = 0.1  # share of the rows that may go up as the numbers of a header do


def is_header(first: list[str], rows: list[list[str]]) -> bool | None:
    """Return whether the first row names the columns; None if it may, and is better read as data.

    Parameters
    ----------
    first : list of str
        The fields of the first row.
    rows : list of list of str
        Those of rows below it.

    Returns
    -------
    bool or None
    """
    if len(rows) and len(first) == len(rows[0]) - 1:
        return True
    first, *rows = ([with_exponent(with_point(cell)) for cell in row] for row in (first, *rows))
    filled = [cell for cell in first if cell.strip()]
    if not any(is_number(cell) for cell in filled):
        return True
    numbers = [float(cell) for cell in filled if is_number(cell)]
    columns = [*zip(first, zip(*rows, strict=False), strict=False)]
    for cell, below in columns:
        named = cell.strip().lower() not in MISSING_WORDS and not is_number(cell)
        if named and all(is_number(other) or other.strip().lower() in MISSING_WORDS for other in below) and rows:
            return True
    # Columns that pandas numbered 0, 1, 2, ... behind a named or nameless index.
    if len(numbers) >= 2 and len(numbers) < len(first) and numbers == list(range(len(numbers))):
        return True
    alike = next((kind for kind in (_are_years, _are_steps, _are_ordered) if kind(numbers)), None)
    others = [(cell, below) for cell, below in columns if not is_number(cell)]
    if not rows or alike is None or any(cell in below for cell, below in others):
        return False
    n_alike = sum(alike([float(cell) for cell in row if is_number(cell)]) for row in rows)
    telling = n_alike <= _ALIKE * len(rows) and (len(numbers) > 2 or _are_years(numbers))
    if not telling:
        return None if others else False
    return True if others or _are_ordered(numbers) else None


def _are_steps(numbers: list[float]) -> bool:
    """Return whether numbers are whole and go up or down by equal steps, as those of months and ages do."""
    if len(numbers) < 2 or not all(number.is_integer() for number in numbers):
        return False
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    return len(steps) == 1 and 0.0 not in steps


def _are_ordered(numbers: list[float]) -> bool:
    """Return whether numbers are many, each larger than the one before, as wavelengths are, or each smaller."""
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    return len(numbers) >= _MANY and (min(steps) > 0.0 or max(steps) < 0.0)


def _are_years(numbers: list[float]) -> bool:
    """Return whether numbers are at least two years, which go up or down."""
    if len(numbers) < 2 or not all(number.is_integer() and 1500 <= number < 2200 for number in numbers):
        return False
    return sorted({*numbers}) in (numbers, numbers[::-1])
