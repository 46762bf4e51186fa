"""Columns of places on a sphere, latitudes and longitudes of the earth and of the sky, known by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gnomon._validation import message
from gnomon.data.names import words_of

__all__ = ["LATITUDES", "LONGITUDES", "is_longitude", "latitudes_of", "refuse_longitude_first", "told_terms"]

_EARTH = ("latitude", "longitude")
_SKY = ("declination", "right ascension")
_PAIRS = (  # words of a latitude and of its longitude, in lower case
    ({"lat", "latitude"}, {"lon", "lng", "long", "longitude"}, _EARTH),
    ({"glat"}, {"glon"}, _EARTH),
    ({"elat"}, {"elon"}, _EARTH),
    ({"dec", "de", "decl", "declination", "dej", "decj", "dedeg", "decdeg"}, {"ra", "raj", "radeg"}, _SKY),
)
_VAGUE = (({"b"}, {"l"}, _EARTH), ({"delta"}, {"alpha"}, _SKY))
"""Words that stand for much else, each alone: only both beside each other tell."""

LATITUDES = frozenset().union(*(latitudes for latitudes, _, _ in _PAIRS))
LONGITUDES = frozenset().union(*(longitudes for _, longitudes, _ in _PAIRS))
"""Words in the names of such columns, in lower case."""


def is_longitude(name: str) -> bool:
    """Return whether a name says a longitude or a right ascension by itself."""
    return bool(LONGITUDES.intersection(_words(name)))


def latitudes_of(names: Sequence[str]) -> dict[int, int]:
    """Return the latitude that belongs to each longitude by the words of their names, by their numbers.

    Their names have all other words in common, as "home lat" and "home lng", or "RA_ICRS" and "DE_ICRS" have.
    """
    words = [_words(name) for name in names]
    found: dict[int, int] = {}
    for latitudes, longitudes, _ in (*_PAIRS, *_VAGUE):
        known = {_others(some, latitudes): k for k, some in enumerate(words) if latitudes.intersection(some)}
        for k, some in enumerate(words):
            if longitudes.intersection(some) and (other := known.get(_others(some, longitudes))) is not None:
                found.setdefault(k, other)
    return found


def told_terms(longitude: str) -> tuple[str, str]:
    """Return what a latitude and its longitude are called, by the name of the longitude."""
    words = _words(longitude)
    return next((terms for _, longitudes, terms in (*_PAIRS, *_VAGUE) if longitudes.intersection(words)), _EARTH)


def refuse_longitude_first(names: Sequence[str] | None, metric: object) -> None:
    """Raise ValueError if haversine distances are asked for of a longitude and a latitude, in this order.

    Parameters
    ----------
    names : sequence of str or None
        Of the columns.
    metric : object
        Under others than "haversine" any order will do.

    Raises
    ------
    ValueError
        If the names say that the first column is a longitude and the second a latitude, or a right ascension and a
        declination.
    """
    if not isinstance(metric, str) or metric != "haversine" or names is None or len(names) != 2:
        return
    first, second = ({*_words(name)} for name in names)
    alike = first & LONGITUDES and second & LATITUDES and not (first & LATITUDES or second & LONGITUDES)
    if alike or latitudes_of(names).get(0) == 1:
        latitude, longitude = told_terms(names[0])
        raise ValueError(
            message(
                "metric='haversine'",
                f"used with the {latitude} before the {longitude}",
                fact=f"the columns are {names[0]!r} and {names[1]!r}",
                remedy=f"Pass X[[{names[1]!r}, {names[0]!r}]], in radians.",
            )
        )


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case; "right ascension" is "ra"."""
    return [word.lower() for word in words_of(re.sub(r"(?i)right[\s_]*ascension", "ra", name))]


def _others(words: Sequence[str], some: set[str]) -> tuple[str, ...]:
    """Return the words of a name that are none of some: those that a latitude and its longitude have in common."""
    return tuple(word for word in words if word not in some)
