"""What a map may lie on besides flat space: a sphere, or the hyperbolic plane."""

from gnomon.surfaces.base import Surface
from gnomon.surfaces.hyperboloid import Hyperboloid
from gnomon.surfaces.registry import SURFACES, make_surface
from gnomon.surfaces.sphere import Sphere

__all__ = ["SURFACES", "Hyperboloid", "Sphere", "Surface", "make_surface"]
