"""Rows of a text table: which of them hold anything, are comments or stand above it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from gnomon.data.delimited.lines import open_text

__all__ = [
    "DELIMITERS",
    "OF_COMMENTS",
    "SAMPLE",
    "WIDEST",
    "first_lines",
    "holds_anything",
    "is_comment",
    "lines_above",
]

OF_COMMENTS = "Delete the lines that begin with #, or pass pandas.read_csv(path, comment='#')."
DELIMITERS = ",;\t|"
SAMPLE = 50  # records looked at
_SAMPLE_CHARACTERS = 2**22  # in lines looked at, beyond the first three
WIDEST = 10**6  # fields in a row


def holds_anything(record: list[str]) -> bool:
    """Return whether a row of a file holds anything; a single empty field is a missing value.

    Parameters
    ----------
    record : list of str

    Returns
    -------
    bool
    """
    return len(record) == 1 or len(record) > WIDEST or any(cell and not cell.isspace() for cell in record)


def is_comment(record: list[str]) -> bool:
    """Return whether a row begins as a comment does.

    Parameters
    ----------
    record : list of str
        The fields of a row.

    Returns
    -------
    bool
    """
    return bool(record) and record[0].lstrip().startswith("#")


def first_lines(lines: Iterator[str]) -> list[str]:
    """Return the lines of a table that are looked at.

    Parameters
    ----------
    lines : iterator of str

    Returns
    -------
    list of str
    """
    sample: list[str] = []
    n_characters = 0
    for line in lines:
        sample.append(line)
        n_characters += len(line)
        if len(sample) == 4 * SAMPLE or (n_characters > _SAMPLE_CHARACTERS and len(sample) >= 3):
            break
    return sample


def lines_above(path: str, encoding: str) -> str:
    """Return what to do about lines above a table, such as a title, that have fewer fields than all of its rows.

    Empty if the first lines of the file show no such table.

    Parameters
    ----------
    path : str
    encoding : str

    Returns
    -------
    str
    """
    with open_text(path, encoding) as file:
        lines = first_lines(file)
    best, most = 0, 1
    for delimiter in DELIMITERS:
        try:
            widths = [len(record) if holds_anything(record) else 0 for record in csv.reader(lines, delimiter=delimiter)]
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
