"""How the classes of labelled rows lie in a map: silhouette, nearest centroid, neighbours of the same class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import row_distances
from gnomon._threads import in_order
from gnomon.neighbors import row_distances as distances_from

__all__ = [
    "centroid_distances",
    "centroids",
    "distance_consistency",
    "hit_of_random_map",
    "neighborhood_hits",
    "silhouette",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BLOCK_PAIRS = 2**21


def _blocks(n_rows: int, n_columns: int) -> list[slice]:
    size = max(1, _BLOCK_PAIRS // n_columns)
    return [slice(begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size)]


def silhouette(Y: Floats, codes: Ints, rows: Ints) -> Floats:
    """Return the silhouettes of some rows among all.

    Parameters
    ----------
    Y : ndarray of shape (n, n_components), float64
    codes : ndarray of shape (n,), int64
        Class of each row, from 0 on, all classes present, at least two.
    rows : ndarray, int64
        The rows asked for.

    Returns
    -------
    ndarray of shape (len(rows),), float64, in [-1, 1]
        (b - a) / max(a, b), with a the mean distance to the other rows of the class and b the least mean distance to
        another class; 0 for a class of one row.

    References
    ----------
    .. [1] Rousseeuw, "Silhouettes", J. Computational and Applied Mathematics 20, 1987.
    """
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts, sorted_places = np.cumsum(counts) - counts, Y[order]

    def one_block(block: slice) -> Floats:
        mine = rows[block]
        sums = np.add.reduceat(row_distances(Y[mine], sorted_places), starts, axis=1)
        own, here = codes[mine], np.arange(len(mine))
        others = sums / counts
        others[here, own] = np.inf
        a, b = sums[here, own] / np.maximum(counts[own] - 1, 1), others.min(axis=1)
        larger = np.maximum(a, b)
        values: Floats = np.where((counts[own] > 1) & (larger > 0), (b - a) / np.where(larger > 0, larger, 1.0), 0.0)
        return values

    return np.concatenate(list(in_order(one_block, _blocks(len(rows), len(Y)))))


def centroids(values: Any, codes: Ints) -> Floats:
    """Return the mean row of each class; codes as for `silhouette`."""
    from scipy.sparse import csr_array

    counts = np.bincount(codes)
    n = len(codes)
    members = csr_array((np.ones(n), (codes, np.arange(n))), shape=(len(counts), n))
    sums = members @ (values.astype(np.float64) if hasattr(values, "tocsr") else np.asarray(values, dtype=np.float64))
    means: Floats = np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums) / counts[:, None]
    return means


def centroid_distances(values: Any, codes: Ints, metric: str, *, squared: bool = False) -> Floats:
    """Return how far the centroids of classes are from each other, by distances between rows alone.

    Parameters
    ----------
    values : ndarray or CSR matrix of shape (n, n_features)
    codes : ndarray of shape (n,), int64
        As for `silhouette`.
    metric : str
        As for `gnomon.neighbors.cross_distances`.
    squared : bool, default=False
        Take the squares of the distances.

    Returns
    -------
    ndarray of shape (n_classes, n_classes), float64, >= 0
        The mean distance between rows of two classes, less half of the sum of those within each, a row and itself
        counted too. Where distances are squares of Euclidean ones in some space, as those of "jaccard", "dice",
        "sokalsneath", "rogerstanimoto" and "hamming" are, it is the squared distance of the centroids in that space;
        squares of periodic distances are such where all rows lie within half a period.

    References
    ----------
    .. [1] Gower & Legendre, "Metric and Euclidean properties of dissimilarity coefficients", J. Classification 3, 1986.
    """
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    to_all = distances_from(values, metric=metric)
    sums = np.zeros((len(counts), len(counts)))
    for block in _blocks(len(codes), len(codes)):
        away = np.asarray(to_all(np.arange(len(codes))[block]), dtype=np.float64)[:, order]
        of_rows = np.add.reduceat(away * away if squared else away, starts, axis=1)
        np.add.at(sums, codes[block], of_rows)
    means = sums / counts / counts[:, None]
    means = 0.5 * (means + means.T)
    own = np.diag(means)
    return np.maximum(means - 0.5 * (own + own[:, None]), 0.0)


def distance_consistency(Y: Floats, codes: Ints) -> Floats:
    """Return 1 for a row that the centroid of its own class is nearest to, else 0; codes as for `silhouette`.

    References
    ----------
    .. [1] Sips et al., "Selecting good views of high-dimensional data using class consistency", EuroVis 2009.
    """
    centers = centroids(Y, codes)

    def one_block(block: slice) -> Floats:
        nearest: npt.NDArray[np.bool_] = row_distances(Y[block], centers).argmin(axis=1) == codes[block]
        return nearest.astype(np.float64)

    return np.concatenate(list(in_order(one_block, _blocks(len(Y), len(centers)))))


def neighborhood_hits(codes: Ints, rows: npt.NDArray[Any], nearest: npt.NDArray[Any]) -> Floats:
    """Return the share of a row's labelled neighbours that are of its class; NaN where there are none.

    -1 in `codes` is no label, and in `nearest` no neighbour.
    """
    near, own = np.where(nearest >= 0, codes[nearest], -1), codes[rows]
    known = (near >= 0).sum(axis=1)
    same = (near == own[:, None]).sum(axis=1)
    shares: Floats = np.where((own >= 0) & (known > 0), same / np.maximum(known, 1), np.nan)
    return shares


def hit_of_random_map(codes: Ints) -> float:
    """Return the share of neighbours of the same class that a map is expected to have that knows nothing of labels."""
    counts = np.bincount(codes[codes >= 0]).astype(np.float64)
    total = counts.sum()
    return float(np.sum(counts * (counts - 1.0)) / (total * (total - 1.0)))
