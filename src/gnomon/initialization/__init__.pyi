# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .base import Initialization as Initialization
from .base import initialize as initialize
from .scaling import principal_rotation as principal_rotation
from .scaling import rescale as rescale
from .scaling import rescale_to_box as rescale_to_box
from .spectral import ComponentLayout as ComponentLayout
from .spectral import lay_out_components as lay_out_components
from .starts import classical_start as classical_start
from .starts import strain_start as strain_start
