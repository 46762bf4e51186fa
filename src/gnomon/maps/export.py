"""A map as a table of its points, for other programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["position_columns"]


def position_columns(places: npt.NDArray[Any], point_names: npt.NDArray[Any] | None) -> dict[str, npt.NDArray[Any]]:
    """Return "point", the name or number of each row, and the coordinates "x", "y", "z", beyond three "x0", "x1" ..."""
    n, n_components = places.shape
    axes = ["x", "y", "z"][:n_components] if n_components <= 3 else [f"x{j}" for j in range(n_components)]
    points = np.arange(n) if point_names is None else point_names
    return {"point": points, **{axis: places[:, j] for j, axis in enumerate(axes)}}
