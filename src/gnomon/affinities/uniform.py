"""Neighbours that all count alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import Options, Rule, check_parameters
from gnomon.affinities.affinity import Inputs, NeighborAffinity
from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import usable_distances
from gnomon.affinities.symmetric import fuzzy_union, mean_of_directions
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["UniformAffinity", "uniform_affinities"]

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
    .. [1] Bohm, Berens & Kobak, "Attraction-repulsion spectrum in neighbor embeddings", JMLR 23, 2022 (where the
       binary graph serves t-SNE as well as a perplexity).
    """
    check_parameters(_RULES, {"normalization": normalization})
    present = np.isfinite(usable_distances(graph)).astype(np.float32)
    if normalization == "membership":
        return Affinities(fuzzy_union(graph.indices, present), "membership")
    counts = np.maximum(present.sum(axis=1, keepdims=True), 1.0)
    return Affinities(mean_of_directions(graph.indices, present / counts), "total")


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
