"""Rows whose ranks against all rows are found: their distances in bounded memory, and what the ranks say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon.evaluation.layout import Layout
from gnomon.neighbors import row_distances

__all__ = ["AnchorScores", "DistanceRows", "choose_anchors", "pairs_among", "rests_on", "score_anchors"]

Rows = Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]]

_BLOCK = 4096  # columns of a block of products: fixed, so that results do not depend on the number of threads
_PROBES = 16
# float32 products leave an error of about 1e-6 of the mean squared norm; neighbours must stand well above it.
_SAFE_SHARE = 1e-3
_ALL_BELOW = 5000  # rows up to which every row is an anchor by default
_ANCHORS = 2000
_ALL_PAIRS_BELOW = 1_000_000  # pairs up to which the Shepard score takes all of them
_CHUNK_BYTES = 2**27  # of float64 distances


def _dense(X: Any, rows: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    values = X[rows]
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values).astype(dtype)


def _column_means(X: Any) -> npt.NDArray[np.float64]:
    means: npt.NDArray[np.float64] = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return means


def _some(anchors: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return anchors[:: max(1, len(anchors) // _PROBES)][:_PROBES]


class _Products:
    """Squared Euclidean distances or cosine distances through blocks of matrix products."""

    def __init__(self, X: Any, metric: str, dtype: npt.DTypeLike, anchors: npt.NDArray[np.int64]) -> None:
        self.X, self.metric = X, metric
        self.dtype = np.dtype(dtype)
        self.scale = 1.0
        # Centring keeps the norms, and so the rounding of the products, small.
        self.means = _column_means(X) if metric == "euclidean" else None
        if self.means is not None:
            self.scale = self._unit(anchors)

    def _unit(self, anchors: npt.NDArray[np.int64]) -> float:
        """Return the power of two that brings a few anchors near length one: squares must not over- or underflow."""
        assert self.means is not None
        lengths = np.abs(_dense(self.X, _some(anchors), np.float64) - self.means).max(axis=1)
        return float(2.0 ** -np.round(np.log2(lengths.max()))) if lengths.max() > 0 else 1.0

    def prepare(self, rows: Any) -> npt.NDArray[Any]:
        """Return rows of the data, centred or of length one."""
        if self.means is not None:
            wide = np.float64 if self.X.dtype == np.float64 else self.dtype.type
            centered = _dense(self.X, rows, wide)
            centered -= self.means.astype(wide)
            centered *= centered.dtype.type(self.scale)
            return centered.astype(self.dtype, copy=False)
        values = _dense(self.X, rows, self.dtype)
        norms = np.sqrt(np.einsum("ij,ij->i", values, values))
        values /= np.where(norms > 0, norms, 1)[:, None]
        return values

    def __call__(self, anchors: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        n = int(self.X.shape[0])
        out = np.empty((len(anchors), n), dtype=self.dtype)
        left = self.prepare(anchors)
        left_square = np.einsum("ij,ij->i", left, left)[:, None]

        def fill(begin: int) -> None:
            block = slice(begin, min(begin + _BLOCK, n))
            right = self.prepare(block)
            products = left @ right.T
            if self.metric == "cosine":
                np.subtract(1, products, out=out[:, block])
                return
            products *= -2
            products += np.einsum("ij,ij->i", right, right)
            np.add(products, left_square, out=out[:, block])

        with single_threaded_blas(), ThreadPool() as pool:
            list(pool.map(fill, range(0, n, _BLOCK)))
        return out


def _float32_is_enough(X: Any, n_neighbors: int, anchors: npt.NDArray[np.int64]) -> bool:
    """Whether the nearest neighbours of a few anchors stand above the rounding of float32 products."""
    probe, some = _Products(X, "euclidean", np.float64, anchors), _some(anchors)
    nearest = np.partition(probe(some), n_neighbors, axis=1)[:, n_neighbors]
    centered = probe.prepare(some)
    scale = np.mean(np.einsum("ij,ij->i", centered, centered))
    return bool(np.min(nearest) > _SAFE_SHARE * scale)


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
        return lambda rows: np.ascontiguousarray(_dense(X, rows, np.float64))
    if metric in ("euclidean", "cosine"):
        single = len(anchors) < X.shape[0]
        if single and metric == "euclidean":
            single = _float32_is_enough(X, n_neighbors, anchors)
        return _Products(X, metric, np.float32 if single else np.float64, anchors)
    from_rows = row_distances(X, metric=metric)
    return lambda rows: np.ascontiguousarray(from_rows(rows))


class DistanceRows:
    """Rows of distances from anchors to all rows of the data, a chunk of anchors at a time.

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
    """

    def __init__(self, X: Any, metric: str, n_neighbors: int, anchors: npt.NDArray[np.int64]) -> None:
        self._rows = _distance_rows(X, metric, n_neighbors, anchors)
        self._anchors, self._n = anchors, int(X.shape[0])
        self.squared = metric == "euclidean"
        self.unit = 1.0 / self._rows.scale if isinstance(self._rows, _Products) else 1.0

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]]:
        chunk = int(np.clip(_CHUNK_BYTES // (8 * self._n), 16, 512))
        for begin in range(0, len(self._anchors), chunk):
            some = self._anchors[begin : begin + chunk]
            yield some, self._rows(some)


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
) -> AnchorScores:
    """Rank all rows from each anchor, a chunk of anchors at a time."""
    n = layout.n_samples
    all_pairs = len(anchors) == n and n * (n - 1) // 2 <= _ALL_PAIRS_BELOW
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    for some, distances in DistanceRows(X, metric, n_neighbors, anchors):
        for first, last, places in layout.seen_from(some):
            here, from_here = some[first:last], distances[first:last]
            *scores, data_pairs, map_pairs = _core.score_map(
                from_here, places, here, n_neighbors, n_nearest, n_triplets, seed, current_run().n_threads
            )
            if all_pairs:
                data_pairs, map_pairs = pairs_among(from_here, places, here)
            parts.append((*scores, data_pairs.ravel(), map_pairs.ravel()))
    return AnchorScores(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def choose_anchors(n: int, n_anchors: int | None, seed: int) -> npt.NDArray[np.int64]:
    """Return ascending row numbers: all rows, or a random sample; None takes all up to 5000 rows, else 2000."""
    if n_anchors is None:
        n_anchors = n if n <= _ALL_BELOW else _ANCHORS
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
    anchors = "all rows" if scores.n_anchors == scores.n_samples else f"{scores.n_anchors} of {scores.n_samples} rows"
    seed = f"random_state={scores.random_state}"
    lines = [f"{scores.n_neighbors} neighbours; ranks of {anchors}; {more}; {seed}"]
    if scores.n_left_out:
        lines.append(f"{scores.n_left_out} rows have no place in the map and are left out")
    return lines
