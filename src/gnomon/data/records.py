"""Tables as Python and NumPy hold them by name: a mapping of columns, a list of records, an array with fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.arrays import fields_of, floats_from_objects, unmasked
from gnomon.data.dataset import Dataset, assemble
from gnomon.data.table import check_same_length

__all__ = ["are_records", "columns_of_records", "read_records", "rows_of"]

_LISTS = (list, tuple, set, frozenset, np.ndarray)


def are_records(X: Any) -> bool:
    """Return whether X is a mapping of columns, which a sparse matrix is not, a list of mappings, or has fields."""
    if isinstance(X, Mapping):
        return not hasattr(X, "tocsr")
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and bool(X.dtype.names)
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)


def read_records(X: Any) -> Dataset:
    """Return a mapping of columns, a list of records or a structured array as a data set.

    Parameters
    ----------
    X : mapping of str to sequence, sequence of mappings, or structured ndarray of one dimension
        A record may lack entries, which are missing values then; so are masked values.

    Returns
    -------
    Dataset
        Columns of numbers, and those of texts as metadata, of which `gnomon.map` makes features.
    """
    columns = columns_of_records(X)
    check_same_length(**columns)
    return assemble(columns, labels=None, images=None, source="", typed=True)


def columns_of_records(X: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of what `read_records` reads by name, as they came; numbers with NaN where one is missing.

    Parameters
    ----------
    X : mapping of str to sequence, sequence of mappings, or structured ndarray of one dimension

    Returns
    -------
    dict of str to ndarray of shape (n_samples,)
    """
    given = X if isinstance(X, Mapping) else fields_of(X) if isinstance(X, np.ndarray) else _columns_of(X)
    return {str(name): _column(str(name), values) for name, values in given.items()}


def rows_of(values: Any, *, name: str) -> npt.NDArray[Any]:
    """Return what a column holds in each row as an array; of objects where it holds lists, but vectors of one length.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
    name : str
        What errors about a tensor call it.
    """
    given = unmasked(values, name=name)
    if not isinstance(given, list | tuple) or not any(isinstance(value, _LISTS) for value in given):
        return np.asarray(given)
    try:
        table = np.asarray(given)
    except ValueError:  # of several lengths
        table = None
    if table is not None and table.ndim > 1 and table.dtype.kind in "iuf":
        return table
    column = np.empty(len(given), dtype=object)
    for row, value in enumerate(given):
        column[row] = value
    return column


def _columns_of(records: Any) -> dict[Any, list[Any]]:
    odd = [i for i, record in enumerate(records) if not isinstance(record, Mapping)]
    if odd:
        fact = f"number {odd[0]} is {type(records[odd[0]]).__name__}"
        raise TypeError(message("X", "a list of mappings alone, or of rows alone", fact=fact))
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _column(name: str, values: Any) -> npt.NDArray[Any]:
    column = rows_of(values, name=f"X[{name!r}]") if hasattr(values, "__len__") else np.asarray([values])
    if column.dtype.kind in "US" and not isinstance(values, np.ndarray) and any(not isinstance(v, str) for v in values):
        column = np.asarray(values, dtype=object)  # NumPy would write None and 1 as text
    if column.ndim == 2 and column.dtype.kind in "iuf":  # a vector in each row
        rows = np.empty(len(column), dtype=object)
        rows[:] = list(column)
        return rows
    if column.ndim != 1:
        raise ValueError(message(f"column {name!r} of shape {column.shape}", "one value for each row"))
    if column.dtype.kind != "O":
        return column
    floats, bad = floats_from_objects(column)
    return floats if bad is None else column
