"""The fuzzy simplicial set of UMAP, as the weighted graph that it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.affinities.affinity import Inputs, NeighborAffinity, NewRows, sums_to_one
from gnomon.affinities.base import Affinities, Join
from gnomon.affinities.conditional import membership_weights, usable_distances
from gnomon.affinities.row_weights import MembershipWeights, RowWeights
from gnomon.affinities.symmetric import fuzzy_union
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["FuzzyAffinity", "MembershipRows", "fuzzy_simplicial_set", "usual_distance"]

Float32Array = npt.NDArray[np.float32]

_RULES: dict[str, Rule] = {"local_connectivity": Real(0.0), "set_op_mix_ratio": Real(0.0, 1.0), "n_threads": Integer(1)}


def fuzzy_simplicial_set(
    graph: NeighborGraph,
    *,
    local_connectivity: float = 1.0,
    set_op_mix_ratio: float = 1.0,
    n_threads: int = 1,
    who: str = "fuzzy_simplicial_set",
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
    n_threads : int >= 1, default=1
        Does not change the result.
    who : str, default="fuzzy_simplicial_set"
        Opens the error text.

    Returns
    -------
    Affinities
        ``matrix``: memberships in (0, 1], normalization "membership". ``bandwidths``: sigma of each row.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: Uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018, algorithms 2-3.
    """
    given = {"local_connectivity": local_connectivity, "set_op_mix_ratio": set_op_mix_ratio, "n_threads": n_threads}
    values = check_parameters(who, _RULES, given)
    mix, n_threads = values.pop("set_op_mix_ratio"), values["n_threads"]
    weights, _, bandwidths = membership_weights(usable_distances(graph, who=who), **values)
    return Affinities(
        fuzzy_union(graph.indices, weights, set_op_mix_ratio=mix, n_threads=n_threads), "membership", bandwidths
    )


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

    def of_rows(self, distances: Float32Array, n_threads: int = 1) -> Float32Array:
        """Return memberships."""
        return membership_weights(distances, local_connectivity=self.local_connectivity, n_threads=n_threads)[0]

    def calibrated(self, squared: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_]) -> RowWeights:
        """Return memberships with their derivatives, those of nearest distance and bandwidth included."""
        return MembershipWeights.of(squared, mask, self.local_connectivity)

    def weights(self, graph: NeighborGraph, *, n_threads: int = 1) -> Affinities:
        """Return the fuzzy simplicial set of a table."""
        return fuzzy_simplicial_set(
            graph,
            local_connectivity=self.local_connectivity,
            set_op_mix_ratio=self.set_op_mix_ratio,
            n_threads=n_threads,
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

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return memberships divided by their sum."""
        weights, _, _ = membership_weights(
            distances,
            local_connectivity=max(0.0, self.local_connectivity - 1.0),
            usual_distance=self.usual_distance,
            n_threads=n_threads,
        )
        return sums_to_one(weights)


def usual_distance(graph: NeighborGraph) -> float:
    """Return the mean finite distance of a graph, 0 if there is none."""
    finite = graph.distances[np.isfinite(graph.distances)]
    return float(finite.mean(dtype=np.float64)) if finite.size else 0.0
