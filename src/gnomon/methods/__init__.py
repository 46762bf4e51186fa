"""The methods as scikit-learn estimators, each a choice of parts."""

from __future__ import annotations

import lazy_loader

# Each estimator is imported when it is first used, so that the registry alone stays cheap.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
