"""Maps of tables larger than memory: landmarks are fitted, every other row is placed among them."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
