"""Nested levels: which clusters lie nearest to each other, and at which levels of zoom the data are worth a look."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log

__all__ = ["MOST_CLUSTERS", "default_level", "nested_levels"]

MOST_CLUSTERS = 20
"""Clusters of the default level at most: more colours cannot be told apart."""
_COARSER = 3  # levels beside the finest, at most
_STEP = 2.0 / 3.0  # of the clusters of a level, the next coarser one has at most
_WORTH = 0.1  # logarithm of the range of distances over which a level lasts, at least


def nested_levels(means: npt.NDArray[np.float64], spread: float) -> list[tuple[npt.NDArray[np.int64], float]]:
    """Return levels as (cluster of each of the finest clusters, persistence), the coarsest first.

    The clusters join by average linkage of the distances of their means. A level lasts from the distance at which its
    last two clusters joined to that at which the next two do. Beside the finest, at most three levels stay: those that
    last longest, a tenth on the logarithmic scale at least, where each has at most two thirds of the clusters of the
    next finer one.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_features), at least 2 clusters
    spread : float
        Distance at which the finest level begins: that of a row from the mean of its cluster.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(means, "average")
    heights = tree[:, 2]
    finest = np.arange(len(means), dtype=np.int64)
    begins = np.concatenate([[min(spread, heights[0])], heights])
    lasts = log(np.maximum(heights, np.finfo(np.float64).tiny) / np.maximum(begins[:-1], np.finfo(np.float64).tiny))
    kept = sorted(_lasting(lasts), reverse=True)
    coarser = [(fcluster(tree, len(means) - k, "maxclust").astype(np.int64) - 1, float(lasts[k])) for k in kept]
    return [*coarser, (finest, float(lasts[0]))]


def _lasting(lasts: npt.NDArray[np.float64]) -> list[int]:
    """Return after how many joins there is a level to keep, the longest lasting first."""
    total = len(lasts) + 1
    kept = [0]
    for joins in np.argsort(-lasts, kind="stable").tolist():
        if lasts[joins] < _WORTH or len(kept) > _COARSER:
            break
        sizes = [(total - joins, total - other) for other in kept]
        if all(min(pair) <= _STEP * max(pair) for pair in sizes):
            kept.append(joins)
    return kept[1:]


def default_level(sizes: list[int]) -> int:
    """Return the finest level of at most `MOST_CLUSTERS` clusters, the coarsest if there is none."""
    small = [number for number, size in enumerate(sizes) if size <= MOST_CLUSTERS]
    return small[-1] if small else 0
