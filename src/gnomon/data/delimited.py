"""CSV and TSV files, with NumPy and the csv module alone."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.columns import assemble, note, text_array
from gnomon.data.dataset import Dataset
from gnomon.data.names import clean_names
from gnomon.data.sniff import MISSING, Layout, open_text, sniff

__all__ = ["read_delimited"]

_BLOCK = 4096  # records converted together
_SHOWN = 5  # places named in an error


@dataclass(slots=True)
class _Column:
    """What is known of a column while it is read."""

    is_text: bool = False
    pieces: list[npt.NDArray[np.float64]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)  # lines of the first missing values
    n_missing: int = 0

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        if self.is_text:
            return
        numbers = _numbers(cells)
        if numbers is None:
            self.is_text, self.pieces = True, []
            return
        absent = np.flatnonzero(np.isnan(numbers))
        self.n_missing += absent.size
        self.missing += [lines[i] for i in absent[: _SHOWN - len(self.missing)]]
        self.pieces.append(numbers)


def _numbers(cells: tuple[str, ...]) -> npt.NDArray[np.float64] | None:
    """Return a column of fields as numbers, NaN where one is missing; None if a field is text."""
    if "_" in "".join(cells):
        return None  # Python reads 1_000 as a number
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        pass
    filled = ["nan" if cell.strip().lower() in MISSING else cell for cell in cells]
    try:
        return np.fromiter(map(float, filled), np.float64, len(cells))
    except ValueError:
        return None


def _records(path: str, layout: Layout, *, who: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row after the header; blank lines are passed over."""
    with open_text(path, who=who) as file:
        reader = csv.reader(file, delimiter=layout.delimiter)
        records = (record for record in reader if record)
        if layout.names is not None:
            next(records, None)
        for record in records:
            if len(record) != layout.width:
                fact = f"line {reader.line_num} has {len(record)} fields, the rows before it {layout.width}"
                remedy = "Is the file complete, and every field that holds the delimiter in quotes?"
                raise ValueError(
                    message(who, f"file {path!r}", "a table of rows of equal length", fact=fact, remedy=remedy)
                )
            yield reader.line_num, record


def _read_fast(path: str, layout: Layout, *, who: str) -> npt.NDArray[np.float64] | None:
    """Read a file of numbers alone; None if it holds anything else, which the careful way explains."""
    with open_text(path, who=who) as file:
        if layout.names is not None:
            next(record for record in csv.reader(file, delimiter=layout.delimiter) if record)
        try:
            values = np.loadtxt(file, delimiter=layout.delimiter, comments=None, quotechar='"', ndmin=2)
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None
    return None if values.shape[1] != layout.width or np.isnan(values).any() else values


def _read_careful(path: str, layout: Layout, names: list[str], *, who: str) -> dict[str, _Column]:
    columns = {name: _Column() for name in names}
    records = _records(path, layout, who=who)
    while block := list(itertools.islice(records, _BLOCK)):
        lines = [line for line, _ in block]
        for column, cells in zip(columns.values(), zip(*(record for _, record in block), strict=True), strict=True):
            column.add(cells, lines)
    for column in columns.values():
        n_rows = sum(piece.size for piece in column.pieces)
        column.is_text = column.is_text or column.n_missing == n_rows  # an empty column is no feature
    return columns


def _read_text(path: str, layout: Layout, columns: dict[str, _Column], *, who: str) -> dict[str, npt.NDArray[Any]]:
    """Read the text columns in a second pass: a column may turn out to be text only in its last row."""
    places = [(j, name) for j, (name, column) in enumerate(columns.items()) if column.is_text]
    cells: dict[str, list[str]] = {name: [] for _, name in places}
    if places:
        for _, record in _records(path, layout, who=who):
            for j, name in places:
                cells[name].append(record[j])
    return {name: text_array(values) for name, values in cells.items()}


def _refuse_missing(path: str, columns: dict[str, _Column], labels: str | None, *, who: str) -> None:
    holes = {n: c for n, c in columns.items() if c.n_missing and not c.is_text and n != labels}
    if not holes:
        return
    total = sum(column.n_missing for column in holes.values())
    places = [(line, name) for name, column in holes.items() for line in column.missing]
    shown = "; ".join(f"line {line}, column {name!r}" for line, name in sorted(places)[:_SHOWN])
    fact = (
        f"{total:,} missing {'value' if total == 1 else 'values'}, {'the first ' if total > _SHOWN else ''}at {shown}"
    )
    remedy = "Fill them in, or leave these rows or columns out."
    raise ValueError(message(who, f"file {path!r}", "without missing values", fact=fact, remedy=remedy))


def _take_row_names(columns: dict[str, npt.NDArray[Any]], first: str) -> npt.NDArray[Any] | None:
    """Take a nameless first column away if it is text or counts the rows: it is an index, not a feature."""
    values = columns[first]
    if values.dtype.kind == "f" and (len(columns) == 1 or not (values == values[0] + np.arange(len(values))).all()):
        return None
    del columns[first]
    return values.astype(np.int64).astype(str) if values.dtype.kind == "f" else values


def read_delimited(
    path: str | os.PathLike[str],
    *,
    who: str = "read_table",
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
    delimiter: str | None = None,
) -> Dataset:
    """Read a text table, header and delimiter found by looking; see `read_table`."""
    path = os.fspath(path)
    layout = sniff(path, who=who, delimiter=delimiter)
    names = clean_names(layout.names) if layout.names is not None else [str(j) for j in range(layout.width)]
    notes: list[str] = []
    values = _read_fast(path, layout, who=who) if layout.numeric else None
    if values is not None:
        columns: dict[str, npt.NDArray[Any]] = {name: values[:, j] for j, name in enumerate(names)}
    else:
        read = _read_careful(path, layout, names, who=who)
        text = _read_text(path, layout, read, who=who)
        _refuse_missing(path, read, labels, who=who)
        columns = {
            n: text[n] if c.is_text else np.concatenate(c.pieces) for n, c in read.items() if n in text or c.pieces
        }
    if not columns or len(next(iter(columns.values()))) == 0:
        raise ValueError(message(who, f"file {path!r}", "a table with rows", fact="it holds a header alone"))
    point_names = None
    if layout.names is not None and not layout.names[0] and names[0] != labels:
        point_names = _take_row_names(columns, names[0])
        if point_names is not None:
            note(notes, "the first column has no name and is read as row names")
            values = None if values is None else values[:, 1:]
    dataset = assemble(
        columns, who=who, labels=labels, images=images, source=path, notes=notes, blocks=values, point_names=point_names
    )
    return dataset if layout.names is not None else replace(dataset, feature_names=None)
