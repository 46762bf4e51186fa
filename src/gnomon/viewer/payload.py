"""Named arrays as text for a web page: one header, binary columns in groups, gzip, base64."""

from __future__ import annotations

import binascii
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Payload"]

_PART = 16 << 20  # bytes of raw data per part: browsers limit the length of one string
_TYPES = {"uint8", "uint16", "uint32", "int8", "int16", "int32", "float32", "float64"}


@dataclass
class Payload:
    """What a page is made from.

    Attributes
    ----------
    header : dict
        Anything JSON can hold.
    groups : dict of str to dict of str to ndarray
        Columns by name, in groups that the page decodes one after the other, in order of urgency.
    """

    header: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, dict[str, npt.NDArray[Any]]] = field(default_factory=dict)

    def add(self, group: str, name: str, column: npt.NDArray[Any]) -> None:
        """Add a column to a group."""
        if column.dtype.name not in _TYPES:
            raise TypeError(f"Payload: dtype {column.dtype} of column {name!r} has no typed array in a browser")
        self.groups.setdefault(group, {})[name] = np.ascontiguousarray(column)

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield (group, base64 text) in order; the header comes first and says where each column lies."""
        layout: dict[str, dict[str, Any]] = {}
        for group, columns in self.groups.items():
            layout[group] = _layout(columns)
        header = json.dumps({**self.header, "groups": layout}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        yield "header", _encode(header.encode(), level=6)
        for group, columns in self.groups.items():
            size = layout[group]["bytes"]
            level = 6 if size <= _PART // 2 else 4  # for 70,000 pictures 4 is about as fast as 1 and 7 % smaller
            for chunk in _chunks(columns, layout[group]["columns"], size):
                yield group, _encode(chunk, level=level)


def _layout(columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    places, offset = {}, 0
    for name, column in columns.items():
        places[name] = {"dtype": column.dtype.name, "shape": list(column.shape), "offset": offset}
        offset += -(-column.nbytes // 8) * 8  # typed arrays must start at a multiple of their item size
    return {"bytes": offset, "columns": places}


def _chunks(columns: Mapping[str, npt.NDArray[Any]], places: Mapping[str, Any], size: int) -> Iterator[memoryview]:
    if size <= _PART:
        whole = np.zeros(size, dtype=np.uint8)
        for name, column in columns.items():
            start = places[name]["offset"]
            whole[start : start + column.nbytes] = _bytes(column)
        yield memoryview(whole)
        return
    for column in columns.values():  # large: no copy of the group, one column after the other
        raw = _bytes(column)
        for start in range(0, raw.size, _PART):
            yield memoryview(raw[start : start + _PART])
        if raw.size % 8:
            yield memoryview(bytes(8 - raw.size % 8))


def _bytes(column: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    little = column.astype(column.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8)


def _encode(data: bytes | memoryview, *, level: int) -> str:
    # 31: a gzip frame, whose time stamp zlib leaves at zero, so the same data give the same text.
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return binascii.b2a_base64(packer.compress(data) + packer.flush(), newline=False).decode("ascii")
