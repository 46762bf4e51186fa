"""Whether columns of a table are of different kinds of quantity, by their names and by what their values are."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr
from gnomon.data.names import default_names, words_of
from gnomon.data.places import LATITUDES, LONGITUDES

__all__ = ["MOST_NAMED", "Spreads", "describe_kinds", "describe_spreads", "may_be_of_kinds"]

Array = npt.NDArray[np.floating]
Float64Array = npt.NDArray[np.float64]

MOST_NAMED = 50
"""Tables of more columns are of one kind, as far as names and levels tell: spectra, genes, vectors of texts."""

_TIMES = 5.0  # times that one column must spread more than another
_NUMBERED = 2 / 3  # share of names with a digit: components, genes, wavelengths
_CODED = 1 / 3  # the same of names that are all codes in capitals, such as CD3E and ACTB
_CODE = re.compile(r"[A-Z][A-Z0-9\-.]*")
_HALF, _END, _EDGE = 0.5, 0.05, 0.01  # shares of values
_HIGHER = 3.0  # times that the median of a column of larger units is larger
_MOST_WIDE = 0.75  # share of the columns that spread more of which a column must be unlike
_COORDINATES = LATITUDES | LONGITUDES | {"easting", "northing"}
_UNIT = re.compile(
    "[nucdkm]?m|in|inch(es)?|ft|feet|mi|miles|[um]?g|kg|t|lbs?|oz|m?s|sec|min|hr?s?|hours|days?|years|usd|eur|gbp|"
    "dollars|euros|percent|pct|share|ratio|counts?|score|points|c|f|k|deg|rad|[kmg]?hz|[mk]?v|[mk]?w|kwh|mol|pp[mb]|"
    "bar|h?pa|m?l|pixels|px"
)


@dataclass(frozen=True)
class Spreads(ShortRepr):
    """How far the values of columns lie apart, by measures that outliers and rare values move in unlike ways.

    Attributes
    ----------
    deviation : ndarray of shape (n_features,), float64
        Standard deviation; of a column of two values half their difference, however rare one is.
    span : ndarray of shape (n_features,), float64
        Largest minus smallest value.
    middle : ndarray of shape (n_features,), float64, or None
        Third quartile minus first; None in tables of many columns.
    """

    deviation: Float64Array
    span: Float64Array
    middle: Float64Array | None = None

    def times(self, wide: npt.NDArray[np.intp]) -> Float64Array:
        """Return how many times as much the columns `wide` spread as each column, 0 if not by every measure."""
        times = self.deviation[wide, None] / self.deviation
        enough = (times > _TIMES) & (self.span[wide, None] > _TIMES * self.span)
        if self.middle is not None:
            enough &= (self.middle[wide, None] > _TIMES * self.middle) | (self.middle == 0.0)
        return np.where(enough, times, 0.0)


def may_be_of_kinds(names: list[str]) -> bool:
    """Return whether columns may be of different kinds of quantity, as far as their names tell.

    Not where nobody named them or they are more than 50; where two thirds of the names have a digit, as those of
    components and wavelengths do, or a third and all are codes in capitals, such as genes; where all are single letters
    or words for coordinates; and where all end with the same unit, such as "petal length (cm)" and "sepal_width_cm".
    """
    n = len(names)
    if n > MOST_NAMED or names == default_names(n):
        return False
    coded = all(map(_CODE.fullmatch, names))
    if sum(any(map(str.isdigit, name)) for name in names) >= (_CODED if coded else _NUMBERED) * n:
        return False
    words = [words_of(name) for name in names]
    if all(any(len(word) == 1 or word.lower() in _COORDINATES for word in some) for some in words):
        return False
    endings = {_unit_of(name, some) for name, some in zip(names, words, strict=True)}
    return len(endings) > 1 or "" in endings


def _unit_of(name: str, words: list[str]) -> str:
    """Return the unit that a name ends with: what stands in brackets, or a last word that is one; empty without any."""
    if bracketed := re.search(r"[(\[]([^()\[\]]+)[)\]]\s*$", name):
        return bracketed[1].strip().lower()
    last = words[-1].lower() if len(words) > 1 else ""
    return last if _UNIT.fullmatch(last) else "%" if name.endswith("%") else ""


def describe_spreads(spreads: Spreads, names: list[str]) -> str:
    """Say which column spreads more than 5 times as much as another; empty if none does by every measure.

    Parameters
    ----------
    spreads : Spreads
        Of columns that vary.
    names : list of str
    """
    wide = int(np.argmax(spreads.deviation))
    times = spreads.times(np.array([wide]))[0]
    narrow = int(np.argmax(times))
    return _told(names[wide], names[narrow], float(times[narrow])) if times[narrow] else ""


def describe_kinds(rows: Array, spreads: Spreads, names: list[str]) -> str:
    """Say which column spreads more than 5 times as much as another of another kind; empty if none does.

    Two columns are of different kinds if only one has values below 0, a twentieth at least; if one holds whole numbers
    and most values of the other are none; or if their values lie at different levels, all but a hundredth of the narrow
    ones outside of nine tenths of the wide ones, whose median is 3 times as large: units that make larger spreads make
    larger values. Levels must be other than those of three quarters of the columns that spread more than 5 times as
    much: among columns at many levels, such as logarithms, they tell nothing. Columns that all lie within 0 to 1, such
    as shares and reflectances, are of one kind.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Columns that vary.
    spreads : Spreads
        Of these.
    names : list of str

    Returns
    -------
    str
        A clause without a full stop, of the pair that spreads by the largest factor.
    """
    every = np.arange(len(names))
    times = spreads.times(every)
    if not times.any() or (rows.min() >= 0.0 and rows.max() <= 1.0):
        return ""
    tails = (_EDGE, _END, _HALF, 1.0 - _END, 1.0 - _EDGE)
    least, low, median, high, most = np.quantile(rows, tails, axis=0)
    apart = (least > high[:, None]) | (most < low[:, None])  # of a wide column, and a narrow one
    apart &= np.abs(median)[:, None] > _HIGHER * np.abs(median)
    none_below, some_below = rows.min(axis=0) >= 0.0, low < 0.0
    below = (some_below[:, None] & none_below) | (none_below[:, None] & some_below)
    whole = (rows == np.floor(rows)).mean(axis=0)
    steps = ((whole == 1.0)[:, None] & (whole < _HALF)) | ((whole < _HALF)[:, None] & (whole == 1.0))
    wider = times > 0.0
    apart &= (apart & wider).sum(axis=0) >= _MOST_WIDE * wider.sum(axis=0)
    found = np.where(apart | below | steps, times, 0.0)
    wide, narrow = (int(place) for place in np.unravel_index(int(np.argmax(found)), found.shape))
    if not found[wide, narrow]:
        return ""
    if apart[wide, narrow]:
        bounds = f"{low[wide]:.4g} to {high[wide]:.4g} and {least[narrow]:.4g} to {most[narrow]:.4g}"
        fact = f"at another level (mostly {bounds})"
    else:
        fact = "and only one has values below 0" if below[wide, narrow] else "and only one holds whole numbers"
    return f"{_told(names[wide], names[narrow], float(found[wide, narrow]))}, {fact}"


def _told(wide: str, narrow: str, times: float) -> str:
    shown = f"{times:.1f}" if times < 10.0 else f"{times:,.0f}" if times < 1e6 else f"{times:.2g}"
    return f"{wide!r} spreads {shown} times as much as {narrow!r}"
