"""How strongly points attract each other: affinities from neighbour graphs, Gram matrices, reconstruction weights."""

from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import gaussian_weights, membership_weights
from gnomon.affinities.fuzzy import fuzzy_simplicial_set
from gnomon.affinities.gaussian import conditional_affinities, gaussian_affinities
from gnomon.affinities.gram import Gram
from gnomon.affinities.heat import EdgeWeights, divide_by_density, edge_weights, heat_affinities, neighbor_edges
from gnomon.affinities.pacmap import PacmapPairs, pacmap_pairs
from gnomon.affinities.reconstruction import ReconstructionWeights, reconstruction_weights
from gnomon.affinities.trimap import Triplets, trimap_triplets
from gnomon.affinities.uniform import uniform_affinities

__all__ = [
    "Affinities",
    "EdgeWeights",
    "Gram",
    "PacmapPairs",
    "ReconstructionWeights",
    "Triplets",
    "conditional_affinities",
    "divide_by_density",
    "edge_weights",
    "fuzzy_simplicial_set",
    "gaussian_affinities",
    "gaussian_weights",
    "heat_affinities",
    "membership_weights",
    "neighbor_edges",
    "pacmap_pairs",
    "reconstruction_weights",
    "trimap_triplets",
    "uniform_affinities",
]
