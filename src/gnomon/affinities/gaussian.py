"""Gaussian affinities of a given perplexity, the input side of t-SNE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.affinities.affinity import NeighborAffinity
from gnomon.affinities.base import Affinities, Join
from gnomon.affinities.conditional import gaussian_weights, usable_distances
from gnomon.affinities.row_weights import PerplexityWeights, RowWeights
from gnomon.affinities.symmetric import mean_of_directions, rows_as_matrix
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["ConditionalAffinity", "GaussianAffinity", "conditional_affinities", "gaussian_affinities"]

_RULES: dict[str, Rule] = {"perplexity": Real(1.0)}


@part("gaussian_affinities")
def gaussian_affinities(graph: NeighborGraph, *, perplexity: float = 30.0) -> Affinities:
    """Turn neighbour distances into symmetric affinities with a given perplexity.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric; about three neighbours for each unit of perplexity are usual.
    perplexity : float in [1, n_neighbors], default=30.0
        Effective number of neighbours, exp(entropy in nats) of each row of conditional affinities.

    Returns
    -------
    Affinities
        ``matrix``: (P_c + P_c') / (2 n), all entries sum to 1, normalization "total"; entries below about 1e-30 of a
        row are not stored. ``bandwidths``: sigma of each row.

    Raises
    ------
    ValueError
        If `perplexity` exceeds ``graph.n_neighbors``.

    References
    ----------
    .. [1] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008, eq. 1-2.
    """
    weights, bandwidths = _weights(graph, perplexity)
    return Affinities(mean_of_directions(graph.indices, weights), "total", bandwidths)


@part("conditional_affinities")
def conditional_affinities(graph: NeighborGraph, *, perplexity: float = 30.0) -> Affinities:
    """Turn neighbour distances into each row's own distribution over its neighbours, with a given perplexity.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric.
    perplexity : float in [1, n_neighbors], default=30.0
        Effective number of neighbours, exp(entropy in nats) of each row.

    Returns
    -------
    Affinities
        ``matrix``: P_c, rows sum to 1 and are not symmetric, normalization "rows". ``bandwidths``: sigma of each row.

    Raises
    ------
    ValueError
        If `perplexity` exceeds ``graph.n_neighbors``.

    References
    ----------
    .. [1] Hinton & Roweis, "Stochastic neighbor embedding", NeurIPS 2002, eq. 1-2.
    """
    weights, bandwidths = _weights(graph, perplexity)
    return Affinities(rows_as_matrix(graph.indices, weights), "rows", bandwidths)


def _weights(graph: NeighborGraph, perplexity: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    values = check_parameters(_RULES, {"perplexity": perplexity})
    if values["perplexity"] > graph.n_neighbors:
        remedy = f"Lower perplexity or pass n_neighbors={int(3 * values['perplexity'])}."
        rule = f"at most n_neighbors={graph.n_neighbors}"
        raise ValueError(message(f"perplexity={perplexity}", rule, remedy=remedy))
    return gaussian_weights(usable_distances(graph), **values)


@dataclass(frozen=True)
class GaussianAffinity(NeighborAffinity):
    """Gaussian affinities of a given perplexity, see `gaussian_affinities`.

    Parameters
    ----------
    perplexity : float >= 1, default=30.0
        Effective number of neighbours.
    """

    perplexity: float = 30.0

    def of_rows(self, distances: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return p_j|i."""
        return gaussian_weights(distances, perplexity=self.perplexity)[0]

    of_new_rows = of_rows  # rows sum to 1

    def calibrated(self, squared: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_]) -> RowWeights:
        """Return p_j|i with its derivatives, the precision's included."""
        return PerplexityWeights.of(squared, mask, self.perplexity)

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the affinities of a table."""
        return gaussian_affinities(graph, perplexity=self.perplexity)


@dataclass(frozen=True)
class ConditionalAffinity(GaussianAffinity):
    """Each row's own distribution over its neighbours, see `conditional_affinities`.

    Parameters
    ----------
    perplexity : float >= 1, default=30.0
        Effective number of neighbours.
    """

    join: ClassVar[Join] = "rows"

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the distributions of the rows of a table."""
        return conditional_affinities(graph, perplexity=self.perplexity)
