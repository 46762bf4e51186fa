"""Maps as functions: places of new rows, rows of new places, derivatives, and how far rows lie out of range."""

from gnomon.extension.atlas.atlas import AffineAtlas
from gnomon.extension.atlas.forward import Novelty
from gnomon.extension.atlas.function import MapFunction
from gnomon.extension.atlas.inverse import RoundTrip
from gnomon.extension.drift import Drift, measure_drift
from gnomon.extension.placement.by_similarity import SimilarityPlacement
from gnomon.extension.placement.by_triplets import TripletPlacement
from gnomon.extension.placement.on_surface import SurfacePlacement
from gnomon.extension.placement.placement import EXACT_UP_TO, BlockPlacement, PlacementField, RowPlacement
from gnomon.extension.placement.repulsion_table import RepulsionTable, tabulate_repulsion
from gnomon.extension.placement.scaled import ScaledPlacement

__all__ = [
    "EXACT_UP_TO",
    "AffineAtlas",
    "BlockPlacement",
    "Drift",
    "MapFunction",
    "Novelty",
    "PlacementField",
    "RepulsionTable",
    "RoundTrip",
    "RowPlacement",
    "ScaledPlacement",
    "SimilarityPlacement",
    "SurfacePlacement",
    "TripletPlacement",
    "measure_drift",
    "tabulate_repulsion",
]
