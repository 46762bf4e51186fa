"""Columns that hold a vector in each row, such as embeddings: a column for each of its entries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["entries_of", "is_written_vector", "names_of_entries", "vectors_among", "vectors_of"]

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WRITTEN = re.compile(rf"\s*\[\s*{_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})+\s*\]\s*")
_TYPED = re.compile(r"np\.float\d+\(([^()]*)\)")
_ENTRY = re.compile(r"(?P<of>.+)\[(?P<place>\d+)\]")


def vectors_of(values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column of vectors of numbers of one length as a table, None for any other column.

    Parameters
    ----------
    values : ndarray of shape (n_samples,) or (n_samples, n_entries)
        Arrays, lists or texts such as "[0.1, 0.2]" of two numbers or more, none missing.
    """
    if values.ndim == 2:
        return values if values.dtype.kind in "iuf" and values.shape[1] > 1 else None
    if values.ndim != 1 or values.dtype.kind not in "OUT" or not len(values):
        return None
    if is_written_vector(values[0]):
        return _read(values.tolist())
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
