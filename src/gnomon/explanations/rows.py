"""Rows of a table, chosen and made dense a few at a time, and the shape of the pictures that they may be."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.labels import Classes, sort_into_classes
from gnomon.linalg import dense_rows

__all__ = ["check_image_shape", "classes_of", "dense_rows_of", "find_row"]


def classes_of(labels: Any, n: int) -> Classes:
    """Return the classes of n rows; at least two different ones."""
    classes = sort_into_classes(check_labels(labels, n))
    if len(classes) < 2:
        found = f"{len(classes)} value" + ("" if len(classes) == 1 else "s")
        raise ValueError(message(f"labels with {found}", "of at least two values"))
    return classes


def find_row(i: Any, n: int) -> int:
    """Return a row number counted from 0; negative ones count from the end."""
    try:
        row = operator.index(i)
    except TypeError:
        row = None
    if row is None or isinstance(i, bool):
        remedy = f"Pass the number of a name, of a map m.find({i!r})." if isinstance(i, str) else ""
        raise TypeError(message(f"row {i!r:.60}", "an integer", remedy=remedy))
    if not -n <= row < n:
        raise IndexError(message(f"row {row}", f"below n_samples={n}"))
    return row % n


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
    return dense_rows(X[np.asarray(rows)] if columns is None else X[np.ix_(rows, columns)])
