"""The shortest edges that join the pieces of a neighbour graph into one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.exceptions import DataWarning
from gnomon.linalg import connected_components
from gnomon.neighbors.closest import ClosestOutside, MatrixSearch, RowSearch
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["Bridges", "find_bridges", "graph_components"]

_WHO = "find_bridges"
Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Bridges:
    """Edges that join the connected components of a graph into one, as a tree of components.

    Attributes
    ----------
    sources, targets : ndarray of shape (n_bridges,), int32
        Row numbers of the ends, sources < targets; n_bridges is the number of components less one.
    distances : ndarray of shape (n_bridges,), float64
        Lengths in the units of the metric, ascending; they have the precision of float32, as those of the graph.
    """

    sources: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    distances: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sources)

    @classmethod
    def none(cls) -> Bridges:
        """Return the bridges of a connected graph."""
        return cls(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64))


def graph_components(graph: NeighborGraph) -> Labels:
    """Label the connected components of a neighbour graph, an edge taken in both directions.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Rows are connected if one is a neighbour of the other.

    Returns
    -------
    ndarray of shape (n_samples,), int32
        Component of each row, numbered from 0 in the order of their first rows.
    """
    n, k = graph.n_samples, graph.n_neighbors
    present = np.ones((n, k), dtype=bool) if graph.mask is None else graph.mask
    offsets = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
    ones = np.ones(int(offsets[-1]), dtype=np.int8)
    return connected_components(sp.csr_array((ones, graph.indices[present], offsets), shape=(n, n)))


def find_bridges(
    X: Any,
    graph: NeighborGraph,
    *,
    labels: Labels | None = None,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_threads: int = 1,
) -> Bridges:
    """Find the shortest edges that join the connected components of a neighbour graph into one.

    They are a minimum spanning tree of the components, where the length of an edge is the distance of the two nearest
    rows of two components, of all rows, not of a sample.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or CSR matrix
        The rows of the graph; with ``metric="precomputed"`` their distances, as for `compute_neighbors`.
    graph : NeighborGraph of n_samples rows
        Whose components are to be joined.
    labels : ndarray of shape (n_samples,), int32, default=None
        What `graph_components` returns, where it is known already.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`.
    metric_params : mapping, default=None
        Further arguments of a scikit-learn metric or callable.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    Bridges
        Edges of equal length are preferred by the smaller, then the larger row number.

    Raises
    ------
    ValueError
        If given distances leave two components infinitely far apart.

    Notes
    -----
    Each round finds the shortest edge out of every component but the largest, as Boruvka's algorithm does. A row keeps
    the nearest row outside its component until that one comes inside, so that later rounds search few rows again.

    References
    ----------
    .. [1] Boruvka, "O jistem problemu minimalnim", 1926.
    """
    labels = graph_components(graph) if labels is None else np.asarray(labels, dtype=np.int32)
    if X.shape[0] != len(labels):
        raise ValueError(message(_WHO, f"X of {X.shape[0]} rows", f"of as many rows as the graph, {len(labels)}"))
    if int(labels.max(initial=0)) == 0:
        return Bridges.none()
    with warnings.catch_warnings():  # of rows of zeros under cosine: the search for neighbours has said it
        warnings.simplefilter("ignore", DataWarning)
        search: ClosestOutside
        if isinstance(metric, str) and metric == "precomputed":
            search = MatrixSearch.of(X, who=_WHO)
        else:
            search = RowSearch.of(X, metric, metric_params, n_threads=n_threads, who=_WHO)
        return _span(_Nearest.unknown(len(labels)), search, labels.copy())


@dataclass
class _Nearest:
    """For each row the nearest row outside its component, as found when the components were smaller.

    A target that has come inside leaves its distance as a lower bound.
    """

    targets: npt.NDArray[np.int32]
    distances: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = np.arange(len(self.targets), dtype=np.int32)

    @classmethod
    def unknown(cls, n: int) -> _Nearest:
        """Return distances of which nothing is known but that they are not negative; a row is its own target."""
        return cls(np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.float32))

    def refresh(self, search: ClosestOutside, labels: Labels, queried: npt.NDArray[np.bool_]) -> None:
        """Search again the rows of the components marked whose bound is below the best edge known of the component."""
        valid = labels[self.targets] != labels
        best = np.full(int(labels.max()) + 1, np.inf, dtype=np.float32)
        np.minimum.at(best, labels[valid], self.distances[valid])
        stale = np.flatnonzero(~valid & queried[labels] & (self.distances <= best[labels]))
        if len(stale):
            self.targets[stale], self.distances[stale] = search.closest(stale.astype(np.int32), labels)

    def shortest(self, labels: Labels, queried: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        """Return for each component marked the row from which its shortest edge leaves."""
        open_rows = np.flatnonzero((labels[self.targets] != labels) & queried[labels])
        targets = self.targets[open_rows]
        low, high = np.minimum(open_rows, targets), np.maximum(open_rows, targets)
        order = np.lexsort((high, low, self.distances[open_rows], labels[open_rows]))
        first = np.unique(labels[open_rows[order]], return_index=True)[1]
        return open_rows[order[first]]


def _span(nearest: _Nearest, search: ClosestOutside, labels: Labels) -> Bridges:
    """Join components by their shortest edges until one is left."""
    edges: list[tuple[float, int, int]] = []
    while labels.max() > 0:
        queried = np.ones(int(labels.max()) + 1, dtype=bool)
        queried[np.bincount(labels).argmax()] = False
        nearest.refresh(search, labels, queried)
        rows = nearest.shortest(labels, queried)
        found = []
        for row in rows.tolist():
            length, target = float(nearest.distances[row]), int(nearest.targets[row])
            if np.isfinite(length):
                found.append((length, min(row, target), max(row, target)))
        if not found:
            _raise_unreachable(labels)
        edges += _joined(sorted(found), labels)
    edges.sort()
    distances, sources, targets = zip(*edges, strict=True)
    return Bridges(np.array(sources, np.int32), np.array(targets, np.int32), np.array(distances, np.float64))


def _joined(edges: list[tuple[float, int, int]], labels: Labels) -> list[tuple[float, int, int]]:
    """Take edges that join different components, relabel the rows in place and return the edges taken.

    Distances that are not symmetric to the last bit could close a circle; such an edge is left out.
    """
    parent = np.arange(int(labels.max()) + 1)

    def root(label: int) -> int:
        while parent[label] != label:
            parent[label] = parent[parent[label]]
            label = int(parent[label])
        return label

    taken = []
    for edge in edges:
        one, other = sorted((root(int(labels[edge[1]])), root(int(labels[edge[2]]))))
        if one != other:
            parent[other] = one
            taken.append(edge)
    roots = np.array([root(label) for label in range(len(parent))])
    labels[:] = np.unique(roots, return_inverse=True)[1][labels]
    return taken


def _raise_unreachable(labels: Labels) -> None:
    sizes = np.sort(np.bincount(labels))[::-1]
    shown = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
    raise ValueError(
        message(
            _WHO,
            "distances",
            "finite between some rows of any two components",
            fact=f"{len(sizes)} components of {shown} rows are infinitely far apart",
            remedy="Pass distances between them, or fit them one by one.",
        )
    )
