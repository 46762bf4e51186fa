"""Scores from ranks and labels, over neighbourhoods of one size or of every size, and what a random map would get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run

__all__ = [
    "TREE_COMPONENTS",
    "RankAgreement",
    "entries_among",
    "label_hits",
    "label_residuals",
    "nearest_in_map",
    "neighbor_ranks",
    "rank_agreement",
    "rank_penalty_scale",
    "shared_neighbors",
    "spearman",
    "trust_of_random_map",
]

TREE_COMPONENTS = 8
"""A k-d tree is of use for maps of up to about this many components."""
_FEW = 3  # dimensions up to which places along a curve lie in small boxes
_BLOCK = 4096  # rows that stay in the cache while their entries are compared
_ROWS = 1 << 18  # whose neighbours are looked for in one go


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
    order = np.argsort(x)
    ordered = x[order]
    new = ordered[1:] != ordered[:-1]
    ranks = np.empty(len(x))
    ranks[order] = np.arange(1.0, len(x) + 1.0)
    if not new.all():
        ends = np.append(np.flatnonzero(new) + 1, len(x))
        counts = np.diff(ends, prepend=0)
        ranks[order] = np.repeat(ends - (counts - 1) / 2, counts)
    return ranks


def spearman(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    """Return the rank correlation, ties with average ranks; 0 if one side is constant."""
    a, b = _average_ranks(x), _average_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b)) / scale if scale > 0 else 0.0


def nearest_in_map(Y: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int32]:
    """Return the `count` nearest rows of every row in a map, itself not counted; of equally near ones the first."""
    if Y.shape[1] <= _FEW:
        return _core.nearest_places(np.ascontiguousarray(Y, dtype=np.float64), count, current_run().n_threads)
    return _nearest_by_tree(Y, count)


def _nearest_by_tree(Y: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int32]:
    """Return what `nearest_in_map` does in more dimensions; which of equally near rows come is not said."""
    from scipy.spatial import cKDTree

    n, tree = Y.shape[0], cKDTree(Y)
    others = np.empty((n, count), np.int32)
    for begin in range(0, n, _ROWS):
        rows = tree.indices[begin : begin + _ROWS]  # leaf by leaf: what one row looks at is in the cache for the next
        found: npt.NDArray[Any] = np.asarray(tree.query(Y[rows], k=count + 1, workers=current_run().n_threads)[1])
        is_self = found == rows[:, None]
        is_self[~is_self.any(axis=1), -1] = True  # among many copies the row itself may be missing
        others[rows] = found[~is_self].reshape(len(rows), count)
    return others


def label_hits(
    codes: npt.NDArray[np.int64], n_classes: int, rows: npt.NDArray[Any], nearest: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return 1 where the majority of the neighbours is of the row's class, else 0; ties go to the lowest class.

    Neighbours without a class (-1), and places without a neighbour (-1), have no vote; NaN for a row without a class,
    and where no neighbour has one.
    """
    hits = np.empty(len(rows))
    block = max(1, 2**24 // n_classes)
    for begin in range(0, len(rows), block):
        part = slice(begin, begin + block)
        near, own = np.where(nearest[part] >= 0, codes[nearest[part]], -1), codes[rows[part]]
        votes = np.zeros((len(near), n_classes + 1), dtype=np.int32)
        here = np.arange(len(near))
        for column in near.T:
            votes[here, column] += 1
        voted = (own >= 0) & (near >= 0).any(axis=1)
        hits[part] = np.where(voted, votes[:, :n_classes].argmax(axis=1) == own, np.nan)
    return hits


def label_residuals(
    values: npt.NDArray[np.float64], rows: npt.NDArray[Any], nearest: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return by how much the mean of the neighbours misses the row's value.

    Neighbours without a value (NaN), and places without a neighbour (-1), do not count; NaN for a row without a value,
    and where no neighbour has one.
    """
    near = values[nearest]
    known = np.isfinite(near) & (nearest >= 0)
    counts = known.sum(axis=1)
    means = np.where(known, near, 0.0).sum(axis=1) / np.maximum(counts, 1)
    residuals: npt.NDArray[np.float64] = np.where(counts > 0, means - values[rows], np.nan)
    return residuals


def entries_among(rows: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which entries of each row of one table are in the same row of another."""
    found = np.empty(rows.shape, dtype=np.bool_)
    for begin in range(0, len(rows), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        entries, columns = (np.ascontiguousarray(table[part].T) for table in (rows, others))
        among = np.zeros(entries.shape, dtype=np.bool_)
        for column in columns:
            among |= entries == column
        found[part] = among.T
    return found


def shared_neighbors(a: npt.NDArray[Any], b: npt.NDArray[Any], mask: npt.NDArray[np.bool_] | None) -> npt.NDArray[Any]:
    """Return how many entries of each row of `a` (where `mask` is True) are in the same row of `b`."""
    same = entries_among(a, b)
    if mask is not None:
        same &= mask
    counts: npt.NDArray[Any] = same.sum(axis=1)
    return counts


@dataclass(frozen=True)
class RankAgreement:
    """Scores from the ranks of all rows from each row; 1 is best.

    Attributes
    ----------
    auc_rnx : float
        Mean over k = 1 ... n - 2, with weights 1 / k, of the share of common neighbours beyond chance; about 0 for a
        random map.
    trustworthiness : float
        Whether near in the second means near in the first, for neighbourhoods of the size asked for.
    neighborhood_preservation : float in [0, 1]
        Share of common neighbours there.
    """

    auc_rnx: float
    trustworthiness: float
    neighborhood_preservation: float


def neighbor_ranks(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    """Return the rank of each row from each: 0 for itself, 1 for the nearest; equal distances by row number.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Any increasing function of the distances.
    """
    n = len(distances)
    away = np.array(distances, dtype=np.float64)
    np.fill_diagonal(away, -np.inf)
    order = np.argsort(away, axis=1, kind="stable")
    ranks = np.empty((n, n), dtype=np.int32)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(n, dtype=np.int32), (n, n)), axis=1)
    return ranks


def rank_agreement(data: npt.NDArray[np.int32], embedded: npt.NDArray[np.int32], n_neighbors: int) -> RankAgreement:
    """Compare the ranks in the data with those in a map of the same n >= 4 rows.

    Parameters
    ----------
    data, embedded : ndarray of shape (n, n)
        Made by `neighbor_ranks`.
    n_neighbors : int in [1, (n - 1) / 2]
        For the scores of one size.

    References
    ----------
    .. [1] Lee, Peluffo-Ordonez & Verleysen, "Multi-scale similarities in stochastic neighbour embedding",
       Neurocomputing 169, 2015 (area under R_NX).
    """
    n = len(data)
    sizes = np.arange(1, n - 1)
    both = np.bincount(np.maximum(data, embedded).ravel(), minlength=n)[1:]  # without the rows themselves
    common = np.cumsum(both)[: n - 2] / (sizes * n)
    beyond_chance = ((n - 1) * common - sizes) / (n - 1 - sizes)
    intruders = (embedded <= n_neighbors) & (data > n_neighbors)
    penalty = float((data[intruders] - n_neighbors).sum()) / n
    return RankAgreement(
        auc_rnx=float(np.sum(beyond_chance / sizes) / np.sum(1.0 / sizes)),
        trustworthiness=1.0 - rank_penalty_scale(n, n_neighbors) * penalty,
        neighborhood_preservation=float(common[n_neighbors - 1]),
    )
