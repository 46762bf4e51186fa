"""Feature values and pictures of a page: measured, then stored for all points or for some."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.linalg.table import evenly_spaced
from gnomon.viewer.budget import Measured, Plan, file_bytes
from gnomon.viewer.payload import Payload, encode_features

__all__ = [
    "MOST_FEATURES",
    "add_images",
    "add_values",
    "as_table",
    "check_images",
    "measure_images",
    "measure_values",
    "pictures_of",
]

_IMAGE_BYTES = 128 << 20
_MEASURED_ROWS = 512  # rows of the table that are encoded to measure it
_MEASURED_FEATURES = 4096  # and columns, of a table of more than a page has
_ALL = 1 << 62
_SMALL = 1 << 18  # values of a table that are stored as they are
MOST_FEATURES = 40_000
"""Features whose values a page has at most, as many as genes are measured; those of a picture are not counted."""


def as_table(X: Any) -> Any:
    """Return a table as an array of numbers or a sparse matrix; None if there is none."""
    if X is None or hasattr(X, "tocsc"):
        return X
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        what = f"X of shape {table.shape} and type {table.dtype}"
        raise ValueError(message(what, "a table of numbers", remedy="Pass a 2-D array."))
    return table.view(np.uint8) if table.dtype == np.bool_ else table


def check_images(images: Any, n_samples: int, shape: tuple[int, ...] | None) -> npt.NDArray[np.uint8] | None:
    """Return pictures as they must be, None if there are none."""
    if shape is not None and len(shape) not in (2, 3):
        raise ValueError(message(f"image_shape={shape}", "(height, width) or (height, width, channels)"))
    if images is None:
        return None
    pictures = np.asarray(images)
    good = pictures.dtype == np.uint8 and (pictures.ndim == 3 or (pictures.ndim == 4 and pictures.shape[3] in (1, 3)))
    if not good or pictures.shape[0] != n_samples:
        raise ValueError(
            message(
                f"images of shape {pictures.shape} and type {pictures.dtype}",
                f"uint8 of shape ({n_samples}, height, width) or (..., 3)",
            )
        )
    return pictures


def pictures_of(rows: Any, shape: tuple[int, ...], low: float, high: float) -> npt.NDArray[np.uint8]:
    """Return rows whose features are pixels as pictures, black at `low` and white at `high`."""
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    levels: npt.NDArray[np.uint8] = np.round((dense - low) * (255.0 / ((high - low) or 1.0))).astype(np.uint8)
    return levels.reshape(-1, *shape)


def measure_values(rows: Any, *, pixels: bool) -> Measured:
    """Measure what the values of some rows of a table would take, None for no table."""
    if rows is None or not rows.shape[0]:
        return Measured()
    n, d = rows.shape
    some, share, part = evenly_spaced(n, _MEASURED_ROWS), 1.0, rows
    if d > MOST_FEATURES and not pixels:
        columns_looked_at = evenly_spaced(d, _MEASURED_FEATURES)
        part, share = rows[:, columns_looked_at], MOST_FEATURES / len(columns_looked_at)
    codes = encode_features(part[some], byte_budget=_ALL)
    columns = {k: v for k in ("codes", "indices", "data") if (v := getattr(codes, k)) is not None}
    scale, raw = share * n / len(some), sum(column.nbytes for column in columns.values())
    fixed = share * file_bytes({"table": codes.table, "kept": codes.kept}, 0)
    n_bytes = scale * file_bytes(columns, 0) + fixed
    return Measured(n_bytes, int(scale * raw), complete=pixels, whole=_bytes_of_whole(rows))


def _bytes_of_whole(rows: Any) -> float:
    """Return what values of a small table would take as they are where one byte cannot hold them; infinite of more."""
    if not isinstance(rows, np.ndarray) or rows.size > _SMALL:
        return np.inf
    whole = encode_features(rows, byte_budget=_ALL, whole=True).whole
    return 0.0 if whole is None else file_bytes({"whole": whole}, 0)


def measure_images(pictures: npt.NDArray[np.uint8] | None) -> Measured:
    """Measure what pictures would take."""
    if pictures is None or not len(pictures):
        return Measured()
    n_bytes = file_bytes({"images": pictures.reshape(len(pictures), -1)}, len(pictures))
    return Measured(n_bytes, min(pictures.nbytes, _IMAGE_BYTES))


def add_values(
    payload: Payload, rows: Any, *, importance: Any = None, plan: Plan | None = None, most: int | None = None
) -> list[str]:
    """Add the values of some rows, as many features of them as planned, and return what to say of them.

    Parameters
    ----------
    payload : Payload
    rows : ndarray or CSR of shape (n_rows, n_features)
    importance : ndarray of shape (n_features,), default=None
        By which features are kept; their variance by default.
    plan : Plan, default=None
        None takes all features.
    most : int or None, default=None
        Features at most.
    """
    budget = _ALL if plan is None or plan.exact else plan.raw
    whole = np.isfinite(_bytes_of_whole(rows)) if plan is None else plan.whole
    codes = encode_features(rows, byte_budget=budget, importance=importance, most=most, whole=bool(whole))
    for name in ("codes", "indptr", "indices", "data", "whole", "whole_slots"):
        column = getattr(codes, name)
        if column is not None:
            payload.add("features", name, column)
    for name in ("kept", "table_row", "table", "zero"):
        payload.add("features", name, getattr(codes, name))
    payload.header.setdefault("features", {})["kept"] = int(codes.kept.size)
    notes = []
    if codes.kept.size < rows.shape[1]:
        by = "importance for this map" if importance is not None else "variance"
        notes.append(f"Values of {codes.kept.size:,} of {rows.shape[1]:,} features are included (largest {by}).")
    if codes.rounded:
        notes.append("Feature values are rounded to 256 levels each.")
    return notes


def add_images(payload: Payload, images: npt.NDArray[np.uint8]) -> list[str]:
    """Add pictures of shape (n, height, width) or (n, height, width, channels) and return what to say of them."""
    pictures = images[..., None] if images.ndim == 3 else images
    factor, notes = 1, []
    while pictures.nbytes / factor**2 > _IMAGE_BYTES and min(pictures.shape[1:3]) >= 16 * factor:
        factor += 1
    if factor > 1:
        n, height, width, channels = pictures.shape
        h, w = height // factor, width // factor
        blocks = pictures[:, : h * factor, : w * factor].reshape(n, h, factor, w, factor, channels)
        pictures = np.empty((n, h, w, channels), dtype=np.uint8)
        for start in range(0, n, 1024):
            pictures[start : start + 1024] = blocks[start : start + 1024].mean(axis=(2, 4)).round()
        notes.append(f"Thumbnails are reduced {factor} times to keep the file small.")
    payload.header["images"] = list(pictures.shape[1:])
    payload.add("images", "images", pictures)
    return notes
