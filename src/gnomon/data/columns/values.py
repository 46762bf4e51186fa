"""The values of one column as numbers, texts or dates; NaN, None or an empty text where one is missing."""

from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.arrays import FloatArray, is_missing
from gnomon.data.columns.vectors import odd_vector
from gnomon.data.labels import check_labels, measured_labels
from gnomon.data.written import is_missing_text, read_dates, without_signs

__all__ = [
    "as_numbers",
    "durations_of",
    "given_numbers",
    "known_texts",
    "plain_column",
    "refuse_other_values",
    "seconds_of",
    "texts_of",
    "truth_values",
    "with_dates",
]

Array = npt.NDArray[Any]
Float64Array = npt.NDArray[np.float64]

_NUMBERS = (numbers.Real, decimal.Decimal, np.bool_)
_DURATIONS = (datetime.timedelta, np.timedelta64)
_CONTAINERS = (list, tuple, dict, set, np.ndarray)


def as_numbers(values: Array) -> FloatArray:
    """Return a column of numbers in floating point."""
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def given_numbers(values: Array) -> Float64Array:
    """Return which values of a column of objects are numbers or truth values, not texts, as they are; NaN for others.

    Each is taken by itself, so that a number is the same alone and beside texts.
    """
    return np.array([float(value) if isinstance(value, _NUMBERS) else np.nan for value in values.tolist()], np.float64)


def durations_of(values: Array) -> Float64Array:
    """Return the durations in a column as seconds, NaN for anything else."""
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values.astype("timedelta64[us]").astype(np.int64) / 1e6)
    found = np.full(len(values), np.nan)
    for i, value in enumerate(values.tolist() if values.dtype.kind == "O" else ()):
        if isinstance(value, _DURATIONS) and not is_missing(value):
            found[i] = durations_of(np.array([value], dtype="timedelta64[us]"))[0]
    return found


def texts_of(values: Array) -> list[str]:
    """Return the values of a column as texts, empty where one is missing."""
    return ["" if value is None else str(value) for value in check_labels(known_texts(values), len(values)).tolist()]


def known_texts(values: Array) -> Array:
    """Return a column with None for texts that stand for a missing value, such as NA."""
    if values.dtype.kind not in "OU":
        return values
    given = values.tolist()
    texts = {value for value in {*filter(_is_text, given)} if is_missing_text(value)}  # mostly few different ones
    if not texts:
        return values
    gone = np.fromiter((_is_text(value) and value in texts for value in given), np.bool_, len(given))
    known = values.astype(object)
    known[gone] = None
    return known


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def with_dates(values: Array) -> Array:
    """Return labels as `check_labels` does, as dates where all of them are or are written so.

    Signs for a missing date, such as "-", are none if they are at most half.
    """
    labels = check_labels(known_texts(values), len(values))
    if labels.dtype.kind not in "OU":
        return labels
    texts = ["" if value is None else str(value) for value in labels.tolist()]
    dates = read_dates(texts)
    if dates is None and (kept := without_signs(texts)) != texts:
        dates = read_dates(kept)
    return labels if dates is None else dates


def seconds_of(values: Array) -> Float64Array | None:
    """Return dates as seconds since 1970 and durations as seconds, NaN where one is missing; None for other values."""
    if values.dtype.kind == "m":
        return durations_of(values)
    return measured_labels(values) if values.dtype.kind == "M" else None


def _is_container(value: object) -> bool:
    return isinstance(value, _CONTAINERS)


def truth_values(values: Array) -> Array:
    """Return 1 and 0 as True and False, where a value is missing as objects with None."""
    missing, truths = np.isnan(values), np.asarray(values != 0.0)
    if not missing.any():
        return truths
    given = truths.astype(object)
    given[missing] = None
    return given


def refuse_other_values(name: str, values: Array) -> None:
    """Raise TypeError if a column holds lists, mappings or the like, or complex numbers."""
    if values.dtype.kind == "c":
        held, parts = {"complex numbers"}, "columns of its real and imaginary parts"
    else:
        held = {type(value).__name__ for value in values.tolist() if _is_container(value)}
        parts = "vectors of numbers of one length, texts such as 'a; b' of what is listed, or a column of each entry"
    if held and (odd := odd_vector(values)):
        remedy = f"Give each row as many numbers, NaN where one is missing, or pass drop=[{name!r}]."
        raise TypeError(
            message(f"column {name!r} of the argument", "of vectors of one length", fact=odd, remedy=remedy)
        )
    if held:
        fact, remedy = f"it holds {' and '.join(sorted(held))}", f"Make {parts}, or pass drop=[{name!r}]."
        what = f"column {name!r} of the argument"  # scikit-learn's checks match on these words
        raise TypeError(message(what, "of strings, numbers or dates", fact=fact, remedy=remedy))


def plain_column(values: Array) -> Array:
    """Return a column of which lists and the like, and complex numbers, have become texts."""
    odd = values.dtype.kind == "c" or (values.dtype.kind == "O" and any(map(_is_container, values.tolist())))
    if not odd:
        return values
    return np.array([str(value) for value in values.tolist()], dtype=object)
