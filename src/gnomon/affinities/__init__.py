"""How strongly points attract each other: affinities from neighbour graphs, Gram matrices, reconstruction weights."""

from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import gaussian_weights, membership_weights
from gnomon.affinities.fuzzy import fuzzy_simplicial_set
from gnomon.affinities.gaussian import conditional_affinities, gaussian_affinities
from gnomon.affinities.gram import Gram
from gnomon.affinities.reconstruction import ReconstructionWeights, reconstruction_weights
from gnomon.affinities.uniform import uniform_affinities

__all__ = [
    "Affinities",
    "Gram",
    "ReconstructionWeights",
    "conditional_affinities",
    "fuzzy_simplicial_set",
    "gaussian_affinities",
    "gaussian_weights",
    "membership_weights",
    "reconstruction_weights",
    "uniform_affinities",
]
