"""How rows are measured: standardised as for the neighbours of the map, and in their metric."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.data.scaling import Scaling
from gnomon.linalg.table import float_rows
from gnomon.neighbors import NeighborGraph, cross_distances

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["RowMetric"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RowMetric:
    """The metric in which the neighbours of a map were found.

    Attributes
    ----------
    name : str
        Of the metric. "precomputed" measures the changed rows, of which no distances are known, by Euclidean ones.
    scale : Scaling or None, default=None
        How the features are standardised first.
    """

    name: str
    scale: Scaling | None = None

    @classmethod
    def of(cls, explanation: Explanation, graph: NeighborGraph) -> RowMetric:
        """Return the metric of a graph over the table that an explanation was fitted to."""
        return cls(graph.metric, explanation.scale)

    def standardised(self, rows: Any) -> Any:
        """Return rows (n, n_features) as they are measured, float32 or float64."""
        if self.scale is not None:
            return self.scale.apply(rows)
        return float_rows(rows)

    def changes(self, differences: Array) -> Array:
        """Return differences of rows in the units in which they are measured."""
        return differences if self.scale is None else differences / self.scale.spread

    def steps(self, stations: Array) -> Array:
        """Return the distances between rows that follow each other, (n - 1,), of dense rows (n, n_features)."""
        if self.name in ("euclidean", "precomputed"):
            found: Array = np.linalg.norm(self.changes(np.diff(stations, axis=0)), axis=1)
            return found
        rows = self.standardised(stations)
        return np.array([cross_distances(a[None], b[None], metric=self.name)[0, 0] for a, b in pairwise(rows)])
