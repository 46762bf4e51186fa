"""Distances of all rows: straight, and along the data by the shortest paths from row to near row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from gnomon._arithmetic import product
from gnomon.evaluation.sparse_distances import SparseProducts
from gnomon.linalg import first_columns, spanning_tree

__all__ = ["N_NEIGHBORS", "path_lengths", "straight_distances"]

Floats = npt.NDArray[np.float64]

N_NEIGHBORS = 10
"""Neighbours of a row to which a path goes on."""


def straight_distances(X: Any) -> Floats:
    """Return the Euclidean distances of all rows, of shape (n, n), symmetric and 0 on the diagonal.

    Rows of a sparse table are not written out.
    """
    if not isinstance(X, np.ndarray):
        distances: Floats = SparseProducts(X, "euclidean", np.float64)(np.arange(X.shape[0]))
        np.sqrt(np.maximum(distances, 0.0, out=distances), out=distances)
        np.fill_diagonal(distances, 0.0)
        return np.maximum(distances, distances.T)
    centered = X - X.mean(axis=0)
    squares = np.square(centered).sum(axis=1)
    distances = product(centered, centered.T)
    distances *= -2.0
    distances += squares[:, None]
    distances += squares
    np.sqrt(np.maximum(distances, 0.0, out=distances), out=distances)
    np.fill_diagonal(distances, 0.0)
    return np.maximum(distances, distances.T)


def path_lengths(X: Any, k: int = N_NEIGHBORS) -> Floats:
    """Return the lengths of the shortest paths between all rows, by steps to one of the nearest `k` or along a tree.

    The minimum spanning tree joins what the neighbours leave apart, so that a path between two islands is as long as
    the gap and the ways through them.

    Parameters
    ----------
    X : ndarray of float64 or sparse matrix, of shape (n, n_features)
    k : int >= 1, default=10
        At most n - 1 are taken.

    Returns
    -------
    ndarray of shape (n, n), float64
        Never below the straight distance but for rounding.

    References
    ----------
    .. [1] Tenenbaum, de Silva & Langford, "A global geometric framework for nonlinear dimensionality reduction",
       Science 290, 2000.
    """
    from scipy.sparse.csgraph import dijkstra  # loaded with LAPACK, when first asked for

    distances = straight_distances(X)
    n = len(distances)
    apart = distances[distances > 0.0]
    least = 1e-9 * (float(apart.min()) if len(apart) else 1.0)
    distances = np.where(np.eye(n) > 0, 0.0, np.maximum(distances, least))  # SciPy takes 0 for no edge
    k = min(k, n - 1)
    near = first_columns(distances, k + 1)
    rows = np.repeat(np.arange(n), k + 1)
    graph = csr_array((distances[rows, near.ravel()], (rows, near.ravel())), shape=(n, n))
    found: Floats = dijkstra(graph.maximum(spanning_tree(distances)), directed=False)
    return np.minimum(found, found.T)
