"""A preconditioner for matrices too large to factor: smooth vectors of the whole and factors of small parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from gnomon.linalg.eigen.multilevel import spectral_vectors

__all__ = ["PrincipalParts", "principal_parts", "smooth_vectors"]

Float64Array = npt.NDArray[np.float64]

_N_SMOOTH = 27
_PART = 400  # rows; a dense factor of it takes some milliseconds
_SHIFT = 1e-10


def smooth_vectors(matrix: Any, seed: int) -> Float64Array:
    """Return bottom eigenvectors of the graph of a matrix, which are near those of the matrix where it is a
    differential operator on the graph.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
    seed : int

    Returns
    -------
    ndarray of shape (n_samples, 27), float64
        Fewer columns for matrices of less than a few hundred rows.
    """
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(matrix.indptr))
    other = rows != matrix.indices
    ones = np.ones(int(other.sum()), dtype=np.float32)
    weights = sp.csr_array((ones, (rows[other], matrix.indices[other])), shape=matrix.shape)
    return spectral_vectors(weights, max(1, min(_N_SMOOTH, n // 8)), seed=seed, tolerance=1e-1).vectors


class PrincipalParts:
    """Solves with the blocks on the diagonal that belong to disjoint sets of rows."""

    def __init__(self, matrix: Any, sets: list[npt.NDArray[np.intp]]) -> None:
        self._sets = sets
        scale = float(matrix.diagonal().max())
        self._factors = []
        for rows in sets:
            block = matrix[rows][:, rows].toarray()
            block[np.diag_indices_from(block)] += _SHIFT * scale
            self._factors.append(scipy.linalg.cho_factor(block, lower=True, overwrite_a=True, check_finite=False))

    def solve(self, B: Float64Array) -> Float64Array:
        """Return the solutions for right-hand sides (n_samples, n_columns)."""
        X = np.empty_like(B)
        for rows, factor in zip(self._sets, self._factors, strict=True):
            X[rows] = scipy.linalg.cho_solve(factor, B[rows], check_finite=False)
        return X


def principal_parts(matrix: Any, coordinates: Float64Array) -> PrincipalParts:
    """Cut the rows into compact sets by halving along their widest coordinates, and factor the block of each."""
    sets, pending = [], [np.arange(matrix.shape[0])]
    while pending:
        rows = pending.pop()
        if rows.size <= _PART:
            sets.append(rows)
            continue
        axis = int(np.ptp(coordinates[rows], axis=0).argmax())
        order = np.argsort(coordinates[rows, axis], kind="stable")
        pending += [np.sort(rows[order[: rows.size // 2]]), np.sort(rows[order[rows.size // 2 :]])]
    return PrincipalParts(matrix, sets)
