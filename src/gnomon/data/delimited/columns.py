"""Columns of a text table: numbers, read fast or with care, and texts."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.arrays import exact_integers, may_be_rounded
from gnomon.data.dataset import LABEL_WORDS, refuse_gaps, text_array
from gnomon.data.delimited.blanks import open_rows
from gnomon.data.delimited.fields import are_filled_codes, as_numbers, with_points
from gnomon.data.delimited.layout import Layout
from gnomon.data.delimited.lines import KeptLines
from gnomon.data.delimited.records import record_blocks
from gnomon.data.delimited.rows import holds_anything
from gnomon.data.written import FEWEST_NUMBERS, are_truths, read_truths

__all__ = ["as_arrays", "read_careful", "read_fast", "read_integers", "refuse_missing", "truth_columns"]

_LED = re.compile(r"^\s*0\d\d+\s*$", re.MULTILINE)  # a field, in a line, of a code such as 01001
_DIGITS = re.compile(r"\s*[+-]?\d+\s*")
_SHOWN = 5  # places named in an error


@dataclass(slots=True)
class _Column:
    """What is known of a column while it is read."""

    is_text: bool = False
    pieces: list[npt.NDArray[np.float64]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)  # lines of the first missing values
    n_missing: int = 0
    cells: list[str] | None = None  # of a column that is text from its first rows on
    led: bool = False  # whether a field was digits with a zero in front

    def add(self, cells: Sequence[str], lines: list[int], *, decimal_comma: bool) -> None:
        if self.is_text:
            if self.cells is not None:
                self.cells += cells
            return
        numbers = as_numbers(with_points(cells) if decimal_comma else cells)
        if numbers is None:
            self.cells = None if self.pieces else list(cells)
            self.is_text, self.pieces = True, []
            return
        self.led = self.led or _LED.search("\n".join(cells)) is not None
        absent = np.flatnonzero(np.isnan(numbers))
        self.n_missing += absent.size
        self.missing += [lines[i] for i in absent[: _SHOWN - len(self.missing)]]
        self.pieces.append(numbers)


def read_fast(path: str, layout: Layout) -> npt.NDArray[np.float64] | None:
    """Read a file of numbers alone; None if it holds anything else, or codes, which the careful reader tells.

    Parameters
    ----------
    path : str
    layout : Layout

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64, or None
    """
    with open_rows(path, layout.encoding, blanks=layout.blanks) as file:
        kept = KeptLines(file)
        text = iter(kept)
        for _ in range(layout.n_above):
            next(record for record in csv.reader(text, delimiter=layout.delimiter) if holds_anything(record))
        try:
            values = np.loadtxt(text, delimiter=layout.delimiter, comments=None, quotechar='"', ndmin=2)
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None
    if values.shape[1] != layout.width or kept.last.count('"') % 2 or np.isnan(values).any():
        return None
    whole = any(np.mean(column == np.rint(column)) >= FEWEST_NUMBERS for column in values.T)  # else none has codes
    return None if whole and _holds_led(path, layout) else values


def _holds_led(path: str, layout: Layout) -> bool:
    """Say whether a field of a file of numbers is digits with a zero in front, as codes have."""
    delimiter = re.escape(layout.delimiter)
    digits = rf'0\d\d+\s*(?:$|["{delimiter}])'
    first, other = re.compile(rf"\s*{digits}"), re.compile(rf'[{delimiter}"]\s*{digits}')
    plain = re.compile(delimiter + digits)  # begins with two known characters: found fast
    with open_rows(path, layout.encoding, blanks=layout.blanks) as lines:
        return any(
            first.match(line) or (other if '"' in line or " 0" in line or "\t0" in line else plain).search(line)
            for line in lines
        )


def read_careful(path: str, layout: Layout, names: list[str]) -> dict[str, _Column]:
    """Read the columns of a file row by row: numbers, missing values and texts.

    Parameters
    ----------
    path : str
    layout : Layout
    names : list of str
        Of the columns.

    Returns
    -------
    dict of str to column
    """
    columns = {name: _Column() for name in names}
    for j in layout.codes:
        columns[names[j]] = _Column(is_text=True, cells=[])
    for lines, records in record_blocks(path, layout):
        for column, cells, comma in zip(columns.values(), zip(*records, strict=True), layout.commas, strict=True):
            column.add(cells, lines, decimal_comma=comma)
    _find_later_codes(path, layout, columns)
    for column in columns.values():
        n_rows = sum(piece.size for piece in column.pieces)
        column.is_text = column.is_text or column.n_missing == n_rows  # an empty column is no feature
    return columns


def _find_later_codes(path: str, layout: Layout, columns: dict[str, _Column]) -> None:
    """Make texts of columns read as numbers of which all rows tell that they are codes, unless all columns are."""
    places = [(j, column) for j, column in enumerate(columns.values()) if column.led and not column.is_text]
    if not places:
        return
    cells: dict[int, list[str]] = {j: [] for j, _ in places}
    for _, records in record_blocks(path, layout):
        for j, own in cells.items():
            own += [record[j] for record in records]
    found = [(j, column) for j, column in places if are_filled_codes(cells[j])]
    if len({*layout.codes, *(j for j, _ in found)}) < len(columns):
        for j, column in found:
            column.is_text, column.pieces, column.cells = True, [], cells[j]


def _read_text(path: str, layout: Layout, columns: dict[str, _Column]) -> dict[str, npt.NDArray[Any]]:
    """Return the text columns; those that turned out to be text in a later row only are read in a second pass."""
    cells = {name: column.cells or [] for name, column in columns.items() if column.is_text}
    places = [(j, name) for j, (name, column) in enumerate(columns.items()) if column.is_text and not column.cells]
    if places:
        for _, records in record_blocks(path, layout):
            for j, name in places:
                cells[name] += [record[j] for record in records]
    return {name: text_array(values) for name, values in cells.items()}


def as_arrays(path: str, layout: Layout, columns: dict[str, _Column]) -> dict[str, npt.NDArray[Any]]:
    """Return columns as arrays, without those that hold nothing.

    Parameters
    ----------
    path : str
    layout : Layout
    columns : dict of str to column

    Returns
    -------
    dict of str to ndarray of shape (n_rows,)
        Numbers in float64, and texts.
    """
    text = _read_text(path, layout, columns)
    return {n: text[n] if c.is_text else np.concatenate(c.pieces) for n, c in columns.items() if n in text or c.pieces}


def read_integers(
    path: str, layout: Layout, columns: dict[str, npt.NDArray[Any]], names: list[str]
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of whole numbers that floating point rounds, as they are written, such as identifiers.

    Parameters
    ----------
    path : str
    layout : Layout
    columns : dict of str to ndarray of shape (n_rows,)
        As they were read.
    names : list of str
        Of all columns of the file.

    Returns
    -------
    dict of str to ndarray of shape (n_rows,)
        Integers, or texts if some are missing or 64 bits do not hold them.
    """
    cells: dict[str, list[str]] = {name: [] for name, values in columns.items() if may_be_rounded(values)}
    for _, records in record_blocks(path, layout) if cells else ():
        for name, own in cells.items():
            j = names.index(name)
            own += [record[j] for record in records]
    found = {}
    for name, own in cells.items():
        gone = np.isnan(columns[name]).tolist()
        if all(missing or _DIGITS.fullmatch(cell) for missing, cell in zip(gone, own, strict=True)):
            found[name] = exact_integers(
                [None if missing else int(cell) for missing, cell in zip(gone, own, strict=True)]
            )
    return found


def truth_columns(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return the columns of texts that are all True or False as truth values.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_rows,)

    Returns
    -------
    dict of str to ndarray of shape (n_rows,), bool
    """
    found = {}
    for name, values in columns.items():
        if values.dtype.kind == "U" and name.lower() not in LABEL_WORDS and are_truths(values.tolist()):
            truths = read_truths(values.tolist())
            if not np.isnan(truths).any():
                found[name] = truths.astype(np.bool_)
    return found


def refuse_missing(path: str, columns: dict[str, _Column], labels: str | None) -> None:
    """Raise ValueError about missing numbers, with the places of the first.

    Parameters
    ----------
    path : str
    columns : dict of str to column
    labels : str or None
        Column of labels, which may be missing.

    Raises
    ------
    ValueError
        If numbers are missing.
    """
    holes = {n: c for n, c in columns.items() if c.n_missing and not c.is_text and n != labels}
    if not holes:
        return
    total = sum(column.n_missing for column in holes.values())
    places = [(line, name) for name, column in holes.items() for line in column.missing]
    shown = "; ".join(f"line {line}, column {name!r}" for line, name in sorted(places)[:_SHOWN])
    fact = (
        f"{total:,} missing {'value' if total == 1 else 'values'}, {'the first ' if total > _SHOWN else ''}at {shown}"
    )
    refuse_gaps(path, fact)
