"""The map as one object: made from a table, explained, evaluated, drawn, saved and loaded."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
