"""A small static picture of the map for readers without JavaScript, as PNG bytes, with NumPy and zlib alone."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["preview_png"]


def preview_png(
    embedding: npt.NDArray[np.floating[Any]], colors: npt.NDArray[np.uint8], *, width: int = 720, height: int = 560
) -> bytes:
    """Draw the points as a PNG.

    Parameters
    ----------
    embedding : ndarray of shape (n, 2 or more)
        The first two coordinates are drawn; rows that are not finite are left out.
    colors : ndarray of shape (n, 3), uint8
        One colour a point.
    width, height : int
        Size in pixels.
    """
    finite = np.isfinite(embedding).all(axis=1)
    picture = np.full((height, width, 3), 255, dtype=np.uint8)
    if finite.any():
        points, inks = embedding[finite, :2].astype(np.float64), colors[finite]
        low, high = points.min(axis=0), points.max(axis=0)
        scale = 0.94 * min(width / max(high[0] - low[0], 1e-30), height / max(high[1] - low[1], 1e-30))
        centered = np.clip((points - (low + high) / 2) * scale, -1e6, 1e6)
        column = (width / 2 + centered[:, 0]).astype(np.int64)
        row = (height / 2 - centered[:, 1]).astype(np.int64)
        reach = 2 if len(points) < 5_000 else 1
        order = np.random.default_rng(0).permutation(len(points))  # so that no class hides the others
        for dy in range(-reach + 1, reach):
            for dx in range(-reach + 1, reach):
                y, x = np.clip(row + dy, 0, height - 1)[order], np.clip(column + dx, 0, width - 1)[order]
                picture[y, x] = inks[order]
    return _png(picture)


def _png(picture: npt.NDArray[np.uint8]) -> bytes:
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row starts with its filter type, 0
    rows[:, 1:] = picture.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
