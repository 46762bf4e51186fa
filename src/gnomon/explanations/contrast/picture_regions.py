"""Nine regions of a picture, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.explanations.rows import dense_rows_of

__all__ = ["check_image_shape", "region_means"]

_NAMES = ("top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right")
_BLOCK = 1 << 22


def check_image_shape(image_shape: Any, n_features: int, *, who: str) -> tuple[int, ...]:
    """Return the shape of a picture whose pixels are the features."""
    if image_shape is None:
        raise ValueError(
            message(who, "image_shape=None", "the shape of a picture", remedy="Pass image_shape=(height, width).")
        )
    shape = tuple(int(size) for size in image_shape)
    if len(shape) not in (2, 3) or min(shape) < 1 or int(np.prod(shape)) != n_features:
        raise ValueError(message(who, f"image_shape={shape}", f"of n_features={n_features} pixels in two dimensions"))
    return shape


def region_means(X: Any, image_shape: Any, *, who: str) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Return the mean of the pixels of each row in nine regions, three by three, and the names of the regions."""
    height, width, *_ = check_image_shape(image_shape, int(X.shape[1]), who=who)
    if min(height, width) < 3:
        raise ValueError(message(who, f"image_shape={tuple(image_shape)}", "at least 3 x 3 to have regions"))
    third = np.arange(height)[:, None] * 3 // height * 3 + np.arange(width)[None, :] * 3 // width
    region = np.repeat(third.ravel(), int(X.shape[1]) // (height * width))
    averages = np.zeros((len(region), 9))
    averages[np.arange(len(region)), region] = 1.0
    averages /= averages.sum(axis=0)
    step = max(1, _BLOCK // len(region))
    with single_threaded_blas():
        blocks = [
            dense_rows_of(X, np.arange(start, min(start + step, X.shape[0]))) @ averages
            for start in range(0, int(X.shape[0]), step)
        ]
    return np.concatenate(blocks), list(_NAMES)
