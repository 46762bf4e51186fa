"""Names of features: kept as given, made unique and non-empty."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gnomon._entrance import part
from gnomon._validation import letters_of, message, nearest

__all__ = [
    "are_default_names",
    "check_name_count",
    "clean_names",
    "column_text",
    "default_names",
    "names_beside",
    "names_of_coordinates",
    "nearest_name",
    "told_repeated",
    "words_of",
]

_FEWEST_LETTERS = 3  # of names of which one letter may be another


@part("gnomon")
def clean_names(names: Iterable[object]) -> list[str]:
    """Turn names of any kind into unique, non-empty strings.

    A name that occurs again gets its occurrence in brackets: "a", "a (2)". An empty or missing name becomes
    "column 3", counted from 0 as everywhere in Python.
    """
    if isinstance(names, (str, bytes)):
        raise TypeError(message(f"feature_names={names!r}", "a sequence of names", fact="found one string"))
    cleaned: list[str] = []
    for position, name in enumerate(names):
        text = _text_of(name)
        cleaned.append(text if text.strip() else f"column {position}")
    given = set(cleaned)
    taken: set[str] = set()
    occurrences: dict[str, int] = {}
    for position, text in enumerate(cleaned):
        unique = text
        while unique in taken or (unique != text and unique in given):
            occurrences[text] = occurrences.get(text, 1) + 1
            unique = f"{text} ({occurrences[text]})"
        taken.add(unique)
        cleaned[position] = unique
    return cleaned


def _text_of(name: Any) -> str:
    """Return a name as text, that of several levels joined; empty for a missing one."""
    if isinstance(name, tuple):
        return " / ".join(map(str, name))
    if isinstance(name, datetime.datetime) and name.time() == datetime.time():
        return str(name.date())
    return "" if name is None or name != name else str(name)


def told_repeated(names: Iterable[object]) -> str:
    """Say which name several columns have, and how `clean_names` tells them apart; empty if all differ.

    Parameters
    ----------
    names : iterable of object
        As they came. Those that are empty or missing are no names.
    """
    counts = Counter(text for text in map(_text_of, names) if text.strip())
    often = [name for name, count in counts.items() if count > 1]
    if not often:
        return ""
    others = len(often) - 1
    more = f", {others:,} more {'name comes' if others == 1 else 'names come'} again" if others else ""
    fact = f"{counts[often[0]]} columns are called {often[0]!r}{more}: they are told apart by their order, as"
    return f"{fact} {often[0]!r} and '{often[0]} (2)', in new rows too. Give each column a name of its own"


def names_beside(n_features: int, others: Sequence[str]) -> list[str]:
    """Return the names of columns of numbers without a header, by their place: those that other columns do not have."""
    return [name for name in map(str, range(n_features + len(others))) if name not in others][:n_features]


def default_names(n_features: int, image_shape: tuple[int, ...] | None = None) -> list[str]:
    """Return names for features that have none: "feature 3", or "pixel 0,3" (row, column) where they are pixels."""
    if image_shape is None:
        return [f"feature {j}" for j in range(n_features)]
    height, width, *channels = image_shape
    colours = (" red", " green", " blue") if channels == [3] else ("",)
    return [f"pixel {r},{c}{colour}" for r in range(height) for c in range(width) for colour in colours]


def are_default_names(names: Iterable[str]) -> bool:
    """Return whether columns have no names but their numbers, as those of an array and of a frame are called."""
    given = list(names)
    return given in (default_names(len(given)), [str(j) for j in range(len(given))])


def words_of(name: str) -> list[str]:
    """Return the words of a name, of letters alone: those of "pickupHour_2" are "pickup" and "Hour"."""
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))


def check_name_count(names: Sequence[str], n_features: int) -> None:
    """Raise ValueError unless there is one name for each feature."""
    if len(names) != n_features:
        fact = f"{len(names)} names, {n_features} columns"
        raise ValueError(message("feature_names", "one for each column of X", fact=fact))


def column_text(column: int, names: Sequence[str] | None) -> str:
    """Return how a column is called in an error text."""
    return f"column {column}" if names is None else f"column {names[column]!r}"


def names_of_coordinates(X: Any) -> list[str] | None:
    """Return the names that a two-dimensional array of xarray has for its columns, None where it has none.

    Parameters
    ----------
    X : object
        Texts along the last dimension are names; numbers are not.
    """
    coordinates: Any = getattr(X, "coords", None)
    dimensions: Any = getattr(X, "dims", None)
    if coordinates is None or not isinstance(dimensions, tuple) or len(dimensions) != 2:
        return None
    if dimensions[1] not in coordinates:
        return None
    names = np.asarray(coordinates[dimensions[1]])
    if names.ndim != 1 or not all(isinstance(name, str) for name in names.tolist()):
        return None
    return clean_names(names.tolist())


def nearest_name(name: str, available: Iterable[str]) -> str:
    """Return which of some names one means that is none of them; empty if none is near.

    Near is one of nearly the same letters and digits, also in another order or case, one with a single other letter,
    and the only one that has all words of the name beside others, such as "malic_acid" for "malic".

    Parameters
    ----------
    name : str
    available : iterable of str
    """
    names = list(available)
    if (found := nearest(name, reversed(names))) is not None:
        return found
    bare = {letters_of(one): one for one in reversed(names)}
    given = letters_of(name)
    near = [one for one in bare if _are_turned(given, one)] or [one for one in bare if _are_one_off(given, one)]
    if near:
        return bare[near[0]]
    words = {*_words(name)}
    wider = [one for one in names if words and words < {*_words(one)}]
    return wider[0] if len(wider) == 1 else ""


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", name.lower()) if word]


def _are_turned(name: str, other: str) -> bool:
    return len(name) >= _FEWEST_LETTERS and sorted(name) == sorted(other)


def _are_one_off(name: str, other: str) -> bool:
    if len(name) < _FEWEST_LETTERS or len(name) != len(other):
        return False
    return sum(one != two for one, two in zip(name, other, strict=True)) == 1
