"""Results that print as a table, where a notebook displays them, and in a few words within others; harmless texts."""

from __future__ import annotations

import dataclasses
import functools
import html
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

__all__ = [
    "Constructed",
    "Printed",
    "ShortRepr",
    "construction",
    "harmless",
    "harmless_texts",
    "isolated",
    "ordinal",
    "preformatted",
    "prints_harmlessly",
]

_Method = TypeVar("_Method", bound=Callable[..., Any])
_SHOWN = 60  # characters of a value
_TEXTS = ("__str__", "summary")  # methods that return what is printed
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and end of line
    "\u202a-\u202e\u2066-\u2069"  # which turn the text around them
    "\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb]"  # which nobody sees
)
_FROM_RIGHT = (  # letters of such scripts
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_WRITTEN_FROM_RIGHT = re.compile(f"[{_FROM_RIGHT}]")
_ISOLATED = re.compile(f"\u2068[^\u202a-\u202e\u2066-\u2069\n]*[{_FROM_RIGHT}][^\u202a-\u202e\u2066-\u2069\n]*\u2069")


def isolated(text: str) -> str:
    """Return a text between marks that keep its direction to itself, if letters in it are written from the right.

    In a list of such names the first would stand last else.
    """
    return f"\u2068{text}\u2069" if _WRITTEN_FROM_RIGHT.search(text) else text


def harmless(text: str) -> str:
    r"""Return a text in which controls that nobody sees, or that turn the text around them, are written out.

    They stand as JSON and Python write them, such as ``"a\u202eb"``, in place of the character, which prints what
    follows from right to left. Letters of all scripts, the marks that join and order them (U+200C to U+200F), what is
    `isolated`, which turns nothing around it, tabs and ends of lines stay. Everything that the data say passes here on
    its way to a page, a report, a figure or a terminal; names themselves stay as they are.
    """
    parts, end = [], 0
    for kept in _ISOLATED.finditer(text):
        parts += [_UNSEEN.sub(_written, text[end : kept.start()]), "\u2068"]
        parts += [_UNSEEN.sub(_written, kept[0][1:-1]), "\u2069"]
        end = kept.end()
    return "".join([*parts, _UNSEEN.sub(_written, text[end:])])


def harmless_texts(part: Any) -> Any:
    """Return a document, of mappings, lists and plain values, with all its texts and keys `harmless`."""
    if isinstance(part, str):
        return harmless(part)
    if isinstance(part, Mapping):
        return {harmless_texts(key): harmless_texts(value) for key, value in part.items()}
    return [harmless_texts(one) for one in part] if isinstance(part, (list, tuple)) else part


def _written(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def prints_harmlessly(method: _Method) -> _Method:
    """Return a method or function whose text is `harmless`."""

    @functools.wraps(method)
    def printed(*args: Any, **options: Any) -> Any:
        text = method(*args, **options)
        return harmless(text) if isinstance(text, str) else text

    found: Any = printed
    return cast("_Method", found)


def preformatted(text: str) -> str:
    """Return text as HTML that keeps its columns."""
    return f'<pre style="font-family:monospace;line-height:1.35">{html.escape(harmless(text))}</pre>'


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
    """A dataclass whose ``repr`` says of arrays and long lists only how large they are; what it prints is harmless."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _TEXTS:
            if name in cls.__dict__:
                setattr(cls, name, prints_harmlessly(cls.__dict__[name]))
        # The decorator of dataclasses writes a repr of its own into every class that has none in its body.
        if "__repr__" not in cls.__dict__:
            inherited = cls.__repr__
            cls.__repr__ = _short_repr if inherited is object.__repr__ else inherited  # type: ignore[method-assign]


class Printed(ShortRepr):
    """What a notebook displays as `print` writes it."""

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def construction(cls: type, given: Mapping[str, Any]) -> str:
    """Return how an object is constructed from what was given for its arguments, defaults left out.

    Functions stand by their name, arrays by their shape.
    """
    usual = {one.name: one.default for one in inspect.signature(cls).parameters.values()}
    shown = [f"{name}={_as_written(value)}" for name, value in given.items() if not _same(value, usual.get(name))]
    return f"{cls.__name__}({', '.join(shown)})"


class Constructed:
    """What prints as it is constructed, and equals what is constructed alike.

    Each argument of a subclass is an attribute; one that keeps others prints and compares as any object does.
    """

    def _given(self) -> dict[str, Any] | None:
        """Return what the arguments of the constructor are now, None if they are not known."""
        parameters = inspect.signature(type(self)).parameters.values()
        missing = inspect.Parameter.empty
        found = {one.name: getattr(self, one.name, missing) for one in parameters}
        return None if any(value is missing for value in found.values()) else found

    def __repr__(self) -> str:
        given = self._given()
        return object.__repr__(self) if given is None else construction(type(self), given)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        one, two = self._given(), other._given()
        return one is not None and two is not None and all(_same(one[name], two[name]) for name in one)

    def __hash__(self) -> int:
        return hash(type(self))  # attributes may change


def _same(one: Any, two: Any) -> bool:
    if one is two or type(one) is not type(two):
        return one is two or (np.isscalar(one) and np.isscalar(two) and one == two)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, two)
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(_same(value, two[name]) for name, value in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(_same, one, two))
    return bool(one == two)


def _as_written(value: Any) -> str:
    if inspect.isroutine(value):
        return str(value.__qualname__)
    return _in_short(value) if isinstance(value, np.ndarray) else repr(value)
