"""How good a map is, by measures that belong to no contender: NumPy and scikit-learn only.

Rank-based measures are quadratic, so they are taken within one fixed random sample of rows, the same for every map.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Neighborhoods",
    "compare_neighborhoods",
    "disparity",
    "fixed_sample",
    "label_accuracy",
    "label_hits",
    "map_quality",
]

Floats = npt.NDArray[np.floating]
_CHUNK = 256  # rows of the distance matrix held at once: 10 MB for 10,000 columns, about the size of a cache


@dataclass(frozen=True)
class Neighborhoods:
    """How the neighbourhoods of a table and of its map agree; each number is 1 for a perfect map.

    Attributes
    ----------
    trustworthiness : float
        Penalises map neighbours that are far apart in the table, by their rank there.
    continuity : float
        Penalises table neighbours that are far apart in the map, by their rank there.
    preservation : float
        Mean share of the k table neighbours that are among the k map neighbours.
    """

    trustworthiness: float
    continuity: float
    preservation: float


def fixed_sample(n_samples: int, size: int = 10_000) -> npt.NDArray[np.int64]:
    """Return the rows that every map of a table of this length is judged on, ascending; all if there are few."""
    if n_samples <= size:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, size=size, replace=False))


def _prepared(table: Floats) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    centred = table - table.mean(axis=0, dtype=np.float64)  # the product form of the distance needs small norms
    rows = np.ascontiguousarray(centred, dtype=np.float32)
    return rows, np.einsum("ij,ij->i", rows, rows)


def _squared_distances(
    rows: npt.NDArray[np.float32], norms: npt.NDArray[np.float32], start: int, stop: int
) -> npt.NDArray[np.float32]:
    """Squared distances of rows start..stop to all; inf to the row itself."""
    distances = rows[start:stop] @ rows.T
    distances *= -2.0
    distances += norms
    distances += norms[start:stop, None]
    distances[np.arange(stop - start), np.arange(start, stop)] = np.inf
    return distances


def _ranks(distances: npt.NDArray[np.float32], columns: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Rank (from 1) of each named column in its row: one more than the number of strictly nearer columns."""
    ranks = np.empty(columns.shape, np.int64)
    for j in range(columns.shape[1]):
        bound = np.take_along_axis(distances, columns[:, j : j + 1], axis=1)
        ranks[:, j] = 1 + np.count_nonzero(distances < bound, axis=1)
    return ranks


def compare_neighborhoods(X: Floats, Y: Floats, n_neighbors: int = 15) -> Neighborhoods:
    """Compare the neighbourhoods of all rows of a table and of its map.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    Y : ndarray of shape (n_samples, n_components)
        The map.
    n_neighbors : int < n_samples / 2, default=15
        Size of the neighbourhoods, the row itself not counted.

    Returns
    -------
    Neighborhoods
        Within the given rows; the time is quadratic in their number.

    References
    ----------
    .. [1] Venna & Kaski, "Local multidimensional scaling", Neural Networks 19, 2006, eq. 1-2.
    """
    n, k = len(X), n_neighbors
    if not 1 <= k < n / 2:
        raise ValueError(f"compare_neighborhoods: n_neighbors={k} must be at least 1 and below n_samples/2={n / 2}.")
    table, table_norms = _prepared(X)
    embedding, embedding_norms = _prepared(Y)
    intruded = extruded = kept = 0
    for start in range(0, n, _CHUNK):
        stop = min(n, start + _CHUNK)
        in_table = _squared_distances(table, table_norms, start, stop)
        in_map = _squared_distances(embedding, embedding_norms, start, stop)
        near_in_table = np.argpartition(in_table, k, axis=1)[:, :k]
        near_in_map = np.argpartition(in_map, k, axis=1)[:, :k]
        intruded += int(np.maximum(_ranks(in_table, near_in_map) - k, 0).sum())
        extruded += int(np.maximum(_ranks(in_map, near_in_table) - k, 0).sum())
        kept += int((near_in_table[:, :, None] == near_in_map[:, None, :]).sum())
    scale = 2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0))
    return Neighborhoods(1.0 - scale * intruded, 1.0 - scale * extruded, kept / (n * k))


def disparity(A: Floats, B: Floats) -> float:
    """Return the squared distance of two maps after the best shift, scale and rotation: 0 if alike, at most 1."""
    from scipy.spatial import procrustes

    return float(procrustes(A.astype(np.float64), B.astype(np.float64))[2])


def label_hits(
    Y: Floats, labels: npt.NDArray[Any], rows: npt.NDArray[np.int64], n_neighbors: int = 10
) -> npt.NDArray[np.bool_]:
    """Whether the label of each given row is the commonest of its neighbours in the whole map (itself left out)."""
    from sklearn.neighbors import NearestNeighbors

    # The row itself is found too and has to go; among identical points it may come in any place, or not at all.
    search = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(Y)
    found = search.kneighbors(Y[rows], return_distance=False)
    itself = found == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    neighbors = found[~itself].reshape(len(rows), n_neighbors)
    _, codes = np.unique(labels, return_inverse=True)
    votes = np.zeros((len(rows), codes.max() + 1), np.int64)
    for j in range(n_neighbors):
        votes[np.arange(len(rows)), codes[neighbors[:, j]]] += 1
    hits: npt.NDArray[np.bool_] = votes.argmax(axis=1) == codes[rows]
    return hits


def label_accuracy(Y: Floats, labels: npt.NDArray[Any], rows: npt.NDArray[np.int64], n_neighbors: int = 10) -> float:
    """Share of the given rows whose label is the commonest of their neighbours in the whole map (itself left out)."""
    return float(np.mean(label_hits(Y, labels, rows, n_neighbors)))


def map_quality(X: Floats, Y: Floats, labels: npt.NDArray[np.integer] | None = None) -> dict[str, float]:
    """Judge a map by all measures of this file, on the fixed sample of rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    Y : ndarray of shape (n_samples, n_components)
        The map.
    labels : ndarray of shape (n_samples,), default=None
        Classes of the rows, for `label_accuracy`.

    Returns
    -------
    dict
        The measures by name, without "label_accuracy" if there are no labels.
    """
    rows = fixed_sample(len(X))
    quality = asdict(compare_neighborhoods(X[rows], Y[rows], min(15, (len(rows) - 1) // 2)))
    if labels is not None:
        quality["label_accuracy"] = label_accuracy(Y, labels, rows)
    return quality
