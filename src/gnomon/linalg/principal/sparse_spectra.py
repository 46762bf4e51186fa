"""Leading singular values and vectors of a centred sparse table, of which some rows at a time are written out.

BLAS and LAPACK calls are meant to run under `gnomon._threads.single_threaded_blas`, which the caller enters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon.linalg.principal.scatter import sum_of_squares
from gnomon.linalg.principal.spectra import Spectrum, leading_of_matrix, orthonormal_rows

__all__ = ["sparse_covariance_spectrum", "sparse_gram_spectrum"]

Float64Array = npt.NDArray[np.float64]

_ROWS = 2048


def _mean_and_scale(X: Any) -> tuple[Float64Array, float]:
    """Return the means of the columns and a power of two that brings the largest entry near 1."""
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0]
    largest = max(float(np.abs(X.data).max(initial=0.0)), float(np.abs(mean).max(initial=0.0)))
    return mean, float(2.0 ** -np.round(np.log2(largest))) if largest > 0.0 else 1.0


def sparse_covariance_spectrum(X: Any, n_components: int | float, *, n_threads: int = 1) -> Spectrum:
    """Solve by the eigenvectors of the scatter matrix (n_features x n_features).

    Parameters
    ----------
    X : CSR of shape (n_samples, n_features)
    n_components : int, or float in (0, 1) for a share of the variance
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Spectrum
    """
    mean, scale = _mean_and_scale(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64

    def part(begin: int) -> npt.NDArray[Any]:
        rows = X[begin : begin + _ROWS].toarray() - mean
        rows *= scale
        return np.asarray(rows, dtype=dtype)

    scatter = sum_of_squares(part, X.shape[0], X.shape[1], step=_ROWS, n_threads=n_threads)
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
    mean, scale = _mean_and_scale(X)
    scaled = sp.csr_array(X, dtype=np.float64, copy=True)
    scaled.data *= scale
    mixed = scaled @ (mean * scale)
    gram = (scaled @ scaled.T).toarray() - mixed[:, None] - mixed + float(mean @ mean) * scale * scale
    largest = float(np.abs(gram).max(initial=0.0))
    values, left = leading_of_matrix((gram + gram.T) / 2.0, n_components)
    components = (scaled.T @ left).T - np.outer(left.sum(axis=0), mean * scale)
    noise = np.finfo(np.float64).eps * X.shape[0] * max(largest, values[0])
    components = orthonormal_rows(components, int(np.count_nonzero(values > noise)), seed)
    return Spectrum(mean, components, np.sqrt(values) / scale, max(float(np.trace(gram)), 0.0) / scale / scale)
