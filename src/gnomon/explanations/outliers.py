"""Rows that lie where the data are thin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters
from gnomon.explanations.answer import Column
from gnomon.explanations.off_directions import OffDirections
from gnomon.explanations.ranked import RankedRows, names_of_rows
from gnomon.neighbors import NeighborGraph, neighbors_of_places

__all__ = ["Outliers", "find_outliers"]

Array = npt.NDArray[np.float64]
_DENSEST = 1e-3  # of the median reach: rows that are all but copies are not taken as closer together than this


@dataclass(frozen=True, kw_only=True)
class Outliers(RankedRows):
    """Rows by how much thinner the data are around them than around their neighbours, the farthest out first.

    Attributes
    ----------
    score, scores : float64 > 0
        Local outlier factor: about 1 within the data, 2 where the density is half of that around the neighbours. NaN
        for a row without neighbours. Rows at one place, at distance 0 of each other, have the same.
    distance : ndarray of shape (n_listed,), float64
        Distance to the last of its neighbours, in units of the metric.
    n_copies : int
        Rows at the place of an earlier one, which are not counted among neighbours.
    off_directions : gnomon.explanations.OffDirections or None
        Rows that lie off the directions in which columns go together, or far out within them, whatever their neighbours
        are. None where there are no columns to measure that by, or fewer than 50 rows.
    """

    _question: ClassVar[str] = "outliers"
    _columns: ClassVar[tuple[Column, ...]] = (Column("score", "score"), Column("distance", "distance"))
    _per_row: ClassVar[tuple[str, ...]] = ("distance",)

    distance: Array
    n_copies: int = 0
    off_directions: OffDirections | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values, one record for each row, and the rows off the directions."""
        found = self.off_directions
        return {**super().to_dict(), **({} if found is None else {"off_directions": found.to_dict()})}

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *([] if self.off_directions is None else [str(self.off_directions)])])

    def headline(self) -> str:
        """Return the line above the printed table."""
        typical = float(np.nanmedian(self.scores)) if np.isfinite(self.scores).any() else np.nan
        text = f"local outlier factor by {self.n_neighbors} neighbours in the data"
        if self.n_copies:
            text += f", of rows that differ ({self.n_copies:,} {'is a copy' if self.n_copies == 1 else 'are copies'})"
        return f"{text}; that of a typical row is {typical:.2f}"


@entrance("outliers")
def find_outliers(
    graph: NeighborGraph,
    n_top: int = 20,
    *,
    n_neighbors: int | None = None,
    X: Any = None,
    point_names: Any = None,
) -> Outliers:
    """Rank rows by how much thinner the data are around them than around their neighbours.

    The reach from a row to a neighbour is their distance, but at least the distance of the neighbour's own last
    neighbour; the density at a row is one over its mean reach. The score is the mean density at its neighbours over its
    own [1]_.

    Rows at distance 0 of each other count as one: the score of each is that of a table without the others.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Nearest neighbours in the data.
    n_top : int >= 1, default=20
        Rows listed.
    n_neighbors : int >= 1, default=None
        Neighbours that count, the first ones that differ; None for all of the graph.
    X : ndarray or CSR of shape (n_samples, n_features), default=None
        The table that the graph is of, by its metric, which rows search whose neighbours in the graph are copies. None
        makes do with the neighbours left, or, of a row without any, with those that have it for a neighbour.
    point_names : array-like of shape (n_samples,), default=None
        Names of the rows.

    Returns
    -------
    Outliers

    Notes
    -----
    The density at rows that are all but copies would be boundless; no mean reach counts as less than a thousandth of
    the median. Where all rows are copies of one, their score is 1.

    References
    ----------
    .. [1] Breunig, Kriegel, Ng & Sander, "LOF: identifying density-based local outliers", SIGMOD 2000.
    """
    n_top = check_parameters({"n_top": Integer(1)}, {"n_top": n_top})["n_top"]
    wanted = graph.n_neighbors if n_neighbors is None else min(n_neighbors, graph.n_neighbors)
    places, place = neighbors_of_places(graph, wanted, X)
    of_places, last_of_places = _factors(places) if places.n_neighbors else (np.ones(1), np.zeros(1))
    scores, last = of_places[place], last_of_places[place]
    known = np.flatnonzero(np.isfinite(scores))
    rows = known[np.argsort(-scores[known], kind="stable")][:n_top].astype(np.int64)
    return Outliers(
        rows=rows,
        names=names_of_rows(point_names, rows),
        score=scores[rows],
        scores=scores,
        n_neighbors=places.n_neighbors or wanted,
        distance=last[rows],
        n_copies=graph.n_samples - places.n_samples,
    )


def _factors(graph: NeighborGraph) -> tuple[Array, Array]:
    """Return the local outlier factor of each row, and the distance to the last of its neighbours."""
    present = np.ones(graph.indices.shape, dtype=np.bool_) if graph.mask is None else graph.mask
    distances = np.where(present, graph.distances, 0.0).astype(np.float64)
    last = distances.max(axis=1)
    reach = _mean(np.maximum(distances, last[graph.indices]), present)
    floor = _DENSEST * float(np.median(reach[reach > 0])) if (reach > 0).any() else 1.0
    reach = np.maximum(reach, floor)  # NaN stays
    return _mean(reach[:, None] / reach[graph.indices], present), last


def _mean(values: Array, present: npt.NDArray[np.bool_]) -> Array:
    """Return the mean of each row's present entries, NaN where there are none."""
    if present.all():
        return np.asarray(values.mean(axis=1))
    counts = present.sum(axis=1)
    found = np.full(len(values), np.nan)
    np.divide(np.sum(values, axis=1, where=present), counts, out=found, where=counts > 0)
    return found
