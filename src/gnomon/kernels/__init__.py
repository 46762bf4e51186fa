"""How similar two points are: output kernels of the embedding and laws of them, input kernels of the data."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
