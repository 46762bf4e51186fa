"""Eigenvectors of a symmetric matrix that is written out, the same bits on every processor."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run

__all__ = ["symmetric_eigen"]

Float64Array = npt.NDArray[np.float64]


def symmetric_eigen(
    matrix: npt.ArrayLike, n_vectors: int | None = None, *, least: float = -np.inf
) -> tuple[Float64Array, Float64Array]:
    """Return all eigenvalues of a symmetric matrix, falling, and the vectors of the largest.

    Parameters
    ----------
    matrix : array-like of shape (n, n), float64
        Of which the part below the diagonal and the diagonal count. A matrix that is not finite has eigenvalues of NaN
        and no vectors.
    n_vectors : int >= 0 or None, default=None
        Most vectors wanted; None for all.
    least : float, default=-inf
        Only those of eigenvalues above this are wanted.

    Returns
    -------
    values : ndarray of shape (n,), float64
    vectors : ndarray of shape (n, at most n_vectors), float64
        Orthonormal columns, of signs as they came.
    """
    given = np.ascontiguousarray(matrix, dtype=np.float64)
    order = len(given)
    values, vectors = np.empty(order), np.empty((order, order if n_vectors is None else min(n_vectors, order)))
    kept = _core.dense_eigen(given, least, values, vectors, current_run().n_threads)
    return values, np.ascontiguousarray(vectors[:, :kept])
