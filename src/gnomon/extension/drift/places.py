"""Where in the map new rows came to: which neighbours they keep, which regions they fill, which labels are near."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.extension.drift.chance import chance_of_more
from gnomon.neighbors import query_neighbors, without_own

__all__ = ["count_shared", "crowded_regions", "majorities", "nearest_in_map"]

Float64Array = npt.NDArray[np.float64]

_GRID = 8  # cells along the longest side of the map


def nearest_in_map(
    Y: npt.NDArray[Any], places: npt.NDArray[Any], own: npt.NDArray[np.int64] | None, k: int
) -> npt.NDArray[np.int32]:
    """Return the nearest old rows of places in the map; `own` are the numbers of the old rows that lie there."""
    wanted = k if own is None else k + 1
    found = query_neighbors(np.asarray(Y, dtype=np.float64), places.astype(np.float64), wanted)
    return found[0] if own is None else without_own(*found, own)[0]


def count_shared(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return how many neighbours each row of two lists has in both."""
    return np.array([np.count_nonzero(np.isin(a, b)) for a, b in zip(one, other, strict=True)])


def crowded_regions(Y: Float64Array, Y_new: Float64Array) -> tuple[list[tuple[Float64Array, int, int]], Float64Array]:
    """Return the cells that new rows came to, and how likely each or any other has so many, the least likely first."""
    both = np.concatenate([Y, Y_new])
    low = both.min(axis=0)
    size = float((both.max(axis=0) - low).max()) / _GRID or 1.0
    cells, cell = np.unique(np.floor((both - low) / size), axis=0, return_inverse=True)
    old, new = (np.bincount(part.ravel(), minlength=len(cells)) for part in np.split(cell.ravel(), [len(Y)]))
    came = np.flatnonzero(new)
    chances = np.array([chance_of_more(int(old[c]), len(Y), int(new[c]), len(Y_new)) for c in came]) * len(cells)
    order = np.lexsort((old[came] * (len(Y_new) / len(Y)) - new[came], chances))
    found = [(low + (cells[c] + 0.5) * size, int(new[c]), int(old[c])) for c in came[order]]
    return found, np.minimum(chances[order], 1.0)


def majorities(labels: npt.NDArray[Any] | None, near: npt.NDArray[np.int32]) -> dict[Any, int]:
    """Count new rows by the label that most of their nearest old rows have."""
    if labels is None or measured_labels(labels) is not None:
        return {}
    classes = sort_into_classes(labels)
    found = Counter(classes.most_frequent(row) for row in near)
    return {label: count for label, count in found.items() if label is not None}
