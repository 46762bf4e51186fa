"""Rows named in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.dataset import require_name

if TYPE_CHECKING:
    from gnomon.maps.questions import Questions

__all__ = ["find_point", "select_rows"]

_WHO = "select"
_CONDITION = re.compile(r"^\s*(?P<name>.+?)\s*(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.*?)\s*$")
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
            fact = f"{len(rows)} points have it"
            raise ValueError(message("find", f"point {text!r}", "the name of one point", fact=fact))
        if len(rows):
            return int(rows[0])
    try:
        row = int(text)
    except ValueError:
        rule = "a row number" if point_names is None else "a row number or the name of a point"
        raise ValueError(message("find", f"point {text!r}", rule)) from None
    if not -n_samples <= row < n_samples:
        raise ValueError(message("find", f"point {row}", f"below n_samples={n_samples}"))
    return row % n_samples


def select_rows(result: Questions, text: str) -> npt.NDArray[np.bool_]:
    """Return the rows of which all conditions of a text hold."""
    mask = np.ones(int(result.X.shape[0]), dtype=np.bool_)
    for condition in text.split(" & "):
        found = _CONDITION.match(condition)
        if found is None:
            remedy = "Write it as in label=3, age>40 or rows=0:100."
            raise ValueError(message(_WHO, f"{condition!r}", "a condition", remedy=remedy))
        name, sign, value = found["name"], found["sign"], found["value"]
        if name == "rows" and sign == "=":
            mask &= _listed_rows(value, len(mask))
        else:
            mask &= _compare(_column(result, name), sign, value, name)
    if not mask.any():
        raise ValueError(message(_WHO, f"{text!r}", "such that one row at least fits", fact="none does"))
    return mask


def _listed_rows(value: str, n: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(n, dtype=np.bool_)
    for part in value.split(","):
        start, colon, stop = part.strip().partition(":")
        try:
            first = int(start or 0)
            last = int(stop or n) if colon else first + 1
        except ValueError:
            raise ValueError(message(_WHO, f"rows={value}", "row numbers and ranges, such as 0:100,205")) from None
        if not 0 <= first < last <= n:
            raise ValueError(message(_WHO, f"rows={part.strip()}", f"rows in [0, {n})"))
        mask[first:last] = True
    return mask


def _column(result: Questions, name: str) -> npt.NDArray[Any]:
    if result.labels is not None and name in ("label", result.label_name):
        return result.labels
    if name in result.metadata:
        return result.metadata[name]
    if name in result.feature_names:
        column = result.X[:, [result.feature_names.index(name)]]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
    available = [*(["label", result.label_name] if result.labels is not None else []), *result.metadata]
    require_name(name, list(dict.fromkeys([*available, *result.feature_names])), who=_WHO, what="column")
    raise AssertionError(name)  # pragma: no cover


def _compare(column: npt.NDArray[Any], sign: str, value: str, name: str) -> npt.NDArray[np.bool_]:
    if column.dtype.kind in "iuf":
        try:
            number = float(value)
        except ValueError:
            raise ValueError(message(_WHO, f"{name}{sign}{value}", "a comparison with a number")) from None
        return np.asarray(_SIGNS[sign](column.astype(np.float64), number))
    if sign not in ("=", "!="):
        raise ValueError(message(_WHO, f"{name}{sign}{value}", "a comparison by = or !=", fact=f"{name} holds texts"))
    return np.asarray(_SIGNS[sign](column.astype(str), value))
