"""Delimited text: delimiter and header are found by looking, numbers are read fast or with care."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import message, warn
from gnomon.data.arrays import whole_numbers
from gnomon.data.dataset import LABEL_WORDS, Dataset, assemble, note, text_array
from gnomon.data.names import clean_names
from gnomon.data.written import FEWEST_NUMBERS, are_codes, are_truths, read_truths, told_decimal, with_exponent
from gnomon.exceptions import DataWarning

__all__ = ["read_columns", "read_delimited"]

_UTF_8, _WINDOWS = "utf-8-sig", "cp1252"
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = ":~^"  # told, not guessed
_COMMA_NUMBER = re.compile(r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d*([eE][+-]?\d+)?\s*$")
_COMMA_GROUPS = re.compile(r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$")  # 12.345 where the comma is decimal
_SPACED_GROUPS = re.compile(r"\s*[+-]?\d{1,3}( \d{3})*([.,]\d*)?\s*")  # of one column, with spaces between thousands
_OF_COMMENTS = "Delete the lines that begin with #, or pass pandas.read_csv(path, comment='#')."
_SEPARATOR = re.compile(r"""(?i:"?sep=([^"\w\r\n])"?)[\r\n]*""")  # the first line of a file for Excel
_SAMPLE = 50  # records looked at
_SAMPLE_CHARACTERS = 2**22  # in lines looked at, beyond the first three
_CELLS = 2**18  # fields looked at for their decimal sign
_LONGEST_LINE = 2**25  # characters
_CHUNK = 2**18  # characters split into lines together
_WIDEST = 10**6  # fields in a row
# A table of text seldom shrinks to less than a hundredth; a file that grows far more is made to fill the memory.
_MOST_UNPACKED = 100
_ALWAYS_UNPACKED = 2**22  # characters
_BEGIN = 2**16  # bytes looked at
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")  # which no table in Windows-1252 has
_LED = re.compile(r"^\s*0\d\d+\s*$", re.MULTILINE)  # a field, in a line, of a code such as 01001
_BLOCK = 4096  # records converted together
_SHOWN = 5  # places named in an error
_MANY = 8  # numbers that stand in order by chance once in 20,000 times
_ALIKE = 0.1  # share of the rows that may go up as the numbers of a header do


@dataclass(frozen=True)
class _Layout:
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
    decimal : str
        The decimal sign of the numbers, "." or ","; empty if it is not told.
    commas : list of bool
        Of each column whether its numbers are written as 1.234,5.
    unclear : list of int
        Columns whose numbers are read with a decimal point, which may stand between thousands.
    encoding : str
        Of the file.
    doubtful : bool
        Whether the first row is read as data, and may be a header.
    codes : list of int
        Columns of codes such as 01001, which are texts.
    n_above : int
        Rows above the data: the header, and before it a line that names the delimiter.
    """

    delimiter: str
    names: list[str] | None
    width: int
    numeric: bool
    decimal: str = ""
    commas: Sequence[bool] = ()
    unclear: Sequence[int] = ()
    encoding: str = _UTF_8
    doubtful: bool = False
    codes: Sequence[int] = ()
    n_above: int = 0


@contextmanager
def _open_text(path: str | os.PathLike[str], encoding: str) -> Iterator[Iterator[str]]:
    """Open the lines of a text file, compressed or not, with or without a byte-order mark; errors say what is wrong."""
    name = os.fspath(path)
    packed = name.lower().endswith(".gz")
    try:
        opener = gzip.open if packed else open
        with opener(name, "rt", encoding=encoding, newline="") as file:
            most = _ALWAYS_UNPACKED + _MOST_UNPACKED * os.path.getsize(name) if packed else None
            yield _lines(file, most)
    except _EndlessError as error:
        rule, fact, remedy = error.args
        raise ValueError(message(f"file {name!r}", rule, fact=fact, remedy=remedy)) from None
    except UnicodeError as error:
        if not isinstance(error, UnicodeDecodeError) or encoding != _UTF_8:
            rule = "a text file in UTF-8, UTF-16 or Windows-1252"
            raise _EncodingError(message(f"file {name!r}", rule, fact=str(error))) from error
        fact = f"byte {error.object[error.start]:#04x} is no UTF-8"
        remedy = "Save it as UTF-8, or check that it is a table and not another kind of file."
        raise _EncodingError(message(f"file {name!r}", "a text file in UTF-8", fact=fact, remedy=remedy)) from error
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(message(f"file {name!r}", "a readable table", fact=str(error))) from error


class _EndlessError(Exception):  # no ValueError, which means "not all numbers" to those who read the lines
    """A file goes on for longer than a table does: rule, fact and remedy for the error."""


class _EncodingError(ValueError):
    """A file is not in the encoding that it was taken to be in."""


def _encodings(path: str) -> list[str]:
    """Return the encodings that a text file may have: that of its byte-order mark, else UTF-8 or that of Excel."""
    opener = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            begin = bytes(file.read(_BEGIN))
    except (OSError, EOFError, zlib.error):  # told where it is read
        return [_UTF_8]
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ["utf-16"]
    return [_UTF_8] if _CONTROLS.search(begin) else [_UTF_8, _WINDOWS]


def _lines(file: IO[str], most: int | None) -> Iterator[str]:
    """Yield lines; raise _EndlessError at one too long to be a row, or when more than `most` characters came out."""
    total = 0
    while characters := file.read(_CHUNK):
        characters += file.readline(_LONGEST_LINE)  # the rest of the last line
        total += len(characters)
        lines = io.StringIO(characters, newline="").readlines()
        if len(characters) >= _LONGEST_LINE and len(max(lines, key=len).rstrip("\r\n")) >= _LONGEST_LINE:
            rule = f"a table with lines of fewer than {_LONGEST_LINE:,} characters"
            raise _EndlessError(rule, f"one has {_LONGEST_LINE:,} or more", "Is it a table?")
        if most is not None and total > most:
            fact = f"more than {most:,} characters come out of it"
            rule = f"one that holds at most {_MOST_UNPACKED} times as many characters as it has bytes"
            raise _EndlessError(rule, fact, "Unpack it with gunzip, and read what comes out.")
        yield from lines


class _Lines:
    """Lines of which the last one that was read is kept."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line
            yield line


def _is_number(cell: str) -> bool:
    """Return whether a field is a number, NaN and infinity included; 1_000 is not."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _decimals(records: list[list[str]]) -> tuple[str, list[str]]:
    """Return the decimal sign of a table and of each of its columns; empty, "?" or "mixed" if it is not told."""
    records = records[: max(4, _CELLS // max(1, len(records[0])))] if records else []
    found = [told_decimal(cells) for cells in zip(*records, strict=False)]
    told = {*found} - {"", "?"}
    return told.pop() if len(told) == 1 and told <= {".", ","} else "", found


def _with_points(cells: Iterable[str]) -> list[str]:
    """Write fields that are numbers with a decimal comma as Python does; others with a point become no numbers."""
    return [
        cell.replace(".", "").replace(",", ".")
        if _COMMA_NUMBER.match(cell) or _COMMA_GROUPS.match(cell)
        else cell.replace(".", "_")
        for cell in cells
    ]


def _guess_delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits the first records into most fields, equally many in each."""
    best, most = ",", (0, False)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(record) for record in csv.reader(lines, delimiter=delimiter) if record]
        except csv.Error:  # a long line that this delimiter does not split has a field beyond the limit of csv
            continue
        # The header may lack the name of the first column, and a quoted field may end beyond the sample.
        body = widths[1:-1] or widths
        if delimiter == "|" and widths[0] != body[0]:  # else it stands within fields
            continue
        found = body[0] - 1, widths[0] == body[0]
        if min(body) == max(body) and found[0] and found > most and widths[0] in (body[0], body[0] - 1):
            best, most = delimiter, found
    return best


def _is_header(first: list[str], rows: list[list[str]]) -> bool | None:
    """Return whether the first row names the columns; None if it may, and is better read as data."""
    if len(rows) and len(first) == len(rows[0]) - 1:
        return True
    first, *rows = ([with_exponent(cell) for cell in row] for row in (first, *rows))
    filled = [cell for cell in first if cell.strip()]
    if not any(_is_number(cell) for cell in filled):
        return True
    numbers = [float(cell) for cell in filled if _is_number(cell)]
    columns = [*zip(first, zip(*rows, strict=False), strict=False)]
    for cell, below in columns:
        named = cell.strip().lower() not in _MISSING and not _is_number(cell)
        if named and all(_is_number(other) or other.strip().lower() in _MISSING for other in below) and rows:
            return True
    # Columns that pandas numbered 0, 1, 2, ... behind a named or nameless index.
    if len(numbers) >= 2 and len(numbers) < len(first) and numbers == list(range(len(numbers))):
        return True
    alike = next((kind for kind in (_are_years, _are_steps, _are_ordered) if kind(numbers)), None)
    others = [(cell, below) for cell, below in columns if not _is_number(cell)]
    if not rows or alike is None or any(cell in below for cell, below in others):
        return False
    n_alike = sum(alike([float(cell) for cell in row if _is_number(cell)]) for row in rows)
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


def _sample(lines: Iterator[str]) -> list[str]:
    sample: list[str] = []
    n_characters = 0
    for line in lines:
        sample.append(line)
        n_characters += len(line)
        if len(sample) == 4 * _SAMPLE or (n_characters > _SAMPLE_CHARACTERS and len(sample) >= 3):
            break
    return sample


def _sniff(path: str, encoding: str, *, delimiter: str | None = None) -> _Layout:
    """Look at the first records of a text table."""
    with _open_text(path, encoding) as file:
        lines = _sample(file)
        if not any(line.strip() for line in lines):
            raise ValueError(message(f"file {os.fspath(path)!r}", "a table", fact="it is empty"))
        named = _SEPARATOR.fullmatch(lines[0])
        if named is not None:
            lines, delimiter = lines[1:], delimiter or named[1]
        stem, asked = os.fspath(path).removesuffix(".gz"), delimiter is not None
        if delimiter is None:
            delimiter = "\t" if stem.endswith(".tsv") else _guess_delimiter(lines)
        elif len(delimiter) != 1:
            raise ValueError(message(f"delimiter={delimiter!r}", "a single character"))
        records = [record for record in csv.reader(lines, delimiter=delimiter) if _holds(record)][: _SAMPLE + 1]
    if not records:
        fact = f"no field of its first {len(lines)} lines holds anything"
        raise ValueError(message(f"file {os.fspath(path)!r}", "a table", fact=fact))
    fields = [record[0] for record in records]
    if max(map(len, records)) == 1 and (
        delimiter == "," or not (asked or all(map(_SPACED_GROUPS.fullmatch, fields[1:])))
    ):
        _refuse_spaces(path, fields)
        if not asked:
            _refuse_other_delimiters(path, fields)
    _refuse_comment(path, records)
    first, rows = records[0], records[1:]
    header = _is_header(first, rows)
    width = len(rows[0]) if rows else len(first)
    if width > _WIDEST:
        rule = f"a table of at most {_WIDEST:,} columns"
        raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=f"{width:,} fields in a row"))
    if len(first) not in (width, width - 1):
        fact = f"{len(first)} fields in the first row, {width} in the next"
        rule, remedy = "a table of rows of equal length", _lines_above(path, encoding)
        raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))
    names = None
    if header:
        names = [""] * (1 if len(first) == width - 1 else 0) + [name.strip() for name in first]
    body = rows if header else records
    numeric = bool(body) and all(_is_number(cell) for record in body for cell in record)
    clear = delimiter != ","
    plain = not clear and not any("," in cell for record in body for cell in record)
    decimal, signs = (".", [""] * width) if plain else _decimals(body)
    commas = [clear and (sign == "," or (decimal == "," and sign in ("", "?"))) for sign in signs] or [False] * width
    unclear = [j for j, sign in enumerate(signs) if delimiter == ";" and sign == "?" and not decimal]
    n_above = (named is not None) + (names is not None)
    codes = _codes(body) if names else []
    numeric = numeric and not codes
    return _Layout(delimiter, names, width, numeric, decimal, commas, unclear, encoding, header is None, codes, n_above)


def _lines_above(path: str, encoding: str) -> str:
    """Return what to do about lines above a table, such as a title, that have fewer fields than all of its rows.

    Empty if the first lines of the file show no such table.
    """
    with _open_text(path, encoding) as file:
        lines = _sample(file)
    best, most = 0, 1
    for delimiter in _DELIMITERS:
        try:
            widths = [len(record) if _holds(record) else 0 for record in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            continue
        width = Counter(widths[len(widths) // 2 : -1] or widths).most_common(1)[0][0]
        begin = widths.index(width)
        of_table = {*widths[begin:-1]} - {0}
        if width > most and begin and of_table == {width} and max(widths[:begin]) < width and len(widths) > 2 * begin:
            best, most = begin, width
    if not best:
        return ""
    above = "line" if best == 1 else f"{best} lines"
    return f"Delete the first {above}: a table of {most} columns seems to begin in line {best + 1}."


def _codes(rows: list[list[str]]) -> list[int]:
    """Return the columns of codes such as 01001; none if all are, as numbers are that were filled up with zeros."""
    columns = [*zip(*rows, strict=False)]
    found = [j for j, cells in enumerate(columns) if _are_filled_codes(cells)]
    return found if len(found) < len(columns) else []


def _are_filled_codes(cells: Iterable[str]) -> bool:
    return are_codes([cell for cell in cells if cell and not cell.isspace()])


def _refuse_spaces(path: str, lines: list[str]) -> None:
    """Raise ValueError about numbers with spaces between them."""
    fields = [line.split() for line in lines]
    numeric = sum(len(own) > 1 and all(map(_is_number, own)) for own in fields)
    if numeric > 0.5 * len(fields):
        remedy = "Pass numpy.loadtxt(path), or write its numbers with commas."
        rule, fact = "a table with commas, semicolons, tabs or | between fields", "spaces stand between numbers"
        raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))


def _refuse_other_delimiters(path: str, lines: list[str]) -> None:
    """Raise ValueError about a header and numbers that another character separates."""
    for delimiter in _OTHER_DELIMITERS:
        header, *rows = [line.split(delimiter) for line in lines]
        alike = len(header) > 1 and all(len(row) == len(header) for row in rows)
        if (
            rows
            and alike
            and not any(map(_is_number, header))
            and any(map(all, zip(*map(_are_numbers, rows), strict=True)))
        ):
            rule = "a table with commas, semicolons, tabs or | between fields"
            fact = f"they would leave one column, and {delimiter!r} stands between the fields of each row"
            remedy = f"Write a first line sep={delimiter}, or in Python pass delimiter={delimiter!r}."
            raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))


def _are_numbers(cells: list[str]) -> list[bool]:
    return [_is_number(cell) for cell in cells]


def _is_comment(record: list[str]) -> bool:
    return bool(record) and record[0].lstrip().startswith("#")


def _refuse_comment(path: str, records: list[list[str]]) -> None:
    """Raise ValueError about a first line that begins as a comment does and has other fields than most."""
    ((width, _),) = Counter(map(len, records)).most_common(1)
    n_fields, n_below = len(records[0]), len(records[min(1, len(records) - 1)])
    is_header = n_fields == width or (n_fields == width - 1 > 1 and n_below == width)
    if _is_comment(records[0]) and not is_header:
        fact = f"its first line is a comment, {records[0][0].strip()!r:.60}"
        raise ValueError(message(f"file {os.fspath(path)!r}", "a table alone", fact=fact, remedy=_OF_COMMENTS))


def _holds(record: list[str]) -> bool:
    """Return whether a row of a file holds anything; a single empty field is a missing value."""
    return len(record) == 1 or len(record) > _WIDEST or any(cell and not cell.isspace() for cell in record)


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
        numbers = _numbers(_with_points(cells) if decimal_comma else cells)
        if numbers is None:
            self.cells = None if self.pieces else list(cells)
            self.is_text, self.pieces = True, []
            return
        self.led = self.led or _LED.search("\n".join(cells)) is not None
        absent = np.flatnonzero(np.isnan(numbers))
        self.n_missing += absent.size
        self.missing += [lines[i] for i in absent[: _SHOWN - len(self.missing)]]
        self.pieces.append(numbers)


def _numbers(cells: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return a column of fields as numbers, NaN where one is missing; None if a field is text."""
    if "_" in "".join(cells):
        return None  # Python reads 1_000 as a number
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        pass
    filled = ["nan" if cell.strip().lower() in _MISSING else cell for cell in cells]
    try:
        return np.fromiter(map(float, filled), np.float64, len(cells))
    except ValueError:
        return None


def _record_blocks(path: str, layout: _Layout) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield line numbers and fields of the rows after the header, some rows at a time; empty rows are passed over."""
    with _open_text(path, layout.encoding) as file:
        kept = _Lines(file)
        reader = csv.reader(iter(kept), delimiter=layout.delimiter, strict=True)
        n_above, end = layout.n_above, 0
        while True:
            lines: list[int] = []
            records: list[list[str]] = []
            while len(records) < _BLOCK:
                try:
                    for record in itertools.islice(reader, _BLOCK - len(records)):
                        lines.append(reader.line_num)
                        records.append(record)
                    break
                except csv.Error:
                    begin = (lines[-1] if lines else end) + 1
                    records.append(_loose_record(path, layout, kept.last, begin, reader.line_num))
                    lines.append(reader.line_num)
            if not records:
                return
            end = lines[-1]
            held = [bool(record and record[0].strip()) or _holds(record) for record in records]
            while n_above and any(held):
                held[held.index(True)] = False
                n_above -= 1
            if not all(held):
                lines, records = [*itertools.compress(lines, held)], [*itertools.compress(records, held)]
            if {*map(len, records)} - {layout.width}:
                first = next(i for i, record in enumerate(records) if len(record) != layout.width)
                fact = f"line {lines[first]} has {len(records[first])} fields, the rows before it {layout.width}"
                whole = "Is the file complete, and every field that holds the delimiter in quotes?"
                remedy = _lines_above(path, layout.encoding) or whole
                if _is_comment(records[first]):
                    fact = f"line {lines[first]} is a comment, {records[first][0].strip()!r:.60}"
                    remedy = _OF_COMMENTS
                raise ValueError(message(f"file {path!r}", "a table of rows of equal length", fact=fact, remedy=remedy))
            if records:
                yield lines, records


def _loose_record(path: str, layout: _Layout, line: str, begin: int, end: int) -> list[str]:
    """Return the fields of a line with a stray quote, or raise ValueError where a quoted field does not end in it.

    Parameters
    ----------
    path : str
    layout : _Layout
    line : str
        The last of the lines that make the row.
    begin, end : int
        The first and the last of these lines.
    """
    if begin == end:
        reader = csv.reader([line, ""], delimiter=layout.delimiter)
        record = next(reader)
        if reader.line_num == 1:
            return record
    with _open_text(path, layout.encoding) as file:
        opened = begin + _opening([*itertools.islice(file, begin - 1, end)], layout.delimiter)
    fact = f"the quote in line {opened} opens a field that does not end"
    remedy = """Close it, or write a quote that belongs to a text twice, within quotes: "5"" pipe"."""
    raise ValueError(message(f"file {path!r}", "a table whose quoted fields end", fact=fact, remedy=remedy))


def _opening(rows: list[str], delimiter: str) -> int:
    """Return the number of the line with the quote of a field that does not end, or ends amid other text."""
    opened, inside = 0, False
    for number, row in enumerate(rows):
        place = 0
        while 0 <= place < len(row):
            if not inside and row[place] == '"':
                opened, inside, place = number, True, place + 1
            elif not inside:
                place = row.find(delimiter, place) + 1 or len(row)
            elif (place := row.find('"', place)) >= 0:
                double = row.startswith('""', place)
                inside, place = double, place + 1 + double
                if not inside and row[place : place + 1] not in ("", delimiter, "\r", "\n"):
                    return opened
    return opened


def _read_fast(path: str, layout: _Layout) -> npt.NDArray[np.float64] | None:
    """Read a file of numbers alone; None if it holds anything else, or codes, which the careful reader tells."""
    with _open_text(path, layout.encoding) as file:
        kept = _Lines(file)
        text = iter(kept)
        for _ in range(layout.n_above):
            next(record for record in csv.reader(text, delimiter=layout.delimiter) if _holds(record))
        try:
            values = np.loadtxt(text, delimiter=layout.delimiter, comments=None, quotechar='"', ndmin=2)
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None
    if values.shape[1] != layout.width or kept.last.count('"') % 2 or np.isnan(values).any():
        return None
    whole = any(np.mean(column == np.rint(column)) >= FEWEST_NUMBERS for column in values.T)  # else none has codes
    return None if whole and layout.names is not None and _holds_led(path, layout) else values


def _holds_led(path: str, layout: _Layout) -> bool:
    """Say whether a field of a file of numbers is digits with a zero in front, as codes have."""
    delimiter = re.escape(layout.delimiter)
    digits = rf'0\d\d+\s*(?:$|["{delimiter}])'
    first, other = re.compile(rf"\s*{digits}"), re.compile(rf'[{delimiter}"]\s*{digits}')
    plain = re.compile(delimiter + digits)  # begins with two known characters: found fast
    with _open_text(path, layout.encoding) as lines:
        return any(
            first.match(line) or (other if '"' in line or " 0" in line or "\t0" in line else plain).search(line)
            for line in lines
        )


def _read_careful(path: str, layout: _Layout, names: list[str]) -> dict[str, _Column]:
    columns = {name: _Column() for name in names}
    for j in layout.codes:
        columns[names[j]] = _Column(is_text=True, cells=[])
    for lines, records in _record_blocks(path, layout):
        for column, cells, comma in zip(columns.values(), zip(*records, strict=True), layout.commas, strict=True):
            column.add(cells, lines, decimal_comma=comma)
    if layout.names is not None:
        _find_later_codes(path, layout, columns)
    for column in columns.values():
        n_rows = sum(piece.size for piece in column.pieces)
        column.is_text = column.is_text or column.n_missing == n_rows  # an empty column is no feature
    return columns


def _find_later_codes(path: str, layout: _Layout, columns: dict[str, _Column]) -> None:
    """Make texts of columns read as numbers of which all rows tell that they are codes, unless all columns are."""
    places = [(j, column) for j, column in enumerate(columns.values()) if column.led and not column.is_text]
    if not places:
        return
    cells: dict[int, list[str]] = {j: [] for j, _ in places}
    for _, records in _record_blocks(path, layout):
        for j, own in cells.items():
            own += [record[j] for record in records]
    found = [(j, column) for j, column in places if _are_filled_codes(cells[j])]
    if len({*layout.codes, *(j for j, _ in found)}) < len(columns):
        for j, column in found:
            column.is_text, column.pieces, column.cells = True, [], cells[j]


def _read_text(path: str, layout: _Layout, columns: dict[str, _Column]) -> dict[str, npt.NDArray[Any]]:
    """Return the text columns; those that turned out to be text in a later row only are read in a second pass."""
    cells = {name: column.cells or [] for name, column in columns.items() if column.is_text}
    places = [(j, name) for j, (name, column) in enumerate(columns.items()) if column.is_text and not column.cells]
    if places:
        for _, records in _record_blocks(path, layout):
            for j, name in places:
                cells[name] += [record[j] for record in records]
    return {name: text_array(values) for name, values in cells.items()}


def _as_arrays(path: str, layout: _Layout, columns: dict[str, _Column]) -> dict[str, npt.NDArray[Any]]:
    text = _read_text(path, layout, columns)
    return {n: text[n] if c.is_text else np.concatenate(c.pieces) for n, c in columns.items() if n in text or c.pieces}


def _truths(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return the columns of texts that are all True or False as truth values."""
    found = {}
    for name, values in columns.items():
        if values.dtype.kind == "U" and name.lower() not in LABEL_WORDS and are_truths(values.tolist()):
            truths = read_truths(values.tolist())
            if not np.isnan(truths).any():
                found[name] = truths.astype(np.bool_)
    return found


def _refuse_missing(path: str, columns: dict[str, _Column], labels: str | None) -> None:
    holes = {n: c for n, c in columns.items() if c.n_missing and not c.is_text and n != labels}
    if not holes:
        return
    total = sum(column.n_missing for column in holes.values())
    places = [(line, name) for name, column in holes.items() for line in column.missing]
    shown = "; ".join(f"line {line}, column {name!r}" for line, name in sorted(places)[:_SHOWN])
    fact = (
        f"{total:,} missing {'value' if total == 1 else 'values'}, {'the first ' if total > _SHOWN else ''}at {shown}"
    )
    remedy = "Pass missing='keep' and the table to gnomon.map, or leave these rows or columns out."
    raise ValueError(message(f"file {path!r}", "without missing values", fact=fact, remedy=remedy))


def _take_row_names(columns: dict[str, npt.NDArray[Any]], first: str) -> npt.NDArray[Any] | None:
    """Take a nameless first column away if it is text or whole numbers that go up: it is an index, not a feature."""
    values = columns[first]
    if values.dtype.kind == "f" and (len(columns) == 1 or not _go_up(values)):
        return None
    del columns[first]
    return values.astype(np.int64).astype(str) if values.dtype.kind == "f" else values


def _go_up(values: npt.NDArray[Any]) -> bool:
    return bool((np.abs(values) <= 2**53).all() and (values == np.rint(values)).all() and (np.diff(values) > 0).all())


@part("read_table")
def read_delimited(
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
    delimiter: str | None = None,
    missing: str = "error",
) -> Dataset:
    """Read a text table, header and delimiter found by looking; see `read_table`."""
    path = os.fspath(path)
    read = partial(_read, path, labels=labels, images=images, delimiter=delimiter, missing=missing)
    dataset: Dataset = _in_its_encoding(path, read)
    return dataset


def _in_its_encoding(path: str, read: Callable[[str], Any]) -> Any:
    """Read a file in the first of its possible encodings that fits; where none does the error is that of the first."""
    first: _EncodingError | None = None
    for encoding in _encodings(path):
        try:
            return read(encoding)
        except _EncodingError as error:
            first = first or error
    assert first is not None
    raise first


def _read(
    path: str,
    encoding: str,
    *,
    labels: str | None,
    images: tuple[int, ...] | None,
    delimiter: str | None,
    missing: str,
) -> Dataset:
    layout = _sniff(path, encoding, delimiter=delimiter)
    names = clean_names(layout.names) if layout.names is not None else [str(j) for j in range(layout.width)]
    notes: list[str] = []
    if any(layout.commas):
        note(notes, "numbers are read with a decimal comma")
    if encoding == _WINDOWS:
        note(notes, "the file is no UTF-8 and is read as Windows-1252")
    if layout.doubtful:
        note(notes, "the first row is read as data; if it names the columns, begin its names with a letter")
    elif layout.names is not None and all(map(_is_number, layout.names)):
        note(notes, f"the first row holds numbers in order and is read as names: {layout.names[-1]} is a column")
    values = _read_fast(path, layout) if layout.numeric else None
    if values is not None:
        columns: dict[str, npt.NDArray[Any]] = {name: values[:, j] for j, name in enumerate(names)}
    else:
        read = _read_careful(path, layout, names)
        if missing == "error":
            _refuse_missing(path, read, labels)
        columns = _as_arrays(path, layout, read)
        columns |= _truths({name: values for name, values in columns.items() if name != labels})
    if not columns or len(next(iter(columns.values()))) == 0:
        raise ValueError(message(f"file {path!r}", "a table with rows", fact="it holds a header alone"))
    _warn_of_points(path, layout, names, columns)
    point_names = None
    if layout.names is not None and not layout.names[0] and names[0] != labels:
        point_names = _take_row_names(columns, names[0])
        if point_names is not None:
            note(notes, "the first column has no name and is read as row names")
            values = None if values is None else values[:, 1:]
        else:
            note(notes, "the first column has no name and is read as a feature")
    dataset = assemble(
        columns, labels=labels, images=images, source=path, notes=notes, blocks=values, point_names=point_names
    )
    return replace(
        dataset, decimal=layout.decimal, feature_names=None if layout.names is None else dataset.feature_names
    )


def _warn_of_points(path: str, layout: _Layout, names: list[str], columns: dict[str, npt.NDArray[Any]]) -> None:
    """Warn of columns that were read with a decimal point and may be whole numbers with points between thousands."""
    told = []
    for name in (names[j] for j in layout.unclear):
        values = columns[name] if columns[name].dtype.kind == "f" else np.empty(0)
        fractions = values[np.isfinite(values) & (values != np.rint(values))]
        thousands = fractions * 1000.0
        if (
            fractions.size
            and (np.abs(fractions) > 1.0).all()
            and np.allclose(thousands, np.rint(thousands), 1e-12, 1e-6)
        ):
            told.append(
                f"{name!r} has {fractions[0]:.3f}, which may be {thousands[0]:.0f} with a point between thousands"
            )
    if told:
        remedy = "If that is meant, write them without points"
        warn(f"file {path!r}: {'; '.join(told)}. Nothing in the file tells. {remedy}.", DataWarning)


@part("read_table")
def read_columns(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the columns of a text table that has a header, as they are: text, and numbers with NaN where one is missing.

    Parameters
    ----------
    path : str or path-like
        Delimiter and header are found by looking.

    Returns
    -------
    dict of str to ndarray of shape (n_rows,)
        In the order of the file.

    Raises
    ------
    ValueError
        If the file has no header, or is no table.
    """
    path = os.fspath(path)
    columns: dict[str, npt.NDArray[Any]] = _in_its_encoding(path, partial(_read_columns, path))
    return columns


def _read_columns(path: str, encoding: str) -> dict[str, npt.NDArray[Any]]:
    layout = _sniff(path, encoding)
    if layout.names is None:
        remedy = "Write the names of the columns in its first line."
        raise ValueError(message(f"file {path!r}", "a table with names of columns", remedy=remedy))
    read = _read_careful(path, layout, clean_names(layout.names))
    return {name: whole_numbers(values) for name, values in _as_arrays(path, layout, read).items()}
