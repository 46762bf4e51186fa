# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .all_pairs import AllPairs as AllPairs
from .all_pairs import ByDegree as ByDegree
from .base import Draws as Draws
from .base import Float64 as Float64
from .base import Term as Term
from .edges import EdgePairs as EdgePairs
from .edges import edge_force as edge_force
from .gravity import Gravity as Gravity
from .targets import TargetPairs as TargetPairs
