"""How a text table is written: delimiter, header, column names; how much of it is read."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from gnomon._validation import message

__all__ = ["MISSING", "Layout", "is_number", "open_text", "sniff"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_DELIMITERS = ",;\t"
_SAMPLE = 50  # records looked at
_SAMPLE_CHARACTERS = 2**22  # in lines looked at, beyond the first three
_LONGEST_LINE = 2**25  # characters
_WIDEST = 10**6  # fields in a row
# A table of text seldom shrinks to less than a hundredth; a file that grows far more is made to fill the memory.
_MOST_UNPACKED = 100
_ALWAYS_UNPACKED = 2**22  # characters


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
def open_text(path: str | os.PathLike[str], *, who: str) -> Iterator[Iterator[str]]:
    """Open the lines of a text file, compressed or not, with or without a byte-order mark; errors say what is wrong."""
    name = os.fspath(path)
    packed = name.lower().endswith(".gz")
    try:
        opener = gzip.open if packed else open
        with opener(name, "rt", encoding="utf-8-sig", newline="") as file:
            most = _ALWAYS_UNPACKED + _MOST_UNPACKED * os.path.getsize(name) if packed else None
            yield _lines(file, most)
    except _EndlessError as error:
        rule, fact, remedy = error.args
        raise ValueError(message(who, f"file {name!r}", rule, fact=fact, remedy=remedy)) from None
    except UnicodeDecodeError as error:
        fact = f"byte {error.object[error.start]:#04x} is no UTF-8"
        remedy = "Save it as UTF-8, or check that it is a table and not another kind of file."
        raise ValueError(message(who, f"file {name!r}", "a text file in UTF-8", fact=fact, remedy=remedy)) from error
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(message(who, f"file {name!r}", "a readable table", fact=str(error))) from error


class _EndlessError(Exception):  # no ValueError, which means "not all numbers" to those who read the lines
    """A file goes on for longer than a table does: rule, fact and remedy for the error."""


def _lines(file: IO[str], most: int | None) -> Iterator[str]:
    """Yield lines; raise _EndlessError at one too long to be a row, or when more than `most` characters came out."""
    total = 0
    while line := file.readline(_LONGEST_LINE):
        total += len(line)
        if len(line) == _LONGEST_LINE and not line.endswith(("\n", "\r")):
            rule = f"a table with lines of fewer than {_LONGEST_LINE:,} characters"
            raise _EndlessError(rule, f"one has {len(line):,} or more", "Is it a table?")
        if most is not None and total > most:
            fact = f"more than {most:,} characters come out of it"
            rule = f"one that holds at most {_MOST_UNPACKED} times as many characters as it has bytes"
            raise _EndlessError(rule, fact, "Unpack it with gunzip, and read what comes out.")
        yield line


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
        try:
            widths = [len(record) for record in csv.reader(lines, delimiter=delimiter) if record]
        except csv.Error:  # a long line that this delimiter does not split has a field beyond the limit of csv
            continue
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


def _sample(lines: Iterator[str]) -> list[str]:
    sample: list[str] = []
    n_characters = 0
    for line in lines:
        sample.append(line)
        n_characters += len(line)
        if len(sample) == 4 * _SAMPLE or (n_characters > _SAMPLE_CHARACTERS and len(sample) >= 3):
            break
    return sample


def sniff(path: str | os.PathLike[str], *, who: str, delimiter: str | None = None) -> Layout:
    """Look at the first records of a text table."""
    with open_text(path, who=who) as file:
        lines = _sample(file)
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
    if width > _WIDEST:
        rule = f"a table of at most {_WIDEST:,} columns"
        raise ValueError(message(who, f"file {os.fspath(path)!r}", rule, fact=f"{width:,} fields in a row"))
    if len(first) not in (width, width - 1):
        fact = f"{len(first)} fields in the first row, {width} in the next"
        rule = "a table of rows of equal length"
        raise ValueError(message(who, f"file {os.fspath(path)!r}", rule, fact=fact))
    names = None
    if header:
        names = [""] * (1 if len(first) == width - 1 else 0) + [name.strip() for name in first]
    body = rows if header else records
    numeric = bool(body) and all(is_number(cell) for record in body for cell in record)
    return Layout(delimiter, names, width, numeric)
