"""Write the lists of methods in stubs, pages and types from the registry, `gnomon.methods.METHODS`: `make lists`.

Each list stands between the lines `begin: methods` and `end: methods` of its file; the rest of the file is kept. The
gallery lists the scripts of `docs/gallery` in the same way.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import asdict
from importlib import import_module
from inspect import getdoc, signature
from pathlib import Path
from textwrap import dedent, fill
from typing import Any

import numpy as np

import gnomon
from gnomon import Block
from gnomon.methods.base import PlacesRows
from gnomon.methods.registry import METHODS, MethodCard
from gnomon.methods.rows import RowEmbedder
from gnomon.neighbors import compute_neighbors

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


def _prose(text: str) -> str:
    """Return a part of a docstring as Markdown: references to its papers as numbers, formulas as blocks of code."""
    text = re.sub(r"\[(\d)\]_", r"[\1]", text).replace("``", "`")
    blocks = re.split(r"((?:^ {4}.*\n?)+)", text, flags=re.MULTILINE)
    blocks[::2] = [block.replace("*", r"\*").replace("<", r"\<") for block in blocks[::2]]
    blocks[1::2] = [f"```text\n{dedent(block).rstrip()}\n```\n" for block in blocks[1::2]]
    return "".join(blocks)


def _papers(doc: str) -> list[str]:
    """Return the papers that a docstring refers to."""
    section = doc.partition("References\n----------\n")[2].partition("\n\n")[0]
    listed = re.split(r"^\.\. \[\d+\] ", section, flags=re.MULTILINE)
    return [" ".join(paper.split()) for paper in listed if paper.strip()]


def _amount(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Return a number in the largest unit that it reaches, with one digit, or two from ten on."""
    size, unit = next((one for one in units if value >= one[0]), units[-1])
    return f"{float(format(value / size, '.1g' if value < 10 * size else '.2g')):g} {unit}"


def _cost(estimator: Any) -> str:
    """Return what fits of tables of 50 columns take, as a table."""
    text = "| rows of 50 columns | memory | one core |\n|---|---|---|\n"
    made = estimator(n_jobs=1)
    for n_samples in (1_000, 10_000, 100_000):
        expected = made.foresee(n_samples, 50)
        text += f"| {n_samples:,} | {_amount(expected.n_bytes, _BYTES)} | {_amount(expected.seconds, _SECONDS)} |\n"
    return text


def _does(estimator: Any, given: dict[str, Any], to_fit: dict[str, Any]) -> bool:
    """Return whether a method takes something beside a table: it is tried with a few rows."""
    names = signature(estimator).parameters
    if not names.keys() >= given.keys():
        return False
    few = {name: value for name, value in _FEW.items() if name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator(**few, **given).fit(_ROWS, **to_fit)
        except (TypeError, ValueError):
            return False
    return True


def _sections() -> str:
    """Return a section for each method, from its card, its docstring, its forecast and what it takes."""
    text = ""
    for card in METHODS:
        estimator = getattr(gnomon, card.estimator)
        doc = getdoc(estimator) or ""
        summary, _, extended = doc.partition("Parameters\n----------")[0].strip().partition("\n\n")
        taken = [name for name, (given, to_fit) in _TAKEN.items() if _does(estimator, given, to_fit)]
        parts = [
            f"## {card.estimator}",
            _prose(summary),
            f"![Digits, a rolled sheet and three groups by {card.estimator}](images/methods/{card.name}.webp)",
            f'`gnomon.map(X, method="{card.name}")` or [`gnomon.{card.estimator}`](api.rst).',
            f"**Proposed in:** {card.paper}.",
            _prose(extended),
            f"**Limits.** {card.limits}",
            f"**Takes** a table{'; also ' if taken else ' alone'}{', '.join(taken)}.",
            _cost(estimator),
            "\n".join(f"{number}. {_prose(paper)}" for number, paper in enumerate(_papers(doc), 1)),
        ]
        text += "".join(f"\n{part.strip()}\n" for part in parts if part)
    return text + "\n"


def _gallery() -> str:
    """Return a section for each script of the gallery: its title, its text, its picture and its code."""
    text = ""
    for script in sorted((_ROOT / "docs" / "gallery").glob("*.py")):
        title, _, told = (ast.get_docstring(ast.parse(script.read_text())) or "").partition("\n\n")
        title, code = title.rstrip("."), script.read_text().split('"""\n', 2)[-1].strip()
        picture = f"![{title}](images/gallery/{script.stem}.webp)"
        text += f"\n## {title}\n\n{told}\n\n{picture}\n\n```py\n{code}\n```\n"
    return text + "\n"


_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SECONDS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
_ROWS = np.random.default_rng(0).normal(size=(24, 4))
_GRAPH = compute_neighbors(_ROWS, 15)
_FEW = {"max_iter": 1, "n_neighbors": 10, "perplexity": 5, "early_exaggeration_iter": 0}
_TAKEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a [metric](methods.md#metrics)": ({"metric": "manhattan"}, {}),
    "[neighbours found elsewhere](coming-from.md#neighbours-that-you-have-already)": ({"precomputed_knn": _GRAPH}, {}),
    "a [target](methods.md#sampled-repulsion-umap-largevis-negtsne-infoncetsne)": (
        {"target_weight": 0.5},
        {"y": np.arange(24) % 2},
    ),
    "[blocks of columns](tables.md#blocks-of-columns)": ({"blocks": {"a": Block([0, 1]), "b": Block([2, 3])}}, {}),
    "[anchors](aligned.md)": ({"anchors": {0: (0, 0)}}, {}),
    "[weights of rows](methods.md#weights-of-rows)": ({}, {"sample_weight": np.linspace(1, 2, 24)}),
}
"""What some methods take beside a table: with which parameters, and with what in `fit`."""

LISTS = {
    "src/gnomon/__init__.pyi": lambda: _imports(".methods"),
    "src/gnomon/methods/__init__.pyi": _imports,
    "src/gnomon/methods/keywords.py": _keywords,
    "docs/methods.md": _table,
    "docs/each-method.md": _sections,
    "docs/gallery.md": _gallery,
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
