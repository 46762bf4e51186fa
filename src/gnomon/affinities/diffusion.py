"""A diffusion among the rows of a table, how long it is to run, and the potential it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import dense_product, exp, log, power
from gnomon._threads import single_threaded_blas
from gnomon.affinities.base import Affinities
from gnomon.linalg import inner_products, product
from gnomon.neighbors import NeighborGraph

__all__ = [
    "WIDER",
    "Diffusion",
    "decaying_affinities",
    "decaying_weights",
    "diffusion_potential",
    "knee",
    "members",
]

Float64Array = npt.NDArray[np.float64]
WIDER = 4
"""So many times as many neighbours are searched for rows whose weights reach further."""

Search = Callable[[npt.NDArray[np.intp], int], tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]

_LEAST = 1e-4  # smaller weights count as 0, as in the authors' program
_FLOOR = 1e-7  # added to a probability before its logarithm, likewise


def decaying_weights(distances: npt.NDArray[np.floating], n_neighbors: int, decay: float) -> Float64Array:
    """Return exp(-(d / eps)^decay) of rows and their neighbours, 0 where that is below 1e-4.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_found)
        Ascending in each row; infinite where there is no neighbour.
    n_neighbors : int in [1, n_found]
        eps is the distance to this neighbour, or to the last one if there are fewer.
    decay : float > 0

    Returns
    -------
    ndarray of shape (n_rows, n_found), float64
    """
    nearest = distances[:, :n_neighbors].astype(np.float64)
    scales = np.where(np.isfinite(nearest), nearest, 0.0).max(axis=1, keepdims=True)
    with np.errstate(over="ignore", under="ignore"):
        weights = exp(-power(distances / np.maximum(scales, np.finfo(np.float64).tiny), decay))
    return np.where(weights < _LEAST, 0.0, weights)


def decaying_affinities(graph: NeighborGraph, n_neighbors: int, decay: float, search: Search) -> Affinities:
    """Weigh pairs of rows by a kernel whose width follows the density of the rows (Moon et al., eq. 2).

        K(x, y) = exp(-(d / eps(x))^decay) / 2 + exp(-(d / eps(y))^decay) / 2,  eps(x) the distance to a near neighbour

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances d in the units of the metric.
    n_neighbors : int in [1, graph.n_neighbors]
        eps is the distance to this neighbour.
    decay : float > 0
    search : callable
        (numbers of rows, k) -> indices and distances, both of shape (n_rows, k), of their k nearest other rows. Asked
        for rows whose weights reach beyond the neighbours in the graph.

    Returns
    -------
    Affinities
        ``matrix``: weights in (0, 1], normalization "weights"; the weight of a row to itself, 1, is not stored.
    """
    n_samples, k = graph.n_samples, graph.n_neighbors
    pending = np.arange(n_samples)
    indices, distances = graph.indices, graph.distances
    parts: list[tuple[Any, Any, Any]] = []
    while True:
        weights = decaying_weights(distances, n_neighbors, decay)
        done = (weights[:, -1] == 0.0) | (k == n_samples - 1)
        kept = (weights > 0.0) & done[:, None]
        rows = np.repeat(pending, kept.sum(axis=1))
        parts.append((rows, indices[kept], weights[kept]))
        pending = pending[~done]
        if not pending.size:
            break
        k = min(WIDER * k, n_samples - 1)
        indices, distances = search(pending, k)
    rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    directed = scipy.sparse.csr_array((0.5 * values, (rows, columns)), shape=(n_samples, n_samples))
    matrix = scipy.sparse.csr_array(directed + directed.T).astype(np.float32)
    matrix.sort_indices()
    return Affinities(matrix, "weights", symmetric=True)


@dataclass(frozen=True)
class Diffusion:
    """A reversible random walk among rows, or among landmarks that stand for clusters of rows.

    Attributes
    ----------
    flows : ndarray of shape (n_places, n_places), float64
        Symmetric; the probabilities of a step are the rows divided by their sums.
    entries : csr_array of shape (n_samples, n_places), float64, or None
        Probabilities with which each row goes to the landmarks; None if the rows themselves are the places.
    """

    flows: Float64Array
    entries: scipy.sparse.csr_array | None

    @classmethod
    def of(cls, affinities: Affinities, clusters: npt.NDArray[np.integer] | None = None) -> Self:
        """Let the rows diffuse by their affinities, each with weight 1 to itself.

        Parameters
        ----------
        affinities : Affinities
            Symmetric.
        clusters : ndarray of shape (n_samples,), int, or None, default=None
            Numbers, from 0, of the landmarks for which the rows stand: a step then goes from a landmark to a row and
            from there to a landmark. None takes the rows as they are.

        Returns
        -------
        Diffusion
        """
        weights = scipy.sparse.csr_array(
            affinities.matrix.astype(np.float64) + scipy.sparse.eye_array(affinities.n_samples)
        )
        if clusters is None:
            return cls(weights.toarray(), None)
        to_clusters = scipy.sparse.csr_array(weights @ members(clusters))
        entries = scipy.sparse.csr_array(to_clusters.multiply(1.0 / to_clusters.sum(axis=1)[:, None]))
        flows = dense_product(to_clusters.T, entries)
        return cls(0.5 * (flows + flows.T), entries)

    def entropies(self, longest: int) -> Float64Array:
        """Return the von Neumann entropy, in nats, after 1, 2, ... steps.

            H(t) = -sum_i s_i log s_i,  s_i = |lambda_i|^t / sum_j |lambda_j|^t,  lambda the eigenvalues of a step

        Parameters
        ----------
        longest : int >= 1

        Returns
        -------
        ndarray of shape (longest,), float64
            Falling.
        """
        roots = np.sqrt(self.flows.sum(axis=1))
        with single_threaded_blas():
            values = np.abs(scipy.linalg.eigvalsh(self.flows / roots[:, None] / roots, overwrite_a=True))
        powers = np.multiply.accumulate(np.broadcast_to(values / values.max(), (longest, len(values))), axis=0)
        return np.asarray(scipy.special.entr(powers / powers.sum(axis=1, keepdims=True)).sum(axis=1))

    def after(self, steps: int) -> Float64Array:
        """Return the probabilities of going from place to place, in rows, within a number of steps.

        Parameters
        ----------
        steps : int >= 1

        Returns
        -------
        ndarray of shape (n_places, n_places), float64
        """
        masses = self.flows.sum(axis=1)
        roots = np.sqrt(masses)
        step = self.flows / roots[:, None] / roots
        result = step
        for bit in f"{steps:b}"[1:]:
            result = inner_products(result)  # the square of a symmetric matrix
            if bit == "1":
                result = product(result, step)
        return np.asarray(result * (1.0 / roots[:, None]) * roots)


def members(clusters: npt.NDArray[np.integer]) -> scipy.sparse.csr_array:
    """Return the matrix (n_samples, n_clusters) that is 1 where a row stands for a cluster."""
    n_samples = len(clusters)
    return scipy.sparse.csr_array((np.ones(n_samples), (np.arange(n_samples), clusters)))


def knee(curve: Float64Array) -> int:
    """Return the place at which a curve bends: where two lines, one for each side, miss it least.

    Parameters
    ----------
    curve : ndarray of shape (n_places,), n_places >= 3
        At places 0, 1, ...; the place of the knee belongs to both lines, which are fitted by least squares. They miss
        it by the sum of the absolute residuals.

    Returns
    -------
    int in [1, n_places - 2]
    """

    def missed(part: Float64Array) -> float:
        places = np.arange(len(part)) - 0.5 * (len(part) - 1)
        residuals = part - part.mean()
        return float(np.abs(residuals - places * (places @ residuals) / (places @ places)).sum())

    return 1 + int(np.argmin([missed(curve[: b + 1]) + missed(curve[b:]) for b in range(1, len(curve) - 1)]))


def diffusion_potential(probabilities: Float64Array, gamma: float) -> Float64Array:
    """Return the potential of the probabilities of a diffusion, of which distances are to be taken.

        U = -log p for gamma = 1,  U = 2 / (1 - gamma) p^((1 - gamma) / 2) else

    Parameters
    ----------
    probabilities : ndarray, float64
        p; 1e-7 is added before a logarithm.
    gamma : float in [-1, 1]

    Returns
    -------
    ndarray of the same shape, float64
    """
    if gamma == 1.0:
        return np.asarray(-log(probabilities + _FLOOR))
    half = 0.5 * (1.0 - gamma)
    return np.asarray(power(probabilities, half) / half)
