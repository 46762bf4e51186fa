"""From the map back to the data: rows as a blend of charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon.extension.atlas.charts import BlendLaw, Charts
from gnomon.extension.atlas.points import spread_evenly
from gnomon.extension.placement.nearest_points import Candidates, Distances, NearestPoints, Rows
from gnomon.linalg.table import RowTable
from gnomon.neighbors import query_neighbors

__all__ = ["Inverse", "inverse_law"]

Float64Array = npt.NDArray[np.float64]

_POWER, _ROWS = 0.0, 2.0
"""Of the weights of charts by distances in the map. Many rows of the data share a place in the map up to noise: a blend
that gave back each row at its place would give back that noise. On digits it is a fifth farther from new rows."""
_LAW_ROWS = 1000  # whose distances in the map give the law


@dataclass(frozen=True)
class Inverse:
    """The blend of the charts' inverses around the places of a map.

    Attributes
    ----------
    nearest : NearestPoints
        Among the places of the map.
    table : RowTable
        The rows of the data.
    charts : Charts
    law : BlendLaw
        Of distances in the map.
    """

    nearest: NearestPoints
    table: RowTable
    charts: Charts
    law: BlendLaw

    def invert(self, places: Float64Array, own: Rows | None = None) -> Float64Array:
        """Return the rows at places of the map, (m, n_features); point own[i] takes no part in row i."""
        law = self.law

        def run(some: Float64Array, near: Candidates, _: Distances) -> tuple[npt.NDArray[Any], ...]:
            arguments = (self.charts.core, law.count, law.softness, law.power, self.nearest.n_threads)
            return _core.atlas_invert(self.table.core, np.ascontiguousarray(some), near, *arguments)

        rows: Float64Array = self.nearest.ask(run, places, own)[0]
        return rows


def inverse_law(Y: Float64Array, n_neighbors: int, *, n_threads: int) -> BlendLaw:
    """Return the law of the weights by distances in the map."""
    some = Y[spread_evenly(len(Y), _LAW_ROWS)]
    _, distances = query_neighbors(Y, some, n_neighbors + 1, n_threads=n_threads)
    return BlendLaw.of(distances[:, 1:], power=_POWER, n_rows=_ROWS)
