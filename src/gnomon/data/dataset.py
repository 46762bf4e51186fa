"""A table with what belongs to it: names, labels, pictures."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message

__all__ = ["Dataset", "draw_rows"]


@dataclass(frozen=True)
class Dataset:
    """A table read from a file or fetched.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The numbers as stored (uint8 pictures stay uint8).
    feature_names : list of str, or None
        Names of the columns of `X`.
    labels : ndarray of shape (n_samples,), or None
        A label for each row.
    label_name : str or None
        What the labels are called in the source.
    metadata : dict of str to ndarray of shape (n_samples,)
        Columns that are not features: text, dates, annotations.
    point_names : ndarray of shape (n_samples,), or None
        A name for each row, such as a file name or a cell's bar code.
    images : ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3), uint8, or None
        A picture of each row.
    image_shape : tuple of int, or None
        Shape of one picture if the features of a row are its pixels.
    source : str
        Where the data came from.
    notes : list of str
        What was decided in reading, such as columns left out of `X`.
    """

    X: npt.NDArray[Any] | sp.csr_array
    feature_names: list[str] | None = None
    labels: npt.NDArray[Any] | None = None
    label_name: str | None = None
    metadata: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    point_names: npt.NDArray[Any] | None = None
    images: npt.NDArray[np.uint8] | None = None
    image_shape: tuple[int, ...] | None = None
    source: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Short name: the last part of the source."""
        return os.path.basename(os.path.normpath(self.source)) if self.source else ""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])


def draw_rows(
    X: npt.NDArray[Any] | sp.csr_array, shape: tuple[int, ...], *, who: str = "read_table"
) -> npt.NDArray[np.uint8]:
    """Show every row as a picture.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Pixels row by row, the three colours of a pixel together. The smallest value of the table becomes black and
        the largest white; uint8 is shown as it is. Missing values are black, infinite ones black or white.
    shape : tuple (height, width) or (height, width, 3)
        Shape of a picture, with n_features pixels.
    who : str, default="read_table"
        Opens the error text.

    Returns
    -------
    ndarray of shape (n_samples, *shape), uint8
        A view of `X` where it is uint8.
    """
    shape = tuple(int(size) for size in shape)
    text = " x ".join(map(str, shape))
    if len(shape) not in (2, 3) or min(shape) < 1 or (len(shape) == 3 and shape[2] not in (1, 3)):
        raise ValueError(message(who, f"image shape {text}", "height x width or height x width x 3"))
    if math.prod(shape) != X.shape[1]:
        fact = f"{math.prod(shape)} pixels, {X.shape[1]} features"
        raise ValueError(message(who, f"image shape {text}", "that of a row", fact=fact))
    if len(shape) == 3 and shape[2] == 1:
        shape = shape[:2]
    if isinstance(X, np.ndarray) and X.dtype == np.uint8:
        return X.reshape(len(X), *shape)
    low, high = _range(X if isinstance(X, np.ndarray) else X.data)
    if not isinstance(X, np.ndarray) and X.nnz < math.prod(X.shape):
        low, high = min(low, 0.0), max(high, 0.0)
    scale = 255.0 / (high - low) if high > low else 0.0
    pictures = np.empty(X.shape, np.uint8)
    for start in range(0, len(pictures), 1024):
        rows = X[start : start + 1024]
        values = (rows if isinstance(rows, np.ndarray) else rows.toarray()).astype(np.float64) / 2
        grey = np.nan_to_num((values - low) * scale, nan=0.0, posinf=255.0, neginf=0.0)
        pictures[start : start + 1024] = np.rint(np.clip(grey, 0.0, 255.0))
    return pictures.reshape(len(pictures), *shape)


def _range(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the smallest and the largest of the finite values, halved: the difference of two halves is finite."""
    low, high = np.inf, -np.inf
    flat = values.reshape(-1)  # a view, for tables in row order
    for start in range(0, len(flat), 2**20):
        block = flat[start : start + 2**20].astype(np.float64) / 2
        finite = block[np.isfinite(block)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high) if low <= high else (0.0, 0.0)
