"""Orthonormal columns, the same bits on every processor."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon.linalg.principal.components import project_rows

__all__ = ["orthonormalised"]

Float64Array = npt.NDArray[np.float64]

_NO_LENGTH = 1e-13  # of a column, beside the longest: what is left of one that depends on those before it


def orthonormalised(A: Float64Array) -> Float64Array:
    """Return orthonormal columns that span what the columns of A span, by Cholesky's factor of A'A, taken twice.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float64
        Not more columns than rows, and not many: the factor is computed column by column.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        Column j depends on the first j + 1 of A alone, and points to the same side; zero where it adds nothing to them.

    References
    ----------
    .. [1] Yamamoto, Nakatsukasa, Yanagisawa & Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm", ETNA 44,
       2015.
    """
    for _ in range(2):
        products = np.empty((A.shape[1], A.shape[1]))
        _core.inner_products(np.ascontiguousarray(A), products)
        A = project_rows(A, np.zeros(A.shape[1]), _inverse_factor(products).T)
    return A


def _inverse_factor(S: Float64Array) -> Float64Array:
    """Return the upper triangular W for which W'SW is the identity; zero columns where S has no rank."""
    size = len(S)
    rest, inverse = S.copy(), np.eye(size)
    least = _NO_LENGTH * float(S.diagonal().max(initial=0.0))
    for j in range(size):
        if rest[j, j] <= least:
            inverse[:, j] = 0.0
            rest[j] = 0.0
            continue
        scale = 1.0 / np.sqrt(rest[j, j])
        row = rest[j, j + 1 :] * scale
        inverse[:, j] *= scale
        inverse[:, j + 1 :] -= inverse[:, j, None] * row
        rest[j + 1 :, j + 1 :] -= row[:, None] * row
    return inverse
