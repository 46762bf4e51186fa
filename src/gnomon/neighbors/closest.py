"""The nearest row of another component, for rows of a table and for given distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.neighbors import cosine, euclidean
from gnomon.neighbors.compute import NATIVE_METRICS
from gnomon.neighbors.precomputed import clip_distances

__all__ = ["ClosestOutside", "MatrixSearch", "RowSearch"]

_LARGEST_TOGETHER = 64  # rows of a component searched together with others of its size, among all rows
_BLOCK = 512
Found = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]


class ClosestOutside(Protocol):
    """A search for the nearest row of another component."""

    def closest(self, rows: npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> Found:
        """Return for each of some rows the nearest row with another label and its distance, ties by row number."""
        ...


@dataclass(frozen=True)
class RowSearch:
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
        cls,
        X: Any,
        metric: str | Callable[..., float],
        metric_params: Mapping[str, Any] | None,
        *,
        n_threads: int,
        who: str,
    ) -> RowSearch:
        """Choose the search that `compute_neighbors` takes for this metric."""
        native = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
        if native is None or not isinstance(X, np.ndarray):

            def through_library(table: Any, new: Any, k: int) -> Found:
                from gnomon.neighbors.library import library_query

                return library_query(table, new, k, metric, metric_params, n_threads=n_threads, who=who)

            return cls(X if isinstance(X, np.ndarray) else sp.csr_array(X), through_library)
        if metric_params:
            raise ValueError(message(who, f"metric_params={dict(metric_params)!r}", f"empty for metric={metric!r}"))
        values = euclidean.as_values(X)
        if native == "cosine":
            values = cosine.unit_rows(values, who=who, append=True)

        def among_rows(table: Any, new: Any, k: int) -> Found:
            points = euclidean.Points.of(table, n_threads=n_threads)
            indices, distances = euclidean.nearest_of_new(points, new, k)
            return indices, cosine.from_chords(distances) if native == "cosine" else distances

        return cls(values, among_rows)

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
class MatrixSearch:
    """A search in given distances.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_samples), or symmetric CSR matrix
        In a CSR matrix what is not stored is infinitely far.
    """

    X: Any
    who: str

    @classmethod
    def of(cls, X: Any, *, who: str) -> MatrixSearch:
        """Take distances as `compute_neighbors` takes them: dense and nearly symmetric, or sparse in one direction."""
        if isinstance(X, np.ndarray):
            return cls(X, who)
        given = X.tocoo(copy=True)
        given.sum_duplicates()
        rows, columns = given.coords if hasattr(given, "coords") else (given.row, given.col)
        lengths = clip_distances(given.data.astype(np.float64), who).astype(np.float32)
        ends, starts = np.concatenate((rows, columns)), np.concatenate((columns, rows))
        order = np.lexsort((starts, np.concatenate((lengths, lengths)), ends))  # by rows, the nearest first
        offsets = np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=X.shape[0]))))
        both = np.concatenate((lengths, lengths))[order]
        return cls(sp.csr_array((both, starts[order].astype(np.int32), offsets), shape=X.shape), who)

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
