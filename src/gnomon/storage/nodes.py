"""What writer and reader agree on: which values stand as they are, which arrays there are, how deep nesting goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "DTYPES",
    "FLOATS",
    "MAX_DEPTH",
    "MOST_LEAD",
    "PLAIN",
    "RECORD_TYPES",
    "Arrays",
    "NotStorableError",
    "Parts",
    "array_name",
    "check_names",
    "checksum",
]

PLAIN = (bool, int, float, str, type(None))
FLOATS = ("f4", "f8")
DTYPES = frozenset({*FLOATS, "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
RECORD_TYPES = {bool: "b1", int: "i8", float: "f8"}
"""Types that all entries of a column of records may have, and how the column is stored."""
MAX_DEPTH = 12
MOST_LEAD = 64  # times the width of an array that is part of a wider one
Arrays = dict[str, npt.NDArray[Any]]


class NotStorableError(Exception):
    """A value holds something that no file can; the text says what."""


@dataclass(frozen=True)
class Parts:
    """What a file holds besides the values, to which they refer instead of holding it again.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), or None
    embedding : ndarray of shape (n_samples, n_components), or None
    graph : NeighborGraph or None
    """

    X: Any = None
    embedding: npt.NDArray[Any] | None = None
    graph: Any = None


def array_name(number: int) -> str:
    """Return the name of an array in a file."""
    return f"method_{number}"


def checksum(arrays: Arrays, description: Mapping[str, Any]) -> str:
    """Return a checksum of what is stored."""
    found = hashlib.sha256(json.dumps(description, sort_keys=True, ensure_ascii=False).encode())
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name} {array.dtype.newbyteorder('<').str} {array.shape}".encode())
        in_order = np.ascontiguousarray(array)
        has_buffer = array.size and array.dtype.kind in "biufc"  # of dates and texts NumPy gives none
        found.update(in_order.data.cast("B") if has_buffer else in_order.tobytes())
    return found.hexdigest()


def check_names(description: Mapping[str, Any], shapes: Mapping[str, Any]) -> None:
    """Raise ValueError unless a file has the arrays it describes, by the names a writer gives; none is read yet."""
    count = description.get("n_arrays")
    if count != len(shapes) or shapes.keys() != {array_name(number) for number in range(len(shapes))}:
        raise ValueError(f"it holds {len(shapes)} arrays and describes {count!r:.40}")
