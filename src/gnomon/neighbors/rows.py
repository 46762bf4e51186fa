"""Rows of neighbours from entries in any order: sorted, cut to a number of neighbours, masked where there are fewer."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from gnomon.exceptions import NeighborsWarning
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["graph_of_entries"]


def graph_of_entries(
    rows: npt.NDArray[np.integer],
    columns: npt.NDArray[np.integer],
    distances: npt.NDArray[np.floating],
    *,
    n_samples: int,
    n_neighbors: int,
    metric: str,
    method: str,
    who: str,
) -> NeighborGraph:
    """Build a graph from the nearest entries of each row.

    Parameters
    ----------
    rows, columns, distances : ndarray of shape (n_entries,)
        Who is how far from whom; no pair twice, no row with itself. Infinite distances count as absent.
    n_samples, n_neighbors : int
    metric, method : str
        What the graph says about itself.
    who : str
        Opens the text of the warning about rows with fewer entries.

    Returns
    -------
    NeighborGraph
    """
    near = np.isfinite(distances)
    rows, columns, distances = rows[near], columns[near], distances[near]
    order = np.lexsort((columns, distances, rows))
    rows, columns, distances = rows[order], columns[order], distances[order]
    counts = np.bincount(rows, minlength=n_samples)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = places < n_neighbors
    # Absent neighbours repeat the last one; a row without any points at the row after it.
    last = (np.arange(n_samples) + 1) % n_samples
    ends = np.minimum(counts, n_neighbors) - 1
    at_end = kept & (places == ends[rows])
    last[rows[at_end]] = columns[at_end]
    indices = np.repeat(last.astype(np.int32)[:, None], n_neighbors, axis=1)
    values = np.full((n_samples, n_neighbors), np.inf, dtype=np.float32)
    indices[rows[kept], places[kept]] = columns[kept]
    values[rows[kept], places[kept]] = distances[kept]
    short = np.flatnonzero(counts < n_neighbors)
    if len(short) == 0:
        return NeighborGraph(indices, values, None, metric, method)
    text = (
        f"{who}: {len(short)} rows have fewer than {n_neighbors} neighbours at finite distance "
        f"(first: {', '.join(map(str, short[:5]))}); they use what exists"
    )
    warnings.warn(text, NeighborsWarning, stacklevel=4)
    return NeighborGraph(indices, values, np.isfinite(values), metric, method)
