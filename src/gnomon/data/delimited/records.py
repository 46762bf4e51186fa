"""Rows of a text table, split into fields with care for quotes."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator

from gnomon._validation import message
from gnomon.data.delimited.blanks import open_rows
from gnomon.data.delimited.layout import Layout
from gnomon.data.delimited.lines import KeptLines
from gnomon.data.delimited.rows import OF_COMMENTS, holds_anything, is_comment, lines_above

__all__ = ["record_blocks"]

_BLOCK = 4096  # records converted together


def record_blocks(path: str, layout: Layout) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield line numbers and fields of the rows after the header, some rows at a time; empty rows are passed over.

    Parameters
    ----------
    path : str
    layout : Layout

    Yields
    ------
    lines : list of int
        Number of the last line of each row.
    records : list of list of str
        The fields of each.

    Raises
    ------
    ValueError
        If rows are of unequal length, or a quoted field does not end.
    """
    with open_rows(path, layout.encoding, blanks=layout.blanks) as file:
        kept = KeptLines(file)
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
            held = [bool(record and record[0].strip()) or holds_anything(record) for record in records]
            while n_above and any(held):
                held[held.index(True)] = False
                n_above -= 1
            if not all(held):
                lines, records = [*itertools.compress(lines, held)], [*itertools.compress(records, held)]
            if {*map(len, records)} - {layout.width}:
                first = next(i for i, record in enumerate(records) if len(record) != layout.width)
                fact = f"line {lines[first]} has {len(records[first])} fields, the rows before it {layout.width}"
                whole = "Is the file complete, and every field that holds the delimiter in quotes?"
                remedy = lines_above(path, layout.encoding) or whole
                if is_comment(records[first]):
                    fact = f"line {lines[first]} is a comment, {records[first][0].strip()!r:.60}"
                    remedy = OF_COMMENTS
                raise ValueError(message(f"file {path!r}", "a table of rows of equal length", fact=fact, remedy=remedy))
            if records:
                yield lines, records


def _loose_record(path: str, layout: Layout, line: str, begin: int, end: int) -> list[str]:
    """Return the fields of a line with a stray quote, or raise ValueError where a quoted field does not end in it.

    Parameters
    ----------
    path : str
    layout : Layout
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
    with open_rows(path, layout.encoding, blanks=layout.blanks) as file:
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
