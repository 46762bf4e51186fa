"""Where work is done: three verbs, on this machine or on the workers of a Dask cluster, and what a cut run leaves."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
