"""Terms of a loss: pairs of points, an output kernel, and a law."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
