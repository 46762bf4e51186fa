"""Columns of places on a sphere, latitudes and longitudes, known by their names."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon._validation import message
from gnomon.data.names import words_of

__all__ = ["LATITUDES", "LONGITUDES", "others_than", "refuse_longitude_first"]

LATITUDES, LONGITUDES = frozenset({"lat", "latitude"}), frozenset({"lon", "lng", "long", "longitude"})
"""Words in the names of such columns, in lower case."""


def others_than(words: Sequence[str], some: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a name that are none of some: those that a latitude and its longitude have in common."""
    return tuple(word for word in words if word not in some)


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
        If the names say that the first column is a longitude and the second a latitude.
    """
    if not isinstance(metric, str) or metric != "haversine" or names is None or len(names) != 2:
        return
    first, second = ({word.lower() for word in words_of(name)} for name in names)
    if first & LONGITUDES and second & LATITUDES and not (first & LATITUDES or second & LONGITUDES):
        raise ValueError(
            message(
                "metric='haversine'",
                "used with the latitude before the longitude",
                fact=f"the columns are {names[0]!r} and {names[1]!r}",
                remedy=f"Pass X[[{names[1]!r}, {names[0]!r}]], in radians.",
            )
        )
