"""Optional packages: imported when used, and named with their install line when missing or old."""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
from importlib import metadata
from typing import Any

from gnomon._validation import caller, warn
from gnomon.exceptions import DependencyWarning, MissingDependencyError

__all__ = ["import_optional"]

_NEEDED = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\d.]+)")  # "dask[array]>=2026.8; extra == 'scale'"


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

    Warns
    -----
    DependencyWarning
        If the package is older than the oldest that gnomon is tested with.
    """
    remedy = f'Run: pip install "gnomon[{extra}]"'
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        fact = _age(package) or str(error)
        raise MissingDependencyError(
            f"{caller()}: the package {package} must be installed ({fact}). {remedy}"
        ) from error
    if age := _age(package):
        warn(f"{age}; errors may come from that. {remedy}", DependencyWarning)
    return found


@functools.cache
def _age(package: str) -> str:
    """Say that a package is older than gnomon's own metadata ask for; empty if it is not, or is not known."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        installed = metadata.version(package)
        for needed in metadata.requires("gnomon") or ():
            named = _NEEDED.match(needed)
            if named and named[1].lower() == package.lower() and _numbers(installed) < _numbers(named[2]):
                return f"{package} {installed} is older than {named[2]}, the oldest that gnomon is tested with"
    return ""


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version in front of any letters, such as [16, 1] of "16.1.dev3"."""
    return [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", version.lower())[0])]
