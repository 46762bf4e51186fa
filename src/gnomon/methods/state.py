"""A fitted method as arrays and a description that JSON can hold, and back; never a pickle.

What is stored is what `transform`, `inverse_transform` and `jacobian` need: the parameters and the fitted attributes of
the estimator, with the dataclasses of gnomon in them. Only the classes named here are made again, each by its own
constructor and from values of the types that its fields declare.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import check_parameters
from gnomon.data.sparse import check_csr
from gnomon.kernels import CustomLaw, OutputKernel
from gnomon.methods.base import Embedder
from gnomon.methods.registry import METHODS

__all__ = ["CLASSES", "NotStorableError", "Parts", "checksum", "pack_method", "unpack_method"]

_MODULES = {
    "gnomon.affinities.affinity": ("OwnRows",),
    "gnomon.affinities.fuzzy": ("FuzzyAffinity", "MembershipRows"),
    "gnomon.affinities.gaussian": ("ConditionalAffinity", "GaussianAffinity"),
    "gnomon.affinities.geodesics": ("PathGraph",),
    "gnomon.affinities.heat": ("EdgeWeights",),
    "gnomon.affinities.kernel_components": ("KernelComponents",),
    "gnomon.affinities.pacmap": ("ScaledRows",),
    "gnomon.affinities.reconstruction": ("ReconstructionAffinity", "ReconstructionRows"),
    "gnomon.affinities.uniform": ("UniformAffinity",),
    "gnomon.extension.placement.by_similarity": ("SimilarityPlacement",),
    "gnomon.extension.placement.by_triplets": ("TripletPlacement",),
    "gnomon.extension.placement.placement": ("RowPlacement",),
    "gnomon.kernels": (
        "Cauchy",
        "Distance",
        "Gaussian",
        "InversePower",
        "Linear",
        "Logarithmic",
        "NoiseContrast",
        "SketchMapKernel",
        "StudentT",
        "UMAPKernel",
    ),
    "gnomon.kernels.inputs": (
        "CauchyInput",
        "CosineInput",
        "GaussianInput",
        "LaplacianInput",
        "LinearInput",
        "PolynomialInput",
        "SketchMapInput",
        "UMAPInput",
    ),
    "gnomon.linalg.classical_scaling": ("ClassicalScaling",),
    "gnomon.linalg.principal.components": ("PrincipalComponents",),
    "gnomon.methods.spectral.laplacian_eigenmaps": ("EigenmapExtension",),
    "gnomon.neighbors": ("Bridges", "Landmarks", "NeighborGraph"),
    "gnomon.objectives.pair_objective": ("PairTerm", "Repulsion", "RowLoss"),
}
CLASSES = {name: module for module, names in _MODULES.items() for name in names}
"""Module of each class that an attribute of a fitted method may have."""

_PROTOCOLS = {
    "InputKernel": _MODULES["gnomon.kernels.inputs"],
    "NewRows": ("MembershipRows", "OwnRows", "ReconstructionRows", "ScaledRows"),
    "OutputKernel": _MODULES["gnomon.kernels"],
}
_METHODS = frozenset({card.estimator for card in METHODS} | {"NeighborEmbedding"})
_LEFT_OUT = frozenset(
    {"advice_", "affinities_", "convergence_", "frames_", "gram_", "low_rank_", "solution_", "sparse_", "timings_"}
)  # what a fit reports, or keeps to go on; neither places rows
_NOT_PARAMETERS = {"callback": None, "n_jobs": None}
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]*_|_[a-z][a-z0-9_]*[a-z0-9]", re.ASCII)
_MAX_DEPTH = 12
_MOST_VALUES = 5000  # besides those in arrays
_MOST_LEAD = 64  # times the width of an array that is part of a wider one
_PLAIN = (bool, int, float, str, type(None))
_NUMBERS = {"f": ("f4", "f8"), "i": ("i1", "i2", "i4", "i8"), "u": ("u1", "u2", "u4", "u8"), "b": ("b1",)}
_DTYPES = frozenset(kind for kinds in _NUMBERS.values() for kind in kinds)
Arrays = dict[str, npt.NDArray[Any]]


class NotStorableError(Exception):
    """A fitted method holds something that no file can; the text says what."""


@dataclass(frozen=True)
class Parts:
    """What a file holds besides the method, to which the method refers instead of holding it again.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    embedding : ndarray of shape (n_samples, n_components)
    graph : NeighborGraph or None
    """

    X: Any
    embedding: npt.NDArray[Any]
    graph: Any


def pack_method(estimator: Any, parts: Parts) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a fitted method that are not among `parts`, and its description.

    Raises
    ------
    NotStorableError
        If it is not a method of gnomon, or holds a function or an object of another library.
    """
    name = type(estimator).__name__
    if name not in _METHODS or type(estimator) is not _method(name):
        raise NotStorableError(f"{type(estimator).__module__}.{name} is no method of gnomon")
    writer = _Writer(parts)
    parameters = {**estimator.get_params(deep=False), **_NOT_PARAMETERS}
    if not isinstance(parameters.get("random_state"), (int, type(None))):
        parameters["random_state"] = getattr(estimator, "seed_", None)
    own = {
        key: value
        for key, value in vars(estimator).items()
        if key not in parameters and key not in _LEFT_OUT and key != "_atlas"
    }
    description = {
        "method": name,
        "parameters": {key: writer.pack(value, key) for key, value in parameters.items() if key not in _NOT_PARAMETERS},
        "fitted": {key: writer.pack(value, key) for key, value in own.items()},
        "n_arrays": len(writer.arrays),
    }
    return writer.arrays, {**description, "sha256": checksum(writer.arrays, description)}


def unpack_method(description: Any, arrays: Arrays, parts: Parts) -> Embedder:
    """Return the fitted method; the inverse of `pack_method`.

    Raises
    ------
    ValueError
        If the description or an array is not what `pack_method` gives, or does not fit the parts. The text is a bare
        fact.
    """
    if not isinstance(description, dict) or description.keys() != {
        "method",
        "parameters",
        "fitted",
        "n_arrays",
        "sha256",
    }:
        raise ValueError("its description of the method is not method, parameters, fitted, n_arrays and sha256")
    rest = {key: value for key, value in description.items() if key != "sha256"}
    if description["sha256"] != checksum(arrays, rest):
        raise ValueError("the method has another checksum than when it was written")
    name, given, fitted = description["method"], description["parameters"], description["fitted"]
    if name not in _METHODS:
        raise ValueError(f"{name!r:.60} is no method of gnomon")
    if not isinstance(given, dict) or not isinstance(fitted, dict):
        raise ValueError("parameters or fitted of the method is not a dict")
    cls: type[Embedder] = _method(name)
    reader = _Reader(parts, arrays)
    try:
        parameters = {key: reader.unpack(node) for key, node in given.items()}
        known = cls().get_params(deep=False).keys() - _NOT_PARAMETERS.keys()
        if parameters.keys() != known:
            raise ValueError(f"parameters of {name} are {', '.join(sorted(given)):.200}")
        rules = {**getattr(cls, "_common_rules", {}), **getattr(cls, "_rules", {})}
        check_parameters(rules, {**_NOT_PARAMETERS, **parameters}, who=name)
        made = cls(**parameters)
        for key, node in fitted.items():
            if not _ATTRIBUTE.fullmatch(key) or key in parameters or _is_code(cls, key):
                raise ValueError(f"{key!r:.60} is no fitted attribute of {name}")
            setattr(made, key, reader.unpack(node))
        _check_fit(made, parts)
    except (AttributeError, KeyError, IndexError, ArithmeticError) as error:
        raise ValueError(f"the method cannot be made again: {type(error).__name__} {error}") from error
    if reader.left:
        raise ValueError(f"it holds arrays that no method has: {', '.join(sorted(reader.left)):.200}")
    return made


def _check_fit(estimator: Any, parts: Parts) -> None:
    """Raise ValueError unless a method maps rows of the map's features to places of its dimension."""
    places = getattr(estimator, "embedding_", None)
    if not isinstance(places, np.ndarray) or places.ndim != 2 or places.shape[1] != parts.embedding.shape[1]:
        raise ValueError("the method maps to places of another dimension than the map has")
    if getattr(estimator, "n_features_in_", None) != parts.X.shape[1]:
        raise ValueError("the method maps rows of other features than the map has")
    rows = getattr(estimator, "_fitted_rows", None)
    if rows is not None and rows.shape != (len(places), parts.X.shape[1]):
        raise ValueError("the method keeps other rows than it mapped")
    placement = getattr(estimator, "placement_", None)
    if placement is not None and (
        placement.Y.ndim != 2
        or placement.rows.shape != (len(placement.Y), parts.X.shape[1])
        or placement.Y.shape[1] != places.shape[1]
    ):
        raise ValueError("the method places rows among others than it mapped")


def _method(name: str) -> Any:
    from gnomon import methods

    return getattr(methods, name)


def _class(name: str) -> Any:
    return getattr(importlib.import_module(CLASSES[name]), name)


def _is_code(cls: type, name: str) -> bool:
    """Say whether a class has a method, property or descriptor of this name."""
    found = getattr(cls, name, None)
    return callable(found) or isinstance(found, property) or hasattr(found, "__get__")


def checksum(arrays: Arrays, description: Mapping[str, Any]) -> str:
    """Return a checksum of what a method stores."""
    found = hashlib.sha256(json.dumps(description, sort_keys=True, ensure_ascii=False).encode())
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name} {array.dtype.newbyteorder('<').str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
    return found.hexdigest()


@dataclass
class _Writer:
    """Turns values into descriptions, and collects each array once."""

    parts: Parts
    arrays: Arrays = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _n_values: int = 0

    def pack(self, value: Any, at: str, depth: int = 0) -> Any:
        """Describe a value; `at` is where it stands, for the error text."""
        self._n_values += 1
        if depth > _MAX_DEPTH or self._n_values > _MOST_VALUES:
            raise NotStorableError(f"{at} is nested too deep or too long")

        def inner(one: Any, name: object) -> Any:
            return self.pack(one, f"{at}.{name}", depth + 1)

        kind = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, np.generic) and value.dtype.str[1:] in _DTYPES:
            return {"scalar": [value.dtype.str[1:], value.item()]}
        if kind is np.ndarray:
            return self._array(value, at)
        if kind is sp.csr_array:
            return self._matrix(value, at)
        if kind in (list, tuple):
            return {kind.__name__: [inner(one, k) for k, one in enumerate(value)]}
        if kind is dict and all(isinstance(name, str) for name in value):
            return {"dict": {name: inner(one, name) for name, one in value.items()}}
        if kind.__name__ in CLASSES and kind is _class(kind.__name__):
            return {
                "class": kind.__name__,
                "fields": {one.name: inner(getattr(value, one.name), one.name) for one in fields(value) if one.init},
            }
        raise NotStorableError(f"{at} is {'a function' if callable(value) else f'of type {kind.__name__}'}")

    def _array(self, array: npt.NDArray[Any], at: str) -> Any:
        if array.dtype.hasobject:
            texts = array.tolist()
            if array.ndim != 1 or not all(type(text) is str for text in texts):
                raise NotStorableError(f"{at} holds objects")
            return {"texts": texts}
        if array.dtype.str[1:] not in _DTYPES:
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
        if matrix.data.dtype.str[1:] not in _DTYPES:
            raise NotStorableError(f"{at} is of type {matrix.dtype}")
        X = self.parts.X
        if not isinstance(X, np.ndarray) and X.shape == matrix.shape:
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
            self._names[content] = name = f"method_{len(self.arrays)}"
            self.arrays[name] = np.ascontiguousarray(array)
        return self._names[content]


def _layout(array: npt.NDArray[Any]) -> tuple[str, int]:
    """Return the order of an array in memory and, for part of a wider one, the entries from row to row; else 0.

    BLAS adds up in another order where these differ.
    """
    if array.flags.c_contiguous or array.ndim != 2 or 0 in array.shape:
        return "C", 0
    if array.flags.f_contiguous:
        return "F", 0
    for order, (step, unit), width in (("C", array.strides, array.shape[1]), ("F", array.strides[::-1], len(array))):
        lead, rest = divmod(step, array.itemsize)
        if unit == array.itemsize and rest == 0 and width < lead <= _MOST_LEAD * width:
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
    with np.errstate(all="ignore"):
        return array.tobytes() == other.astype(array.dtype, copy=False).tobytes()


@dataclass
class _Reader:
    """Turns descriptions into values; `left` are the arrays that nothing has asked for."""

    parts: Parts
    arrays: Arrays
    left: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.left = set(self.arrays)

    def unpack(self, node: Any, depth: int = 0) -> Any:
        """Return what a node describes."""
        if depth > _MAX_DEPTH:
            raise ValueError("the method is nested too deep")
        if type(node) in _PLAIN:
            return node
        make = _KINDS.get(frozenset(node)) if isinstance(node, dict) else None
        if make is None:
            raise ValueError(f"the method holds {node!r:.60}")
        return make(self, node, depth + 1)

    def _list(self, node: Any, depth: int) -> list[Any]:
        return [self.unpack(one, depth) for one in _is(node["list"], list)]

    def _tuple(self, node: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.unpack(one, depth) for one in _is(node["tuple"], list))

    def _dict(self, node: Any, depth: int) -> dict[str, Any]:
        return {name: self.unpack(one, depth) for name, one in _is(node["dict"], dict).items()}

    def _scalar(self, node: Any, depth: int) -> Any:
        kind, value = _is(node["scalar"], list)
        number = bool if kind == "b1" else float if kind in ("f4", "f8") else int
        return np.dtype(_one_of(kind, _DTYPES)).type(_is(value, number))

    def _texts(self, node: Any, depth: int) -> npt.NDArray[Any]:
        return np.array([_is(text, str) for text in _is(node["texts"], list)], dtype=object)

    def _own(self, name: Any) -> npt.NDArray[Any]:
        array = self.arrays[_is(name, str)]
        self.left.discard(name)
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        _one_of(native.dtype.str[1:], _DTYPES)
        return native

    def _array(self, node: Any, depth: int) -> npt.NDArray[Any]:
        array, lead = self._own(node["array"]), _is(node["lead"], int)
        if lead:
            if array.ndim != 2 or not array.shape[1] < lead <= _MOST_LEAD * array.shape[1]:
                raise ValueError(f"an array of the method of shape {array.shape} has rows of {lead} entries")
            wide = np.zeros((len(array), lead), array.dtype)
            wide[:, : array.shape[1]] = array
            array = wide[:, : array.shape[1]]
        return array.T if _one_of(node["order"], ("C", "F")) == "F" else array

    def _csr(self, node: Any, depth: int) -> Any:
        data, indices, indptr = (self._own(name) for name in _is(node["csr"], list))
        rows, columns = (_is(size, int) for size in _is(node["shape"], list))
        if {data.ndim, indices.ndim, indptr.ndim} != {1} or indices.dtype.kind + indptr.dtype.kind != "ii":
            raise ValueError("a matrix of the method is not values, column numbers and row offsets")
        check_csr(indices, indptr, data.size, rows, columns, ordered=False)
        return sp.csr_array((data, indices, indptr), shape=(rows, columns))

    def _shared(self, node: Any, depth: int) -> Any:
        found = getattr(self.parts, _one_of(node["shared"], ("X", "embedding")))
        return found.astype(np.dtype(_one_of(node["dtype"], _NUMBERS["f"])), copy=False)

    def _graph(self, node: Any, depth: int) -> npt.NDArray[Any]:
        graph, k = self.parts.graph, _is(node["n_neighbors"], int)
        if graph is None or not 1 <= k <= graph.n_neighbors:
            raise ValueError(f"the method refers to {k} neighbours, which the map does not have")
        return np.ascontiguousarray(getattr(graph, _one_of(node["graph"], ("indices", "distances")))[:, :k])

    def _object(self, node: Any, depth: int) -> Any:
        name = _one_of(node["class"], CLASSES)
        cls = _class(name)
        values = {key: self.unpack(one, depth) for key, one in _is(node["fields"], dict).items()}
        if values.keys() != {one.name for one in fields(cls) if one.init}:
            raise ValueError(f"{name} is described by {', '.join(sorted(values)):.200}")
        hints = typing.get_type_hints(cls, localns={"CustomLaw": CustomLaw, "OutputKernel": OutputKernel})
        for key, value in values.items():
            if not _fits(value, hints[key]):
                raise ValueError(f"{key} of {name} is {type(value).__name__}, of another type than it should be")
        return cls(**values)


_KINDS: dict[frozenset[str], Callable[..., Any]] = {
    frozenset(keys.split()): make
    for keys, make in {
        "list": _Reader._list,
        "tuple": _Reader._tuple,
        "dict": _Reader._dict,
        "scalar": _Reader._scalar,
        "texts": _Reader._texts,
        "array order lead": _Reader._array,
        "csr shape": _Reader._csr,
        "shared dtype": _Reader._shared,
        "graph n_neighbors": _Reader._graph,
        "class fields": _Reader._object,
    }.items()
}


def _is(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"the method holds {value!r:.60} where {kind.__name__} should be")
    return value


def _one_of(value: Any, known: Any) -> Any:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"the method holds {value!r:.60}")
    return value


def _fits(value: Any, hint: Any) -> bool:
    """Say whether a value has the type that a field declares."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, one) for one in arguments)
    if origin is tuple and arguments[1:] == (...,):
        return isinstance(value, tuple) and all(_fits(one, arguments[0]) for one in value)
    if origin is typing.Literal:
        return value in arguments
    if hint is float:
        return isinstance(value, (float, int, np.floating)) and not isinstance(value, bool) and not math.isnan(value)
    if hint is int:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if origin is np.ndarray:
        wanted = typing.get_args(arguments[1])[0]
        return isinstance(value, np.ndarray) and (wanted is Any or np.issubdtype(value.dtype, wanted))
    if getattr(hint, "_is_protocol", False):
        return type(value).__name__ in _PROTOCOLS[hint.__name__]
    return isinstance(value, origin or hint)
