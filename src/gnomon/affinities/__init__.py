"""How strongly points attract each other: affinities from neighbour graphs, Gram matrices, reconstruction weights."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
