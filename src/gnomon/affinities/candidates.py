"""Rows among which PaCMAP and TriMap choose: the nearest in units of the local scale, and random ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.affinities.base import usable_distances
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["local_scales", "nearest_by_scale", "random_others", "scaled_squares"]

_SCALE_RANKS = slice(3, 6)  # the fourth to the sixth neighbour
_ROWS = 512  # whose candidates are ordered at a time


def local_scales(graph: NeighborGraph) -> npt.NDArray[np.float64]:
    """Return for each row the mean distance to its fourth to sixth neighbour.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        A row with fewer neighbours takes its farthest.

    Returns
    -------
    ndarray of shape (n_samples,), float64
        Positive: a row whose scale would be 0 (equal rows) takes 1e-10 of the mean of all, or 1 if all are 0.
    """
    distances = usable_distances(graph)
    farthest = np.where(np.isfinite(distances), distances, 0.0).max(axis=1)
    middle = distances[:, _SCALE_RANKS] if distances.shape[1] > _SCALE_RANKS.start else distances[:, -1:]
    middle = middle.astype(np.float64)
    scales = np.where(np.isfinite(middle), middle, farthest[:, None]).mean(axis=1)
    return np.asarray(np.maximum(scales, 1e-10 * (scales.mean() or 1e10)))


def scaled_squares(
    distances: npt.NDArray[np.float32],
    others: npt.NDArray[np.int32],
    scales: npt.NDArray[np.float64],
    rows: slice = slice(None),
) -> npt.NDArray[np.float64]:
    """Return d_ij^2 / (scale_i scale_j) for the distances (n_rows, n_others) of rows, by default of all, to others."""
    lengths = distances.astype(np.float64)
    return np.asarray((lengths / scales[rows, None]) * (lengths / scales[others]))


def nearest_by_scale(
    graph: NeighborGraph, count: int, scales: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Choose the neighbours of smallest scaled distance.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        The candidates.
    count : int in [1, n_neighbors]
        How many to choose.
    scales : ndarray of shape (n_samples,), float64
        From `local_scales`.

    Returns
    -------
    indices : ndarray of shape (n_samples, count), int32
        Ascending by scaled distance; ties stay in the order of the graph.
    squares : ndarray of shape (n_samples, count), float64
        Scaled squared distances; inf where a row has no such neighbour.
    """
    indices = np.empty((graph.n_samples, count), dtype=np.int32)
    nearest = np.empty((graph.n_samples, count))
    distances = usable_distances(graph)
    for first in range(0, graph.n_samples, _ROWS):
        rows = slice(first, first + _ROWS)
        others = graph.indices[rows]
        squares = scaled_squares(distances[rows], others, scales, rows)
        order = np.argsort(squares, axis=1, kind="stable")[:, :count]
        indices[rows] = np.take_along_axis(others, order, axis=1)
        nearest[rows] = np.take_along_axis(squares, order, axis=1)
    return indices, nearest


def random_others(excluded: npt.NDArray[np.int32], count: int, *, seed: int, stream: int) -> npt.NDArray[np.int32]:
    """Draw distinct points for every point, neither itself nor among those excluded.

    Parameters
    ----------
    excluded : ndarray of shape (n_samples, n_excluded), int32
        Row numbers that a row must not draw.
    count : int in [0, n_samples - 1 - n_excluded]
        Points drawn for each.
    seed : int in [0, 2**63)
        The seed of the computation.
    stream : int >= 0
        Names the purpose: equal seeds with different streams give independent draws.

    Returns
    -------
    ndarray of shape (n_samples, count), int32
        In the order drawn.
    """
    drawn: npt.NDArray[np.int32] = _core.random_others(
        seed, stream, np.ascontiguousarray(excluded, dtype=np.int32), count, current_run().n_threads
    )
    return drawn
