"""Do the lengths of rows say anything, or are they a nuisance as the depth of counts is?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import log, sparse_product
from gnomon.kernels.inputs import LinearInput, squared_distances
from gnomon.linalg import uniform_matrix

__all__ = ["lengths_say_nothing", "unit_rows"]

Float64Array = npt.NDArray[np.float64]

_LEAST_FEATURES = 4  # two in each half, as one alone has no direction
_ERRORS = 2.0  # standard errors by which more rows must be better told by directions
_STREAM_HALVES = 134


def lengths_say_nothing(rows: Any, n_neighbors: int, seed: int) -> bool:
    """Return whether rows are amounts of which the proportions alone matter, as far as the rows themselves tell.

    Three things must hold. No entry is negative. Rows of like direction tell nothing of a row's length: the mean of the
    logarithms of their lengths is no nearer to its own than the mean of all rows is. And directions make the better
    neighbours: one half of the features of a row is told from its neighbours by the other half, once as their mean, and
    once as the mean of their proportions times the row's own length in the other half; the second is nearer in more
    rows, clearly so by a sign test.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features), float64
    n_neighbors : int in [1, n_samples - 1]
    seed : int
        Chooses the halves.
    """
    if rows.shape[1] < _LEAST_FEATURES or float(rows.min()) < 0.0 or float(rows.max()) == 0.0:
        return False
    lengths = _lengths(rows)
    rows, lengths = rows[lengths > 0.0] / float(rows.max()), lengths[lengths > 0.0]
    if n_neighbors >= len(lengths):
        return False
    logarithms = log(lengths)
    missed = logarithms - sparse_product(_averages(unit_rows(rows), n_neighbors), logarithms)
    if np.square(missed).sum() < np.square(logarithms - logarithms.mean()).sum():
        return False
    order = np.argsort(uniform_matrix(seed, _STREAM_HALVES, (rows.shape[1], 1)).ravel(), kind="stable")
    one, other = rows[:, order[::2]], rows[:, order[1::2]]
    gain = _gain(one, other, n_neighbors) + _gain(other, one, n_neighbors)
    better, worse = int((gain > 0.0).sum()), int((gain < 0.0).sum())
    return better - worse > _ERRORS * math.sqrt(better + worse)


def unit_rows(rows: Any) -> Any:
    """Return rows of length 1; those of zeros stay."""
    lengths = _lengths(rows)
    return _scaled(rows, 1.0 / np.where(lengths > 0.0, lengths, 1.0))


def _lengths(rows: Any) -> Float64Array:
    largest = abs(rows).max(axis=1)
    largest = largest if isinstance(rows, np.ndarray) else largest.toarray().ravel()
    largest = np.where(largest > 0.0, largest, 1.0)  # so that no square is out of range
    lengths: Float64Array = largest * np.sqrt(LinearInput().diagonal(_scaled(rows, 1.0 / largest)))
    return lengths


def _scaled(rows: Any, factors: Float64Array) -> Any:
    if isinstance(rows, np.ndarray):
        return factors[:, None] * rows
    return scipy.sparse.csr_array(scipy.sparse.diags_array(factors) @ rows)


def _averages(rows: Any, n_neighbors: int) -> scipy.sparse.csr_array:
    """Return the matrix whose product with values of all rows is their mean over the nearest others of each."""
    n, squared = rows.shape[0], squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
    starts = np.arange(0, n * n_neighbors + 1, n_neighbors)
    return scipy.sparse.csr_array((np.full(nearest.size, 1.0 / n_neighbors), nearest.ravel(), starts), shape=(n, n))


def _gain(known: Any, wanted: Any, n_neighbors: int) -> Float64Array:
    """Return how much nearer each row of `wanted` is told by rows of like direction in `known` than by near ones."""
    lengths = _lengths(known)
    by_place = sparse_product(_averages(known, n_neighbors), wanted)
    shares = _scaled(wanted, 1.0 / np.where(lengths > 0.0, lengths, 1.0))
    by_direction = _scaled(sparse_product(_averages(unit_rows(known), n_neighbors), shares), lengths)
    gain: Float64Array = LinearInput().diagonal(wanted - by_place) - LinearInput().diagonal(wanted - by_direction)
    return gain
