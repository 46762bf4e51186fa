"""Columns of times that rows were written down one after the other, and of counters that begin again."""

from __future__ import annotations

import re

import numpy as np

from gnomon.data.arrays import FloatArray

__all__ = ["IN_ORDER", "are_times_in_order", "counts_stretches_again", "follow_rows", "named_as_time"]

IN_ORDER = "times in the order of the rows"
"""Why a column of times is left out."""

_NAME = re.compile(  # of when a row was written down; "response time" and "survival time" were measured
    r"(?i:^(elapsed[\s_\-.]*)?(time|times|timestamp|time[\s_\-.]stamp|datetime|date|epoch|ts|(unix|posix|epoch|utc|local)"
    r"[\s_\-.]?time|zeit|zeitstempel|datum|uhrzeit)([\s_\-.(\[]*(s|sec|secs|seconds?|ms|us|ns|min|minutes?|h|hours?|"
    r"d|days?|utc|gmt|local|unix))?[)\]]?$)"
)
_FEWEST_ROWS = 50  # in which times are told to go with the rows
_FEWEST_TIMES = 10  # different ones
_STEPS = 50  # of which at most one goes back: clocks are set, and logs of several sources joined
_ALONG = 0.99  # least rank correlation with the number of the row, as of logs whose rows came a little late
_YEARS = (946_684_800.0, 2_524_608_000.0)  # 2000 to 2050, in seconds since 1970
_PER_SECOND = (1.0, 1e3, 1e6, 1e9)  # of the numbers that computers write for times
_FEWEST_STRETCHES, _FEWEST_COUNTED = 3, 20  # that a counter begins again, and rows of each on the mean
_UNLIKE = 1.25  # longest to shortest: months and years have 28 to 31, and 365 or 366, days


def follow_rows(values: FloatArray) -> bool:
    """Return whether values rise, or fall, with the rows, equal ones and gaps or not.

    At most one step in 50 of those that are not 0 goes back, or their ranks go with the rows with a correlation of 0.99
    or more. There are ten different ones and 50 rows, and at most half are missing.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        NaN where one is missing.
    """
    known = values[np.isfinite(values)]
    if len(known) < _FEWEST_ROWS or 2 * len(known) < len(values):
        return False
    up, down = np.count_nonzero(known[1:] > known[:-1]), np.count_nonzero(known[1:] < known[:-1])
    several = max(up, down) >= _FEWEST_TIMES - 1
    if several and _STEPS * min(up, down) <= up + down:
        return True
    _, places, counts = np.unique(known, return_inverse=True, return_counts=True)
    if len(counts) < _FEWEST_TIMES:
        return False
    middles = np.cumsum(counts) - (counts - 1) / 2.0
    correlation = float(np.corrcoef(middles[places.ravel()], np.arange(len(known)))[0, 1])
    return abs(correlation) >= _ALONG


def named_as_time(name: str) -> bool:
    """Return whether a name says that a column is of when rows were written down, such as "time" or "Timestamp (s)"."""
    return _NAME.search(name) is not None


def are_times_in_order(name: str, values: FloatArray) -> bool:
    """Return whether numbers are times that go with the rows: by their name, or as seconds since 1970.

    Parameters
    ----------
    name : str
    values : ndarray of shape (n_samples,)
        NaN where one is missing. Seconds, or thousandths, millionths or milliardths of them, since 1970 lie in the
        years 2000 to 2050.
    """
    return (named_as_time(name) or _are_since_1970(values)) and follow_rows(values)


def _are_since_1970(values: FloatArray) -> bool:
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return any(_YEARS[0] * unit <= low and high <= _YEARS[1] * unit for unit in _PER_SECOND)


def counts_stretches_again(values: FloatArray) -> int:
    """Return in how many stretches of unlike length values count from the same start by the same step; else 0.

    As cycles of engines that run until they fail do. Three stretches or more, of 20 rows on the mean, of which the
    longest has a quarter more than the shortest: days of months and of years are of nearly equal length, and hours of
    days of equal, and mean something.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    """
    if len(values) < _FEWEST_STRETCHES * _FEWEST_COUNTED or not np.isfinite(values).all():
        return 0
    begins = np.flatnonzero(values[1:] <= values[:-1]) + 1
    n_stretches = len(begins) + 1
    if not _FEWEST_STRETCHES <= n_stretches <= len(values) / _FEWEST_COUNTED:
        return 0
    step = float(values[1]) - float(values[0])
    starts = np.concatenate([[0], begins])
    inner = np.diff(np.concatenate([starts, [len(values)]]))[:-1]  # the last one may have been cut off
    places = np.arange(len(values)) - np.repeat(starts, np.diff(np.concatenate([starts, [len(values)]])))
    if int(inner.max()) < _UNLIKE * int(inner.min()):
        return 0
    return n_stretches if bool((values == values[0] + step * places).all()) else 0
