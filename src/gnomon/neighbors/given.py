"""Neighbours that the user found elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.precomputed import clip_distances, graph_of_entries

__all__ = ["as_neighbor_graph"]

_WHO = "as_neighbor_graph"


def as_neighbor_graph(
    indices: npt.ArrayLike, distances: npt.ArrayLike, *, metric: str = "precomputed", recall: float = 1.0
) -> NeighborGraph:
    """Turn a table of neighbours into a graph, checked and put in order.

    Parameters
    ----------
    indices : array-like of shape (n_samples, n_columns), integer
        Row numbers of the neighbours in any order; -1 where there is none. A row may contain itself; it is taken out.
    distances : array-like of shape (n_samples, n_columns)
        True (not squared) distances, >= 0; inf where there is no neighbour.
    metric : str, default="precomputed"
        Name of the metric of the distances.
    recall : float in [0, 1], default=1.0
        Share of the true neighbours among those given, if known.

    Returns
    -------
    NeighborGraph
        With n_columns neighbours, or n_columns - 1 if any row contains itself. `mask` is False where a row has fewer.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, a neighbour occurs twice in a row, or a distance is negative or NaN.
    TypeError
        If indices are not integers.

    Warns
    -----
    NeighborsWarning
        If some rows have fewer neighbours than columns; they are named.
    """
    table, lengths = _check_shapes(np.asarray(indices), np.asarray(distances))
    n, n_columns = table.shape
    present = (table >= 0) & np.isfinite(lengths)
    table = np.where(present, table, -1)
    own = table == np.arange(n)[:, None]
    ordered = np.sort(table, axis=1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if repeated.any():
        first = ", ".join(map(str, np.flatnonzero(repeated)[:5]))
        fact = f"{int(repeated.sum())} rows repeat a neighbour, first: {first}"
        raise ValueError(message(_WHO, "the neighbours of a row", "different rows", fact=fact))
    n_neighbors = n_columns - int(own.any())
    if n_neighbors < 1:
        raise ValueError(message(_WHO, "indices", "other rows than the row itself"))
    rows, columns = np.nonzero((table >= 0) & ~own)
    graph = graph_of_entries(
        rows,
        table[rows, columns],
        lengths[rows, columns],
        n_samples=n,
        n_neighbors=n_neighbors,
        metric=metric,
        method="precomputed",
        who=_WHO,
    )
    return NeighborGraph(graph.indices, graph.distances, graph.mask, metric, "precomputed", recall)


def _check_shapes(
    indices: npt.NDArray[Any], distances: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return indices and distances of one shape and the right kinds."""
    if indices.ndim != 2 or indices.shape != distances.shape or indices.size == 0:
        what = f"indices of shape {indices.shape} and distances of shape {distances.shape}"
        raise ValueError(message(_WHO, what, "two tables of one shape (n_samples, n_columns)"))
    if not np.issubdtype(indices.dtype, np.integer):
        raise TypeError(message(_WHO, f"indices of type {indices.dtype}", "integers"))
    n = len(indices)
    outside = (indices < -1) | (indices >= n)
    if outside.any():
        row = int(np.flatnonzero(outside.any(axis=1))[0])
        fact = f"{int(outside.sum())} are not, first in row {row}"
        raise ValueError(message(_WHO, "indices", f"in [0, {n}), or -1 for none", fact=fact))
    lengths = np.where(indices < 0, np.inf, distances.astype(np.float64))
    return indices.astype(np.int64), clip_distances(lengths, _WHO)
