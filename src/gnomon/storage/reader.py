"""Values from nodes and arrays that may come from anywhere: every type, size and class is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon.data.sparse import check_csr
from gnomon.storage.classes import CLASSES, find_class, fits, hints_of, names_of, required_of
from gnomon.storage.nodes import DTYPES, FLOATS, MAX_DEPTH, MOST_LEAD, PLAIN, RECORD_TYPES, Arrays, Parts

__all__ = ["Reader"]


@dataclass
class Reader:
    """Turns descriptions into values; `left` are the arrays that nothing has asked for."""

    arrays: Arrays
    parts: Parts = field(default_factory=Parts)
    left: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.left = set(self.arrays)

    def unpack(self, node: Any, depth: int = 0) -> Any:
        """Return what a node describes."""
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deep")
        if type(node) in PLAIN:
            return node
        make = _KINDS.get(frozenset(node)) if isinstance(node, dict) else None
        if make is None:
            raise ValueError(f"it holds {node!r:.60}")
        return make(self, node, depth + 1)

    def _list(self, node: Any, depth: int) -> list[Any]:
        return [self.unpack(one, depth) for one in _is(node["list"], list)]

    def _tuple(self, node: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.unpack(one, depth) for one in _is(node["tuple"], list))

    def _records(self, node: Any, depth: int) -> list[Any]:
        name = _one_of(node["records"], {"tuple", *CLASSES})
        columns = [self._own(one) for one in _is(node["columns"], list)]
        if not columns or any(one.ndim != 1 or one.dtype.str[1:] not in RECORD_TYPES.values() for one in columns):
            raise ValueError("records are not columns of numbers")
        rows = list(zip(*(one.tolist() for one in columns), strict=True))
        if name == "tuple":
            return rows
        cls = find_class(name)
        if not issubclass(cls, tuple) or len(names_of(cls)) != len(columns):
            raise ValueError(f"{name} is no record of {len(columns)} numbers")
        return [cls(*row) for row in rows]

    def _dict(self, node: Any, depth: int) -> dict[str, Any]:
        return {name: self.unpack(one, depth) for name, one in _is(node["dict"], dict).items()}

    def _numbered(self, node: Any, depth: int) -> dict[int, Any]:
        keys, values = (_is(node[name], list) for name in ("keys", "values"))
        return {_is(key, int): self.unpack(one, depth) for key, one in zip(keys, values, strict=True)}

    def _scalar(self, node: Any, depth: int) -> Any:
        kind, value = _is(node["scalar"], list)
        number = bool if kind == "b1" else float if kind in ("f4", "f8") else int
        return np.dtype(_one_of(kind, DTYPES)).type(_is(value, number))

    def _texts(self, node: Any, depth: int) -> npt.NDArray[Any]:
        return np.array([_is(text, str) for text in _is(node["texts"], list)], dtype=object)

    def _own(self, name: Any) -> npt.NDArray[Any]:
        array = self.arrays[_is(name, str)]
        self.left.discard(name)
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        _one_of(native.dtype.str[1:], DTYPES)
        return native

    def _array(self, node: Any, depth: int) -> npt.NDArray[Any]:
        array, lead = self._own(node["array"]), _is(node["lead"], int)
        if lead:
            if array.ndim != 2 or not array.shape[1] < lead <= MOST_LEAD * array.shape[1]:
                raise ValueError(f"an array of shape {array.shape} has rows of {lead} entries")
            wide = np.zeros((len(array), lead), array.dtype)
            wide[:, : array.shape[1]] = array
            array = wide[:, : array.shape[1]]
        return array.T if _one_of(node["order"], ("C", "F")) == "F" else array

    def _csr(self, node: Any, depth: int) -> Any:
        data, indices, indptr = (self._own(name) for name in _is(node["csr"], list))
        rows, columns = (_is(size, int) for size in _is(node["shape"], list))
        if {data.ndim, indices.ndim, indptr.ndim} != {1} or indices.dtype.kind + indptr.dtype.kind != "ii":
            raise ValueError("a matrix is not values, column numbers and row offsets")
        check_csr(indices, indptr, data.size, rows, columns, ordered=False)
        return sp.csr_array((data, indices, indptr), shape=(rows, columns))

    def _shared(self, node: Any, depth: int) -> Any:
        found = getattr(self.parts, _one_of(node["shared"], ("X", "embedding")))
        return found.astype(np.dtype(_one_of(node["dtype"], FLOATS)), copy=False)

    def _graph(self, node: Any, depth: int) -> npt.NDArray[Any]:
        graph, k = self.parts.graph, _is(node["n_neighbors"], int)
        if graph is None or not 1 <= k <= graph.n_neighbors:
            raise ValueError(f"it refers to {k} neighbours, which the map does not have")
        return np.ascontiguousarray(getattr(graph, _one_of(node["graph"], ("indices", "distances")))[:, :k])

    def _object(self, node: Any, depth: int) -> Any:
        name = _one_of(node["class"], CLASSES)
        cls = find_class(name)
        values = {key: self.unpack(one, depth) for key, one in _is(node["fields"], dict).items()}
        if not values.keys() <= set(names_of(cls)) or not required_of(cls) <= values.keys():
            raise ValueError(f"{name} is described by {', '.join(sorted(values)):.200}")
        hints = hints_of(cls)
        for key, value in values.items():
            if not fits(value, hints[key]):
                raise ValueError(f"{key} of {name} is {type(value).__name__}, of another type than it should be")
        return cls(**values)


_KINDS: dict[frozenset[str], Callable[..., Any]] = {
    frozenset(keys.split()): make
    for keys, make in {
        "list": Reader._list,
        "tuple": Reader._tuple,
        "records columns": Reader._records,
        "dict": Reader._dict,
        "keys values": Reader._numbered,
        "scalar": Reader._scalar,
        "texts": Reader._texts,
        "array order lead": Reader._array,
        "csr shape": Reader._csr,
        "shared dtype": Reader._shared,
        "graph n_neighbors": Reader._graph,
        "class fields": Reader._object,
    }.items()
}


def _is(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"it holds {value!r:.60} where {kind.__name__} should be")
    return value


def _one_of(value: Any, known: Any) -> Any:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"it holds {value!r:.60}")
    return value
