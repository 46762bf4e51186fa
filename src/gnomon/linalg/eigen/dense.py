"""Eigenpairs of matrices that are written out, by LAPACK."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon.linalg.eigen.search import Eigenpairs
from gnomon.linalg.signs import with_signs

__all__ = ["dense_largest", "dense_smallest"]

Float64Array = npt.NDArray[np.float64]


def dense_largest(
    product: Callable[[Float64Array], Float64Array], n_samples: int, n_vectors: int, *, other_end: bool = False
) -> Eigenpairs:
    """Find the largest pairs of an operator; all its eigenvalues if the other end of the spectrum is wanted too."""
    matrix = product(np.eye(n_samples))
    matrix = (matrix + matrix.T) / 2.0
    wanted = None if other_end else (n_samples - n_vectors, n_samples - 1)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=wanted, check_finite=False)
    leading = np.arange(len(values) - 1, len(values) - 1 - n_vectors, -1)
    lowest = float(values[0]) if other_end else None
    values, vectors = values[leading], with_signs(vectors[:, leading])
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    return Eigenpairs(values, vectors, residuals, True, "dense", other_end=lowest)


def dense_smallest(
    matrix: Float64Array, n_vectors: int, known: Float64Array | None, beyond: float
) -> tuple[Float64Array, Float64Array]:
    """Return the smallest eigenvalues of a matrix and their vectors, the known unit vector left out.

    Its eigenvalue is raised by ``beyond``, past the far end of the spectrum, so that no other vector mixes with it.
    """
    if known is not None:
        matrix = matrix + beyond * np.outer(known, known)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[0, n_vectors - 1], check_finite=False)
    return values, vectors
