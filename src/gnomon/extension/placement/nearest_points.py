"""The nearest points of a new row: a few of them, and many where the few do not do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.neighbors import RowSearch, without_own

__all__ = ["NearestPoints"]

Candidates = npt.NDArray[np.int32]
Distances = npt.NDArray[np.float32]
Rows = npt.NDArray[np.integer]

_FIRST, _MOST = 3, 12  # nearest points looked at first and at most, in units of n_neighbors
_RECALL = 0.998


@dataclass(frozen=True)
class NearestPoints:
    """Finds the nearest points of new rows by Euclidean distance.

    The search is made at the first question and not copied or pickled; it is made again to the same bytes.

    Attributes
    ----------
    table : ndarray or CSR of shape (n_points, n_features)
    n_neighbors : int >= 1
        Of a point; a new row looks at three times as many points, and at twelve times as many if those are too few.
    n_threads : int
        Does not change the result.
    """

    table: Any
    n_neighbors: int
    n_threads: int

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "search"}

    @cached_property
    def search(self) -> RowSearch:
        """How points are found: exactly in tables of moderate size, else through cells."""
        size = min(int(self.table.shape[0]), _MOST * self.n_neighbors + 2)
        return RowSearch.of(self.table, size, target_recall=_RECALL, n_threads=self.n_threads)

    def find(self, rows: Any, own: Rows | None, wanted: int) -> tuple[Candidates, Distances]:
        """Return the nearest points and their distances, ascending; row i does without point own[i] if given."""
        if own is None:
            return self.search.find(rows, wanted, n_threads=self.n_threads)
        return without_own(*self.search.find(rows, wanted + 1, n_threads=self.n_threads), own)

    def ask(
        self, run: Callable[[Any, Candidates, Distances], tuple[npt.NDArray[Any], ...]], rows: Any, own: Rows | None
    ) -> list[npt.NDArray[Any]]:
        """Run with few points for each row, and again with many for the rows where these were too few.

        `run` takes rows, their nearest points and the distances, and returns arrays of one row each, of which the last
        says where points were too few.
        """
        first, most = _FIRST * self.n_neighbors + 1, _MOST * self.n_neighbors + 1
        *found, truncated = run(rows, *self.find(rows, own, first))
        again = np.flatnonzero(truncated)
        if again.size:
            others = None if own is None else own[again]
            *better, _ = run(rows[again], *self.find(rows[again], others, most))
            for kept, one in zip(found, better, strict=True):
                kept[again] = one
        return found
