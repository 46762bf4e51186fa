"""Tables whose driving features are known, and the maps of them."""

from benchmarks.known_drivers.known_maps import KnownMap
from benchmarks.known_drivers.manifolds import MANIFOLDS, DrivenManifold, driven_manifold

__all__ = ["MANIFOLDS", "DrivenManifold", "KnownMap", "driven_manifold"]
