"""One form for every error: who: parameter=got must be rule (fact). Remedy."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gnomon._run import current_run
from gnomon.exceptions import DataWarning, GnomonWarning

__all__ = [
    "SEED",
    "Boolean",
    "Either",
    "Elsewhere",
    "Having",
    "Instance",
    "Integer",
    "Nothing",
    "Options",
    "Real",
    "Rule",
    "caller",
    "check_parameters",
    "check_positions",
    "letters_of",
    "message",
    "near_miss",
    "nearest",
    "pass_on",
    "unsaid",
    "warn",
    "warning_once",
]

_OURS = ("gnomon", "sklearn")  # scikit-learn wraps our methods
_NEAR = 0.75  # likeness of two names, as of `difflib`, of which one is meant for the other


def caller() -> str:
    """Return the name of what the user called, which opens every error and warning."""
    return current_run().name or "gnomon"


def message(what: str, rule: str, *, fact: str = "", remedy: str = "", who: str = "") -> str:
    """Build the text of an error.

    Parameters
    ----------
    what : str
        The argument and what was found, such as ``perplexity=50.0``.
    rule : str
        What must hold, such as ``at most n_neighbors=30``.
    fact : str, default=""
        What in the data makes the rule bind; put in brackets.
    remedy : str, default=""
        One sentence that says what to do.
    who : str, default=""
        The class, function or command that refuses; by default the one that the user called, the name of the run.
    """
    text = f"{who or caller()}: {what} must be {rule}"
    if fact:
        text += f" ({fact})"
    return f"{text}. {remedy}".rstrip()


def warn(text: str, category: type[Warning]) -> None:
    """Warn of something, under the name of what the user called, and point at the line that called it.

    Parameters
    ----------
    text : str
        What happened and what was done about it.
    category : type of Warning
        Which of `gnomon.exceptions`.
    """
    pass_on(f"{caller()}: {text}", category)


_UNSAID: ContextVar[tuple[type[Warning], ...]] = ContextVar("gnomon_unsaid", default=())


@contextmanager
def unsaid(category: type[Warning]) -> Iterator[None]:
    """Leave warnings of gnomon of a kind unsaid inside a block, as the caller has told of what they say.

    Those of other threads are given, which `warnings.catch_warnings` would lose.

    Parameters
    ----------
    category : type of Warning
        Which of `gnomon.exceptions`; with it all that are of its kind.
    """
    token = _UNSAID.set((*_UNSAID.get(), category))
    try:
        yield
    finally:
        _UNSAID.reset(token)


def pass_on(text: str, category: type[Warning]) -> None:
    """Warn with a whole text, which another process may have written; or keep it, if the run collects warnings."""
    if issubclass(category, _UNSAID.get()):
        return
    collected = current_run().warned
    if collected is not None:
        collected.append((text, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def warning_once(told: set[str]) -> Iterator[None]:
    """Let only those of gnomon's warnings reach the caller that one of several fits has not given before.

    Parameters
    ----------
    told : set of str
        What was told, which grows. What the data are is the same for all methods: there the name of who told it is
        left out.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GnomonWarning)
        yield
    for one in caught:
        text = str(one.message)
        text = text.partition(": ")[2] if issubclass(one.category, DataWarning) else text
        if text not in told or not issubclass(one.category, GnomonWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        told.add(text)


class Rule(Protocol):
    """What a parameter may be: `check` returns the value in canonical form or raises ValueError or TypeError."""

    @property
    def text(self) -> str:
        """The rule in words, as it stands after "must be"."""
        ...

    def check(self, value: object) -> Any:
        """Return the value in canonical form; raise TypeError for a wrong type, ValueError for a wrong value."""
        ...


def _interval(low: float | None, high: float | None, low_open: bool, high_open: bool) -> str:
    bounds = []
    if low is not None:
        bounds.append(f"{'>' if low_open else '>='} {_plain(low)}")
    if high is not None:
        bounds.append(f"{'<' if high_open else '<='} {_plain(high)}")
    return " and ".join(bounds)


def _plain(bound: float) -> str:
    """Write a bound with all its digits, whole numbers without a decimal point."""
    return str(int(bound)) if bound == int(bound) and abs(bound) < 2**63 else repr(bound)


def _float(value: numbers.Real) -> float:
    """Convert to a finite float; raise ValueError for nan, infinities and integers beyond the range of a float."""
    try:
        number = float(value)
    except OverflowError:
        raise ValueError from None
    if not math.isfinite(number):
        raise ValueError
    return number


def _shown(value: object) -> str:
    """Write a value for an error text: as Python does, but containers of many elements by type and shape alone."""
    text = repr(value)
    if len(text) <= 80 and "\n" not in text:
        return text
    shape = getattr(value, "shape", None)
    return f"<{type(value).__name__}>" if shape is None else f"<{type(value).__name__} of shape {tuple(shape)}>"


@dataclass(frozen=True)
class Integer:
    """An integer in an interval; 15.0 and NumPy integers are taken as 15, booleans are not."""

    low: int | None = None
    high: int | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"an integer {_interval(self.low, self.high, False, False)}".rstrip()

    def check(self, value: object) -> int:
        """Return a Python int."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError
        number = int(value) if isinstance(value, numbers.Integral) else _float(value)
        if int(number) != number:
            raise ValueError
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise ValueError
        return int(number)


SEED: Rule = Integer(0, 2**63 - 1)
"""Of parts that draw numbers: what the kernels take, and what `gnomon._random.resolve_seed` returns."""


@dataclass(frozen=True)
class Real:
    """A finite number in an interval."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"a number {_interval(self.low, self.high, self.low_open, self.high_open)}".rstrip()

    def check(self, value: object) -> float:
        """Return a Python float."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError
        number = _float(value)
        if self.low is not None and (number < self.low or (self.low_open and number == self.low)):
            raise ValueError
        if self.high is not None and (number > self.high or (self.high_open and number == self.high)):
            raise ValueError
        return number


@dataclass(frozen=True)
class Boolean:
    """True or False."""

    text = "True or False"

    def check(self, value: object) -> bool:
        """Return a Python bool."""
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise TypeError


@dataclass(frozen=True)
class Nothing:
    """None."""

    text = "None"

    def check(self, value: object) -> None:
        """Return None."""
        if value is not None:
            raise TypeError


class Options:
    """One of a few strings."""

    def __init__(self, *options: str) -> None:
        self.options = options

    @property
    def text(self) -> str:
        """The rule in words."""
        return "one of " + ", ".join(repr(o) for o in self.options)

    def check(self, value: object) -> str:
        """Return the string."""
        if not isinstance(value, str):
            raise TypeError
        if value not in self.options:
            raise ValueError
        return str(value)

    def hint(self, value: object) -> str:
        """Return which string a near miss means, as a sentence; "" if none is near."""
        return near_miss(value, self.options)


@dataclass(frozen=True)
class Instance:
    """An instance of given types."""

    types: tuple[type, ...]
    name: str

    @property
    def text(self) -> str:
        """The rule in words."""
        return self.name

    def check(self, value: object) -> object:
        """Return the value."""
        if not isinstance(value, self.types):
            raise TypeError
        return value


@dataclass(frozen=True)
class Having:
    """An object, not a class, with given methods."""

    methods: tuple[str, ...]
    name: str

    @property
    def text(self) -> str:
        """The rule in words."""
        return self.name

    def check(self, value: object) -> object:
        """Return the value."""
        if isinstance(value, type) or not all(callable(getattr(value, method, None)) for method in self.methods):
            raise TypeError
        return value


class Either:
    """Any of several rules; the first that accepts the value decides its form."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    @property
    def text(self) -> str:
        """The rule in words."""
        return " or ".join(rule.text for rule in self.rules)

    def check(self, value: object) -> Any:
        """Return the value as the first accepting rule gives it."""
        right_type = False
        for rule in self.rules:
            try:
                return rule.check(value)
            except ValueError:
                right_type = True
            except TypeError:
                pass
        raise ValueError if right_type else TypeError

    def hint(self, value: object) -> str:
        """Return what one of the rules knows of a value that all refuse, as a sentence; "" if none does."""
        return next(filter(None, (_hint(rule, value) for rule in self.rules)), "")


@dataclass(frozen=True)
class Elsewhere:
    """A rule, and what stands here for values that other libraries take."""

    rule: Rule
    told: Mapping[object, str]
    """Sentences by value, each with what to write here."""

    @property
    def text(self) -> str:
        """The rule in words."""
        return self.rule.text

    def check(self, value: object) -> Any:
        """Return the value as the rule gives it."""
        return self.rule.check(value)

    def hint(self, value: object) -> str:
        """Return what stands here for a value, as a sentence; "" if nothing is known of it."""
        known = value is None or isinstance(value, str)
        return (self.told.get(value, "") if known else "") or _hint(self.rule, value)


def near_miss(value: object, options: Iterable[str]) -> str:
    """Return which of some strings one means that is none of them, as a question; "" if none is near.

    Parameters
    ----------
    value : object
        What was given.
    options : iterable of str
        In small letters.
    """
    near = nearest(value, options) if isinstance(value, str) else None
    return "" if near is None else f"Did you mean {near!r}?"


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Return which of some names has nearly the letters and digits of another one, the last of several; None if none.

    Parameters
    ----------
    name : str
    options : iterable of str
    """
    import difflib

    bare = {letters_of(one): one for one in options}
    near = difflib.get_close_matches(letters_of(name), bare, n=1, cutoff=_NEAR)
    return bare[near[0]] if near else None


def letters_of(name: str) -> str:
    """Return a name in small letters, without what parts its words; as it is if it has neither letters nor digits."""
    return "".join(filter(str.isalnum, name.lower())) or name


def _hint(rule: Rule, value: object) -> str:
    """Return what a rule knows of a value that it refuses, as a sentence; "" if nothing."""
    hint = getattr(rule, "hint", None)
    return "" if hint is None else str(hint(value))


def check_parameters(
    rules: Mapping[str, Rule], values: Mapping[str, object], names: Sequence[str] | None = None, *, who: str = ""
) -> dict[str, Any]:
    """Check parameters against rules declared as data.

    Parameters
    ----------
    rules : mapping of str to Rule
        What each parameter may be.
    values : mapping of str to object
        What was given.
    names : sequence of str, default=None
        The parameters to check; all that have a rule by default.
    who : str, default=""
        The class or function that refuses; by default the one that the user called.

    Returns
    -------
    dict
        The values in canonical form (for instance 15 for 15.0).

    Raises
    ------
    TypeError
        If a value has a type that no value of the parameter has.
    ValueError
        If a value lies outside what the rule allows.
    """
    checked = {}
    for name in rules if names is None else names:
        rule, value = rules[name], values[name]
        try:
            checked[name] = rule.check(value)
        except (TypeError, ValueError) as error:
            text = message(
                f"{name}={_shown(value)}",
                rule.text,
                fact="" if isinstance(error, ValueError) else f"found {type(value).__name__}",
                remedy=_hint(rule, value),
                who=who,
            )
            raise type(error)(text) from None
    return checked


def check_positions(found: Any, what: str, n_samples: int, n_components: int | None = None) -> Any:
    """Return positions that a part of the user's own has found, as they are, or raise an error that names the part.

    Parameters
    ----------
    found : ndarray
        Positions, it is hoped.
    what : str
        Where they come from, such as ``fit_transform(X) of Mine``.
    n_samples : int
    n_components : int or None, default=None
        None takes any number but 0.
    """
    width = "n_components" if n_components is None else n_components
    rule = f"an array of numbers of shape ({n_samples}, {width})"
    try:
        positions = np.asarray(found)
    except (TypeError, ValueError):  # rows of several lengths
        positions = np.asarray(None)
    if positions.dtype.kind not in "fiub":
        fact = f"found {type(found).__name__}" if positions.ndim == 0 else f"found {positions.dtype}"
        raise TypeError(message(what, rule, fact=fact))
    if positions.shape != (n_samples, n_components or max(1, *positions.shape[1:2], 1)):
        raise ValueError(message(what, rule, fact=f"found shape {positions.shape}"))
    lost = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if lost.size:
        fact = f"{lost.size:,} of {n_samples:,} rows hold NaN or infinity, the first is row {lost[0]}"
        raise ValueError(message(what, "finite", fact=fact))
    return positions
