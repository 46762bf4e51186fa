"""Every public name of every room stands in the reference, which builds without a warning."""

import importlib
import inspect
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

_DOCS = Path(__file__).parents[1] / "docs"
_PAGE = (_DOCS / "api.rst").read_text()
_SOURCE = _DOCS.parent / "src" / "gnomon"


def _rooms():
    """Yield the packages and single files of gnomon, and the rooms of these, that a user may import from."""
    for path in [_SOURCE / "__init__.py", *sorted(_SOURCE.glob("[a-z]*.py")), *sorted(_SOURCE.glob("*/__init__.py"))]:
        parts = path.relative_to(_SOURCE.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name.split(".")[-1] not in _INNER:
            yield name
    yield from ("gnomon.objectives.terms", "gnomon.optimizers.fenchel")


_INNER = {"cli", "linalg", "storage"}
"""Rooms that no page of the documentation sends a user to."""


def _names(room):
    """Return the public classes, functions and constants of a room by the object that they are."""
    module = importlib.import_module(room)
    return {name: getattr(module, name) for name in module.__all__ if not inspect.ismodule(getattr(module, name))}


def _listed():
    """Return the objects that the page documents."""
    found = []
    for kind, name in re.findall(r"^\.\. auto(\w+):: ([\w.]+)$", _PAGE, re.MULTILINE):
        module, _, last = f"gnomon.{name}".replace("gnomon.gnomon", "gnomon").rpartition(".")
        if kind == "module":
            found += list(_names(f"{module}.{last}").values())
        else:
            found.append(getattr(importlib.import_module(module), last))
    return found
