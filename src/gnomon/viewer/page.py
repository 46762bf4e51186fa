"""One HTML file from the template, the style sheet and the JavaScript modules; no build step and no node."""

from __future__ import annotations

import base64
import functools
import html
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files

__all__ = ["bundle", "page_parts"]

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z0-9]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) )", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


def page_parts(parts: Iterable[tuple[str, str]], *, title: str, subtitle: str, preview: bytes) -> Iterator[str]:
    """Yield the text of the page piece by piece (its data may be large).

    Parameters
    ----------
    parts : iterable of (group, base64 text)
        As `Payload.parts` gives them.
    title, subtitle : str
        Plain text; escaped here.
    preview : bytes
        PNG shown while there is no JavaScript.
    """
    values = {
        "title": html.escape(title),
        "subtitle": html.escape(subtitle),
        "preview": base64.b64encode(preview).decode("ascii"),
        "style": _asset("static/style.css"),
        "script": bundle(),
    }
    for piece in re.split(r"(\{\{\w+\}\})", _asset("template.html")):
        name = piece.strip("{}")
        if piece == "{{data}}":
            for group, text in parts:
                yield f'<script type="application/octet-stream" data-group="{group}">'
                yield text
                yield "</script>\n"
        elif piece.startswith("{{"):
            yield values[name]
        else:
            yield piece


@functools.cache
def bundle(entry: str = "main") -> str:
    """Join the modules that `entry` imports, dependencies first.

    The modules keep to a subset that makes this a concatenation: imports are single lines without renaming, every
    export is a named declaration, and no two modules declare the same top-level name.

    Raises
    ------
    ValueError
        If two modules declare one name or imports form a circle.
    """
    order: list[str] = []
    sources: dict[str, str] = {}
    _visit(entry, order, sources, ())
    owner: dict[str, str] = {}
    for name in order:
        sources[name] = _EXPORT.sub("", _IMPORT.sub("", sources[name]))
        for declared in _TOP_LEVEL.findall(sources[name]):
            if declared in owner:
                raise ValueError(f"viewer: {declared!r} is declared in {owner[declared]}.js and in {name}.js")
            owner[declared] = name
    return '"use strict";\n' + "\n".join(sources[name] for name in order)


def _visit(name: str, order: list[str], sources: dict[str, str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"viewer: circular import {' -> '.join([*above, name])}")
    if name in order:
        return
    sources[name] = _asset(f"static/{name}.js")
    for needed in _IMPORT.findall(sources[name]):
        _visit(needed, order, sources, (*above, name))
    order.append(name)


def _asset(path: str) -> str:
    return (files("gnomon.viewer") / path).read_text(encoding="utf-8")
