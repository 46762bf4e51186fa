"""What of a map goes into its page: everything where it fits, else what people need first, in this order.

Positions, labels and columns of data; scores of points; what moves each point, by fewer features; neighbours in the
data; feature values and pictures, of a sample of the points if need be; local fits. Sizes are measured: rows drawn
evenly are packed as the page packs them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.viewer.packing import TEXT, packed_size
from gnomon.viewer.payload import Payload
from gnomon.viewer.rounding import map_order, round_columns

__all__ = ["MOST_BYTES", "Measured", "Plan", "file_bytes", "fit_payload", "most_points", "usual_budget"]

MOST_BYTES = 56_000_000
"""Of a page, if nobody asks for more."""

_FIXED, _POINT = 21_000_000, 50  # bytes, for pages of fewer points
_SHELL = 600_000  # script, styles and preview
_GRID = 300_000  # counts behind a sample of the points
_CERTAIN = 0.97  # of the budget: sizes are measured on a sample
_BLOCKS, _BLOCK = 8, 1024  # rows that are packed to measure a column
_FOR_FEATURES = 0.75  # of what is left, for what moves each point
_FOR_NEIGHBORS = 1.0 / 3.0
_FEW = 10_000  # points whose values are worth more than further features
_MOVES = ("top", "arrows", "importance")
_NEAR = ("near_steps", "distances", "distances_scale", "distances_scale_levels", "fitted")
_LEAST_POINT, _LEAST_COLUMN, _LEAST_MOVES = 4, 1, 10  # bytes of a point, packed
Array = npt.NDArray[Any]


def usual_budget(n: int) -> int:
    """Return the bytes a page of n points may take if nobody says: 21 MB and 50 bytes a point, at most 56 MB."""
    return min(MOST_BYTES, _FIXED + _POINT * n)


def most_points(budget: int, *, n_columns: int, explained: bool) -> int:
    """Return how many points a page can show with their columns, without a value of a feature."""
    least = _LEAST_POINT + _LEAST_COLUMN * n_columns + _LEAST_MOVES * explained
    return max(1000, int((budget - _SHELL - _GRID) / (TEXT * least)))


@dataclass(frozen=True)
class Measured:
    """What the values of the features, and pictures, would take.

    Attributes
    ----------
    n_bytes : float
        In the page, for all points.
    raw : int
        Before they are packed.
    complete : bool, default=False
        Whether a part of the features will not do, since they are the pixels of a picture.
    whole : float, default=inf
        Bytes more in the page for values as they are where they would be rounded; infinite where that is too many.
    """

    n_bytes: float = 0.0
    raw: int = 0
    complete: bool = False
    whole: float = math.inf


@dataclass(frozen=True)
class Plan:
    """What goes into a page.

    Attributes
    ----------
    exact : bool
        Everything, and as it is.
    rows : int
        Points whose values and pictures are in the page.
    raw : int
        Bytes for the values of these rows; over it the most important features are kept.
    neighbors, fits : bool
        Whether no neighbours in the data, and no coefficients of local fits, were left out.
    top : int
        Features that are said to move a point; 0 without an explanation.
    whole : bool
        Whether values are stored as they are where they would be rounded.
    """

    exact: bool
    rows: int
    raw: int
    neighbors: bool = True
    fits: bool = True
    top: int = 0
    whole: bool = False


def file_bytes(columns: Mapping[str, Array], n: int) -> float:
    """Return about how many bytes of the page some columns take.

    Parameters
    ----------
    columns : mapping of str to ndarray
        With n rows, or n entries or a multiple of it along the last axis; others are packed whole.
    n : int
        Points of the page.
    """
    return sum(_packed_bytes(column, n) for column in columns.values())


def _packed_bytes(column: Array, n: int) -> float:
    first, last = column.shape[0] == n, column.ndim > 0 and column.shape[-1] % max(n, 1) == 0
    share, part = 1.0, np.asarray(column)
    if n > _BLOCKS * _BLOCK and (first or last):
        axis, width = (0, 1) if first else (column.ndim - 1, column.shape[-1] // n)
        starts = np.linspace(0, n - _BLOCK, _BLOCKS).astype(np.int64) * width
        chosen = np.concatenate([np.arange(start, start + _BLOCK * width) for start in starts])
        part, share = np.take(column, chosen, axis=axis), n / (_BLOCKS * _BLOCK)
    return float(TEXT * share * packed_size(np.ascontiguousarray(part).data))


def fit_payload(
    payload: Payload, n: int, budget: int, *, values: Measured, pictures: Measured, exact: set[str]
) -> Plan:
    """Round and leave out columns of a payload so that the page keeps its budget, and say what else may go in.

    Parameters
    ----------
    payload : Payload
        All but values of features and pictures; changed in place.
    n : int
        Points of the page.
    budget : int
        Bytes of the page.
    values, pictures : Measured
    exact : set of str
        Columns that are not rounded, such as dates.
    """
    header = TEXT * packed_size(json.dumps(payload.header).encode())
    room = _CERTAIN * (budget - _SHELL) - header
    top = payload.header.get("explanation", {}).get("top", 0)
    everything = Plan(exact=True, rows=n, raw=values.raw, top=top)
    raw = sum(column.nbytes for group in payload.groups.values() for column in group.values())
    most = TEXT * (raw + values.raw + pictures.raw)
    if most + values.whole <= room:
        return replace(everything, whole=True)
    others = values.n_bytes + pictures.n_bytes
    if most <= room and math.isinf(values.whole):
        return everything
    needed = sum(file_bytes(group, n) for group in payload.groups.values()) + others
    if needed <= room or most <= room:
        return replace(everything, whole=needed + values.whole <= room)
    n_features = len(payload.header.get("features", {}).get("names", ()))
    order = map_order(payload.groups["core"]["embedding"])
    for name in payload.groups.keys() - {"sequence"}:
        payload.groups[name] = round_columns(payload.groups[name], n, n_features=n_features, exact=exact, order=order)
    core, local = payload.groups.get("core", {}), payload.groups.get("local", {})
    of_moves = {name for name in core if name.startswith(_MOVES)}
    room -= sum(file_bytes(group, n) for name, group in payload.groups.items() if name not in ("core", "local"))
    room -= file_bytes({name: core[name] for name in core if name not in of_moves}, n)
    room, top = _keep_top(payload, core, of_moves, n, room)
    near = file_bytes({name: local[name] for name in local if name in _NEAR}, n)
    fits = file_bytes({name: local[name] for name in local if name not in _NEAR}, n)
    whole = others <= max(room, 0.0)
    neighbors = not local or near <= (room - others if whole else _FOR_NEIGHBORS * room)
    room -= near if neighbors else 0.0
    fitting = not local or (whole and neighbors and others + fits <= room)
    _drop_local(payload, local, neighbors=neighbors, fits=fitting)
    if whole:
        return Plan(False, n, values.raw, neighbors, fitting, top)
    rows = min(n, max(int(n * max(room, 0.0) / others), 1 if values.complete else min(n, _FEW)))
    for_values = room - pictures.n_bytes * rows / n
    share = max(0.0, min(1.0, for_values / max(1.0, values.n_bytes * rows / n)))
    return Plan(False, rows, max(1, int(share * values.raw * rows / n)), neighbors, fitting, top)


def _keep_top(payload: Payload, core: dict[str, Array], names: set[str], n: int, room: float) -> tuple[float, int]:
    """Keep of what moves each point as many features as have room, at least one; return the room left and how many."""
    top: int = payload.header.get("explanation", {}).get("top", 0)
    if not top:
        return room, 0
    wide = {name: core[name] for name in names if core[name].ndim == 2}
    rest = file_bytes({name: core[name] for name in names if name not in wide}, n)
    each = file_bytes(wide, n) / top
    kept = int(min(top, max(1, (_FOR_FEATURES * room - rest) // max(each, 1.0))))
    for name, column in wide.items():
        core[name] = np.ascontiguousarray(column[:, : column.shape[1] // top * kept])
    payload.header["explanation"]["top"] = kept
    return room - rest - kept * each, kept


def _drop_local(payload: Payload, local: dict[str, Array], *, neighbors: bool, fits: bool) -> None:
    if local and not neighbors:
        del payload.groups["local"]
        del payload.header["local"]
    elif local and not fits:
        payload.groups["local"] = {name: local[name] for name in local if name in _NEAR}
