# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .mesh import MeshPart as MeshPart
from .mesh import MeshParts as MeshParts
from .mesh import MeshSpec as MeshSpec
from .mesh import Phase as Phase
from .mesh import n_mesh_parts as n_mesh_parts
from .parts import OwnedEdges as OwnedEdges
from .parts import PartsRun as PartsRun
from .parts import part_bounds as part_bounds
from .sampled import SampledPart as SampledPart
from .sampled import SampledParts as SampledParts
from .sampled import SampledSpec as SampledSpec
