"""Names in little room: broken into lines where their script allows it, and shortened between whole characters."""

from __future__ import annotations

import unicodedata

from gnomon._printed import harmless

__all__ = ["columns_of", "shortened", "wrapped"]

_ELLIPSIS = "…"
_JOINER = "\u200d"


def _characters(text: str) -> list[str]:
    """Return what a reader sees as characters: letters with their marks, joined emoji as one."""
    found: list[str] = []
    for letter in text:
        marks = (
            unicodedata.category(letter) in ("Mn", "Me", "Mc") or letter == _JOINER or 0xFE00 <= ord(letter) <= 0xFE0F
        )
        tone = 0x1F3FB <= ord(letter) <= 0x1F3FF
        if found and (marks or tone or found[-1].endswith(_JOINER)):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _width(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character[0]) in "WF" else 1


def columns_of(text: str) -> int:
    """Return the width of a text in letters, of which one of Chinese, Japanese or Korean counts two."""
    return sum(map(_width, _characters(text)))


def shortened(text: str, most: int) -> str:
    """Return a text of one line and of at most so many letters, with an ellipsis if it was longer."""
    plain = harmless(" ".join(text.split()))
    if columns_of(plain) <= most:
        return plain
    room, kept = most - 1, []
    for character in _characters(plain):
        room -= _width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS


def wrapped(text: str, most: int, n_lines: int) -> str:
    """Return a text in lines of at most so many letters, shortened if there would be more lines.

    Lines end between words; a word that is longer than a line, and scripts that are written without spaces, are broken
    between characters.

    Parameters
    ----------
    text : str
    most : int >= 2
        Letters of a line.
    n_lines : int >= 1
        Lines at most.

    Returns
    -------
    str
    """
    lines = [""]
    for word in _pieces(harmless(" ".join(text.split())), most):
        longer = lines[-1] + word
        if columns_of(longer.rstrip()) <= most or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word.lstrip())
    lines = [line.rstrip() for line in lines if line.strip()] or [""]
    if len(lines) <= n_lines:
        return "\n".join(lines)
    last = shortened(lines[n_lines - 1] + _ELLIPSIS + " ", most)
    return "\n".join([*lines[: n_lines - 1], last if last.endswith(_ELLIPSIS) else last + _ELLIPSIS])


def _pieces(text: str, most: int) -> list[str]:
    """Return what must stay on one line, spaces included: words, wide characters, and parts of very long words."""
    found: list[str] = []
    open_word = False
    for character in _characters(text):
        if character == " ":
            found.append(" ") if not found else found.__setitem__(-1, found[-1] + " ")
            open_word = False
        elif _width(character) == 2:
            found.append(character)
            open_word = False
        elif open_word and columns_of(found[-1]) < most:
            found[-1] += character
        else:
            found.append(character)
            open_word = True
    return found
