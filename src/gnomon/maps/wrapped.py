"""Columns that a map compares as numbers though their values start again: angles, hours, months, weekdays."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.circles import ANGLE_WORDS, ANGLES, DEGREES, TURN, TURN_ROUNDED, Circle, circle_of, tells_nothing
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names, words_of
from gnomon.data.places import is_longitude, latitudes_of, told_terms
from gnomon.exceptions import DataWarning

__all__ = ["told_of_cut", "warn_of_wrapped"]

Floats = npt.NDArray[np.float64]

_OF_NUMBERS = ("euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "minkowski", "gower")
_STRAIGHT = ("euclidean", "l2", "sqeuclidean")
_NARROW = 0.75  # times that a degree of longitude is as long as one of latitude, from which on it is told: from 41 on
_MOST_STATED = 8  # columns whose periods are written out
_NAMED = 5  # columns

_ENDS = "with rows at both ends: "
_CUT = re.compile(rf"{_ENDS}(?P<columns>.*?)\. As numbers")
_OF_TURN = 0.25  # that a column without a telling name goes round, beside angles, to be one


def warn_of_wrapped(X: Any, metric: str, names: Sequence[str], *, divided: bool = False) -> None:
    """Warn if columns that are compared by their differences hold what look like angles, hours, months or weekdays.

    They do if they fill a circle (`circle_of`): rows at both of its ends are near on it and farthest apart as numbers.

    Latitudes and longitudes are warned of together, as haversine distances take both, and so are declinations and
    right ascensions, and other coordinates of the sky; those of a region where no
    column is divided and a degree of longitude is three quarters as long as one of latitude or less.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), or CSR, of which nothing is said
    metric : str
    names : sequence of str
        Of the columns.
    divided : bool, default=False
        Whether columns are divided by their spreads before they are compared.
    """
    if metric not in _OF_NUMBERS or not isinstance(X, np.ndarray) or not len(X):
        return
    low, high = (np.asarray(of(X, axis=0), dtype=np.float64) for of in (np.min, np.max))
    known = list(names) or default_names(X.shape[1])
    beside = latitudes_of(known)
    found: dict[int, Circle] = {}
    for k in np.flatnonzero(high > low).tolist():
        around = circle_of(X[:, k], known[k], longitude=k in beside)
        if around is not None:
            found[k] = around
    places = _places(found, beside, low, high)
    if places:
        warn(_told_places(places, found, known, (low, high)), DataWarning)
    elif not divided and metric in _STRAIGHT:
        _warn_of_narrow_degrees(X, known, beside, low, high)
    rest = {k: circle for k, circle in found.items() if k not in places}
    if rest:
        warn(_told_wrapped(rest, known, (low, high), metric, beside=bool(places)), DataWarning)


def told_of_cut(notes: Sequence[str]) -> str:
    """Say of which columns clusters may be cut where values start again, by the notes of a map; empty if of none."""
    found = next(filter(None, map(_CUT.search, notes)), None)
    if found is None:
        return ""
    return (
        f"Columns whose values start again are compared as numbers ({found['columns']}): a group that lies there falls "
        "into two clusters, which are told apart all the same. The notes of the map say how to have it whole."
    )


def _places(found: dict[int, Circle], beside: dict[int, int], low: Floats, high: Floats) -> dict[int, int]:
    """Return the latitude that belongs to each longitude found, by their numbers."""
    places = {}
    for k, circle in found.items():
        other = beside.get(k)
        quarter = circle.period / 4.0 * (1.0 + TURN_ROUNDED)
        if other is not None and circle.kind == ANGLES and -quarter <= low[other] and high[other] <= quarter:
            places[k] = other
    return places


def _warn_of_narrow_degrees(
    X: npt.NDArray[Any], names: list[str], beside: dict[int, int], low: Floats, high: Floats
) -> None:
    """Warn of undivided latitudes and longitudes of a region where a degree of longitude is much shorter."""
    for k, other in beside.items():
        if not is_longitude(names[k]):
            continue  # "l" beside "b" may be lengths, unless it goes all round
        farthest = max(-low[other], high[other])
        across, down = high[k] - low[k], high[other] - low[other]
        if not (farthest <= DEGREES / 4.0 and 0.0 < across <= DEGREES / 2.0 and down > 0.0):
            continue
        middle = float(np.median(X[:, other]))
        narrow = math.cos(math.radians(middle))
        if not 0.0 < narrow <= _NARROW:
            continue
        latitude, longitude = told_terms(names[k])
        remedy = f"multiply the {longitude}s by {narrow:.2f}"
        if len(names) == 2:
            remedy += f", or pass numpy.radians of them, {latitude} first, with metric='haversine'"
        warn(
            f"{names[other]!r} and {names[k]!r} are compared as they are, but around {middle:.3g} degrees of "
            f"{latitude} a degree of {longitude} is {narrow:.2f} times as long as one of {latitude}: places look too "
            f"far apart from east to west. If they are in degrees: {remedy}.",
            DataWarning,
        )


def _told_places(
    places: dict[int, int], found: dict[int, Circle], names: list[str], ends: tuple[Floats, Floats]
) -> str:
    """Say which columns look like places on a sphere, and how to have them as such."""
    low, high = ends
    pairs = [f"{names[other]!r} and {names[k]!r}" for k, other in places.items()]
    k = next(iter(places))
    terms = [told_terms(names[number]) for number in places]
    latitude, longitude = terms[0] if len({*terms}) == 1 else ("latitude", "longitude")
    radians = found[k].period == TURN
    if len(names) == 2:
        rows = "them" if radians else "numpy.radians of them"
        remedy = f"pass {rows}, {latitude} first, with metric='haversine'"
    else:
        where = "" if radians else " (in radians)"
        remedy = (
            f"put three columns in place of each pair, cos({latitude}) * cos({longitude}), cos({latitude}) * "
            f"sin({longitude}) and sin({latitude}){where}: straight distances of these follow the sphere"
        )
    return (
        f"Columns hold places all round a sphere, as {latitude}s and {longitude}s do: {'; '.join(pairs)}, the latter "
        f"from {low[k]:.4g} to {high[k]:.4g}, with rows at both ends. As numbers these are far apart, and a group that "
        f"lies there falls into two. If they are {latitude}s and {longitude}s, {remedy}."
    )


def _may_be_an_angle(name: str, *, wide: bool) -> bool:
    """Return whether a column that lies within one turn is one, by its name or, where that tells nothing, its range."""
    words = {word.lower() for word in words_of(name)}
    return bool(words & ANGLE_WORDS) or (wide and tells_nothing(name))


def _told_wrapped(
    found: dict[int, Circle], names: Sequence[str], ends: tuple[Floats, Floats], metric: str, *, beside: bool
) -> str:
    """Say which columns look like angles, and how to have them as such; `beside` places that need their own remedy."""
    (low, high), columns = ends, list(found)
    shown = first_few((f"{names[k]!r} from {low[k]:.4g} to {high[k]:.4g}" for k in columns), _NAMED)
    begins, periods = {one.begin for one in found.values()}, {one.period for one in found.values()}
    kinds = list(dict.fromkeys(one.kind for one in found.values()))
    kind = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    first = found[columns[0]]
    near = [first.begin + turn * first.period for turn in (1.0 / 360.0, 1.0 - 1.0 / 360.0)]
    if first.kind != ANGLES:
        near = [float(low[columns[0]]), float(high[columns[0]])]
    remedy = f"give the sine and cosine of each{'' if kinds == [ANGLES] else ', as an angle,'} in place of it"
    others = [k for k in range(len(low)) if k not in found]
    wide = high - low >= _OF_TURN * first.period
    of_all = not others or (kinds == [ANGLES] and all(_may_be_an_angle(names[k], wide=wide[k]) for k in others))
    if beside:
        pass
    elif of_all and len(periods) == 1 and low.min() >= min(begins) and high.max() <= min(begins) + max(periods):
        remedy = f"pass metric='periodic({first.period:.16g})'"
    elif len(low) <= _MOST_STATED and metric != "gower":
        stated = ", ".join(f"{found[k].period:.16g}" if k in found else "inf" for k in range(len(low)))
        remedy = f"pass metric='periodic({stated})', under which columns keep their units, or {remedy}"
    return (
        f"Columns hold values all round a circle, as {kind} do, {_ENDS}{shown}. "
        f"As numbers {near[0]:.4g} and {near[1]:.4g} are far apart, and a group that lies there falls into two. If "
        f"they are {kind}, {remedy}."
    )
