"""How strongly points attract each other: affinities from neighbour graphs."""

from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import gaussian_weights, membership_weights
from gnomon.affinities.fuzzy import fuzzy_simplicial_set
from gnomon.affinities.gaussian import gaussian_affinities

__all__ = ["Affinities", "fuzzy_simplicial_set", "gaussian_affinities", "gaussian_weights", "membership_weights"]
