# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .dimension import DimensionEstimate as DimensionEstimate
from .dimension import IntrinsicDimension as IntrinsicDimension
from .dimension import intrinsic_dimension as intrinsic_dimension
from .effects import FeatureEffects as FeatureEffects
from .effects import feature_effects as feature_effects
from .ellipses import Distortion as Distortion
from .ellipses import distortion as distortion
from .embedding_frames import EmbeddingFrames as EmbeddingFrames
from .frames import TangentFrames as TangentFrames
from .frames import tangent_frames as tangent_frames
from .jacobians import LocalJacobians as LocalJacobians
from .jacobians import local_jacobians as local_jacobians
