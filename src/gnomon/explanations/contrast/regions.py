"""Means of the pixels of pictures in nine regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon._validation import message
from gnomon.explanations.contrast.sums import BLOCK
from gnomon.explanations.rows import check_image_shape, dense_rows_of

__all__ = ["region_means"]

_REGIONS = ("top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right")


def region_means(X: Any, image_shape: Any) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Return the mean of the pixels of each row in nine regions, three by three, and the names of the regions."""
    height, width, *_ = check_image_shape(image_shape, int(X.shape[1]))
    if min(height, width) < 3:
        raise ValueError(message(f"image_shape={tuple(image_shape)}", "at least 3 x 3 to have regions"))
    third = np.arange(height)[:, None] * 3 // height * 3 + np.arange(width)[None, :] * 3 // width
    region = np.repeat(third.ravel(), int(X.shape[1]) // (height * width))
    averages = np.zeros((len(region), 9))
    averages[np.arange(len(region)), region] = 1.0
    averages /= averages.sum(axis=0)
    step = max(1, BLOCK // len(region))
    blocks = [
        product(dense_rows_of(X, np.arange(start, min(start + step, X.shape[0]))), averages)
        for start in range(0, int(X.shape[0]), step)
    ]
    return np.concatenate(blocks), list(_REGIONS)
