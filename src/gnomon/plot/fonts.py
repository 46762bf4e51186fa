"""Fonts for the letters that matplotlib's own font has not, such as those of Chinese, Japanese and Korean."""

from __future__ import annotations

from functools import cache
from typing import Any

from gnomon._printed import harmless

__all__ = ["add_fonts"]


def add_fonts(figure: Any) -> None:
    """Let the texts of a figure use installed fonts for letters that their own fonts lack, and show what none has.

    Controls that nobody sees stand as `harmless` writes them.
    """
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if (seen := harmless(text.get_text())) != text.get_text():
            text.set_text(seen)
        beyond = frozenset(letter for letter in text.get_text() if ord(letter) > 0x24F and not letter.isspace())
        if beyond:
            families = tuple(text.get_fontfamily())
            more = _fonts_with(beyond, families)
            if more:
                text.set_fontfamily([*families, *more])


@cache
def _fonts_with(letters: frozenset[str], families: tuple[str, ...]) -> tuple[str, ...]:
    """Return as few further families as have the letters that some families lack, in the order of their names."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    missing = {ord(letter) for letter in letters}
    for family in families:
        missing -= _letters_of(findfont(FontProperties(family=[family])))
    found: list[str] = []
    for entry in sorted(fontManager.ttflist, key=lambda one: (one.name, one.style != "normal", one.fname)):
        if not missing:
            break
        if entry.name not in found and entry.name not in families and missing & _letters_of(entry.fname):
            missing -= _letters_of(entry.fname)
            found.append(entry.name)
    return tuple(found)


@cache
def _letters_of(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())
