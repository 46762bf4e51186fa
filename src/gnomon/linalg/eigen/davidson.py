"""Smallest eigenpairs of matrices too large to factor, by Davidson's method.

Its preconditioner is made of smooth vectors of the whole and of factors of small blocks on the diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.linalg.eigen.base import Search, Semidefinite
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.eigen.krylov import new_directions
from gnomon.linalg.eigen.laplacian import GraphLaplacian, laplacian_eigenpairs
from gnomon.linalg.products import product

__all__ = ["davidson"]

Float64Array = npt.NDArray[np.float64]

_N_SMOOTH = 27
_PART = 400  # rows of a block; a dense factor of it takes some milliseconds
_SHIFT = 1e-10
_MAX_STEPS, _MAX_BASIS, _KEPT = 200, 120, 60


def davidson(operator: Semidefinite, search: Search) -> tuple[Float64Array, bool]:
    """Enlarge a space of smooth vectors by preconditioned residuals.

    Returns
    -------
    vectors : ndarray of shape (n_samples, n_vectors)
    out_of_time : bool
    """
    n, n_vectors, matrix = operator.n, search.n_vectors, operator.matrix
    start = _smooth_vectors(matrix, search)
    blocks = _DiagonalBlocks(matrix, _compact_sets(start))
    width = n_vectors + 3
    basis = new_directions(operator.without_known(start), np.empty((n, 0)))
    images = operator.times(basis)
    best = basis[:, :n_vectors]
    for step in range(_MAX_STEPS):
        small = product(basis.T, images)
        values, rotation = (part[..., ::-1] for part in symmetric_eigen((small + small.T) / 2.0))
        found, image = product(basis, rotation[:, :width]), product(images, rotation[:, :width])
        best = found[:, :n_vectors]
        residuals = image - found * values[:width]
        worst = float(np.linalg.norm(residuals[:, :n_vectors], axis=0).max())
        if worst <= operator.limit(values[:n_vectors], search.tolerance):
            return best, False
        if search.stopped(step, _MAX_STEPS):
            return best, True
        if basis.shape[1] + width > _MAX_BASIS:
            basis, images = product(basis, rotation[:, :_KEPT]), product(images, rotation[:, :_KEPT])
        block = new_directions(operator.without_known(blocks.solve(residuals)), basis)
        if block.shape[1] == 0:
            return best, False
        basis, images = np.hstack([basis, block]), np.hstack([images, operator.times(block)])
    return best, False


def _smooth_vectors(matrix: Any, search: Search) -> Float64Array:
    """Return the smoothest eigenvectors of the graph of a matrix, 27 unless it has less than a few hundred rows.

    They are near those of the matrix where it is a differential operator on the graph.
    """
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(matrix.indptr))
    other = rows != matrix.indices
    ones = np.ones(int(other.sum()), dtype=np.float32)
    weights = scipy.sparse.csr_array((ones, (rows[other], matrix.indices[other])), shape=matrix.shape)
    rough = Search(max(1, min(_N_SMOOTH, n // 8)), 1e-1, search.seed, deadline=search.deadline)
    return laplacian_eigenpairs(GraphLaplacian(weights), rough).vectors


def _compact_sets(coordinates: Float64Array) -> list[npt.NDArray[np.intp]]:
    """Cut the rows into compact sets by halving along their widest coordinates."""
    sets, pending = [], [np.arange(len(coordinates))]
    while pending:
        rows = pending.pop()
        if rows.size <= _PART:
            sets.append(rows)
            continue
        axis = int(np.ptp(coordinates[rows], axis=0).argmax())
        order = np.argsort(coordinates[rows, axis], kind="stable")
        pending += [np.sort(rows[order[: rows.size // 2]]), np.sort(rows[order[rows.size // 2 :]])]
    return sets


class _DiagonalBlocks:
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
