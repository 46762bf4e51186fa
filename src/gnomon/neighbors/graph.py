"""The neighbour graph that the rooms exchange."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._printed import ShortRepr
from gnomon._validation import message

__all__ = ["ANSWER_NEIGHBORS", "NeighborGraph", "check_graph", "graph_fault", "without_own"]

ANSWER_NEIGHBORS = 15
"""Neighbours of a row by which a map is explained and scored where no other number is asked for."""

_BLOCK = 2**16  # rows looked at together
_ROUNDING = 1e-6  # of a distance of 1, in float32
_BOUNDED = (  # metrics of which no distance is above 1
    *("jaccard", "dice", "ruzicka", "braycurtis", "hamming", "hellinger"),
    *("rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath"),
)


@dataclass(frozen=True)
class NeighborGraph(ShortRepr):
    """The nearest neighbours of every row, the row itself not counted.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Row numbers of the neighbours, in [0, n_samples), unique in a row and never the row itself. Where fewer than
        n_neighbors exist (`mask` is False) the entry repeats the last valid one of the row and must not be used.
    distances : ndarray of shape (n_samples, n_neighbors), float32
        True (not squared) distances in the units of the metric, ascending in each row; inf where `mask` is False.
    mask : ndarray of shape (n_samples, n_neighbors), bool, or None
        False where no such neighbour exists; None if all exist.
    metric : str
        The metric of the distances.
    method : str
        How they were found: "exact", "cells" (approximate), "scikit-learn" or "precomputed".
    recall : float in [0, 1]
        Share of the true neighbours found, 1.0 for exact methods, else estimated from rows that had no part in choosing
        how to search.
    recall_error : float >= 0
        Standard error of this estimate, 0.0 for exact methods: the true share is within two of them 19 times of 20.
    """

    indices: npt.NDArray[np.int32]
    distances: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_] | None = None
    metric: str = "euclidean"
    method: str = "exact"
    recall: float = 1.0
    recall_error: float = 0.0

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.indices.shape[0])

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of each row."""
        return int(self.indices.shape[1])

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """Rows without near neighbours, (n_samples,): each of their distances is the largest there can be, or infinite.

        The largest is 1 for "jaccard", "dice", "ruzicka", "braycurtis", "hamming", "hellinger", "rogerstanimoto",
        "russellrao", "sokalmichener" and "sokalsneath": such a row has nothing in common with any other, and where a
        map shows it says nothing. In other metrics, which have no bound, only rows without any finite distance count.
        """
        most = 1.0 - _ROUNDING if self.metric in _BOUNDED else np.inf
        return np.asarray(self.distances[:, 0] >= most)

    @property
    def in_lists(self) -> npt.NDArray[np.int64]:
        """In how many lists of neighbours each row is, (n_samples,): hubs are in very many, other rows in none."""
        rows = self.indices.ravel() if self.mask is None else self.indices[self.mask]
        return np.bincount(rows, minlength=self.n_samples).astype(np.int64)

    def nearest(self, n_neighbors: int) -> Self:
        """Return the graph of the first n_neighbors neighbours of each row; itself if it has no more."""
        if self.n_neighbors <= n_neighbors:
            return self
        return replace(
            self,
            indices=np.ascontiguousarray(self.indices[:, :n_neighbors]),
            distances=np.ascontiguousarray(self.distances[:, :n_neighbors]),
            mask=None if self.mask is None else np.ascontiguousarray(self.mask[:, :n_neighbors]),
        )


@part("check_graph")
def check_graph(graph: object, n_samples: int, *, ordered: bool = True) -> None:
    """Raise an error unless a graph is one of so many rows and keeps the rules that `NeighborGraph` states.

    Kernels read memory by its row numbers, so every public function that takes a graph asks here first. The cost is
    that of sorting the row numbers of each row, about an eighth of a second for a million rows of 15.

    Parameters
    ----------
    graph : NeighborGraph
        Perhaps made by hand or read from a file.
    n_samples : int
        Number of rows of the data.
    ordered : bool, default=True
        False asks for the right types and shapes and for row numbers in range only: enough where neighbours are summed
        over, in any order.

    Raises
    ------
    TypeError
        If it is no NeighborGraph.
    ValueError
        If it is of other rows or breaks a rule; the text says where.
    """
    if not isinstance(graph, NeighborGraph):
        raise TypeError(message("graph", "a NeighborGraph", fact=f"found {type(graph).__name__}"))
    shape: tuple[int, ...] = getattr(graph.indices, "shape", ())
    if len(shape) == 2 and shape[0] != n_samples:
        what = f"X with {n_samples:,} rows and a graph with {shape[0]:,}"
        raise ValueError(message(what, "of the same length"))
    fault = graph_fault(graph) if ordered else _kinds_fault(graph) or _range_fault(graph)
    if fault:
        remedy = "Make it with gnomon.neighbors.as_neighbor_graph, which puts neighbours in order."
        raise ValueError(message("graph", "one that keeps the rules of NeighborGraph", fact=fault, remedy=remedy))


def graph_fault(graph: NeighborGraph) -> str:
    """Say in words which rule of `NeighborGraph` a graph breaks first and where.

    Parameters
    ----------
    graph : NeighborGraph
        Made by hand, or read from a file.

    Returns
    -------
    str
        Empty if it keeps all rules.
    """
    return _kinds_fault(graph) or _about_fault(graph) or _range_fault(graph) or _rows_fault(graph)


def _kinds_fault(graph: NeighborGraph) -> str:
    """Return what is wrong with types and shapes of the arrays."""
    arrays: dict[str, tuple[Any, type[np.generic]]] = {
        "indices": (graph.indices, np.int32),
        "distances": (graph.distances, np.float32),
    }
    if graph.mask is not None:
        arrays["mask"] = (graph.mask, np.bool_)
    for name, (array, dtype) in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            return f"{name} are {found}, not an array of {np.dtype(dtype)}"
    n, k = shape = graph.indices.shape if graph.indices.ndim == 2 else (0, 0)
    if not 1 <= k < n:
        return f"indices have shape {graph.indices.shape}, not (n_samples, n_neighbors) with fewer neighbours than rows"
    for name, (array, _) in arrays.items():
        if array.shape != shape:
            return f"{name} have shape {array.shape}, indices {shape}"
    return ""


def _about_fault(graph: NeighborGraph) -> str:
    """Return what is wrong with what the graph says about itself."""
    for name in ("metric", "method"):
        if not isinstance(getattr(graph, name), str):
            return f"{name} is {type(getattr(graph, name)).__name__}, not text"
    for name in ("recall", "recall_error"):
        share = getattr(graph, name)
        number = isinstance(share, (int, float, np.floating)) and not isinstance(share, bool)
        if not number or not 0.0 <= share <= 1.0:
            return f"{name} is {share!r:.40}, not in [0, 1]"
    return ""


def _range_fault(graph: NeighborGraph) -> str:
    """Return where a row number is out of range."""
    n, indices = graph.n_samples, graph.indices
    if indices.min() >= 0 and indices.max() < n:
        return ""
    row, place = np.argwhere((indices < 0) | (indices >= n))[0]
    return f"row {row} has the neighbour {indices[row, place]}, outside of [0, {n})"


def _rows_fault(graph: NeighborGraph) -> str:
    """Return what is wrong with the entries, row by row."""
    for start in range(0, graph.n_samples, _BLOCK):
        rows = slice(start, start + _BLOCK)
        indices, distances = graph.indices[rows], graph.distances[rows]
        own = np.arange(start, start + len(indices))[:, None]
        present = np.ones(indices.shape, np.bool_) if graph.mask is None else graph.mask[rows]
        # Absent entries get numbers of their own, so that only valid ones can be equal.
        ordered = np.sort(np.where(present, indices, -1 - np.arange(indices.shape[1], dtype=np.int32)), axis=1)
        steps = distances[:, 1:] >= distances[:, :-1]
        wrong = {
            "itself as a neighbour": indices == own,
            "a neighbour twice": ordered[:, 1:] == ordered[:, :-1],
            "a distance that is negative or NaN": ~(distances >= 0),
            "an infinite distance where a neighbour exists": present & np.isinf(distances),
            "a finite distance where the mask says that there is no neighbour": ~present & np.isfinite(distances),
            "distances that do not ascend": ~steps,
        }
        for what, where in wrong.items():
            if where.any():
                bad = where.any(axis=1)
                more = f", and {int(bad.sum()) - 1} more" if bad.sum() > 1 else ""
                return f"row {start + int(bad.argmax())}{more} has {what}"
    return ""


def without_own(
    indices: npt.NDArray[np.int32], distances: npt.NDArray[np.floating], own: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Leave each row out of what it found, or the last it found if it is hidden behind copies of itself.

    Parameters
    ----------
    indices, distances : ndarray of shape (n_rows, n_neighbors + 1)
        What each row found.
    own : ndarray of shape (n_rows,)
        Number of each row in the table.

    Returns
    -------
    indices, distances : ndarray of shape (n_rows, n_neighbors)
    """
    drop = indices == own[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return indices[~drop].reshape(shape), distances[~drop].reshape(shape)
