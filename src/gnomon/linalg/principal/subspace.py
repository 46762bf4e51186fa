"""Leading singular values and vectors of a large table by subspace iteration, and its products with few vectors.

BLAS and LAPACK calls are meant to run under `gnomon._threads.single_threaded_blas`, which the caller enters.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.principal.spectra import Spectrum, leading_of_matrix, orthonormal_rows
from gnomon.linalg.products import SparseTimes, inner, product

__all__ = ["STREAM_SKETCH", "CentredProducts", "centred_products", "randomized_spectrum"]

Float64Array = npt.NDArray[np.float64]

_OVERSAMPLING = 10
_POWER_ITERATIONS = 7
STREAM_SKETCH = 101  # of the random start


def randomized_spectrum(X: Any, n_components: int, *, seed: int = 0) -> Spectrum:
    """Solve by subspace iteration on a random start, touching X through products only.

    Parameters
    ----------
    X : ndarray (float32 or float64, C-contiguous) or CSR, of shape (n_samples, n_features)
    n_components : int
    seed : int, default=0
        Of the random start.

    Returns
    -------
    Spectrum

    References
    ----------
    .. [1] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011, algorithm 4.4.
    """
    table = centred_products(X)
    n_vectors = min(n_components + _OVERSAMPLING, *X.shape)
    basis = normal_matrix(seed, STREAM_SKETCH, (X.shape[1], n_vectors))
    for _ in range(_POWER_ITERATIONS + 1):
        basis = table.gram_times(orthonormalised(basis))
    basis = orthonormalised(basis)
    inside = product(basis.T, table.gram_times(basis))
    values, rotation = leading_of_matrix((inside + inside.T) / 2.0, n_vectors)
    noise = np.finfo(np.float64).eps * max(X.shape) * values[0]
    n_valid = int(np.count_nonzero(values[:n_components] > noise))
    components = orthonormal_rows(product(basis, rotation[:, :n_components]).T, n_valid, seed)
    return Spectrum(table.mean, components, np.sqrt(values[:n_components]), table.squared_norm)


class CentredProducts(Protocol):
    """A table Xc from which the mean has been subtracted, as products alone.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
    """

    mean: Float64Array

    @property
    def squared_norm(self) -> float:
        """Sum of all squared entries of Xc."""
        ...

    def gram_times(self, V: Float64Array) -> Float64Array:
        """Return Xc' Xc V."""
        ...


def centred_products(X: Any) -> CentredProducts:
    """Return the products with a centred table, which is never written out as a whole.

    Parameters
    ----------
    X : ndarray (float32 or float64, C-contiguous) or CSR, of shape (n_samples, n_features)
    """
    return _SparseProducts(X) if scipy.sparse.issparse(X) else _DenseProducts(X)


class _DenseProducts:
    """Products with a centred dense table, whose rows are centred as they are looked at."""

    def __init__(self, X: npt.NDArray[Any]) -> None:
        self._X = X
        self.mean: Float64Array = _core.column_means(X, current_run().n_threads)

    @cached_property
    def squared_norm(self) -> float:
        return _core.scatter_trace(self._X, self.mean, current_run().n_threads)

    def gram_times(self, V: Float64Array) -> Float64Array:
        found = np.empty(V.shape)
        _core.scatter_product(self._X, self.mean, np.ascontiguousarray(V), found, current_run().n_threads)
        return found


class _SparseProducts:
    """Products with a CSR table minus its mean, which is never written out."""

    def __init__(self, X: Any) -> None:
        table = scipy.sparse.csr_array(X, dtype=np.float64)
        self._times, self._transposed_times = SparseTimes(table), SparseTimes(table.T)
        n = X.shape[0]
        self.mean: Float64Array = np.asarray(table.sum(axis=0), dtype=np.float64).ravel() / max(n, 1)
        squares = float(np.square(table.data).sum())
        self.squared_norm = max(squares - n * inner(self.mean, self.mean), 0.0)

    def gram_times(self, V: Float64Array) -> Float64Array:
        scores = np.asarray(self._times(V) - product(V.T, self.mean))
        return np.asarray(self._transposed_times(scores) - np.outer(self.mean, scores.sum(axis=0)))
