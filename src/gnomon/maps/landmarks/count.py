"""How many landmarks a map has where nobody says, and whether what is asked for fits in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gnomon._memory import available_memory, in_bytes, require_memory
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.stored import RowBlock, row_blocks
from gnomon.methods.base import Embedder
from gnomon.methods.forecast import Forecast

__all__ = ["FEWEST", "STEPS", "Needs", "Shape", "Sized", "check_count", "check_landmarks", "count_landmarks"]

FEWEST = 3
"""Rows that a map needs."""

STEPS = (200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000)
"""Numbers of landmarks that are tried where nobody says how many; the first that fits is taken."""

_COPIES = 3.0  # of the fitted rows: as they are read, checked and without units
_OF_OTHERS = 8.0  # of them, for an estimator that does not tell
_BLOCK = 4.0  # of a block: as it is read, checked, without units and what is made of it
_MAPPED = 2e8  # bytes: search and field of the landmarks, which methods that place by a formula have none of


class Sized(Protocol):
    """What of a table decides the memory that its map takes; a `StoredTable` has it."""

    n_samples: int
    n_features: int
    dtype: Any

    def blocks(self) -> Sequence[RowBlock]:
        """Return the blocks in which its rows are read."""


@dataclass
class Shape:
    """A table of which nothing but its shape and type is known.

    Attributes
    ----------
    n_samples, n_features : int
    dtype : type, default=numpy.float32
    """

    n_samples: int
    n_features: int
    dtype: Any = np.float32

    def blocks(self) -> Sequence[RowBlock]:
        """Return the blocks in which its rows would be read."""
        return row_blocks(self.n_samples, self.n_features)


@dataclass(frozen=True)
class Needs:
    """What a map with landmarks takes.

    Attributes
    ----------
    table : StoredTable or Shape
    estimator : object
        That is to be fitted.
    n_components : int
    """

    table: Sized
    estimator: Any
    n_components: int

    @property
    def _row(self) -> float:
        return float(self.table.n_features * self.table.dtype().itemsize)

    def fit(self, count: int) -> float:
        """Return the bytes that it takes to read and fit so many rows."""
        expected = self.foreseen(count)
        taken = _OF_OTHERS * count * self._row if expected is None else expected.n_bytes
        return taken + self.reading(count)

    def foreseen(self, count: int) -> Forecast | None:
        """Return what the estimator tells of the fit of so many rows; None if it does not."""
        if not isinstance(self.estimator, Embedder):
            return None
        n_features = self.table.n_features
        return self.estimator.foresee(count, n_features, n_columns=n_features, itemsize=self.table.dtype().itemsize)

    def reading(self, count: int) -> float:
        """Return the bytes of so many rows, as they are read, checked and without units."""
        return _COPIES * count * self._row

    @property
    def placing(self) -> float:
        """Bytes of a block of rows, and of the positions of all."""
        longest = max(len(block) for block in self.table.blocks())
        mapped = 0.0 if getattr(self.estimator, "_is_own_function", False) else _MAPPED
        return _BLOCK * longest * self._row + 8.0 * self.n_components * self.table.n_samples + mapped

    def with_landmarks(self, count: int) -> float:
        """Return the bytes of a map with so many landmarks."""
        return self.fit(count) + self.placing

    def check(self, count: int) -> None:
        """Raise MemoryError if there is less memory."""
        n, found = self.table.n_samples, self.with_landmarks(count)
        fact = f"{count:,} landmarks ({in_bytes(self.fit(count))}), a block of rows and {n:,} positions"
        remedy = "Use fewer landmarks, n_fitted=..., or allow more memory, memory_budget=...."
        whole = self.fit(n)
        if whole <= found:
            fact = f"all rows fitted together take {in_bytes(whole)}; {fact}"
            remedy = f"Allow {in_bytes(1.02 * whole)}, memory_budget=...: without n_fitted all rows are fitted then."
        require_memory(f"X of {n:,} rows and {self.table.n_features:,} columns", found, fact=fact, remedy=remedy)


def check_count(n_fitted: Any, n_samples: int) -> int:
    """Return a number of landmarks that is asked for, or raise an error."""
    count = check_parameters({"n_fitted": Integer(FEWEST)}, {"n_fitted": n_fitted})["n_fitted"]
    if count > n_samples:
        rule = f"at most n_samples={n_samples:,}"
        raise ValueError(message(f"n_fitted={count:,}", rule, remedy="Leave it out to map all rows."))
    return int(count)


def check_landmarks(n_fitted: Any, n_samples: int) -> Any:
    """Return a number of landmarks that is asked for, or their row numbers, ascending, or raise an error."""
    rule, remedy = "a number of rows, or the numbers of rows", "Of a mask pass numpy.flatnonzero(mask)."
    try:
        rows = np.asarray(n_fitted)
    except ValueError as error:
        raise ValueError(message("n_fitted", rule, fact="a nested sequence")) from error
    if rows.ndim == 0:
        return check_count(n_fitted, n_samples)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        fact = f"shape {rows.shape}, type {rows.dtype}"
        raise ValueError(message("n_fitted", rule, fact=fact, remedy=remedy))
    found = np.unique(rows)
    if len(found) < FEWEST:
        raise ValueError(message(f"n_fitted of {len(found)} different rows", f"of at least {FEWEST}"))
    if found[0] < 0 or found[-1] >= n_samples:
        fact = f"they reach from {found[0]:,} to {found[-1]:,}"
        raise ValueError(message("n_fitted", f"row numbers from 0 to {n_samples - 1:,}", fact=fact))
    return found.astype(np.int64)


def count_landmarks(needs: Needs) -> int:
    """Return the number of landmarks where nobody says: all rows if their map fits in memory, else as many of `STEPS`.

    Where not even the fewest fit, these, so that `Needs.check` tells.
    """
    n, available = needs.table.n_samples, available_memory()
    if needs.fit(n) <= available:
        return n
    fitting = (count for count in STEPS if count < n and needs.with_landmarks(count) <= available)
    return next(fitting, min(n, STEPS[-1]))
