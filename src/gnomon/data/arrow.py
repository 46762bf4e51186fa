"""Parquet and Feather files through pyarrow."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._optional import import_optional
from gnomon.data.arrays import exact_integers, may_be_rounded, told_of_rounding
from gnomon.data.dataset import Dataset, assemble, refuse_gaps, text_array
from gnomon.data.labels import in_order
from gnomon.data.limits import refuse_unreadable
from gnomon.data.names import clean_names

__all__ = ["import_arrow", "read_arrow"]

_INDEX = "__index_level_"  # how pandas names an index that has no name


def import_arrow(path: str | os.PathLike[str]) -> Any:
    """Import what reads a file, or raise MissingDependencyError."""
    module = "pyarrow.parquet" if os.fspath(path).endswith(".parquet") else "pyarrow.feather"
    import_optional("pyarrow", package="pyarrow", extra="io")
    return import_optional(module, package="pyarrow", extra="io")


def _vector_length(column: Any) -> int | None:
    """Return the common length of a column of vectors of numbers; None if it is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    inner = kind.value_type
    if not (pa.types.is_integer(inner) or pa.types.is_floating(inner)) or column.null_count or len(column) == 0:
        return None
    lengths = pc.unique(pc.list_value_length(column)).to_pylist()
    return int(lengths[0]) if len(lengths) == 1 and lengths[0] else None


def _numbers(column: Any) -> npt.NDArray[Any]:
    """Return a column of numbers as an array, NaN where a value is missing."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type) or (pa.types.is_boolean(column.type) and column.null_count):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


def _order(column: Any) -> list[str]:
    """Return the categories of a column of texts in their order; empty without any."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type) or not column.type.ordered or not column.num_chunks:
        return []
    found = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return found if all(isinstance(one, str) for one in found) else []


Columns = dict[str, npt.NDArray[Any]]


def _columns(table: Any, notes: list[str]) -> tuple[Columns, Columns, npt.NDArray[Any] | None]:
    """Return the columns of a table as arrays, those of integers that are rounded so, and the names of its rows."""
    import pyarrow as pa

    # The reader believes what a file says of offsets and lengths; what is read below must lie within the buffers.
    table.validate(full=True)
    columns: dict[str, npt.NDArray[Any]] = {}
    integers: Columns = {}
    point_names = None
    for name, column in zip(clean_names(table.column_names), table.columns, strict=True):
        kind, length = column.type, _vector_length(column)
        if name.startswith(_INDEX):
            point_names = text_array([str(value) for value in column.to_pylist()])
        elif length is not None:
            vectors = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, length)
            columns |= {f"{name}[{j}]": vectors[:, j] for j in range(length)}
        elif (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
        ):
            columns[name] = _numbers(column)
            is_whole = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0)
            if is_whole and columns[name].dtype.kind == "f" and may_be_rounded(columns[name]):
                given = column.to_pylist()
                integers[name] = exact_integers([None if value is None else int(value) for value in given])
            if pa.types.is_integer(kind) and column.null_count:  # NaN where one is missing makes floats of all
                told = told_of_rounding(np.asarray(column.drop_null().to_numpy()))
                notes += [f"{name!r}: {told}"] if told else []
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind):
            columns[name] = np.asarray(column.to_numpy())  # NaT where one is missing
        else:
            texts = text_array([None if value is None else str(value) for value in column.to_pylist()])
            columns[name] = in_order(texts, _order(column))
    return columns, integers, point_names


@part("read_table")
def read_arrow(
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
    missing: str = "error",
) -> Dataset:
    """Read a Parquet or Feather file; a column of vectors becomes one column for each entry; see `read_table`.

    pyarrow may crash on a damaged file: `gnomon.data.isolated` calls this in a process of its own.
    """
    reader = import_arrow(path)
    path = os.fspath(path)
    kind = "Parquet" if path.endswith(".parquet") else "Feather"
    # Whatever pyarrow raises on the way from a file to arrays means that the file cannot be read: beside its own
    # classes there are UnicodeDecodeError, SystemError, IndexError and more.
    notes: list[str] = []
    with refuse_unreadable(f"file {path!r}", f"a complete {kind} file", errors=(Exception,)):
        columns, integers, point_names = _columns(reader.read_table(path), notes)
    if missing == "error":
        _refuse_missing(path, columns, labels)
    return assemble(
        columns,
        labels=labels,
        images=images,
        source=path,
        notes=notes,
        point_names=point_names,
        typed=True,
        integers=integers,
    )


def _refuse_missing(path: str, columns: dict[str, npt.NDArray[Any]], labels: str | None) -> None:
    for name, values in columns.items():
        if values.dtype.kind == "f" and name != labels and np.isnan(values).any():
            rows = np.flatnonzero(np.isnan(values))
            fact = f"column {name!r} has {len(rows):,} missing, the first in row {rows[0]}"
            refuse_gaps(path, fact)
