"""The fuzzy simplicial set of UMAP, as the weighted graph that it is."""

from __future__ import annotations

from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import membership_weights, usable_distances
from gnomon.affinities.symmetric import fuzzy_union
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["fuzzy_simplicial_set"]

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
