"""What the columns of a table range over: their means, spreads and extremes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._printed import ShortRepr

__all__ = [
    "ColumnScales",
    "column_scales",
]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 1 << 22  # numbers made dense at a time
_CACHED = 1 << 15  # numbers worked on at a time where they are added up


@dataclass(frozen=True)
class ColumnScales(ShortRepr):
    """What the columns of a table range over.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
    deviation : ndarray of shape (n_features,), float64
        Standard deviation; exactly 0 for a constant column.
    low, high : ndarray of shape (n_features,), float64
        Smallest and largest value.
    """

    mean: Float64Array
    deviation: Float64Array
    low: Float64Array
    high: Float64Array

    @property
    def farthest(self) -> Float64Array:
        """How many deviations the farthest value of each column lies from the mean; 0 of constant ones."""
        away = np.maximum(self.high - self.mean, self.mean - self.low)
        return np.where(self.deviation > 0, away / np.where(self.deviation > 0, self.deviation, 1.0), 0.0)

    def in_deviations(self, values: Float64Array) -> Float64Array:
        """Divide values of the columns by their deviations; a constant column stays as it is."""
        scaled: Float64Array = values / np.where(self.deviation > 0, self.deviation, 1.0)
        return scaled


def column_scales(X: Any) -> ColumnScales:
    """Return mean, standard deviation and range of each column.

    Two passes in blocks of rows, in float64 and in a fixed order.
    """
    n, n_features = (int(size) for size in X.shape)
    step = max(1, _BLOCK // n_features)
    starts = range(0, n, step)
    if hasattr(X, "tocsr"):
        matrix = scipy.sparse.csr_array(X)
        values = matrix.data.astype(np.float64)
        mean = np.bincount(matrix.indices, values, n_features) / n
        stored = np.bincount(matrix.indices, minlength=n_features)
        deviations = np.bincount(matrix.indices, (values - mean[matrix.indices]) ** 2, n_features)
        variance = (deviations + (n - stored) * mean**2) / n
        low = np.asarray(matrix.min(axis=0).todense(), dtype=np.float64).ravel()
        high = np.asarray(matrix.max(axis=0).todense(), dtype=np.float64).ravel()
    else:
        first = np.asarray(X[0], dtype=np.float64)
        low, high, shift = first.copy(), first.copy(), np.zeros(n_features)
        for start in starts:
            block = X[start : start + step]
            np.minimum(low, _extreme(block, np.minimum), out=low)
            np.maximum(high, _extreme(block, np.maximum), out=high)
            shift += _sum_beyond(block, first, power=1)
        mean = first + shift / n
        variance = np.zeros(n_features)
        for start in starts:
            variance += _sum_beyond(X[start : start + step], mean, power=2)
        variance /= n
    return ColumnScales(mean, np.where(high > low, np.sqrt(variance), 0.0), low, high)


def _sum_beyond(block: Any, origin: Float64Array, *, power: int) -> Float64Array:
    """Return the sums over rows of (x - origin)^power, power 1 or 2, row after row, a few at a time in the cache."""
    n, n_features = block.shape
    in_rows = n_features > 1 and block.strides[0] >= block.strides[1]
    step = min(n, max(1, _CACHED // n_features)) if in_rows else n
    held = np.empty((step + 1, n_features), order="C" if in_rows else "F")  # the sum of the rows before, and rows
    for start in range(0, n, step):
        rows = held[1 : 1 + min(step, n - start)]
        np.subtract(block[start : start + step], origin, out=rows)
        if power == 2:
            np.multiply(rows, rows, out=rows)
        held[0] = (held[: len(rows) + 1] if start else rows).sum(axis=0)
    total: Float64Array = held[0]
    return total


def _extreme(block: Any, ufunc: np.ufunc) -> Float64Array:
    """Return the least or largest value of each column; many rows are taken as one, which is longer and faster."""
    n, n_features = block.shape
    together = max(1, min(n, _CACHED // (8 * n_features)))
    if together == 1 or not block.flags.c_contiguous:
        return np.asarray(ufunc.reduce(block, axis=0), dtype=np.float64)
    whole = n - n % together
    found = ufunc.reduce(block[:whole].reshape(-1, together * n_features), axis=0).reshape(together, n_features)
    return np.asarray(ufunc.reduce(np.concatenate([found, block[whole:]]), axis=0), dtype=np.float64)
