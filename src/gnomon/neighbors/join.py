"""What a method that needs a connected graph does with one in pieces: bridges are added, or it is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Options, message, warn
from gnomon.exceptions import NeighborsWarning
from gnomon.neighbors.bridges import Bridges, find_bridges, graph_components
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["JOINING", "bridged_graph", "describe_pieces", "join_components"]

JOINING = Options("connect", "error")
"""The rule of the parameter `disconnected`."""


def describe_pieces(labels: npt.NDArray[np.int32]) -> str:
    """Say how many components there are and of how many rows, the largest first.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,), int32
        Component of each row, from 0.

    Returns
    -------
    str
        Such as "2 components of 100, 50 rows".
    """
    sizes = np.sort(np.bincount(labels))[::-1]
    shown = ", ".join(map(str, sizes[:5])) + (", ..." if sizes.size > 5 else "")
    return f"{sizes.size} components of {shown} rows"


def join_components(
    X: Any,
    graph: NeighborGraph,
    disconnected: str,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
) -> tuple[Bridges, npt.NDArray[np.int32]]:
    """Find the bridges between the connected components of a graph and warn of them, or refuse a graph in pieces.

    Parameters
    ----------
    X, graph, metric, metric_params : as for `find_bridges`
        The graph may be connected.
    disconnected : {"connect", "error"}

    Returns
    -------
    bridges : Bridges
        None of them if the graph is connected.
    labels : ndarray of shape (n_samples,), int32
        What `graph_components` returns.

    Raises
    ------
    ValueError
        With "error", if the graph is in pieces; or if given distances leave two pieces infinitely far apart.

    Warns
    -----
    NeighborsWarning
        With "connect", if the graph is in pieces.
    """
    labels = graph_components(graph)
    if labels.max() == 0:
        return Bridges.none(), labels
    pieces = describe_pieces(labels)
    if disconnected == "error":
        remedy = "Raise n_neighbors, pass disconnected='connect', or fit the components one by one."
        raise ValueError(message("the neighbour graph", "connected", fact=f"it has {pieces}", remedy=remedy))
    bridges = find_bridges(X, graph, labels=labels, metric=metric, metric_params=metric_params)
    warn(
        f"the neighbour graph has {pieces}; the shortest edges between them join them, the longest of length "
        f"{bridges.distances[-1]:.3g}. Distances across them say little; more neighbours may make them unnecessary.",
        NeighborsWarning,
    )
    return bridges, labels


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
