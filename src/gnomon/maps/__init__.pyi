# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .landmarks import LandmarkMap as LandmarkMap
from .make import map as map
from .result import Map as Map
from .saved import load as load
