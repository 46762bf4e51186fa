"""The tree of density of some points: which parts there are at every density, and where two of them join."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from gnomon._run import current_run
from gnomon.clusters.reach import reaches
from gnomon.linalg import spanning_tree

__all__ = ["DensityTree", "Part"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

N_NEIGHBORS = 15
_CORE = 5  # the distance to so many-th nearest point tells the density at a point


@dataclass(frozen=True)
class Part:
    """Points that belong together at one density.

    Attributes
    ----------
    rows : ndarray of int64
        All points that are in the part before it joins another.
    children : tuple of two int, or None
        The parts that join to make it; None for a peak of the density.
    start : float
        Distance of neighbours at which it begins: where a peak has enough points, or where its children join.
    leaves : frozenset of int
        The peaks in it.
    """

    rows: Rows
    children: tuple[int, int] | None
    start: float
    leaves: frozenset[int]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class DensityTree:
    """Parts of at least so many points, each after its children; the last holds all others.

    The hierarchy is that of HDBSCAN [1]_: single linkage of mutual reachability distances, among the neighbours of each
    point, where parts of fewer points are dropped.

    .. [1] Campello, Moulavi & Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, points: Floats, places: Floats, min_size: int) -> DensityTree:
        """Build it for points (n, d) of few dimensions, an embedding of rows that lie at places (n, n_features).

        Pieces of the graph of neighbours lie anywhere in an embedding: they join in the order of how near they come to
        each other in the data.
        """
        rows, columns, lengths = _shortest_tree(points, places)
        n = len(points)
        home = list(range(n))  # the piece of each point, by its first one
        loose: list[list[int]] = [[i] for i in range(n)]  # points of a piece that are in no part yet
        part: list[int | None] = [None] * n
        grown: list[list[Rows]] = []
        parts: list[tuple[tuple[int, int] | None, float]] = []
        sizes = [1] * n

        def piece(i: int) -> int:
            while home[i] != i:
                home[i] = home[home[i]]
                i = home[i]
            return i

        for i, j, length in zip(rows.tolist(), columns.tolist(), lengths.tolist(), strict=True):
            a, b = piece(i), piece(j)
            if sizes[a] < sizes[b]:
                a, b = b, a
            home[b], sizes[a] = a, sizes[a] + sizes[b]
            first, second = part[a], part[b]
            if first is not None and second is not None:
                grown.append([*grown[first], *grown[second]])
                parts.append(((first, second), length))
                part[a] = len(parts) - 1
            elif first is not None:
                grown[first].append(np.array(loose[b], dtype=np.int64))
            else:
                loose[a] += loose[b]
                if sizes[a] >= min_size:
                    grown.append([np.array(loose[a], dtype=np.int64)])
                    parts.append((None, length))
                    part[a] = len(parts) - 1
            loose[b] = []
        found: list[Part] = []
        for number, (children, start) in enumerate(parts):
            own = frozenset([number]) if children is None else frozenset().union(*(found[c].leaves for c in children))
            found.append(Part(np.concatenate(grown[number]), children, start, own))
        return cls(tuple(found))

    def splits(self) -> list[int]:
        """Return the parts that have children."""
        return [number for number, part in enumerate(self.parts) if part.children is not None]

    def parts_within(self, leaves: frozenset[int], min_size: int) -> list[Part]:
        """Return the parts that some leaves make up, apart from each other, where those of fewer points are dropped.

        A part is taken apart where two of its children at least are large enough; all together if none of them is.
        """
        found: list[Part] = []
        below = [len(self.parts) - 1]
        while below:
            part = self.parts[number := below.pop()]
            if part.leaves <= leaves:
                found += self._taken_apart(number, min_size)
            elif part.leaves & leaves:
                below += part.children or ()
        large = [part for part in found if len(part) >= min_size]
        if large:
            return large
        return [Part(np.concatenate([part.rows for part in found]), None, min(part.start for part in found), leaves)]

    def _taken_apart(self, number: int, min_size: int) -> list[Part]:
        part = self.parts[number]
        large = [] if part.children is None else [c for c in part.children if len(self.parts[c]) >= min_size]
        found = [inner for child in large for inner in self._taken_apart(child, min_size)]
        return found if len(found) > 1 else [part]

    def generations(self) -> list[list[int]]:
        """Return the parts that have children, those first whose children have none, then those of these, and so on."""
        height = [0] * len(self.parts)
        for number in self.splits():
            height[number] = 1 + max(height[child] for child in self.parts[number].children or ())
        return [[k for k, one in enumerate(height) if one == level] for level in range(1, max(height, default=0) + 1)]

    def fall(self, number: int) -> float:
        """Return by what factor, as a logarithm, distances of neighbours grow from the lesser peak to a split."""
        children = self.parts[number].children
        assert children is not None
        peaks = [min(self.parts[leaf].start for leaf in self.parts[child].leaves) for child in children]
        return math.log(self.parts[number].start / max(peaks))


def _shortest_tree(points: Floats, places: Floats) -> tuple[Rows, Rows, Floats]:
    """Return the edges of the shortest tree that spans the points, shortest first, and then those between pieces."""
    from scipy.spatial import cKDTree

    n = len(points)
    neighbors: Any = cKDTree(points).query(points, k=min(N_NEIGHBORS, n - 1) + 1, workers=current_run().n_threads)[1]
    # The tree's own distances have other last bits on some processors.
    distances = np.sqrt(np.square(points[neighbors] - points[:, None]).sum(axis=2))
    core = distances[:, min(_CORE, n - 1)]
    reach = np.maximum(np.maximum(core[:, None], core[neighbors[:, 1:]]), distances[:, 1:])
    reach = np.maximum(reach, np.finfo(np.float64).tiny)  # SciPy takes 0 for no edge
    starts = np.repeat(np.arange(n, dtype=np.int32), reach.shape[1])  # older SciPy finds trees by such indices alone
    ends = neighbors[:, 1:].ravel().astype(np.int32)
    graph = csr_array((reach.ravel(), (starts, ends)), shape=(n, n))
    tree = minimum_spanning_tree(graph.maximum(graph.T)).tocoo()
    rows, columns, lengths = tree.row.astype(np.int64), tree.col.astype(np.int64), tree.data
    order = np.argsort(lengths, kind="stable")
    more_rows, more_columns, more_lengths = _joining(points, places, rows, columns, float(lengths.max()))
    return (
        np.concatenate([rows[order], more_rows]),
        np.concatenate([columns[order], more_columns]),
        np.concatenate([lengths[order], more_lengths]),
    )


def _joining(points: Floats, places: Floats, rows: Rows, columns: Rows, longest: float) -> tuple[Rows, Rows, Floats]:
    """Return edges that join the pieces of a graph, those first that come nearest to each other in the data.

    They are as long as the distances of the means of the points, and none shorter than one before it.
    """
    n = len(points)
    count, of_point = connected_components(csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)), False)
    if count == 1:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    pieces = np.split(np.argsort(of_point, kind="stable"), np.cumsum(np.bincount(of_point))[:-1])
    tree = spanning_tree(reaches(places, pieces)).tocoo()
    order = np.argsort(tree.data, kind="stable")
    means = np.stack([points[piece].mean(axis=0) for piece in pieces])
    lengths = np.linalg.norm(means[tree.row[order]] - means[tree.col[order]], axis=1)
    first = np.array([piece[0] for piece in pieces], dtype=np.int64)
    return first[tree.row[order]], first[tree.col[order]], np.maximum(np.maximum.accumulate(lengths), longest)
