"""Many small matrices at once, and singular values and vectors of a matrix: the same bits on every processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.products import inner_products, product

__all__ = ["singular_values", "small_svd", "stacked_eigen", "stacked_products", "stacked_solve"]

Float64Array = npt.NDArray[np.float64]

_BY_ROTATIONS = 32  # columns up to which rotations of pairs of columns are as fast as eigenvalues


def stacked_products(A: npt.NDArray[Any], B: npt.NDArray[Any]) -> Float64Array:
    """Return A[i] B[i] for each i.

    Parameters
    ----------
    A : ndarray of shape (m, n_rows, n_inner), float64
    B : ndarray of shape (m, n_inner, n_columns), float64
        Either may be the transpose, by ``swapaxes(1, 2)``, of matrices in rows; it is then taken as it is.

    Returns
    -------
    ndarray of shape (m, n_rows, n_columns), float64
    """
    count = len(A)
    result = np.empty((count, A.shape[1], B.shape[2]))
    if result.size:
        flat = result.reshape(-1, B.shape[2])
        _core.products(count, *_in_rows(A), *_in_rows(B), flat, current_run().n_threads)
    return result


def _in_rows(stack: npt.NDArray[Any]) -> tuple[Float64Array, bool]:
    """Return matrices or their transposes, whichever lie row by row, one below the other, and whether transposes."""
    transposed = not stack.flags.c_contiguous and stack.swapaxes(1, 2).flags.c_contiguous
    rows = np.ascontiguousarray(stack.swapaxes(1, 2) if transposed else stack, dtype=np.float64)
    return rows.reshape(rows.shape[0] * rows.shape[1], rows.shape[2]), transposed


def stacked_eigen(matrices: npt.NDArray[Any]) -> tuple[Float64Array, Float64Array]:
    """Return eigenvalues and eigenvectors of symmetric matrices.

    Parameters
    ----------
    matrices : ndarray of shape (m, d, d), float64
        Of which the parts below the diagonals count.

    Returns
    -------
    values : ndarray of shape (m, d), float64
        Falling; NaN for a matrix that is not finite.
    vectors : ndarray of shape (m, d, d), float64
        Column j of each belongs to value j.
    """
    given = np.ascontiguousarray(matrices, dtype=np.float64)
    count, order = given.shape[:2]
    values, vectors = np.empty((count, order)), np.empty(given.shape)
    if given.size:
        shape = (count * order, order)
        _core.eigen_each(given.reshape(shape), values, vectors.reshape(shape), current_run().n_threads)
    return values, vectors


def stacked_solve(A: npt.NDArray[Any], B: npt.NDArray[Any]) -> Float64Array:
    """Return X[i] of A[i] X[i] = B[i] for each i, by elimination with the largest pivots of the columns.

    Parameters
    ----------
    A : ndarray of shape (m, d, d), float64
        Of few rows and columns.
    B : ndarray of shape (m, d, n_columns), float64

    Returns
    -------
    ndarray of shape (m, d, n_columns), float64
        Infinite or NaN for a singular matrix.
    """
    left, right = np.array(A, dtype=np.float64), np.array(B, dtype=np.float64)
    order, every = left.shape[1], np.arange(len(left))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for j in range(order):
            if order - j > 1:
                pivot = j + np.abs(left[:, j:, j]).argmax(axis=1)
                for one in (left, right):
                    one[every, pivot], one[:, j] = one[:, j].copy(), one[every, pivot]
            for i in range(j + 1, order):
                factor = (left[:, i, j] / left[:, j, j])[:, None]
                left[:, i, j + 1 :] -= factor * left[:, j, j + 1 :]
                right[:, i] -= factor * right[:, j]
        for j in reversed(range(order)):
            for i in range(j + 1, order):
                right[:, j] -= left[:, j, i, None] * right[:, i]
            right[:, j] /= left[:, j, j, None]
    return right


def small_svd(A: npt.NDArray[Any]) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the singular values and vectors of a matrix of few columns or few rows, ``U * s @ V.T``.

    Parameters
    ----------
    A : ndarray of shape (n, d), float64

    Returns
    -------
    U : ndarray of shape (n, min(n, d)), float64
        Left singular vectors, in columns: orthonormal, also where values are zero.
    s : ndarray of shape (min(n, d),), float64
        Falling; right up to a few roundings of the largest, and of small ones up to those of their own columns.
    V : ndarray of shape (d, min(n, d)), float64
        Right singular vectors, in columns. All three are NaN if A is not finite.
    """
    if A.shape[0] < A.shape[1]:
        U, s, V = small_svd(A.T)
        return V, s, U
    columns = np.array(A.T, dtype=np.float64, order="C")
    values, right = np.empty(len(columns)), np.empty((len(columns), len(columns)))
    _core.small_svd(columns, values, right)
    return columns.T, values, right.T


def singular_values(A: npt.NDArray[Any], *, by_squares: bool = False) -> Float64Array:
    """Return the singular values of a matrix, without vectors.

    They are the eigenvalues of the symmetric matrix of A and its transpose beside the diagonal [1]_, or, six times as
    fast, the roots of those of A'A.

    Parameters
    ----------
    A : ndarray of shape (n, d), float64
    by_squares : bool, default=False
        Whether roots of eigenvalues of A'A do: values below 1e-7 of the largest are then lost in its rounding, and 0
        where they are below 1.5e-8 times the root of their number.

    Returns
    -------
    ndarray of shape (min(n, d),), float64
        Falling; right up to a few roundings of the largest. NaN if A is not finite.

    References
    ----------
    .. [1] Golub & Kahan, "Calculating the singular values and pseudo-inverse of a matrix", SIAM J. Numer. Anal. B 2,
       1965.
    """
    if A.shape[0] < A.shape[1]:
        return singular_values(A.T, by_squares=by_squares)
    d = int(A.shape[1])
    if d <= _BY_ROTATIONS:
        return small_svd(A)[1]
    if by_squares:
        squares, _ = symmetric_eigen(inner_products(np.ascontiguousarray(A)), 0)
        return np.sqrt(np.where(squares > d * np.finfo(np.float64).eps * squares[0], squares, squares * 0.0))
    square = A if len(A) == d else product(orthonormalised(np.ascontiguousarray(A)).T, A)
    both = np.zeros((2 * d, 2 * d))
    both[d:, :d] = square
    values: Float64Array = symmetric_eigen(both, 0)[0][:d]
    return values if np.isnan(values).any() else np.maximum(values, 0.0)
