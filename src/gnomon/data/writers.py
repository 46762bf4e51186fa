"""Columns out: text and Parquet tables, each written whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write
from gnomon.data.arrays import is_missing, whole_numbers

__all__ = ["texts_of", "write_columns"]


def texts_of(values: npt.NDArray[Any]) -> list[str | None]:
    """Return a column as text, None where a value is missing.

    Numbers have as many digits as give the same number back, without a point where all beside missing ones are whole;
    dates have a time only where one of them is not at midnight.
    """
    if values.dtype.kind == "M":
        values = _shortest(values)
    if values.dtype.kind == "f" and np.isnan(values).any():
        known = whole_numbers(values[~np.isnan(values)])
        if known.dtype.kind == "i":  # integers that are floats because some are missing
            texts = iter(known.tolist())
            return [None if missing else str(next(texts)) for missing in np.isnan(values)]
    if values.dtype.kind in "OfMm":
        return [None if is_missing(value) else _text(value) for value in values]
    return [_text(value) for value in values]


def _shortest(dates: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return dates in the coarsest unit, days or seconds, that keeps them all."""
    for unit in ("D", "s"):
        coarse = dates.astype(f"datetime64[{unit}]")
        if np.array_equal(coarse, dates, equal_nan=True):
            return coarse
    return dates


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write columns of equal length as a table with a header.

    Parameters
    ----------
    path : str or path-like
        Ends in ``.parquet`` for a Parquet file, which needs pyarrow; else it becomes comma-separated text in UTF-8.
    columns : mapping of str to ndarray of shape (n_rows,)
        Numbers, text, dates or truth values. What is missing is an empty field of text, and null in Parquet.

    Raises
    ------
    MissingDependencyError
        If a Parquet file is asked for and pyarrow is not installed.
    OSError
        If the file cannot be written.
    """
    if os.fspath(path).lower().endswith(".parquet"):
        _write_parquet(path, columns)
        return
    with atomic_write(path, "w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(texts_of, columns.values()), strict=True))


def _write_parquet(path: str | os.PathLike[str], columns: Mapping[str, npt.NDArray[Any]]) -> None:
    from gnomon.data.arrow import import_arrow

    parquet = import_arrow(os.fspath(path).lower())
    import pyarrow as pa

    arrays = {}
    for name, values in columns.items():
        plain: Any = texts_of(values) if values.dtype.kind in "OSU" else np.ascontiguousarray(values)
        arrays[name] = pa.array(plain, from_pandas=True)
    with atomic_write(path) as file:
        parquet.write_table(pa.table(arrays), file)
