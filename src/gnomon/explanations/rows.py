"""Rows of a table, chosen, measured and made dense a few at a time, and the shape of the pictures that they may be."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.linalg import dense_rows

__all__ = ["ColumnScales", "check_image_shape", "column_scales", "dense_rows_of", "find_row", "row_mask"]

_BLOCK = 1 << 22  # numbers made dense at a time


def row_mask(selection: Any, n: int, *, name: str) -> npt.NDArray[np.bool_]:
    """Return a mask of at least one row from a mask or row numbers."""
    given = np.asarray(selection)
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise ValueError(message(f"{name} of shape {given.shape}", f"a mask of {n} rows"))
        mask = given
    else:
        if given.size and given.dtype.kind not in "iu":
            raise TypeError(message(f"{name} of type {given.dtype}", "a mask or row numbers"))
        if given.size and not (-n <= int(given.min()) and int(given.max()) < n):
            raise ValueError(message(f"{name} with row {int(given.max())}", f"below n_samples={n}"))
        mask = np.zeros(n, dtype=np.bool_)
        mask[given.astype(np.int64)] = True
    if not mask.any():
        raise ValueError(message(f"{name} with 0 rows", "of at least one row"))
    return mask


def find_row(i: Any, n: int) -> int:
    """Return a row number counted from 0; negative ones count from the end."""
    if isinstance(i, bool) or not isinstance(i, numbers.Integral):
        raise TypeError(message(f"row {i!r}", "an integer"))
    if not -n <= int(i) < n:
        raise IndexError(message(f"row {i}", f"below n_samples={n}"))
    return int(i) % n


def check_image_shape(image_shape: Any, n_features: int) -> tuple[int, ...]:
    """Return the shape of a picture whose pixels are the features."""
    if image_shape is None:
        raise ValueError(
            message("image_shape=None", "the shape of a picture", remedy="Pass image_shape=(height, width).")
        )
    shape = tuple(int(size) for size in image_shape)
    if len(shape) not in (2, 3) or min(shape) < 1 or int(np.prod(shape)) != n_features:
        raise ValueError(message(f"image_shape={shape}", f"of n_features={n_features} pixels in two dimensions"))
    return shape


def dense_rows_of(X: Any, rows: Any, columns: Any = None) -> npt.NDArray[np.float64]:
    """Return some rows, and of them some columns, as a dense float64 array."""
    part = X[np.asarray(rows)]
    if columns is not None:
        part = part[:, columns]
    return dense_rows(part)


@dataclass(frozen=True)
class ColumnScales:
    """What the columns of a table range over.

    Attributes
    ----------
    deviation : ndarray of shape (n_features,), float64
        Standard deviation; exactly 0 for a constant column.
    low, high : ndarray of shape (n_features,), float64
        Smallest and largest value.
    """

    deviation: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    def in_deviations(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Divide values of the columns by their deviations; a constant column stays as it is."""
        scaled: npt.NDArray[np.float64] = values / np.where(self.deviation > 0, self.deviation, 1.0)
        return scaled


def column_scales(X: Any) -> ColumnScales:
    """Return the standard deviation and the range of each column.

    Two passes in blocks of rows, in float64 and in a fixed order.
    """
    n, n_features = (int(size) for size in X.shape)
    step = max(1, _BLOCK // n_features)
    starts = range(0, n, step)
    if hasattr(X, "tocsr"):
        from scipy.sparse import csr_array

        matrix = csr_array(X)
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
            block = np.asarray(X[start : start + step], dtype=np.float64)
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
            shift += (block - first).sum(axis=0)
        mean = first + shift / n
        variance = np.zeros(n_features)
        for start in starts:
            block = np.asarray(X[start : start + step], dtype=np.float64)
            variance += ((block - mean) ** 2).sum(axis=0)
        variance /= n
    return ColumnScales(np.where(high > low, np.sqrt(variance), 0.0), low, high)
