"""Scores of anchors from a table that is read in blocks: each block is ranked from all anchors, and counts add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._threads import in_order, single_threaded_blas
from gnomon._validation import message
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.evaluation.anchors import (
    TILE,
    AnchorScores,
    ProductDistances,
    some_of,
    stands_above_rounding,
    unit_of,
)
from gnomon.evaluation.layout import Layout
from gnomon.evaluation.map_ranks import MapRanks
from gnomon.linalg import dense_rows
from gnomon.scale import Executor, current_executor

__all__ = ["drawn_triplets", "score_anchors_by_blocks"]

_TOGETHER = 64  # anchors: their distances to a tile stay in the cache
_SAMPLE = 32_768  # rows, evenly spaced, whose distances bound those of the neighbours
_SAMPLE_NUMBERS = 1 << 24
_COPIES = 2.0  # of a tile in products
_NEAR = 100.0  # bytes of a neighbour of an anchor in an answer and while two are joined
_SLACK = 1e-5  # of the bound, above the rounding of products in single precision
_TRIPLET_STREAM = np.uint64(0x7472)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Placed:
    """Which rows of a table take part, and their numbers among these.

    Attributes
    ----------
    rows : ndarray of shape (n,), int64
        Row numbers, ascending.
    """

    rows: Ints

    def of(self, block: RowBlock, table: StoredTable) -> tuple[int, Any]:
        """Return the number of the first row of a block that takes part, and these rows."""
        first, last = np.searchsorted(self.rows, [block.start, block.stop]).tolist()
        values = table.read(block.start, block.stop)
        if last - first < len(block):
            values = values[self.rows[first:last] - block.start]
        return first, values

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the numbers if all rows take part."""
        n = len(self.rows)
        whole = n == 0 or int(self.rows[-1]) == n - 1
        return {"rows": n if whole else self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows = state["rows"]
        object.__setattr__(self, "rows", np.arange(rows, dtype=np.int64) if isinstance(rows, int) else rows)


@dataclass(frozen=True)
class _Question:
    """What is asked of each block.

    Attributes
    ----------
    distances : ProductDistances
    left : ndarray of shape (m, n_features)
        The anchors, prepared.
    anchors : ndarray of shape (m,), int64
    others, limits : ndarray of shape (m, k), int64 and float
        Rows whose ranks are asked for, and their distances.
    bounds : ndarray of shape (m,), float
        Above the distances of the k nearest rows.
    pair_rows, pair_anchors : ndarray of shape (p,), int64
        Rows and anchors whose distances are asked for, rows ascending.
    """

    distances: ProductDistances
    left: npt.NDArray[Any]
    anchors: Ints
    others: Ints
    limits: npt.NDArray[Any]
    bounds: npt.NDArray[Any]
    pair_rows: Ints
    pair_anchors: Ints


@dataclass(frozen=True)
class _Answer:
    """What some blocks say: rows before the others, the nearest rows of each anchor, and distances of pairs."""

    before: Ints
    nearest: Ints
    distances: npt.NDArray[Any]
    pairs: Floats


def drawn_triplets(seed: int, rows: Ints, n: int, n_triplets: int) -> tuple[Ints, Ints]:
    """Return the other two rows of the triplets of some rows, both (m, n_triplets), as `_core.score_map` draws them."""
    with np.errstate(over="ignore"):
        item = rows.astype(np.uint64)[:, None] + np.uint64(0x9E3779B97F4A7C15)
        start = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * (_TRIPLET_STREAM + np.uint64(1))
        step = np.uint64(0xBF58476D1CE4E5B9) * np.arange(1, n_triplets + 1, dtype=np.uint64)
        bits = _mixed(_mixed(_mixed(np.array(start)) ^ item) + step)
    i = rows[:, None]
    j = (((bits & np.uint64(0xFFFFFFFF)) * np.uint64(n - 1)) >> np.uint64(32)).astype(np.int64)
    j += j >= i
    third = (((bits >> np.uint64(32)) * np.uint64(n - 2)) >> np.uint64(32)).astype(np.int64)
    third += third >= np.minimum(i, j)
    third += third >= np.maximum(i, j)
    return j, third


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mixed = words ^ (words >> np.uint64(32))
    for _ in range(2):
        mixed = mixed * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def score_anchors_by_blocks(
    table: StoredTable,
    rows: Ints,
    layout: Layout,
    anchors: Ints,
    *,
    metric: str,
    n_neighbors: int,
    n_nearest: int,
    n_triplets: int,
    seed: int,
) -> AnchorScores:
    """Rank all rows from each anchor, a block of rows at a time; as `score_anchors` does in memory.

    Parameters
    ----------
    table : StoredTable of shape (n_samples, n_features)
    rows : ndarray of shape (n,), int64
        Numbers of the rows that have a place in the map.
    layout : Layout
        Of these n rows.
    anchors : ndarray of shape (m,), int64
        Numbers among these rows; m < n.
    metric : {"euclidean", "cosine"}
    n_neighbors, n_nearest, n_triplets, seed
        As for `score_anchors`.
    """
    if metric not in ("euclidean", "cosine"):
        what, fact = f"metric={metric!r}", f"{table.name} is read in blocks"
        raise ValueError(message(what, "'euclidean' or 'cosine'", fact=fact, remedy="Evaluate the map of a sample."))
    in_map = MapRanks(layout)
    near = in_map.nearest(anchors, n_nearest)
    second, third = drawn_triplets(seed, anchors, layout.n_samples, n_triplets)
    executor, placed = current_executor(), _Placed(rows)
    shared_table, shared_rows = executor.broadcast(table), executor.broadcast(placed)
    shared = (shared_table, shared_rows)
    question = _question(executor, table, placed, shared, anchors, near[:, :n_neighbors], metric)
    pairs = np.stack([second, third], axis=2).reshape(len(anchors), -1)
    order = np.argsort(pairs, axis=None, kind="stable")
    flat = pairs.ravel()[order]
    asked = _Question(*question, flat, order // pairs.shape[1])
    found = executor.reduce(
        _answer_block,
        _joined,
        table.blocks(),
        *shared,
        executor.broadcast(asked),
        needed=_needed(table) + _of_answer(table, asked),
    )
    distances = np.empty(len(flat))
    distances[order] = found.pairs
    data_pairs = distances.reshape(len(anchors), n_triplets, 2)
    map_pairs = np.stack([in_map.between(anchors, second), in_map.between(anchors, third)], axis=2)
    orders = [np.sign(sides[..., 1] - sides[..., 0]) for sides in (data_pairs, map_pairs)]
    same = np.where(orders[0] == orders[1], 2, np.where((orders[0] == 0) | (orders[1] == 0), 1, 0))
    ranks, mine = found.before + 1, in_map.ranks(anchors, found.nearest)
    both = np.sort(np.concatenate([near[:, :n_neighbors], found.nearest], axis=1), axis=1)
    return AnchorScores(
        intruders=np.maximum(ranks - n_neighbors, 0).sum(axis=1),
        extruders=np.maximum(mine - n_neighbors, 0).sum(axis=1),
        shared=np.sum(both[:, 1:] == both[:, :-1], axis=1).astype(np.int32),
        nearest=near.astype(np.int32),
        agreeing=same.sum(axis=1).astype(np.int32),
        pairs_data=data_pairs[..., 0].ravel(),
        pairs_map=map_pairs[..., 0].ravel(),
    )


def _question(
    executor: Executor,
    table: StoredTable,
    placed: _Placed,
    shared: tuple[Any, Any],
    anchors: Ints,
    others: Ints,
    metric: str,
) -> tuple[ProductDistances, npt.NDArray[Any], Ints, Ints, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return how distances are formed, and from the rows that decide it the limits and bounds of the neighbours."""
    n, k = len(placed.rows), others.shape[1]
    step = max(1, n // max(k + 2, min(_SAMPLE, _SAMPLE_NUMBERS // table.n_features)))
    sample = np.arange(0, n, step)
    wanted = np.unique(np.concatenate([anchors, others.ravel(), sample]))
    probes, exact = some_of(anchors), None
    if metric == "euclidean":
        total, count = executor.reduce(_column_sums, _add, table.blocks(), *shared, needed=_needed(table))
        first = table.take(placed.rows[probes])
        means = total / count
        exact = ProductDistances(metric, np.float64, means, unit_of(dense_rows(first).astype(np.float64), means))
    probing: Any = None if exact is None else (exact, exact.prepare(first), k + 1)
    asked = (*shared, executor.broadcast(wanted), probing)
    parts = list(executor.map(_gathered, table.blocks(), *asked, needed=_needed(table)))
    kept: Any = [part for part, _ in parts if part.shape[0]]
    values = sp.vstack(kept, format="csr") if table.is_sparse else np.concatenate(kept)
    distances = ProductDistances(metric, np.float32, None)
    if exact is not None:
        nearest = np.sort(np.concatenate([some for _, some in parts], axis=1), axis=1)[:, k]
        single = stands_above_rounding(nearest, probing[1])
        distances = ProductDistances(metric, np.float32 if single else np.float64, exact.means, exact.scale)

    def rows(numbers: Ints) -> npt.NDArray[Any]:
        return distances.prepare(values[np.searchsorted(wanted, numbers)])

    left = rows(anchors)
    with single_threaded_blas():
        limits, bounds = _limits(distances, left, anchors, others, rows, sample)
    return distances, left, anchors, others, limits, bounds


def _limits(
    distances: ProductDistances,
    left: npt.NDArray[Any],
    anchors: Ints,
    others: Ints,
    rows: Callable[[Ints], npt.NDArray[Any]],
    sample: Ints,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the distances from anchors to others, and bounds of those to the nearest: of others, and of a sample."""
    k = others.shape[1]
    some = rows(sample)
    limits, bounds = np.empty(others.shape, left.dtype), np.empty(len(anchors), left.dtype)
    for begin in range(0, len(anchors), _TOGETHER):
        part = slice(begin, begin + _TOGETHER)
        around = np.unique(others[part])
        away = _between(distances, left[part], rows(around))
        limits[part] = np.take_along_axis(away, np.searchsorted(around, others[part]), axis=1)
        away = _between(distances, left[part], some)
        away[sample == anchors[part][:, None]] = np.inf
        bounds[part] = np.minimum(np.partition(away, k - 1, axis=1)[:, k - 1], limits[part].max(axis=1))
    return limits, bounds + _SLACK * np.abs(bounds)


def _between(distances: ProductDistances, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
    out = np.empty((len(left), len(right)), left.dtype)
    for begin in range(0, len(right), TILE):
        tile = slice(begin, begin + TILE)
        distances.between(left, right[tile], out[:, tile])
    return out


def _needed(table: StoredTable) -> float:
    """Return the bytes that it takes to read a block and to prepare tiles of it."""
    tile = TILE * (_COPIES * 8.0 * table.n_features + 16.0 * _TOGETHER)
    return max(table.reading_bytes, table.block_bytes + tile)


def _of_answer(table: StoredTable, asked: _Question) -> float:
    """Return the bytes that the answer of a block takes, tile by tile, beside the block."""
    tiles = 1.0 + max(len(block) for block in table.blocks()) / TILE
    return asked.others.size * (8.0 * tiles + _NEAR) + 16.0 * len(asked.pair_rows) + float(asked.left.nbytes)


def _column_sums(block: RowBlock, table: StoredTable, placed: _Placed) -> tuple[Floats, int]:
    values = placed.of(block, table)[1]
    return np.asarray(values.sum(axis=0, dtype=np.float64)).ravel(), int(values.shape[0])


def _add(left: tuple[Any, int], right: tuple[Any, int]) -> tuple[Any, int]:
    return left[0] + right[0], left[1] + right[1]


def _gathered(
    block: RowBlock, table: StoredTable, placed: _Placed, wanted: Ints, probing: tuple[Any, Any, int] | None
) -> tuple[Any, npt.NDArray[Any]]:
    """Return those rows of a block that are wanted, and the least distances of some rows to all of the block."""
    first, values = placed.of(block, table)
    last = first + values.shape[0]
    inside = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, last)] - first
    if probing is None or first == last:
        return values[inside], np.empty((0 if probing is None else len(probing[1]), 0))
    distances, left, count = probing

    def least(begin: int) -> npt.NDArray[Any]:
        away = _between(distances, left, distances.prepare(values[begin : begin + TILE]))
        return np.sort(np.partition(away, count - 1, axis=1)[:, :count] if away.shape[1] > count else away, axis=1)

    with single_threaded_blas():
        found = np.concatenate(list(in_order(least, range(0, last - first, TILE))), axis=1)
    return values[inside], np.sort(found, axis=1)[:, :count]


def _answer_block(block: RowBlock, table: StoredTable, placed: _Placed, asked: _Question) -> _Answer:
    first, values = placed.of(block, table)

    def answer(begin: int) -> _Tile:
        return _answer_tile(first + begin, values[begin : begin + TILE], asked)

    m, k = asked.others.shape
    before, tiles = np.zeros((m, k), np.int64), []
    with single_threaded_blas():
        for tile in in_order(answer, range(0, values.shape[0], TILE)):
            before += tile.before
            tiles.append(tile)
    if not tiles:
        empty = np.empty(0, np.int64)
        tiles = [_Tile(before, empty, empty, np.empty(0, asked.left.dtype), np.empty(0))]
    anchors, rows, away = (np.concatenate([getattr(one, name) for one in tiles]) for name in ("at", "rows", "away"))
    order = np.lexsort((rows, away, anchors))
    anchors = anchors[order]
    place = np.arange(len(order)) - np.searchsorted(anchors, anchors)
    kept = place < k
    nearest, distances = np.full((m, k), -1, np.int64), np.full((m, k), np.inf, asked.left.dtype)
    nearest[anchors[kept], place[kept]] = rows[order][kept]
    distances[anchors[kept], place[kept]] = away[order][kept]
    return _Answer(before, nearest, distances, np.concatenate([one.pairs for one in tiles]))


def _joined(left: _Answer, right: _Answer) -> _Answer:
    """Return what two parts of the table say together; all rows of the first come before those of the second."""
    nearest = np.concatenate([left.nearest, right.nearest], axis=1)
    distances = np.concatenate([left.distances, right.distances], axis=1)
    order = np.argsort(distances, axis=1, kind="stable")[:, : left.nearest.shape[1]]
    return _Answer(
        left.before + right.before,
        np.take_along_axis(nearest, order, axis=1),
        np.take_along_axis(distances, order, axis=1),
        np.concatenate([left.pairs, right.pairs]),
    )


@dataclass(frozen=True)
class _Tile:
    """What a few rows say: how many come before the others, which may be among the nearest, and distances of pairs."""

    before: Ints
    at: Ints
    rows: Ints
    away: npt.NDArray[Any]
    pairs: Floats


def _answer_tile(first: int, values: Any, asked: _Question) -> _Tile:
    right = asked.distances.prepare(values)
    last, (m, k) = first + len(right), asked.others.shape
    begin, end = np.searchsorted(asked.pair_rows, [first, last])
    pair_columns, pair_anchors = asked.pair_rows[begin:end] - first, asked.pair_anchors[begin:end]
    before, pairs = np.zeros((m, k), np.int64), np.empty(end - begin)
    found: list[tuple[Ints, Ints, npt.NDArray[Any]]] = []
    held = np.empty((min(_TOGETHER, m), len(right)), right.dtype)
    for start in range(0, m, _TOGETHER):
        part = slice(start, min(start + _TOGETHER, m))
        away = held[: part.stop - start]
        asked.distances.between(asked.left[part], right, away)
        mine = np.flatnonzero((pair_anchors >= start) & (pair_anchors < part.stop))
        pairs[mine] = away[pair_anchors[mine] - start, pair_columns[mine]]
        own = np.flatnonzero((asked.anchors[part] >= first) & (asked.anchors[part] < last))
        away[own, asked.anchors[part][own] - first] = np.inf
        before[part], *candidates = _counted(away, first, asked, part)
        found.append((candidates[0] + start, candidates[1] + first, candidates[2]))
    at, rows, distances = (np.concatenate([one[place] for one in found]) for place in range(3))
    return _Tile(before, at, rows, distances, pairs)


def _counted(
    away: npt.NDArray[Any], first: int, asked: _Question, part: slice
) -> tuple[Ints, Ints, Ints, npt.NDArray[Any]]:
    """Return how many rows of a tile come before the others, and anchors, columns and distances of near rows.

    The distances `away` are put in order.
    """
    others, limits, bounds = asked.others[part], asked.limits[part], asked.bounds[part]
    # Rows as far as another come before it if their number is lower: all of a tile before it, none of one behind.
    behind = others >= first + away.shape[1]
    highest = np.where(behind, limits, np.nextafter(limits, -np.inf, dtype=limits.dtype))
    near = np.flatnonzero(away <= bounds[:, None])
    at, columns = np.divmod(near, away.shape[1])
    distances = away[at, columns]
    before = np.zeros(others.shape, np.int64)
    for one, place in zip(*np.nonzero(~behind & (others >= first)), strict=True):
        column, limit = others[one, place] - first, limits[one, place]
        before[one, place] += np.count_nonzero(away[one, :column] == limit)
        before[one, place] -= away[one, column] <= highest[one, place]
    away.sort(axis=1)
    for counted, row, limit in zip(before, away, highest, strict=True):
        counted += row.searchsorted(limit, side="right")
    return before, at, columns, distances
