"""What becomes of a column of a table: the features that it makes, and how far apart they put its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.arrays import FloatArray
from gnomon.data.columns.answers import SEPARATORS, split_answers
from gnomon.data.columns.listed import LISTED
from gnomon.data.columns.values import (
    as_numbers,
    durations_of,
    given_numbers,
    known_texts,
    seconds_of,
    texts_of,
)
from gnomon.data.dataset import listed
from gnomon.data.labels import check_labels, name_of, sort_into_classes
from gnomon.data.names import default_names
from gnomon.data.written import (
    DATE_NUMBERS,
    DATE_ORDERS,
    SIZES_TOLD,
    has_sizes,
    is_writing,
    read_date_numbers,
    read_each_date,
    read_numbers,
    read_truths,
    told_difference,
    unit_of,
)

__all__ = [
    "ColumnRule",
    "columns_of_features",
    "features_of",
    "first_features",
    "mark_of",
    "mixed_columns",
    "mixed_spreads",
    "rules_fault",
    "spreads_of",
    "unit_ranges",
]

Array = npt.NDArray[Any]
Float64Array = npt.NDArray[np.float64]

_UNKNOWN, _MISSING = -1, -2  # codes of values that are none of the categories
_KINDS = ("number", "written", "boolean", "presence", "ordinal", "category", "answers", "date", "left out")
_NUMBERS = ("number", "written")
_SHARES = 2.0  # percent: where no value is larger, numbers below 1 are like the others
_OTHERS_TAKEN = {  # what becomes of other texts
    "number": "no number, taken as missing",
    "written": "no number, taken as missing",
    "date": "no date, taken as missing",
    "boolean": "neither True nor False, taken as missing",
    "ordinal": "none of the ranks, taken as missing",
}


@dataclass(frozen=True)
class ColumnRule:
    """What becomes of one column of a table.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"number", "written", "boolean", "presence", "ordinal", "category", "answers", "date", "left out"}
        "presence" is of a column of one value, such as "x", also "X" or "x ", and of blanks, which tell that it is not
        so; "answers" of one whose cells list several, each of which has an indicator.
    features : tuple of str
        Names of the features that it becomes.
    categories : tuple
        Values of a category or an ordinal, in order; the answers that cells list; the one value of a presence. Of an
        ordinal whose order the texts tell each is written in one way.
    start, unit : float
        Of a date: seconds since 1970 of the first, and seconds in the unit of the feature. Of numbers in percent the
        start is the largest without its sign, 0 if it is not known.
    reason : str
        Why it is left out, a clause. Of numbers what tells that they may name the rows, empty of most; of those that
        are written as texts the first of these. Of a presence how else its value is written. Of an ordinal whose order
        the texts or a person tell: this order.
    writing : str
        Of numbers that are written as texts, and of texts among new rows of a column of numbers: how, such as "$0.0"
        or "0,0 %". Of dates with strokes: their order, such as "month/day/year"; of dates that are whole numbers
        "yyyymmdd" or "yyyymm". Of answers: what divides them.
    """

    name: str
    kind: str
    features: tuple[str, ...] = ()
    categories: tuple[Any, ...] = ()
    start: float = 0.0
    unit: float = 1.0
    reason: str = ""
    writing: str = ""

    def encode(self, values: Array, *, keep_missing: bool = False) -> FloatArray:
        """Return the features of the column, (n, n_features); NaN where a number, date or rank is missing.

        The indicators of a missing category are NaN with `keep_missing`; else, and those of an unknown one, 0, or one
        half of a single indicator.
        """
        if self.kind in ("number", "boolean", "written"):
            return self._numbers(values)[:, None]
        if self.kind == "date":
            return ((self._seconds(values) - self.start) / self.unit)[:, None]
        if self.kind == "answers":
            return self._answers(values, keep_missing=keep_missing)
        codes = self._codes(values)
        if self.kind == "presence":
            return np.asarray(codes == 0, dtype=np.float64)[:, None]
        if self.kind == "ordinal":
            return np.where(codes < 0, np.nan, codes)[:, None]
        if len(self.features) == 1:
            found = np.where(codes < 0, 0.5, codes)[:, None]
        else:
            found = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
        if keep_missing:
            found[codes == _MISSING] = np.nan
        return found

    def _answers(self, values: Array, *, keep_missing: bool) -> Float64Array:
        """Return 1 for the answers that each cell lists and 0 for others; NaN or 0 where a cell is empty."""
        texts, are_lists = texts_of(values), self.writing == LISTED  # where "[]" is known to be none
        cells = {text: {*split_answers(text, self.writing)} for text in {*texts}}
        rows = {text: [float(answer in cell) for answer in self.categories] for text, cell in cells.items()}
        found = np.array([rows[text] for text in texts], dtype=np.float64).reshape(len(texts), len(self.categories))
        if keep_missing:
            found[np.array([not (text if are_lists else cells[text]) for text in texts], dtype=np.bool_)] = np.nan
        return found

    def _numbers(self, values: Array) -> FloatArray:
        """Return numbers as they are and texts by how the rule writes them, each by itself; NaN for all else."""
        if values.dtype.kind in "mM":
            if not np.isnat(values).all():
                raise ValueError(message(f"column {self.name!r}", "of numbers, as in fit", fact="dates or durations"))
            return np.full(len(values), np.nan)
        if values.dtype.kind in "biuf":
            return as_numbers(values)
        given = given_numbers(values) if values.dtype.kind == "O" else np.full(len(values), np.nan)
        texts = np.flatnonzero(np.isnan(given))
        if len(texts):
            read = texts_of(values[texts])
            given[texts] = read_truths(read) if self.kind == "boolean" else read_numbers(read, self.writing or "0.0")
        return given

    @property
    def of_durations(self) -> bool:
        """Whether it is of durations, not of dates, whose feature tells the first."""
        return " since " not in self.features[0].removeprefix(self.name)

    def _seconds(self, values: Array) -> Float64Array:
        """Return dates as seconds since 1970 or durations as seconds, each by itself; NaN for what is none."""
        durations = durations_of(values)
        if self.of_durations:
            if values.dtype.kind in "biufM" and sort_into_classes(values).labelled.any():
                fact = "dates" if values.dtype.kind == "M" else "numbers"
                remedy = "Pass durations, as pandas.to_timedelta makes them."
                raise ValueError(message(f"column {self.name!r}", "of durations, as in fit", fact=fact, remedy=remedy))
            return durations
        if values.dtype.kind == "m" and np.isfinite(durations).any():
            remedy = "Pass the dates themselves."
            raise ValueError(message(f"column {self.name!r}", "of dates, as in fit", fact="durations", remedy=remedy))
        if self.writing in DATE_NUMBERS and values.dtype.kind in "biufOU":
            numbered = seconds_of(_dates_of_numbers(values, self.writing))
            if numbered is not None:
                return numbered
        labels = check_labels(known_texts(values), len(values))
        if labels.dtype.kind in "OU":
            labels = read_each_date(texts_of(values), self.writing)
        elif labels.dtype.kind not in "mM" and not np.isfinite(as_numbers(labels)).any():
            return as_numbers(labels).astype(np.float64)
        seconds = seconds_of(labels) if labels.dtype.kind in "mM" else None
        if seconds is None:
            remedy = f"Pass dates, or texts such as {self.writing or '2024-05-31'}."
            raise ValueError(message(f"column {self.name!r}", "of dates, as in fit", fact="numbers", remedy=remedy))
        return seconds

    def _codes(self, values: Array) -> npt.NDArray[np.int64]:
        """Return the place of each value among the categories, -1 for an unknown one and -2 for a missing one."""
        found, codes = _different(known_texts(values))
        place = {_name_of(value): code for code, value in enumerate(self.categories)}
        names = [_name_of(value) for value in found]
        if self.kind == "presence" or (self.kind == "ordinal" and self.reason):
            place, names = {mark_of(name): code for name, code in place.items()}, list(map(mark_of, names))
        if {name.lower() for name in place} <= {"true", "false"}:  # also written in another way, or as numbers
            other = dict.fromkeys(("true", "false"), _MISSING)  # of a presence: not the one value
            place = other | {name.lower(): code for name, code in place.items()}
            names = [{"1": "true", "0": "false"}.get(name, name.lower()) for name in names]
        return np.array([*(place.get(name, _UNKNOWN) for name in names), _MISSING])[codes]

    @property
    def is_truth(self) -> bool:
        """Whether its one feature is 1 where something is so, and 0 where not."""
        return self.kind in ("boolean", "presence")

    @property
    def may_lack(self) -> bool:
        """Whether a text that cannot be read is a missing value, not an unknown category."""
        return self.kind in _OTHERS_TAKEN

    def unknown_rows(self, values: Array) -> npt.NDArray[np.intp]:
        """Return the rows whose value is no number or none of the categories."""
        if self.kind == "number" and values.dtype.kind in "biuf":
            return np.empty(0, dtype=np.intp)
        if self.may_lack:
            odd = np.isnan(self.encode(values)[:, 0]) & sort_into_classes(known_texts(values)).labelled
            return np.flatnonzero(odd)
        if self.kind == "answers":
            return np.array([i for i, text in enumerate(texts_of(values)) if self._others(text)], dtype=np.intp)
        return np.flatnonzero(self._codes(values) == _UNKNOWN) if self.categories else np.empty(0, dtype=np.intp)

    def _others(self, text: str) -> list[str]:
        """Return the answers in a cell that are none of those of the rule."""
        return [answer for answer in split_answers(text, self.writing) if answer not in self.categories]

    def unknown_values(self, values: Array) -> list[str]:
        """Return the different values that are no number, none of the categories or none of the answers."""
        rows = self.unknown_rows(values)
        if self.kind == "answers":
            return sorted({answer for text in texts_of(values[rows]) for answer in self._others(text)})
        return sort_into_classes(values[rows]).names if len(rows) else []

    def unknown(self, values: Array) -> str:
        """Say which values are no number or none of the categories, and how many rows have one; empty if all are."""
        rows = self.unknown_rows(values)
        if not len(rows):
            return ""
        none = "answers" if self.kind == "answers" else "categories"
        taken = _OTHERS_TAKEN.get(self.kind, f"taken as none of the {none}")
        if self.kind == "date" and self.of_durations:
            taken = taken.replace("date", "duration")
        found = listed(self.unknown_values(values))
        told = f"{self.name!r} has {found} in {len(rows):,} {'row' if len(rows) == 1 else 'rows'}: {taken}"
        return f"{told}{self._remedy(texts_of(values[rows]))}"

    def _remedy(self, texts: list[str]) -> str:
        """Return what is to be done about texts that cannot be read, to follow a clause; empty if that is not plain."""
        if self.kind == "date" and self.of_durations:
            return "; pass durations, as pandas.to_timedelta makes them"
        if self.kind == "date":
            strokes = not self.writing and not all(
                np.isnat(read_each_date(texts, order)).all() for order in DATE_ORDERS
            )
            why = ", as no date in fit tells whether day or month comes first" if strokes else ""
            return f"; write {self.writing or '2024-05-31'}{why}"
        if self.kind not in ("number", "written"):
            return ""
        difference = told_difference(texts, self.writing or "0.0")
        example = f", such as {self.reason}" if self.kind == "written" and self.reason else ""
        return f"; {difference}{example}" if difference else ""

    def doubt(self, values: Array) -> str:
        """Say that numbers beside percent may be shares, of which 1 is all: if all of them lie in [-1, 1]."""
        if self.kind != "written" or unit_of(self.writing) != "%" or 0.0 < self.start <= _SHARES:
            return ""
        given = as_numbers(values) if values.dtype.kind in "biuf" else given_numbers(values)
        known = given[np.isfinite(given) & (given != 0.0)]
        if not len(known) or float(np.abs(known).max()) > 1.0:
            return ""
        shown, share = f"{known[0]:.4g}", f"{100.0 * known[0]:.4g}"
        rest = f" and {len(known) - 1:,} more" if len(known) > 1 else ""
        return (
            f"{self.name!r} has numbers within -1 to 1 ({shown}{rest}) where fit had percent such as {self.reason}: "
            f"{shown} is read as {shown} %, which may be a share, {share} %; multiply shares by 100"
        )

    def told(self) -> str:
        """Say what became of it, for a list."""
        if self.kind == "category":
            return f"{self.name!r} ({len(self.categories)} categories)"
        if self.kind == "answers":
            how = "lists in cells" if self.writing == LISTED else f"several answers in a cell, between {self.writing!r}"
            return f"{self.name!r} ({how}: {len(self.categories)})"
        if self.kind == "ordinal":
            order = f": {self.reason}" if self.reason else ""
            return f"{self.name!r} (rank among {len(self.categories)}{order})"
        if self.kind == "presence":
            also = f", also {self.reason}," if self.reason else ""
            return f"{self.name!r} ({str(self.categories[0])!r:.40}{also} or blank)"
        if self.kind == "written":
            example = self.reason or self.writing
            sizes = f", {SIZES_TOLD}" if has_sizes(self.writing) else ""
            return f"{self.name!r} (numbers such as {example}{sizes})"
        return f"{self.name!r} ({self.reason or self.features[0].removeprefix(self.name).strip(' ()')})"


def _different(values: Array) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the different values of a column, and which of them each is, -1 where one is missing.

    True, 1 and 1.0 are three, which a mapping of values alone would take for the one that comes first.
    """
    labels = check_labels(values, len(values))
    if labels.dtype.kind not in "bO":
        classes = sort_into_classes(labels)
        return classes.values, classes.codes
    given = [(type(value), value) for value in labels.tolist()]
    place = {key: code for code, key in enumerate(dict.fromkeys(key for key in given if key[1] is not None))}
    return [value for _, value in place], np.array([place.get(key, -1) for key in given], dtype=np.int64)


def _name_of(value: Any) -> str:
    """Return a category as text, the same for a number of any type and of an array of such numbers."""
    plain = value.item() if isinstance(value, np.generic) else value
    return str(int(plain)) if isinstance(plain, float) and plain.is_integer() else name_of(plain)


def _dates_of_numbers(values: Array, writing: str) -> npt.NDArray[np.datetime64]:
    """Return dates that are written as whole numbers, also in texts; NaT for others, but for texts that are dates."""
    if values.dtype.kind in "biuf":
        return read_date_numbers(as_numbers(values), writing)
    texts = texts_of(values)
    dates = read_date_numbers(read_numbers(texts, "0.0"), writing).astype("datetime64[us]")
    return np.where(np.isnat(dates), read_each_date(texts, ""), dates)


def mark_of(text: str) -> str:
    """Return a text that stands for "it is so" without what does not tell such marks apart: case and space."""
    return " ".join(text.split()).casefold()


def spreads_of(rules: Sequence[ColumnRule], X: Any) -> Float64Array:
    """Return what features are divided by where a table is standardised, NaN for their own spread.

    The indicators of a category are divided by the square root of the sum of their variances, 1 - sum_k p_k^2 for
    categories of shares p_k. So a category makes as much of the mean squared distance as a number: 2.

    Parameters
    ----------
    rules : sequence of ColumnRule
    X : ndarray of shape (n_samples, n_features)
        The features that they made; NaN where a value is missing.
    """
    spreads = np.full(X.shape[1], np.nan)
    for rule, columns in features_of(rules).items():
        if rule.is_truth or rule.kind in ("category", "answers"):
            variance = float(np.nanvar(X[:, columns], axis=0, dtype=np.float64).sum())
            spreads[columns] = np.sqrt(variance) if variance > 0.0 else 1.0
    return spreads


def mixed_columns(rules: Sequence[ColumnRule] | None) -> list[str]:
    """Return the names of columns that make a table one of mixed kinds: used, and no numbers, however written."""
    return [rule.name for rule in rules or () if rule.features and rule.kind not in _NUMBERS]


def mixed_spreads(rules: Sequence[ColumnRule] | None, X: Any) -> Float64Array | None:
    """Return what `spreads_of` does of a table of mixed kinds; None of one of numbers alone, which have units.

    Parameters
    ----------
    rules : sequence of ColumnRule or None
        None if all columns are numbers by their type.
    X : ndarray of shape (n_samples, n_features)
    """
    return spreads_of(rules, X) if rules is not None and mixed_columns(rules) else None


def features_of(rules: Sequence[ColumnRule]) -> dict[ColumnRule, slice]:
    """Return where the features of each column stand, of those that have some."""
    ends = np.cumsum([len(rule.features) for rule in rules]).tolist()
    pairs = zip(rules, ends, strict=True)
    return {rule: slice(end - len(rule.features), end) for rule, end in pairs if rule.features}


def columns_of_features(n_features: int, names: Sequence[str] | None, rules: Sequence[ColumnRule] | None) -> list[str]:
    """Return the name of the column of the table that each feature is of.

    Parameters
    ----------
    n_features : int
    names : sequence of str or None
        One for each feature.
    rules : sequence of ColumnRule or None
        None if all features are columns of numbers.

    Returns
    -------
    list of str
    """
    at = list(names or default_names(n_features))
    for rule, where in features_of(rules or ()).items():
        at[where] = [rule.name] * (where.stop - where.start)
    return at


def unit_ranges(rules: Sequence[ColumnRule] | None, X: Any) -> Float64Array:
    """Return what features are divided by so that each column makes at most 1 of a Manhattan distance.

    Numbers, dates and ranks by their range; indicators of answers by their number; those of categories by 2, as two of
    them differ between two categories, and one that alone tells two apart by 1. The mean over columns is the
    coefficient of Gower.

    Parameters
    ----------
    rules : sequence of ColumnRule or None
        None if all features are numbers.
    X : ndarray of shape (n_samples, n_features)
        Without missing values.

    References
    ----------
    .. [1] Gower, "A general coefficient of similarity and some of its properties", Biometrics 27, 1971, 857-871.
    """
    span = np.ptp(np.asarray(X, dtype=np.float64), axis=0)
    for rule, columns in features_of(rules or ()).items():
        if rule.kind == "category" and len(rule.features) > 1:
            span[columns] = 2.0
        if rule.kind == "answers":
            span[columns] = float(len(rule.features))
    return np.where(span > 0.0, span, 1.0)


def first_features(rules: Sequence[ColumnRule]) -> dict[str, int]:
    """Return the number of the first feature of each column that has become one."""
    return {rule.name: columns.start for rule, columns in features_of(rules).items()}


def rules_fault(rules: Sequence[ColumnRule]) -> str:
    """Return what is wrong with rules that come from a file; empty if nothing is."""
    for rule in rules:
        n, several = len(rule.features), len(rule.categories)
        wanted = {"left out": 0, "category": 1 if several == 2 else several, "answers": several}.get(rule.kind, 1)
        written = rule.kind == "written"
        if (
            not (
                rule.writing in ("", *DATE_ORDERS, *DATE_NUMBERS)
                if rule.kind == "date"
                else rule.writing in SEPARATORS
                if rule.kind == "answers"
                else is_writing(rule.writing) == written
            )
            or rule.kind not in _KINDS
            or n != wanted
            or (rule.kind in ("ordinal", "category", "answers") and not several)
            or (rule.kind == "presence" and several != 1)
            or not rule.unit > 0.0
        ):
            return f"column {rule.name!r:.60} has a rule that no column has"
    return ""
