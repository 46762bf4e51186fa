"""How a text table is written: delimiter, header, column names."""

from __future__ import annotations

import csv
import gzip
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from gnomon._validation import message

__all__ = ["MISSING", "Layout", "is_number", "open_text", "sniff"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_DELIMITERS = ",;\t"
_SAMPLE = 50  # records looked at


@dataclass(frozen=True)
class Layout:
    """How a text table is written.

    Attributes
    ----------
    delimiter : str
        What stands between fields.
    names : list of str or None
        The fields of the header; None if there is no header. An empty first name is a column of row names.
    width : int
        Fields in a row.
    numeric : bool
        Whether all fields of the first rows are numbers.
    """

    delimiter: str
    names: list[str] | None
    width: int
    numeric: bool


@contextmanager
def open_text(path: str | os.PathLike[str], *, who: str) -> Iterator[IO[str]]:
    """Open a text file, compressed or not, with or without a byte-order mark; errors say what is wrong with it."""
    name = os.fspath(path)
    try:
        opener = gzip.open if name.endswith(".gz") else open
        with opener(name, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        fact = f"byte {error.object[error.start]:#04x} is no UTF-8"
        remedy = "Save it as UTF-8, or check that it is a table and not another kind of file."
        raise ValueError(message(who, f"file {name!r}", "a text file in UTF-8", fact=fact, remedy=remedy)) from error
    except (csv.Error, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(message(who, f"file {name!r}", "a readable table", fact=str(error))) from error


def is_number(cell: str) -> bool:
    """Return whether a field is a number, NaN and infinity included; 1_000 is not."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _guess_delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits the first records into most fields, equally many in each."""
    best, most = ",", 0
    for delimiter in _DELIMITERS:
        widths = [len(record) for record in csv.reader(lines, delimiter=delimiter) if record]
        # The header may lack the name of the first column, and a quoted field may end beyond the sample.
        body = widths[1:-1] or widths
        if min(body) == max(body) and body[0] - 1 > most:
            best, most = delimiter, body[0] - 1
    return best


def _is_header(first: list[str], rows: list[list[str]]) -> bool:
    if len(rows) and len(first) == len(rows[0]) - 1:
        return True
    filled = [cell for cell in first if cell.strip()]
    if not any(is_number(cell) for cell in filled):
        return True
    numbers = [float(cell) for cell in filled if is_number(cell)]
    for cell, below in zip(first, zip(*rows, strict=False), strict=False):
        named = cell.strip().lower() not in MISSING and not is_number(cell)
        if named and all(is_number(other) or other.strip().lower() in MISSING for other in below) and rows:
            return True
    # Columns that pandas numbered 0, 1, 2, ... behind a named or nameless index.
    return len(numbers) >= 2 and len(numbers) < len(first) and numbers == list(range(len(numbers)))


def sniff(path: str | os.PathLike[str], *, who: str, delimiter: str | None = None) -> Layout:
    """Look at the first records of a text table."""
    with open_text(path, who=who) as file:
        lines = list(itertools.islice(file, 4 * _SAMPLE))
        if not any(line.strip() for line in lines):
            raise ValueError(message(who, f"file {os.fspath(path)!r}", "a table", fact="it is empty"))
        stem = os.fspath(path).removesuffix(".gz")
        if delimiter is None:
            delimiter = "\t" if stem.endswith(".tsv") else _guess_delimiter(lines)
        elif len(delimiter) != 1:
            raise ValueError(message(who, f"delimiter={delimiter!r}", "a single character"))
        records = [record for record in csv.reader(lines, delimiter=delimiter) if record][: _SAMPLE + 1]
    first, rows = records[0], records[1:]
    header = _is_header(first, rows)
    width = len(rows[0]) if rows else len(first)
    names = None
    if header:
        names = [""] * (1 if len(first) == width - 1 else 0) + [name.strip() for name in first]
    body = rows if header else records
    numeric = bool(body) and all(is_number(cell) for record in body for cell in record)
    return Layout(delimiter, names, width, numeric)
