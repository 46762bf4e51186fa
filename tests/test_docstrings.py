"""Every public class and function says what it is and documents all that it takes, holds and returns, and no more."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import pytest

_ROOMS = [
    "gnomon",
    "gnomon.affinities",
    "gnomon.comparison",
    "gnomon.data",
    "gnomon.datasets",
    "gnomon.evaluation",
    "gnomon.explanations",
    "gnomon.geometry",
]
_ROOMS += [
    "gnomon.initialization",
    "gnomon.kernels",
    "gnomon.maps",
    "gnomon.maps.printed",
    "gnomon.methods",
    "gnomon.neighbors",
]
_ROOMS += ["gnomon.objectives", "gnomon.objectives.terms", "gnomon.optimizers", "gnomon.plot", "gnomon.spectrum"]
_ROOMS += ["gnomon.theory", "gnomon.viewer", "gnomon.notebook", "gnomon.server"]
_FAULTS = {
    "GL08": "no docstring",
    "SS01": "no summary",
    "PR02": "parameters documented that do not exist",
    "PR04": "a parameter without a type",
    "PR07": "a parameter without a description",
}
# Rooms of the questions that maps and explanations ask on.
_QUESTIONS = [
    f"gnomon.explanations.{name}"
    for name in ("axis", "contrast", "counterfactual", "outliers", "saliency", "suspects", "why")
]
# Classes whose attributes are documented, not how they are made.
_BUILT_BY_FUNCTIONS = {"Explanation", "Gram", "StoredExplanation"}


def _public(rooms: list[str]) -> Iterator[tuple[str, Any]]:
    for room in rooms:
        module = importlib.import_module(room)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{value.__module__}.{value.__qualname__}", value


@functools.cache
def _parsed(text: str) -> Any:
    """Return the sections of a docstring, which many classes share through their bases."""
    from numpydoc.docscrape import NumpyDocString

    return NumpyDocString(inspect.cleandoc(text))


def _names(value: Any, *sections: str) -> set[str]:
    """Return what sections of a docstring name; of a class those of its bases count as well."""
    sources = value.__mro__ if inspect.isclass(value) else [value]
    found: set[str] = set()
    for source in sources:
        text = source.__dict__.get("__doc__") if inspect.isclass(source) else source.__doc__
        if text and source.__module__.split(".")[0] not in ("builtins", "sklearn", "typing"):
            doc = _parsed(text)
            for section in sections:
                entries = [one.name or one.type for one in doc[section]]
                found |= {name.strip().lstrip("*") for entry in entries for name in entry.split(",")}
    return found


def _needed(value: Any) -> tuple[set[str], tuple[str, ...]]:
    """Return the names that a class or function must document, and the sections in which they may stand."""
    if inspect.isfunction(value):
        return set(inspect.signature(value).parameters), ("Parameters", "Other Parameters")
    if issubclass(value, BaseException):
        return set(), ()
    if hasattr(value, "_fields"):
        return set(value._fields), ("Attributes",)
    if getattr(value, "_is_protocol", False):
        return {name for name in inspect.get_annotations(value) if name[0] != "_"}, ("Attributes",)
    if dataclasses.is_dataclass(value):
        fields = {one.name for one in dataclasses.fields(value) if one.init and one.name[0] != "_"}
        return fields, ("Parameters", "Attributes")
    if value.__name__ in _BUILT_BY_FUNCTIONS:
        return {"at least one"} if not _names(value, "Attributes") else set(), ("Attributes",)
    taken = set(inspect.signature(value).parameters) if "__init__" in value.__dict__ else set()
    return taken, ("Parameters",)


def _missing(value: Any) -> list[str]:
    """Say what a docstring should document and does not."""
    needed, sections = _needed(value)
    missing = sorted(needed - (_names(value, *sections) if needed else set()))
    summary = (value.__doc__ or "").split("\n", 1)[0]
    if inspect.isfunction(value) and inspect.signature(value).return_annotation not in (None, "None"):
        if not needed and summary.startswith("Return "):
            return missing  # one line says all
        missing += [] if _names(value, "Returns", "Yields") else ["what it returns"]
    return missing


_VALUES = dict(sorted(_public(_ROOMS)))
_WITH_DEFAULTS = dict(sorted(_public([*_ROOMS, *_QUESTIONS])))


def _by_room(values: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names by the first two words of each."""
    found: dict[str, list[str]] = {}
    for name in values:
        found.setdefault(".".join(name.split(".")[:2]), []).append(name)
    return found


@pytest.mark.parametrize("names", _by_room(_VALUES).values(), ids=_by_room(_VALUES))
def test_a_docstring_names_all_that_is_taken_held_and_returned(names):
    pytest.importorskip("numpydoc")
    assert {name: missing for name in names if (missing := _missing(_VALUES[name]))} == {}


@functools.cache
def _bare() -> Any:
    """Return a class of docstrings that does not look for its object's place in a file, nor for excuses there."""
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import Validator

    class Bare(Validator):
        source_file_name = None
        source_file_def_line = None

        def __init__(self, obj_name: str) -> None:
            super().__init__(get_doc_object(self._load_obj(obj_name)))

    return Bare


def _faults(name: str) -> dict[str, str]:
    """Return what numpydoc finds wrong with a docstring."""
    from numpydoc.validate import validate

    return {code: text for code, text in validate(name, _bare())["errors"] if code in _FAULTS}


@pytest.mark.parametrize("names", _by_room(_VALUES).values(), ids=_by_room(_VALUES))
def test_a_docstring_names_nothing_else_and_explains_it(names):
    pytest.importorskip("numpydoc")
    for name in names:
        found = _faults(name)
        if name.startswith("gnomon.explanations"):
            found.pop("PR04", None)  # several parameters "as in" another function
        assert found == {}, name


def _said_defaults(value: Any) -> dict[str, Any]:
    """Return the defaults that a docstring states as numbers, texts, truth values or None."""
    doc = _parsed(value.__doc__ or "")
    found = {}
    for entry in [*doc["Parameters"], *doc["Other Parameters"], *doc["Attributes"]]:
        names = [name.strip().lstrip("*") for name in entry.name.split(",")]
        said = entry.type.partition("default=")[2].split(" and ")
        for name, text in zip(names, said if len(said) == len(names) else said * len(names), strict=False):
            with contextlib.suppress(ValueError, SyntaxError):
                found[name] = ast.literal_eval(text.strip())
    return found


def _wrong_defaults(value: Any) -> list[str]:
    """Say which defaults of a function, or of a class and its methods, are others than its docstring states."""
    wrong = []
    inner = vars(value).items() if inspect.isclass(value) else ()
    for one in (value, *(method for name, method in inner if inspect.isfunction(method) and name[0] != "_")):
        taken = {name: at.default for name, at in inspect.signature(one).parameters.items()} if one.__doc__ else {}
        for name, said in _said_defaults(one).items():
            known = name in taken and repr(taken[name]) != "<factory>"  # of a dataclass: made when it is needed
            if known and taken[name] != said:
                wrong.append(f"{one.__name__}: {name}={taken[name]!r}, and its docstring says {said!r}")
    return wrong


@pytest.mark.parametrize("names", _by_room(_WITH_DEFAULTS).values(), ids=_by_room(_WITH_DEFAULTS))
def test_what_a_docstring_says_is_the_default_is(names):
    pytest.importorskip("numpydoc")
    assert {name: wrong for name in names if (wrong := _wrong_defaults(_WITH_DEFAULTS[name]))} == {}


def _function(a: int, b: int) -> int:
    """Add.

    Parameters
    ----------
    a, b : int
        Two numbers.

    Returns
    -------
    int
        Their sum.
    """
    return a + b


def _power(base: float, exponent: float = 2.0, offset: float = 0.0) -> float:
    """Raise.

    Parameters
    ----------
    base : float
        What is raised.
    exponent, offset : float, default=2.0 and 1.0
        To what, and what is added.
    """
    return base**exponent + offset


def test_a_default_that_is_another_than_said_is_noticed():
    pytest.importorskip("numpydoc")
    assert _wrong_defaults(_power) == ["_power: offset=0.0, and its docstring says 1.0"]


@dataclasses.dataclass
class _Record:
    """A place.

    Attributes
    ----------
    x : int
        Where.
    """

    x: int


class _Tuple(NamedTuple):
    """A place.

    Attributes
    ----------
    x : int
        Where.
    """

    x: int


class _Protocol(Protocol):
    """What has a place.

    Attributes
    ----------
    x : int
        Where.
    """

    x: int


class _Class:
    """A place.

    Parameters
    ----------
    x : int
        Where.
    """

    def __init__(self, x: int) -> None:
        self.x = x


@pytest.mark.parametrize(
    ("value", "section", "missing"),
    [
        (_function, "Parameters", ["a", "b"]),
        (_function, "Returns", ["what it returns"]),
        (_Record, "Attributes", ["x"]),
        (_Tuple, "Attributes", ["x"]),
        (_Protocol, "Attributes", ["x"]),
        (_Class, "Parameters", ["x"]),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value),
)
def test_a_deleted_section_is_noticed(value, section, missing, monkeypatch):
    pytest.importorskip("numpydoc")
    assert _missing(value) == []
    kept, _, rest = inspect.cleandoc(value.__doc__).partition(f"{section}\n---")
    _, _, after = rest.partition("\n\n")
    monkeypatch.setattr(value, "__doc__", kept + after)
    assert _missing(value) == missing
