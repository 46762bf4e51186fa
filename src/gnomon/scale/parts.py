"""What the searches by parts have in common: the table, its metric, who works, and the passes over its blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._memory import require_memory
from gnomon._validation import message
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.neighbors.euclidean import MEAN_ROWS
from gnomon.neighbors.metrics import NativeMetric
from gnomon.neighbors.parts import Found, NearestLists, PartMetric
from gnomon.scale.executor import Executor, Shared
from gnomon.scale.journal import Journal

__all__ = ["PartedTable"]

_LONGEST = 1e4  # seconds of a worker, about three hours

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class PartedTable:
    """A table whose rows are compared part by part.

    Attributes
    ----------
    table : StoredTable
    metric : PartMetric
        With the centre and scale of the whole table.
    executor : Executor
    journal : Journal
    shared : Shared
        The table and the metric, as the workers have them.
    """

    table: StoredTable
    metric: PartMetric
    executor: Executor
    journal: Journal
    shared: Shared[tuple[StoredTable, PartMetric]]

    @classmethod
    def of(cls, table: StoredTable, native: NativeMetric, executor: Executor, journal: Journal) -> Self:
        """Find centre and scale, those that a search in memory takes, in one pass over the table."""
        some = table.take(np.arange(0, table.n_samples, -(-table.n_samples // MEAN_ROWS)))
        plain = PartMetric(native)
        try:
            metric = plain.centred_at(some)
        except ValueError:  # of some rows: the pass says where they are in the table
            metric = plain
        given = executor.broadcast((table, metric))
        largest = executor.reduce(_largest_deviation, max, table.blocks(), given)
        if metric.frame is not None:
            metric = metric.framed(largest)
        return cls(table, metric, executor, journal, executor.broadcast((table, metric)))

    def run(
        self,
        name: str,
        function: Callable[..., Arrays],
        parts: Sequence[RowBlock],
        *given: Any,
        needed: float,
        journal: Journal | None = None,
    ) -> Iterator[Arrays]:
        """Yield function(part, (table, metric), *given) of all parts; `needed` bytes are what one of them takes."""
        fact, remedy = "one part and what is found in it", "Allow more memory, or pass fewer neighbours."
        require_memory(f"X of {self.table.n_features:,} columns", needed, fact=fact, remedy=remedy)
        shared = self.executor.broadcast(given)
        journal = journal or self.journal
        yield from journal.blocks(name, self.executor, function, parts, self.shared, shared, needed=needed)

    def nearest(self, name: str, rows: npt.NDArray[np.integer], k: int) -> Found:
        """Return the k nearest of all rows for some of them, themselves included, before `native.distances`."""
        queries = self.table.take(rows)
        lists = NearestLists(len(rows), k)
        needed = 3.0 * self.block_bytes + 24.0 * len(rows) * k
        for found in self.run(name, _nearest_in_block, self.table.blocks(), queries, k, needed=needed):
            lists.join(slice(None), (found["indices"], found["lengths"]))
        return lists.indices, lists.lengths

    def require_hours(self, seconds: float, what: str) -> None:
        """Raise ValueError if the seconds of one core are more than three hours of every worker."""
        allowed = _LONGEST * max(1, self.executor.n_workers)
        if seconds > allowed:
            rule = f"one whose neighbours take at most {allowed / 3600:,.0f} hours of one core"
            fact = f"{what} take about {seconds / 3600:,.0f} hours"
            remedy = "Search by cells, let more workers work, or map landmarks: gnomon.map(X, n_fitted=...)."
            raise ValueError(message(f"X of {self.table.n_samples:,} rows", rule, fact=fact, remedy=remedy))

    @property
    def block_bytes(self) -> float:
        """Bytes of a block of rows in memory; of a sparse table, if it were dense."""
        return float(len(self.table.blocks()[0])) * self.table.n_features * np.dtype(self.table.dtype).itemsize


def _largest_deviation(block: RowBlock, given: tuple[StoredTable, PartMetric]) -> float:
    table, metric = given
    return metric.largest(table.read(block.start, block.stop), block.start)


def _nearest_in_block(block: RowBlock, given: tuple[StoredTable, PartMetric], asked: tuple[Any, int]) -> Arrays:
    table, metric = given
    indices, lengths = metric.nearest(table.read(block.start, block.stop), *asked)
    return {"indices": np.where(indices >= 0, indices + block.start, -1).astype(np.int32), "lengths": lengths}
