"""Tables and sparse matrices in a form that the kernels read where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run, made_once

__all__ = [
    "RowTable",
    "as_bytes",
    "dense_in_stored",
    "dense_rows",
    "evenly_spaced",
    "float_rows",
    "kernel_csr",
    "kernel_graph",
    "seems_of_bytes",
    "stored_columns",
    "table_as_bytes",
]

_WORTH_KEEPING = 1 << 20  # numbers of a table whose bytes are kept for the rest of a call
_SHOWN = 256  # rows by which a table is taken to be one of bytes
_KERNEL_TYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8))


def _numbers(values: npt.NDArray[Any], *, allow_bytes: bool) -> npt.NDArray[Any]:
    """Return values of a type that kernels read, without a copy where the type allows it."""
    if values.dtype == np.uint8 and not allow_bytes:
        return values.astype(np.float32)
    if values.dtype in _KERNEL_TYPES:
        return values
    # Integers of up to 16 bits and half floats are exact in float32; everything else needs float64.
    small = values.dtype == np.bool_ or values.dtype.itemsize <= 2 or values.dtype == np.dtype(">f4")
    return values.astype(np.float32 if small else np.float64)


@dataclass(frozen=True)
class RowTable:
    """A dense or sparse table of shape (n_samples, n_features) as the kernels take it.

    Attributes
    ----------
    parts : tuple
        One row-major matrix (float32, float64 or uint8), or offsets, columns, values and the number of features of a
        table in CSR form with sorted unique columns.
    shape : (n_samples, n_features)
    """

    parts: tuple[Any, ...]
    shape: tuple[int, int]

    @cached_property
    def core(self) -> _core.Table:
        """The table as kernels take it; made when it is first asked for, and not pickled."""
        return _core.Table(*self.parts)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made from."""
        return {"parts": self.parts, "shape": self.shape}

    @classmethod
    def of(cls, X: Any) -> RowTable:
        """Wrap an array or a SciPy sparse matrix; nothing is copied if its type and order are already right."""
        if hasattr(X, "tocsr"):
            matrix = X.tocsr()
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            parts = (
                np.ascontiguousarray(matrix.indptr, dtype=np.int64),
                np.ascontiguousarray(matrix.indices, dtype=np.int32),
                np.ascontiguousarray(_numbers(matrix.data, allow_bytes=False)),
                int(matrix.shape[1]),
            )
            return cls(parts, (int(matrix.shape[0]), int(matrix.shape[1])))
        values = np.ascontiguousarray(_numbers(np.asarray(X), allow_bytes=True))
        return cls((values,), (int(values.shape[0]), int(values.shape[1])))


def as_bytes(X: Any) -> Any:
    """Return a table of whole numbers from 0 to 255, such as pixels, as bytes: a quarter of the memory to go through.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    ndarray of uint8
        Of the same numbers; X itself if it is sparse, no C-contiguous table of floats, or holds any other number.
    """
    if not isinstance(X, np.ndarray) or X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
        return X
    # Most tables that are not of such numbers show it at once.
    if not _core.to_bytes(X[:1], np.empty(X[:1].shape, np.uint8), 1):
        return X
    found = np.empty(X.shape, np.uint8)
    return found if _core.to_bytes(X, found, current_run().n_threads) else X


def _is_worth_keeping(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.size >= _WORTH_KEEPING


def seems_of_bytes(X: Any) -> bool:
    """Say whether `table_as_bytes` keeps a copy of a table, as a few hundred of its rows show.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    bool
    """
    if not _is_worth_keeping(X):
        return False
    some = np.ascontiguousarray(X[:: max(1, len(X) // _SHOWN)])
    return as_bytes(some) is not some


def table_as_bytes(X: Any) -> Any:
    """Return what `as_bytes` does of a whole table, which is turned into bytes once within the call of a user.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        No buffer: its numbers stay as they are while it lives.
    """
    if not _is_worth_keeping(X):
        return as_bytes(X)

    def made() -> Any:
        found = as_bytes(X)
        return None if found is X else found  # X would hold itself

    found = made_once("bytes", X, made)
    return X if found is None else found


def kernel_graph(matrix: Any) -> _core.Graph:
    """Return a square CSR matrix as the kernels take it, checked.

    Parameters
    ----------
    matrix : CSR array or matrix of shape (n, n)
        Its arrays must not change while the result lives: nothing is copied that has the right type already.

    Returns
    -------
    gnomon._core.Graph
        Of float32 weights.

    Raises
    ------
    ValueError
        If a column number lies outside [0, n), or offsets, columns and values do not fit together.
    """
    return _core.Graph(*kernel_csr(matrix))


def kernel_csr(matrix: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return the offsets (int64), columns (int32) and values (float32) of a CSR matrix.

    Parameters
    ----------
    matrix : CSR array or matrix of shape (n_rows, n_columns)
        Nothing is copied that has the right type already.

    Returns
    -------
    offsets : ndarray of shape (n_rows + 1,), int64
    columns : ndarray of shape (n_entries,), int32
    values : ndarray of shape (n_entries,), float32
    """
    return (
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        np.ascontiguousarray(matrix.indices, dtype=np.int32),
        np.ascontiguousarray(matrix.data, dtype=np.float32),
    )


def dense_rows(rows: Any) -> npt.NDArray[np.float64]:
    """Return rows of a table or sparse matrix as a dense array in double; no copy of what is one already."""
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


def dense_in_stored(rows: Any) -> tuple[npt.NDArray[np.float64], Any]:
    """Return rows as `dense_rows`, but of a sparse table the columns that these rows store alone; and which they are.

    Where they store none the first column stands for all.
    """
    stored = stored_columns(rows)
    if stored is None:
        return dense_rows(rows), slice(None)
    stored = stored if len(stored) else np.zeros(1, dtype=np.int64)
    return dense_rows(rows[:, stored]), stored


def stored_columns(rows: Any) -> npt.NDArray[np.int64] | None:
    """Return the columns that some rows of a sparse table store, ascending; None for dense rows, of which all count."""
    return None if isinstance(rows, np.ndarray) else np.unique(rows.tocsr().indices).astype(np.int64)


def float_rows(rows: Any) -> Any:
    """Return a table or sparse matrix in float32 or float64, a table in C order; no copy of what is one already."""
    values = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float32)
    return values if hasattr(values, "tocsr") else np.ascontiguousarray(values)


def evenly_spaced(n: int, most: int) -> npt.NDArray[np.int64]:
    """Return the numbers of at most `most` of n rows, ascending, the first and the last among them, at even steps."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)
