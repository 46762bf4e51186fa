"""What of a map with landmarks goes into a file, and back; and its positions for other programs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._archive import damaged_file, read_archive, write_archive
from gnomon._files import atomic_write
from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.arrays import is_missing
from gnomon.data.labels import in_order, order_of
from gnomon.data.stored import row_blocks
from gnomon.maps import file as of_map
from gnomon.maps.result import Map

if TYPE_CHECKING:
    from gnomon.maps.landmarks.result import LandmarkMap

__all__ = ["KIND", "load", "save", "write_positions"]

KIND = "gnomon-landmark-map"
_VERSION = 1
_OF_MAP = "map_"  # opens the names of the arrays of the map of the landmarks
_OWN = {"embedding", "landmarks", "labels", "out_of_range"}
_ENTRIES = {"map", "notes", "timings", "random_state", "fingerprint"}


def save(result: LandmarkMap, path: str | os.PathLike[str]) -> None:
    """Write the map of the landmarks with all positions and labels; see `gnomon.LandmarkMap.save`."""
    arrays, about = of_map.pack(result.landmark_map)
    held = {f"{_OF_MAP}{name}": array for name, array in arrays.items()}
    held |= {"embedding": result.embedding, "landmarks": result.landmarks}
    if result.labels is not None:
        held["labels"] = _plain(result.labels)
    if len(result.out_of_range):
        held["out_of_range"] = result.out_of_range
    description = {
        "map": {**about, "version": of_map.version_of(about)},
        "notes": list(result.notes),
        "timings": dict(result.timings),
        "random_state": result.random_state,
        "fingerprint": result.fingerprint,
    }
    write_archive(path, kind=KIND, version=_VERSION, arrays=held, description=description)


def load(path: str | os.PathLike[str], make: Callable[..., LandmarkMap]) -> LandmarkMap:
    """Return what `make` makes of what `save` wrote."""
    arrays, description = read_archive(path, kind=KIND, version=_VERSION, check=_check_shapes)
    try:
        return _unpack(arrays, description, make)
    except (TypeError, ValueError, OverflowError) as error:
        raise damaged_file(path, str(error).removeprefix("LandmarkMap.load: ").rstrip("."), kind=KIND) from error


def _check_shapes(description: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError if arrays are not those of one map, before they are read and take memory."""
    about = description.get("map")
    if not isinstance(about, dict) or about.get("version") != of_map.version_of(about):
        raise ValueError("its map of the landmarks is of another version")
    of_landmarks = {name.removeprefix(_OF_MAP): shape for name, shape in shapes.items() if name.startswith(_OF_MAP)}
    own = {name: shape for name, shape in shapes.items() if not name.startswith(_OF_MAP)}
    of_map.check_shapes(about, of_landmarks)
    if not {"embedding", "landmarks"} <= own.keys() <= _OWN:
        raise ValueError(f"it holds the arrays {', '.join(sorted(own)):.200}")
    places, rows, n_components = own["embedding"], own["landmarks"], of_landmarks["embedding"][1]
    if len(places) != 2 or places[1] != n_components or rows != of_landmarks["embedding"][:1]:
        raise ValueError(f"arrays 'embedding' and 'landmarks' have shapes {places} and {rows}")
    if len(own.get("out_of_range", (0,))) != 1:
        raise ValueError(f"array 'out_of_range' has shape {own['out_of_range']}")
    if own.get("labels", places[:1]) != places[:1]:
        raise ValueError(f"array 'labels' has shape {own['labels']}")


def _unpack(arrays: dict[str, Any], description: dict[str, Any], make: Callable[..., LandmarkMap]) -> LandmarkMap:
    entries = {key: value for key, value in description.items() if key not in ("kind", "version")}
    if entries.keys() != _ENTRIES:
        raise ValueError(f"its description has the entries {', '.join(sorted(entries)):.200}")
    notes, timings, seed, fingerprint = (entries[key] for key in ("notes", "timings", "random_state", "fingerprint"))
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ValueError("notes is not a list of text")
    if not isinstance(timings, dict) or not all(_is_time(one) for one in timings.values()):
        raise ValueError("timings is not a dict of seconds")
    if type(seed) is not int or not 0 <= seed < 2**63 or not isinstance(fingerprint, str):
        raise ValueError("random_state or fingerprint has another type")
    parts = {name: arrays.pop(f"{_OF_MAP}{name}") for name in _names(arrays)}
    fitted = of_map.unpack(parts, entries["map"], Map)
    places, rows = arrays["embedding"], arrays["landmarks"]
    far = arrays.get("out_of_range", np.empty(0, dtype=np.int64))
    if places.dtype != np.float32 or rows.dtype != np.int64 or far.dtype != np.int64:
        types = f"{places.dtype}, {rows.dtype} and {far.dtype}"
        raise ValueError(f"arrays 'embedding', 'landmarks' and 'out_of_range' have types {types}")
    for name, numbers in (("landmarks", rows), ("out_of_range", far)):
        if len(numbers) and (numbers[0] < 0 or numbers[-1] >= len(places) or (np.diff(numbers) <= 0).any()):
            raise ValueError(f"{name} are no ascending row numbers")
    labels = check_labels(arrays["labels"], len(places)) if "labels" in arrays else None
    if labels is not None and fitted.labels is not None:
        labels = in_order(labels, order_of(fitted.labels))
    return make(places, rows, fitted, None, labels, notes, timings, seed, fingerprint, far)


def _names(arrays: dict[str, Any]) -> list[str]:
    return [name.removeprefix(_OF_MAP) for name in arrays if name.startswith(_OF_MAP)]


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value < math.inf


def _plain(labels: Any) -> Any:
    """Return labels as text of a fixed width if they are objects."""
    if not labels.dtype.hasobject and not order_of(labels):
        return labels
    return np.array(["" if is_missing(label) else str(label) for label in labels.tolist()], dtype=np.str_)


def write_positions(result: LandmarkMap, path: str | os.PathLike[str]) -> None:
    """Write positions, and labels, by blocks; see `gnomon.LandmarkMap.write`."""
    name, places = os.fspath(path).lower().rstrip("/"), result.embedding
    if name.endswith(".npy"):
        with atomic_write(path) as file:
            np.save(file, places, allow_pickle=False)
        return
    if not name.endswith((".zarr", ".parquet")):
        raise ValueError(message(f"path={os.fspath(path)!r}", "one that ends in .npy, .zarr or .parquet"))
    from gnomon.maps.landmarks.source import crc_of
    from gnomon.scale import ResultColumn, open_results

    columns, held = [ResultColumn("y", "float32", places.shape[1])], {"y": places}
    if result.labels is not None:
        column, codes = _label_column(result.labels)
        columns, held = [*columns, column], {**held, "label": codes}
    run = {"table": result.fingerprint, "places": crc_of(places)}
    writer = open_results(path, columns, row_blocks(*places.shape), run)
    for block in writer.missing():
        writer.write(block, {key: array[block.start : block.stop] for key, array in held.items()})
    writer.finish()


def _label_column(labels: Any) -> tuple[Any, Any]:
    """Return numbers as they are; anything else as numbers of its classes, whose names go with them."""
    from gnomon.data.labels import name_of, sort_into_classes
    from gnomon.scale import ResultColumn

    if labels.dtype.kind in "biuf":
        return ResultColumn("label", labels.dtype.name), labels
    found = sort_into_classes(labels)
    codes = np.where(found.codes < 0, len(found), found.codes).astype(np.int32)
    names = (*(name_of(value) for value in found.values), "")
    return ResultColumn("label", "int32", values=names), codes
