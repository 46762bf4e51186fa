"""Orthonormal columns, the same bits on every processor."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.linalg.products import inner_products, product

__all__ = ["orthonormalised"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 64  # columns whose factor is computed column by column
_NO_LENGTH = 1e-13  # of a column, beside the longest: what is left of one that depends on those before it


def orthonormalised(A: Float64Array) -> Float64Array:
    """Return orthonormal columns that span what the columns of A span, by Cholesky's factor of A'A, taken twice.

    Blocks of columns come one after the other, each without its part along those before it.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float64
        Not more columns than rows.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        Column j depends on the first j + 1 of A alone, and points to the same side; zero where it adds nothing to them.

    References
    ----------
    .. [1] Yamamoto, Nakatsukasa, Yanagisawa & Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm", ETNA 44,
       2015.
    """
    found = np.empty(A.shape)
    least = _NO_LENGTH * float(np.square(A).sum(axis=0).max(initial=0.0))
    for begin in range(0, A.shape[1], _BLOCK):
        before, block = found[:, :begin], A[:, begin : begin + _BLOCK]
        for beside in (least, _NO_LENGTH):
            if begin:
                block = block - product(before, product(before.T, block))
            block = product(block, _inverse_factor(inner_products(block), beside))
        found[:, begin : begin + _BLOCK] = block
    return found


def _inverse_factor(S: Float64Array, least: float) -> Float64Array:
    """Return the upper triangular W for which W'SW is the identity; zero columns where what is left is this little."""
    size = len(S)
    rest, inverse = S.copy(), np.eye(size)
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
