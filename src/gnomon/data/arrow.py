"""Parquet and Feather files through pyarrow."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.columns import assemble
from gnomon.data.dataset import Dataset
from gnomon.data.names import clean_names

__all__ = ["read_arrow"]

_INDEX = "__index_level_"  # how pandas names an index that has no name


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
    return int(lengths[0]) if len(lengths) == 1 else None


def _numbers(column: Any) -> npt.NDArray[Any]:
    """Return a column of numbers as an array, NaN where a value is missing."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type) or (pa.types.is_boolean(column.type) and column.null_count):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


def _read_table(path: str, *, who: str) -> Any:
    pa = import_optional("pyarrow", package="pyarrow", extra="io", who=who)
    kind = "Parquet" if path.endswith(".parquet") else "Feather"
    module = "pyarrow.parquet" if kind == "Parquet" else "pyarrow.feather"
    reader = import_optional(module, package="pyarrow", extra="io", who=who)
    try:
        return reader.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(message(who, f"file {path!r}", f"a complete {kind} file", fact=reason)) from error


def read_arrow(
    path: str | os.PathLike[str],
    *,
    who: str = "read_table",
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
) -> Dataset:
    """Read a Parquet or Feather file; a column of vectors becomes one column for each entry; see `read_table`."""
    import_optional("pyarrow", package="pyarrow", extra="io", who=who)
    import pyarrow as pa

    path = os.fspath(path)
    table = _read_table(path, who=who)
    columns: dict[str, npt.NDArray[Any]] = {}
    point_names = None
    for name, column in zip(clean_names(table.column_names), table.columns, strict=True):
        kind, length = column.type, _vector_length(column)
        if name.startswith(_INDEX):
            point_names = np.array([str(value) for value in column.to_pylist()])
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
        else:
            text = [None if value is None else str(value) for value in column.to_pylist()]
            columns[name] = np.array(text, dtype=object if None in text else None)
    _refuse_missing(path, columns, labels, who=who)
    return assemble(columns, who=who, labels=labels, images=images, source=path, point_names=point_names)


def _refuse_missing(path: str, columns: dict[str, npt.NDArray[Any]], labels: str | None, *, who: str) -> None:
    for name, values in columns.items():
        if values.dtype.kind == "f" and name != labels and np.isnan(values).any():
            rows = np.flatnonzero(np.isnan(values))
            fact = f"column {name!r} has {len(rows):,} missing, the first in row {rows[0]}"
            remedy = "Fill them in, or leave these rows or columns out."
            raise ValueError(message(who, f"file {path!r}", "without missing values", fact=fact, remedy=remedy))
