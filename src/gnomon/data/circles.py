"""Which columns hold values that start again, by their names and where their rows lie: angles, hours, months."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.data.names import words_of
from gnomon.data.places import LONGITUDES

__all__ = ["ANGLES", "ANGLE_WORDS", "DEGREES", "TURN", "TURN_ROUNDED", "Circle", "circle_of", "tells_nothing"]

Floats = npt.NDArray[np.float64]


DEGREES, TURN = 360.0, 2.0 * np.pi
TURN_ROUNDED = 1e-5  # of a period, by which written values may pass its ends
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
ANGLES, _HOURS, _MONTHS, _WEEKDAYS = "angles", "hours of the day", "months of the year", "days of the week"
_MINUTES, _SECONDS = "minutes of the hour", "seconds of the minute"
_OF_KIND = {_HOURS: 24.0, _MONTHS: 12.0, _WEEKDAYS: 7.0, _MINUTES: 60.0, _SECONDS: 60.0}
_WORDS = {  # of each, also in other languages
    _HOURS: {"hour", "hr", "hod", "tod", "stunde", "heure", "hora"},
    _MONTHS: {"month", "mnth", "monat", "mois", "mes"},
    _WEEKDAYS: {"weekday", "wday", "dow", "dayofweek", "wochentag"},
    _MINUTES: {"minute"},
}
_SECOND_WORDS = {"second", "of", "minute", "the", "local", "utc"}  # else it may be what comes after the first
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
ANGLE_WORDS = _SURE_ANGLE_WORDS | {  # others of which may also say something else
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


class Circle(NamedTuple):
    """What a column may lie around: values of a kind from a begin to a period later."""

    kind: str
    begin: float
    period: float


def circle_of(values: npt.NDArray[Any], name: str = "", *, longitude: bool = False) -> Circle | None:
    """Return the circle that the values of a column lie around; None where they do not fill one turn.

    They do if all are within one turn, reach both of its ends, and rows lie at both: within a 24th of the turn, or a
    step of values in equal steps, five and one in a thousand where the name says angle, as "phi" and "wind direction"
    do, or hour of the day. Else they are at least half as many as of rows all round the circle would be, and at neither
    end four times as many as at the other. From -180 to 180 an eighth as many are enough, unless they thin out to both
    ends, as amounts do that end there.

    A turn is -180 to 180, 0 to 360, or as much in radians; 0 to 24 of a column whose name says that it is an hour,
    and no number of hours; so of months, days of the week, minutes and seconds. Of 20 different values or more, 4
    where the name tells. As amounts may end at 360 too, a column from 0 to 360 whose name says something else has
    twice as many rows around both ends as elsewhere, beyond chance, and at neither end twice as many as at the
    other. So has one called "hours" or "h".

    Parameters
    ----------
    values : ndarray of shape (n,)
        Those that are not finite do not count.
    name : str, default=""
        Of the column.
    longitude : bool, default=False
        Whether it is known to be one, though its name says something else.
    """
    numbers = np.asarray(values, dtype=np.float64)
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    if not 0.0 < high - low <= DEGREES * (1.0 + _TO_THE_END):
        return None
    words = {word.lower() for word in words_of(name)}
    says_else = not (tells_nothing(name) or longitude)
    circles = [one for one in _circles(words, low, high) if _spans(one, low, high)]
    return next((one for one in circles if _lies_around(known, one, words, says_else)), None)


def tells_nothing(name: str) -> bool:
    """Return whether a name, such as "x3", says nothing of what a column holds.

    Parameters
    ----------
    name : str
    """
    return not name or _TELLS_NOTHING.fullmatch(name) is not None


def _circles(words: set[str], low: float, high: float) -> list[Circle]:
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
    circles = [Circle(kind, 0.0, _OF_KIND[kind]) for kind in kinds]
    for turn in (DEGREES, TURN):
        circles += [Circle(ANGLES, begin, turn) for begin in (-turn / 2.0, 0.0)]
        if words & LONGITUDES and high - low > (1.0 - _TO_THE_END) * turn:  # maps may begin anywhere
            circles.append(Circle(ANGLES, low, turn))
    return circles


def _are_hours(words: set[str]) -> bool:
    """Return whether words say hours and nothing of what they are hours; "h" may be a height."""
    return words == {"h"} or (bool(words & {"hours", "hrs"}) and words <= _DAY_WORDS)


def _spans(circle: Circle, low: float, high: float) -> bool:
    """Return whether values stay within a turn and come near both of its ends."""
    end, rounding = circle.begin + circle.period, TURN_ROUNDED * circle.period
    if circle.kind != ANGLES and low <= circle.begin and high >= end:
        return False  # 0 to 24 are 25 hours
    inside = low >= circle.begin - rounding and high <= end + rounding
    most = circle.period / _FEWEST_STEPS
    return inside and low <= circle.begin + most and high >= end - most


def _lies_around(values: Floats, circle: Circle, words: set[str], says_else: bool) -> bool:
    """Return whether a column fills a turn, with rows at both of its ends.

    `says_else` is whether its name says what it holds, as "price" does; a name of words for angles tells more.
    """
    different = np.unique(values)
    begin, period = circle.begin, circle.period
    known = circle.kind == ANGLES and begin in (0.0, -period / 2.0) and bool(words & _SURE_ANGLE_WORDS)
    told = circle.kind != ANGLES or bool(words & ANGLE_WORDS)
    if len(different) < (_FEWEST_NAMED if told else _FEWEST_VALUES):
        return False
    if circle.kind in (_MONTHS, _WEEKDAYS, _MINUTES, _SECONDS) and not _are_whole(different):
        return False
    step = _step(different)
    rounding = TURN_ROUNDED * period
    if different[0] >= begin + step and different[-1] >= begin + period - rounding:
        begin += step  # 1 to 12, 10 to 360
    end, window = begin + period, max(_WINDOW * period, step)
    slack = rounding + (window if told else max(_TO_THE_END * period, step))
    if different[0] > begin + slack or different[-1] < end - slack:
        return False
    first = int(np.count_nonzero(values < begin + window - rounding))
    last = int(np.count_nonzero(values >= end - window - rounding))
    amount = not told and says_else and circle.begin == 0.0 and period == DEGREES
    doubtful = amount or _are_hours(words)
    if (known or circle.kind == _HOURS) and not doubtful:
        return min(first, last) >= max(_FEWEST_AT_END, _SHARE_AT_END * len(values))
    piled = min(int(np.count_nonzero(values == one)) for one in (begin, end))
    if not told and step < window and piled > _PILED * min(first, last):
        return False  # clipped: on a circle both ends are one
    even, full = window / period * len(values), _FULL
    if circle.kind == ANGLES and begin == -period / 2.0 and step < window:
        nearer = int(np.count_nonzero(np.abs(values) > period / 2.0 - window / 2.0))
        full = _FULL_AROUND if nearer >= _NEAREST * (first + last) else _FULL
    if min(first, last) < max(_FEWEST_AT_END, full * even):
        return False
    if max(first, last) > (_ALIKE if doubtful else _LIKE) * min(first, last):
        return False
    return not doubtful or _is_fullest_at_the_seam((values - begin) / period, round(period / window))


def _is_fullest_at_the_seam(turns: Floats, n_arcs: int) -> bool:
    """Return whether in some two arcs side by side half as many rows lie as in the two at the seam, beyond chance."""
    counts = np.bincount(np.remainder((turns * n_arcs + TURN_ROUNDED).astype(np.intp), n_arcs), minlength=n_arcs)
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
