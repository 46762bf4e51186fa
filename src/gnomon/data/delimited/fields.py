"""Fields of a text table that are numbers, missing values or codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gnomon.data.written import are_codes

__all__ = ["MISSING_WORDS", "are_filled_codes", "as_numbers", "is_number", "with_point", "with_points"]

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_COMMA_NUMBER = re.compile(r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d*([eE][+-]?\d+)?\s*$")
_COMMA_GROUPS = re.compile(r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$")  # 12.345 where the comma is decimal


def is_number(cell: str) -> bool:
    """Return whether a field is a number, NaN and infinity included; 1_000 is not.

    Parameters
    ----------
    cell : str

    Returns
    -------
    bool
    """
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def as_numbers(cells: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return a column of fields as numbers, NaN where one is missing; None if a field is text.

    Parameters
    ----------
    cells : sequence of str

    Returns
    -------
    ndarray of shape (n_rows,), float64, or None
    """
    if "_" in "".join(cells):
        return None  # Python reads 1_000 as a number
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        pass
    filled = ["nan" if cell.strip().lower() in MISSING_WORDS else cell for cell in cells]
    try:
        return np.fromiter(map(float, filled), np.float64, len(cells))
    except ValueError:
        return None


def with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; other texts as they are.

    Parameters
    ----------
    cell : str

    Returns
    -------
    str
    """
    return cell.replace(".", "").replace(",", ".") if _COMMA_NUMBER.match(cell) else cell


def with_points(cells: Iterable[str]) -> list[str]:
    """Write fields that are numbers with a decimal comma as Python does; others with a point become no numbers.

    Parameters
    ----------
    cells : iterable of str

    Returns
    -------
    list of str
    """
    return [
        cell.replace(".", "").replace(",", ".")
        if _COMMA_NUMBER.match(cell) or _COMMA_GROUPS.match(cell)
        else cell.replace(".", "_")
        for cell in cells
    ]


def are_filled_codes(cells: Iterable[str]) -> bool:
    """Return whether all fields that hold anything are codes filled up with zeros, such as 01001.

    Parameters
    ----------
    cells : iterable of str
        Of one column.

    Returns
    -------
    bool
    """
    return are_codes([cell for cell in cells if cell and not cell.isspace()])
