"""How strongly points attract each other: affinities from neighbour graphs, Gram matrices, reconstruction weights."""

from gnomon.affinities.base import Affinities
from gnomon.affinities.conditional import gaussian_weights, membership_weights
from gnomon.affinities.fuzzy import fuzzy_simplicial_set
from gnomon.affinities.gaussian import gaussian_affinities
from gnomon.affinities.gram import Gram
from gnomon.affinities.reconstruction import ReconstructionWeights, reconstruction_weights

__all__ = [
    "Affinities",
    "Gram",
    "ReconstructionWeights",
    "fuzzy_simplicial_set",
    "gaussian_affinities",
    "gaussian_weights",
    "membership_weights",
    "reconstruction_weights",
]
