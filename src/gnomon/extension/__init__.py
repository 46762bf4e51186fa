"""Maps as functions: where new rows lie in a finished map."""

from gnomon.extension.new_affinities import (
    GaussianRows,
    MembershipRows,
    NewAffinities,
    ReconstructionRows,
    ScaledRows,
    UniformRows,
)
from gnomon.extension.placement import EXACT_UP_TO, PlacementField, RowPlacement
from gnomon.extension.placement_loss import PairLoss, PlacementLoss
from gnomon.extension.repulsion_table import RepulsionTable, tabulate_repulsion
from gnomon.extension.similarity_placement import SimilarityPlacement
from gnomon.extension.triplet_placement import TripletPlacement

__all__ = [
    "EXACT_UP_TO",
    "GaussianRows",
    "MembershipRows",
    "NewAffinities",
    "PairLoss",
    "PlacementField",
    "PlacementLoss",
    "ReconstructionRows",
    "RepulsionTable",
    "RowPlacement",
    "ScaledRows",
    "SimilarityPlacement",
    "TripletPlacement",
    "UniformRows",
    "tabulate_repulsion",
]
