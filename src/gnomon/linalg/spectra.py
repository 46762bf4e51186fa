"""Leading singular values and right singular vectors of a centred table, by four solvers.

BLAS and LAPACK calls are meant to run under `gnomon._threads.single_threaded_blas`, which the caller enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from gnomon import _core
from gnomon.linalg.draws import normal_matrix

__all__ = [
    "Spectrum",
    "covariance_spectrum",
    "gram_spectrum",
    "largest_deviation",
    "randomized_spectrum",
    "sparse_covariance_spectrum",
    "svd_spectrum",
]

Float64Array = npt.NDArray[np.float64]

_OVERSAMPLING = 10
_POWER_ITERATIONS = 7
_BLOCK = 4096  # rows or columns of a table that are turned to double at a time
_STREAM_SKETCH, _STREAM_COMPLETION = 101, 102


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


def largest_deviation(X: npt.NDArray[Any], mean: Float64Array, *, n_threads: int = 1) -> float:
    """Return the largest ``|X - mean|``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    mean : ndarray of shape (n_features,), float64
    n_threads : int, default=1
        Does not change the result.
    """
    return _core.largest_deviation(X, mean, n_threads)


def _mean_and_scale(X: npt.NDArray[Any], n_threads: int) -> tuple[Float64Array, float]:
    """Return the column means and a power of two that brings the largest deviation near 1.

    Squares of entries such as 1e30 then stay within float32, and a power of two changes no digit.
    """
    mean = _core.column_means(X, n_threads)
    largest = largest_deviation(X, mean, n_threads=n_threads)
    # Below 1e-13 of the mean's magnitude a deviation is the rounding of the mean itself: the table is constant.
    if largest <= 1e-13 * float(np.abs(mean).max(initial=0.0)):
        return mean, 0.0
    return mean, float(2.0 ** -np.round(np.log2(largest)))


def sparse_covariance_spectrum(X: Any, n_components: int, *, n_threads: int = 1) -> Spectrum:
    """Solve as `covariance_spectrum` for CSR, of which some rows at a time are written out.

    Parameters
    ----------
    X : CSR of shape (n_samples, n_features)
    n_components : int
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Spectrum
    """
    products = _SparseProducts(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    largest = max(float(np.abs(X.data).max(initial=0.0)), float(np.abs(products.mean).max(initial=0.0)))
    scale = float(2.0 ** -np.round(np.log2(largest))) if largest > 0.0 else 1.0
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for begin in range(0, X.shape[0], _BLOCK):
        rows: npt.NDArray[Any] = np.ascontiguousarray(X[begin : begin + _BLOCK].toarray(), dtype=dtype)
        _core.add_scatter(rows, products.mean, scale, scatter, n_threads)
    values, vectors = _leading_eigenpairs(scatter, n_components)
    return Spectrum(products.mean, vectors.T, np.sqrt(values) / scale, float(np.trace(scatter)) / scale / scale)


def _leading_eigenpairs(matrix: Float64Array, n_vectors: int) -> tuple[Float64Array, Float64Array]:
    """Return the largest eigenvalues (falling, not negative) and eigenvectors of a symmetric matrix."""
    size = matrix.shape[0]
    if n_vectors > size // 2:  # all of them by divide and conquer cost less than half of them one by one
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False, driver="evd")
        values, vectors = values[-n_vectors:], vectors[:, -n_vectors:]
    else:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[size - n_vectors, size - 1], check_finite=False)
    return np.maximum(values[::-1], 0.0), np.ascontiguousarray(vectors[:, ::-1])


def covariance_spectrum(X: npt.NDArray[Any], n_components: int, *, n_threads: int = 1) -> Spectrum:
    """Solve by the eigenvectors of the scatter matrix (n_features x n_features).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    n_components : int
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Spectrum
    """
    mean, scale = _mean_and_scale(X, n_threads)
    scatter = np.zeros((X.shape[1], X.shape[1]))
    if scale > 0.0:
        _core.add_scatter(X, mean, scale, scatter, n_threads)
    values, vectors = _leading_eigenpairs(scatter, n_components)
    unscale = 1.0 / scale if scale > 0.0 else 0.0
    return Spectrum(mean, vectors.T, np.sqrt(values) * unscale, float(np.trace(scatter)) * unscale * unscale)


def gram_spectrum(X: npt.NDArray[Any], n_components: int, *, seed: int = 0, n_threads: int = 1) -> Spectrum:
    """Solve by the eigenvectors of the matrix of inner products of centred rows (n_samples x n_samples).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    n_components : int
    seed : int, default=0
        Directions without variance are drawn at random, orthogonal to the others.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Spectrum
    """
    mean, scale = _mean_and_scale(X, n_threads)
    n, width = X.shape
    gram = np.zeros((n, n))
    no_mean = np.zeros(n)
    for begin in range(0, width if scale > 0.0 else 0, _BLOCK):
        part = slice(begin, begin + _BLOCK)
        columns = ((X[:, part] - mean[part]).T * scale).astype(X.dtype, order="C")
        _core.add_scatter(columns, no_mean, 1.0, gram, n_threads)
    values, left = _leading_eigenpairs(gram, n_components)
    components = np.empty((n_components, width))
    for begin in range(0, width, _BLOCK):
        part = slice(begin, begin + _BLOCK)
        components[:, part] = left.T @ (X[:, part] - mean[part])
    # Centring leaves rank n - 1 at most; rounding of the Gram matrix hides what lies below it.
    noise = np.finfo(X.dtype).eps * n * values[0]
    components = _orthonormal_rows(components, int(np.count_nonzero(values > noise)), seed)
    unscale = 1.0 / scale if scale > 0.0 else 0.0
    return Spectrum(mean, components, np.sqrt(values) * unscale, float(np.trace(gram)) * unscale * unscale)


def _orthonormal_rows(rows: Float64Array, n_valid: int, seed: int) -> Float64Array:
    """Orthonormalise rows that nearly are, up to length; those from `n_valid` on are replaced by random directions."""
    rows = rows.copy()
    rows[n_valid:] = normal_matrix(seed, _STREAM_COMPLETION, (rows.shape[0] - n_valid, rows.shape[1]))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    q, r = np.linalg.qr(rows.T)
    return np.ascontiguousarray((q * np.where(np.diag(r) < 0.0, -1.0, 1.0)).T)


def svd_spectrum(X: npt.NDArray[Any], n_components: int, *, n_threads: int = 1) -> Spectrum:
    """Solve by the full singular value decomposition in double, which keeps the smallest components accurate.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    n_components : int
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Spectrum
    """
    mean, scale = _mean_and_scale(X, n_threads)
    centred = (X - mean) * scale
    if X.shape[0] > 2 * X.shape[1]:  # the triangular factor has the same right singular vectors
        (factor,) = scipy.linalg.qr(centred, mode="r", overwrite_a=True, check_finite=False)
        centred = np.asarray(factor[: X.shape[1]], dtype=np.float64)
    _, values, right = scipy.linalg.svd(centred, full_matrices=False, overwrite_a=True, check_finite=False)
    unscale = 1.0 / scale if scale > 0.0 else 0.0
    squared_norm = float(np.sum(values**2)) * unscale * unscale
    return Spectrum(mean, right[:n_components], values[:n_components] * unscale, squared_norm)


def randomized_spectrum(X: Any, n_components: int, *, seed: int = 0, n_threads: int = 1) -> Spectrum:
    """Solve by subspace iteration on a random start, touching X through products only.

    Parameters
    ----------
    X : ndarray (float32 or float64, C-contiguous) or CSR, of shape (n_samples, n_features)
    n_components : int
    seed : int, default=0
        Of the random start.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Spectrum

    References
    ----------
    .. [1] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011, algorithm 4.4.
    """
    product = _SparseProducts(X) if sp.issparse(X) else _DenseProducts(X, n_threads)
    n_vectors = min(n_components + _OVERSAMPLING, *X.shape)
    basis = normal_matrix(seed, _STREAM_SKETCH, (X.shape[1], n_vectors))
    for _ in range(_POWER_ITERATIONS + 1):
        basis, _ = np.linalg.qr(basis)
        basis = product.gram_times(basis)
    basis, _ = np.linalg.qr(basis)
    scores = product.times(basis)
    values, rotation = _leading_eigenpairs(scores.T @ scores, n_vectors)
    components = (basis @ rotation[:, :n_components]).T
    return Spectrum(product.mean, components, np.sqrt(values[:n_components]), product.squared_norm)


class _DenseProducts:
    """Products with a centred dense table, some rows at a time."""

    def __init__(self, X: npt.NDArray[Any], n_threads: int) -> None:
        self._X = X
        self._n_threads = n_threads
        self.mean: Float64Array = _core.column_means(X, n_threads)
        self.squared_norm = float(sum(np.vdot(rows, rows) for rows in self._blocks()))

    def _blocks(self) -> Any:
        for begin in range(0, self._X.shape[0], _BLOCK):
            yield self._X[begin : begin + _BLOCK] - self.mean

    def times(self, V: Float64Array) -> Float64Array:
        return np.concatenate([rows @ V for rows in self._blocks()])

    def gram_times(self, V: Float64Array) -> Float64Array:
        total = np.zeros_like(V)
        for rows in self._blocks():
            total += rows.T @ (rows @ V)
        return total


class _SparseProducts:
    """Products with a CSR table minus its mean, which is never written out."""

    def __init__(self, X: Any) -> None:
        self._X = sp.csr_array(X, dtype=np.float64)
        self._transposed = self._X.T.tocsr()
        n = X.shape[0]
        self.mean: Float64Array = np.asarray(self._X.sum(axis=0), dtype=np.float64).ravel() / max(n, 1)
        squares = float(np.vdot(self._X.data, self._X.data))
        self.squared_norm = max(squares - n * float(self.mean @ self.mean), 0.0)

    def times(self, V: Float64Array) -> Float64Array:
        product: Float64Array = self._X @ V - self.mean @ V
        return product

    def gram_times(self, V: Float64Array) -> Float64Array:
        scores = self.times(V)
        product: Float64Array = self._transposed @ scores - np.outer(self.mean, scores.sum(axis=0))
        return product
