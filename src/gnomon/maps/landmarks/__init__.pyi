# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .make import map_by_landmarks as map_by_landmarks
from .result import LandmarkMap as LandmarkMap
