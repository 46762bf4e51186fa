"""Neighbours of rows of tables that need not fit in memory: all pairs of parts, or cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.neighbors import NeighborGraph, RowSearch, native_metric
from gnomon.neighbors.cells import PROJECT_ABOVE
from gnomon.neighbors.compute import by_cells, check_n_neighbors
from gnomon.neighbors.forecast import pairs_seconds
from gnomon.neighbors.parts import Found, NearestLists, PartMetric
from gnomon.scale.cells import search_by_cells
from gnomon.scale.executor import Executor, current_executor
from gnomon.scale.journal import Journal
from gnomon.scale.parts import PartedTable

__all__ = ["as_in_memory", "neighbors_by_blocks", "query_by_blocks"]

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "method": Options("auto", "exact", "cells"),
    "target_recall": Real(0.0, 1.0),
}
_PART = 65_536  # most rows of a part that meets others
_OTHER_METRICS = 4.0  # times the work of a pair of Euclidean rows, of metrics with a kernel of their own
_MOST_ROWS = 2**31 - 1

Arrays = dict[str, npt.NDArray[Any]]


def query_by_blocks(
    table: StoredTable, search: RowSearch, n_neighbors: int | None = None, *, executor: Executor | None = None
) -> Iterator[tuple[RowBlock, npt.NDArray[np.int32], npt.NDArray[np.float32]]]:
    """Find the nearest rows of a table in memory for every row of a stored one, block by block.

    Parameters
    ----------
    table : StoredTable of n_samples rows
        The rows that ask.
    search : RowSearch
        The table searched, such as landmarks; every worker gets a copy.
    n_neighbors : int in [1, n_neighbors of the search], default=None
        None for all that the search finds.
    executor : Executor, default=None
        Who works; None is that of the run.

    Yields
    ------
    block : RowBlock
        In order.
    indices : ndarray of shape (len(block), n_neighbors), int32
    distances : ndarray of shape (len(block), n_neighbors), float32
        As `RowSearch.find` returns them; a row's result is a function of the row alone.
    """
    workers = current_executor() if executor is None else executor
    blocks = table.blocks()
    given = workers.broadcast((table, search))
    for block, found in zip(blocks, workers.map(_ask, [(block, n_neighbors) for block in blocks], given), strict=True):
        yield block, *found


def _ask(item: tuple[RowBlock, int | None], given: tuple[StoredTable, RowSearch]) -> Found:
    (block, k), (table, search) = item, given
    return search.find(table.read(block.start, block.stop), k)


@entrance("neighbors_by_blocks")
def neighbors_by_blocks(
    table: StoredTable,
    n_neighbors: int,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    method: str = "auto",
    target_recall: float = 0.98,
    keep: int = 0,
    seed: int = 0,
    executor: Any = None,
    journal: Journal | None = None,
) -> NeighborGraph:
    """Find the nearest neighbours of every row of a table that need not fit in memory.

    Parameters
    ----------
    table : StoredTable of n_samples rows
        At most 2^31 - 1 rows. An array in memory is ``ArrayTable(X)``.
    n_neighbors : int in [1, n_samples - 1]
        Neighbours of each row, the row itself not counted.
    metric : str, default="euclidean"
        A metric that is searched here, see `gnomon.neighbors.compute_neighbors`; others are not distributed.
    metric_params : mapping, default=None
        Arguments of the metric.
    method : {"auto", "exact", "cells"}, default="auto"
        "exact" compares all pairs of parts, each pair of rows once. "cells" looks into the nearest cells only, for
        dense rows and metrics that are functions of a Euclidean distance; it compares all pairs where these cost less
        than the recall asked for. "auto" chooses as `gnomon.neighbors.compute_neighbors` does.
    target_recall : float in [0, 1], default=0.98
        Share of the true neighbours that a search by cells must find, reached with a probability of about 95%.
    keep : int, default=0
        Return up to so many neighbours where the same search holds them, at most n_samples - 1; the first `n_neighbors`
        of each row are those found without.
    seed : int, default=0
        Chooses the cells and the sample of a search by cells.
    executor : None, Executor, distributed.Client or str, default=None
        Who works; None is that of the run, else this process.
    journal : Journal, default=None
        Where stages are kept, so that a search that was cut goes on. A search by cells of a table that is not in memory
        sorts its rows by cell in that folder, as large as the table, which all workers have to see; this process alone
        takes a temporary folder where none is given. What the journal knows of its run has to say the metric and seed.

    Returns
    -------
    NeighborGraph
        Rows ascending by (distance, index); `method` is "exact" or "cells" and `recall` measured. Equal bytes for any
        workers and threads; of a Euclidean search among dense rows, by cells of at most 128 features, those of a search
        in memory.

    Raises
    ------
    ValueError
        If `n_neighbors` exceeds n_samples - 1, the metric is not searched here, "cells" does not suit it, or the work
        takes more than three hours of every worker.
    MemoryError
        If one part takes more memory than there is.

    Notes
    -----
    An exact search costs n_samples^2 n_features products, by parts of 65,536 rows at most. A search by cells costs
    about n_samples^(5/3) n_features for rows spread evenly over the cells; many equal rows share a cell, and cost the
    square of their number. The process that calls holds the graph, 8 bytes for each neighbour, twice at the end; parts
    hold what `PartedTable.run` is told.
    """
    given = {"n_neighbors": n_neighbors, "method": method, "target_recall": target_recall}
    checked = check_parameters(_RULES, given)
    k = checked["n_neighbors"]
    check_n_neighbors(k, table.n_samples - 1)
    if table.n_samples > _MOST_ROWS:
        raise ValueError(message(f"X of {table.n_samples:,} rows", f"one of at most {_MOST_ROWS:,} rows"))
    native = native_metric(metric, metric_params)
    if native is None:
        remedy = "Choose one of these, or fit the rows in memory."
        raise ValueError(message(f"metric={metric!r}", "one that is searched here", remedy=remedy))
    parted = PartedTable.of(table, native, current_executor(), Journal(None, {}) if journal is None else journal)
    wanted = _method(parted, checked["method"])
    found = None
    if wanted == "cells" and checked["target_recall"] < 1.0:
        found = search_by_cells(parted, k, checked["target_recall"], seed, keep=min(keep, table.n_samples - 1))
    if found is not None:
        recall = found.recall, found.recall_error
        return NeighborGraph(found.indices, native.distances(found.distances), None, native.name, "cells", *recall)
    indices, distances = _all_pairs(parted, max(k, min(keep, table.n_samples - 1)))
    return NeighborGraph(indices, native.distances(distances), None, native.name, "exact", 1.0)


def as_in_memory(X: Any, metric: Any) -> bool:
    """Return whether `neighbors_by_blocks` finds the bytes of `gnomon.neighbors.compute_neighbors`.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    metric : str or callable

    Returns
    -------
    bool
        True for Euclidean distances of dense rows of at most 128 features.
    """
    return isinstance(X, np.ndarray) and X.shape[1] <= PROJECT_ABOVE and metric in ("euclidean", "l2")


def _method(parted: PartedTable, method: str) -> str:
    """Return which search is meant."""
    suits = parted.metric.frame is not None
    if method == "cells" and not suits:
        rule = "'exact' for sparse rows and metrics with a kernel of their own"
        raise ValueError(message(f"method={method!r}", rule, remedy="Pass method='exact', or a table of fewer rows."))
    if method == "auto":
        return "cells" if suits and by_cells(*parted.table.shape) else "exact"
    return method


@dataclass(frozen=True)
class _Pair(RowBlock):
    """Two parts that meet, or one and itself."""

    other: RowBlock


def _all_pairs(parted: PartedTable, k: int) -> Found:
    """Compare all pairs of parts."""
    table = parted.table
    seconds = pairs_seconds(table.n_samples, table.n_features, k)
    parted.require_hours(seconds * (_OTHER_METRICS if parted.metric.frame is None else 1.0), "all pairs of rows")
    step = min(_PART, len(table.blocks()[0]))
    starts = range(0, table.n_samples, step)
    parts = [RowBlock(number, start, min(start + step, table.n_samples)) for number, start in enumerate(starts)]
    chosen = [(one, other) for one in parts for other in parts[one.number :]]
    pairs = [_Pair(number, one.start, one.stop, other) for number, (one, other) in enumerate(chosen)]
    lists = NearestLists(table.n_samples, k)
    rows = 2.0 * step
    needed = rows * (table.n_features * (2.0 * np.dtype(table.dtype).itemsize + 12.0) + 40.0 * k + 1000.0)
    reporter = current_run().reporter
    for pair, found in zip(pairs, parted.run(f"pairs-{k}", _meet, pairs, k, needed=needed), strict=True):
        lists.join(slice(pair.start, pair.stop), (found["indices"], found["lengths"]))
        if pair.other.start != pair.start:
            there = slice(pair.other.start, pair.other.stop)
            lists.join(there, (found["other_indices"], found["other_lengths"]))
        reporter.update(table.n_samples * (pair.number + 1) // len(pairs), table.n_samples)
    return lists.finish(parted.metric)


def _meet(pair: _Pair, given: tuple[StoredTable, PartMetric], asked: tuple[int]) -> Arrays:
    (table, metric), (k,) = given, asked
    rows = table.read(pair.start, pair.stop)
    if pair.other.start == pair.start:
        return _named("", metric.within(rows, k), pair.start)
    there, back = metric.across(rows, table.read(pair.other.start, pair.other.stop), k)
    return {**_named("", there, pair.other.start), **_named("other_", back, pair.start)}


def _named(prefix: str, found: Found, start: int) -> Arrays:
    indices, lengths = found
    numbers = np.where(indices >= 0, indices + start, -1).astype(np.int32)
    return {f"{prefix}indices": numbers, f"{prefix}lengths": lengths}
