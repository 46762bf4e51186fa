"""Whether the comma of lines with one comma stands within a number, as in 3,14, or between two fields."""

from __future__ import annotations

import itertools
import re

__all__ = ["are_one_number", "maybe_one_number"]

_NUMBER = re.compile(r"\s*[+-]?(?P<whole>\d+|\d{1,3}(?:\.\d{3})+)(?:,(?P<decimals>\d+)(?:[eE][+-]?\d+)?)?\s*")
_NEGATIVE = re.compile(r"\s*-0+,0*[1-9]\d*\s*")  # -0,5: no whole number is -0
_FEWEST = 3  # rows with a comma
_FIRST_DIGITS = 8  # different ones of decimals; months, minutes and most codes begin with fewer


def are_one_number(lines: list[str]) -> bool:
    """Return whether the lines of a table hold one number each, with a decimal comma, as they themselves prove.

    Parameters
    ----------
    lines : list of str
        The first ones of the file.

    Returns
    -------
    bool
    """
    named, rows = _rows(lines)
    if not rows:
        return False
    wholes, decimals = [whole for whole, _ in rows], [part for _, part in rows if part]
    n_whole = sum(not part for _, part in rows[:-1])  # the last row may be cut off
    if any(map(_NEGATIVE.fullmatch, lines)) or (n_whole and named):
        return True
    if n_whole > 1 and not any(part[-1] == "0" for part in decimals):  # zeros at the end are not written: 3, 3,5, 4
        return True
    if _is_index(wholes):
        return False
    if named and (len({*wholes}) < len(wholes) or any(line.lstrip().startswith("-") for line in lines)):
        return True  # names of rows do not come again
    if not any(len(part) > 1 and part[0] == "0" for part in decimals):
        return False
    widths = {*map(len, decimals)}
    if named or len(widths) > 1 or {*wholes} == {"0"}:  # numbers have no zeros in front, and codes are of one length
        return True
    return not n_whole and len({part[0] for part in decimals}) >= _FIRST_DIGITS


def maybe_one_number(lines: list[str]) -> str:
    """Return the first row of a table of two columns of whole numbers, which might be one with decimal commas.

    Parameters
    ----------
    lines : list of str
        The first ones of the file.

    Returns
    -------
    str
        Empty if no row may be one number, or the first column counts the rows.
    """
    _, rows = _rows(lines)
    return "" if not rows or _is_index([whole for whole, _ in rows]) else ",".join(rows[0])


def _rows(lines: list[str]) -> tuple[bool, list[tuple[str, str]]]:
    """Return whether a row names one column, and the digits before and after the comma of the others; none without."""
    filled = [line for line in lines if line.strip()]
    named = bool(filled) and "," not in filled[0] and _NUMBER.fullmatch(filled[0]) is None
    found = [_NUMBER.fullmatch(line) for line in filled[named:]]
    rows = [(match["whole"], match["decimals"] or "") for match in found if match is not None]
    return named, rows if len(rows) == len(found) and sum(bool(part) for _, part in rows) >= _FEWEST else []


def _is_index(wholes: list[str]) -> bool:
    """Return whether whole numbers rise from row to row, as those that count rows do."""
    if any("." in whole for whole in wholes):
        return False
    return all(int(one) < int(other) for one, other in itertools.pairwise(wholes))
