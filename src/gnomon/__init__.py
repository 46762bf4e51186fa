"""gnomon: maps of high-dimensional data that say what they mean and how far to trust them."""

from __future__ import annotations

import lazy_loader

__version__ = "0.1.0"

# The public names are those of `__init__.pyi`. Each is imported when it is first used: `import gnomon` stays cheap.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_ROOMS = (
    *("affinities", "clusters", "comparison", "completion", "data", "evaluation", "explanations", "extension"),
    *("geometry", "initialization", "kernels", "linalg", "maps", "methods", "neighbors", "notebook", "objectives"),
    *("optimizers", "scale", "server", "spectrum", "surfaces", "theory", "twins", "viewer"),
)
# `from gnomon import *` leaves Python's own `map` alone, and names such as `data`.
__all__ = [name for name in (*__all__, "__version__") if name != "map" and name not in _ROOMS]
