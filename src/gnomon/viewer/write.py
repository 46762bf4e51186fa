"""One HTML file from a map: the template, the style sheet, the JavaScript modules, the data and a preview as PNG.

No build step and no node: the modules are joined here. The preview, for readers without JavaScript, is drawn with NumPy
and zlib alone.
"""

from __future__ import annotations

import base64
import functools
import html
import os
import posixpath
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._files import atomic_write, check_writable
from gnomon._printed import harmless
from gnomon._validation import Boolean, Either, Integer, Nothing, Rule, check_parameters, message
from gnomon.viewer.content import PageContent, Sequence
from gnomon.viewer.document import Document
from gnomon.viewer.side_file import side_path, write_side_file

__all__ = ["bundle", "compose", "page_parts", "preview_png", "write_html"]

_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[a-z0-9/]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) )", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:(?:async )?(?:function|class|const|let) |  (?=[A-Z_]+ = ))(\w+)", re.MULTILINE)

_RULES: dict[str, Rule] = {"byte_budget": Either(Integer(1_000_000), Nothing()), "side_file": Boolean()}
_PAGES = {  # body, style sheets below static/style and first module of each kind of page
    "map": ("map.html", ("base", "layout", "card", "panels", "player", "layers", "tools", "answers", "access"), "main"),
    "side_by_side": ("side_by_side.html", ("base", "panels", "side_by_side", "access"), "linked/main"),
}


def page_parts(
    parts: Iterable[tuple[str, str]],
    *,
    title: str,
    subtitle: str,
    preview: bytes,
    page: str = "map",
    served: bool = False,
) -> Iterator[str]:
    """Yield the text of the page piece by piece (its data may be large).

    Parameters
    ----------
    parts : iterable of (group, text)
        As `Payload.parts` gives them.
    title, subtitle : str
        Plain text; escaped here.
    preview : bytes
        PNG shown while there is no JavaScript.
    page : {"map", "side_by_side"}, default="map"
        Which kind of page.
    served : bool, default=False
        Whether the page may ask the server that it comes from; every other page may ask nobody.
    """
    body, styles, entry = _PAGES[page]
    values = {
        "title": html.escape(harmless(title)),
        "subtitle": html.escape(harmless(subtitle)),
        "preview": base64.b64encode(preview).decode("ascii"),
        "style": "\n".join(_asset(f"static/style/{name}.css") for name in styles),
        "script": bundle(entry),
        "connect": "; connect-src 'self'" if served else "",
    }
    for piece in re.split(r"(\{\{\w+\}\})", _asset("page.html").replace("{{body}}", _asset(body))):
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
    """Join the modules that `entry` imports, dependencies first; their names are paths below ``static``.

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
        _visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), needed)), order, sources, (*above, name))
    order.append(name)


def _asset(path: str) -> str:
    packed = _packed()
    return packed[path] if path in packed else (files("gnomon.viewer") / path).read_text(encoding="utf-8")


@functools.cache
def _packed() -> dict[str, str]:
    """Return the scripts and style sheets that a wheel has together in one file, by their paths; elsewhere none."""
    file = files("gnomon.viewer") / "static.z"
    parts = zlib.decompress(file.read_bytes()).decode().split("\0") if file.is_file() else []
    return dict(zip(parts[::2], parts[1::2], strict=True))


def preview_png(
    embedding: npt.NDArray[np.floating[Any]], colors: npt.NDArray[np.uint8], *, width: int = 720, height: int = 560
) -> bytes:
    """Draw the points as a PNG.

    Parameters
    ----------
    embedding : ndarray of shape (n, 2 or more)
        The first two coordinates are drawn; rows that are not finite are left out.
    colors : ndarray of shape (n, 3), uint8
        One colour a point.
    width, height : int
        Size in pixels.
    """
    finite = np.isfinite(embedding).all(axis=1)
    picture = np.full((height, width, 3), 255, dtype=np.uint8)
    if finite.any():
        points, shown = embedding[finite, :2].astype(np.float64), colors[finite]
        low, high = points.min(axis=0), points.max(axis=0)
        scale = 0.94 * min(width / max(high[0] - low[0], 1e-30), height / max(high[1] - low[1], 1e-30))
        centered = np.clip((points - (low + high) / 2) * scale, -1e6, 1e6)
        column = (width / 2 + centered[:, 0]).astype(np.int64)
        row = (height / 2 - centered[:, 1]).astype(np.int64)
        reach = 2 if len(points) < 5_000 else 1
        order = np.random.default_rng(0).permutation(len(points))  # so that no class hides the others
        for dy in range(-reach + 1, reach):
            for dx in range(-reach + 1, reach):
                y, x = np.clip(row + dy, 0, height - 1)[order], np.clip(column + dx, 0, width - 1)[order]
                picture[y, x] = shown[order]
    return _png(picture)


def _png(picture: npt.NDArray[np.uint8]) -> bytes:
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row starts with its filter type, 0
    rows[:, 1:] = picture.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@entrance("write_html")
def write_html(
    path: str | os.PathLike[str],
    map: Any,
    *,
    title: str | None = None,
    sequence: Sequence | None = None,
    byte_budget: int | None = None,
    side_file: bool = False,
) -> None:
    """Write a map as one HTML file that opens from disk and asks the network for nothing.

    Parameters
    ----------
    path : str or path-like
        Written atomically: a reader sees the old file or the whole new one.
    map : gnomon.Map or gnomon.viewer.PageContent
        A map is explained and evaluated first, unless it is already. For positions computed elsewhere make a map with
        ``gnomon.Map(X, embedding)``, or `PageContent` where there is no table.
    title : str, default=None
        Heading; None takes the name of the map, or "A map of 150 rows" of one without.
    sequence : gnomon.viewer.Sequence, default=None
        Embeddings of the same points along a parameter, of which ``sequence.main`` is that of the map: the page gets a
        slider that moves the points from one to the next.
    byte_budget : int >= 1,000,000 or None, default=None
        Bytes of the whole page. A map that needs more is rounded (positions to 16 bits, scores and explanations to 8);
        then the least needed is left out: features that move a point beyond the first, local fits, neighbours in the
        data, and feature values and pictures of all but a sample of the points, every class in proportion; and where
        the points alone are too many a sample of them is shown before the exact density of all. The page says what was
        done. None allows 21 MB and 50 bytes a point, at most 56 MB.
    side_file : bool, default=False
        Whether to write beside the page, as ``map.data`` for ``map.html``, the values of all points that are shown and
        all local fits. A page cannot read other files by itself: its reader opens this one by a button or drops it on
        the page.

    Raises
    ------
    TypeError
        If `map` is neither.
    ValueError
        If a part of it does not fit the embedding, or there is nothing for a side file; nothing is written then.
    OSError
        If the file cannot be written; it is looked at before anything is computed.
    """
    check_parameters(_RULES, {"byte_budget": byte_budget, "side_file": side_file})
    if not isinstance(map, PageContent) and not hasattr(map, "explain"):
        remedy = "Make one of positions with gnomon.Map(X, embedding) or gnomon.viewer.PageContent(embedding)."
        fact = f"found {type(map).__name__}"
        raise TypeError(message("map", "a Map or a PageContent", fact=fact, remedy=remedy))
    check_writable(path)
    content = map if isinstance(map, PageContent) else PageContent.of(map)
    beside = side_path(path) if side_file else None
    if beside is not None and content.X is None:
        remedy = "Leave it out, or make the map with gnomon.Map(X, embedding)."
        raise ValueError(message("side_file=True", "of a map with a table", fact="there are no values", remedy=remedy))
    document = Document.of(content, sequence, byte_budget=byte_budget, side_file="" if beside is None else beside.name)
    pieces = _pieces(document, content, title, {}, ())
    with atomic_write(path, "w") as page:
        page.writelines(pieces)
    if beside is not None:
        write_side_file(beside, document.side_payload(content))


def compose(
    content: PageContent,
    *,
    title: str | None = None,
    sequence: Sequence | None = None,
    byte_budget: int | None = None,
    header: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> Iterator[str]:
    """Return the text of the page of a map piece by piece; all is checked before the first.

    Parameters
    ----------
    content : PageContent
    title, sequence, byte_budget : as for `write_html`
    header : mapping, default=None
        Who the page may talk to, in a form for JSON: ``{"host": True}`` for the notebook around it, ``{"server":
        {...}}`` for the server that it comes from.
    notes : iterable of str, default=()
        What a reader must know beside what the page finds itself.

    Returns
    -------
    iterator of str
    """
    document = Document.of(content, sequence, byte_budget=byte_budget)
    return _pieces(document, content, title, header or {}, notes)


def _pieces(
    document: Document, content: PageContent, title: str | None, header: Mapping[str, Any], notes: Iterable[str]
) -> Iterator[str]:
    """Return the text of the page of what was collected, piece by piece."""
    heading = content.title if title is None else title
    document.notes.extend(notes)
    document.payload.header |= {"title": heading, **header}
    picture = preview_png(document.embedding, document.colors)
    count = f"{document.n_samples:,}"
    if document.n_all > document.n_samples:
        count = f"{count} of {document.n_all:,}"
    subtitle = " · ".join(filter(None, [content.method, f"{count} points"]))
    served = "server" in document.payload.header
    return page_parts(document.payload.parts(), title=heading, subtitle=subtitle, preview=picture, served=served)
