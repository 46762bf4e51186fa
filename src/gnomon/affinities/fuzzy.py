"""The fuzzy simplicial set of UMAP, as the weighted graph that it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import Real, Rule, check_parameters
from gnomon.affinities.affinity import Inputs, NeighborAffinity, NewRows, sums_to_one
from gnomon.affinities.base import Affinities, Join
from gnomon.affinities.conditional import membership_weights, usable_distances
from gnomon.affinities.row_weights import MembershipWeights, RowWeights
from gnomon.affinities.symmetric import fuzzy_union
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["FuzzyAffinity", "MembershipRows", "fuzzy_simplicial_set", "usual_distance"]

Float32Array = npt.NDArray[np.float32]

_RULES: dict[str, Rule] = {"local_connectivity": Real(0.0), "set_op_mix_ratio": Real(0.0, 1.0)}


@part("fuzzy_simplicial_set")
def fuzzy_simplicial_set(
    graph: NeighborGraph, *, local_connectivity: float = 1.0, set_op_mix_ratio: float = 1.0
) -> Affinities:
    """Turn neighbour distances into fuzzy memberships and join the two directions.

    umap-learn counts a point among its own neighbours: its ``n_neighbors=15`` is a graph of 14 neighbours here. On such
    a pair of graphs both give the same matrix.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric. A row with fewer neighbours than the others (see its mask) is treated as
        if the graph had that many.
    local_connectivity : float >= 0, default=1.0
        Number of neighbours with membership 1; between whole numbers the distance is interpolated.
    set_op_mix_ratio : float in [0, 1], default=1.0
        1 joins both directions by fuzzy union, 0 by fuzzy intersection, which keeps mutual neighbours only.

    Returns
    -------
    Affinities
        ``matrix``: memberships in (0, 1], normalization "membership". ``bandwidths``: sigma of each row.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: Uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018, algorithms 2-3.
    """
    given = {"local_connectivity": local_connectivity, "set_op_mix_ratio": set_op_mix_ratio}
    values = check_parameters(_RULES, given)
    mix = values.pop("set_op_mix_ratio")
    weights, _, bandwidths = membership_weights(usable_distances(graph), **values)
    return Affinities(fuzzy_union(graph.indices, weights, set_op_mix_ratio=mix), "membership", bandwidths)


@dataclass(frozen=True)
class FuzzyAffinity(NeighborAffinity):
    """The fuzzy memberships of UMAP, see `fuzzy_simplicial_set`.

    Parameters
    ----------
    local_connectivity : float >= 0, default=1.0
        Number of neighbours with membership 1.
    set_op_mix_ratio : float in [0, 1], default=1.0
        1 joins both directions of an edge by fuzzy union, 0 by intersection.
    """

    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0
    join: ClassVar[Join] = "membership"

    def of_rows(self, distances: Float32Array) -> Float32Array:
        """Return memberships."""
        return membership_weights(distances, local_connectivity=self.local_connectivity)[0]

    def calibrated(self, squared: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_]) -> RowWeights:
        """Return memberships with their derivatives, those of nearest distance and bandwidth included."""
        return MembershipWeights.of(squared, mask, self.local_connectivity)

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the fuzzy simplicial set of a table."""
        return fuzzy_simplicial_set(
            graph, local_connectivity=self.local_connectivity, set_op_mix_ratio=self.set_op_mix_ratio
        )

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return memberships of new rows."""
        return MembershipRows(self.local_connectivity, usual_distance(inputs.neighbors))


@dataclass(frozen=True)
class MembershipRows:
    """Memberships of new rows, with one neighbour less assumed to be fully connected: the row itself.

    Parameters
    ----------
    local_connectivity : float >= 1
        Of the fitted rows.
    usual_distance : float >= 0
        Mean distance of fitted rows to their neighbours; its thousandth bounds the bandwidth from below.
    """

    local_connectivity: float
    usual_distance: float

    def __call__(self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Return memberships divided by their sum."""
        weights, _, _ = membership_weights(
            distances, local_connectivity=max(0.0, self.local_connectivity - 1.0), usual_distance=self.usual_distance
        )
        return sums_to_one(weights)


def usual_distance(graph: NeighborGraph) -> float:
    """Return the mean finite distance of a graph, 0 if there is none."""
    finite = graph.distances[np.isfinite(graph.distances)]
    return float(finite.mean(dtype=np.float64)) if finite.size else 0.0
