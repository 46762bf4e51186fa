"""How strongly points attract each other: affinities from neighbour graphs."""

from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import gaussian_weights, membership_weights
from gnomon.affinities.fuzzy import fuzzy_simplicial_set
from gnomon.affinities.gaussian import gaussian_affinities
from gnomon.affinities.pacmap import PacmapPairs, pacmap_pairs
from gnomon.affinities.trimap import Triplets, trimap_triplets

__all__ = [
    "Affinities",
    "PacmapPairs",
    "Triplets",
    "fuzzy_simplicial_set",
    "gaussian_affinities",
    "gaussian_weights",
    "membership_weights",
    "pacmap_pairs",
    "trimap_triplets",
]
