"""Tables whose driving features are known, and the maps of them."""

from benchmarks.known_drivers.known_maps import KnownMap
from benchmarks.known_drivers.manifolds import MANIFOLDS, DrivenManifold, driven_manifold
from benchmarks.known_drivers.tables import TABLES, driven_table

__all__ = ["MANIFOLDS", "TABLES", "DrivenManifold", "KnownMap", "driven_manifold", "driven_table"]
