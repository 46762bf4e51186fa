"""Results that print as a table, where a notebook displays them."""

from __future__ import annotations

import html

__all__ = ["Printed", "preformatted"]


def preformatted(text: str) -> str:
    """Return text as HTML that keeps its columns."""
    return f'<pre style="line-height:1.35">{html.escape(text)}</pre>'


class Printed:
    """What a notebook displays as `print` writes it."""

    def _repr_html_(self) -> str:
        return preformatted(str(self))
