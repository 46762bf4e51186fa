"""Columns that name rows or count them, and tell nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.data.arrays import EXACT_UP_TO, FloatArray
from gnomon.data.columns.times import IN_ORDER, are_times_in_order, counts_stretches_again, follow_rows

__all__ = ["NAMED_UNITS", "Naming", "named_as_id", "named_as_unit", "names_amount", "naming_of"]

Ints = npt.NDArray[np.int64]

NAMED_UNITS = "whole numbers in a column named as units are"
"""What has numbers of units, such as machines, that may be taken as amounts."""

_ALL_DIFFER = "whole numbers that all differ and go with no other column"
_BY_NAME = "an identifier by its name"
_COUNTS = "it counts the rows"
_ID_NAME = re.compile(
    r"(?i:(^|[\s_\-.])(id|ids|uuid|guid|zip|zip_?code|post_?code|postal_?code|plz|uid|oid|fid|iid)($|[\s_\-.]))|"
    r"[a-z](Id|ID)$"
)
_THINGS = (  # that have identifiers; with "id" behind none ends an English word, as "ac", "flu", "gr" and "val" do
    *(
        "object",
        "obj",
        "source",
        "src",
        "galaxy",
        "halo",
        "star",
        "target",
        "field",
        "plate",
        "fiber",
        "fibre",
        "thing",
    ),
    *("image", "img", "photo", "spec", "frame", "scene", "tile", "pixel", "cell", "sample", "specimen", "subject"),
    *("patient", "person", "people", "participant", "donor", "family", "individual", "animal", "gene", "transcript"),
    *("protein", "peptide", "probe", "marker", "variant", "snp", "read", "contig", "barcode", "well", "batch", "run"),
    *("molecule", "compound", "particle", "atom", "residue", "station", "site", "sensor", "device", "event", "session"),
    *("visit", "encounter", "trial", "study", "record", "row", "item", "product", "order", "account", "customer"),
    *("client", "user", "member", "employee", "student", "school", "store", "shop", "house", "household", "parcel"),
    *("region", "country", "county", "tract", "block", "zone", "node", "edge", "trip", "route", "vehicle", "flight"),
    *("movie", "song", "track", "album", "artist", "book", "document", "doc", "article", "message", "query", "job"),
)
_GLUED = re.compile(rf"(?i:(^|[\s_\-.])[a-z]{{0,8}}({'|'.join(_THINGS)})ids?($|[\s_\-.]))")
_ROW_NAME = re.compile(
    r"(?i:^((row|obs|observation|sample|record|cell|item|entry|case|df|frame|line)[\s_\-.]*)?(idx|index)"
    r"([\s_\-.]*\d+)?$|(^|[\s_\-.])(key|row|serial)([\s_\-.]*(no|nr|num|number|id|idx|index|key)\.?)?$)|[a-z](Idx|Key)$"
)
_AMOUNT = re.compile(  # behind the name of what has an identifier: of that, and no identifier
    r"(?i:[\s_\-.](income|population|pop|area|km2?|count|counts|score|size|rate|height|width|length|price|value|amount|"
    r"mean|median|avg|average|sum|total|density|distance|share|ratio|age|weight|level|years?|days|hours)s?$)"
)
_NAMING_NAME = re.compile(  # of a column whose values all differ; "account balance" and "employees" are amounts
    r"(?i:(^|[\s_\-.])(customer|client|user|member|patient|person|employee|student|subject|respondent|record|account|acct|"
    r"order|invoice|ticket|transaction|booking|contract|phone|telephone|tel|mobile|fax|ssn|isbn|ean|upc|gtin|sku|barcode|"
    r"code)([\s_\-.]*(no|nr|num|number|nummer|code|key|#)\.?)?$|[\s_\-.](no|nr|num|number|nummer)\.?$)"
)
_UNIT_NAME = re.compile(  # of what gives many rows; "units", "persons" and "family" may count, "sensor" may measure
    r"(?i:^((src|dst|source|destination|client|server|remote|test)[\s_\-.]*)?(unit|engine|machine|device|asset|turbine|pump|"
    r"motor|robot|vehicle|host|hostname|ip|user|username|customer|client|visitor|account|person|patient|subject|participant|"
    r"respondent|individual|donor|animal|employee|worker|operator|student|pupil|player|driver|household|firm|company|"
    r"supplier|vendor|store|shop|ticker|station|site|hospital|school|ward)"
    r"([\s_\-.]*(no|nr|num|number|nummer|code|key|#)\.?)?$)"
)
_FEWEST_UNITS, _ROWS_OF_UNIT = 3, 3  # different numbers, and rows of each on the mean
_LARGE_ID = 1e4  # no number of a machine in a hall, nor the cubic centimetres of an engine
_ENDLESS = 2.0**64  # beyond the largest integers that tables have
_WRITTEN = 15  # digits that a decimal number may have and come back from float64
_LOOKED_AT = 100  # values whose digits are counted
_DENSE = 0.5  # share of the whole numbers of their range that are there: no measured values would all differ
_ROUNDED_STEPS = 10.0  # allowances for rounding over which counters beyond 2^53 rise at least
_DENSE_RISING = 0.05  # the same of numbers that rise from row to row, as those of orders do
_DIGITS = range(7, 19)  # of numbers drawn by chance from all of so many digits; fewer may be amounts
_BITS = (31, 32, 53, 63)  # the same from 0 to powers of 2
_EVEN = 1.63  # largest distance of a distribution from an even one, times the root of n, that chance exceeds in 100
_ID_ROWS = 50  # fewer rows do not show that a column of different integers goes with no other
_FEWEST_LINES = 10  # of a grid; fewer equal stretches may be doses or replicas
_STEP_ERROR = 0.02  # of a step, where times are written with few decimals
_ID_CORRELATION = 4.0  # standard errors of a rank correlation


def named_as_id(name: str, different: bool) -> bool:
    """Return whether a name says that it is of an identifier; "key" says so only if all values differ."""
    named = _ID_NAME.search(name) or _GLUED.search(name) or (different and _ROW_NAME.search(name))
    return not names_amount(name) and bool(named)


def names_amount(name: str) -> bool:
    """Return whether a name ends as that of an amount, such as "birth weight"."""
    return _AMOUNT.search(name) is not None


def named_as_unit(name: str) -> bool:
    """Return whether a column is called as what gives many rows is, "machine", "user" or "unit_number"."""
    return _UNIT_NAME.search(name) is not None


class Naming(NamedTuple):
    """Whether a column of numbers names the rows or counts them.

    Attributes
    ----------
    certain : bool
    told : str
        What tells so, a clause; of a column that may name rows or be of amounts, what it has. Empty for other columns.
    """

    certain: bool = False
    told: str = ""


def naming_of(
    name: str, numbers: Mapping[str, FloatArray], others: Iterable[str], ranks: Callable[[str], Ints]
) -> Naming:
    """Find out whether a column of numbers is an identifier.

    A column that counts is none where all others count too: a grid was measured. Of a grid of ten lines and more beside
    other columns both coordinates count: the one within each line, and the one that counts the lines up or down.
    Missing values say nothing: the others decide, where at least half are there to count the rows. `ranks` gives those
    of a column by its name; they are asked for only if need be. Times that go with the rows count them, evenly or not,
    and so do counters that begin again and again after stretches of unlike length.

    Whole numbers that all differ and go with no other column may be identifiers or amounts, such as incomes. They are
    identifiers if they are called so; if they fill at least half of their range, as no measured values do without
    coming twice; if they rise evenly from row to row and fill a twentieth; or if they lie evenly in all of the numbers
    of seven digits or more, or from 0 to a power of 2; or if they lie beyond 2^53, within ten times the least, and have
    all digits that floating point holds. Of others it is not certain. Nor is it of those in a column named as units
    are, such as machines and users, with three rows each on the mean; from 10,000 on they are identifiers,
    and so they are where another column counts the rows of each.
    """
    values = numbers[name]
    places = np.flatnonzero(np.isfinite(values))
    known, n = values[places], len(values)
    if not len(known):
        return Naming()
    stretches = _counted_stretches(values)
    if stretches == 1 and not all(_rises_by_equal_steps(numbers[other]) for other in others):
        return Naming(True, _COUNTS)
    length = n // stretches if stretches > 1 else _constant_stretch(values)
    if length and not all(_is_of_grid(numbers[other], length) for other in others):
        if stretches > 1:
            crossed = any(_constant_stretch(numbers[other]) == length for other in others)
            return Naming(
                True, _of_cells(n, length) if crossed else f"{_COUNTS} of each of {stretches:,} equal stretches"
            )
        if any(_counted_stretches(numbers[other]) == n // length for other in others):
            return Naming(True, _of_cells(n, length))
    if are_times_in_order(name, values) and not all(follow_rows(numbers[other]) for other in others):
        return Naming(True, IN_ORDER)
    if not (known == np.floor(known)).all():
        return Naming()
    again = counts_stretches_again(values)
    if again and not all(counts_stretches_again(numbers[other]) for other in others):
        return Naming(True, f"{_COUNTS} of each of {again:,} stretches")
    different = len(np.unique(known)) == len(known)
    if len(known) > 1 and 2 * len(known) >= n and bool((np.diff(known) == np.diff(places)).all()):
        return Naming(True, _COUNTS)
    if named_as_id(name, different):
        return Naming(True, _BY_NAME)
    if named_as_unit(name) and _FEWEST_UNITS <= len(np.unique(known)) <= len(known) / _ROWS_OF_UNIT:
        counted = (counts_stretches_again(numbers[other]) for other in others)
        certain = float(known.max()) >= _LARGE_ID or int(np.count_nonzero(np.diff(values))) + 1 in counted
        return Naming(True, _BY_NAME) if certain else Naming(False, NAMED_UNITS)
    if not different or len(known) < _ID_ROWS:
        return Naming()
    enough = not others
    for other in others:
        rows = np.isfinite(values) & np.isfinite(numbers[other])
        if np.count_nonzero(rows) >= _ID_ROWS:
            enough = True
            if _go_together(ranks(name), ranks(other), rows):
                return Naming()
    if not enough:
        return Naming()
    told = _told_apart(name, known)
    return Naming(bool(told), told or _ALL_DIFFER)


def _told_apart(name: str, known: FloatArray) -> str:
    """Say why whole numbers that all differ and go with no other column are no amounts; empty if they may be."""
    if _NAMING_NAME.search(name):
        return _BY_NAME
    n = len(known)
    low, high = float(known.min()), float(known.max())
    if low >= EXACT_UP_TO and high < min(_ENDLESS, 10.0 * low) and _have_all_digits(known):
        return f"{_ALL_DIFFER}, beyond 2^53, where floating point rounds them"
    share = n / (high - low + 1.0)
    if share >= _DENSE:
        return f"{_ALL_DIFFER}, nearly as many as lie between {low:.0f} and {high:.0f}"
    if share >= _DENSE_RISING and bool((np.diff(known) > 0.0).all()) and _is_even(known, low, high):
        return "whole numbers that rise evenly from row to row"
    for start, end in [*((10.0 ** (k - 1), 10.0**k) for k in _DIGITS), *((0.0, 2.0**k) for k in _BITS)]:
        if start <= low and high <= end and _is_even(known, start, end):
            return f"{_ALL_DIFFER}, drawn evenly from {start:.0f} to {end - 1.0:.0f}"
    return ""


def _have_all_digits(values: FloatArray) -> bool:
    """Return whether most values have more digits than numbers that are measured and written in decimals."""
    some = values[:: -(-len(values) // _LOOKED_AT)].astype(np.float64).tolist()
    digits = [len(repr(value).split("e")[0].replace(".", "").strip("-0")) for value in some]
    return 2 * sum(n > _WRITTEN for n in digits) > len(digits)


def _is_even(values: FloatArray, low: float, high: float) -> bool:
    """Return whether values lie between two ends as evenly as chance would draw them (Kolmogorov and Smirnov)."""
    n = len(values)
    share = (np.sort(values.astype(np.float64)) - low) / (high - low)
    steps = np.arange(n + 1) / n
    return float(max((steps[1:] - share).max(), (share - steps[:-1]).max())) * float(np.sqrt(n)) <= _EVEN


def _go_together(own: Ints, ranks: Ints, rows: npt.NDArray[np.bool_]) -> bool:
    """Return whether the ranks of two columns are correlated beyond chance over some rows."""
    correlation = float(np.corrcoef(own[rows], ranks[rows])[0, 1])
    return bool(abs(correlation) > _ID_CORRELATION / np.sqrt(np.count_nonzero(rows)))


def _counted_stretches(values: FloatArray) -> int:
    """Return in how many equal stretches of the rows values rise by the same equal steps, as times of replicas do.

    1 where they rise over all rows, 0 where they do not rise so or the stretches are short: hours and months come again
    and again too, and mean something. Where a value is missing they must rise over all rows.
    """
    if not np.isfinite(values).all():
        return int(len(values) >= _ID_ROWS and _rises_by_equal_steps(values))
    falls = values[1:] < values[:-1]
    length = 1 + int(falls.argmax()) if falls.any() else len(values)
    if length < _ID_ROWS or len(values) % length or not _rises_by_equal_steps(values[:length]):
        return 0
    stretches = values.reshape(-1, length).astype(np.float64) / 2.0
    first = stretches[0]
    rounding = 4.0 * float(np.finfo(values.dtype).eps) * float(np.abs(first).max())
    allowed = max(_STEP_ERROR * float(first[1] - first[0]), rounding)
    return len(stretches) if bool((np.abs(stretches - first) <= allowed).all()) else 0


def _of_cells(n: int, length: int) -> str:
    return f"a coordinate of a grid of {n // length:,} lines of {length:,} cells that the rows are"


def _constant_stretch(values: FloatArray) -> int:
    """Return the length of the lines of a grid that values count up or down, as its second coordinate does; else 0."""
    length = int((values != values[0]).argmax())
    if length < _ID_ROWS or len(values) % length or len(values) < _FEWEST_LINES * length:
        return 0
    return length if _counts_stretches(values.reshape(-1, length)) else 0


def _counts_stretches(stretches: FloatArray) -> bool:
    """Return whether values (n_stretches, length) are constant in each stretch and rise or fall by equal steps."""
    starts = stretches[:, 0]
    if not bool((stretches == stretches[:, :1]).all()):
        return False
    return len(stretches) == 2 or _rises_by_equal_steps(starts) or _rises_by_equal_steps(-starts)


def _is_of_grid(values: FloatArray, length: int) -> bool:
    """Return whether values count the rows, or stretches of so many rows, as the coordinates of a grid do."""
    return _counts_stretches(values.reshape(-1, length)) or _counted_stretches(values) > 0


def _rises_by_equal_steps(values: FloatArray) -> bool:
    """Return whether each value lies above the one before by one step, up to a fiftieth of it and to rounding.

    Up to half of the values may be missing.
    """
    places = np.flatnonzero(np.isfinite(values))
    if len(places) < 2 or 2 * len(places) < len(values):
        return False
    known = values[places].astype(np.float64) / 2.0  # differences of halves are in range
    step = (known[-1] - known[0]) / (places[-1] - places[0])
    largest = float(np.abs(known[[0, -1]]).max())
    rounding = 4.0 * float(np.finfo(values.dtype).eps) * largest
    whole = values.dtype == np.float64 and bool((values[places] == np.floor(values[places])).all())
    if whole and 2.0 * largest < EXACT_UP_TO:
        rounding = 0.0  # of numbers that may be halves after their differences
    allowed = max(_STEP_ERROR * step, rounding)
    beyond = whole and 2.0 * largest >= EXACT_UP_TO and known[-1] - known[0] >= _ROUNDED_STEPS * rounding
    if not 4.0 * allowed < step and not (beyond and bool((np.diff(known) >= 0.0).all())):
        return False  # steps below the rounding are told only of whole numbers that it rounds, over many of its widths
    return bool(np.abs(known - (known[0] + step * (places - places[0]))).max() <= allowed)
