"""One of the two signs that a direction may have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["column_signs", "with_signs"]

Float64Array = npt.NDArray[np.float64]


def column_signs(columns: Float64Array) -> Float64Array:
    """Return the sign, 1 or -1, of the entry of largest magnitude of each column; 1 for columns of zeros."""
    largest = np.abs(columns).argmax(axis=0)
    return np.where(columns[largest, np.arange(columns.shape[1])] < 0.0, -1.0, 1.0)


def with_signs(vectors: Float64Array) -> Float64Array:
    """Return the columns with the entry of largest magnitude of each positive."""
    return np.ascontiguousarray(vectors * column_signs(vectors))
