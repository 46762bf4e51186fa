"""Scores of a map from ranks and labels, and what a random map would get."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["label_hits", "nearest_in_map", "rank_penalty_scale", "shared_neighbors", "spearman", "trust_of_random_map"]


def rank_penalty_scale(n: int, k: int) -> float:
    """Return the factor that turns a point's sum of excess ranks into 1 - trustworthiness.

    It is 2 / (k (2 n - 3 k - 1)), so that the mean over the points is scikit-learn's trustworthiness; k < n / 2.
    """
    return 2.0 / (k * (2.0 * n - 3.0 * k - 1.0))


def trust_of_random_map(n: int, k: int) -> float:
    """Return the expected trustworthiness and continuity of a map that knows nothing of the data.

    The ranks of its neighbours are uniform on 1 ... n - 1, so a neighbour's expected excess rank is
    (n - 1 - k) (n - k) / (2 (n - 1)).
    """
    return 1.0 - rank_penalty_scale(n, k) * k * (n - 1 - k) * (n - k) / (2.0 * (n - 1))


def _average_ranks(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks: npt.NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[inverse.ravel()]
    return ranks


def spearman(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    """Return the rank correlation, ties with average ranks; 0 if one side is constant."""
    a, b = _average_ranks(x), _average_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b)) / scale if scale > 0 else 0.0


def nearest_in_map(Y: npt.NDArray[np.float64], count: int, n_threads: int) -> npt.NDArray[np.int32]:
    """Return the `count` nearest rows of every row in a map of few dimensions, itself not counted."""
    from scipy.spatial import cKDTree

    n = Y.shape[0]
    found: npt.NDArray[Any] = np.asarray(cKDTree(Y).query(Y, k=count + 1, workers=n_threads)[1])
    is_self = found == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # among many copies the row itself may be missing
    others: npt.NDArray[np.int32] = found[~is_self].reshape(n, count).astype(np.int32)
    return others


def label_hits(labels: npt.NDArray[Any], rows: npt.NDArray[Any], nearest: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return whether the majority of the neighbours has the row's label; ties go to the lowest label."""
    found, codes = np.unique(labels, return_inverse=True)
    codes = codes.ravel()
    hits = np.empty(len(rows), dtype=np.bool_)
    block = max(1, 2**24 // len(found))
    for begin in range(0, len(rows), block):
        part = slice(begin, begin + block)
        near = codes[nearest[part]]
        votes = np.zeros((len(near), len(found)), dtype=np.int32)
        here = np.arange(len(near))
        for column in near.T:
            votes[here, column] += 1
        hits[part] = votes.argmax(axis=1) == codes[rows[part]]
    return hits


def shared_neighbors(a: npt.NDArray[Any], b: npt.NDArray[Any], mask: npt.NDArray[np.bool_] | None) -> npt.NDArray[Any]:
    """Return how many entries of each row of `a` (where `mask` is True) are in the same row of `b`."""
    same = np.zeros(a.shape, dtype=np.bool_)
    for column in b.T:
        same |= a == column[:, None]
    if mask is not None:
        same &= mask
    counts: npt.NDArray[Any] = same.sum(axis=1)
    return counts
