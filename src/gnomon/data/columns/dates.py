"""Features of dates: numbers of years, months, days or hours since the first, and the dates that they mean."""

from __future__ import annotations

import math
import re

import numpy as np

__all__ = ["UNITS", "told_date"]

_YEAR, _DAY = 365.2425 * 86400.0, 86400.0  # seconds

UNITS = (("years", _YEAR, 2), ("months", _YEAR / 12, 2), ("days", _DAY, 2), ("hours", 3600.0, 0))
"""Words, their seconds, and how many of them dates span at least to be told in them."""

_SECONDS = {word: seconds for word, seconds, _ in UNITS if seconds >= _DAY}
_NAME = re.compile(rf" \(({'|'.join(_SECONDS)}) since (-?\d+-\d\d-\d\d)\)$")


def told_date(feature: str, value: float) -> str:
    """Return a value of a feature as a date, such as "2022-03-11", by the name of the feature.

    Parameters
    ----------
    feature : str
        Such as "since (years since 2020-01-01)".
    value : float

    Returns
    -------
    str
        Empty if the feature is not of dates, or of hours, which need no date.
    """
    found = _NAME.search(feature)
    if found is None or not math.isfinite(value):
        return ""
    seconds = value * _SECONDS[found[1]]
    return str(np.datetime64(found[2], "s") + np.timedelta64(round(seconds), "s"))[:10] if abs(seconds) < 1e12 else ""
