"""Cells that hold a list of texts, or a text such as "['a', 'b']" that writes one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.arrays import is_missing

__all__ = ["LISTED", "are_written_lists", "read_list", "written_lists"]

LISTED = "[]"
"""What stands for the separator of cells that are lists."""

_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_TYPED = re.compile(r"np\.str_\(([^()]*)\)")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_BARE = r"""[^\s,'"\[\](){}][^,'"\[\](){}]*"""
_ENTRY = re.compile(rf"\s*(?:(?P<quoted>{_QUOTED})|(?P<bare>{_BARE}))\s*(?P<comma>,?)")
_ESCAPED = re.compile(r"\\(.)")
_LISTS = (list, tuple, set, frozenset)


def read_list(text: str) -> list[str] | None:
    """Return the entries of a text that writes a list of texts, without empty ones; None of any other text.

    Such a text is as Python, NumPy or JSON writes it, "['a', 'b']", "['a' 'b']" or '["a", "b"]', or without quotes,
    "[a, b]" or "{a,b}", where each entry has a letter: numbers in brackets are bounds or vectors.

    Parameters
    ----------
    text : str
    """
    text = text.strip()
    if len(text) < 2 or _BRACKETS.get(text[0]) != text[-1]:
        return None
    opening, text, found, place = text[0], text[1:-1], list[str](), 0
    text = _TYPED.sub(r"\1", text).strip() if "np.str_(" in text else text.strip()
    is_array = False  # as of NumPy: no comma between its entries, which all have quotes
    while place < len(text):
        entry = _ENTRY.match(text, place)
        if entry is None:
            return None
        quoted, place = entry["quoted"], entry.end()
        is_array |= not entry["comma"] and place < len(text)
        if quoted is None and (opening == "(" or is_array or not any(map(str.isalpha, entry["bare"]))):
            return None
        found.append(entry["bare"] if quoted is None else _ESCAPED.sub(r"\1", quoted[1:-1]))
    return [" ".join(one.split()) for one in found if one.strip()]


def are_written_lists(texts: Sequence[str]) -> bool:
    """Return whether all texts write lists, one of them with an entry at least.

    Parameters
    ----------
    texts : sequence of str
        Those that are known.
    """
    if any(text.strip()[:1] not in _BRACKETS for text in texts):
        return False
    found = [read_list(text) for text in {*texts}]
    return any(found) and all(one is not None for one in found)


def written_lists(values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column of lists of texts as texts that write them; None of any other column.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Lists, tuples, sets or arrays of texts, in some rows empty or missing.
    """
    if values.dtype != object or values.ndim != 1:
        return None
    lists = [_list_of(value) for value in values.tolist()]
    if not any(lists) or any(one is None and not _is_gone(value) for one, value in zip(lists, values, strict=True)):
        return None
    if not all(isinstance(entry, str) for one in lists if one for entry in one):
        return None
    written = np.empty(len(values), dtype=object)
    written[:] = [None if one is None else _written(one) for one in lists]
    return written


def _list_of(value: Any) -> list[Any] | None:
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, _LISTS):
        return list(value)
    array = value.to_numpy() if hasattr(value, "to_numpy") and hasattr(value, "__len__") else value
    return array.tolist() if isinstance(array, np.ndarray) and array.ndim == 1 else None


def _is_gone(value: Any) -> bool:
    return value is None or (not isinstance(value, (*_LISTS, np.ndarray)) and is_missing(value))


def _written(entries: Sequence[str]) -> str:
    quoted = ("'" + re.sub(r"([\\'])", r"\\\1", str(entry)) + "'" for entry in entries)
    return f"[{', '.join(quoted)}]"
