"""Where the points start: PCA, spectral, random or given."""

from gnomon.initialization.base import Initialization, initialize
from gnomon.initialization.scaling import principal_rotation, rescale, rescale_to_box
from gnomon.initialization.spectral import ComponentLayout, lay_out_components
from gnomon.initialization.starts import classical_start, strain_start

__all__ = [
    "ComponentLayout",
    "Initialization",
    "classical_start",
    "initialize",
    "lay_out_components",
    "principal_rotation",
    "rescale",
    "rescale_to_box",
    "strain_start",
]
