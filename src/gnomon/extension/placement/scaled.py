"""New rows placed in a map of differences in units of local radii."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities import LocalRadii
from gnomon.extension.placement.placement import RowPlacement

__all__ = ["ScaledPlacement"]


@dataclass
class ScaledPlacement(RowPlacement):
    """How a map whose points have radii places new rows: each has its own, that of its distances to its neighbours.

    Parameters
    ----------
    radii : LocalRadii
        What radii are relative to.
    """

    radii: LocalRadii = LocalRadii(1.0, 0.0, 1.0)  # noqa: RUF009  immutable

    def _positions(
        self, X_new: Any, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        assert self.affinities is not None
        weights = self.affinities(self.rows, X_new, indices, distances)
        return self.field.place(indices, weights, 1.0 / np.sqrt(self.radii.of(distances)))[0]
