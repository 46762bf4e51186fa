"""Where the points start: PCA, spectral, random or given."""

from gnomon.initialization.base import Initialization, initialize
from gnomon.initialization.scaling import rescale, rescale_to_box

__all__ = ["Initialization", "initialize", "rescale", "rescale_to_box"]
