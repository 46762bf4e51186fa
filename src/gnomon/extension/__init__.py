"""Maps as functions: places of new rows, rows of new places, derivatives, and how far rows lie out of range."""

from gnomon.extension.atlas import AffineAtlas
from gnomon.extension.atlas_function import MapFunction
from gnomon.extension.atlas_inverse import RoundTrip
from gnomon.extension.drift import Drift, measure_drift
from gnomon.extension.novelty import Novelty

__all__ = ["AffineAtlas", "Drift", "MapFunction", "Novelty", "RoundTrip", "measure_drift"]
