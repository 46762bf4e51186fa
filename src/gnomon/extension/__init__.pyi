# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .atlas.atlas import AffineAtlas as AffineAtlas
from .atlas.forward import Novelty as Novelty
from .atlas.forward import warn_of_far as warn_of_far
from .atlas.function import MapFunction as MapFunction
from .atlas.inverse import RoundTrip as RoundTrip
from .drift import Drift as Drift
from .drift import measure_drift as measure_drift
from .placement.by_similarity import SimilarityPlacement as SimilarityPlacement
from .placement.by_triplets import TripletPlacement as TripletPlacement
from .placement.on_surface import SurfacePlacement as SurfacePlacement
from .placement.placement import EXACT_UP_TO as EXACT_UP_TO
from .placement.placement import BlockPlacement as BlockPlacement
from .placement.placement import PlacementField as PlacementField
from .placement.placement import RowPlacement as RowPlacement
from .placement.repulsion_table import RepulsionTable as RepulsionTable
from .placement.repulsion_table import tabulate_repulsion as tabulate_repulsion
from .placement.scaled import ScaledPlacement as ScaledPlacement
