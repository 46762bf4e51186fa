"""How strongly points attract each other: affinities from neighbour graphs, Gram matrices, reconstruction weights."""

from gnomon.affinities.affinity import Inputs, NeighborAffinity, NewRows, RowsByMass
from gnomon.affinities.alignment import AlignmentMatrix, alignment_matrix, least_neighbors
from gnomon.affinities.base import Affinities
from gnomon.affinities.blocks import BlockAffinity
from gnomon.affinities.derivatives import AffinityDerivative, DataAffinities, DataDistances
from gnomon.affinities.fuzzy import FuzzyAffinity, fuzzy_simplicial_set, membership_weights
from gnomon.affinities.gaussian import (
    ConditionalAffinity,
    GaussianAffinity,
    conditional_affinities,
    gaussian_affinities,
    gaussian_weights,
)
from gnomon.affinities.geodesics import PathGraph, geodesic_distances
from gnomon.affinities.gram import Gram
from gnomon.affinities.heat import EdgeWeights, divide_by_density, edge_weights, heat_affinities, neighbor_edges
from gnomon.affinities.local_radii import LocalRadii
from gnomon.affinities.moved import MovedRows
from gnomon.affinities.pacmap import PacmapAffinity, PacmapPairs, near_and_further, pacmap_pairs
from gnomon.affinities.reconstruction import (
    ReconstructionAffinity,
    ReconstructionWeights,
    reconstruction_weights,
    weights_of_new_rows,
)
from gnomon.affinities.sketch_map import SketchMapAdvice, sketch_map_advice
from gnomon.affinities.supervised import SupervisedAffinity
from gnomon.affinities.trimap import Triplets, trimap_triplets
from gnomon.affinities.uniform import UniformAffinity, neighbor_laplacian, uniform_affinities

__all__ = [
    "Affinities",
    "AffinityDerivative",
    "AlignmentMatrix",
    "BlockAffinity",
    "ConditionalAffinity",
    "DataAffinities",
    "DataDistances",
    "EdgeWeights",
    "FuzzyAffinity",
    "GaussianAffinity",
    "Gram",
    "Inputs",
    "LocalRadii",
    "MovedRows",
    "NeighborAffinity",
    "NewRows",
    "PacmapAffinity",
    "PacmapPairs",
    "PathGraph",
    "ReconstructionAffinity",
    "ReconstructionWeights",
    "RowsByMass",
    "SketchMapAdvice",
    "SupervisedAffinity",
    "Triplets",
    "UniformAffinity",
    "alignment_matrix",
    "conditional_affinities",
    "divide_by_density",
    "edge_weights",
    "fuzzy_simplicial_set",
    "gaussian_affinities",
    "gaussian_weights",
    "geodesic_distances",
    "heat_affinities",
    "least_neighbors",
    "membership_weights",
    "near_and_further",
    "neighbor_edges",
    "neighbor_laplacian",
    "pacmap_pairs",
    "reconstruction_weights",
    "sketch_map_advice",
    "trimap_triplets",
    "uniform_affinities",
    "weights_of_new_rows",
]
