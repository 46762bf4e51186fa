"""write_html: the one function of the room."""

from __future__ import annotations

import os
from typing import Any

from gnomon._files import atomic_write
from gnomon._validation import message
from gnomon.viewer.content import PageContent
from gnomon.viewer.document import Document
from gnomon.viewer.page import page_parts
from gnomon.viewer.preview import preview_png
from gnomon.viewer.sequence import Sequence

__all__ = ["write_html"]


def write_html(
    path: str | os.PathLike[str],
    map: Any,
    *,
    title: str | None = None,
    sequence: Sequence | None = None,
    byte_budget: int = 64 << 20,
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
        Heading; None takes the name of the map.
    sequence : gnomon.viewer.Sequence, default=None
        Embeddings of the same points along a parameter, of which ``sequence.main`` is that of the map: the page gets a
        slider that moves the points from one to the next.
    byte_budget : int, default=64 MiB
        Bytes for feature values; over it the most important features are kept.

    Raises
    ------
    TypeError
        If `map` is neither.
    ValueError
        If a part of it does not fit the embedding; nothing is written then.
    """
    if not isinstance(map, PageContent) and not hasattr(map, "explain"):
        remedy = "Make one of positions with gnomon.Map(X, embedding) or gnomon.viewer.PageContent(embedding)."
        fact = f"found {type(map).__name__}"
        raise TypeError(message("write_html", "map", "a Map or a PageContent", fact=fact, remedy=remedy))
    content = map if isinstance(map, PageContent) else PageContent.of(map)
    heading = content.title if title is None else title
    document = Document.of(content, sequence, byte_budget=byte_budget)
    document.payload.header["title"] = heading
    picture = preview_png(document.embedding, document.colors)
    subtitle = " · ".join(filter(None, [content.method, f"{document.n_samples:,} points"]))
    with atomic_write(path, "w") as page:
        page.writelines(page_parts(document.payload.parts(), title=heading, subtitle=subtitle, preview=picture))
