"""Sparse matrices as the kernels take them, and dense ones made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core

__all__ = ["dense_rows", "kernel_csr", "kernel_graph"]


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
