"""The Laplacian of a neighbour graph with edges of equal weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon.affinities.uniform import uniform_affinities

if TYPE_CHECKING:
    from gnomon.neighbors import NeighborGraph

__all__ = ["neighbor_laplacian"]


def neighbor_laplacian(graph: NeighborGraph) -> sp.csr_array:
    """Return the combinatorial Laplacian of a neighbour graph over its mean degree.

    Rows are joined by an edge of weight one if either is a neighbour of the other, so equal rows, at distance zero, do
    no harm.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Its distances are not used.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float64
        Symmetric, rows sum to zero, no eigenvalue is negative, and the diagonal has mean one.
    """
    edges = uniform_affinities(graph, normalization="membership").matrix.astype(np.float64)
    degrees: npt.NDArray[np.float64] = np.asarray(edges.sum(axis=1), dtype=np.float64).ravel()
    mean = float(degrees.mean())
    return sp.csr_array((sp.diags_array(degrees) - edges) / (mean if mean > 0.0 else 1.0))
