"""Orthonormal columns, the same bits on every processor."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.products import inner_products, product

__all__ = ["orthonormalised", "with_draws", "without"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 64  # columns at most whose factor is computed column by column
_HIDDEN = 1e-13  # of the square of a column: if less is left of it beside those before it, squares hide it
_NO_LENGTH = 1e-13  # of a column: what is left of one that depends on those before it
_STREAM_DRAWS = 253


def orthonormalised(A: Float64Array) -> Float64Array:
    """Return orthonormal columns that span what the columns of A span, by Cholesky's factor of A'A, taken twice.

    Blocks of columns come one after the other, each without its part along those before it. A block ends before the
    first column of which so little is left that the squares in A'A hide it; that column begins the next block.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float64
        Not more columns than rows. Each counts by its direction alone, however short it is beside the others.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        Column j depends on the first j + 1 of A alone, and points to the same side; zero where it adds nothing to them.

    References
    ----------
    .. [1] Yamamoto, Nakatsukasa, Yanagisawa & Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm", ETNA 44,
       2015.
    """
    found = np.zeros(A.shape)
    least = _NO_LENGTH**2 * np.square(A).sum(axis=0)
    begin = 0
    while begin < A.shape[1]:
        side = slice(begin, begin + _BLOCK)
        part, n_done = _orthonormal_part(A[:, side], found[:, :begin], least[side])
        found[:, begin : begin + part.shape[1]] = part
        begin += n_done
    return found


def _orthonormal_part(block: Float64Array, before: Float64Array, least: Float64Array) -> tuple[Float64Array, int]:
    """Return what the first columns of a block add to orthonormal ones, and how many columns that settles.

    As many as the squares tell apart; none, for columns of which no more is left than the squares given.
    """
    for _ in range(2):
        if before.shape[1]:
            block = block - product(before, product(before.T, block))
        S = inner_products(block)
        squares = np.diagonal(S)
        inverse = _inverse_factor(S, np.maximum(least, _HIDDEN * squares))
        size = inverse.shape[1]
        if size == 0:
            apart = squares > least
            return block[:, :0], int(apart.argmax()) or (1 if apart.any() else len(S))
        block, least = product(block[:, :size], inverse), np.zeros(size)
    return block, size


def _inverse_factor(S: Float64Array, least: Float64Array) -> Float64Array:
    """Return the upper triangular W for which W'SW is the identity, up to the first column with too little left."""
    size = len(S)
    rest, inverse = S.copy(), np.eye(size)
    for j in range(size):
        if rest[j, j] <= least[j]:
            return inverse[:j, :j]
        scale = 1.0 / np.sqrt(rest[j, j])
        row = rest[j, j + 1 :] * scale
        inverse[:, j] *= scale
        inverse[:, j + 1 :] -= inverse[:, j, None] * row
        rest[j + 1 :, j + 1 :] -= row[:, None] * row
    return inverse


def with_draws(columns: Float64Array, seed: int) -> Float64Array:
    """Return the columns that are not zero and, after them, random ones in the place of the others.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns), float64
        Such as `orthonormalised` returns: those that depend on others are zero, whose Rayleigh quotient and residual
        are 0 like those of the best eigenvector there can be.
    seed : int in [0, 2**63)

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        The columns themselves where none is zero.
    """
    kept = columns.any(axis=0)
    if kept.all():
        return columns
    draws = normal_matrix(seed, _STREAM_DRAWS, (len(columns), int(np.count_nonzero(~kept))))
    return np.hstack((columns[:, kept], draws))


def without(columns: Float64Array, direction: Float64Array) -> Float64Array:
    """Return columns without their part along a unit vector.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns), float64
    direction : ndarray of shape (n_rows,), float64

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        Zero where nothing but rounding is left.
    """
    rest = columns - np.outer(direction, product(columns.T, direction))
    gone = np.square(rest).sum(axis=0) <= _NO_LENGTH**2 * np.square(columns).sum(axis=0)
    if gone.any():
        rest[:, gone] = 0.0
    return rest
