"""From the data to the map: positions as a blend of charts, their derivatives, and how far rows lie out of range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon.extension.atlas.charts import BlendLaw, Charts
from gnomon.extension.atlas.novelty import Novelty
from gnomon.extension.placement.nearest_points import Candidates, Distances, NearestPoints, Rows
from gnomon.linalg.table import RowTable

__all__ = ["Blend", "Forward"]

Float64Array = npt.NDArray[np.float64]

_CONSENSUS = 4.0


class Blend(NamedTuple):
    """What the charts say of m rows.

    Attributes
    ----------
    positions : ndarray of shape (m, n_components), float64
    spread : ndarray of shape (m,), float64
        Weighted root mean square distance of the charts' predictions from the position.
    jacobians : ndarray of shape (m, n_components, n_features), float64; no columns if they were not asked for
    scores : ndarray of shape (m,), float64
        Of `Novelty`.
    """

    positions: Float64Array
    spread: Float64Array
    jacobians: Float64Array
    scores: Float64Array


@dataclass(frozen=True)
class Forward:
    """The blend of the charts around the points of a map.

    Attributes
    ----------
    nearest : NearestPoints
        Among the rows of the data.
    table : RowTable
        The rows of the data.
    charts : Charts
    law : BlendLaw
        Of distances in the data.
    novelty : Novelty
    n_neighbors : int
        Nearest points that `novelty` was learned from.
    """

    nearest: NearestPoints
    table: RowTable
    charts: Charts
    law: BlendLaw
    novelty: Novelty
    n_neighbors: int

    def blend(self, rows: Any, *, jacobians: bool = False, own: Rows | None = None) -> Blend:
        """Place rows; point own[i] takes no part in row i."""
        law, n_threads = self.law, self.nearest.n_threads

        def run(some: Any, near: Candidates, distances: Distances) -> tuple[npt.NDArray[Any], ...]:
            how = (law.count, law.softness, law.power, _CONSENSUS, jacobians, n_threads)
            new = RowTable.of(some).core
            positions, spread, truncated, derivatives = _core.atlas_predict(
                self.table.core, new, near, self.charts.core, *how
            )
            return (
                positions,
                spread,
                derivatives if jacobians else positions[:, :0],
                self._score(near, distances),
                truncated,
            )

        return Blend(*self.nearest.ask(run, rows, own))

    def scores(self, rows: Any) -> Float64Array:
        """Return the scores of rows alone."""
        return self._score(*self.nearest.search.find(rows, self.n_neighbors, n_threads=self.nearest.n_threads))

    def _score(self, near: Candidates, distances: Distances) -> Float64Array:
        k = self.n_neighbors
        return self.novelty.score(near[:, :k], distances[:, :k])
