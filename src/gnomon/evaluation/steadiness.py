"""Steadiness and cohesiveness: whether clusters found in the map hold together in the data, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import dense_product
from gnomon._threads import in_order

__all__ = [
    "N_WALKS",
    "Draws",
    "SharedNeighbors",
    "cluster_distortions",
    "distortions",
    "growth_range",
    "score_of",
    "walk",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

N_WALKS = 150
"""Clusters that are drawn for each of the two scores."""
_WALK_SHARE = 0.3  # steps of a walk over rows
_ALPHA = 0.1  # distance = 1 / (similarity + alpha)
_TRIES = 1000
_MIN_CLUSTER = 5  # of HDBSCAN
_STREAM = {"steadiness": 0x7374, "cohesiveness": 0x636F}


class Draws(Protocol):
    """Where the random numbers of a walk come from."""

    def integer(self, high: int) -> int:
        """Return a number in [0, high)."""
        ...

    def uniform(self, count: int) -> Floats:
        """Return numbers in [0, 1)."""
        ...


class _Seeded:
    """Draws of one walk."""

    def __init__(self, *seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def integer(self, high: int) -> int:
        return int(self._generator.integers(high))

    def uniform(self, count: int) -> Floats:
        return self._generator.random(count)


@dataclass(frozen=True)
class SharedNeighbors:
    """How many neighbours rows share, those nearer counting more.

    Attributes
    ----------
    indices : ndarray of shape (n, k), int
        Nearest rows, nearest first.
    similarity : ndarray of shape (n, n), float64
        Sum over shared neighbours of (k + 2 - p)(k + 2 - q), p and q their places 1 ... k in both lists; over the
        largest of all, 0 on the diagonal.
    """

    indices: npt.NDArray[Any]
    similarity: Floats

    @classmethod
    def of(cls, indices: npt.NDArray[Any]) -> SharedNeighbors:
        """Count for lists of nearest rows of shape (n, k)."""
        from scipy.sparse import csr_array

        n, k = indices.shape
        weights = np.tile(np.arange(k + 1.0, 1.0, -1.0), n)
        lists = csr_array((weights, indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
        similarity = dense_product(lists, lists.T)
        np.fill_diagonal(similarity, 0.0)
        largest = similarity.max()
        return cls(indices, similarity / largest if largest > 0 else similarity)

    def near(self, i: int) -> Floats:
        """Return the similarities of row i to its nearest rows."""
        values: Floats = self.similarity[i, self.indices[i]]
        return values


def walk(graph: SharedNeighbors, n_steps: int, draws: Draws) -> Ints:
    """Return a random cluster: from a random row on, each neighbour joins with its similarity as the probability.

    Empty if no row has a neighbour that it shares any with.
    """
    n = len(graph.indices)
    for _ in range(max(100, 10 * n)):
        start = draws.integer(n)
        if not np.any(graph.near(start) > 0):
            continue
        for _ in range(_TRIES):
            members = _spread(graph, start, n_steps, draws)
            if len(members) > 1:
                return members
    return np.empty(0, dtype=np.int64)


def _spread(graph: SharedNeighbors, start: int, n_steps: int, draws: Draws) -> Ints:
    members, queue, taken, at = {start}, [start], 0, 0
    while taken < n_steps and at < len(queue):
        i = queue[at]
        at += 1
        near = graph.indices[i]
        joined = near[draws.uniform(len(near)) > 1.0 - graph.near(i)].tolist()
        queue += joined
        members.update(joined)
        taken += len(joined)
    return np.array(list(members), dtype=np.int64)


def _clusters_among(members: Ints, similarity: Floats) -> Ints:
    """Return the cluster of each member by HDBSCAN, -1 for none."""
    distances = 1.0 / (similarity + _ALPHA)
    np.fill_diagonal(distances, 0.0)
    if len(distances) <= _MIN_CLUSTER:
        return np.full(len(distances), -1)
    # As scikit-learn, the kernel counts the row itself among those around it; the package hdbscan does not.
    labels: Ints = _core.density_clusters(distances, min(_MIN_CLUSTER + 1, len(distances)), _MIN_CLUSTER)
    return labels


def cluster_distortions(
    members: Ints, labels: Ints, apart: Floats, together: Floats, low: float, high: float
) -> Floats:
    """Return the weighted sum of distortions of one cluster and the sum of its weights.

    Parameters
    ----------
    members : ndarray of shape (m,), int64
        Rows of a cluster of one space.
    labels : ndarray of shape (m,), int64
        Into which clusters it falls in the other; -1 for a row by itself.
    apart, together : ndarray of shape (n, n), float64
        Similarities in the other space and in the one where the cluster was found.
    low, high : float
        Least and largest growth of a distance between two rows from the one space to the other, at least 0.

    Returns
    -------
    ndarray of shape (2,), float64
    """
    if not high > low:
        return np.zeros(2)
    alone = np.flatnonzero(labels < 0)
    parts = labels.copy()
    parts[alone] = labels.max(initial=-1) + 1 + np.arange(len(alone))
    sizes = np.bincount(parts).astype(np.float64)
    weights = sizes[:, None] * sizes[None, :]
    order = np.argsort(parts, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    rows = members[order]

    def distances(similarity: Floats) -> Floats:
        block = similarity[rows[:, None], rows[None, :]]
        sums = np.add.reduceat(np.add.reduceat(block, starts, axis=0), starts, axis=1)
        return 1.0 / (sums / weights + _ALPHA)

    growth = distances(apart) - distances(together)
    counted = np.tril(growth > 0, -1)
    weights = weights[counted]
    return np.array([np.sum((growth[counted] - low) / (high - low) * weights), np.sum(weights)])


def growth_range(apart: Floats, together: Floats) -> tuple[float, float]:
    """Return the least and the largest growth of the distance of two rows from one space to the other, at least 0."""
    growth = 1.0 / (apart + _ALPHA) - 1.0 / (together + _ALPHA)
    return max(float(growth.min()), 0.0), max(float(growth.max()), 0.0)


def distortions(
    name: str,
    in_data: SharedNeighbors,
    in_map: SharedNeighbors,
    seed: int,
    *,
    draws: Sequence[Draws] | None = None,
    clusters: Callable[[Ints, Floats], Ints] = _clusters_among,
) -> Floats:
    """Return what each of the random clusters adds to the sums of distortions and of weights.

    Parameters
    ----------
    name : {"steadiness", "cohesiveness"}
        Clusters of the map looked at in the data, or of the data looked at in the map.
    in_data, in_map : SharedNeighbors
    seed : int
    draws : sequence of Draws or None, default=None
        One for each cluster, in place of the seed.
    clusters : callable
        From row numbers and their similarities to clusters, -1 for none.

    Returns
    -------
    ndarray of shape (n_clusters, 2), float64

    References
    ----------
    .. [1] Jeon, Ko, Jo, Kim & Seo, "Measuring and explaining the inter-cluster reliability of multidimensional
       projections", IEEE TVCG 28, 2021; random clusters and HDBSCAN as there.
    """
    found_in, judged_in = (in_map, in_data) if name == "steadiness" else (in_data, in_map)
    low, high = growth_range(judged_in.similarity, found_in.similarity)
    n_steps = max(1, int(_WALK_SHARE * len(found_in.indices)))
    sources = draws or [_Seeded(seed, _STREAM[name], number) for number in range(N_WALKS)]

    def one(source: Draws) -> Floats:
        members = walk(found_in, n_steps, source)
        if len(members) == 0:
            return np.zeros(2)
        labels = clusters(members, judged_in.similarity[members[:, None], members[None, :]])
        return cluster_distortions(members, labels, judged_in.similarity, found_in.similarity, low, high)

    return np.array(list(in_order(one, sources)))


def score_of(sums: Floats) -> Floats:
    """Return 1 - distortions / weights from sums of both in the last axis; 1 where nothing is torn apart."""
    weights = sums[..., 1]
    score: Floats = 1.0 - np.where(weights > 0, sums[..., 0] / np.where(weights > 0, weights, 1.0), 0.0)
    return score
