"""Whether a matrix of pairs is the same in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message

__all__ = ["check_symmetric"]

_SCREEN = 1e-5  # of the sums of a row: what rounding in float32 leaves of equal sums is less, as a rule
_OF_ENTRY = 1e-4
_BLOCK = 512  # rows of a dense matrix that are looked at together


def check_symmetric(matrix: Any, what: str, *, of_entry: float = _OF_ENTRY, of_largest: float = 0.0) -> None:
    """Raise ValueError if a matrix of pairs is not square, or not the same in both directions.

    A pair differs where its two entries do by more than both tolerances say. Of a sparse matrix, products of it and of
    its transpose with one random vector are compared first, unless a share of the largest entry is asked for: 6 ms for
    each million entries and no copy of them; only where they differ is it compared with its transpose, entry by entry.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n_samples, n_samples)
        Entries that are not finite are not looked at.
    what : str
        Its name, with which the error begins.
    of_entry : float >= 0, default=1e-4
        Difference that rounding may leave, as a share of the larger of the two entries.
    of_largest : float >= 0, default=0.0
        As a share of the largest entry of all, such as 1e-6 where entries next to 0 are differences of large numbers.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(message(f"{what} of shape {matrix.shape}", "a square matrix"))
    if not isinstance(matrix, np.ndarray):
        matrix = scipy.sparse.csr_array(matrix)
    with np.errstate(invalid="ignore", over="ignore"):
        found = (_of_dense if isinstance(matrix, np.ndarray) else _of_sparse)(matrix, of_entry, of_largest)
    if found is None:
        return
    i, j = sorted(found, key=lambda row: -abs(float(matrix[row, sum(found) - row])))
    there, again = (float(matrix[pair]) for pair in ((i, j), (j, i)))
    fact = f"{there:.4g} at row {i}, column {j} and {again:.4g} at row {j}, column {i}"
    raise ValueError(message(what, "symmetric", fact=fact, remedy="Pass (A + A.T) / 2 of such a matrix A."))


def _of_dense(matrix: npt.NDArray[Any], of_entry: float, of_largest: float) -> tuple[int, int] | None:
    """Return the row and the column of the pair that differs most beyond the tolerances, None if none does."""
    least = of_largest * float(max(matrix.max(), -matrix.min())) if of_largest and matrix.size else 0.0
    most, found = 0.0, None
    for begin in range(0, len(matrix), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        along, back = matrix[rows], matrix[:, rows].T
        excess = _excess(along, back, along - back, of_entry, least)
        worst = int(excess.argmax())
        if excess.flat[worst] > most:
            most, found = float(excess.flat[worst]), divmod(worst, len(matrix))
            found = (found[0] + begin, found[1])
    return found


def _of_sparse(matrix: Any, of_entry: float, of_largest: float) -> tuple[int, int] | None:
    """Return the same for a sparse matrix."""
    largest = float(abs(matrix).max()) if of_largest and matrix.nnz else 0.0
    if not of_largest and _has_equal_products(matrix):
        return None
    entries = scipy.sparse.coo_array(scipy.sparse.csr_array(matrix - matrix.T))
    if not entries.nnz:
        return None
    along, back = (
        np.asarray(matrix[pair]).ravel() for pair in ((entries.row, entries.col), (entries.col, entries.row))
    )
    excess = _excess(along, back, entries.data, of_entry, of_largest * largest)
    worst = int(excess.argmax())
    return (int(entries.row[worst]), int(entries.col[worst])) if excess[worst] > 0.0 else None


def _has_equal_products(matrix: Any) -> bool:
    """Say whether a matrix and its transpose have the same product with a random vector, up to rounding."""
    dtype = np.float32 if matrix.dtype == np.float32 else np.float64
    vector = 1.0 + np.random.default_rng(0).random(matrix.shape[0], dtype=dtype)
    sizes = abs(matrix) if matrix.nnz and matrix.data.min() < 0 else matrix
    along, back = matrix @ vector, matrix.T @ vector
    scale = along + back if sizes is matrix else sizes @ vector + sizes.T @ vector
    return not np.any(np.abs(along - back) > _SCREEN * scale)


def _excess(along: Any, back: Any, differences: Any, of_entry: float, least: float) -> npt.NDArray[np.floating]:
    """Return by how much differences are beyond what rounding may leave."""
    allowed = np.maximum(of_entry * np.maximum(np.abs(along), np.abs(back)), least)
    return np.asarray(np.nan_to_num(np.abs(differences) - allowed))
