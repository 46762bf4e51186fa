"""Neighbours that all count alike, and the Laplacian of such a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import part
from gnomon._validation import Options, Rule, check_parameters
from gnomon.affinities.affinity import Inputs, NeighborAffinity
from gnomon.affinities.base import Affinities, fuzzy_union, mean_of_directions, usable_distances
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["UniformAffinity", "neighbor_laplacian", "uniform_affinities"]

_RULES: dict[str, Rule] = {"normalization": Options("total", "membership")}


@part("uniform_affinities")
def uniform_affinities(graph: NeighborGraph, *, normalization: str = "total") -> Affinities:
    """Give all neighbours of a row the same weight.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Only who is whose neighbour counts, not the distances.
    normalization : {"total", "membership"}, default="total"
        "total": (W + W') / 2 of rows that sum to 1, divided by n_samples: all entries sum to 1. "membership": 1 for
        each pair of which one is a neighbour of the other.

    Returns
    -------
    Affinities

    References
    ----------
    .. [1] Böhm, Berens & Kobak, "Attraction-repulsion spectrum in neighbor embeddings", JMLR 23, 2022 (where the
       binary graph serves t-SNE as well as a perplexity).
    """
    check_parameters(_RULES, {"normalization": normalization})
    present = np.isfinite(usable_distances(graph)).astype(np.float32)
    if normalization == "membership":
        return Affinities(fuzzy_union(graph.indices, present), "membership", symmetric=True)
    counts = np.maximum(present.sum(axis=1, keepdims=True), 1.0)
    return Affinities(mean_of_directions(graph.indices, present / counts), "total", symmetric=True)


@dataclass(frozen=True)
class UniformAffinity(NeighborAffinity):
    """All neighbours alike, see `uniform_affinities`.

    Parameters
    ----------
    normalization : {"total", "membership"}, default="total"
        What the affinities sum to, or that each is 1.
    """

    normalization: str = "total"

    @property
    def join(self) -> str:
        """How both directions are joined."""
        return self.normalization

    def of_rows(self, distances: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return 1 for each neighbour there is."""
        return np.asarray(np.isfinite(distances), dtype=distances.dtype)

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the affinities of a table."""
        return uniform_affinities(graph, normalization=self.normalization)

    def degree(self, inputs: Inputs) -> float | None:
        """Return the number of edges of a new row that chooses its neighbours and is chosen by none."""
        return float(inputs.neighbors.n_neighbors) if self.normalization == "membership" else None


def neighbor_laplacian(graph: NeighborGraph) -> scipy.sparse.csr_array:
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
    return scipy.sparse.csr_array((scipy.sparse.diags_array(degrees) - edges) / (mean if mean > 0.0 else 1.0))
