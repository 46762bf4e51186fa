"""From the map back to the data, and how far the way there and back leads astray."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon.extension.atlas_charts import BlendLaw, Charts
from gnomon.neighbors import query_neighbors

__all__ = ["INVERSE_POWER", "INVERSE_ROWS", "RoundTrip", "invert", "nearest_others"]

Float64Array = npt.NDArray[np.float64]
Candidates = npt.NDArray[np.int32]

INVERSE_POWER, INVERSE_ROWS = 0.0, 2.0
"""Of the weights of charts by distances in the map. Many rows of the data share a place in the map up to noise: a blend
that gave back each row at its place would give back that noise. On digits it is a fifth farther from new rows."""


@dataclass(frozen=True)
class RoundTrip:
    """How well rows are found again from their places, and places from their rows, each row left out of the atlas.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        Row numbers.
    map_error : ndarray of shape (m,), float64
        Distance in the map between the place of the row and that of its reconstruction.
    relative_map_error : ndarray of shape (m,), float64
        The same over the median distance to the row's neighbours in the map.
    data_error : ndarray of shape (m,), float64
        Squared distance of the row from its reconstruction.
    relative_data_error : ndarray of shape (m,), float64
        The same over the mean squared distance of its neighbours in the data from their mean: below 1 the
        reconstruction is nearer to the row than its neighbourhood is wide.
    """

    rows: npt.NDArray[np.int64]
    map_error: Float64Array
    relative_map_error: Float64Array
    data_error: Float64Array
    relative_data_error: Float64Array


def nearest_others(
    table: Any, rows: Any, own: npt.NDArray[np.integer] | None, wanted: int, n_threads: int
) -> tuple[Candidates, npt.NDArray[np.float32]]:
    """Return the nearest rows of a table and their distances, without row own[i] for row i if given."""
    n = int(table.shape[0])
    if own is None:
        return query_neighbors(table, rows, min(n, wanted), n_threads=n_threads)
    indices, distances = query_neighbors(table, rows, min(n, wanted + 1), n_threads=n_threads)
    drop = indices == own[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return np.ascontiguousarray(indices[~drop].reshape(shape)), distances[~drop].reshape(shape)


def invert(
    table: tuple[Any, ...],
    charts: Charts,
    law: BlendLaw,
    Y_new: Float64Array,
    sizes: tuple[int, int],
    own: npt.NDArray[np.integer] | None,
    n_threads: int,
) -> Float64Array:
    """Return the rows at places of the map.

    Parameters
    ----------
    table : arguments of the data's `RowTable`
    charts : Charts
    law : BlendLaw
        Of distances in the map.
    Y_new : ndarray of shape (m, n_components), float64
    sizes : (int, int)
        Nearest points looked at first, and at most.
    own : ndarray of shape (m,) or None
        A row each that takes no part.
    n_threads : int
    """

    def run(places: Float64Array, left_out: npt.NDArray[np.integer] | None, size: int) -> Any:
        candidates, _ = nearest_others(charts.positions, places, left_out, size, n_threads)
        arguments = (*charts.arguments, law.count, law.softness, law.power, n_threads)
        return _core.atlas_invert(table, np.ascontiguousarray(places), candidates, *arguments)

    return repeat_truncated(run, Y_new, sizes, own)[0]


def repeat_truncated(
    run: Callable[[Any, npt.NDArray[np.integer] | None, int], tuple[npt.NDArray[Any], ...]],
    given: Any,
    sizes: tuple[int, int],
    own: npt.NDArray[np.integer] | None,
) -> list[npt.NDArray[Any]]:
    """Run with few candidates, and again with more for the rows where these were too few.

    `run` takes rows, the rows left out and the number of candidates, and returns arrays of one row each, of which the
    last says where candidates were too few.
    """
    first, most = sizes
    *found, truncated = run(given, own, first)
    again = np.flatnonzero(truncated)
    if again.size and most > first:
        *better, _ = run(given[again], None if own is None else own[again], most)
        for kept, one in zip(found, better, strict=True):
            kept[again] = one
    return found
