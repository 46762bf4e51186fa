"""Tables that have the same map: what a map cannot show, because other data would look alike on it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
