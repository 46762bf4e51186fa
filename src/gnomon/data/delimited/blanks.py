"""Tables of numbers with blanks between fields, below lines of comments, as programs of science write them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gnomon.data.delimited.fields import MISSING_WORDS, is_number, with_point
from gnomon.data.delimited.lines import open_text
from gnomon.data.delimited.rows import SAMPLE
from gnomon.data.written import with_exponent

__all__ = ["COMMENT_SIGNS", "BlankTable", "find_blank_table", "is_of_science", "open_rows"]

_OF_SCIENCE = (".dat", ".xvg", ".colvar")

_OF_PLUMED = ("colvar", "hills")  # names of files that it writes, without an ending
COMMENT_SIGNS = "#@%!"
"""How lines of comments begin in such tables."""

_MOST_COMMENTS = 10_000  # lines above the data that are looked at
_NUMBERS, _NUMBERS_OF_SCIENCE = 0.9, 0.5  # share of fields that are numbers
_STARS = re.compile(r"\*+")  # where a number is wider than its field
_PARTED = re.compile(r'[;|"]')  # which other tables have
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
_SPACED_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?: \d{3})*")
_FEWEST_OF_COMMAS = 3  # rows
_GLUED = re.compile(r"[+-]?\d*\.\d+(?:-\d*\.\d+)+")  # numbers that fill their fields, with the next below 0
_BEFORE_MINUS = re.compile(r"(?<=\d)(?=-)")
_FIELDS = re.compile(r"#!\s*FIELDS\s+(.+)")
_LEGEND = re.compile(r'@\s*s(\d+)\s+legend\s+"(.*)"')
_AXIS = re.compile(r'@\s*xaxis\s+label\s+"(.*)"')


class BlankTable(NamedTuple):
    """A table with blanks between fields.

    Attributes
    ----------
    names : list of str or None
        Of the columns, from comments or the row above the data.
    rows : list of list of str
        Fields of the first rows of data.
    header : bool
        Whether the names are a row of the table, not a comment.
    told : str
        What was decided.
    comma : bool
        Whether the decimal sign of its numbers is a comma.
    """

    names: list[str] | None
    rows: list[list[str]]
    header: bool
    told: str
    comma: bool


def is_of_science(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is called as tables with blanks between fields are: .dat, .xvg, COLVAR."""
    name = os.path.basename(os.fspath(path)).lower()
    return name.removesuffix(".gz").endswith(_OF_SCIENCE) or name.startswith(_OF_PLUMED)


def find_blank_table(path: str, encoding: str) -> BlankTable | None:
    """Look for a table of numbers with blanks between fields; None if the first lines of a file are none.

    Their decimal sign may be a comma. The last line may have fewer fields, as of a file that was cut off.

    Parameters
    ----------
    path : str
    encoding : str

    Returns
    -------
    BlankTable or None
    """
    comments: list[str] = []
    lines: list[str] = []
    with open_text(path, encoding) as file:
        for line in file:
            kept = line.strip()
            if kept.startswith(tuple(COMMENT_SIGNS)):
                comments.append(kept)
            elif kept:
                lines.append(kept)
            if len(lines) == 4 * SAMPLE or len(comments) > _MOST_COMMENTS:
                break
    comma = any("," in line for line in lines)
    if not lines or any(map(_PARTED.search, lines)) or (comma and not _have_decimal_commas(lines)):
        return None
    fields = [_fields(line) for line in lines]
    if comma:
        fields = [[with_point(cell) for cell in row] for row in fields]
    if len(fields) > _FEWEST_OF_COMMAS and len(fields[-1]) < len(fields[-2]):
        del fields[-1], lines[-1]  # which is told when it is read
    first, rows = fields[0], fields[1:] or fields
    width = len(rows[-1])
    header = len(fields) > 1 and len(first) in (width, width - 1) and not any(map(_is_value, first))
    rows = rows if header else fields
    if comma and (width == 1 or len(rows) < _FEWEST_OF_COMMAS):
        return None
    least = _NUMBERS_OF_SCIENCE if is_of_science(path) else _NUMBERS
    if any(len(row) != width for row in rows) or _share_of_numbers(rows) < least:
        return None
    if width == 1 and not (comments or is_of_science(path)):
        return None
    names = [""] * (width - len(first)) + first if header else _names_of(comments, width)
    told = "blanks part the fields"
    if comments:
        begins = " or ".join(dict.fromkeys(line[0] for line in comments))
        told += f"; lines that begin with {begins} are comments"
        told += ", which name the columns" if names and not header else ""
    return BlankTable(names, rows, header, told, comma)


def _have_decimal_commas(lines: list[str]) -> bool:
    """Return whether all commas of lines are decimal signs of numbers with blanks between, and no number has a point.

    Not where they may all stand between thousands, or part numbers with blanks between their thousands.
    """
    cells = [cell for line in lines for cell in line.split() if "," in cell]
    if any("." in line or "\t" in line for line in lines) or not all(map(_COMMA_NUMBER.fullmatch, cells)):
        return False
    parted = [part.strip() for line in lines for part in line.split(",")]
    return not (all(map(_COMMA_THOUSANDS.fullmatch, cells)) or all(map(_SPACED_THOUSANDS.fullmatch, parted)))


@contextmanager
def open_rows(path: str | os.PathLike[str], encoding: str, *, blanks: int = 0) -> Iterator[Iterator[str]]:
    """Open the lines of a text table as `open_text` does, those of a table with blanks with one between fields.

    Parameters
    ----------
    path : str or path-like
    encoding : str
    blanks : int, default=0
        Fields of a row of a table with blanks; 0 of any other, whose lines stay as they are.

    Yields
    ------
    iterator of str
        Lines, empty in place of comments, so that they keep their numbers.
    """
    with open_text(path, encoding) as file:
        yield _with_single_blanks(file, blanks) if blanks else file


def _with_single_blanks(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        kept = line.strip()
        if not kept or kept.startswith(tuple(COMMENT_SIGNS)):
            yield "\n"
            continue
        fields = kept.split()
        yield " ".join(map(with_exponent, fields if len(fields) == width else _fields(kept))) + "\n"


def _fields(line: str) -> list[str]:
    """Return the fields of a line; numbers of fixed width that touch are two."""
    fields = line.split()
    if any("." in field and "-" in field[1:] and _GLUED.fullmatch(field) for field in fields):
        fields = [part for field in fields for part in (_parts(field) if _GLUED.fullmatch(field) else [field])]
    return fields


def _parts(field: str) -> list[str]:
    return [part for part in _BEFORE_MINUS.split(field) if part]


def _is_value(cell: str) -> bool:
    """Return whether a field is a number, or stands for one."""
    return is_number(with_exponent(cell)) or cell.lower() in MISSING_WORDS or _STARS.fullmatch(cell) is not None


def _share_of_numbers(rows: list[list[str]]) -> float:
    cells = [cell for row in rows for cell in row]
    return sum(map(_is_value, cells)) / len(cells)


def _names_of(comments: list[str], width: int) -> list[str] | None:
    """Return the names of columns that comments give: fields of PLUMED, legends of Grace, or as many words."""
    fields = [found[1].split() for found in map(_FIELDS.fullmatch, comments) if found]
    if fields and len(fields[-1]) == width:
        return fields[-1]
    legends = {int(found[1]): found[2] for found in map(_LEGEND.fullmatch, comments) if found}
    if len(legends) == width - 1 and sorted(legends) == list(range(width - 1)):
        axis = next((found[1] for found in map(_AXIS.fullmatch, comments) if found), "x")
        return [axis, *(legends[number] for number in range(width - 1))]
    words = [line.lstrip(COMMENT_SIGNS).split() for line in comments if line[0] == "#"]
    alike = [some for some in words if len(some) == width == len({*some}) and not any(map(_is_value, some))]
    return alike[-1] if alike else None
