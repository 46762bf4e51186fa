"""Neighbours among distinct rows: of a set of rows that repeat each other one stands for all, and none is its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import unsaid
from gnomon.exceptions import GnomonWarning
from gnomon.linalg.table import float_rows
from gnomon.neighbors.compute import compute_neighbors
from gnomon.neighbors.distances import pair_distances
from gnomon.neighbors.graph import ANSWER_NEIGHBORS, NeighborGraph
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.repeats import (
    REPEATS_NEIGHBORS,
    alike_by_chance,
    find_repeats,
    may_hide_repeats,
    repeats_of_graph,
)

__all__ = ["distinct_neighbors", "find_representatives", "one_of_each_set", "widened"]

Rows = npt.NDArray[np.intp]

_COMPARED = 100  # rows whose distances say whether a graph is of a table
_SAME = 1e-2  # share by which most distances differ at most if it is
_BLOCK = 1 << 12  # rows whose neighbours are looked through together


def find_representatives(
    X: Any,
    graph: NeighborGraph | None,
    usable: npt.NDArray[np.bool_],
    *,
    seed: int,
    metric: str = "euclidean",
    by_chance: bool = True,
) -> Rows | None:
    """Return which row stands for each where rows were measured or copied several times; None where none were.

    20 neighbours tell, as `repeats_of_graph` says. Where the graph has 15 at least, more are only searched for if these
    show a set or might hide one.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data; where the graph is of other data, rows must repeat each other in both.
    graph : NeighborGraph of n_samples rows or None
        The nearest neighbours; None has them searched for.
    usable : ndarray of shape (n_samples,), bool
        Rows that can stand for others.
    seed : int
        Draws the rows of a large table that are looked at first.
    metric : str, default="euclidean"
        Without a graph: in which rows are near. Of one that is not searched natively Euclidean distances tell.
    by_chance : bool, default=True
        Whether rows also stand for others where columns have so few values that rows are equal by chance
        (`alike_by_chance`), and are independent all the same.

    Returns
    -------
    ndarray of shape (n_samples,), intp, or None
        A row of the same set, the first that is usable.
    """
    n = int(X.shape[0])
    if graph is None:
        with _told():
            searched = metric if native_metric(metric) is not None else "euclidean"
            kept, inverse = find_repeats(float_rows(X), metric=searched, seed=seed)
    else:
        kept, inverse = _repeats_by_graph(X, graph, seed)
    if len(kept) == n or (not by_chance and alike_by_chance(X, n - len(kept))):
        return None
    first = np.full(len(kept), n)
    np.minimum.at(first, inverse[usable], np.flatnonzero(usable))
    return np.where(first < n, first, kept)[inverse]


def _repeats_by_graph(X: Any, graph: NeighborGraph, seed: int) -> tuple[Rows, Rows]:
    """Return what `find_repeats` does, from neighbours that are known where they tell."""
    n = graph.n_samples
    kept, inverse = repeats_of_graph(graph.nearest(REPEATS_NEIGHBORS))
    if graph.n_neighbors < min(REPEATS_NEIGHBORS, n - 1):
        doubtful = len(kept) < n or graph.n_neighbors < ANSWER_NEIGHBORS or may_hide_repeats(graph)
        metric = _metric_of(X, graph) if doubtful else None
        if metric is not None:
            with _told():
                kept, inverse = find_repeats(float_rows(X), metric=metric, seed=seed)
    if len(kept) < n and _metric_of(X, graph) is None:  # rows alike there may differ here
        with _told():
            kept, inverse = find_repeats(float_rows(X), seed=seed)
    return kept, inverse


def distinct_neighbors(X: Any, graph: NeighborGraph, representatives: Rows, n_neighbors: int) -> NeighborGraph:
    """Return the nearest neighbours of each row among the rows that stand for sets, its own set left out.

    More neighbours are searched for if the graph has too few of distinct rows and is of the data; else rows keep
    what is left.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    graph : NeighborGraph of n_samples rows
        The nearest neighbours.
    representatives : ndarray of shape (n_samples,), intp
        As of `find_representatives`.
    n_neighbors : int
        Distinct neighbours wanted of each row.

    Returns
    -------
    NeighborGraph
        Of at most `n_neighbors`, with a mask if some rows have fewer.
    """
    n = graph.n_samples
    graph = widened(X, graph, representatives, n_neighbors)
    parts = [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
    found = [_one_of_each(graph, representatives, part, n_neighbors) for part in parts]
    indices, distances, mask = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    count = max(int(mask.sum(axis=1).max()), 1)
    indices, distances, mask = indices[:, :count], distances[:, :count], mask[:, :count]
    return replace(
        graph,
        indices=np.ascontiguousarray(indices),
        distances=np.ascontiguousarray(distances),
        mask=None if mask.all() else np.ascontiguousarray(mask),
    )


def widened(X: Any, graph: NeighborGraph, representatives: Rows, n_neighbors: int) -> NeighborGraph:
    """Return a graph with so many neighbours that `n_neighbors` of each row are distinct; itself if X is other data.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    graph : NeighborGraph of n_samples rows
        The nearest neighbours.
    representatives : ndarray of shape (n_samples,), intp
        As of `find_representatives`.
    n_neighbors : int
        Distinct neighbours wanted of each row.

    Returns
    -------
    NeighborGraph
        Sets are as they were: all rows are neighbours of each other.
    """
    most = int(np.bincount(representatives).max())
    wanted = min(n_neighbors * most + most - 1, graph.n_samples - 1)
    if graph.n_neighbors < wanted and (metric := _metric_of(X, graph)) is not None:
        with _told():
            return compute_neighbors(float_rows(X), wanted, metric=metric)
    return graph


def one_of_each_set(nearest: npt.NDArray[Any], representatives: Rows, own: Rows) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Return the rows that stand for the nearest ones, and which of these are the first of their set, not of the own.

    Parameters
    ----------
    nearest : ndarray of shape (m, n_neighbors), int
        Rows near each of m rows, the nearest first.
    representatives : ndarray of shape (n_samples,), intp
        As of `find_representatives`.
    own : ndarray of shape (m,), intp
        The rows that stand for the m rows.

    Returns
    -------
    near : ndarray of shape (m, n_neighbors), intp
    first : ndarray of shape (m, n_neighbors), bool
    """
    near = representatives[nearest]
    order = np.argsort(near, axis=1, kind="stable")
    ordered = np.take_along_axis(near, order, axis=1)
    new = np.concatenate([np.ones((len(near), 1), np.bool_), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, axis=1)
    return near, first & (near != own[:, None])


def _one_of_each(
    graph: NeighborGraph, representatives: Rows, part: slice, n_neighbors: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Return indices, distances and mask of some rows, the first neighbour of each set standing for it."""
    near, kept = one_of_each_set(graph.indices[part], representatives, representatives[part])
    if graph.mask is not None:
        kept &= graph.mask[part]
    chosen = np.argsort(~kept, axis=1, kind="stable")[:, :n_neighbors]
    mask = np.take_along_axis(kept, chosen, axis=1)
    indices = np.take_along_axis(near, chosen, axis=1).astype(np.int32)
    distances = np.where(mask, np.take_along_axis(graph.distances[part], chosen, axis=1), np.float32(np.inf))
    last = np.maximum(mask.sum(axis=1) - 1, 0)
    filled = np.where(mask, indices, np.take_along_axis(indices, last[:, None], axis=1))
    return filled, distances.astype(np.float32), mask


def _metric_of(X: Any, graph: NeighborGraph) -> str | None:
    """Return the metric in which the distances of a graph are those of the rows; None if they are others'."""
    metric = graph.metric if native_metric(graph.metric) is not None else "euclidean"
    rows = np.unique(np.linspace(0, graph.n_samples - 1, _COMPARED).astype(np.int64))
    known = np.ones((len(rows), graph.n_neighbors), np.bool_) if graph.mask is None else graph.mask[rows]
    at, column = np.nonzero(known)
    if not len(at):
        return None
    m = len(at)
    pairs = float_rows(X[np.concatenate([rows[at], graph.indices[rows][at, column]])])
    partners = np.concatenate([np.arange(m, 2 * m), np.arange(m)])[:, None].astype(np.int32)
    with _told():
        try:
            true = pair_distances(pairs, partners, metric=metric)[:m, 0].astype(np.float64)
        except ValueError:  # of values that the metric refuses, such as negative amounts
            return None
    given = graph.distances[rows][at, column].astype(np.float64)
    near = np.abs(given - true) <= _SAME * np.maximum(given, true)
    return metric if near.mean() > 0.5 else None


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Be silent on rows: what there is to say of them was said where they were searched first."""
    with unsaid(GnomonWarning):
        yield
