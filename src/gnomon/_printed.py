"""Results that print as a table, where a notebook displays them, and in a few words within others."""

from __future__ import annotations

import dataclasses
import html
from typing import Any

import numpy as np

__all__ = ["Printed", "ShortRepr", "ordinal", "preformatted"]

_SHOWN = 60  # characters of a value


def preformatted(text: str) -> str:
    """Return text as HTML that keeps its columns."""
    return f'<pre style="font-family:monospace;line-height:1.35">{html.escape(text)}</pre>'


def ordinal(number: int) -> str:
    """Return a number as that of a place in a row: 91st, 1,012th."""
    last = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{last}"


def _in_short(value: Any) -> str:
    """Return what a value is, in a few words: numbers and short texts as they are, of arrays the shape."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<{' x '.join(map(str, shape))} {getattr(value, 'dtype', type(value).__name__)}>"
    if isinstance(value, (list, tuple, dict, set)) and len(value):
        few = len(value) <= 4 and all(isinstance(one, (str, int, float, np.generic)) for one in value)
        if not few or isinstance(value, dict) or len(repr(value)) > _SHOWN:
            return f"<{type(value).__name__} of {len(value):,}>"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"<{type(value).__name__}>"
    text = f"{value:.4g}" if isinstance(value, (float, np.floating)) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _short_repr(self: Any) -> str:
    """Return the class with its fields, each in a few words."""
    if not dataclasses.is_dataclass(self):
        return str(super(ShortRepr, self).__repr__())  # such as that of a dict
    shown = [f"{one.name}={_in_short(getattr(self, one.name))}" for one in dataclasses.fields(self) if one.repr]
    return f"{type(self).__name__}({', '.join(shown)})"


class ShortRepr:
    """A dataclass whose ``repr`` says of arrays and long lists only how large they are."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # The decorator of dataclasses writes a repr of its own into every class that has none in its body.
        if "__repr__" not in cls.__dict__:
            inherited = cls.__repr__
            cls.__repr__ = _short_repr if inherited is object.__repr__ else inherited  # type: ignore[method-assign]


class Printed(ShortRepr):
    """What a notebook displays as `print` writes it."""

    def _repr_html_(self) -> str:
        return preformatted(str(self))
