"""Optional packages: imported when used, named with their install line when missing."""

from __future__ import annotations

import importlib
from typing import Any

from gnomon._validation import caller
from gnomon.exceptions import MissingDependencyError

__all__ = ["import_optional"]


def import_optional(module: str, *, package: str, extra: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        What to import, such as ``pyarrow.parquet``.
    package : str
        The package that holds it, as it is called where packages are installed from.
    extra : str
        The extra of gnomon that brings the package.

    Raises
    ------
    MissingDependencyError
        With the install line; the error of the import is chained.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f'{caller()}: the package {package} must be installed ({error}). Run: pip install "gnomon[{extra}]"'
        ) from error
