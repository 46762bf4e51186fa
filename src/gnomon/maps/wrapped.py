"""Columns that a map compares as numbers though their values start again: angles, hours, months, weekdays."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names, words_of
from gnomon.data.places import LONGITUDES, is_longitude, latitudes_of, told_terms
from gnomon.exceptions import DataWarning

__all__ = ["told_of_cut", "warn_of_wrapped"]

Floats = npt.NDArray[np.float64]

_OF_NUMBERS = ("euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "minkowski", "gower")
_STRAIGHT = ("euclidean", "l2", "sqeuclidean")
_DEGREES, _TURN = 360.0, 2.0 * np.pi
_TURN_ROUNDED = 1e-5  # of a period, by which written values may pass its ends
_TO_THE_END = 0.01  # of a period, within which the smallest and largest values of unnamed angles are of its ends
_WINDOW = 1.0 / 24.0  # of a period, or one step of values in equal steps, at either end, where rows are counted:
_FULL = 0.5  # at least half as many as of rows all round the circle,
_LIKE, _ALIKE = 4.0, 2.0  # and at neither end so many times as many as at the other; if its name does not tell
_FULL_AROUND = 0.125  # in place of half, of what goes from minus half a turn to half a turn, as few amounts do,
_NEAREST = 0.4  # and of those rows so large a share in the halves of both windows that are nearer to the ends
_PILED = 0.5  # of the rows at the ends, of amounts that are clipped
_FEWEST_AT_END, _SHARE_AT_END = 5, 0.001  # also where the name tells, which then is enough
_FEWEST_VALUES, _FEWEST_NAMED = 20, 4  # different ones; where a name tells
_FEWEST_STEPS = 4  # of a turn
_EMPTY, _ERRORS = 0.5, 4.0  # of the rows around the seam, elsewhere; and standard errors that these are fewer by
_NARROW = 0.75  # times that a degree of longitude is as long as one of latitude, from which on it is told: from 41 on
_MOST_STATED = 8  # columns whose periods are written out
_NAMED = 5  # columns

_ANGLES, _HOURS, _MONTHS, _WEEKDAYS = "angles", "hours of the day", "months of the year", "days of the week"
_MINUTES, _SECONDS = "minutes of the hour", "seconds of the minute"
_OF_KIND = {_HOURS: 24.0, _MONTHS: 12.0, _WEEKDAYS: 7.0, _MINUTES: 60.0, _SECONDS: 60.0}
_WORDS = {  # of each, also in other languages
    _HOURS: {"hour", "hr", "hod", "tod", "stunde", "heure", "hora"},
    _MONTHS: {"month", "mnth", "monat", "mois", "mes"},
    _WEEKDAYS: {"weekday", "wday", "dow", "dayofweek", "wochentag"},
    _MINUTES: {"minute"},
}
_SECOND_WORDS = {"second", "of", "minute", "the", "local", "utc"}  # else it may be what comes after the first
_ENDS = "with rows at both ends: "
_CUT = re.compile(rf"{_ENDS}(?P<columns>.*?)\. As numbers")
_SURE_ANGLE_WORDS = {
    *(
        "angle",
        "angles",
        "degree",
        "degrees",
        "direction",
        "heading",
        "bearing",
        "azimuth",
        "azi",
        "orientation",
        "yaw",
    ),
    *("hue", "wdir", "winddir", "dihedral", "dihedrals", "torsion", "phi", "psi", "omega", "chi", "theta"),
    *LONGITUDES,
}
_ANGLE_WORDS = _SURE_ANGLE_WORDS | {  # others of which may also say something else
    *("ang", "deg", "dir", "az", "aspect", "course", "cog", "rotation", "roll", "phase", "wind", "wd", "strike"),
    *("trend", "anomaly", "tau", "alpha", "beta", "gamma", "delta", "epsilon", "zeta"),
}
_AMOUNTS = {  # words beside "hour" or "month" of a number of them
    *("worked", "working", "work", "watt", "kilowatt", "kwh", "amp", "man", "credit", "labor", "labour", "per", "rate"),
    *("total", "sum", "count", "counts", "duration", "since", "until", "left", "elapsed", "spent", "slept", "sleep"),
    *("age", "tenure"),
}
_DAY_WORDS = {"hours", "hrs", "of", "day", "the", "time", "local", "utc"}
_TELLS_NOTHING = re.compile(r"(?i:feature|column|col|dim|var|[xv])?[\s_]*\d+")


_OF_TURN = 0.25  # that a column without a telling name goes round, beside angles, to be one


class _Circle(NamedTuple):
    """What a column may lie around: values of a kind from a begin to a period later."""

    kind: str
    begin: float
    period: float


def warn_of_wrapped(X: Any, metric: str, names: Sequence[str], *, divided: bool = False) -> None:
    """Warn if columns that are compared by their differences hold what look like angles, hours, months or weekdays.

    They do if all values are within one turn, reach both of its ends, and rows lie at both: within a 24th of the turn,
    or a step of values in equal steps, five and one in a thousand where the name says angle, as "phi" and "wind
    direction" do, or hour of the day. Else they are at least half as many as of rows all round the circle would be, and
    at neither end four times as many as at the other. From -180 to 180 an eighth as many are enough, unless they thin
    out to both ends, as amounts do that end there. Those rows are near on a circle and farthest apart as numbers.

    A turn is -180 to 180, 0 to 360, or as much in radians; 0 to 24 of a column whose name says that it is an hour,
    and no number of hours; so of months, days of the week, minutes and seconds. Of 20 different values or more, 4
    where the name tells. As amounts may end at 360 too, a column from 0 to 360 whose name says something else has
    twice as many rows around both ends as elsewhere, beyond chance, and at neither end twice as many as at the
    other. So has one called "hours" or "h".

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
    found: dict[int, _Circle] = {}
    for k in np.flatnonzero((high > low) & (high - low <= _DEGREES * (1.0 + _TO_THE_END))).tolist():
        words = {word.lower() for word in words_of(known[k])}
        says_else = _TELLS_NOTHING.fullmatch(known[k]) is None
        circles = [one for one in _circles(words, low[k], high[k]) if _spans(one, low[k], high[k])]
        says_else &= k not in beside
        around = [one for one in circles if _lies_around(X[:, k].astype(np.float64), one, words, says_else)]
        if around:
            found[k] = around[0]
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


def _circles(words: set[str], low: float, high: float) -> list[_Circle]:
    """Return the circles that values of a column may lie around, by the words of its name."""
    kinds = []
    if not words & _AMOUNTS:
        if words & _WORDS[_HOURS] or {"time", "of", "day"} <= words or _are_hours(words):
            kinds.append(_HOURS)
        if words & _WORDS[_MONTHS]:
            kinds.append(_MONTHS)
        if words & _WORDS[_WEEKDAYS] or {"day", "of", "week"} <= words:
            kinds.append(_WEEKDAYS)
        if words & _WORDS[_MINUTES] and "second" not in words:
            kinds.append(_MINUTES)
        if "second" in words and words <= _SECOND_WORDS:
            kinds.append(_SECONDS)
    circles = [_Circle(kind, 0.0, _OF_KIND[kind]) for kind in kinds]
    for turn in (_DEGREES, _TURN):
        circles += [_Circle(_ANGLES, begin, turn) for begin in (-turn / 2.0, 0.0)]
        if words & LONGITUDES and high - low > (1.0 - _TO_THE_END) * turn:  # maps may begin anywhere
            circles.append(_Circle(_ANGLES, low, turn))
    return circles


def _are_hours(words: set[str]) -> bool:
    """Return whether words say hours and nothing of what they are hours; "h" may be a height."""
    return words == {"h"} or (bool(words & {"hours", "hrs"}) and words <= _DAY_WORDS)


def _spans(circle: _Circle, low: float, high: float) -> bool:
    """Return whether values stay within a turn and come near both of its ends."""
    end, rounding = circle.begin + circle.period, _TURN_ROUNDED * circle.period
    if circle.kind != _ANGLES and low <= circle.begin and high >= end:
        return False  # 0 to 24 are 25 hours
    inside = low >= circle.begin - rounding and high <= end + rounding
    most = circle.period / _FEWEST_STEPS
    return inside and low <= circle.begin + most and high >= end - most


def _lies_around(values: Floats, circle: _Circle, words: set[str], says_else: bool) -> bool:
    """Return whether a column fills a turn, with rows at both of its ends.

    `says_else` is whether its name says what it holds, as "price" does; a name of words for angles tells more.
    """
    different = np.unique(values)
    begin, period = circle.begin, circle.period
    known = circle.kind == _ANGLES and begin in (0.0, -period / 2.0) and bool(words & _SURE_ANGLE_WORDS)
    told = circle.kind != _ANGLES or bool(words & _ANGLE_WORDS)
    if len(different) < (_FEWEST_NAMED if told else _FEWEST_VALUES):
        return False
    if circle.kind in (_MONTHS, _WEEKDAYS, _MINUTES, _SECONDS) and not _are_whole(different):
        return False
    step = _step(different)
    rounding = _TURN_ROUNDED * period
    if different[0] >= begin + step and different[-1] >= begin + period - rounding:
        begin += step  # 1 to 12, 10 to 360
    end, window = begin + period, max(_WINDOW * period, step)
    slack = rounding + (window if told else max(_TO_THE_END * period, step))
    if different[0] > begin + slack or different[-1] < end - slack:
        return False
    first = int(np.count_nonzero(values < begin + window - rounding))
    last = int(np.count_nonzero(values >= end - window - rounding))
    amount = not told and says_else and circle.begin == 0.0 and period == _DEGREES
    doubtful = amount or _are_hours(words)
    if (known or circle.kind == _HOURS) and not doubtful:
        return min(first, last) >= max(_FEWEST_AT_END, _SHARE_AT_END * len(values))
    piled = min(int(np.count_nonzero(values == one)) for one in (begin, end))
    if not told and step < window and piled > _PILED * min(first, last):
        return False  # clipped: on a circle both ends are one
    even, full = window / period * len(values), _FULL
    if circle.kind == _ANGLES and begin == -period / 2.0 and step < window:
        nearer = int(np.count_nonzero(np.abs(values) > period / 2.0 - window / 2.0))
        full = _FULL_AROUND if nearer >= _NEAREST * (first + last) else _FULL
    if min(first, last) < max(_FEWEST_AT_END, full * even):
        return False
    if max(first, last) > (_ALIKE if doubtful else _LIKE) * min(first, last):
        return False
    return not doubtful or _is_fullest_at_the_seam((values - begin) / period, round(period / window))


def _is_fullest_at_the_seam(turns: Floats, n_arcs: int) -> bool:
    """Return whether in some two arcs side by side half as many rows lie as in the two at the seam, beyond chance."""
    counts = np.bincount(np.remainder((turns * n_arcs + _TURN_ROUNDED).astype(np.intp), n_arcs), minlength=n_arcs)
    pairs = counts + np.roll(counts, 1)
    at_seam, fewest = int(pairs[0]), int(pairs.min())
    return fewest < _EMPTY * at_seam and at_seam - fewest > _ERRORS * np.sqrt(at_seam)


def _are_whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _step(different: Floats) -> float:
    """Return the step of values that all lie on one grid, 0 of others."""
    gaps = np.diff(different)
    if _are_whole(different):
        return float(np.gcd.reduce(gaps.astype(np.int64)))
    step = float(gaps.min())
    steps = gaps / step
    return step if len(different) < 1000 and bool((np.abs(steps - np.round(steps)) < 1e-3 * steps).all()) else 0.0


def _places(found: dict[int, _Circle], beside: dict[int, int], low: Floats, high: Floats) -> dict[int, int]:
    """Return the latitude that belongs to each longitude found, by their numbers."""
    places = {}
    for k, circle in found.items():
        other = beside.get(k)
        quarter = circle.period / 4.0 * (1.0 + _TURN_ROUNDED)
        if other is not None and circle.kind == _ANGLES and -quarter <= low[other] and high[other] <= quarter:
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
        if not (_TURN / 4.0 < farthest <= _DEGREES / 4.0 and 0.0 < across <= _DEGREES / 2.0 and down > 0.0):
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
    places: dict[int, int], found: dict[int, _Circle], names: list[str], ends: tuple[Floats, Floats]
) -> str:
    """Say which columns look like places on a sphere, and how to have them as such."""
    low, high = ends
    pairs = [f"{names[other]!r} and {names[k]!r}" for k, other in places.items()]
    k = next(iter(places))
    terms = [told_terms(names[number]) for number in places]
    latitude, longitude = terms[0] if len({*terms}) == 1 else ("latitude", "longitude")
    radians = found[k].period == _TURN
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
    return bool(words & _ANGLE_WORDS) or (wide and _TELLS_NOTHING.fullmatch(name) is not None)


def _told_wrapped(
    found: dict[int, _Circle], names: Sequence[str], ends: tuple[Floats, Floats], metric: str, *, beside: bool
) -> str:
    """Say which columns look like angles, and how to have them as such; `beside` places that need their own remedy."""
    (low, high), columns = ends, list(found)
    shown = first_few((f"{names[k]!r} from {low[k]:.4g} to {high[k]:.4g}" for k in columns), _NAMED)
    begins, periods = {one.begin for one in found.values()}, {one.period for one in found.values()}
    kinds = list(dict.fromkeys(one.kind for one in found.values()))
    kind = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    first = found[columns[0]]
    near = [first.begin + turn * first.period for turn in (1.0 / 360.0, 1.0 - 1.0 / 360.0)]
    if first.kind != _ANGLES:
        near = [float(low[columns[0]]), float(high[columns[0]])]
    remedy = f"give the sine and cosine of each{'' if kinds == [_ANGLES] else ', as an angle,'} in place of it"
    others = [k for k in range(len(low)) if k not in found]
    wide = high - low >= _OF_TURN * first.period
    of_all = not others or (kinds == [_ANGLES] and all(_may_be_an_angle(names[k], wide=wide[k]) for k in others))
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
