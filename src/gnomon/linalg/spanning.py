"""The shortest tree that spans points of which all distances are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

__all__ = ["spanning_tree"]


def spanning_tree(distances: npt.NDArray[np.float64]) -> scipy.sparse.csr_array:
    """Return the shortest tree that spans all points.

    Distances count whatever their unit: SciPy takes those of a dense matrix that are below 1e-8 for no edge.

    Parameters
    ----------
    distances : ndarray of shape (n, n), float64
        Symmetric; the diagonal does not count.

    Returns
    -------
    csr_array of shape (n, n), float64
        n - 1 edges, each stored once with its length; one of length 0 as the smallest normal number.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree  # loaded with LAPACK, when first asked for

    csr_array = scipy.sparse.csr_array
    n = len(distances)
    first, second = np.triu_indices(n, 1)
    lengths = np.maximum(distances[first, second], np.finfo(np.float64).tiny)
    indices, ends = second.astype(np.int32), np.concatenate([[0], np.cumsum(np.arange(n - 1, -1, -1))])
    return csr_array(minimum_spanning_tree(csr_array((lengths, indices, ends.astype(np.int32)), shape=(n, n))))
