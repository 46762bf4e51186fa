"""Leading singular values and right singular vectors of a centred table, dense or sparse.

BLAS and LAPACK calls are meant to run under `gnomon._threads.single_threaded_blas`, which the caller enters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._run import current_run
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.principal.scatter import LARGEST_DENSE_SIDE, Moments
from gnomon.linalg.products import dense_product, inner, product, sparse_product, sum_of_squares

__all__ = [
    "LARGEST_SVD",
    "Spectrum",
    "covariance_spectrum",
    "factor_spectrum",
    "gram_spectrum",
    "largest_deviation",
    "leading_of_matrix",
    "moments_spectrum",
    "n_decomposed",
    "orthonormal_rows",
    "sparse_covariance_spectrum",
    "sparse_gram_spectrum",
    "svd_spectrum",
]

Float64Array = npt.NDArray[np.float64]

LARGEST_SVD = 1e9  # n D min(n, D) of a full singular value decomposition: some tenths of a second
_SMALL = 600  # rows of a matrix that is decomposed as a whole, however few vectors are wanted
_MANY_TIMES = 200  # rows for each vector wanted from which on products with the matrix cost less
_ROWS = 2048  # of a table that are centred at a time
_BLOCK = 4096  # columns likewise
_STREAM_COMPLETION = 102


@dataclass(frozen=True)
class Spectrum:
    """Leading singular triples of a centred table, without the left vectors.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
        Mean of the rows.
    components : ndarray of shape (n_components, n_features), float64
        Right singular vectors, signs as they came.
    singular_values : ndarray of shape (n_components,), float64
        Falling.
    squared_norm : float
        Sum of all squared entries of the centred table.
    """

    mean: Float64Array
    components: Float64Array
    singular_values: Float64Array
    squared_norm: float


def largest_deviation(X: npt.NDArray[Any], mean: Float64Array) -> float:
    """Return the largest ``|X - mean|``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    mean : ndarray of shape (n_features,), float64
    """
    return _core.largest_deviation(X, mean, current_run().n_threads)


def _mean_and_scale(X: npt.NDArray[Any]) -> tuple[Float64Array, float]:
    """Return the column means and a power of two that brings the largest deviation near 1.

    Squares of entries such as 1e30 then stay within float32, and a power of two changes no digit.
    """
    mean = _core.column_means(X, current_run().n_threads)
    largest = largest_deviation(X, mean)
    # Below 1e-13 of the mean's magnitude a deviation is the rounding of the mean itself: the table is constant.
    if largest <= 1e-13 * float(np.abs(mean).max(initial=0.0)):
        return mean, 0.0
    return mean, float(2.0 ** -np.round(np.log2(largest)))


def _count_components(squares: Float64Array, wanted: int | float) -> int:
    """Return how many components are wanted.

    Parameters
    ----------
    squares : ndarray of shape (n_values,), float64
        All squared singular values, falling.
    wanted : int, or float in (0, 1)
        The number itself, or the share of the sum of squares that so many components reach.
    """
    if isinstance(wanted, int):
        return wanted
    shares = np.cumsum(squares)
    return min(int(np.searchsorted(shares, wanted * shares[-1])) + 1, squares.size)


def leading_of_matrix(matrix: Float64Array, wanted: int | float) -> tuple[Float64Array, Float64Array]:
    """Return the largest eigenvalues (falling, not negative) and eigenvectors of a symmetric matrix."""
    found = _by_products(matrix, wanted) if isinstance(wanted, int) else None
    if found is not None:
        return found
    values, vectors = symmetric_eigen(matrix, wanted if isinstance(wanted, int) else None)
    values = np.maximum(values, 0.0)
    n_vectors = _count_components(values, wanted)
    return values[:n_vectors], np.ascontiguousarray(vectors[:, :n_vectors])


def _by_products(matrix: Float64Array, wanted: int) -> tuple[Float64Array, Float64Array] | None:
    """Return the same by products with the matrix, where few of many vectors are wanted and these converge."""
    order = len(matrix)
    if order <= _SMALL or wanted * _MANY_TIMES > order:
        return None
    largest = float(np.abs(matrix).max())
    if not 0.0 < largest < np.inf:
        return None
    from gnomon.linalg.eigen.eigenpairs import eigenpairs, symmetric_operator  # of SciPy's sparse solvers

    unit = 2.0 ** float(np.frexp(largest)[1] - 1)  # of which squares stay in range, and which changes no digit
    operator = symmetric_operator(lambda V: product(matrix, V) / unit, order)
    found = eigenpairs(operator, wanted, which="largest")
    return (np.maximum(found.values, 0.0) * unit, found.vectors) if found.converged else None


def covariance_spectrum(X: npt.NDArray[Any], n_components: int | float) -> Spectrum:
    """Solve by the eigenvectors of the scatter matrix (n_features x n_features).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    n_components : int, or float in (0, 1) for a share of the variance

    Returns
    -------
    Spectrum
    """
    mean: Float64Array = _core.column_means(X, current_run().n_threads)
    columns = _varying_columns(X, n_components)
    scale, scatter = 1.0, _scatter(X, mean, 1.0, columns)
    if not _squares_are_in_range(scatter, X, mean):
        mean, scale = _mean_and_scale(X)
        scatter = _scatter(X, mean, scale, columns) if scale > 0.0 else np.zeros_like(scatter)
    values, vectors = leading_of_matrix(scatter, n_components)
    components = np.zeros((values.size, X.shape[1]))
    components[:, columns] = vectors.T
    unscale = 1.0 / scale if scale > 0.0 else 0.0
    return Spectrum(mean, components, np.sqrt(values) * unscale, float(np.trace(scatter)) * unscale * unscale)


def _varying_columns(X: npt.NDArray[Any], n_components: int | float) -> npt.NDArray[np.int64]:
    """Return the columns of which a scatter matrix is worth while.

    Constant ones, as pictures have at their edges, add nothing to it. They are looked for only where a few rows have
    many of them, and kept where as many components are wanted as there are columns that vary or more.
    """
    n, width = X.shape
    sample = X[:: max(n // 64, 1)]
    if np.count_nonzero((sample != sample[0]).any(axis=0)) > 0.95 * width:
        return np.arange(width)
    columns = np.flatnonzero(_core.mark_varying(X, current_run().n_threads))
    return columns if n_components < columns.size else np.arange(width)


def n_decomposed(X: Any) -> int:
    """Return of how many columns few principal components of a table are found: of those that vary.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Constant columns are looked for where a fit leaves them out: in dense tables of up to 2000 columns and at least
        as many rows; here only in those of float32 or float64 that lie row by row in memory.

    Returns
    -------
    int
    """
    n, width = int(X.shape[0]), int(X.shape[1])
    dense = isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64) and X.flags.c_contiguous
    small = 0 < width <= min(n, LARGEST_DENSE_SIDE)
    return int(_varying_columns(X, 1).size) if dense and small else width


def _scatter(X: npt.NDArray[Any], mean: Float64Array, scale: float, columns: npt.NDArray[np.int64]) -> Float64Array:
    """Return the scatter matrix of columns of (X - mean) * scale; squares out of range are infinite or NaN."""

    def part(begin: int) -> npt.NDArray[Any]:
        rows = X[begin : begin + step]
        centred = np.empty((rows.shape[0], columns.size), dtype=X.dtype)
        _core.centre(rows, mean, scale, columns, centred)
        return centred

    step = 2 * _ROWS if X.shape[0] >= 16 * _ROWS else _ROWS  # fewer sums where every thread has blocks enough
    return sum_of_squares(part, X.shape[0], columns.size, step=step)


def _squares_are_in_range(scatter: Float64Array, X: npt.NDArray[Any], mean: Float64Array) -> bool:
    """Return whether a scatter matrix lost nothing to the range of its type and is that of a table that varies.

    Where it is in doubt `_mean_and_scale` decides.
    """
    largest = float(scatter.diagonal().max()) / X.shape[0]
    limit = 1e15 if X.dtype == np.float32 else 1e150  # half of the digits of its range, both ways
    varies = math.sqrt(largest) > 1e-12 * float(np.abs(mean).max())
    return bool(varies and 1.0 / limit < largest < limit)


def moments_spectrum(moments: Moments, n_components: int | float) -> Spectrum:
    """Solve by the eigenvectors of a scatter matrix that is given.

    Parameters
    ----------
    moments : Moments
    n_components : int, or float in (0, 1) for a share of the variance

    Returns
    -------
    Spectrum
    """
    scatter = moments.scatter
    rounding = 1e-13 * float(np.abs(moments.mean).max(initial=0.0))
    if float(scatter.diagonal().max()) <= moments.count * rounding**2:  # the table is constant
        scatter = np.zeros_like(scatter)
    values, vectors = leading_of_matrix(scatter, n_components)
    return Spectrum(moments.mean, vectors.T, np.sqrt(values), float(np.trace(scatter)))


def gram_spectrum(X: npt.NDArray[Any], n_components: int | float, *, seed: int = 0) -> Spectrum:
    """Solve by the eigenvectors of the matrix of inner products of centred rows (n_samples x n_samples).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    n_components : int, or float in (0, 1) for a share of the variance
    seed : int, default=0
        Directions without variance are drawn at random, orthogonal to the others.

    Returns
    -------
    Spectrum
    """
    mean, scale = _mean_and_scale(X)
    n, width = X.shape

    def part(begin: int) -> npt.NDArray[Any]:
        columns = X[:, begin : begin + _BLOCK] - mean[begin : begin + _BLOCK]
        columns *= scale
        return columns.astype(X.dtype, copy=False).T

    gram = sum_of_squares(part, width if scale > 0.0 else 0, n, step=_BLOCK)
    values, left = leading_of_matrix(gram, n_components)
    components = np.empty((values.size, width))
    for begin in range(0, width, _BLOCK):
        columns = X[:, begin : begin + _BLOCK] - mean[begin : begin + _BLOCK]
        components[:, begin : begin + _BLOCK] = product(left.T, columns)
    # Centring leaves rank n - 1 at most; rounding of the Gram matrix hides what lies below it.
    noise = np.finfo(X.dtype).eps * n * values[0]
    components = orthonormal_rows(components, int(np.count_nonzero(values > noise)), seed)
    unscale = 1.0 / scale if scale > 0.0 else 0.0
    return Spectrum(mean, components, np.sqrt(values) * unscale, float(np.trace(gram)) * unscale * unscale)


def orthonormal_rows(rows: Float64Array, n_valid: int, seed: int) -> Float64Array:
    """Orthonormalise rows that nearly are, up to length; those from `n_valid` on are replaced by random directions.

    What is given is overwritten.
    """
    rows = np.ascontiguousarray(rows)
    rows[n_valid:] = normal_matrix(seed, _STREAM_COMPLETION, (rows.shape[0] - n_valid, rows.shape[1]))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(orthonormalised(rows.T).T)


def svd_spectrum(X: npt.NDArray[Any], n_components: int | float) -> Spectrum:
    """Solve by the full singular value decomposition in double, which keeps the smallest components accurate.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    n_components : int, or float in (0, 1) for a share of the variance

    Returns
    -------
    Spectrum
    """
    mean, scale = _mean_and_scale(X)
    centred = (X - mean) * scale
    if X.shape[0] > 2 * X.shape[1]:  # the triangular factor has the same right singular vectors
        (factor,) = scipy.linalg.qr(centred, mode="r", overwrite_a=True, check_finite=False)
        centred = np.asarray(factor[: X.shape[1]], dtype=np.float64)
    _, values, right = scipy.linalg.svd(centred, full_matrices=False, overwrite_a=True, check_finite=False)
    unscale = 1.0 / scale if scale > 0.0 else 0.0
    squared_norm = float(np.sum(values**2)) * unscale * unscale
    kept = _count_components(values**2, n_components)
    return Spectrum(mean, right[:kept], values[:kept] * unscale, squared_norm)


def factor_spectrum(factor: Float64Array, mean: Float64Array, n_components: int | float) -> Spectrum:
    """Solve by the singular value decomposition of a triangular factor that is given.

    Parameters
    ----------
    factor : ndarray of shape (n_rows, n_features), float64
        R of Xc = Q R.
    mean : ndarray of shape (n_features,), float64
    n_components : int, or float in (0, 1) for a share of the variance

    Returns
    -------
    Spectrum
    """
    _, values, right = scipy.linalg.svd(factor, full_matrices=False, check_finite=False)
    kept = _count_components(values**2, n_components)
    return Spectrum(mean, right[:kept], values[:kept], float(np.sum(values**2)))


def _sparse_mean_and_scale(X: Any) -> tuple[Float64Array, float]:
    """Return the means of the columns and a power of two that brings the largest entry near 1."""
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0]
    largest = max(float(np.abs(X.data).max(initial=0.0)), float(np.abs(mean).max(initial=0.0)))
    return mean, float(2.0 ** -np.round(np.log2(largest))) if largest > 0.0 else 1.0


def sparse_covariance_spectrum(X: Any, n_components: int | float) -> Spectrum:
    """Solve by the eigenvectors of the scatter matrix (n_features x n_features).

    Parameters
    ----------
    X : CSR of shape (n_samples, n_features)
    n_components : int, or float in (0, 1) for a share of the variance

    Returns
    -------
    Spectrum
    """
    mean, scale = _sparse_mean_and_scale(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64

    def part(begin: int) -> npt.NDArray[Any]:
        rows = X[begin : begin + _ROWS].toarray() - mean
        rows *= scale
        return np.asarray(rows, dtype=dtype)

    scatter = sum_of_squares(part, X.shape[0], X.shape[1], step=_ROWS)
    values, vectors = leading_of_matrix(scatter, n_components)
    return Spectrum(mean, vectors.T, np.sqrt(values) / scale, float(np.trace(scatter)) / scale / scale)


def sparse_gram_spectrum(X: Any, n_components: int | float, *, seed: int = 0) -> Spectrum:
    """Solve by the eigenvectors of the matrix of inner products of centred rows (n_samples x n_samples).

    Parameters
    ----------
    X : CSR of shape (n_samples, n_features)
    n_components : int, or float in (0, 1) for a share of the variance
    seed : int, default=0
        Directions without variance are drawn at random, orthogonal to the others.

    Returns
    -------
    Spectrum
    """
    mean, scale = _sparse_mean_and_scale(X)
    scaled = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
    scaled.data *= scale
    mixed = sparse_product(scaled, mean * scale)
    gram = dense_product(scaled, scaled.T) - mixed[:, None] - mixed + inner(mean, mean) * scale * scale
    largest = float(np.abs(gram).max(initial=0.0))
    values, left = leading_of_matrix((gram + gram.T) / 2.0, n_components)
    components = sparse_product(scaled.T, left).T - np.outer(left.sum(axis=0), mean * scale)
    noise = np.finfo(np.float64).eps * X.shape[0] * max(largest, values[0])
    components = orthonormal_rows(components, int(np.count_nonzero(values > noise)), seed)
    return Spectrum(mean, components, np.sqrt(values) / scale, max(float(np.trace(gram)), 0.0) / scale / scale)
