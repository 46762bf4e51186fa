"""Frames of the local tangent spaces of a table: which directions the data vary in, around each point."""

from gnomon.geometry.frames.fit import tangent_frames
from gnomon.geometry.frames.tangent import TangentFrames

__all__ = ["TangentFrames", "tangent_frames"]
