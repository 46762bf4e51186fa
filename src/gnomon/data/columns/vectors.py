"""Columns that hold a vector in each row, such as embeddings: a column for each of its entries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["entries_of", "is_written_vector", "names_of_entries", "odd_vector", "vectors_among", "vectors_of"]

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WRITTEN = re.compile(rf"\s*\[\s*{_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})+\s*\]\s*")
_TYPED = re.compile(r"np\.float\d+\(([^()]*)\)")
_DIFFERENT = 0.5  # of texts at least
_ENTRY = re.compile(r"(?P<of>.+)\[(?P<place>\d+)\]")


def vectors_of(values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column of vectors of numbers of one length as a table, None for any other column.

    Parameters
    ----------
    values : ndarray of shape (n_samples,) or (n_samples, n_entries)
        Arrays, lists or texts such as "[0.1, 0.2]" of two numbers or more, none missing. Texts of which fewer than half
        differ are bands or lists of codes.
    """
    if values.ndim == 2:
        return values if values.dtype.kind in "iuf" and values.shape[1] > 1 else None
    if values.ndim != 1 or values.dtype.kind not in "OUT" or not len(values):
        return None
    if is_written_vector(values[0]):
        return None if len({*values.tolist()}) < _DIFFERENT * len(values) else _read(values.tolist())
    if not _is_vector(values[0]):
        return None
    length = len(values[0])
    if length < 2 or not all(_is_vector(value) and len(value) == length for value in values):
        return None
    try:
        table = np.array([np.asarray(value) for value in values])
    except (TypeError, ValueError):
        return None
    return table if table.ndim == 2 and table.dtype.kind in "iuf" else None


def names_of_entries(name: str, length: int) -> list[str]:
    """Return what the entries of a column of vectors are called, "embedding[0]" and so on."""
    return [f"{name}[{j}]" for j in range(length)]


def entries_of(name: str, available: Collection[str]) -> list[str]:
    """Return the columns that are the entries of a column of vectors of a name; empty if there are none."""
    found: list[str] = []
    while (entry := f"{name}[{len(found)}]") in available:
        found.append(entry)
    return found if len(found) > 1 else []


def odd_vector(values: npt.NDArray[Any]) -> str:
    """Say which row of a column of vectors has another one than the first; empty of other columns.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Arrays, lists or texts; a row may have anything else.
    """
    lengths = [_length(value) for value in values.tolist()] if values.ndim == 1 and values.dtype.kind in "OUT" else []
    first = next((i for i, length in enumerate(lengths) if length is not None), None)
    if first is None or 2 * sum(length is not None for length in lengths) < len(lengths):
        return ""
    odd = [i for i, length in enumerate(lengths) if length != lengths[first]]
    if not odd:
        return ""
    found = lengths[odd[0]]
    what = "no vector that can be read" if found is None else f"{found:,}"
    return f"row {first} has {lengths[first]:,} numbers and row {odd[0]} {what}"


def _length(value: Any) -> int | None:
    """Return how many numbers a vector has, None of what is no vector of numbers."""
    if isinstance(value, str):
        return None if not is_written_vector(value) else len(_plain(value).strip("[] \n\t").replace(",", " ").split())
    if not _is_vector(value):
        return None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return len(array) if array.ndim == 1 and array.dtype.kind in "iuf" else None


def vectors_among(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns that are all entries of vectors, by the name of these."""
    given = set(names)
    firsts = [found["of"] for name in given if (found := _ENTRY.fullmatch(name)) and found["place"] == "0"]
    return {of: entries for of in sorted(firsts) if (entries := entries_of(of, given))}


def is_written_vector(value: object) -> bool:
    """Return whether a value is a text such as "[0.1, 0.2]" or "[0.1 0.2]", of two numbers or more."""
    return isinstance(value, str) and _WRITTEN.fullmatch(_plain(value)) is not None


def _plain(value: Any) -> Any:
    """Return a text without the types that NumPy writes of its numbers, as in "[np.float64(0.1), np.float64(0.2)]"."""
    return _TYPED.sub(r"\1", value) if isinstance(value, str) and "(" in value else value


def _read(texts: list[Any]) -> npt.NDArray[np.float64] | None:
    """Return vectors that are written as texts, None if one is not, or of another length."""
    texts = [_plain(text) for text in texts]
    if not all(map(is_written_vector, texts)):
        return None
    rows = [text.strip("[] \n\t").replace(",", " ").split() for text in texts]
    if len({*map(len, rows)}) > 1:
        return None
    return np.array([[float(number) for number in row] for row in rows])


def _is_vector(value: object) -> bool:
    return isinstance(value, list | tuple | np.ndarray) or (hasattr(value, "to_numpy") and hasattr(value, "__len__"))
