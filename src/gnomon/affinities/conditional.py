"""Conditional affinities of rows: the weights of each row's neighbours, before both directions are joined."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["gaussian_weights", "membership_weights", "usable_distances"]

Float32Array = npt.NDArray[np.float32]


def usable_distances(graph: NeighborGraph) -> Float32Array:
    """Return the distances of a graph as the kernels take them: float32, contiguous, inf where the mask is False.

    Parameters
    ----------
    graph : NeighborGraph
        Its row numbers are checked, because a wrong one would be an address outside the memory.

    Returns
    -------
    ndarray of shape (n_samples, n_neighbors), float32

    Raises
    ------
    ValueError
        If shapes differ or a row number lies outside [0, n_samples).
    """
    if graph.indices.ndim != 2 or graph.indices.shape != graph.distances.shape:
        found = f"indices of shape {graph.indices.shape} with distances of shape {graph.distances.shape}"
        raise ValueError(message(found, "two matrices of the same shape (n_samples, n_neighbors)"))
    n_samples = graph.n_samples
    if graph.indices.size and not (int(graph.indices.min()) >= 0 and int(graph.indices.max()) < n_samples):
        found = f"row numbers from {graph.indices.min()} to {graph.indices.max()}"
        raise ValueError(message(found, f"in [0, {n_samples})", remedy="Mark missing neighbours in the mask."))
    distances = np.ascontiguousarray(graph.distances, dtype=np.float32)
    if graph.mask is not None:
        distances = np.where(graph.mask, distances, np.float32(np.inf))
    return distances


def gaussian_weights(distances: Float32Array, *, perplexity: float) -> tuple[Float32Array, Float32Array]:
    """Weigh the neighbours of each row by a Gaussian of a given perplexity.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_neighbors), float32
        Entries that are not finite are left out and get weight 0.
    perplexity : float >= 1
        exp(entropy in nats) of each row of weights. A row with fewer neighbours gets equal weights, as does one whose
        distances are all equal. Where more than `perplexity` neighbours tie at the smallest distance the entropy
        cannot be reached and those share the weight.

    Returns
    -------
    weights : ndarray of shape (n_rows, n_neighbors), float32
        p_{j|i}: rows sum to 1 (to 0 without any neighbour).
    bandwidths : ndarray of shape (n_rows,), float32
        sigma in exp(-d^2 / (2 sigma^2)), in the units of the distances; inf where equal weights are the limit.
    """
    weights, bandwidths = _core.gaussian_weights(distances, math.log2(perplexity), current_run().n_threads)
    return weights, bandwidths


def membership_weights(
    distances: Float32Array, *, local_connectivity: float = 1.0, usual_distance: float | None = None
) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Weigh the neighbours of each row by fuzzy membership, as UMAP does.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_neighbors), float32
        Ascending in each row, the row itself not counted. Entries that are not finite are left out and get weight 0.
    local_connectivity : float >= 0, default=1.0
        Number of neighbours with membership 1; between whole numbers the distance is interpolated.
    usual_distance : float >= 0 or None, default=None
        What bounds sigma from below where rho is 0; None takes the mean of all distances, so that rows depend on each
        other.

    Returns
    -------
    weights : ndarray of shape (n_rows, n_neighbors), float32
        exp(-max(0, d - rho) / sigma). The weights of a row of m neighbours sum to log2(m + 1), unless so many
        neighbours lie within rho that the sum cannot be as small; sigma is then 1/1000 of the mean distance.
    nearest : ndarray of shape (n_rows,), float32
        rho, the distance within which the membership is 1; 0 where all distances are.
    bandwidths : ndarray of shape (n_rows,), float32
        sigma, at least 1/1000 of the row's mean distance (of the usual distance where rho is 0).
    """
    weights, nearest, bandwidths = _core.membership_weights(
        distances, local_connectivity, -1.0 if usual_distance is None else usual_distance, current_run().n_threads
    )
    return weights, nearest, bandwidths
