"""Features that act evenly: places of a map tell how far they lie from their middle, but not to which side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.explanations.rows import dense_rows_of
from gnomon.geometry.inverse import MapNeighbors
from gnomon.linalg.table import evenly_spaced

__all__ = ["acts_evenly"]

_ROWS = 2000  # that are looked at
_FEWEST = 200
_NEIGHBORS, _SHARE = 50, 10  # of a row in the map; of fewer rows one in so many
_TELLS = 0.1  # share of the variance of how far a feature lies from its middle that neighbours foretell
_SILENT = 0.02  # of its own variance, up to which they tell nothing of the side
_ON_A_SIDE = 4  # one row in so many lies below its median, and above it
_NUMBERS = 1 << 24  # of neighbours' values, held at a time

Array = npt.NDArray[np.float64]


def acts_evenly(X: Any, places: Array, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Return the numbers of the features that act evenly, the surest first.

    The rank of each feature about its median is foretold by the mean of the 50 nearest other rows in the map, and so is
    the absolute rank, its distance from the median. A feature acts evenly where this accounts for a tenth of the
    variance of the absolute rank and for a fiftieth of that of the rank at most: its high and its low values lie in the
    same places, values between in others, as where a map goes by its square. A fit of the feature by place, which asks
    for its mean there, sees nothing of it.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    places : ndarray of shape (n_samples, n_components)
        The map.
    rows : ndarray of int
        Rows with a place, of which 2,000 evenly spaced ones are looked at; of fewer than 200 nothing is told. A quarter
        of them must lie below the median of a feature, and above it, for it to be told.

    Returns
    -------
    ndarray of int64
    """
    nobody = np.zeros(0, dtype=np.int64)
    if len(rows) < _FEWEST:
        return nobody
    rows = np.asarray(rows)[evenly_spaced(len(rows), _ROWS)]
    k = min(_NEIGHBORS, len(rows) // _SHARE)
    near = MapNeighbors(places[rows]).nearest(np.arange(len(rows)), k + 1)
    # Of rows at one place any may be found first: each row is left out of its own mean by its number.
    others = np.where(near == np.arange(len(rows))[:, None], -1, near)
    own = np.argmin(others, axis=1)
    own[others.min(axis=1) >= 0] = k
    others[np.arange(len(rows)), own] = others[:, -1]
    others = others[:, :-1]
    together = max(1, _NUMBERS // others.size)
    found, told = [nobody], [np.zeros(0)]
    for start in range(0, int(X.shape[1]), together):
        columns = np.arange(start, min(start + together, int(X.shape[1])))
        ranks = _ranks(dense_rows_of(X, rows, columns))
        twofold = np.minimum((ranks < 0).sum(axis=0), (ranks > 0).sum(axis=0)) * _ON_A_SIDE >= len(rows)
        columns, ranks = columns[twofold], ranks[:, twofold]
        distance = _foretold(np.abs(ranks), others)
        evenly = (distance >= _TELLS) & (_foretold(ranks, others) <= _SILENT)
        found.append(columns[evenly])
        told.append(distance[evenly])
    chosen = np.concatenate(found)
    return np.asarray(chosen[np.argsort(-np.concatenate(told), kind="stable")])


def _ranks(values: Array) -> Array:
    """Return how many values of each column lie below each less how many lie above, 0 for the median."""
    ordered = np.sort(values, axis=0)
    below, above = np.empty(values.shape), np.empty(values.shape)
    for column in range(values.shape[1]):
        below[:, column] = np.searchsorted(ordered[:, column], values[:, column])
        above[:, column] = len(values) - np.searchsorted(ordered[:, column], values[:, column], side="right")
    return below - above


def _foretold(values: Array, others: npt.NDArray[np.int64]) -> Array:
    """Return the share of the squares about the mean that the mean over other rows accounts for; below 0 if none."""
    values = values - values.mean(axis=0)
    squares = np.square(values).sum(axis=0)
    missed = np.square(values - values[others].mean(axis=1)).sum(axis=0)
    return np.where(squares > 0, 1 - missed / np.where(squares > 0, squares, 1.0), 0.0)
