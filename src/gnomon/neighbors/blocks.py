"""Neighbours of rows whose columns stand in blocks, each with a metric of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon._threads import single_threaded_blas
from gnomon._validation import unsaid
from gnomon.exceptions import DataWarning
from gnomon.linalg import first_columns
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors.compute import compute_neighbors
from gnomon.neighbors.distances import cross_distances, pair_distances
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.samples import estimate

__all__ = [
    "ALL_PAIRS",
    "BlockNeighbors",
    "BlockPart",
    "BlockSearch",
    "balanced_blocks",
    "find_block_neighbors",
    "usual_distances",
]

Float64Array = npt.NDArray[np.float64]
Lists = list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]

ALL_PAIRS = 2e10
"""Up to n_samples^2 (n_features + 20) of this all pairs of rows are compared; beyond, candidates."""

_FEWEST = 0.25  # of a block's usual distance: the least unit of its distances, where near rows are equal in it
_SAMPLE = 500  # rows that tell the usual distance, and the recall
_NUMBERS = 1 << 22  # distances held at a time
_TIE = 1e-6  # share of a block's usual distance by which equal distances are told apart
_FRIENDS = 15  # neighbours whose neighbours are candidates, and so many of each
_ROUNDS, _RECALL = 6, 0.98


@dataclass(frozen=True)
class BlockPart:
    """A block of columns in a table: where it stands, how rows are compared in it and how much that counts.

    Attributes
    ----------
    start, stop : int
        Its columns.
    metric : str or callable
    metric_params : dict or None
    weight : float in (0, 1]
        Against that of the block with the largest.
    usual : float >= 0
        Root mean square of the distances between rows; see `usual_distances`.
    """

    start: int
    stop: int
    metric: Any
    metric_params: dict[str, Any] | None
    weight: float
    usual: float = 0.0

    def of(self, X: Any) -> Any:
        """Return its columns of a table."""
        return X[:, self.start : self.stop]

    def unit(self, nearest: npt.NDArray[Any]) -> Float64Array:
        """Return what distances of each row are divided by, given those to its nearest rows (n_rows, n_neighbors).

        Their mean, and a quarter of the usual distance at least: rows of one category have many equals at distance 0.
        """
        floor = _FEWEST * self.usual
        return np.asarray(np.maximum(nearest.mean(axis=1, dtype=np.float64), floor if floor > 0.0 else 1.0))


def usual_distances(X: Any, parts: Sequence[BlockPart]) -> tuple[BlockPart, ...]:
    """Measure what distances in each block are like: their root mean square.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        At most 500 rows, taken evenly, are looked at.
    parts : sequence of BlockPart
        Where the blocks stand.

    Returns
    -------
    tuple of BlockPart
        With `usual`.
    """
    rows = X[evenly_spaced(X.shape[0], _SAMPLE)]
    found = []
    for part in parts:
        own = _distances(part, rows, rows)
        found.append(replace(part, usual=float(np.sqrt(np.square(own).mean()))))
    return tuple(found)


def _distances(part: BlockPart, rows: Any, others: Any) -> Float64Array:
    with single_threaded_blas(), unsaid(DataWarning):  # of rows of zeros under cosine
        return cross_distances(part.of(rows), part.of(others), metric=part.metric, metric_params=part.metric_params)


@dataclass(frozen=True)
class BlockNeighbors:
    """What is near in all blocks, and in each.

    Attributes
    ----------
    joined : NeighborGraph
        The nearest rows by the joined distance (sum_b w_b (d_b / u_b)^p)^(1/p), u_b the row's unit in block b.
    of_blocks : tuple of NeighborGraph
        The nearest rows in each block, of equally near ones those that are near in all; empty if not asked for.
    """

    joined: NeighborGraph
    of_blocks: tuple[NeighborGraph, ...]


def find_block_neighbors(
    X: Any,
    parts: Sequence[BlockPart],
    n_neighbors: int,
    *,
    power: float,
    each: bool = False,
    seed: int = 0,
    reporter: Reporter | None = None,
) -> BlockNeighbors:
    """Find the nearest neighbours of every row in blocks of columns.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Rows whose columns stand in blocks.
    parts : sequence of BlockPart
        With their usual distances.
    n_neighbors : int in [1, n_samples - 1]
        Of each row, the row itself not counted.
    power : float >= 1
        p of the joined distance: 1 adds distances, 2 their squares.
    each : bool, default=False
        Whether the neighbours in each block are wanted as well.
    seed : int, default=0
        Of approximate searches.
    reporter : Reporter or None, default=None
        Told about progress in rows.

    Returns
    -------
    BlockNeighbors
        All pairs are compared up to `ALL_PAIRS`. Beyond, the joined neighbours are the nearest among those in each
        block and in all columns together, and the neighbours of neighbours, until a sample shows that 98% are found.
    """
    n, width = (int(size) for size in X.shape)
    name = " x ".join(part.metric if isinstance(part.metric, str) else "callable" for part in parts)
    if float(n) * n * (width + 20) > ALL_PAIRS:
        return _from_candidates(X, tuple(parts), n_neighbors, power, each, seed, name)
    shape = (n, n_neighbors)
    lists: Lists = [(np.empty(shape, np.int32), np.empty(shape, np.float32)) for _ in range(1 + each * len(parts))]
    for begin, found in _nearest_of_all(X, X, parts, n_neighbors, power, each, own=True):
        for (indices, distances), (some, lengths) in zip(lists, found, strict=True):
            indices[begin : begin + len(some)], distances[begin : begin + len(some)] = some, lengths
        if reporter is not None:
            reporter.update(min(begin + len(found[0][0]), n), n)
    graphs = [NeighborGraph(*pair, None, name, "exact", 1.0) for pair in lists]
    named = [replace(graph, metric=str(part.metric)) for graph, part in zip(graphs[1:], parts, strict=bool(each))]
    return BlockNeighbors(graphs[0], tuple(named))


def _nearest_of_all(
    rows: Any, table: Any, parts: Sequence[BlockPart], k: int, power: float, each: bool, *, own: bool
) -> Iterator[tuple[int, Lists]]:
    """Yield for some rows at a time their nearest by the joined distance and, if asked for, in each block.

    `own`: rows are those of the table, and none is its own neighbour.
    """
    step = max(1, _NUMBERS // int(table.shape[0]))
    for begin in range(0, int(rows.shape[0]), step):
        some = rows[begin : begin + step]
        numbers = np.arange(some.shape[0])
        joined = np.zeros((some.shape[0], table.shape[0]))
        scaled = []
        for part in parts:
            distances = _distances(part, some, table)
            if own:
                distances[numbers, begin + numbers] = np.inf
            unit = part.unit(np.sort(np.partition(distances, k - 1, axis=1)[:, :k], axis=1))
            joined += part.weight * (distances / unit[:, None]) ** power
            if each:
                scaled.append(distances)
        joined **= 1.0 / power
        found = [_smallest(joined, joined, k)]
        for part, distances in zip(parts, scaled, strict=bool(scaled)):
            nearer = distances + _TIE * (part.usual or 1.0) * (1.0 - 1.0 / (1.0 + joined))
            found.append(_smallest(nearer, distances, k))
        yield begin, found


def _smallest(order: Float64Array, lengths: Float64Array, k: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the k columns that come first, ascending by (order, column), and their lengths."""
    chosen = first_columns(order, k)
    found = np.take_along_axis(lengths, chosen, axis=1).astype(np.float32)
    return chosen.astype(np.int32), np.maximum.accumulate(found, axis=1)


@dataclass
class _Candidates:
    """Rows that may be near, with their joined distances: `indices` and `distances` of shape (n_samples, n_neighbors).

    An entry whose distance is inf is none.
    """

    indices: npt.NDArray[np.int32]
    distances: Float64Array

    def merged(self, lists: list[npt.NDArray[np.int32]], lengths: list[Float64Array], k: int) -> _Candidates:
        """Return the k nearest of these and of others."""
        own = np.arange(len(self.indices))[:, None]
        indices = np.concatenate([self.indices, *lists], axis=1)
        distances = np.concatenate([self.distances, *lengths], axis=1)
        distances[indices == own] = np.inf
        order = np.argsort(indices, axis=1, kind="stable")
        indices, distances = (np.take_along_axis(part, order, axis=1) for part in (indices, distances))
        distances[:, 1:][indices[:, 1:] == indices[:, :-1]] = np.inf
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return _Candidates(*(np.take_along_axis(part, order, axis=1) for part in (indices, distances)))


def _from_candidates(
    X: Any, parts: tuple[BlockPart, ...], k: int, power: float, each: bool, seed: int, name: str
) -> BlockNeighbors:
    with unsaid(DataWarning):
        graphs = tuple(
            compute_neighbors(part.of(X), k, metric=part.metric, metric_params=part.metric_params, seed=seed)
            for part in parts
        )
        together = compute_neighbors(balanced_blocks(X, parts), k, seed=seed)
    units = [part.unit(graph.distances) for part, graph in zip(parts, graphs, strict=True)]

    def joined(others: npt.NDArray[np.int32]) -> Float64Array:
        total = np.zeros(others.shape)
        for part, unit in zip(parts, units, strict=True):
            lengths = pair_distances(part.of(X), others, metric=part.metric, metric_params=part.metric_params)
            total += part.weight * (lengths.astype(np.float64) / unit[:, None]) ** power
        return total ** (1.0 / power)

    n = int(X.shape[0])
    found = _Candidates(together.indices, joined(together.indices)).merged(
        [graph.indices for graph in graphs], [joined(graph.indices) for graph in graphs], k
    )
    sample = evenly_spaced(n, 2 * _SAMPLE)
    true = _true_neighbors(X, sample, parts, units, k, power)
    for _ in range(_ROUNDS):
        pairs = zip(found.indices[sample], true, strict=True)
        shares = np.array([len(np.intersect1d(*pair)) for pair in pairs]) / k
        if estimate(shares[::2], shares[::2]).limit >= _RECALL:
            break
        friends = [found.indices[found.indices[:, j], :_FRIENDS] for j in range(min(k, _FRIENDS))]
        found = found.merged(friends, [joined(one) for one in friends], k)
    recall = estimate(shares[1::2], shares[1::2])  # of rows that did not end the search
    about = name, "candidates", float(recall.value), float(recall.error)
    graph = NeighborGraph(found.indices, found.distances.astype(np.float32), None, *about)
    return BlockNeighbors(graph, graphs if each else ())


def _true_neighbors(
    X: Any, sample: npt.NDArray[np.int64], parts: Sequence[BlockPart], units: list[Float64Array], k: int, power: float
) -> npt.NDArray[np.int32]:
    joined = np.zeros((len(sample), int(X.shape[0])))
    for part, unit in zip(parts, units, strict=True):
        joined += part.weight * (_distances(part, X[sample], X) / unit[sample, None]) ** power
    joined[np.arange(len(sample)), sample] = np.inf
    return _smallest(joined, joined, k)[0]


def balanced_blocks(X: Any, parts: Sequence[BlockPart]) -> npt.NDArray[np.float32]:
    """Centre the columns, and divide each block by its spread, as multiple factor analysis does.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Rows whose columns stand in blocks.
    parts : sequence of BlockPart
        The weights are those of the blocks' variances.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float32
        The variances of the columns of a block add up to its weight.

    References
    ----------
    .. [1] Escofier & Pages, "Multiple factor analysis (AFMULT package)", Computational Statistics & Data Analysis 18,
       1994.
    """
    blocks = []
    for part in parts:
        block = part.of(X)
        block = np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)
        spread = float(np.sqrt(block.var(axis=0).sum()))
        blocks.append((block - block.mean(axis=0)) * (np.sqrt(part.weight) / (spread if spread > 0.0 else 1.0)))
    return np.concatenate(blocks, axis=1).astype(np.float32)


@dataclass(frozen=True)
class BlockSearch:
    """A table of blocks, to be asked for the nearest of its rows: each new row is compared with all.

    Attributes
    ----------
    rows : ndarray or csr_array of shape (n_samples, n_features)
    parts : tuple of BlockPart
    n_neighbors : int
        Neighbours of a new row, in each block with `each`.
    power : float
        As for `find_block_neighbors`.
    each : bool
        Whether the neighbours in each block are found, or those in all.
    """

    rows: Any
    parts: tuple[BlockPart, ...]
    n_neighbors: int
    power: float
    each: bool

    method = "exact"
    recall = 1.0

    def find(self, X_new: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return neighbours and distances of new rows, each a function of its row alone.

        Returns
        -------
        indices, distances : ndarray of shape (n_new, n_neighbors), with `each` (n_new, n_blocks n_neighbors)
            By joined distance; with `each` those of one block after the other, in its own metric.
        """
        width = self.n_neighbors * (len(self.parts) if self.each else 1)
        indices = np.empty((int(X_new.shape[0]), width), dtype=np.int32)
        distances = np.empty(indices.shape, dtype=np.float32)
        given = self.rows, self.parts, self.n_neighbors, self.power, self.each
        for begin, found in _nearest_of_all(X_new, *given, own=False):
            wanted = found[1:] if self.each else found
            some = slice(begin, begin + len(found[0][0]))
            indices[some] = np.concatenate([one for one, _ in wanted], axis=1)
            distances[some] = np.concatenate([lengths for _, lengths in wanted], axis=1)
        return indices, distances
