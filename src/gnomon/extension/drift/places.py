"""Where in the map new rows came to: which neighbours they keep, which labels are near."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.neighbors import query_neighbors, without_own

__all__ = ["count_shared", "majorities", "nearest_in_map"]


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


def majorities(labels: npt.NDArray[Any] | None, near: npt.NDArray[np.int32]) -> dict[Any, int]:
    """Count new rows by the label that most of their nearest old rows have."""
    if labels is None or measured_labels(labels) is not None:
        return {}
    classes = sort_into_classes(labels)
    found = Counter(classes.most_frequent(row) for row in near)
    return {label: count for label, count in found.items() if label is not None}
