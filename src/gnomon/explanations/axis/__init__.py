"""What changes along a line through a map."""

from gnomon.explanations.axis.line import Axis, Profile, axis

__all__ = ["Axis", "Profile", "axis"]
