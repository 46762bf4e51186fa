"""Local geometry of data and of maps: frames, Jacobians, distortion, effects of features, intrinsic dimension."""

from gnomon.geometry.dimension import DimensionEstimate, IntrinsicDimension, intrinsic_dimension
from gnomon.geometry.distortion import Distortion, distortion
from gnomon.geometry.effects import FeatureEffects, feature_effects
from gnomon.geometry.embedding_frames import EmbeddingFrames
from gnomon.geometry.frames import TangentFrames, tangent_frames
from gnomon.geometry.jacobians import LocalJacobians, local_jacobians

__all__ = [
    "DimensionEstimate",
    "Distortion",
    "EmbeddingFrames",
    "FeatureEffects",
    "IntrinsicDimension",
    "LocalJacobians",
    "TangentFrames",
    "distortion",
    "feature_effects",
    "intrinsic_dimension",
    "local_jacobians",
    "tangent_frames",
]
