"""Write the lists of methods in stubs, pages and types from the registry, `gnomon.methods.METHODS`: `make lists`.

Each list stands between the lines `begin: methods` and `end: methods` of its file; the rest of the file is kept.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from importlib import import_module
from inspect import signature
from pathlib import Path
from textwrap import fill

import gnomon
from gnomon.methods.base import PlacesRows
from gnomon.methods.registry import METHODS, MethodCard
from gnomon.methods.rows import RowEmbedder

_ROOT = Path(__file__).parents[1]
_METHODS = _ROOT / "src" / "gnomon" / "methods"
_LIST = re.compile(r"(^[^\n]*begin: methods[^\n]*\n).*?(^[^\n]*end: methods)", re.MULTILINE | re.DOTALL)
_COLUMNS = ("name", "estimator", "affinity", "kernel", "loss", "optimizer", "paper")
_SHARED = ("fit", "fit_transform", "transform", "place", "inverse_transform", "jacobian", "linearize", "save")


def _module(card: MethodCard) -> str:
    """Return the module that defines an estimator, relative to `gnomon.methods`."""
    for path in sorted(_METHODS.glob("*/*.py")):
        if re.search(rf"^class {card.estimator}\b", path.read_text(), re.MULTILINE):
            return f".{path.parent.name}.{path.stem}"
    raise LookupError(f"no file in {_METHODS}/*/ defines the class {card.estimator} of the registry")


def _imports(module: str | None = None) -> str:
    """Return lines of a stub, importing from one module or else from where each class is defined."""
    lines = {f"from {module or _module(card)} import {card.estimator} as {card.estimator}\n" for card in METHODS}
    return "# isort: off\n" + "".join(sorted(lines)) + "# isort: on\n"


def _table() -> str:
    """Return the table of the methods and their four choices."""
    rows = [{**asdict(card), "estimator": f"`{card.estimator}`"} for card in METHODS]
    lines = [f"| {' | '.join(row[name] for name in _COLUMNS)} |\n" for row in rows]
    return f"\n| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|\n{''.join(lines)}\n"


def _names() -> str:
    """Return the names of the methods as a sentence."""
    names = [f"`{card.name}`" for card in METHODS]
    names[0] += " (the default)"
    return "\n" + fill(", ".join(names), 120, break_on_hyphens=False) + "\n\n"


def _reference() -> str:
    """Return the entries of the reference, each with the methods of its class."""
    inherited = {*dir(PlacesRows), *dir(RowEmbedder)}
    text = ""
    for card in METHODS:
        estimator = getattr(import_module(f"gnomon.methods{_module(card)}"), card.estimator)
        members = [name for name in _SHARED if hasattr(estimator, name)]
        members += [
            name
            for name in dir(estimator)
            if name not in inherited and not name.startswith(("_", "set_")) and callable(getattr(estimator, name))
        ]
        text += f".. autoclass:: {card.estimator}\n   :members: {', '.join(members)}\n"
    return f"\n{text}\n"


def _keywords() -> str:
    """Return the parameters of the methods that `gnomon.map` hands on, each with the types that any method takes."""
    own = set(signature(gnomon.map).parameters)
    types: dict[str, list[str]] = {}
    for card in METHODS:
        for name, parameter in signature(getattr(gnomon, card.estimator)).parameters.items():
            if name not in own:
                types.setdefault(name, []).extend(parameter.annotation.split(" | "))
    lines = ""
    for name, union in sorted(types.items()):
        kinds = sorted(set(union), key=lambda kind: (kind == "None", union.index(kind)))
        lines += f"    {name}: {'Any' if 'Any' in kinds else ' | '.join(kinds)}\n"
    return lines


LISTS = {
    "src/gnomon/__init__.pyi": lambda: _imports(".methods"),
    "src/gnomon/methods/__init__.pyi": _imports,
    "src/gnomon/methods/keywords.py": _keywords,
    "docs/methods.md": _table,
    "docs/command-line.md": _names,
    "docs/api.rst": _reference,
}
"""What makes the list of each file that has one."""


def written(path: str) -> str:
    """Return the text of a file with its list made anew."""
    made = LISTS[path]()
    text, found = _LIST.subn(lambda match: match[1] + made + match[2], (_ROOT / path).read_text())
    if found != 1:
        raise LookupError(f"{path} must have one pair of lines 'begin: methods' and 'end: methods', found {found}")
    return text


if __name__ == "__main__":
    for path in LISTS:
        (_ROOT / path).write_text(written(path))
