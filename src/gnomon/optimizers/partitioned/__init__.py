"""Layouts of which each worker moves some rows: UMAP's epochs and t-SNE's descent, in rounds of messages."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
