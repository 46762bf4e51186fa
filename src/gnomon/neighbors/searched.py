"""What the searches ask of a table: Euclidean points, rows compared by a metric of their own, or sparse rows."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values, lead_with

__all__ = ["MetricRows", "SearchedRows"]


class SearchedRows(Protocol):
    """A table of n_samples rows, prepared by a metric, and how near its rows are to others prepared likewise.

    Attributes
    ----------
    n_samples : int
    exact_width, rank_width : float
        Cost of comparing all pairs, and one candidate, in coordinates of a Euclidean search.
    proxy_cost : float
        That of making the proxy; 0 where it is the rows themselves, or costs little beside them.
    proxy : Points
        Where candidates are sought cell by cell: the rows themselves, or points whose Euclidean distances follow the
        metric so far that most neighbours are among the nearest of them.
    """

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        ...

    @property
    def exact_width(self) -> float:
        """Cost of comparing all pairs, for each pair."""
        ...

    @property
    def rank_width(self) -> float:
        """Cost of ranking one candidate."""
        ...

    @property
    def proxy_cost(self) -> float:
        """Cost of making the points among which candidates are sought."""
        ...

    @property
    def proxy(self) -> Points:
        """Points among which candidates are sought."""
        ...

    def take(self, rows: npt.NDArray[np.integer]) -> Any:
        """Return some of the rows."""
        ...

    def proxy_of(self, rows: Any) -> Values:
        """Return the proxies of rows, each a function of its row alone."""
        ...

    def rank(
        self, candidates: Indices, k: int, queries: Any = None, order: Indices | None = None
    ) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row, ascending by (distance, index); -1 marks no candidate."""
        ...

    def rank_leading(self, candidates: Indices, lead: int, k: int, order: Indices) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row, the first `lead` those that `rank` returns of so many."""
        ...

    def scan(self, queries: Any, own: Indices, k: int) -> tuple[Indices, Distances]:
        """Return the k nearest rows of each query, row own[i] (-1: none) left out."""
        ...

    def search_all(self, k: int, keep: int, reporter: Reporter | None) -> tuple[Indices, Distances]:
        """Find the neighbours of every row among all others, `keep` of them if that is more than k."""
        ...

    def nearest(self, queries: Any, k: int) -> tuple[Indices, Distances]:
        """Find the neighbours of new rows among all rows; a row's result does not depend on the other rows."""
        ...

    def search_far(self, queries: Any, far: npt.NDArray[np.bool_], indices: Indices, distances: Distances) -> None:
        """Compare the rows marked, whose proxies are out of range, with all others, in place."""
        ...


class MetricRows(SearchedRows):
    """Rows of which a compiled metric knows the distances, searched by the `scan`, `rank` and `take` of their kind."""

    rows_at_once: ClassVar[int]  # rows searched between which progress is reported

    @property
    def proxy_cost(self) -> float:
        """Cost of making the points among which candidates are sought."""
        return 0.0

    def rank_leading(self, candidates: Indices, lead: int, k: int, order: Indices) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row, the first `lead` those that `rank` returns of so many."""
        return lead_with(self.rank(candidates, lead, order=order), self.rank(candidates, k, order=order))

    def search_all(self, k: int, keep: int, reporter: Reporter | None) -> tuple[Indices, Distances]:
        """Find the neighbours of every row among all others, `keep` of them if that is more than k."""
        n, wanted = self.n_samples, max(k, keep)
        indices = np.empty((n, wanted), dtype=np.int32)
        distances = np.empty((n, wanted), dtype=np.float32)
        for begin in range(0, n, self.rows_at_once):
            rows = np.arange(begin, min(begin + self.rows_at_once, n), dtype=np.int32)
            indices[rows], distances[rows] = self.scan(self.take(rows), rows, wanted)
            if reporter is not None:
                reporter.update(begin + len(rows), n)
        return (indices, distances) if wanted == k else lead_with(self.rank(indices, k), (indices, distances))

    def nearest(self, queries: Any, k: int) -> tuple[Indices, Distances]:
        """Find the neighbours of new rows among all rows; a row's result does not depend on the other rows."""
        return self.scan(queries, np.full(queries.shape[0], -1, dtype=np.int32), k)

    def search_far(self, queries: Any, far: npt.NDArray[np.bool_], indices: Indices, distances: Distances) -> None:
        """Compare the rows marked, whose proxies are out of range, with all others, in place."""
        if far.any():
            indices[far], distances[far] = self.nearest(queries[np.flatnonzero(far)], indices.shape[1])
