"""The neighbour graph that the rooms exchange."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["NeighborGraph"]


@dataclass(frozen=True)
class NeighborGraph:
    """The nearest neighbours of every row, the row itself not counted.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Row numbers of the neighbours, in [0, n_samples), unique in a row and never the row itself. Where fewer than
        n_neighbors exist (`mask` is False) the entry repeats the last valid one of the row and must not be used.
    distances : ndarray of shape (n_samples, n_neighbors), float32
        True (not squared) distances in the units of the metric, ascending in each row; inf where `mask` is False.
    mask : ndarray of shape (n_samples, n_neighbors), bool, or None
        False where no such neighbour exists; None if all exist.
    metric : str
        The metric of the distances.
    method : str
        How they were found: "exact", "cells" (approximate), "scikit-learn" or "precomputed".
    recall : float in [0, 1]
        Share of the true neighbours found, 1.0 for exact methods, else measured on a sample of rows.
    """

    indices: npt.NDArray[np.int32]
    distances: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_] | None = None
    metric: str = "euclidean"
    method: str = "exact"
    recall: float = 1.0

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.indices.shape[0])

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of each row."""
        return int(self.indices.shape[1])

    def nearest(self, n_neighbors: int) -> Self:
        """Return the graph of the first n_neighbors neighbours of each row; itself if it has no more."""
        if self.n_neighbors <= n_neighbors:
            return self
        return replace(
            self,
            indices=np.ascontiguousarray(self.indices[:, :n_neighbors]),
            distances=np.ascontiguousarray(self.distances[:, :n_neighbors]),
            mask=None if self.mask is None else np.ascontiguousarray(self.mask[:, :n_neighbors]),
        )
