"""The surfaces by name."""

from __future__ import annotations

from gnomon.surfaces.base import Surface
from gnomon.surfaces.hyperboloid import Hyperboloid
from gnomon.surfaces.sphere import Sphere

__all__ = ["SURFACES", "make_surface"]

SURFACES: dict[str, type[Surface]] = {cls.name: cls for cls in (Sphere, Hyperboloid)}
"""Classes by name."""


def make_surface(name: str, radius: float | None, n_samples: int, spread: float = 1.0) -> Surface:
    """Return a surface; a radius of None is chosen for so many points of a map of this spread."""
    cls = SURFACES[name]
    return cls(spread * cls.usual_radius(n_samples) if radius is None else radius)
