"""The shortest edges that join the components of a neighbour graph into one, and the search for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._validation import message, unsaid
from gnomon.exceptions import DataWarning
from gnomon.linalg import connected_components
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.precomputed import clip_distances

__all__ = ["Bridges", "find_bridges", "graph_components"]

Labels = npt.NDArray[np.int32]
_LARGEST_TOGETHER = 64  # rows of a component searched together with others of its size, among all rows
_BLOCK = 512
Found = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Bridges(ShortRepr):
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
    return connected_components(scipy.sparse.csr_array((ones, graph.indices[present], offsets), shape=(n, n)))


@entrance("find_bridges")
def find_bridges(
    X: Any,
    graph: NeighborGraph,
    *,
    labels: Labels | None = None,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
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
        Arguments of the metric: ``period`` of "periodic", or those of a scikit-learn metric or callable.

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
        raise ValueError(message(f"X of {X.shape[0]:,} rows", f"of as many rows as the graph, {len(labels)}"))
    if int(labels.max(initial=0)) == 0:
        return Bridges.none()
    with unsaid(DataWarning):  # of rows of zeros under cosine: the search for neighbours has said it
        search: _ClosestOutside
        if isinstance(metric, str) and metric == "precomputed":
            search = _MatrixSearch.of(X)
        else:
            search = _CoordinateSearch.of(X, metric, metric_params)
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

    def refresh(self, search: _ClosestOutside, labels: Labels, queried: npt.NDArray[np.bool_]) -> None:
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


def _span(nearest: _Nearest, search: _ClosestOutside, labels: Labels) -> Bridges:
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
            "distances",
            "finite between some rows of any two components",
            fact=f"{len(sizes)} components of {shown} rows are infinitely far apart",
            remedy="Pass distances between them, or fit them one by one.",
        )
    )


class _ClosestOutside(Protocol):
    """A search for the nearest row of another component."""

    def closest(self, rows: npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> Found:
        """Return for each of some rows the nearest row with another label and its distance, ties by row number."""
        ...


@dataclass(frozen=True)
class _CoordinateSearch:
    """A search by coordinates.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features) or CSR matrix
    query : callable
        (rows of the table searched, new rows, k) -> indices and distances of the k nearest, ties by index.
    """

    X: Any
    query: Callable[[Any, Any, int], Found]

    @classmethod
    def of(
        cls, X: Any, metric: str | Callable[..., float], metric_params: Mapping[str, Any] | None
    ) -> _CoordinateSearch:
        """Choose the search that `compute_neighbors` takes for this metric."""
        native = native_metric(metric, metric_params)
        if native is None:
            from gnomon.neighbors.library import learned_params, library_query

            params = learned_params(metric, metric_params, X)

            def through_library(table: Any, new: Any, k: int) -> Found:
                return library_query(table, new, k, metric, params)

            return cls(X if isinstance(X, np.ndarray) else scipy.sparse.csr_array(X), through_library)

        def among_rows(table: Any, new: Any, k: int) -> Found:
            indices, distances = native.searched(table).nearest(new, k)
            return indices, native.distances(distances)

        return cls(native.rows(X), among_rows)

    def closest(self, rows: npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> Found:
        """Search rows of small components together among all rows, those of a large one among the rows outside it."""
        targets, distances = np.empty(len(rows), np.int32), np.empty(len(rows), np.float32)
        sizes = np.bincount(labels)
        # Of s + 1 nearest rows at least one is outside a component of s rows.
        groups = np.where(sizes <= _LARGEST_TOGETHER, np.ceil(np.log2(np.maximum(sizes, 1))), -1).astype(int)
        of_rows = labels[rows]
        for group in np.unique(groups[of_rows]):
            if group < 0:
                continue
            places = np.flatnonzero(groups[of_rows] == group)
            k = min(2 ** int(group) + 1, len(labels))
            for begin in range(0, len(places), _BLOCK * 16):
                some = places[begin : begin + _BLOCK * 16]
                indices, lengths = self.query(self.X, self.X[rows[some]], k)
                first = (labels[indices] != labels[rows[some], None]).argmax(axis=1)[:, None]
                targets[some] = np.take_along_axis(indices, first, axis=1)[:, 0]
                distances[some] = np.take_along_axis(lengths, first, axis=1)[:, 0]
        for label in np.unique(of_rows[groups[of_rows] < 0]):
            places = np.flatnonzero(of_rows == label)
            outside = np.flatnonzero(labels != label).astype(np.int32)
            indices, lengths = self.query(self.X[outside], self.X[rows[places]], 1)
            targets[places], distances[places] = outside[indices[:, 0]], lengths[:, 0]
        return targets, distances


@dataclass(frozen=True)
class _MatrixSearch:
    """A search in given distances.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_samples), or symmetric CSR matrix
        In a CSR matrix what is not stored is infinitely far.
    """

    X: Any

    @classmethod
    def of(cls, X: Any) -> _MatrixSearch:
        """Take distances as `compute_neighbors` takes them: dense and nearly symmetric, or sparse in one direction."""
        if isinstance(X, np.ndarray):
            return cls(X)
        given = X.tocoo(copy=True)
        given.sum_duplicates()
        rows, columns = given.coords if hasattr(given, "coords") else (given.row, given.col)
        lengths = clip_distances(given.data.astype(np.float64)).astype(np.float32)
        ends, starts = np.concatenate((rows, columns)), np.concatenate((columns, rows))
        order = np.lexsort((starts, np.concatenate((lengths, lengths)), ends))  # by rows, the nearest first
        offsets = np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=X.shape[0]))))
        both = np.concatenate((lengths, lengths))[order]
        return cls(scipy.sparse.csr_array((both, starts[order].astype(np.int32), offsets), shape=X.shape))

    def closest(self, rows: npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> Found:
        """Look through the distances of each row; a row that is infinitely far from all others gets distance inf."""
        targets, distances = np.empty(len(rows), np.int32), np.empty(len(rows), np.float32)
        if not isinstance(self.X, np.ndarray):
            for place, row in enumerate(rows):
                part = slice(self.X.indptr[row], self.X.indptr[row + 1])
                columns, lengths = self.X.indices[part], self.X.data[part]
                outside = np.flatnonzero(labels[columns] != labels[row])
                some = int(np.argmax(labels != labels[row]))
                targets[place] = columns[outside[0]] if len(outside) else some
                distances[place] = lengths[outside[0]] if len(outside) else np.inf
            return targets, distances
        for begin in range(0, len(rows), _BLOCK):
            some_rows = rows[begin : begin + _BLOCK]
            block = (self.X[some_rows].astype(np.float64) + self.X[:, some_rows].T) / 2
            block = np.maximum(block, 0.0).astype(np.float32)  # clipped and rounded as in the graph
            inside = labels[None, :] == labels[some_rows, None]
            block[inside] = np.inf
            columns = np.where(np.isinf(block).all(axis=1), (~inside).argmax(axis=1), block.argmin(axis=1))
            targets[begin : begin + _BLOCK] = columns
            distances[begin : begin + _BLOCK] = np.take_along_axis(block, columns[:, None], axis=1)[:, 0]
        return targets, distances
