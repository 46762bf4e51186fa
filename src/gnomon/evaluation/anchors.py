"""Rows whose ranks against all rows are found: their distances in bounded memory, and what the ranks say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import product, squared_lengths
from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon.evaluation.layout import Layout
from gnomon.evaluation.sparse_distances import SparseProducts
from gnomon.linalg.table import dense_rows, table_as_bytes
from gnomon.neighbors import row_distances

__all__ = [
    "TILE",
    "AnchorScores",
    "DistanceRows",
    "ProductDistances",
    "Watcher",
    "choose_anchors",
    "mixed",
    "pairs_among",
    "rests_on",
    "score_anchors",
    "some_of",
    "stands_above_rounding",
    "unit_of",
]

Rows = Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]]

TILE = 4096  # columns of a block of products: fixed, so that results do not depend on the number of threads
_MULTIPLIED = 1024  # rows, and fewer than as many more, that products write out in double at a time
_PROBES = 16
# float32 products leave an error of about 1e-6 of the mean squared norm; neighbours must stand well above it.
_SAFE_SHARE = 1e-3
_ALL_BELOW = 5000  # rows up to which every row is an anchor by default
_ANCHORS = 1000  # the mean of their trustworthiness has a standard error of about 0.002
_ALL_PAIRS_BELOW = 1_000_000  # pairs up to which the Shepard score takes all of them
_CHUNK_BYTES = 2**27  # of float64 distances
_TOGETHER = 64  # rows of squares that are formed together at least: for each of these chunks the table is packed again


def _dense(values: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values).astype(dtype)


def _column_means(X: Any) -> npt.NDArray[np.float64]:
    means: npt.NDArray[np.float64] = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return means


def some_of(anchors: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return some of the anchors, for what a few decide."""
    return anchors[:: max(1, len(anchors) // _PROBES)][:_PROBES]


def unit_of(rows: npt.NDArray[np.float64], means: npt.NDArray[np.float64]) -> float:
    """Return the power of two that brings a few rows near length one: squares must not over- or underflow."""
    longest = np.abs(rows - means).max(axis=1).max()
    return float(2.0 ** -np.round(np.log2(longest))) if longest > 0 else 1.0


def _unit_of_sparse(X: Any, anchors: npt.NDArray[np.int64]) -> float:
    """Return `unit_of` some anchors in the columns that they store."""
    some = X[some_of(anchors)]
    stored = np.unique(some.indices)
    return unit_of(dense_rows(some[:, stored]), _column_means(X)[stored]) if len(stored) else 1.0


@dataclass(frozen=True)
class ProductDistances:
    """Squared Euclidean distances or cosine distances through matrix products.

    Attributes
    ----------
    metric : {"euclidean", "cosine"}
    dtype : float32 or float64
        Of the products.
    means : ndarray of shape (n_features,), float64, or None
        Taken away from Euclidean rows: it keeps the norms, and so the rounding of the products, small.
    scale : float, default=1.0
        What Euclidean rows are multiplied by.
    """

    metric: str
    dtype: npt.DTypeLike
    means: npt.NDArray[np.float64] | None
    scale: float = 1.0

    def prepare(self, values: Any) -> npt.NDArray[Any]:
        """Return rows of the data, centred or of length one."""
        dtype = np.dtype(self.dtype)
        if self.means is not None:
            wide = np.dtype(np.float64) if values.dtype == np.float64 else dtype
            rows = values.toarray() if hasattr(values, "toarray") else values
            centered: npt.NDArray[Any] = np.subtract(rows, self.means.astype(wide), dtype=wide, casting="unsafe")
            centered *= centered.dtype.type(self.scale)
            return centered.astype(dtype, copy=False)
        rows = _dense(values, dtype)
        norms = np.sqrt(_squares(rows))
        rows /= np.where(norms > 0, norms, 1)[:, None]
        return rows

    def between(
        self,
        left: npt.NDArray[Any],
        right: npt.NDArray[Any],
        out: npt.NDArray[Any],
        squares: npt.NDArray[Any] | None = None,
    ) -> None:
        """Write the distances between rows that are prepared to an array; `squares` are those of `right`, if known."""
        cosine = self.metric == "cosine"
        factors = (left if cosine else -2 * left).astype(np.float64, copy=False)
        for some in _strips(len(right)):
            products = product(factors, right[some].T)
            out[:, some] = 1.0 - products if cosine else products
        if cosine:
            return
        out += _squares(right) if squares is None else squares
        out += _squares(left)[:, None]


def _strips(n_rows: int) -> list[slice]:
    begins = range(0, max(1, n_rows - _MULTIPLIED + 1), _MULTIPLIED)
    return [slice(begin, end) for begin, end in zip(begins, [*begins[1:], n_rows], strict=True)]


def _squares(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return squared lengths, summed in double as products are: a row then lies at 0 from itself."""
    return squared_lengths(rows, np.float64).astype(rows.dtype, copy=False)


class _Products:
    """Rows of such distances, of a table in memory."""

    def __init__(self, X: Any, metric: str, dtype: npt.DTypeLike, anchors: npt.NDArray[np.int64]) -> None:
        self.X, self.dtype = X, np.dtype(dtype)
        self.means = means = _column_means(X) if metric == "euclidean" else None
        self.scale = 1.0 if means is None else unit_of(_dense(X[some_of(anchors)], np.float64), means)
        self._distances = ProductDistances(metric, self.dtype, means, self.scale)
        self._squares: npt.NDArray[Any] | None = None  # of all rows, formed with the first products

    def prepare(self, rows: Any) -> npt.NDArray[Any]:
        """Return rows of the data, centred or of length one."""
        return self._distances.prepare(self.X[rows])

    def __call__(self, anchors: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        n = int(self.X.shape[0])
        out = np.empty((len(anchors), n), dtype=self.dtype)
        left, known = self.prepare(anchors), self._squares
        squares = np.empty(n, dtype=self.dtype) if known is None else known

        def fill(begin: int) -> None:
            for some in _strips(min(TILE, n - begin)):  # not the whole tile: of wide rows that is much memory
                block = slice(begin + some.start, begin + some.stop)
                right = self.prepare(block)
                if known is None:
                    squares[block] = _squares(right)
                self._distances.between(left, right, out[:, block], squares[block])

        with single_threaded_blas(), ThreadPool() as pool:
            list(pool.map(fill, range(0, n, TILE)))
        self._squares = squares
        return out


class _Squares:
    """Rows of squared Euclidean distances in float32, of a dense table in memory; until the next are asked.

    Of bytes they are exact but for one rounding.
    """

    def __init__(self, X: npt.NDArray[Any], means: npt.NDArray[np.float64], scale: float) -> None:
        self.X, self.means, self.scale = np.ascontiguousarray(X), means, scale
        self._memory = np.empty((0, len(X)), dtype=np.float32)

    def __call__(self, anchors: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        if len(self._memory) < len(anchors):
            self._memory = np.empty((len(anchors), len(self.X)), dtype=np.float32)
        out: npt.NDArray[np.float32] = self._memory[: len(anchors)]
        some = np.ascontiguousarray(anchors)
        _core.anchor_squares(self.X, some, self.means, self.scale, out, current_run().n_threads)
        return out


def _float32_is_enough(squares: Rows, prepare: Rows, n_neighbors: int, anchors: npt.NDArray[np.int64]) -> bool:
    """Whether the nearest neighbours of a few anchors stand above the rounding of float32 products."""
    some = some_of(anchors)
    return stands_above_rounding(np.partition(squares(some), n_neighbors, axis=1)[:, n_neighbors], prepare(some))


def stands_above_rounding(nearest: npt.NDArray[Any], rows: npt.NDArray[Any]) -> bool:
    """Say so of the squared distances of a few rows to their nearest neighbours, and these rows as prepared."""
    return bool(np.min(nearest) > _SAFE_SHARE * np.mean(_squares(rows)))


def _distance_rows(X: Any, metric: str, n_neighbors: int, anchors: npt.NDArray[np.int64]) -> Rows:
    """Return a function from row numbers to rows of distances, or an increasing function of them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), or (n_samples, n_samples) for "precomputed"
    metric : str
        "precomputed", or as for `gnomon.neighbors.cross_distances`.
    n_neighbors : int
        Neighbours that must be told apart.
    anchors : ndarray, int64
        All rows that will be asked for. If these are all rows, products are formed in float64.
    """
    if metric == "precomputed":
        return lambda rows: np.ascontiguousarray(_dense(X[rows], np.float64))
    if metric in ("euclidean", "cosine") and not isinstance(X, np.ndarray):
        scale = _unit_of_sparse(X, anchors) if metric == "euclidean" else 1.0
        return SparseProducts(X, metric, np.float64 if len(anchors) == X.shape[0] else np.float32, scale)
    if metric in ("euclidean", "cosine"):
        exact = _Products(X, metric, np.float64, anchors)
        if len(anchors) == X.shape[0]:
            return exact
        if exact.means is None or X.dtype not in (np.float32, np.float64):
            rows: _Products | _Squares = _Products(X, metric, np.float32, anchors)
        else:
            rows = _Squares(table_as_bytes(X), exact.means, exact.scale)
            if rows.X.dtype == np.uint8:
                return rows
        return rows if metric == "cosine" or _float32_is_enough(rows, exact.prepare, n_neighbors, anchors) else exact
    from_rows = row_distances(X, metric=metric)
    return lambda rows: np.ascontiguousarray(from_rows(rows))


class DistanceRows:
    """Rows of distances from anchors to all rows of the data, a chunk of anchors at a time, in the order given.

    A chunk may be overwritten by the next one.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), or (n_samples, n_samples) for "precomputed"
    metric : str
        "euclidean", "cosine", "precomputed", or any metric of scikit-learn's ``pairwise_distances``.
    n_neighbors : int
        Neighbours that must be told apart.
    anchors : ndarray of shape (m,), int64

    Attributes
    ----------
    squared : bool
        Whether the numbers are squares of the distances.
    unit : float
        What the numbers, or their roots if they are squares, are multiplied by to be distances.
    n_together : int
        Anchors among which pairs are drawn, the first so many of what comes, and so on.
    """

    def __init__(self, X: Any, metric: str, n_neighbors: int, anchors: npt.NDArray[np.int64]) -> None:
        self._rows = _distance_rows(X, metric, n_neighbors, np.sort(anchors))
        self._anchors = anchors
        self.squared = metric == "euclidean"
        self.unit = 1.0 / self._rows.scale if isinstance(self._rows, (_Products, _Squares, SparseProducts)) else 1.0
        self.n_together = int(np.clip(_CHUNK_BYTES // (8 * X.shape[0]), 16, 512))
        n_chunks = max(1, _TOGETHER // self.n_together) if isinstance(self._rows, _Squares) else 1
        self._chunk = n_chunks * self.n_together

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]]:
        chunk = self._chunk
        for begin in range(0, len(self._anchors), chunk):
            some = self._anchors[begin : begin + chunk]
            yield some, self._rows(some)


class Watcher(Protocol):
    """Who looks at the same distances as `score_anchors`, so that they are formed once."""

    def begin(self, anchors: npt.NDArray[np.int64], rows: DistanceRows) -> None:
        """Learn which anchors will come, and in what the distances are told."""

    def add(self, some: npt.NDArray[np.int64], distances: npt.NDArray[Any]) -> None:
        """Look at the distances (len(some), n) of some anchors, which come in the order of `mixed`."""


def mixed(anchors: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """Return anchors in random order, so that those that follow each other are random pairs."""
    return anchors[np.argsort(_core.random_keys(seed, len(anchors)), kind="stable")]


def pairs_among(
    distances: npt.NDArray[Any], Y: npt.NDArray[np.float64], some: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return distances from some rows to those after them, as given and squared in the map: all pairs, each once."""
    later = np.arange(len(Y)) > some[:, None]
    in_map: npt.NDArray[np.float64] = np.sum((Y[some][:, None, :] - Y[None, :, :]) ** 2, axis=2)[later]
    return distances[later].astype(np.float64), in_map


@dataclass
class AnchorScores:
    """Scores of the anchors, in their order; penalties are sums of excess ranks."""

    intruders: npt.NDArray[np.int64]
    extruders: npt.NDArray[np.int64]
    shared: npt.NDArray[np.int32]
    nearest: npt.NDArray[np.int32]
    agreeing: npt.NDArray[np.int32]
    pairs_data: npt.NDArray[np.float64]
    pairs_map: npt.NDArray[np.float64]


def score_anchors(
    X: Any,
    layout: Layout,
    anchors: npt.NDArray[np.int64],
    *,
    metric: str,
    n_neighbors: int,
    n_nearest: int,
    n_triplets: int,
    seed: int,
    watcher: Watcher | None = None,
) -> AnchorScores:
    """Rank all rows from each anchor, a chunk of anchors at a time; `watcher` sees the distances of a sample too."""
    n = layout.n_samples
    all_pairs = len(anchors) == n and n * (n - 1) // 2 <= _ALL_PAIRS_BELOW
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    asked = anchors if len(anchors) == n else mixed(anchors, seed)
    rows = DistanceRows(X, metric, n_neighbors, asked)
    if watcher is not None:
        watcher.begin(anchors, rows)
    for some, distances in rows:
        if watcher is not None:
            watcher.add(some, distances)
        for first, last, places in layout.seen_from(some):
            here, from_here = some[first:last], distances[first:last]
            *scores, data_pairs, map_pairs = _core.score_map(
                from_here, places, here, n_neighbors, n_nearest, n_triplets, seed, current_run().n_threads
            )
            if all_pairs:
                data_pairs, map_pairs = pairs_among(from_here, places, here)
            parts.append((*scores, data_pairs, map_pairs))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if len(asked) < n:
        back = np.argsort(asked)
        columns = [column[back] for column in columns]
    return AnchorScores(*columns[:-2], *(pairs.ravel() for pairs in columns[-2:]))


def choose_anchors(n: int, n_anchors: int | None, seed: int, *, of_many: int | None = None) -> npt.NDArray[np.int64]:
    """Return ascending row numbers: all rows, or a random sample.

    None takes all up to 5000 rows, else `of_many`, 1000 by default.
    """
    if n_anchors is None:
        n_anchors = n if n <= _ALL_BELOW else of_many or _ANCHORS
    if n_anchors >= n:
        return np.arange(n, dtype=np.int64)
    return np.sort(np.argsort(_core.random_keys(seed, n), kind="stable")[:n_anchors]).astype(np.int64)


def rests_on(scores: Any, more: str) -> list[str]:
    """Say what scores rest on, in the last lines of a summary.

    Parameters
    ----------
    scores : Evaluation or Scorecard
        Has the numbers of rows, anchors, neighbours and rows left out, and the seed.
    more : str
        What else they rest on.
    """
    anchors = (
        "all rows" if scores.n_anchors == scores.n_samples else f"{scores.n_anchors:,} of {scores.n_samples:,} rows"
    )
    seed = f"random_state={scores.random_state}"
    lines = [f"{scores.n_neighbors} neighbours; ranks of {anchors}; {more}; {seed}"]
    if scores.n_left_out:
        lines.append(f"{scores.n_left_out} rows have no place in the map and are left out")
    return lines
