"""Tables with missing values: completed so that neighbourhoods are kept, with the error of that measured."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
