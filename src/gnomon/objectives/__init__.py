"""What a good map minimises: losses of the embedding and their forces."""

from gnomon.objectives.added import AddedTerm, AddedTerms, added_terms
from gnomon.objectives.base import Objective
from gnomon.objectives.composite import PairObjective
from gnomon.objectives.conditional_divergence import ConditionalDivergence
from gnomon.objectives.cross_entropy import CrossEntropy
from gnomon.objectives.density import DensityCorrelation
from gnomon.objectives.expansion import Expansion
from gnomon.objectives.frame_correlation import FrameCorrelation
from gnomon.objectives.frobenius import Frobenius
from gnomon.objectives.huber_fit import HuberFit
from gnomon.objectives.info_nce import InfoNCE
from gnomon.objectives.kl_divergence import KLDivergence
from gnomon.objectives.linear_attraction import LinearAttraction
from gnomon.objectives.low_rank_sparse import LowRankSparse, Optimality
from gnomon.objectives.normalized_gradient import NormalizedGradient
from gnomon.objectives.pacmap import PacmapLoss
from gnomon.objectives.projection import ProjectionError, polar_factor
from gnomon.objectives.reconstruction_trace import ReconstructionTrace
from gnomon.objectives.registry import LOSSES, takes_added, takes_seed
from gnomon.objectives.row_loss import PairTerm, Repulsion, RowLoss
from gnomon.objectives.self_test import gradient_error
from gnomon.objectives.sigmoid_stress import SigmoidStress
from gnomon.objectives.stated_cross_entropy import StatedCrossEntropy
from gnomon.objectives.strain import SafeStep, Strain
from gnomon.objectives.stress import OrdinalStress, Stress
from gnomon.objectives.triplet_loss import TripletLoss

__all__ = [
    "LOSSES",
    "AddedTerm",
    "AddedTerms",
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
    "LowRankSparse",
    "NormalizedGradient",
    "Objective",
    "Optimality",
    "OrdinalStress",
    "PacmapLoss",
    "PairObjective",
    "PairTerm",
    "ProjectionError",
    "ReconstructionTrace",
    "Repulsion",
    "RowLoss",
    "SafeStep",
    "SigmoidStress",
    "StatedCrossEntropy",
    "Strain",
    "Stress",
    "TripletLoss",
    "added_terms",
    "gradient_error",
    "polar_factor",
    "takes_added",
    "takes_seed",
]
