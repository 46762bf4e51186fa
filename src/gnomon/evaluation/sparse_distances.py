"""Distances from rows of a sparse table to all its rows, by products of the numbers that are stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import dense_product, product, sparse_product, squared_lengths

__all__ = ["SparseProducts"]

_OFTEN = 0.25  # of the rows; columns that more of them store are written out, which is then faster
_TOGETHER = 64  # rows that distances are found from at a time
_WRITTEN = 1 << 20  # numbers of these columns that are written out at a time

Floats = npt.NDArray[np.float64]


class SparseProducts:
    """Rows of squared Euclidean or cosine distances of a sparse table in memory.

    Columns that many rows store are centred for Euclidean distances, so that the rounding of products stays small:
    others lie near zero in most rows. Time and memory follow what is stored; columns that no row stores take none.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_features)
    metric : {"euclidean", "cosine"}
    dtype : float32 or float64
        Of the distances; sums are formed in double.
    scale : float, default=1.0
        What Euclidean rows are multiplied by.
    """

    def __init__(self, X: Any, metric: str, dtype: npt.DTypeLike, scale: float = 1.0) -> None:
        self.metric, self.dtype, self.scale = metric, np.dtype(dtype), scale
        rows = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
        n = rows.shape[0]
        lengths = np.sqrt(squared_lengths(rows)) if metric == "cosine" else np.full(n, 1.0 / scale)
        rows.data /= np.repeat(np.where(lengths > 0.0, lengths, 1.0), np.diff(rows.indptr))
        counts = np.bincount(rows.indices, minlength=rows.shape[1])
        often = counts > _OFTEN * n
        self._often = rows[:, np.flatnonzero(often)]
        self._seldom = rows[:, np.flatnonzero((counts > 0) & ~often)]
        self._turned = scipy.sparse.csr_array(self._seldom.T)
        self._means = np.asarray(self._often.mean(axis=0)).ravel() if metric == "euclidean" else 0.0
        self._squares = self._of_squares() if metric == "euclidean" else None

    def _of_squares(self) -> Floats:
        """Return squared lengths, summed in the order of products: equal rows then lie at 0 from each other."""
        squared = self._seldom.copy()
        np.square(squared.data, out=squared.data)
        found = np.asarray(sparse_product(squared, np.ones(squared.shape[1])))
        for some in self._blocks(_TOGETHER):
            rows = self._written(some)
            found[some] += product(rows, rows.T).diagonal()
        return found

    def _blocks(self, most: int) -> Iterator[slice]:
        """Return which rows are written out at a time, at most so many; none if no column is."""
        n, width = self._often.shape
        step = min(most, max(1, _WRITTEN // width)) if width else n
        return (slice(begin, begin + step) for begin in range(0, n if width else 0, step))

    def _written(self, rows: Any) -> Floats:
        return np.asarray(self._often[rows].toarray() - self._means)

    def __call__(self, anchors: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return the distances from some rows, by their numbers, to all."""
        out = np.empty((len(anchors), self._seldom.shape[0]), dtype=self.dtype)
        for begin in range(0, len(anchors), _TOGETHER):
            out[begin : begin + _TOGETHER] = self._from(anchors[begin : begin + _TOGETHER])
        return out

    def _from(self, anchors: npt.NDArray[np.int64]) -> Floats:
        products = dense_product(self._seldom[anchors], self._turned)
        left = self._written(anchors)
        for some in self._blocks(self._often.shape[0]):
            products[:, some] += product(left, self._written(some).T)
        if self._squares is None:
            return np.subtract(1.0, products, out=products)
        products *= -2.0
        products += self._squares
        products += self._squares[anchors][:, None]
        return products
