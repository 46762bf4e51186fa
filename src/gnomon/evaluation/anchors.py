"""Rows whose ranks against all rows are found, and what these ranks say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon.evaluation.distances import distance_rows

__all__ = ["AnchorScores", "choose_anchors", "score_anchors"]

_ALL_BELOW = 5000  # rows up to which every row is an anchor by default
_ANCHORS = 2000
_ALL_PAIRS_BELOW = 1_000_000  # pairs up to which the Shepard score takes all of them
_CHUNK_BYTES = 2**27  # of float64 distances


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
    Y: npt.NDArray[np.float64],
    anchors: npt.NDArray[np.int64],
    *,
    metric: str,
    n_neighbors: int,
    n_nearest: int,
    n_triplets: int,
    seed: int,
    n_threads: int,
) -> AnchorScores:
    """Rank all rows from each anchor, a chunk of anchors at a time."""
    n = Y.shape[0]
    rows = distance_rows(X, metric, n_neighbors, anchors, n_threads)
    all_pairs = len(anchors) == n and n * (n - 1) // 2 <= _ALL_PAIRS_BELOW
    chunk = int(np.clip(_CHUNK_BYTES // (8 * n), 16, 512))
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    for begin in range(0, len(anchors), chunk):
        some = anchors[begin : begin + chunk]
        distances = rows(some)
        *scores, data_pairs, map_pairs = _core.score_map(
            distances, Y, some, n_neighbors, n_nearest, n_triplets, seed, n_threads
        )
        if all_pairs:
            later = np.arange(n) > some[:, None]
            data_pairs = distances[later].astype(np.float64)
            map_pairs = np.sum((Y[some][:, None, :] - Y[None, :, :]) ** 2, axis=2)[later]
        parts.append((*scores, data_pairs.ravel(), map_pairs.ravel()))
    return AnchorScores(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def choose_anchors(n: int, n_anchors: int | None, seed: int) -> npt.NDArray[np.int64]:
    """Return ascending row numbers: all rows, or a random sample; None takes all up to 5000 rows, else 2000."""
    if n_anchors is None:
        n_anchors = n if n <= _ALL_BELOW else _ANCHORS
    if n_anchors >= n:
        return np.arange(n, dtype=np.int64)
    return np.sort(np.argsort(_core.random_keys(seed, n), kind="stable")[:n_anchors]).astype(np.int64)
