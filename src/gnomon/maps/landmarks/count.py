"""How many landmarks a map has where nobody says, and whether what is asked for fits in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon._memory import available_memory, in_bytes, require_memory
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.stored import StoredTable
from gnomon.methods.base import Embedder

__all__ = ["FEWEST", "STEPS", "Needs", "check_count", "count_landmarks"]

FEWEST = 3
"""Rows that a map needs."""

STEPS = (200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000)
"""Numbers of landmarks that are tried where nobody says how many; the first that fits is taken."""

_COPIES = 3.0  # of the fitted rows: as they are read, checked and without units
_OF_OTHERS = 8.0  # of them, for an estimator that does not tell
_BLOCK = 4.0  # of a block: as it is read, checked, without units and what is made of it
_MAPPED = 2e8  # bytes: search and field of the landmarks


@dataclass(frozen=True)
class Needs:
    """What a map with landmarks takes.

    Attributes
    ----------
    table : StoredTable
    estimator : object
        That is to be fitted.
    n_components : int
    """

    table: StoredTable
    estimator: Any
    n_components: int

    @property
    def _row(self) -> float:
        return float(self.table.n_features) * self.table.dtype().itemsize

    def fit(self, count: int) -> float:
        """Return the bytes that it takes to read and fit so many rows."""
        expected = None
        if isinstance(self.estimator, Embedder):
            expected = self.estimator.foresee(
                count, self.table.n_features, n_columns=self.table.n_features, itemsize=self.table.dtype().itemsize
            )
        taken = _OF_OTHERS * count * self._row if expected is None else expected.n_bytes
        return taken + _COPIES * count * self._row

    @property
    def placing(self) -> float:
        """Bytes of a block of rows, and of the positions of all."""
        longest = max(len(block) for block in self.table.blocks())
        return _BLOCK * longest * self._row + 8.0 * self.n_components * self.table.n_samples + _MAPPED

    def with_landmarks(self, count: int) -> float:
        """Return the bytes of a map with so many landmarks."""
        return self.fit(count) + self.placing

    def check(self, count: int) -> None:
        """Raise MemoryError if there is less memory."""
        n, found = self.table.n_samples, self.with_landmarks(count)
        fact = f"{count:,} landmarks ({in_bytes(self.fit(count))}), a block of rows and {n:,} positions"
        remedy = "Use fewer landmarks, n_landmarks=..., or allow more memory, memory_budget=...."
        require_memory(f"X of {n:,} rows and {self.table.n_features:,} columns", found, fact=fact, remedy=remedy)


def check_count(n_landmarks: Any, n_samples: int) -> int:
    """Return a number of landmarks that is asked for, or raise an error."""
    count = check_parameters({"n_landmarks": Integer(FEWEST)}, {"n_landmarks": n_landmarks})["n_landmarks"]
    if count > n_samples:
        rule = f"at most n_samples={n_samples:,}"
        raise ValueError(message(f"n_landmarks={count:,}", rule, remedy="Leave it out to map all rows."))
    return int(count)


def count_landmarks(needs: Needs) -> int:
    """Return the number of landmarks where nobody says: all rows if their map fits in memory, else as many of `STEPS`.

    Where not even the fewest fit, these, so that `Needs.check` tells.
    """
    n, available = needs.table.n_samples, available_memory()
    if needs.fit(n) <= available:
        return n
    fitting = (count for count in STEPS if count < n and needs.with_landmarks(count) <= available)
    return next(fitting, min(n, STEPS[-1]))
