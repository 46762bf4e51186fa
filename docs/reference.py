"""Write the last page of the reference, `docs/api-rest.rst`: every public name that `docs/api.rst` does not list.

Sphinx does it before it reads the pages, so that no public name is left out of a build; the file is not kept.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

import gnomon

__all__ = ["ROOMS", "listed_names", "public_names", "rest_of_reference"]

_PAGE = Path(__file__).parent / "api.rst"
_HEAD = """More names
==========

What gnomon is made of: names of its rooms that methods of your own may build on. They are public and tested, and
change sooner than those of :doc:`api`.
"""

ROOMS = [
    f"gnomon.{found.name}"
    for found in pkgutil.iter_modules(gnomon.__path__)
    if not found.name.startswith("_") and found.name != "cli"  # the command line has a page of its own
]
ROOMS += ["gnomon", "gnomon.objectives.terms", "gnomon.optimizers.fenchel"]
"""Where public names are imported from: what is not indented below `gnomon`, and two rooms within rooms."""


def public_names(room: str) -> Iterator[tuple[str, Any]]:
    """Yield the public classes, functions and constants of a room."""
    module = importlib.import_module(room)
    for name in module.__all__:
        value = getattr(module, name)
        if not isinstance(value, ModuleType) and not name.startswith("__"):
            yield name, value


def key_of(name: str, value: Any) -> object:
    """Return what tells whether two names are one thing: the class or function itself, else the name."""
    return name if _kind_of(value) == "data" else value


def _kind_of(value: Any) -> str:
    """Return how autodoc calls a value."""
    if inspect.isclass(value) and get_origin(value) is None:
        return "class"
    return "function" if inspect.isroutine(value) else "data"


def listed_names(page: str) -> set[object]:
    """Return what a page of the reference lists."""
    found = set()
    for kind, written in re.findall(r"^\.\. (?:auto|py:)(\w+):: ([\w.]+)$", page, re.MULTILINE):
        path = written if written.startswith("gnomon.") else f"gnomon.{written}"
        if kind == "module":
            found |= {key_of(name, value) for name, value in public_names(path)}
        else:
            module, _, name = path.rpartition(".")
            found.add(key_of(name, getattr(importlib.import_module(module), name)))
    return found


def rest_of_reference() -> str:
    """Return the page of all names that the reference does not list otherwise."""
    known, text = listed_names(_PAGE.read_text()), _HEAD
    for room in sorted(ROOMS):
        entries = ""
        for name, value in sorted(public_names(room)):
            if key_of(name, value) in known:
                continue
            known.add(key_of(name, value))
            if get_origin(value) is not None:  # the name of a type, such as that of arrays of float64
                entries += f".. py:data:: {room}.{name}\n\n   Stands for ``{value}``.\n\n"
                continue
            kind = _kind_of(value)
            entries += f".. auto{kind}:: {room}.{name}\n" + ("   :no-value:\n" if kind == "data" else "")
        if entries:
            text += f"\n{room}\n{'-' * len(room)}\n\n{entries}"
    return text
