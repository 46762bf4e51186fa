"""The rows and places that an atlas is made of: distinct rows with a place, their neighbours, the nearest of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._threads import single_threaded_blas
from gnomon.data import find_duplicate_rows
from gnomon.geometry.check import has_place
from gnomon.linalg.table import RowTable, dense_rows, evenly_spaced
from gnomon.neighbors import NeighborGraph, RowSearch, check_graph, compute_neighbors, without_own

__all__ = ["Candidates", "Distances", "MapPoints", "NearestPoints", "Rows"]

Float64Array = npt.NDArray[np.float64]
Candidates = npt.NDArray[np.int32]
Distances = npt.NDArray[np.float32]
Rows = npt.NDArray[np.integer]

_FIRST, _MOST = 3, 12  # nearest points looked at first and at most, in units of n_neighbors
_RECALL = 0.998
_SKETCH, _SKETCHED_ROWS = 7, 500  # principal axes, and rows that they are found from


@dataclass(frozen=True)
class MapPoints:
    """Distinct rows with a place.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_distinct, n_features)
    Y : ndarray of shape (n_distinct, n_components), float64
        The mean of the places of equal rows.
    members : ndarray of shape (n_samples,), int64
        For each row of the table the number of its own, -1 if it has no place.
    """

    X: Any
    Y: Float64Array
    members: npt.NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, Y: Float64Array) -> Self:
        """Take the points from a table and its map, both of n_samples rows; NaN is no place."""
        placed = np.flatnonzero(has_place(Y))
        rows, places = (X, Y) if len(placed) == len(Y) else (X[placed], Y[placed])
        representatives, copies = find_duplicate_rows(rows)
        if len(representatives) < len(places):
            counts = np.bincount(copies, minlength=len(representatives))
            sums = [np.bincount(copies, weights=column, minlength=len(representatives)) for column in places.T]
            rows, places = rows[representatives], np.ascontiguousarray((np.stack(sums) / counts).T)
        members = np.full(len(Y), -1, dtype=np.int64)
        members[placed] = copies
        return cls(rows, places, members)

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.Y)

    def in_form(self, rows: Any) -> Any:
        """Return rows dense or in CSR form, as the table is."""
        if hasattr(self.X, "tocsr"):
            return rows if hasattr(rows, "tocsr") else scipy.sparse.csr_array(rows)
        return np.ascontiguousarray(rows.toarray() if hasattr(rows, "toarray") else rows)

    def dense(self, rows: npt.NDArray[np.integer]) -> Float64Array:
        """Return some rows as a dense float64 array."""
        return dense_rows(self.X[rows])

    def graph(self, given: NeighborGraph | None, n_neighbors: int, *, metric: str) -> NeighborGraph:
        """Return the graph of the points' n_neighbors nearest others: the one given if it is of these points."""
        n = len(self)
        if given is not None:
            check_graph(given, n if getattr(given, "n_samples", n) == n else len(self.members), ordered=False)
        if given is not None and given.n_samples == n and (given.mask is None or bool(given.mask.all())):
            return given.nearest(n_neighbors)
        return compute_neighbors(self.X, min(n_neighbors, n - 1), metric=metric)


@dataclass(frozen=True)
class NearestPoints:
    """Finds the nearest points of new rows by Euclidean distance.

    Search and sketch are made at the first question and not copied or pickled; they are made again to the same bytes.

    Attributes
    ----------
    table : ndarray or CSR of shape (n_points, n_features)
    n_neighbors : int >= 1
        Of a point; a new row looks at three times as many points, and at twelve times as many if those are too few.
    """

    table: Any
    n_neighbors: int

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("search", "sketch")}

    @cached_property
    def search(self) -> RowSearch:
        """How points are found: exactly in tables of moderate size, else through cells."""
        size = min(int(self.table.shape[0]), _MOST * self.n_neighbors + 2)
        return RowSearch.of(self.table, size, target_recall=_RECALL, many=True)

    @cached_property
    def sketch(self) -> _core.RowSketch:
        """Coordinates of the rows of a dense table along its leading principal axes, by which distances are bounded."""
        sample = dense_rows(self.table[evenly_spaced(len(self.table), _SKETCHED_ROWS)])
        center = sample.mean(axis=0)
        with single_threaded_blas():
            axes = np.linalg.svd(sample - center, full_matrices=False)[2][:_SKETCH]
        return _core.RowSketch(RowTable.of(self.table).core, center, np.ascontiguousarray(axes))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many points are looked at first and at most."""
        return _FIRST * self.n_neighbors + 1, _MOST * self.n_neighbors + 1

    def find(self, rows: Any, own: Rows | None, wanted: int) -> tuple[Candidates, Distances]:
        """Return the nearest points and their distances, ascending; row i does without point own[i] if given."""
        if own is None:
            return self.search.find(rows, wanted)
        return without_own(*self.search.find(rows, wanted + 1), own)

    def ask(
        self, run: Callable[[Any, Candidates, Distances], tuple[npt.NDArray[Any], ...]], rows: Any, own: Rows | None
    ) -> list[npt.NDArray[Any]]:
        """Run with few points for each row, and again with many for the rows where these were too few.

        `run` takes rows, their nearest points and the distances, and returns arrays of one row each, of which the last
        says where points were too few.
        """
        first, most = self.sizes
        *found, truncated = run(rows, *self.find(rows, own, first))
        again = np.flatnonzero(truncated)
        if again.size:
            others = None if own is None else own[again]
            *better, _ = run(rows[again], *self.find(rows[again], others, most))
            for kept, one in zip(found, better, strict=True):
                kept[again] = one
        return found
