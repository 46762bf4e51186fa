"""Rows of a table that repeat each other: equal ones, and those as near as if measured or copied several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gnomon._printed import Printed
from gnomon.data import find_duplicate_rows
from gnomon.explanations.ranked import names_of_rows
from gnomon.linalg import connected_components
from gnomon.linalg.table import float_rows
from gnomon.neighbors import NeighborGraph, alike_by_chance, near_sets, sets_alike_in_columns

__all__ = ["Repeats", "list_repeats"]

Rows = npt.NDArray[np.int64]
_LISTED = 10  # sets printed
_NAMED = 6  # rows of each


@dataclass(frozen=True, kw_only=True)
class Repeats(Printed):
    """Sets of rows that repeat each other, the largest first.

    Attributes
    ----------
    sets : list of ndarray, int64
        The rows of each set, ascending, two at least.
    n_distinct : ndarray of shape (n_sets,), int64
        How many different rows each set has: 1 where all are equal in every value.
    n_samples : int
        Rows of the table.
    by_chance : bool
        Whether as many equal rows are to be expected, since the columns have few values: answers to a few questions.
    point_names : sequence or None
        Names of all rows, if the points of the map have names.
    """

    sets: list[Rows]
    n_distinct: Rows
    n_samples: int
    by_chance: bool = False
    point_names: Any = None

    def __len__(self) -> int:
        """Return the number of sets."""
        return len(self.sets)

    @property
    def n_repeats(self) -> int:
        """How many rows could be spared: all but one of each set."""
        return sum(len(rows) - 1 for rows in self.sets)

    @property
    def n_equal(self) -> int:
        """How many rows could be spared since another one is equal in every value."""
        return self.n_repeats - int((self.n_distinct - 1).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the sets with plain Python values."""
        sets = []
        for rows, distinct in zip(self.sets, self.n_distinct.tolist(), strict=True):
            names = names_of_rows(self.point_names, rows)
            sets.append({"rows": rows.tolist(), "n_distinct": distinct} | ({} if names is None else {"names": names}))
        counts = {"n_samples": self.n_samples, "n_repeats": self.n_repeats, "n_equal": self.n_equal}
        return {**counts, "by_chance": self.by_chance, "sets": sets}

    def __str__(self) -> str:
        """Say how many rows repeat others, and list the largest sets."""
        if not self.sets:
            return f"none of {self.n_samples:,} rows repeats another: none is equal, and no two to ten nearly are"
        lines = [
            f"{self.n_repeats:,} of {self.n_samples:,} rows repeat others ({self.n_equal:,} equal in every value), in "
            f"{len(self):,} set{'s' if len(self) > 1 else ''}"
        ]
        if self.by_chance:
            lines[0] += "; as many equal rows are to be expected, since the columns have few values"
        for rows, distinct in zip(self.sets[:_LISTED], self.n_distinct.tolist(), strict=False):
            names = names_of_rows(self.point_names, rows[:_NAMED]) or [str(row) for row in rows[:_NAMED].tolist()]
            more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
            how = "equal" if distinct == 1 else f"{distinct:,} different, nearly equal"
            lines.append(f"  rows {', '.join(names)}{more}: {how}")
        if len(self) > _LISTED:
            lines.append(f"  and {len(self) - _LISTED:,} more sets")
        return "\n".join(lines)


def list_repeats(X: Any, graph: NeighborGraph, *, point_names: Any = None) -> Repeats:
    """List the rows of a table that repeat each other.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        In which rows are equal, or near each other in most columns.
    graph : NeighborGraph of n_samples rows
        The nearest neighbours, of which twenty tell of sets of ten and fifteen of sets of seven.
    point_names : array-like of shape (n_samples,), default=None
        Names of the rows.

    Returns
    -------
    Repeats
    """
    n = int(X.shape[0])
    first, inverse = find_duplicate_rows(float_rows(X))
    equal, own = first[inverse], np.arange(n)
    near = sets_alike_in_columns(float_rows(X), near_sets(graph), graph.metric)
    starts, ends = np.tile(own, 2), np.concatenate([equal, near])
    joined = scipy.sparse.csr_array((np.ones(len(starts), dtype=np.float32), (starts, ends)), shape=(n, n))
    parts = connected_components(joined.maximum(joined.T))
    order = np.argsort(parts, kind="stable")
    sets = [rows for rows in np.split(order, np.cumsum(np.bincount(parts))[:-1]) if len(rows) > 1]
    sets.sort(key=lambda rows: (-len(rows), int(rows[0])))
    n_repeats = sum(len(rows) - 1 for rows in sets)
    return Repeats(
        sets=[rows.astype(np.int64) for rows in sets],
        n_distinct=np.array([len(np.unique(equal[rows])) for rows in sets], dtype=np.int64),
        n_samples=n,
        by_chance=bool(n_repeats) and alike_by_chance(X, n_repeats),
        point_names=point_names,
    )
