"""Text tables as data sets and as columns."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import message, warn
from gnomon.data.arrays import whole_numbers
from gnomon.data.dataset import Dataset, assemble, note
from gnomon.data.delimited.columns import (
    as_arrays,
    read_careful,
    read_fast,
    read_integers,
    refuse_missing,
    truth_columns,
)
from gnomon.data.delimited.fields import is_number, with_point
from gnomon.data.delimited.layout import Layout, find_layout
from gnomon.data.delimited.letters import find_unlikely
from gnomon.data.delimited.lines import WINDOWS, in_its_encoding
from gnomon.data.names import clean_names, told_repeated
from gnomon.exceptions import DataWarning

__all__ = ["read_columns", "read_delimited"]


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
    dataset: Dataset = in_its_encoding(path, read)
    return dataset


def _read(
    path: str,
    encoding: str,
    *,
    labels: str | None,
    images: tuple[int, ...] | None,
    delimiter: str | None,
    missing: str,
) -> Dataset:
    layout = find_layout(path, encoding, delimiter=delimiter)
    names = clean_names(layout.names) if layout.names is not None else [str(j) for j in range(layout.width)]
    notes: list[str] = []
    if any(layout.commas):
        note(notes, "numbers are read with a decimal comma")
    if layout.told:
        note(notes, layout.told)
    if encoding == WINDOWS:
        note(notes, "the file is no UTF-8 and is read as Windows-1252")
    if layout.doubtful:
        note(notes, "the first row is read as data; if it names the columns, begin its names with a letter")
    elif layout.names is not None and all(map(is_number, map(with_point, layout.names))):
        note(notes, f"the first row holds numbers in order and is read as names: {layout.names[-1]} is a column")
    values = read_fast(path, layout) if layout.numeric else None
    if values is not None:
        columns: dict[str, npt.NDArray[Any]] = {name: values[:, j] for j, name in enumerate(names)}
    else:
        read = read_careful(path, layout, names)
        if missing == "error":
            refuse_missing(path, read, labels)
        columns = as_arrays(path, layout, read)
        columns |= truth_columns({name: values for name, values in columns.items() if name != labels})
    if not columns or len(next(iter(columns.values()))) == 0:
        raise ValueError(message(f"file {path!r}", "a table with rows", fact="it holds a header alone"))
    if layout.names is not None and (repeated := told_repeated(layout.names)):
        warn(f"file {path!r}: {repeated}.", DataWarning)
    _warn_of_points(path, layout, names, columns)
    _warn_of_headers(path, names, columns)
    if encoding == WINDOWS:
        _warn_of_letters(path, names, columns)
    integers = read_integers(path, layout, columns, names)
    point_names = None
    if layout.names is not None and not layout.names[0] and names[0] != labels:
        point_names = _take_row_names(columns, names[0], integers)
        if point_names is not None:
            note(notes, "the first column has no name and is read as row names")
            values = None if values is None else values[:, 1:]
        else:
            note(notes, "the first column has no name and is read as a feature")
    dataset = assemble(
        columns,
        labels=labels,
        images=images,
        source=path,
        notes=notes,
        blocks=values,
        point_names=point_names,
        integers=integers,
    )
    return replace(
        dataset, decimal=layout.decimal, feature_names=None if layout.names is None else dataset.feature_names
    )


def _take_row_names(
    columns: dict[str, npt.NDArray[Any]], first: str, integers: dict[str, npt.NDArray[Any]]
) -> npt.NDArray[Any] | None:
    """Take a nameless first column away if it is text or whole numbers that go up: it is an index, not a feature."""
    values = integers.get(first, whole_numbers(columns[first]))
    if columns[first].dtype.kind == "f" and (len(columns) == 1 or not _go_up(values)):
        return None
    del columns[first]
    integers.pop(first, None)
    return values.astype(str) if values.dtype.kind in "iu" else values


def _go_up(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind in "iu" and bool((values[1:] > values[:-1]).all())


def _warn_of_headers(path: str, names: list[str], columns: dict[str, npt.NDArray[Any]]) -> None:
    """Warn of rows that hold the names of the columns once more, as tables that were put one below another do."""
    if any(values.dtype.kind in "biuf" for values in columns.values()):
        return
    found = np.logical_and.reduce([columns[name] == name for name in names])
    rows = np.flatnonzero(found).tolist()
    if rows:
        which = f"row {rows[0]} repeats" if len(rows) == 1 else f"{len(rows):,} rows, the first {rows[0]}, repeat"
        remedy = "Delete such lines: they are read as data"
        warn(f"file {path!r}: {which} the names of the columns. {remedy}.", DataWarning)


def _warn_of_letters(path: str, names: list[str], columns: dict[str, npt.NDArray[Any]]) -> None:
    """Warn of words that tell that a file is not in Windows-1252, in which it was read."""
    texts = (str(text) for values in columns.values() if values.dtype.kind in "OU" for text in values.tolist())
    if word := find_unlikely(itertools.chain(names, texts)):
        fact = f"is no UTF-8 and is read as Windows-1252, which {word!r:.40} is unlikely in"
        remedy = "If letters are wrong save it as UTF-8 from the program that it comes from"
        warn(f"file {path!r} {fact}. {remedy}.", DataWarning)


def _warn_of_points(path: str, layout: Layout, names: list[str], columns: dict[str, npt.NDArray[Any]]) -> None:
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
    columns: dict[str, npt.NDArray[Any]] = in_its_encoding(path, partial(_read_columns, path))
    return columns


def _read_columns(path: str, encoding: str) -> dict[str, npt.NDArray[Any]]:
    layout = find_layout(path, encoding)
    if layout.names is None:
        remedy = "Write the names of the columns in its first line."
        raise ValueError(message(f"file {path!r}", "a table with names of columns", remedy=remedy))
    read = read_careful(path, layout, clean_names(layout.names))
    columns = as_arrays(path, layout, read)
    integers = read_integers(path, layout, columns, clean_names(layout.names))
    return {name: integers.get(name, whole_numbers(values)) for name, values in columns.items()}
