"""Nested levels: which clusters lie nearest to each other, and at which levels of zoom the data are worth a look."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log, product

__all__ = ["MOST_CLUSTERS", "default_level", "nested_levels", "shaken_means"]

Floats = npt.NDArray[np.float64]

MOST_CLUSTERS = 20
"""Clusters of the default level at most: more colours cannot be told apart."""
_COARSER = 3  # levels beside the finest, at most
_STEP = 2.0 / 3.0  # of the clusters of a level, the next coarser one has at most
_WORTH = 0.1  # logarithm of the range of distances over which a level lasts, at least
_DRAWS = 20  # of the means, as other rows of the same groups might give them
_SAME = 0.9  # of these draws, at least, in which a coarser level has the same clusters


def nested_levels(
    means: Floats, spread: float, shaken: Iterable[Floats] = ()
) -> list[tuple[npt.NDArray[np.int64], float]]:
    """Return levels as (cluster of each of the finest clusters, persistence), the coarsest first.

    The clusters join by average linkage of the distances of their means. A level lasts from the distance at which its
    last two clusters joined to that at which the next two do. Beside the finest, at most three levels stay: those that
    last longest, a tenth on the logarithmic scale at least, where each has at most two thirds of the clusters of the
    next finer one. None of them hangs on near ties: where groups lie evenly, as on a grid, which of them join is up to
    the last digits of their means, and a level made of such joins would be another for other rows.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_features), at least 2 clusters
    spread : float
        Distance at which the finest level begins: that of a row from the mean of its cluster.
    shaken : iterable of ndarray of shape (n_clusters, n_features), default=()
        Draws of the means from `shaken_means`. A coarser level is the same in nine tenths of them at least.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(means, "average")
    others = [linkage(drawn, "average") for drawn in shaken]
    heights = tree[:, 2]
    finest = np.arange(len(means), dtype=np.int64)
    begins = np.concatenate([[min(spread, heights[0])], heights])
    lasts = log(np.maximum(heights, np.finfo(np.float64).tiny) / np.maximum(begins[:-1], np.finfo(np.float64).tiny))

    def clusters_of(one: Floats, joins: int) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = fcluster(one, len(means) - joins, "maxclust").astype(np.int64) - 1
        return found

    def is_steady(joins: int) -> bool:
        own = clusters_of(tree, joins)
        same = sum(_are_same(own, clusters_of(other, joins)) for other in others)
        return same >= _SAME * len(others)

    kept = sorted(_lasting(lasts, is_steady), reverse=True)
    return [*((clusters_of(tree, k), float(lasts[k])) for k in kept), (finest, float(lasts[0]))]


def shaken_means(groups: Iterable[Floats]) -> Floats:
    """Return 20 draws of the means of some groups, as unsure as they are from so many rows.

    The offset of each row from the mean of its group is added or taken away by chance [1]_, always the same. So the
    draws vary about the means as means of other rows would, along each direction as much as the rows do.

    Parameters
    ----------
    groups : iterable of ndarray of shape (n_rows, n_features)

    Returns
    -------
    ndarray of shape (20, n_groups, n_features)

    References
    ----------
    .. [1] Mammen, "Bootstrap and wild bootstrap for high dimensional linear models", Annals of Statistics 21, 1993.
    """
    draw = np.random.default_rng(0)
    drawn = []
    for rows in groups:
        mean = rows.mean(axis=0)
        signs = 2.0 * draw.integers(0, 2, size=(_DRAWS, len(rows))) - 1.0
        drawn.append(mean + product(signs, rows - mean) / len(rows))
    return np.stack(drawn, axis=1)


def _are_same(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> bool:
    """Return whether two labellings part what they label alike, whatever the numbers of the parts."""
    pairs = len(set(zip(first.tolist(), second.tolist(), strict=True)))
    return pairs == len(np.unique(first)) == len(np.unique(second))


def _lasting(lasts: Floats, is_steady: Callable[[int], bool]) -> list[int]:
    """Return after how many joins there is a level to keep, the longest lasting first."""
    total = len(lasts) + 1
    kept = [0]
    for joins in np.argsort(-lasts, kind="stable").tolist():
        if lasts[joins] < _WORTH or len(kept) > _COARSER:
            break
        sizes = [(total - joins, total - other) for other in kept]
        if all(min(pair) <= _STEP * max(pair) for pair in sizes) and is_steady(joins):
            kept.append(joins)
    return kept[1:]


def default_level(sizes: list[int]) -> int:
    """Return the finest level of at most `MOST_CLUSTERS` clusters, the coarsest if there is none."""
    small = [number for number, size in enumerate(sizes) if size <= MOST_CLUSTERS]
    return small[-1] if small else 0
