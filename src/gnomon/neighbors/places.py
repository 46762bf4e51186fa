"""Neighbours among distinct rows: rows at distance 0 of each other count as one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.data import find_duplicate_rows
from gnomon.linalg import connected_components
from gnomon.neighbors.graph import NeighborGraph, without_own
from gnomon.neighbors.precomputed import among_rows
from gnomon.neighbors.row_search import RowSearch

__all__ = ["neighbors_of_places"]

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def neighbors_of_places(graph: NeighborGraph, n_neighbors: int, X: Any = None) -> tuple[NeighborGraph, Rows]:
    """Return the nearest neighbours of every place, a place being all rows at distance 0 of each other.

    A row with as many copies as it has neighbours knows of no other place, and one near copies of one row knows of few.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        More neighbours than asked for spare a search, where there are few copies.
    n_neighbors : int >= 1
        Of a place; fewer where there are not so many others.
    X : ndarray or CSR of shape (n_samples, n_features), default=None
        The table that the graph is of, by its metric. Places of which the graph knows too few neighbours search it.
        None takes what the graph knows: the neighbours that remain, or where none does, the places that have this one
        for a neighbour.

    Returns
    -------
    graph : NeighborGraph of n_places rows
        The first neighbours of the graph given if no two rows are at distance 0. Without any column for one place.
    place : ndarray of shape (n_samples,), intp
        The place of each row. Places are numbered by their first rows.
    """
    present = np.ones(graph.indices.shape, dtype=np.bool_) if graph.mask is None else graph.mask
    copied = present & (graph.distances == 0.0)
    if not copied.any():
        return graph.nearest(n_neighbors), np.arange(graph.n_samples)
    first, place = _places(graph, copied, X)
    k = min(n_neighbors, len(first) - 1)
    indices, distances, known = _others(graph, present, first, place)
    width = min(k, indices.shape[1])
    found = np.zeros((len(first), k), dtype=np.int32), np.full((len(first), k), np.inf, dtype=np.float32)
    found[0][:, :width] = indices[:, :width]
    found[1][:, :width] = np.where(known, distances, np.inf)[:, :width]
    if X is None:
        _take_back(*found, indices, distances, known)
    elif len(short := np.flatnonzero(np.isinf(found[1]).any(axis=1))):
        places = among_rows(X, first, graph.metric)
        search = RowSearch.of(places, k + 1, metric=graph.metric)
        found[0][short], found[1][short] = without_own(*search.find(places[short]), short)
    mask = np.isfinite(found[1])
    last = np.maximum(mask.sum(axis=1, keepdims=True) - 1, 0)
    filled = np.where(mask, found[0], np.take_along_axis(found[0], last, axis=1)) if k else found[0]
    return replace(graph, indices=filled, distances=found[1], mask=None if mask.all() else mask), place


def _places(graph: NeighborGraph, copied: Mask, X: Any) -> tuple[Rows, Rows]:
    """Return the first row of each place, ascending, and the place of each row."""
    n = graph.n_samples
    starts, ends = np.nonzero(copied)[0], graph.indices[copied].astype(np.intp)
    if X is not None:  # more copies than neighbours need not have each other
        representatives, inverse = find_duplicate_rows(X)
        starts, ends = np.append(starts, np.arange(n)), np.append(ends, representatives[inverse])
    links = scipy.sparse.csr_array((np.ones(len(starts), dtype=np.float32), (starts, ends)), shape=(n, n))
    _, first, inverse = np.unique(connected_components(links.maximum(links.T)), return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[inverse.ravel()]


def _others(
    graph: NeighborGraph, present: Mask, first: Rows, place: Rows
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32], Mask]:
    """Return other places near each, with their distances: each once, then entries that are not known."""
    near, distances = place[graph.indices[first]], graph.distances[first]
    order = np.argsort(near, axis=1, kind="stable")  # of one place the nearest row first
    ordered = np.take_along_axis(near, order, axis=1)
    again = np.zeros(near.shape, dtype=np.bool_)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    known = present[first] & ~again & (near != np.arange(len(first))[:, None])
    order = np.argsort(~known, axis=1, kind="stable")
    near, distances, known = (np.take_along_axis(one, order, axis=1) for one in (near, distances, known))
    return near, distances, known


def _take_back(
    found: npt.NDArray[np.int32],
    lengths: npt.NDArray[np.float32],
    indices: npt.NDArray[np.intp],
    distances: npt.NDArray[np.float32],
    known: Mask,
) -> None:
    """Give places without a neighbour those that have them for one."""
    alone = np.asarray(np.isinf(lengths).all(axis=1))
    starts, to, reached = np.nonzero(known)[0], indices[known], distances[known]
    some = alone[to]
    starts, to, reached = starts[some], to[some], reached[some]
    order = np.lexsort((starts, reached, to))
    starts, to, reached = starts[order], to[order], reached[order]
    rank = np.arange(len(to)) - np.searchsorted(to, to)
    near = rank < found.shape[1]
    found[to[near], rank[near]] = starts[near]
    lengths[to[near], rank[near]] = reached[near]
