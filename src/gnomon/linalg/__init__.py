"""Eigenproblems, singular vectors, low-rank factors and products that the rooms above share."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
