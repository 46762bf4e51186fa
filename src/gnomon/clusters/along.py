"""Groups of few rows that a gap along one direction parts from all others, where distances hide them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product, squared_lengths
from gnomon._run import current_run
from gnomon.geometry.common_directions import common_directions
from gnomon.linalg import principal_components, project_rows
from gnomon.linalg.table import evenly_spaced

__all__ = ["rows_beyond_gaps"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FEWEST = 6  # rows of a group, which then have five others beside them
_MOST_ROWS = 2000
_PER_DIRECTION = 8  # rows, at least: along more directions any few rows lie apart from others
_STARTS = 200  # rows towards which directions are first sought
_ROUNDS = 40
_TIED = 2.0  # rows of each value, on average, from which on a column goes in steps, between which no row lies
_GAP = 1.2  # times the range of the group, and of the others from their median to the gap, that it is wide
_SHARE = 0.2  # of the rows, that are in a group at most


def rows_beyond_gaps(X: npt.NDArray[Any], most: int) -> Ints:
    """Find rows that lie together beyond a wide gap along a direction of a table.

    In many columns that go together the nearest rows of another kind are hardly farther than those of the own kind: the
    squared distance is the sum over all directions, and a group may lie apart along one alone. Of the principal
    components that columns have in common, each divided by its deviation, directions are sought along which rows are as
    skewed as can be [1]_, from 200 rows at most: a few rows far out on one side make the third moment large. A group is
    what lies beyond a gap there that is 1.2 times as wide as the group ranges, and as the others do from their median
    up to it.
    Where the rows are one cloud there are only smaller gaps, however heavy its tails: these fall off step by step.
    Columns that go in steps, with two rows or more of each value, take no part: beyond a step there is a gap always.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite.
    most : int
        Rows of a group, at most; and a fifth of all.

    Returns
    -------
    ndarray of int64
        Ascending. None of more than 2,000 rows.

    References
    ----------
    .. [1] Malkovich & Afifi, "On tests for multivariate normality", JASA 68, 1973 (the direction of largest skewness).
    """
    n = len(X)
    most = min(most, int(_SHARE * n))
    none = np.empty(0, dtype=np.int64)
    if n > _MOST_ROWS or most < _FEWEST:
        return none
    ordered = np.sort(X, axis=0)
    rows = X[:, _TIED * (1 + np.count_nonzero(ordered[1:] > ordered[:-1], axis=0)) > n]
    if not rows.shape[1]:
        return none
    counted = common_directions(rows, seed=current_run().seed)
    n_directions = min(rows.shape[1] if counted is None else counted, n // _PER_DIRECTION)
    if n_directions < 1:
        return none
    found = principal_components(rows, n_directions, seed=current_run().seed)
    places = project_rows(rows, found.mean, found.components).astype(np.float64)
    deviations = places.std(axis=0)
    if not (deviations > 0.0).any():
        return none
    places = places[:, deviations > 0.0] / deviations[deviations > 0.0]
    beyond = [_beyond(along, most) for along in product(_skewed_directions(places), places.T)]
    return np.unique(np.concatenate(beyond)).astype(np.int64)


def _skewed_directions(places: Floats) -> Floats:
    """Return directions of largest skewness of rows of unit variance, reached from that of each of some rows."""
    directions = _of_length_one(places[evenly_spaced(len(places), _STARTS)])
    for _ in range(_ROUNDS):
        directions = _of_length_one(product(np.square(product(directions, places.T)), places))
    return directions


def _of_length_one(rows: Floats) -> Floats:
    lengths = np.sqrt(squared_lengths(rows))
    return rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]


def _beyond(along: Floats, most: int) -> Ints:
    """Return the rows beyond the widest gap above the middle, if it is wide enough and they are few."""
    order = np.argsort(along, kind="stable")
    sizes = np.arange(_FEWEST, most + 1)
    last = along[order]
    gaps = last[-sizes] - last[-sizes - 1]
    k = int(np.argmax(gaps))
    size = int(sizes[k])
    ranges = max(last[-1] - last[-size], last[-size - 1] - np.median(last))
    return order[-size:] if gaps[k] > _GAP * ranges else order[:0]
