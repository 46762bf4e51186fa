"""How many dimensions the data have, overall and around each point."""

from gnomon.geometry.dimension.estimate import intrinsic_dimension
from gnomon.geometry.dimension.result import DimensionEstimate, IntrinsicDimension

__all__ = ["DimensionEstimate", "IntrinsicDimension", "intrinsic_dimension"]
