"""What a good map minimises: losses of the embedding and their forces."""

from gnomon.objectives.added import AddedTerm, AddedTerms, added_terms
from gnomon.objectives.anchors import Anchors, Springs
from gnomon.objectives.base import NormalizedGradient, Objective, gradient_error
from gnomon.objectives.cross_entropy import CrossEntropy, StatedCrossEntropy
from gnomon.objectives.density import DensityCorrelation
from gnomon.objectives.expansion import Expansion
from gnomon.objectives.frame_correlation import FrameCorrelation
from gnomon.objectives.frobenius import Frobenius
from gnomon.objectives.info_nce import InfoNCE
from gnomon.objectives.kl_divergence import ConditionalDivergence, KLDivergence
from gnomon.objectives.linear_attraction import LinearAttraction
from gnomon.objectives.linear_fit import HuberFit, ProjectionError, polar_factor
from gnomon.objectives.local_map import LocalmapLoss, NearbyPairs
from gnomon.objectives.low_rank_sparse import LowRankSparse, Optimality
from gnomon.objectives.on_surface import OnSurface, on_surface, repulsion_on_surface
from gnomon.objectives.pacmap import PacmapLoss
from gnomon.objectives.pair_objective import PairObjective, PairTerm, Repulsion, RowLoss
from gnomon.objectives.reconstruction_trace import ReconstructionTrace
from gnomon.objectives.reference_map import ReferenceDistance, SharedLoss
from gnomon.objectives.registry import LOSSES, takes_added, takes_seed
from gnomon.objectives.scaled_cross_entropy import ScaledCrossEntropy
from gnomon.objectives.stars import StarAttraction
from gnomon.objectives.strain import SafeStep, Strain
from gnomon.objectives.stress import OrdinalStress, SigmoidStress, Stress
from gnomon.objectives.triplet_loss import TripletLoss

__all__ = [
    "LOSSES",
    "AddedTerm",
    "AddedTerms",
    "Anchors",
    "ConditionalDivergence",
    "CrossEntropy",
    "DensityCorrelation",
    "Expansion",
    "FrameCorrelation",
    "Frobenius",
    "HuberFit",
    "InfoNCE",
    "KLDivergence",
    "LinearAttraction",
    "LocalmapLoss",
    "LowRankSparse",
    "NearbyPairs",
    "NormalizedGradient",
    "Objective",
    "OnSurface",
    "Optimality",
    "OrdinalStress",
    "PacmapLoss",
    "PairObjective",
    "PairTerm",
    "ProjectionError",
    "ReconstructionTrace",
    "ReferenceDistance",
    "Repulsion",
    "RowLoss",
    "SafeStep",
    "ScaledCrossEntropy",
    "SharedLoss",
    "SigmoidStress",
    "Springs",
    "StarAttraction",
    "StatedCrossEntropy",
    "Strain",
    "Stress",
    "TripletLoss",
    "added_terms",
    "gradient_error",
    "on_surface",
    "polar_factor",
    "repulsion_on_surface",
    "takes_added",
    "takes_seed",
]
