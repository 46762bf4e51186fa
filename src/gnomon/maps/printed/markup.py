"""HTML from text: everything is escaped that is not markup already."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gnomon._printed import harmless
from gnomon.plot.files import svg_of

if TYPE_CHECKING:
    from gnomon.plot import Display

__all__ = ["Markup", "drawing", "facts", "join", "listing", "table", "tag"]

_LONG_WORD = 45  # letters


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


def _escaped(content: Any) -> str:
    return content if isinstance(content, Markup) else html.escape(harmless(str(content)))


def join(parts: Iterable[Any], between: str = "") -> Markup:
    """Put parts together; those that are no markup are escaped, those that are None are left out."""
    return Markup(between.join(_escaped(part) for part in parts if part is not None))


def tag(name: str, *content: Any, **attributes: str) -> Markup:
    """Return an element; ``class_`` stands for the attribute "class"."""
    given = "".join(f' {key.rstrip("_")}="{html.escape(harmless(value))}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{join(content)}</{name}>")


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup:
    """Return a list of names and what they are; pairs with None are left out."""
    rows = [join([tag("dt", name), tag("dd", value)]) for name, value in pairs if value is not None]
    return tag("dl", *rows)


def listing(items: Iterable[Any], **attributes: str) -> Markup:
    """Return a list with a point for each item."""
    return tag("ul", *(tag("li", item) for item in items), **attributes)


def table(
    header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", texts: Sequence[int] = (0,)
) -> Markup:
    """Return a table that repeats its header on each page.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences
        Cells; markup is taken as it is. A row of one cell is a heading over the rows that follow.
    caption : str, default=""
        What it shows.
    texts : sequence of int, default=(0,)
        Columns of words, which stand to the left; others are numbers, to the right.
    """
    kinds = ["text" if k in texts else "number" for k in range(len(header))]
    head = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in zip(header, kinds, strict=True)))
    lines = []
    for row in rows:
        if len(row) == 1:
            lines.append(tag("tr", tag("th", row[0], colspan=str(len(header)), scope="rowgroup"), class_="group"))
        else:
            lines.append(tag("tr", *(_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True))))
    title = tag("caption", caption) if caption else None
    return tag("table", join([title, tag("thead", head), tag("tbody", *lines)]))


def _cell(content: Any, kind: str) -> Markup:
    """Return a cell; a word that is wider than a column of words may be broken anywhere."""
    long = kind == "text" and max(map(len, str(content).split()), default=0) > _LONG_WORD
    return tag("td", content, class_=f"{kind} long" if long else kind)


def drawing(display: Display, words: str, *, key: str) -> Markup:
    """Return a figure as vector graphics with a caption, which is its text for those who do not see it too.

    Parameters
    ----------
    display : Display
        Drawn.
    words : str
    key : str
        One for each figure of a page.
    """
    picture = Markup(svg_of(display.figure_, label=words, key=key))
    return tag("figure", picture, tag("figcaption", words))
