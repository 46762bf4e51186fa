"""Maps like UMAP's without descending its loss: eigenvectors, linear systems, and a scale found along a line."""

from gnomon.theory.direct.balance import balanced_map
from gnomon.theory.direct.bisection import bisection_map
from gnomon.theory.direct.calibration import calibrated_map
from gnomon.theory.direct.charts import chart_map
from gnomon.theory.direct.eigenmap import eigenmap
from gnomon.theory.direct.landmarks import landmark_map
from gnomon.theory.direct.reconstruction import reconstruction_map
from gnomon.theory.direct.scale import scaled_map, umap_loss

__all__ = [
    "balanced_map",
    "bisection_map",
    "calibrated_map",
    "chart_map",
    "eigenmap",
    "landmark_map",
    "reconstruction_map",
    "scaled_map",
    "umap_loss",
]
