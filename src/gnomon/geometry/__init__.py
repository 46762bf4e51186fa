"""Local linear geometry of data and of maps: Jacobians, distortion ellipses, effects of features."""

from gnomon.geometry.effects import FeatureEffects, feature_effects
from gnomon.geometry.jacobians import LocalJacobians, local_jacobians

__all__ = ["FeatureEffects", "LocalJacobians", "feature_effects", "local_jacobians"]
