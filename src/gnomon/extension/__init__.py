"""Maps as functions: places of new rows, rows of new places, derivatives, and how far rows lie out of range."""

from gnomon.extension.atlas import AffineAtlas
from gnomon.extension.atlas_function import MapFunction
from gnomon.extension.drift import Drift, measure_drift
from gnomon.extension.new_affinities import (
    GaussianRows,
    MembershipRows,
    NewAffinities,
    ReconstructionRows,
    ScaledRows,
    UniformRows,
)
from gnomon.extension.novelty import Novelty
from gnomon.extension.placement import EXACT_UP_TO, PlacementField, RowPlacement
from gnomon.extension.placement_loss import PairTerm, PlacementLoss
from gnomon.extension.repulsion_table import RepulsionTable, tabulate_repulsion
from gnomon.extension.round_trip import RoundTrip
from gnomon.extension.similarity_placement import SimilarityPlacement
from gnomon.extension.triplet_placement import TripletPlacement

__all__ = [
    "EXACT_UP_TO",
    "AffineAtlas",
    "Drift",
    "GaussianRows",
    "MapFunction",
    "MembershipRows",
    "NewAffinities",
    "Novelty",
    "PairTerm",
    "PlacementField",
    "PlacementLoss",
    "ReconstructionRows",
    "RepulsionTable",
    "RoundTrip",
    "RowPlacement",
    "ScaledRows",
    "SimilarityPlacement",
    "TripletPlacement",
    "UniformRows",
    "measure_drift",
    "tabulate_repulsion",
]
