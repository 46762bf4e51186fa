"""gnomon: maps of high-dimensional data that say what they mean and how far to trust them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. Modules are imported when a name is first used, which keeps `import gnomon` cheap.
_PUBLIC: dict[str, str] = {}

__all__ = ["__version__", *sorted(_PUBLIC)]

if TYPE_CHECKING:
    pass


def __getattr__(name: str) -> Any:
    try:
        module = _PUBLIC[name]
    except KeyError:
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
