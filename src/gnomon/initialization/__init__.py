"""Where the points start: PCA, spectral, random or given."""

from gnomon.initialization.base import Initialization, initialize
from gnomon.initialization.classical import classical_start
from gnomon.initialization.scaling import rescale, rescale_to_box
from gnomon.initialization.scattered import strain_start

__all__ = ["Initialization", "classical_start", "initialize", "rescale", "rescale_to_box", "strain_start"]
