"""Cosine distance as half the squared Euclidean distance of rows of length one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import warn
from gnomon.exceptions import DataWarning
from gnomon.neighbors.euclidean import Distances, Values

__all__ = ["from_chords", "sparse_unit_rows", "unit_rows", "warn_zero_rows"]

_BLOCK = 4096


def unit_rows(X: Values, *, append: bool | None = None) -> Values:
    """Scale rows to length one.

    Rows of zeros get a coordinate of their own, appended to all rows: they are then at distance sqrt(2), cosine
    distance 1, from every other row and at distance 0 from each other.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    append : bool, default=None
        Whether to append that coordinate; by default if there are rows of zeros.

    Returns
    -------
    ndarray of shape (n_samples, n_features) or (n_samples, n_features + 1)
    """
    zero = ~X.any(axis=1)
    warn_zero_rows(int(zero.sum()))
    if append is None:
        append = bool(zero.any())
    n, n_features = X.shape
    out = np.zeros((n, n_features + append), dtype=X.dtype)
    for begin in range(0, n, _BLOCK):
        rows = X[begin : begin + _BLOCK].astype(np.float64)
        rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)  # squares stay finite
        rows /= np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 0.5)[:, None]  # at least 1 unless all is zero
        out[begin : begin + _BLOCK, :n_features] = rows
    if append:
        out[:, -1] = zero
    return out


def sparse_unit_rows(X: Any, X_new: Any) -> tuple[Any, Any]:
    """Scale sparse rows to length one; rows of zeros get a coordinate of their own."""
    from sklearn.preprocessing import normalize

    tables = [sp.csr_array(table, dtype=np.float64) for table in (X, X_new) if table is not None]
    tables = [normalize(table) for table in tables]
    zero = [sp.csr_array((abs(table).sum(axis=1) == 0).astype(np.float64)[:, None]) for table in tables]
    warn_zero_rows(sum(column.nnz for column in zero))
    tables = [sp.hstack([table, column], format="csr") for table, column in zip(tables, zero, strict=True)]
    return tables[0], tables[1] if len(tables) > 1 else None


def warn_zero_rows(count: int) -> None:
    """Warn about rows whose direction is not defined."""
    if count:
        text = f"{count} rows are all zeros; their cosine distance is 0 to each other and 1 to all other rows"
        warn(text, DataWarning)


def from_chords(distances: npt.NDArray[np.float32]) -> Distances:
    """Turn Euclidean distances of unit rows into cosine distances in [0, 2]."""
    halves: Distances = np.minimum(np.float32(0.5) * distances * distances, np.float32(2.0))
    return halves
