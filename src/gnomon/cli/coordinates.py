"""Positions as files: written beside a map, and read when they were made elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.cli.outputs import destination

__all__ = ["write_coordinates"]


def write_coordinates(path: str, places: npt.NDArray[Any], point_names: npt.NDArray[Any] | None) -> None:
    """Write positions as an array (.npy), or as text: the name or number of each row, x, y and z."""
    from gnomon._files import atomic_write
    from gnomon.data.writers import write_columns
    from gnomon.maps.export import position_columns

    with destination("coordinates", path) as file:
        if file.lower().endswith(".npy"):
            with atomic_write(file) as stream:
                np.save(stream, places, allow_pickle=False)
        else:
            write_columns(file, position_columns(places, point_names))
