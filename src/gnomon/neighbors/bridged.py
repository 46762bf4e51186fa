"""Neighbour graphs to which bridges have been added."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gnomon.neighbors.bridges import Bridges
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["bridged_graph"]


def bridged_graph(graph: NeighborGraph, bridges: Bridges) -> NeighborGraph:
    """Make the ends of bridges neighbours of each other.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        To which they are added.
    bridges : Bridges
        Edges that are not in the graph.

    Returns
    -------
    NeighborGraph
        With as many more columns as a row has bridges at most, marked in the mask where it has fewer. Distances stay
        ascending where the graph holds the nearest neighbours: a bridge is longer than all edges of its ends.
    """
    if len(bridges) == 0:
        return graph
    n, k = graph.n_samples, graph.n_neighbors
    rows = np.concatenate([bridges.sources, bridges.targets])
    others = np.concatenate([bridges.targets, bridges.sources])
    lengths = np.concatenate([bridges.distances, bridges.distances])
    order = np.lexsort((others, lengths, rows))
    rows, others, lengths = rows[order], others[order], lengths[order]
    slots = np.arange(rows.size) - np.searchsorted(rows, rows)  # how many bridges of the same row came before
    shape = (n, int(slots.max()) + 1)
    indices = np.repeat(graph.indices[:, -1:], shape[1], axis=1)
    distances, mask = np.full(shape, np.inf, dtype=np.float32), np.zeros(shape, dtype=bool)
    indices[rows, slots], distances[rows, slots], mask[rows, slots] = others, lengths, True
    present = np.ones((n, k), dtype=bool) if graph.mask is None else graph.mask
    return replace(
        graph,
        indices=np.hstack([graph.indices, indices]),
        distances=np.hstack([graph.distances, distances]),
        mask=np.hstack([present, mask]),
    )
