"""What of a map goes into a file, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.data import ColumnRule
from gnomon.data.arrays import is_missing
from gnomon.data.cells import is_part
from gnomon.data.columns import rules_fault
from gnomon.data.labels import in_order, order_of
from gnomon.data.representation import Representation
from gnomon.data.scaling import Scaling
from gnomon.data.sparse import check_csr

if TYPE_CHECKING:
    from gnomon.completion import Completion
    from gnomon.maps.result import Map
    from gnomon.neighbors import NeighborGraph
    from gnomon.surfaces import Surface

__all__ = ["KIND", "VERSION", "check_shapes", "fingerprint", "pack", "unpack", "version_of"]

KIND = "gnomon-map"
VERSION = 7
"""Of the layout.

Since 2 a file holds the fitted method, since 3 how columns were standardised, since 4 their rules, other coordinates
and what was missing, since 5 what the map alone can show and the order of classes, since 6 of which part of an
AnnData object the table is, since 7 how far what is filled in is drawn to the means of columns. A file says the
earliest version that has all its entries, so that earlier releases read it.
"""
_OLDEST_WRITTEN = 4

_TEXT = ("method", "label_name", "name", "metric")
_ENTRIES = (*_TEXT, "parameters", "feature_names", "timings", "notes")
_TABLE = {"X_values", "X_indices", "X_indptr"}
_TOGETHER = 1 << 18  # numbers looked at together
_SCALE = {"scale_center", "scale_spread", "scale_weight"}
_COORDINATES = {"coordinates_center", "coordinates_components"}
_OF_ROWS = {
    "coordinates",
    "embedding",
    "labels",
    "point_names",
    "images",
    "missing",
    "graph_indices",
    "graph_distances",
    "graph_mask",
}
_COMPLETION = {f"completion_{part}" for part in ("center", "spread", "variance", "loadings", "donors")}
_SINCE = {
    "graph": 1,
    "method_state": 2,
    "n_fitted": 3,
    "scale": 3,
    "columns": 4,
    "completion": 4,
    "representation": 4,
    "surface": 4,
    "alone": 5,
    "orders": 5,
    "part": 6,
    "trust": 7,
}
"""Entries that not every map has, and the version of the layout that has them first."""
_NO_PART = {"timings", "graph", "alone"}  # of a fingerprint: what differs from run to run, and what questions add
_MAX_DEPTH = 8  # of lists and dicts in a parameter
Arrays = dict[str, npt.NDArray[Any]]
MapT = TypeVar("MapT", bound="Map")


def version_of(description: dict[str, Any]) -> int:
    """Return the version of the layout that a description needs."""
    return max([_OLDEST_WRITTEN, *(_SINCE[entry] for entry in description.keys() & _SINCE.keys())])


def fingerprint(result: Map) -> str:
    """Return a checksum of what a file of a map holds; see `Map.fingerprint`."""
    from gnomon.storage import checksum

    arrays, description = pack(result)
    own = {name: array for name, array in arrays.items() if not name.startswith("graph_")}
    return checksum(own, {name: entry for name, entry in description.items() if name not in _NO_PART})


def pack(result: Map) -> tuple[Arrays, dict[str, Any]]:
    """Split a map into arrays and a description that JSON can hold."""
    arrays: Arrays = {"embedding": result.embedding}
    description: dict[str, Any] = {key: getattr(result, key) for key in _ENTRIES}
    fault = _entries_fault(description)
    if fault:
        raise ValueError(message("a map", "one that a file can hold", fact=fault))
    description["image_shape"] = None if result.image_shape is None else list(result.image_shape)
    description["metadata"] = list(result.metadata)
    _pack_table(result.X, arrays, description)
    _pack_rows(result, arrays, description)
    if result.images is not None:
        arrays["images"] = result.images
    if result.scale is not None:
        _pack_scale(result.scale, arrays, description)
    if result.representation is not None:
        _pack_representation(result.representation, arrays, description)
    if result.completion is not None:
        _pack_completion(result.completion, arrays, description)
    if result.graph is not None:
        _pack_graph(result.graph, arrays, description)
    if result.surface is not None:
        description["surface"] = [result.surface.name, float(result.surface.radius)]
    if result.columns is not None:
        description["columns"] = [asdict(rule) for rule in result.columns]
    if result._n_fitted is not None:
        description["n_fitted"] = result._n_fitted
    if result._reads_part:
        description["part"] = result._part
    if result._alone is not None:
        description["alone"] = result._alone.to_dict()
    if result._estimator is not None:
        _pack_method(result, arrays, description)
    return arrays, description


def _pack_rows(result: Map, arrays: Arrays, description: dict[str, Any]) -> None:
    """Store metadata, labels and names of the rows, and the orders of those that are categories in order."""
    for number, column in enumerate(result.metadata.values()):
        arrays[f"metadata_{number}"] = _plain(column)
    if result.labels is not None:
        arrays["labels"] = _plain(result.labels)
    if result.point_names is not None:
        arrays["point_names"] = _plain(result.point_names)
    columns = {"labels": result.labels, **{f"metadata_{k}": one for k, one in enumerate(result.metadata.values())}}
    orders = {name: list(order_of(column)) for name, column in columns.items() if column is not None}
    if any(orders.values()):
        description["orders"] = {name: order for name, order in orders.items() if order}


def _pack_scale(scale: Scaling, arrays: Arrays, description: dict[str, Any]) -> None:
    arrays |= {"scale_center": scale.center, "scale_spread": scale.spread}
    description["scale"] = scale.name
    if scale.weight is not None:
        arrays["scale_weight"] = scale.weight


def _pack_graph(graph: NeighborGraph, arrays: Arrays, description: dict[str, Any]) -> None:
    arrays |= {"graph_indices": graph.indices, "graph_distances": graph.distances}
    if graph.mask is not None:
        arrays["graph_mask"] = graph.mask
    about = {"metric": graph.metric, "method": graph.method}
    description["graph"] = {**about, "recall": float(graph.recall), "recall_error": float(graph.recall_error)}


def _pack_method(result: Map, arrays: Arrays, description: dict[str, Any]) -> None:
    """Store the fitted method, or a note that says why a file cannot hold it."""
    from gnomon.methods.state import pack_method
    from gnomon.storage import NotStorableError, Parts

    try:
        own, about = pack_method(result._estimator, Parts(result._mapped().values, result.embedding, result.graph))
    except NotStorableError as error:
        note = f"The fitted method is not in the file: {error}. Loaded from it, the map is the function of an atlas."
        description["notes"] = [*description["notes"], note]
        return
    arrays |= own
    description["method_state"] = about


def _pack_representation(representation: Representation, arrays: Arrays, description: dict[str, Any]) -> None:
    arrays["coordinates"] = representation.values
    if representation.center is not None and representation.components is not None:
        arrays["coordinates_center"] = representation.center
        arrays["coordinates_components"] = representation.components
    description["representation"] = representation.name


def _pack_completion(completion: Completion, arrays: Arrays, description: dict[str, Any]) -> None:
    recipe, held_out = completion.recipe, completion.held_out
    arrays |= {
        "missing": np.packbits(completion.missing, axis=1),
        "completion_center": recipe.center,
        "completion_spread": recipe.spread,
        "completion_variance": recipe.variance,
        "completion_donors": completion.donors,
    }
    if recipe.model is not None:
        arrays["completion_loadings"] = recipe.model.loadings
    description["completion"] = {
        "how": completion.how,
        "noise": None if recipe.model is None else recipe.model.noise,
        "n_neighbors": recipe.n_neighbors,
        "first": recipe.first,
        "weight": recipe.weight,
        "n_values": held_out.n_values,
        "error": None if math.isnan(held_out.error) else held_out.error,
        "kept": None if math.isnan(held_out.kept) else held_out.kept,
    }
    if recipe.trust is not None:
        description["trust"] = recipe.trust.tolist()


def _plain(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn a column of Python objects into fixed-width text, which needs no pickle; empty where a value is missing."""
    if not column.dtype.hasobject and not order_of(column):
        return column
    return np.array(["" if is_missing(value) else str(value) for value in column.tolist()], dtype=np.str_)


def _are_whole(values: npt.NDArray[Any]) -> bool:
    step = max(1, _TOGETHER * len(values) // values.size)  # rows: a copy of all would be much memory
    parts = (values[begin : begin + step] for begin in range(0, len(values), step))
    return all(bool(np.all(part == np.floor(part))) for part in parts)


def _pack_table(X: Any, arrays: Arrays, description: dict[str, Any]) -> None:
    """Store whole numbers up to 255 in one byte; the dtype to restore is in the description."""
    sparse = isinstance(X, sp.csr_array)
    values = X.data if sparse else X
    description["X"] = {"dtype": values.dtype.str, "shape": list(X.shape), "sparse": sparse}
    small = values.size and values.min() >= 0 and values.max() <= 255 and _are_whole(values)
    arrays["X_values"] = values.astype(np.uint8) if small else values
    if sparse:
        arrays |= {"X_indices": X.indices, "X_indptr": X.indptr}


def check_shapes(description: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError if arrays are not those of one map, before they are read and take memory."""
    names = description.get("metadata")
    columns = {f"metadata_{number}" for number in range(len(names) if isinstance(names, list) else 0)}
    about = description.get("method_state")
    count = about.get("n_arrays") if isinstance(about, dict) else 0
    of_method = {f"method_{number}" for number in range(min(count, len(shapes)) if type(count) is int else 0)}
    left = shapes.keys() - _TABLE - _SCALE - _COORDINATES - _COMPLETION - _OF_ROWS - columns - of_method
    if left:
        raise ValueError(f"it holds arrays that no map has: {', '.join(sorted(left)):.200}")
    if "embedding" not in shapes:
        raise ValueError("array 'embedding' is missing")
    places = shapes["embedding"]
    if len(places) != 2:
        raise ValueError(f"array 'embedding' has shape {places}")
    for name in sorted(shapes.keys() - _TABLE - _SCALE - _COORDINATES - _COMPLETION - of_method):
        if shapes[name][:1] != places[:1]:
            raise ValueError(f"array {name!r} has shape {shapes[name]}, embedding {places}")


def unpack(arrays: Arrays, description: dict[str, Any], make: type[MapT]) -> MapT:
    """Return the map, with its fitted method if the file holds it.

    What is looked at here are presence, types, and the parts of the table and of the graph. Whether everything fits
    the table is asked by `check_parts` when the map is made.

    Raises
    ------
    ValueError
        If anything is missing, is there without need or has another type than `pack` gives it. The text says what
        alone, without the file.
    """
    left = dict(arrays)
    entries = {key: value for key, value in description.items() if key not in ("kind", "version")}
    expected = {*_ENTRIES, "image_shape", "metadata", "X"}
    optional = {entry for entry, version in _SINCE.items() if description["version"] >= version}
    if not expected <= entries.keys() <= expected | optional:
        odd = sorted((entries.keys() ^ expected) - optional)
        raise ValueError(f"its description lacks or adds {', '.join(odd):.200}")
    fault = _entries_fault(entries)
    if fault:
        raise ValueError(fault)
    made: dict[str, Any] = {key: entries[key] for key in _ENTRIES}
    made["embedding"] = _take(left, "embedding", (np.float32,), 2)
    made["X"] = _table(left, entries["X"], len(made["embedding"]), len(made["feature_names"]))
    made["graph"] = _graph(left, entries["graph"]) if "graph" in entries else None
    made["scale"] = _scale(left, entries["scale"]) if "scale" in entries else None
    made["surface"] = _surface(entries["surface"]) if "surface" in entries else None
    made["columns"] = _columns(entries["columns"], made["feature_names"]) if "columns" in entries else None
    made["representation"] = _representation(left, entries["representation"]) if "representation" in entries else None
    made["completion"] = None
    if "completion" in entries:
        made["completion"] = _completion(left, entries["completion"], made["X"], made["feature_names"])
    if "trust" in entries:
        made["completion"] = _with_trust(made["completion"], entries["trust"])
    made["image_shape"] = _image_shape(entries["image_shape"])
    made["images"] = _take(left, "images", (np.uint8,)) if "images" in left else None
    orders = entries.get("orders", {})
    if not isinstance(orders, dict) or not all(_is_text_list(order) for order in orders.values()):
        raise ValueError("orders is not a dict of lists of text")
    for name in ("labels", "point_names"):
        made[name] = _take_column(left, name, orders) if name in left else None
    names = entries["metadata"]
    if not _is_text_list(names) or len(set(names)) < len(names):
        raise ValueError("metadata is not a list of different names")
    made["metadata"] = {name: _take_column(left, f"metadata_{number}", orders) for number, name in enumerate(names)}
    of_method = {name: left.pop(name) for name in list(left) if name.startswith("method_")}
    if left or (of_method and "method_state" not in entries):
        raise ValueError(f"it holds arrays that no map has: {', '.join(sorted(left | of_method)):.200}")
    n_fitted = entries.get("n_fitted")
    if "n_fitted" in entries and (type(n_fitted) is not int or not 2 <= n_fitted <= len(made["embedding"])):
        raise ValueError(f"n_fitted is {n_fitted!r:.40}, and there are {len(made['embedding'])} rows")
    result = make(**made)
    result._n_fitted = n_fitted
    if "part" in entries:
        if not is_part(entries["part"]):
            raise ValueError(f"part is {entries['part']!r:.60}")
        result._part = entries["part"]
    if "alone" in entries:
        from gnomon.twins import MapAlone

        result._alone = MapAlone.from_dict(entries["alone"])
    if "method_state" in entries:
        from gnomon.methods.state import unpack_method
        from gnomon.storage import Parts

        parts = Parts(result._mapped().values, result.embedding, result.graph)
        result._estimator = unpack_method(entries["method_state"], of_method, parts)
    return result


def _entries_fault(entries: dict[str, Any]) -> str:
    """Return which entry of a description has another type than it should have; empty if none has."""
    for key in _TEXT:
        if not isinstance(entries[key], str):
            return f"{key} is not text"
    for key in ("feature_names", "notes"):
        if not _is_text_list(entries[key]):
            return f"{key} is not a list of text"
    for key in ("parameters", "timings"):
        if not isinstance(entries[key], dict) or not all(isinstance(name, str) for name in entries[key]):
            return f"{key} is not a dict with names"
    for name, value in entries["parameters"].items():
        if not _is_plain(value, _MAX_DEPTH):
            return f"parameter {name!r:.60} is neither a number nor text nor a list or dict of them"
    for name, seconds in entries["timings"].items():
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0.0 <= seconds < math.inf:
            return f"timing {name!r:.60} is not a number of seconds"
    return ""


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_plain(value: object, depth: int) -> bool:
    """Say whether JSON holds a value as it is, with at most so many lists and dicts in each other."""
    if isinstance(value, (list, tuple)):
        return depth > 0 and all(_is_plain(one, depth - 1) for one in value)
    if isinstance(value, dict):
        return (
            depth > 0
            and all(isinstance(name, str) for name in value)
            and all(_is_plain(one, depth - 1) for one in value.values())
        )
    return value is None or isinstance(value, (bool, int, float, str))


def _take(arrays: Arrays, name: str, types: tuple[type[np.generic], ...], ndim: int | None = None) -> npt.NDArray[Any]:
    """Take an array of one of some types, in any byte order, out of those that are left."""
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    array = arrays.pop(name)
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    if native.dtype not in types or (ndim is not None and native.ndim != ndim):
        raise ValueError(f"array {name!r} has shape {array.shape} and type {array.dtype}")
    return native


def _take_column(arrays: Arrays, name: str, orders: Mapping[str, list[str]]) -> npt.NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    column = arrays.pop(name)
    if column.ndim != 1:
        raise ValueError(f"array {name!r} has shape {column.shape} and type {column.dtype}")
    return in_order(column, orders.get(name, []))


def _table(arrays: Arrays, about: Any, n_samples: int, n_features: int) -> Any:
    """Return X from its parts; nothing is allocated before its shape is found to be that of the other arrays."""
    if not isinstance(about, dict) or about.keys() != {"dtype", "shape", "sparse"}:
        raise ValueError("its description of X is not dtype, shape and sparse")
    shape, sparse = about["shape"], about["sparse"]
    if about["dtype"] not in ("<f4", "<f8", ">f4", ">f8") or not isinstance(sparse, bool):
        raise ValueError(f"X is described as of type {about['dtype']!r:.40}, sparse {sparse!r:.40}")
    if not _is_sizes(shape) or shape != [n_samples, n_features]:
        raise ValueError(f"X is described as of shape {shape!r:.60}, and there are {n_samples} x {n_features}")
    dtype = np.dtype(about["dtype"]).newbyteorder("=")
    stored = _take(arrays, "X_values", (np.uint8, dtype.type), 1 if sparse else 2)
    if not sparse:
        if stored.shape != tuple(shape):
            raise ValueError(f"X is described as of shape {shape} and has {stored.shape}")
        return stored.astype(dtype, copy=False)
    indices, indptr = (_take(arrays, f"X_{part}", (np.int32, np.int64), 1) for part in ("indices", "indptr"))
    check_csr(indices, indptr, stored.size, shape[0], shape[1])
    return sp.csr_array((stored.astype(dtype, copy=False), indices, indptr), shape=tuple(shape))


def _columns(about: Any, feature_names: list[str]) -> list[ColumnRule]:
    """Return the rules by which columns became features; together these are those of the map."""
    rules = []
    for entry in about if isinstance(about, list) else [None]:
        if not isinstance(entry, dict) or entry.keys() != {field.name for field in fields(ColumnRule)}:
            raise ValueError("columns is not a list of rules")
        texts, numbers = (
            [entry[key] for key in keys] for keys in (("name", "kind", "reason", "writing"), ("start", "unit"))
        )
        several = entry["features"], entry["categories"]
        if not _is_text_list([*texts, *several[0]]) or not isinstance(several[1], list) or not _is_plain(several[1], 1):
            raise ValueError("a rule of columns is not of texts and categories")
        if not all(type(number) is float and math.isfinite(number) for number in numbers):
            raise ValueError("a rule of columns has no start and unit")
        rules.append(ColumnRule(**{**entry, "features": tuple(several[0]), "categories": tuple(several[1])}))
    if [name for rule in rules for name in rule.features] != feature_names:
        raise ValueError("columns do not become the features")
    if fault := rules_fault(rules):
        raise ValueError(fault)
    return rules


def _surface(about: Any) -> Surface:
    """Return the surface of a name and a radius."""
    from gnomon.surfaces import SURFACES

    plain = isinstance(about, list) and len(about) == 2 and about[0] in list(SURFACES) and type(about[1]) is float
    if not plain or not 0.0 < about[1] < math.inf:
        raise ValueError("its surface is not a name and a radius")
    return SURFACES[about[0]](about[1])


def _graph(arrays: Arrays, about: Any) -> NeighborGraph:
    from gnomon.neighbors import NeighborGraph, graph_fault

    if not isinstance(about, dict) or about.keys() - {"recall_error"} != {"metric", "method", "recall"}:
        raise ValueError("its description of the graph is not metric, method and recall")
    indices = _take(arrays, "graph_indices", (np.int32,), 2)
    distances = _take(arrays, "graph_distances", (np.float32,), 2)
    mask = _take(arrays, "graph_mask", (np.bool_,), 2) if "graph_mask" in arrays else None
    graph = NeighborGraph(indices, distances, mask, **about)
    if fault := graph_fault(graph):
        raise ValueError(f"its graph breaks a rule: {fault}")
    return graph


def _scale(arrays: Arrays, name: Any) -> Scaling:
    if not isinstance(name, str):
        raise ValueError("its description of scale is not text")
    center, spread = (_take(arrays, f"scale_{part}", (np.float64,), 1) for part in ("center", "spread"))
    weight = _take(arrays, "scale_weight", (np.float64,), 1) if "scale_weight" in arrays else None
    return Scaling(name, center, spread, weight)


def _representation(arrays: Arrays, name: Any) -> Representation:
    if not isinstance(name, str):
        raise ValueError("its description of representation is not text")
    values = _take(arrays, "coordinates", (np.float32, np.float64), 2)
    if not _COORDINATES & arrays.keys():
        return Representation(name, values)
    center = _take(arrays, "coordinates_center", (np.float64,), 1)
    return Representation(name, values, center, _take(arrays, "coordinates_components", (np.float64,), 2))


def _completion(arrays: Arrays, about: Any, X: Any, names: list[str]) -> Completion:
    """Return what was missing and how it was filled in; `learn` gives a recipe numbers that are finite and fit."""
    from gnomon.completion import Completion, HeldOut, LowRankNormal, Recipe

    keys = ("how", "noise", "n_neighbors", "first", "weight", "n_values", "error", "kept")
    if not isinstance(about, dict) or about.keys() != set(keys):
        raise ValueError(f"its description of the completion is not {', '.join(keys)}")
    numbers = [about[key] for key in keys[1:]]
    whole = all(type(about[key]) is int for key in ("n_values", "n_neighbors"))
    if not whole or not all(one is None or (type(one) in (int, float) and 0 <= one < math.inf) for one in numbers):
        raise ValueError(f"the completion is described by {numbers!r:.80}")
    if not isinstance(X, np.ndarray) or about["how"] not in ("distance", "median"):
        raise ValueError(f"the table was completed by {about['how']!r:.40}")
    n, m = X.shape
    packed = _take(arrays, "missing", (np.uint8,), 2)
    if packed.shape != (n, -(-m // 8)):
        raise ValueError(f"array 'missing' has shape {packed.shape}, and X {X.shape}")
    parts = {part: _take(arrays, f"completion_{part}", (np.float64,), 1) for part in ("center", "spread", "variance")}
    if any(part.shape != (m,) or not np.isfinite(part).all() for part in parts.values()):
        raise ValueError(f"the completion has no finite center, spread and variance for {m} features")
    if not (parts["spread"] > 0.0).all():
        raise ValueError("the completion has a spread that is not > 0")
    donors = _take(arrays, "completion_donors", (np.int64,), 1)
    if not len(donors) or donors.min() < 0 or donors.max() >= n:
        raise ValueError(f"the completion has donors that are none of {n:,} rows")
    model = None
    if about["noise"] is not None:
        loadings = _take(arrays, "completion_loadings", (np.float64,), 2)
        above = about["noise"] > 0.0 and about["n_neighbors"] > 0
        if loadings.shape[0] != m or not np.isfinite(loadings).all() or not above:
            raise ValueError(f"the completion has loadings of shape {loadings.shape} and {numbers!r:.80}")
        model = LowRankNormal(loadings, float(about["noise"]))
    if any(about[key] is None or about[key] > 1 for key in ("first", "weight")):
        raise ValueError(f"the completion has weights {about['first']!r:.20} and {about['weight']!r:.20}")
    held_out = HeldOut(
        about["n_values"], *(math.nan if about[key] is None else about[key] for key in ("error", "kept"))
    )
    recipe = Recipe(
        parts["center"],
        parts["spread"],
        parts["variance"],
        model=model,
        n_neighbors=about["n_neighbors"],
        first=about["first"],
        weight=about["weight"],
    )
    missing = np.unpackbits(packed, axis=1, count=m).astype(np.bool_)
    return Completion(X, missing, about["how"], held_out, donors, recipe, names)


def _with_trust(completion: Completion | None, trust: Any) -> Completion:
    """Return a completion whose recipe draws what it expects to the means of the columns."""
    numbers = trust if isinstance(trust, list) and all(type(one) is float and 0 <= one <= 1 for one in trust) else []
    if completion is None or len(numbers) != len(completion.recipe.center):
        raise ValueError(f"the trust in what is filled in is {trust!r:.80}")
    return replace(completion, recipe=replace(completion.recipe, trust=np.array(numbers)))


def _image_shape(sizes: Any) -> tuple[int, ...] | None:
    if sizes is None:
        return None
    if not _is_sizes(sizes):
        raise ValueError(f"image_shape is {sizes!r:.40}")
    return tuple(sizes)


def _is_sizes(value: object) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 < size < 2**62 for size in value)
