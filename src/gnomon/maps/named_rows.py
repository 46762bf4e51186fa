"""Rows of a map named in words: a point by its name or number, several by conditions on labels and columns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Instance, check_parameters, message, warn
from gnomon.data.arrays import is_missing, may_be_rounded
from gnomon.data.dataset import require_name
from gnomon.exceptions import DataWarning
from gnomon.maps.seam import told_from

if TYPE_CHECKING:
    from gnomon.maps.questions import Questions

__all__ = ["feature_values", "find_point", "rows_without_value", "select_rows"]

_CONDITION = re.compile(r"^\s*(?P<name>.+?)\s*(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.*?)\s*$")
_WHOLE = re.compile(r"[+-]?\d+")
_QUOTED = re.compile(r"[^<>=]*[<>=]=?\s*(['\"])")  # up to the value
Mask = npt.NDArray[np.bool_]

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def find_point(text: str, n_samples: int, point_names: npt.NDArray[Any] | None) -> int:
    """Return the row that has this name, else the row of this number."""
    if point_names is not None:
        rows = np.flatnonzero(point_names.astype(str) == str(text))
        if len(rows) > 1:
            fact = f"{len(rows):,} points have it"
            raise ValueError(message(f"point {text!r}", "the name of one point", fact=fact))
        if len(rows):
            return int(rows[0])
    try:
        row = int(text)
    except ValueError:
        rule = "a row number" if point_names is None else "a row number or the name of a point"
        raise ValueError(message(f"point {text!r}", rule)) from None
    if not -n_samples <= row < n_samples:
        raise ValueError(message(f"point {row}", f"below n_samples={n_samples}"))
    return row % n_samples


def select_rows(result: Questions, text: str) -> npt.NDArray[np.bool_]:
    """Return the rows of which all conditions of a text hold."""
    text = check_parameters({"text": Instance((str,), "a text")}, {"text": text})["text"]
    mask = np.ones(int(result.X.shape[0]), dtype=np.bool_)
    for condition in _conditions(text):
        found = _CONDITION.match(condition)
        if found is None:
            remedy = "Write it as in label=3, age>40 or rows=0:100."
            raise ValueError(message(f"{condition!r}", "a condition", remedy=remedy))
        name, sign, value = found["name"], found["sign"], _unquoted(found["value"])
        if name == "rows" and sign == "=":
            mask &= _listed_rows(value, len(mask))
        else:
            held = _compare(_column(result, name), sign, value, name, _feature_of(result, name))
            if (k := _cut_column(result, name)) is not None:
                given = _compare(np.asarray(result._checked().values[:, k]), sign, value, name)
                _warn_of_cut(result, k, condition, held, given)
            mask &= held
    if not mask.any():
        remedy = _told_from(result, text)
        raise ValueError(message(f"{text!r}", "such that one row at least fits", fact="none does", remedy=remedy))
    return mask


def rows_without_value(result: Questions, text: str) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Return the rows that lack a value of which the conditions of a text ask, and the columns that they lack.

    Of those no one knows whether the conditions hold.
    """
    lacking = np.zeros(int(result.X.shape[0]), dtype=np.bool_)
    columns = []
    for condition in _conditions(text):
        found = _CONDITION.match(condition)
        if found is None or found["name"] == "rows":
            continue
        column = _column(result, found["name"])
        if column.dtype.kind in "fM":
            missing = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
        else:
            missing = np.array([is_missing(one) for one in column.tolist()], dtype=np.bool_)
        if missing.any():
            lacking |= missing
            columns.append(found["name"])
    return lacking, columns


def _cut_column(result: Questions, name: str) -> int | None:
    """Return the number of a feature that has a period and is cut; None of others, and of labels and metadata."""
    seams = result._seams()
    if seams is None or name not in result.feature_names or name in ("label", result.label_name, *result.metadata):
        return None
    k = result.feature_names.index(name)
    return k if k in seams.moved else None


def _warn_of_cut(result: Questions, k: int, condition: str, held: Mask, given: Mask) -> None:
    """Warn if a condition on a feature that is cut holds for other rows by the numbers of the table as given."""
    seams = result._seams()
    if seams is not None and not np.array_equal(given, held):
        ends = f"from {seams.begins[k]:.4g} to {seams.begins[k] + seams.periods[k]:.4g}"
        warn(
            f"{condition.strip()!r} holds for {np.count_nonzero(held):,} rows, as answers and the page tell "
            f"{result.feature_names[k]!r}: {ends}. By the numbers of the table as given it holds for "
            f"{np.count_nonzero(given):,}; to have those pass a mask made of these numbers.",
            DataWarning,
        )


def _told_from(result: Questions, text: str) -> str:
    """Say from where those columns of a text are told that have a period and are cut; empty without any."""
    seams = result._seams()
    if seams is None:
        return ""
    asked = {found["name"] for one in _conditions(text) if (found := _CONDITION.match(one)) is not None}
    moved = [k for k in seams.moved if result.feature_names[k] in asked]
    return told_from(seams, np.array(moved), result.feature_names) if moved else ""


def _unquoted(value: str) -> str:
    """Return a value without the quotes around it."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _is_closed(condition: str) -> bool:
    """Return whether a condition ends with the quote that its value begins with."""
    quote = _QUOTED.match(condition)
    return quote is not None and condition[quote.end() :].rstrip().endswith(quote[1])


def _conditions(text: str) -> list[str]:
    """Split a text at " & ", but not where a value in quotes holds it."""
    found: list[str] = []
    parts = text.split(" & ")
    while parts:
        ends = [i for i in range(1, len(parts) + 1) if _is_closed(" & ".join(parts[:i]))]
        taken = ends[0] if ends else 1
        found.append(" & ".join(parts[:taken]))
        parts = parts[taken:]
    return found


def _listed_rows(value: str, n: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(n, dtype=np.bool_)
    for part in value.split(","):
        start, colon, stop = part.strip().partition(":")
        try:
            first = int(start or 0)
            last = int(stop or n) if colon else first + 1
        except ValueError:
            raise ValueError(message(f"rows={value}", "row numbers and ranges, such as 0:100,205")) from None
        if not 0 <= first < last <= n:
            raise ValueError(message(f"rows={part.strip()}", f"rows in [0, {n})"))
        mask[first:last] = True
    return mask


def feature_values(result: Questions, name: str) -> npt.NDArray[Any]:
    """Return the values of a feature, as answers tell them."""
    column = result._unrolled().values[:, [result.feature_names.index(name)]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def _column(result: Questions, name: str) -> npt.NDArray[Any]:
    if result.labels is not None and name in ("label", result.label_name):
        return result.labels
    if name in result.metadata:
        return result.metadata[name]
    if name in result.feature_names:
        return feature_values(result, name)
    available = [*(["label", result.label_name] if result.labels is not None else []), *result.metadata]
    require_name(name, list(dict.fromkeys([*available, *result.feature_names])), what="column")
    raise AssertionError(name)  # pragma: no cover


def _feature_of(result: Questions, name: str) -> str:
    """Return the one feature of numbers, ranks or dates that a column of texts became; empty without any."""
    kinds = ("written", "ordinal", "date")
    found = [rule.features[0] for rule in result.columns or () if rule.name == name and rule.kind in kinds]
    return found[0] if found and found[0] != name else ""


def _compare(column: npt.NDArray[Any], sign: str, value: str, name: str, feature: str = "") -> npt.NDArray[np.bool_]:
    if column.dtype.kind in "iufM":
        dates = column.dtype.kind == "M"
        try:
            number = np.datetime64(value) if dates else float(value)
        except ValueError:
            rule = "a comparison with a date, such as 2024-05-31" if dates else "a comparison with a number"
            raise ValueError(message(f"{name}{sign}{value}", rule)) from None
        if may_be_rounded(column) and column.dtype.kind in "iu" and _WHOLE.fullmatch(value):
            return np.asarray(_SIGNS[sign](column.astype(object), int(value)), dtype=np.bool_)
        return np.asarray(_SIGNS[sign](column if dates else column.astype(np.float64), number))
    if sign not in ("=", "!="):
        fact = f"{name} holds texts"
        remedy = f"Compare the numbers that they became: {feature}{sign}{value}." if feature else ""
        raise ValueError(message(f"{name}{sign}{value}", "a comparison by = or !=", fact=fact, remedy=remedy))
    texts = ["" if is_missing(one) else str(one) for one in column.tolist()]
    return np.asarray(_SIGNS[sign](np.array(texts, dtype=np.str_), value))
