"""Sizes, opacities and places that the figures share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.exceptions import MissingDependencyError

__all__ = ["class_centers", "encode_classes", "import_matplotlib", "point_style", "ramp"]

DENSITY_FROM = 200_000
"""Above so many points single marks only cover each other: the figure shows how many lie in each pixel."""


def import_matplotlib() -> Any:
    """Return matplotlib with the parts the figures use, or say how to install it."""
    try:
        import matplotlib
        import matplotlib.backends.backend_agg
        import matplotlib.colors
        import matplotlib.figure
    except ImportError as error:
        raise MissingDependencyError(
            "gnomon.plot needs matplotlib, which cannot be imported. Install it with: pip install 'gnomon[plot]'"
        ) from error
    return matplotlib


def point_style(n_points: int) -> tuple[float, float]:
    """Area in square points and opacity of one mark: they shrink as the points get many."""
    area = float(np.clip(24_000.0 / max(n_points, 1), 0.7, 36.0))
    opacity = float(np.clip(2.2 * max(n_points, 1) ** -0.13, 0.35, 0.9))
    return area, opacity


def ramp(matplotlib: Any) -> Any:
    """Return the colour map of measured values."""
    from gnomon._palette import RAMP

    return matplotlib.colors.LinearSegmentedColormap.from_list("gnomon", RAMP)


def encode_classes(labels: Any, n_points: int, who: str) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Names of the classes (numbers by value, the rest by text) and the class of every point."""
    values = np.asarray(labels)
    if values.shape != (n_points,):
        raise ValueError(f"{who}: labels of shape {values.shape} must be of shape ({n_points},).")
    distinct, codes = np.unique(values if values.dtype.kind in "biufU" else values.astype(str), return_inverse=True)
    return [f"{v:g}" if isinstance(v, float) else str(v) for v in distinct.tolist()], codes


def class_centers(
    embedding: npt.NDArray[np.floating[Any]], codes: npt.NDArray[np.intp], n_classes: int
) -> npt.NDArray[np.float64]:
    """Medians of the finite points of each class, NaN where there are none; shape (n_classes, 2)."""
    centers = np.full((n_classes, 2), np.nan)
    finite = np.isfinite(embedding).all(axis=1)
    for k in range(n_classes):
        members = embedding[finite & (codes == k)]
        if len(members):
            centers[k] = np.median(members, axis=0)
    return centers
