"""How strongly points attract each other: affinities from neighbour graphs."""

from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import gaussian_weights, membership_weights
from gnomon.affinities.fuzzy import fuzzy_simplicial_set
from gnomon.affinities.gaussian import conditional_affinities, gaussian_affinities
from gnomon.affinities.uniform import uniform_affinities

__all__ = [
    "Affinities",
    "conditional_affinities",
    "fuzzy_simplicial_set",
    "gaussian_affinities",
    "gaussian_weights",
    "membership_weights",
    "uniform_affinities",
]
