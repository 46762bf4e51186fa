"""Rows of distances from a few anchors to all rows of the data, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas

__all__ = ["distance_rows"]

Rows = Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]]

_BLOCK = 4096  # columns of a block of products: fixed, so that results do not depend on the number of threads
_PROBES = 16
# float32 products leave an error of about 1e-6 of the mean squared norm; neighbours must stand well above it.
_SAFE_SHARE = 1e-3


def _dense(X: Any, rows: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    values = X[rows]
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values).astype(dtype)


def _column_means(X: Any) -> npt.NDArray[np.float64]:
    means: npt.NDArray[np.float64] = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return means


def _some(anchors: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return anchors[:: max(1, len(anchors) // _PROBES)][:_PROBES]


class _Products:
    """Squared Euclidean distances or cosine distances through blocks of matrix products."""

    def __init__(
        self, X: Any, metric: str, dtype: npt.DTypeLike, anchors: npt.NDArray[np.int64], n_threads: int
    ) -> None:
        self.X, self.metric, self.n_threads = X, metric, n_threads
        self.dtype = np.dtype(dtype)
        self.scale = 1.0
        # Centring keeps the norms, and so the rounding of the products, small.
        self.means = _column_means(X) if metric == "euclidean" else None
        if self.means is not None:
            self.scale = self._unit(anchors)

    def _unit(self, anchors: npt.NDArray[np.int64]) -> float:
        """Return the power of two that brings a few anchors near length one: squares must not over- or underflow."""
        assert self.means is not None
        lengths = np.abs(_dense(self.X, _some(anchors), np.float64) - self.means).max(axis=1)
        return float(2.0 ** -np.round(np.log2(lengths.max()))) if lengths.max() > 0 else 1.0

    def prepare(self, rows: Any) -> npt.NDArray[Any]:
        """Return rows of the data, centred or of length one."""
        if self.means is not None:
            wide = np.float64 if self.X.dtype == np.float64 else self.dtype.type
            centred = _dense(self.X, rows, wide)
            centred -= self.means.astype(wide)
            centred *= centred.dtype.type(self.scale)
            return centred.astype(self.dtype, copy=False)
        values = _dense(self.X, rows, self.dtype)
        norms = np.sqrt(np.einsum("ij,ij->i", values, values))
        values /= np.where(norms > 0, norms, 1)[:, None]
        return values

    def __call__(self, anchors: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        n = int(self.X.shape[0])
        out = np.empty((len(anchors), n), dtype=self.dtype)
        left = self.prepare(anchors)
        left_square = np.einsum("ij,ij->i", left, left)[:, None]

        def fill(begin: int) -> None:
            block = slice(begin, min(begin + _BLOCK, n))
            right = self.prepare(block)
            products = left @ right.T
            if self.metric == "cosine":
                np.subtract(1, products, out=out[:, block])
                return
            products *= -2
            products += np.einsum("ij,ij->i", right, right)
            np.add(products, left_square, out=out[:, block])

        with single_threaded_blas(), ThreadPoolExecutor(self.n_threads) as pool:
            list(pool.map(fill, range(0, n, _BLOCK)))
        return out


def _float32_is_enough(X: Any, n_neighbors: int, anchors: npt.NDArray[np.int64]) -> bool:
    """Whether the nearest neighbours of a few anchors stand above the rounding of float32 products."""
    probe, some = _Products(X, "euclidean", np.float64, anchors, 1), _some(anchors)
    nearest = np.partition(probe(some), n_neighbors, axis=1)[:, n_neighbors]
    centred = probe.prepare(some)
    scale = np.mean(np.einsum("ij,ij->i", centred, centred))
    return bool(np.min(nearest) > _SAFE_SHARE * scale)


def distance_rows(X: Any, metric: str, n_neighbors: int, anchors: npt.NDArray[np.int64], n_threads: int) -> Rows:
    """Return a function from row numbers to rows of distances, or an increasing function of them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), or (n_samples, n_samples) for "precomputed"
    metric : str
        "euclidean", "cosine", "precomputed", or any metric of scikit-learn's ``pairwise_distances``.
    n_neighbors : int
        Neighbours that must be told apart.
    anchors : ndarray, int64
        All rows that will be asked for. If these are all rows, products are formed in float64.
    n_threads : int >= 1
        Does not change the result.
    """
    if metric == "precomputed":
        return lambda rows: np.ascontiguousarray(_dense(X, rows, np.float64))
    if metric in ("euclidean", "cosine"):
        single = len(anchors) < X.shape[0]
        if single and metric == "euclidean":
            single = _float32_is_enough(X, n_neighbors, anchors)
        return _Products(X, metric, np.float32 if single else np.float64, anchors, n_threads)
    from sklearn.metrics import pairwise_distances

    return lambda rows: np.ascontiguousarray(pairwise_distances(X[rows], X, metric=metric), dtype=np.float64)
