"""Values into nodes that JSON can hold, and the arrays they refer to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon.data.sparse import check_csr
from gnomon.storage.classes import CLASSES, find_class, names_of
from gnomon.storage.nodes import (
    DTYPES,
    MAX_DEPTH,
    MOST_LEAD,
    PLAIN,
    RECORD_TYPES,
    Arrays,
    NotStorableError,
    Parts,
    array_name,
    checksum,
)

__all__ = ["Writer"]

_MOST_VALUES = 5000  # besides those in arrays
_TOGETHER = 1 << 18  # numbers compared at a time


@dataclass
class Writer:
    """Turns values into descriptions, and collects each array once."""

    parts: Parts = field(default_factory=Parts)
    arrays: Arrays = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _n_values: int = 0

    def pack(self, value: Any, at: str, depth: int = 0) -> Any:
        """Describe a value; `at` is where it stands, for the error text."""
        self._n_values += 1
        if depth > MAX_DEPTH or self._n_values > _MOST_VALUES:
            raise NotStorableError(f"{at} is nested too deep or too long")

        def inner(one: Any, name: object) -> Any:
            return self.pack(one, f"{at}.{name}", depth + 1)

        kind = type(value)
        if kind in PLAIN:
            return value
        if isinstance(value, np.generic) and value.dtype.str[1:] in DTYPES:
            return {"scalar": [value.dtype.str[1:], value.item()]}
        if kind is np.ndarray:
            return self._array(value, at)
        if kind is sp.csr_array:
            return self._matrix(value, at)
        if kind is list and (columns := _columns(value)):
            return {"records": type(value[0]).__name__, "columns": [self._store(column) for column in columns]}
        if kind in (list, tuple):
            return {kind.__name__: [inner(one, k) for k, one in enumerate(value)]}
        if kind is dict and all(isinstance(name, str) for name in value):
            return {"dict": {name: inner(one, name) for name, one in value.items()}}
        if kind is dict and all(type(number) is int for number in value):
            return {"keys": [*value], "values": [inner(one, number) for number, one in value.items()]}
        if kind.__name__ in CLASSES and kind is find_class(kind.__name__):
            named = {name: inner(getattr(value, name), name) for name in names_of(kind)}
            return {"class": kind.__name__, "fields": named}
        raise NotStorableError(f"{at} is {'a function' if callable(value) else f'of type {kind.__name__}'}")

    def _array(self, array: npt.NDArray[Any], at: str) -> Any:
        if array.dtype.hasobject:
            texts = array.tolist()
            if array.ndim != 1 or not all(type(text) is str for text in texts):
                raise NotStorableError(f"{at} holds objects")
            return {"texts": texts}
        if array.dtype.str[1:] not in DTYPES:
            raise NotStorableError(f"{at} is of type {array.dtype}")
        for name in ("X", "embedding"):
            if _equal_bytes(array, getattr(self.parts, name)):
                return {"shared": name, "dtype": array.dtype.str[1:]}
        for name in ("indices", "distances"):
            whole = getattr(self.parts.graph, name, None)
            if whole is None or whole.dtype != array.dtype or array.ndim != 2 or array.shape[1] > whole.shape[1]:
                continue
            if _equal_bytes(array, np.ascontiguousarray(whole[:, : array.shape[1]])):
                return {"graph": name, "n_neighbors": array.shape[1]}
        order, lead = _layout(array)
        return {"array": self._store(array.T if order == "F" else array), "order": order, "lead": lead}

    def _matrix(self, matrix: Any, at: str) -> Any:
        if matrix.data.dtype.str[1:] not in DTYPES:
            raise NotStorableError(f"{at} is of type {matrix.dtype}")
        X = self.parts.X
        if isinstance(X, sp.csr_array) and X.shape == matrix.shape:
            pairs = ((matrix.indptr, X.indptr), (matrix.indices, X.indices), (matrix.data, X.data))
            if all(_equal_bytes(own, other) for own, other in pairs) and matrix.indices.dtype == X.indices.dtype:
                return {"shared": "X", "dtype": matrix.data.dtype.str[1:]}
        try:
            check_csr(matrix.indices, matrix.indptr, matrix.data.size, *matrix.shape, ordered=False)
        except ValueError as error:
            raise NotStorableError(f"{at}: {error}") from error
        stored = [self._store(array) for array in (matrix.data, matrix.indices, matrix.indptr)]
        return {"csr": stored, "shape": list(matrix.shape)}

    def _store(self, array: npt.NDArray[Any]) -> str:
        """Keep an array, once for all with the same bytes; return its name."""
        content = checksum({"": array}, {})
        if content not in self._names:
            self._names[content] = name = array_name(len(self.arrays))
            self.arrays[name] = np.asarray(array, order="C")
        return self._names[content]


def _columns(values: list[Any]) -> list[npt.NDArray[Any]]:
    """Return the columns of a list of equal tuples of numbers, such as a history of the loss; none of any other list.

    They are exact, and a list of thousands of iterations is a few arrays.
    """
    kind = type(values[0]) if values else None
    if kind is None or not issubclass(kind, tuple) or not (kind is tuple or kind.__name__ in CLASSES):
        return []
    if any(type(one) is not kind or len(one) != len(values[0]) for one in values):
        return []
    columns = []
    for column in zip(*values, strict=True):
        types = {type(one) for one in column}
        dtype = RECORD_TYPES.get(types.pop())
        if types or dtype is None or (dtype == "i8" and not -(2**63) <= min(column) <= max(column) < 2**63):
            return []
        columns.append(np.array(column, dtype=dtype))
    return columns


def _layout(array: npt.NDArray[Any]) -> tuple[str, int]:
    """Return the order of an array in memory and, for part of a wider one, the entries from row to row; else 0.

    BLAS adds up in another order where these differ.
    """
    if array.flags.c_contiguous or array.ndim != 2:
        return "C", 0
    if array.flags.f_contiguous:
        return "F", 0
    for order, (step, unit), width in (("C", array.strides, array.shape[1]), ("F", array.strides[::-1], len(array))):
        lead, rest = divmod(step, array.itemsize)
        if unit == array.itemsize and rest == 0 and width < lead <= MOST_LEAD * width:
            return order, lead
    return "C", 0


def _equal_bytes(array: npt.NDArray[Any], other: Any) -> bool:
    """Say whether an array is another, converted to its type, in every bit."""
    if array is other:
        return True
    if not isinstance(other, np.ndarray) or array.shape != other.shape or not array.flags.c_contiguous:
        return False
    if array.dtype.kind != other.dtype.kind or not np.array_equal(array[:1], other[:1]):
        return False
    step = max(1, _TOGETHER * len(array) // max(1, array.size))  # rows: copies of all would be much memory
    parts = (slice(begin, begin + step) for begin in range(0, len(array), step))
    with np.errstate(all="ignore"):
        return all(array[one].tobytes() == other[one].astype(array.dtype, copy=False).tobytes() for one in parts)
