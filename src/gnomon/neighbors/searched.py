"""What the searches ask of a table: Euclidean points, rows compared by a metric of their own, or sparse rows."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values

__all__ = ["SearchedRows"]


class SearchedRows(Protocol):
    """A table of n_samples rows, prepared by a metric, and how near its rows are to others prepared likewise.

    Attributes
    ----------
    n_samples : int
    exact_width, rank_width : float
        Cost of comparing all pairs, and one candidate, in coordinates of a Euclidean search.
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
