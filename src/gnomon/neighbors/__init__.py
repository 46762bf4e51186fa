"""Who is near whom: neighbour graphs, exact, approximate or given, and neighbours of new rows."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
