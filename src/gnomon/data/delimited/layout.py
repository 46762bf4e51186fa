"""How a text table is written: found by looking at its first rows."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon._validation import message
from gnomon.data.delimited.blanks import COMMENT_SIGNS, find_blank_table, is_of_science
from gnomon.data.delimited.commas import are_one_number, maybe_one_number
from gnomon.data.delimited.fields import MISSING_WORDS, are_filled_codes, is_number, with_point
from gnomon.data.delimited.header import is_header
from gnomon.data.delimited.lines import UTF_8, open_text
from gnomon.data.delimited.rows import (
    DELIMITERS,
    OF_COMMENTS,
    SAMPLE,
    WIDEST,
    first_lines,
    holds_anything,
    is_comment,
    lines_above,
)
from gnomon.data.written import told_decimal, with_exponent

__all__ = ["Layout", "find_layout"]

_OTHER_DELIMITERS = ":~^"  # told, not guessed
_ABSENT = ";"  # no line has one: each has one field
_SPACED_GROUPS = re.compile(r"\s*[+-]?\d{1,3}( \d{3})*([.,]\d*)?\s*")  # of one column, with spaces between thousands
_SEPARATOR = re.compile(r"""(?i:"?sep=([^"\w\r\n])"?)[\r\n]*""")  # the first line of a file for Excel
_QUOTED = re.compile(r'(?<![^ ])"[^"]*"(?![^ ])')  # a field, from one space to the next
_ALL_QUOTED = re.compile(r'"[^"]*"( "[^"]*")*')
_FEWEST_SPACED, _NUMBERS_SPACED = 3, 0.5  # fields between spaces, and the share of them that are numbers
_FEWEST_OF_TITLE = 3  # fields of a row of which a title fills one
_CELLS = 2**18  # fields looked at for their decimal sign


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
    told : str
        What was decided about commas that may be decimal or part fields, or about comments; empty if nothing.
    blanks : int
        Fields in a row of a table with one blank or more between fields and comments among its lines; 0 of others.
    """

    delimiter: str
    names: list[str] | None
    width: int
    numeric: bool
    decimal: str = ""
    commas: Sequence[bool] = ()
    unclear: Sequence[int] = ()
    encoding: str = UTF_8
    doubtful: bool = False
    codes: Sequence[int] = ()
    n_above: int = 0
    told: str = ""
    blanks: int = 0


def find_layout(path: str, encoding: str, *, delimiter: str | None = None) -> Layout:
    """Look at the first records of a text table.

    Parameters
    ----------
    path : str
    encoding : str
    delimiter : str or None, default=None
        A character; None to find it.

    Returns
    -------
    Layout

    Raises
    ------
    ValueError
        If the file is empty, or no table.
    """
    found = None if delimiter is not None else _of_blanks(path, encoding)
    if found is not None and (is_of_science(path) or any(found.commas)):
        return found
    try:
        plain = _find_plain(path, encoding, delimiter)
    except ValueError:
        if found is None:
            raise
        return found
    return found if plain.width == 1 and found is not None and found.width > 1 else plain


def _of_blanks(path: str, encoding: str) -> Layout | None:
    """Return the layout of a table of numbers with blanks between fields; None of a file that is none."""
    table = find_blank_table(path, encoding)
    if table is None:
        return None
    if not is_of_science(path) and all(_SPACED_GROUPS.fullmatch(" ".join(row)) for row in table.rows):
        return None  # a number such as 12 345 in each row
    written = [[with_point(cell) for cell in row] for row in table.rows] if table.comma else table.rows
    body = [[with_exponent(cell) for cell in row] for row in written]
    width, codes = len(body[0]), _codes(body)
    numeric = not codes and not table.comma and all(is_number(cell) for row in body for cell in row)
    return Layout(
        " ",
        table.names,
        width,
        numeric,
        decimal="," if table.comma else ".",
        commas=[table.comma] * width,
        encoding=encoding,
        codes=codes,
        n_above=int(table.header),
        told=table.told,
        blanks=width,
    )


def _find_plain(path: str, encoding: str, delimiter: str | None) -> Layout:
    """Return the layout of a table with a character between fields, or raise ValueError."""
    with open_text(path, encoding) as file:
        lines = first_lines(file)
        if not any(line.strip() for line in lines):
            raise ValueError(message(f"file {os.fspath(path)!r}", "a table", fact="it is empty"))
        named = _SEPARATOR.fullmatch(lines[0])
        if named is not None:
            lines, delimiter = lines[1:], delimiter or named[1]
        stem, asked, told = os.fspath(path).removesuffix(".gz"), delimiter is not None, ""
        if delimiter is None:
            delimiter = _guess_delimiter(lines)
            if stem.endswith(".tsv") and ("\t" in "".join(lines) or not _names_fields(lines[0], delimiter)):
                delimiter = "\t"
            if delimiter == ",":
                delimiter, told = _of_commas(lines)
            if delimiter == "," and _are_spaced(lines):
                delimiter = " "
        elif len(delimiter) != 1:
            raise ValueError(message(f"delimiter={delimiter!r}", "a single character"))
        records = [record for record in csv.reader(lines, delimiter=delimiter) if holds_anything(record)][: SAMPLE + 1]
    if not records:
        fact = f"no field of its first {len(lines)} lines holds anything"
        raise ValueError(message(f"file {os.fspath(path)!r}", "a table", fact=fact))
    fields = [record[0] for record in records]
    if max(map(len, records)) == 1 and (
        delimiter == "," or not (asked or all(map(_SPACED_GROUPS.fullmatch, fields[1:])))
    ):
        _refuse_spaces(path, lines)
        if not asked:
            _refuse_other_delimiters(path, fields)
    _refuse_comment(path, records)
    first, rows = records[0], records[1:]
    header = is_header(first, rows)
    width = len(rows[0]) if rows else len(first)
    if width > WIDEST:
        rule = f"a table of at most {WIDEST:,} columns"
        raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=f"{width:,} fields in a row"))
    if len(first) not in (width, width - 1):
        fact = f"{len(first)} fields in the first row, {width} in the next"
        rule, remedy = "a table of rows of equal length", lines_above(path, encoding)
        raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))
    _refuse_title(path, records)
    names = None
    if header:
        names = [""] * (1 if len(first) == width - 1 else 0) + [name.strip() for name in first]
    body = rows if header else records
    numeric = bool(body) and all(is_number(cell) for record in body for cell in record)
    clear = delimiter != ","
    plain = not clear and not any("," in cell for record in body for cell in record)
    decimal, signs = (".", [""] * width) if plain else _decimals(body)
    commas = [sign == "," or (decimal == "," and sign in ("", "?")) for sign in signs] or [False] * width
    unclear = [j for j, sign in enumerate(signs) if delimiter == ";" and sign == "?" and not decimal]
    n_above = (named is not None) + (names is not None)
    codes = _codes(body)
    numeric = numeric and not codes
    doubtful = header is None
    return Layout(delimiter, names, width, numeric, decimal, commas, unclear, encoding, doubtful, codes, n_above, told)


def _names_fields(line: str, delimiter: str) -> bool:
    """Return whether a line is a header of several fields; commas of numbers, such as 1,5, part none."""
    fields = [field.strip() for field in line.split(delimiter)]
    return len(fields) > 1 and all(any(map(str.isalpha, field)) for field in fields)


def _guess_delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits the first records into most fields, equally many in each."""
    best, most = ",", (0, False)
    for delimiter in DELIMITERS:
        try:
            widths = [len(record) for record in csv.reader(lines, delimiter=delimiter) if record]
        except csv.Error:  # a long line that this delimiter does not split has a field beyond the limit of csv
            continue
        # The header may lack the name of the first column, and a quoted field may end beyond the sample.
        body = widths[1:-1] or widths
        if delimiter == "|" and widths[0] != body[0]:  # else it stands within fields
            continue
        found = body[0] - 1, widths[0] == body[0]
        even = min(body) == max(body) and found[0] and widths[0] in (body[0], body[0] - 1)
        if even and (found > most or (best == "," and _has_decimal_commas(lines, delimiter))):
            best, most = delimiter, found
    return best


def _are_spaced(lines: list[str]) -> bool:
    """Return whether names, and below them as many fields, mostly numbers, are parted by single spaces alone.

    R writes names of the rows without a name above them, and texts within quotes; where all names of the columns have
    such, the fields below need not be numbers.
    """
    written = [line.rstrip("\r\n") for line in lines if line.strip()]
    if any(mark in _QUOTED.sub("", line) for line in written for mark in ',"'):
        return False
    names, *rows = csv.reader(written, delimiter=" ")
    body = rows[:-1] or rows  # the last line may be cut
    if not body or len(body[0]) < _FEWEST_SPACED or any(len(row) != len(body[0]) for row in body):
        return False
    n_unnamed = len(body[0]) - len(names)
    if n_unnamed not in (0, 1) or any(not name or is_number(name) for name in names):
        return False
    if n_unnamed and len({row[0] for row in body}) < len(body):
        return False
    if _ALL_QUOTED.fullmatch(written[0]):
        return True
    known = [cell for row in body for cell in row[n_unnamed:] if cell.lower() not in MISSING_WORDS]
    return all(map(all, body)) and sum(map(is_number, known)) >= _NUMBERS_SPACED * len(known)


def _has_decimal_commas(lines: list[str], delimiter: str) -> bool:
    """Return whether all commas of lines stand within numbers, such as 1,5, between other delimiters."""
    return all(
        with_point(cell) != cell for record in csv.reader(lines, delimiter=delimiter) for cell in record if "," in cell
    )


def _of_commas(lines: list[str]) -> tuple[str, str]:
    """Return the delimiter of lines that commas seem to part, and what is to be told of numbers such as 3,14."""
    if are_one_number(lines):
        return _ABSENT, "each row is read as one number; if its comma separates two begin the file with a line sep=,"
    row = maybe_one_number(lines)
    whole, _, decimals = row.partition(",")
    remedy = f"if {row} is one number write {whole}.{decimals}"
    return ",", f"each row is read as two numbers, {whole} and {decimals}; {remedy}" if row else ""


def _decimals(records: list[list[str]]) -> tuple[str, list[str]]:
    """Return the decimal sign of a table and of each of its columns; empty, "?" or "mixed" if it is not told."""
    records = records[: max(4, _CELLS // max(1, len(records[0])))] if records else []
    found = [told_decimal(cells) for cells in zip(*records, strict=False)]
    told = {*found} - {"", "?"}
    return told.pop() if len(told) == 1 and told <= {".", ","} else "", found


def _codes(rows: list[list[str]]) -> list[int]:
    """Return the columns of codes such as 01001; none if all are, as numbers are that were filled up with zeros."""
    columns = [*zip(*rows, strict=False)]
    found = [j for j, cells in enumerate(columns) if are_filled_codes(cells)]
    return found if len(found) < len(columns) else []


def _refuse_spaces(path: str, lines: list[str]) -> None:
    """Raise ValueError about numbers with spaces between them."""
    fields = [line.split() for line in lines if line.strip()]
    numeric = sum(len(own) > 1 and all(map(is_number, own)) for own in fields)
    if numeric > 0.5 * len(fields):
        remedy = "Pass numpy.loadtxt(path), or write its numbers with commas."
        rule, fact = "a table with commas, semicolons, tabs or | between fields", "spaces stand between numbers"
        widths = {
            k: len(line.split()) for k, line in enumerate(lines, 1) if line.lstrip()[:1] not in ("", *COMMENT_SIGNS)
        }
        width = Counter(widths.values()).most_common(1)[0][0]
        uneven = next((k for k, one in widths.items() if one != width), None)
        if uneven is not None:
            fact += f", {widths[uneven]} in line {uneven} and {width} in most others"
            remedy = "Is the file complete? A missing value between blanks is written as nan."
        raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))


def _refuse_other_delimiters(path: str, lines: list[str]) -> None:
    """Raise ValueError about a header and numbers that another character separates."""
    for delimiter in _OTHER_DELIMITERS:
        header, *rows = [line.split(delimiter) for line in lines]
        alike = len(header) > 1 and all(len(row) == len(header) for row in rows)
        if (
            rows
            and alike
            and not any(map(is_number, header))
            and any(map(all, zip(*map(_are_numbers, rows), strict=True)))
        ):
            rule = "a table with commas, semicolons, tabs or | between fields"
            fact = f"they would leave one column, and {delimiter!r} stands between the fields of each row"
            remedy = f"Write a first line sep={delimiter}, or in Python pass delimiter={delimiter!r}."
            raise ValueError(message(f"file {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))


def _are_numbers(cells: list[str]) -> list[bool]:
    return [is_number(cell) for cell in cells]


def _refuse_title(path: str, records: list[list[str]]) -> None:
    """Raise ValueError about a title that was filled up with empty fields, as spreadsheets write it, above a header."""
    filled = [[bool(cell.strip()) for cell in record] for record in records]
    n_above = next((i for i, one in enumerate(filled) if sum(one) != 1 or not one[0]), len(records))
    if not 0 < n_above < len(records) - 1 or len(records[0]) < _FEWEST_OF_TITLE or is_number(records[0][0]):
        return
    names = records[n_above]
    if all(filled[n_above]) and not any(map(is_number, names)) and any(map(is_number, records[n_above + 1])):
        fact = f"its first row holds {records[0][0].strip()!r:.60} alone, as a title does"
        remedy = f"Delete the lines above the names of the columns, {', '.join(names)[:60]!r}."
        raise ValueError(message(f"file {os.fspath(path)!r}", "a table alone", fact=fact, remedy=remedy))


def _refuse_comment(path: str, records: list[list[str]]) -> None:
    """Raise ValueError about a first line that begins as a comment does and has other fields than most."""
    ((width, _),) = Counter(map(len, records)).most_common(1)
    n_fields, n_below = len(records[0]), len(records[min(1, len(records) - 1)])
    is_header = n_fields == width or (n_fields == width - 1 > 1 and n_below == width)
    if is_comment(records[0]) and not is_header:
        fact = f"its first line is a comment, {records[0][0].strip()!r:.60}"
        raise ValueError(message(f"file {os.fspath(path)!r}", "a table alone", fact=fact, remedy=OF_COMMENTS))
