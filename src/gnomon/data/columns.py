"""Columns of a table as people have them: numbers, categories, dates and identifiers, and the features they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.data.arrays import FloatArray
from gnomon.data.dataset import LABEL_WORDS, TEXT_NOTE, Dataset, listed, require_name
from gnomon.data.frames import Frame, is_frame, read_frame
from gnomon.data.labels import check_labels, measured_labels, name_of, sort_into_classes
from gnomon.data.names import default_names
from gnomon.data.table import check_table
from gnomon.data.written import find_writing, is_missing_text, is_writing, read_dates, read_numbers
from gnomon.exceptions import DataWarning

__all__ = [
    "ColumnRule",
    "encode_dataset",
    "encode_rows",
    "features_of",
    "find_rules",
    "first_features",
    "raw_columns",
    "rules_fault",
    "spreads_of",
    "unit_ranges",
]

Array = npt.NDArray[Any]
Float64Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_ID_NAME = re.compile(
    r"(?i:(^|[\s_\-.])(id|ids|uuid|guid|zip|zip_?code|post_?code|postal_?code|plz)($|[\s_\-.]))|[a-z](Id|ID)$"
)
_ROW_NAME = re.compile(r"(?i:(^|[\s_\-.])(idx|index|key|row|serial)($|[\s_\-.]))|[a-z](Idx|Index|Key)$")
_ID_ROWS = 50  # fewer rows do not show that a column of different integers goes with no other
_ID_CORRELATION = 4.0  # standard errors of a rank correlation
MOST_CATEGORIES = 30
"""More different texts are no categories, unless one asks for it."""
_FEWEST_DIFFERENT = 10  # texts that all differ and are fewer may be categories
_YEAR, _DAY = 365.2425 * 86400.0, 86400.0  # seconds
_UNITS = (("years", _YEAR, 2), ("months", _YEAR / 12, 2), ("days", _DAY, 2), ("hours", 3600.0, 0))
_NOT_ASKED = "not asked for"
_UNKNOWN, _MISSING = -1, -2  # codes of values that are none of the categories
_CONTAINERS = (list, tuple, dict, set, np.ndarray)


@dataclass(frozen=True)
class ColumnRule:
    """What becomes of one column of a table.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"number", "written", "boolean", "ordinal", "category", "date", "left out"}
    features : tuple of str
        Names of the features that it becomes.
    categories : tuple
        Values of a category or an ordinal, in order.
    start, unit : float
        Of a date: seconds since 1970 of the first, and seconds in the unit of the feature.
    reason : str
        Why it is left out, a clause.
    writing : str
        Of numbers that are written as texts: how, such as "$0.0" or "0,0 %".
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
        if self.kind == "written" and values.dtype.kind not in "biuf":
            return read_numbers(_texts(values), self.writing)[:, None]
        if self.kind in ("number", "boolean", "written"):
            return _as_numbers(values)[:, None]
        if self.kind == "date":
            seconds = _seconds(_with_dates(values))
            if seconds is None:
                raise ValueError(message("X", "a table with dates where there were dates in fit"))
            return ((seconds - self.start) / self.unit)[:, None]
        codes = self._codes(values)
        if self.kind == "ordinal":
            return np.where(codes < 0, np.nan, codes)[:, None]
        if len(self.features) == 1:
            found = np.where(codes < 0, 0.5, codes)[:, None]
        else:
            found = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
        if keep_missing:
            found[codes == _MISSING] = np.nan
        return found

    def _codes(self, values: Array) -> npt.NDArray[np.int64]:
        """Return the place of each value among the categories, -1 for an unknown one and -2 for a missing one."""
        classes = sort_into_classes(_known_texts(values))
        place = {name_of(value): code for code, value in enumerate(self.categories)}
        return np.array([*(place.get(name, _UNKNOWN) for name in classes.names), _MISSING])[classes.codes]

    def unknown(self, values: Array) -> str:
        """Say which values are no number or none of the categories, and how many rows have one; empty if all are."""
        if self.kind == "written":
            odd = np.isnan(self.encode(values)[:, 0]) & sort_into_classes(_known_texts(values)).labelled
        elif self.categories:
            odd = self._codes(values) == _UNKNOWN
        else:
            return ""
        rows = np.flatnonzero(odd)
        if not len(rows):
            return ""
        taken = "no number, taken as missing" if self.kind == "written" else "taken as none of the categories"
        found = listed(sort_into_classes(values[rows]).names)
        return f"{self.name!r} has {found} in {len(rows):,} {'row' if len(rows) == 1 else 'rows'}: {taken}"

    def told(self) -> str:
        """Say what became of it, for a list."""
        if self.kind == "category":
            return f"{self.name!r} ({len(self.categories)} categories)"
        if self.kind == "ordinal":
            return f"{self.name!r} (rank among {len(self.categories)})"
        if self.kind == "written":
            return f"{self.name!r} (numbers such as {self.writing})"
        return f"{self.name!r} ({self.reason or self.features[0].removeprefix(self.name).strip(' ()')})"


def _as_numbers(values: Array) -> FloatArray:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _texts(values: Array) -> list[str]:
    """Return the values of a column as texts, empty where one is missing."""
    return ["" if value is None else str(value) for value in check_labels(_known_texts(values), len(values)).tolist()]


def _known_texts(values: Array) -> Array:
    """Return a column with None for texts that stand for a missing value, such as NA."""
    if values.dtype.kind not in "OU":
        return values
    gone = np.array([is_missing_text(value) for value in values.tolist()], dtype=np.bool_)
    if not gone.any():
        return values
    known = values.astype(object)
    known[gone] = None
    return known


def _with_dates(values: Array) -> Array:
    """Return labels as `check_labels` does, as dates where all of them are or are written so."""
    labels = check_labels(_known_texts(values), len(values))
    if labels.dtype.kind not in "OU":
        return labels
    dates = read_dates(["" if value is None else str(value) for value in labels.tolist()])
    return labels if dates is None else dates


def _seconds(values: Array) -> Float64Array | None:
    """Return dates as seconds since 1970 and durations as seconds, NaN where one is missing; None for other values."""
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values.astype("timedelta64[us]").astype(np.int64) / 1e6)
    return measured_labels(values) if values.dtype.kind == "M" else None


def _named_as_id(name: str, different: bool) -> bool:
    """Return whether a name says that it is of an identifier; a refractive index is one only if all values differ."""
    return bool(_ID_NAME.search(name) or (different and _ROW_NAME.search(name)))


def _id_reason(name: str, values: FloatArray, others: list[str], ranks: Callable[[str], Ints]) -> str:
    """Say why a column of numbers is an identifier; empty if it is none.

    `ranks` gives those of a column by its name; they are asked for only if need be.
    """
    if not np.isfinite(values).all() or not (values == np.floor(values)).all():
        return ""
    n = len(values)
    different = len(np.unique(values)) == n
    if n > 1 and different and bool((np.diff(values) == 1).all()):
        return "it counts the rows"
    if _named_as_id(name, different):
        return "an identifier by its name"
    if not different or n < _ID_ROWS:
        return ""
    own, limit = ranks(name), _ID_CORRELATION / np.sqrt(n)
    if any(abs(float(np.corrcoef(own, ranks(other))[0, 1])) > limit for other in others):
        return ""
    return "whole numbers that all differ and go with no other column"


def _rule_of_texts(name: str, values: Array, ordered: tuple[Any, ...], most: int) -> ColumnRule:
    labels = _with_dates(values)
    classes = sort_into_classes(labels)
    n_known = int(classes.labelled.sum())
    seconds = _seconds(labels)
    if seconds is not None and len(classes):
        return _rule_of_dates(name, seconds, labels.dtype.kind == "m")
    if ordered:
        return ColumnRule(name, "ordinal", (f"{name} (rank)",), ordered)
    if not n_known:
        return ColumnRule(name, "left out", reason="no values")
    if name.lower() in LABEL_WORDS:
        return ColumnRule(name, "left out", reason="it may hold labels")
    different = len(classes) == n_known
    if _named_as_id(name, different) or (different and n_known >= _FEWEST_DIFFERENT):
        return ColumnRule(name, "left out", reason="an identifier")
    if len(classes) > most or 2 * len(classes) > n_known + 2:
        return ColumnRule(name, "left out", reason=f"{len(classes):,} different texts")
    names = classes.names
    if len(names) == 1 and n_known == len(labels):
        return ColumnRule(name, "left out", reason=f"all rows have {names[0]!r:.40}")
    shown = names[1:] if len(names) == 2 else names
    return ColumnRule(name, "category", tuple(f"{name} = {value}" for value in shown), tuple(classes.values))


def _rule_of_written(name: str, raw: _Raw) -> ColumnRule | None:
    """Return the rule of a column of numbers that are written as texts; None if it is none."""
    if raw.ordered or raw.category or name.lower() in LABEL_WORDS or raw.values.dtype.kind not in "OU":
        return None
    _refuse_containers(name, raw.values)
    writing = find_writing([text for text in _texts(raw.values) if text])
    sign = writing.replace("0.0", "").replace("0,0", "").strip()
    return ColumnRule(name, "written", (f"{name} ({sign})" if sign else name,), writing=writing) if writing else None


def _rule_of_dates(name: str, seconds: Float64Array, durations: bool) -> ColumnRule:
    known = seconds[np.isfinite(seconds)]
    start, span = 0.0 if durations else float(known.min()), float(np.ptp(known))
    word, unit = next((word, unit) for word, unit, least in _UNITS if span >= least * unit)
    if durations:
        return ColumnRule(name, "date", (f"{name} ({word})",), unit=unit)
    first = str(np.datetime64(int(start), "s"))[:10]
    return ColumnRule(name, "date", (f"{name} ({word} since {first})",), start=start, unit=unit)


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
        if rule.kind in ("boolean", "category"):
            variance = float(np.nanvar(X[:, columns], axis=0, dtype=np.float64).sum())
            spreads[columns] = np.sqrt(variance) if variance > 0.0 else 1.0
    return spreads


def features_of(rules: Sequence[ColumnRule]) -> dict[ColumnRule, slice]:
    """Return where the features of each column stand, of those that have some."""
    ends = np.cumsum([len(rule.features) for rule in rules]).tolist()
    pairs = zip(rules, ends, strict=True)
    return {rule: slice(end - len(rule.features), end) for rule, end in pairs if rule.features}


def unit_ranges(rules: Sequence[ColumnRule] | None, X: Any) -> Float64Array:
    """Return what features are divided by so that each column makes at most 1 of a Manhattan distance.

    Numbers, dates and ranks by their range; indicators by 2, as two of them differ between two categories, and one that
    alone tells two apart by 1. The mean over columns is the coefficient of Gower.

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
    return np.where(span > 0.0, span, 1.0)


def first_features(rules: Sequence[ColumnRule]) -> dict[str, int]:
    """Return the number of the first feature of each column that has become one."""
    used = [rule for rule in rules if rule.features]
    ends = np.cumsum([len(rule.features) for rule in used])
    return {rule.name: int(end) - len(rule.features) for rule, end in zip(used, ends, strict=True)}


def rules_fault(rules: Sequence[ColumnRule]) -> str:
    """Return what is wrong with rules that come from a file; empty if nothing is."""
    for rule in rules:
        n, several = len(rule.features), len(rule.categories)
        wanted = {"left out": 0, "category": 1 if several == 2 else several}.get(rule.kind, 1)
        known = rule.kind in ("number", "written", "boolean", "ordinal", "category", "date", "left out")
        if (
            (rule.kind == "written") != is_writing(rule.writing)
            or not known
            or n != wanted
            or (rule.kind in ("ordinal", "category") and not several)
            or not rule.unit > 0.0
        ):
            return f"column {rule.name!r:.60} has a rule that no column has"
    return ""


def encode_rows(X: Any, rules: Sequence[ColumnRule], *, keep_missing: bool = False) -> FloatArray:
    """Return the features of rows of a table of the same columns, by rules found before.

    Warns
    -----
    DataWarning
        Names categories that were not there when the rules were found.
    """
    columns, used = raw_columns(X), [rule for rule in rules if rule.features]
    for rule in used:
        require_name(rule.name, list(columns), what="column")
        if rule.kind in ("number", "boolean") and not columns[rule.name].numeric:
            raise ValueError(message(f"column {rule.name!r}", "of numbers, as in fit"))
    new = [told for rule in used if (told := rule.unknown(columns[rule.name].values))]
    if new:
        warn(f"{'; '.join(new)}.", DataWarning)
    return _stack([rule.encode(columns[rule.name].values, keep_missing=keep_missing) for rule in used])


@dataclass(frozen=True)
class _Raw:
    """A column as it came: its values, the order of its categories if there is one, and what it was said to hold."""

    values: Array
    ordered: tuple[Any, ...] = ()
    boolean: bool = False
    category: bool = False

    @property
    def numeric(self) -> bool:
        return self.values.dtype.kind in "biuf"


def raw_columns(X: Any) -> dict[str, _Raw]:
    """Return the columns of a data frame, a mapping or an array by name, as they came."""
    if isinstance(X, Mapping):
        arrays = {str(name): np.asarray(values) for name, values in X.items()}
        return {name: _Raw(values, boolean=values.dtype.kind == "b") for name, values in arrays.items()}
    if not is_frame(X):
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(message(f"X of shape {values.shape}", "two-dimensional"))
        return {name: _Raw(values[:, j]) for j, name in enumerate(default_names(values.shape[1]))}
    return _columns_of_frame(read_frame(X))


def _columns_of_frame(frame: Frame) -> dict[str, _Raw]:
    names = frame.names or [str(j) for j in range(len(frame.columns))]
    categories = [kind.startswith("Categorical") for kind in frame.kinds]
    parts = zip(frame.columns, frame.orders, frame.booleans, categories, strict=True)
    return {name: _Raw(*part) for name, part in zip(names, parts, strict=True)}


def find_rules(
    columns: dict[str, _Raw], features: Sequence[str] | None, drop: Sequence[str] | None, most: int
) -> list[ColumnRule]:
    """Find out what becomes of each column; the rules are said in `TablePreprocessor`.

    Parameters
    ----------
    columns : dict
        As `raw_columns` returns them.
    features, drop : sequence of str or None
        Columns to use, and to leave out.
    most : int
        More different texts than this are no categories.
    """
    features, drop = _asked("features", features, columns), _asked("drop", drop, columns)
    chosen = set(columns if features is None else features) - set(drop or ())
    numbers = {name: _as_numbers(raw.values) for name, raw in columns.items() if raw.numeric}
    names = [*dict.fromkeys([*(features or ()), *columns])]

    @cache
    def ranks(name: str) -> Ints:
        return np.argsort(np.argsort(numbers[name], kind="stable"), kind="stable")

    rules = []
    for name in names:
        raw = columns[name]
        if name not in chosen:
            rules.append(ColumnRule(name, "left out", reason=_NOT_ASKED))
        elif raw.boolean:
            rules.append(ColumnRule(name, "boolean", (name,)))
        elif raw.numeric:
            others = [other for other in numbers if other != name and other in chosen]
            reason = "" if features is not None else _id_reason(name, numbers[name], others, ranks)
            rules.append(ColumnRule(name, "left out", reason=reason) if reason else ColumnRule(name, "number", (name,)))
        elif (found := _rule_of_written(name, raw)) is not None:
            numbers[name] = np.nan_to_num(found.encode(raw.values)[:, 0], nan=np.inf)
            others = [other for other in numbers if other != name and other in chosen]
            reason = "" if features is not None else _id_reason(name, numbers[name], others, ranks)
            rules.append(ColumnRule(name, "left out", reason=reason) if reason else found)
        else:
            rules.append(_rule_of_texts(name, raw.values, raw.ordered, most))
    asked = [rule for rule in rules if rule.name in chosen.intersection(features or ()) and not rule.features]
    if asked:
        fact = f"{asked[0].name!r}: {asked[0].reason}"
        raise ValueError(
            message("features", "columns that can become numbers", fact=fact, remedy="Encode it yourself.")
        )
    if not any(rule.features for rule in rules):
        fact = "; ".join(rule.told() for rule in rules[:5])
        raise ValueError(message("X", "a table with a column that can become a feature", fact=fact))
    return rules


def _refuse_containers(name: str, values: Array) -> None:
    held = {type(value).__name__ for value in values.tolist() if isinstance(value, _CONTAINERS)}
    if held:
        fact, remedy = (
            f"it holds {' and '.join(sorted(held))}",
            f"Make a column of each entry, or pass drop=[{name!r}].",
        )
        raise TypeError(message(f"column {name!r}", "of numbers, texts or dates", fact=fact, remedy=remedy))


def _asked(what: str, names: Sequence[Any] | None, columns: Iterable[str]) -> list[str] | None:
    """Return columns that are asked for by their names, or by their number where they have no names."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(message(f"{what}={names!r}", "a sequence of names", remedy=f"Pass {what}=[{names!r}]."))
    available = list(columns)
    numbered = {str(j): name for j, name in enumerate(available)} if available == default_names(len(available)) else {}
    found = [numbered.get(str(name), str(name)) for name in names]
    for name in found:
        require_name(name, available, what=what)
    return found


def _stack(blocks: list[FloatArray]) -> FloatArray:
    single = all(block.dtype == np.float32 for block in blocks)
    return np.ascontiguousarray(np.concatenate(blocks, axis=1), dtype=np.float32 if single else np.float64)


def encode_dataset(data: Dataset, features: Sequence[str] | None, drop: Sequence[str] | None) -> Dataset:
    """Turn the columns of a data set that are still as they came into features; the rest stays.

    Columns that are left out, and those that became indicators, ranks or dates, are kept as metadata.

    Parameters
    ----------
    data : Dataset
        Its table may be a data frame.
    features, drop : sequence of str or None
        As of `TablePreprocessor`.

    Returns
    -------
    Dataset
        Its notes say what became of the columns.

    Warns
    -----
    DataWarning
        Names numbers that are left out though nobody asked for that.
    """
    if is_frame(data.X):
        frame = read_frame(data.X)
        columns = _columns_of_frame(frame)
        if data.feature_names is not None:
            columns = dict(zip(data.feature_names, columns.values(), strict=True))
        if frame.names is None and all(raw.numeric and not raw.boolean for raw in columns.values()):
            return _select(data, features, drop)  # numbers without names
    elif data.text_columns is not None and isinstance(data.X, np.ndarray):
        names = data.feature_names or [str(j) for j in range(data.n_features)]
        columns = {name: _Raw(data.X[:, j]) for j, name in enumerate(names)}
        columns |= {name: _Raw(data.metadata[name]) for name in data.text_columns}
        if data.feature_names is None and not data.text_columns and features is None and drop is None:
            return data
    else:
        return _select(data, features, drop)
    return _encode(data, columns, features, drop)


def _encode(
    data: Dataset, columns: dict[str, _Raw], features: Sequence[str] | None, drop: Sequence[str] | None
) -> Dataset:
    rules = find_rules(columns, features, drop, MOST_CATEGORIES)
    made = [rule for rule in rules if rule.kind not in ("number", "boolean", "left out")]
    left = [rule for rule in rules if not rule.features]
    silent = [rule for rule in left if rule.reason != _NOT_ASKED and columns[rule.name].numeric]
    notes = [said for said in data.notes if not said.startswith(TEXT_NOTE)]
    if made:
        notes.append(f"columns turned into numbers: {', '.join(rule.told() for rule in made)}")
    others = [rule for rule in left if rule.name not in (data.label_name, data.target_name)]
    if others:
        notes.append(f"columns left out and kept as metadata: {', '.join(rule.told() for rule in others[:8])}")
    if silent:
        names = ", ".join(rule.told() for rule in silent)
        warn(f"{names} left out and kept as metadata. Pass features=[...] with these names to use them.", DataWarning)
    if odd := [told for rule in made if rule.kind == "written" and (told := rule.unknown(columns[rule.name].values))]:
        notes += odd
        warn(f"{'; '.join(odd)}.", DataWarning)
    blocks = [rule.encode(columns[rule.name].values, keep_missing=True) for rule in rules if rule.features]
    metadata = {rule.name: _plain(columns[rule.name].values) for rule in [*made, *left]}
    return replace(
        data,
        X=_stack(blocks),
        feature_names=[name for rule in rules for name in rule.features],
        metadata={**metadata, **data.metadata},
        columns=rules if made or any(rule.kind == "boolean" for rule in rules) else None,
        text_columns=None,
        notes=notes,
    )


def _plain(values: Array) -> Array:
    """Return a column of which lists and the like have become texts."""
    if values.dtype.kind != "O" or not any(isinstance(value, _CONTAINERS) for value in values.tolist()):
        return values
    return np.array([str(value) for value in values.tolist()], dtype=object)


def _select(data: Dataset, features: Sequence[str] | None, drop: Sequence[str] | None) -> Dataset:
    """Take some of the features of a data set whose features are final; the others are left."""
    if features is None and drop is None:
        return data
    table = check_table(data.X, accept_sparse=True, feature_names=data.feature_names, allow_missing=True)
    names = table.feature_names or default_names(table.n_features)
    gone = set(_asked("drop", drop, names) or ())
    wanted = names if features is None else _asked("features", features, names)
    order = [names.index(name) for name in dict.fromkeys(wanted or ()) if name not in gone]
    if not order:
        raise ValueError(message("drop", "such that a feature is left", fact=listed(names)))
    return replace(data, X=table.values[:, order], feature_names=[names[j] for j in order], image_shape=None)
