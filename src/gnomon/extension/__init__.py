"""Maps as functions: places of new rows, rows of new places, derivatives, and how far rows lie out of range."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
