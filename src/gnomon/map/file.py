"""What of a map goes into a file, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

if TYPE_CHECKING:
    from gnomon.map.result import Map

__all__ = ["pack", "unpack"]

_TEXT = ("method", "parameters", "label_name", "feature_names", "timings", "notes", "name", "metric")
Arrays = dict[str, npt.NDArray[Any]]


def pack(result: Map) -> tuple[Arrays, dict[str, Any]]:
    """Split a map into arrays and a description that JSON can hold."""
    arrays: Arrays = {"embedding": result.embedding}
    description: dict[str, Any] = {key: getattr(result, key) for key in _TEXT}
    description["image_shape"] = None if result.image_shape is None else list(result.image_shape)
    description["metadata"] = list(result.metadata)
    _pack_table(result.X, arrays, description)
    for number, column in enumerate(result.metadata.values()):
        arrays[f"metadata_{number}"] = _plain(column)
    if result.labels is not None:
        arrays["labels"] = _plain(result.labels)
    if result.point_names is not None:
        arrays["point_names"] = _plain(result.point_names)
    if result.images is not None:
        arrays["images"] = result.images
    if result.graph is not None:
        graph = result.graph
        arrays |= {"graph_indices": graph.indices, "graph_distances": graph.distances}
        if graph.mask is not None:
            arrays["graph_mask"] = graph.mask
        description["graph"] = {"metric": graph.metric, "method": graph.method, "recall": graph.recall}
    return arrays, description


def _plain(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn a column of Python objects into fixed-width text, which needs no pickle."""
    return column.astype(np.str_) if column.dtype.hasobject else column


def _pack_table(X: Any, arrays: Arrays, description: dict[str, Any]) -> None:
    """Store whole numbers up to 255 in one byte; the dtype to restore is in the description."""
    sparse = isinstance(X, sp.csr_array)
    values = X.data if sparse else X
    description["X"] = {"dtype": values.dtype.str, "shape": list(X.shape), "sparse": sparse}
    small = values.size and values.min() >= 0 and values.max() <= 255 and bool(np.all(values == np.floor(values)))
    arrays["X_values"] = values.astype(np.uint8) if small else values
    if sparse:
        arrays |= {"X_indices": X.indices, "X_indptr": X.indptr}


def unpack(arrays: Arrays, description: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that make the map again."""
    from gnomon.neighbors import NeighborGraph

    table = description["X"]
    values = arrays["X_values"].astype(np.dtype(table["dtype"]), copy=False)
    X: Any = values
    if table["sparse"]:
        X = sp.csr_array((values, arrays["X_indices"], arrays["X_indptr"]), shape=tuple(table["shape"]))
    graph = None
    if "graph" in description:
        graph = NeighborGraph(
            arrays["graph_indices"], arrays["graph_distances"], arrays.get("graph_mask"), **description["graph"]
        )
    shape = description["image_shape"]
    return {
        **{key: description[key] for key in _TEXT},
        "X": X,
        "embedding": arrays["embedding"],
        "labels": arrays.get("labels"),
        "point_names": arrays.get("point_names"),
        "images": arrays.get("images"),
        "image_shape": None if shape is None else tuple(shape),
        "metadata": {name: arrays[f"metadata_{number}"] for number, name in enumerate(description["metadata"])},
        "graph": graph,
    }
