"""In how many directions columns go together, more than columns do that have nothing to do with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.linalg import dense_rows, inner_products, symmetric_eigen, uniform_matrix
from gnomon.linalg.table import evenly_spaced

__all__ = ["FEWEST_COLUMNS", "common_directions"]

FEWEST_COLUMNS = 20
"""Fewer columns may each tell something of their own, so that nothing of them is to be called noise."""

_MOST = 500  # rows, and columns, that are looked at
_ABOVE = 1.2  # times the variance of shuffled columns along a component of the same rank
_STREAM = 0x436F


def common_directions(X: Any, *, seed: int = 0) -> int | None:
    """Return how many principal components of the ranks of columns stand above those of the columns shuffled.

    They are counted, the largest first, as long as their variance is 1.2 times that along the component of the same
    rank of the table whose columns are each shuffled by itself [1]_. Ranks make it no matter of units and heavy tails.
    It is a count of straight directions: a circle has two. Up to ten directions in 100 to 500 columns were counted
    rightly in all of six draws, and none in noise; of 20 that share all of 100 columns 15 to 18 are counted, of 20
    pairs of columns 19 or 20, of 30 looser pairs 19 to 26. Noise of neighbouring columns that correlates does go
    together.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        At most 500 rows, and as many columns, evenly spaced, are looked at.
    seed : int, default=0
        Shuffles the columns.

    Returns
    -------
    int or None
        None of fewer than 20 columns that vary, or of fewer rows than that.

    References
    ----------
    .. [1] Horn, "A rationale and test for the number of factors in factor analysis", Psychometrika 30, 1965.
    """
    rows = evenly_spaced(int(X.shape[0]), _MOST)
    some = dense_rows(X[rows])
    varying = np.flatnonzero(some.max(axis=0) > some.min(axis=0))
    if min(len(varying), len(rows)) < FEWEST_COLUMNS:
        return None
    ranks = _ranks(some[:, varying[evenly_spaced(len(varying), _MOST)]])
    order = np.argsort(uniform_matrix(seed, _STREAM, ranks.shape), axis=0, kind="stable")
    chance = _variances(np.take_along_axis(ranks, order, axis=0))
    above = _variances(ranks) > _ABOVE * chance
    return len(above) if above.all() else int(above.argmin())


def _ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the ranks of each column, equal values their mean, about 0 and with the same spread."""
    ranks = np.empty(values.shape)
    for column, rank in zip(values.T, ranks.T, strict=True):
        ordered = np.sort(column)
        rank[:] = np.searchsorted(ordered, column) + np.searchsorted(ordered, column, side="right")
    ranks -= ranks.mean(axis=0)
    return np.asarray(ranks / np.sqrt(np.square(ranks).mean(axis=0)))


def _variances(ranks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the squared singular values, the largest first."""
    tall = ranks if ranks.shape[0] >= ranks.shape[1] else ranks.T
    values, _ = symmetric_eigen(inner_products(np.ascontiguousarray(tall)), 0)
    return np.asarray(values)
