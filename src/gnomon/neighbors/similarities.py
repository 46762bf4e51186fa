"""Similarities that were given as distances: they would turn a map inside out, so they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message
from gnomon.linalg.table import evenly_spaced

__all__ = ["refuse_similarities"]

_ROWS = 200  # that are looked at
_ROUNDING = 1e-6
_ROUNDING_OF_FLOAT32 = 1e-5  # of the largest entry
_SHARED = 0.1  # mean correlation from which on large values go with shared neighbours
_FEWEST = 5  # entries of a row that say anything
_FEWEST_ROWS = 20
_CERTAIN = 4.0  # standard errors by which a mean must differ from 0
_COMPARED, _ENDS = 300, 3  # rows among which the nearest and the farthest so many are compared with a row
_TURNED = 0.25  # by which the farthest rows are more alike than the nearest


def refuse_similarities(X: Any, what: str = "metric='precomputed'") -> None:
    """Raise ValueError if a matrix of distances holds similarities.

    Three findings count. The diagonal of a complete matrix is its largest entry in every row: nothing is farther from a
    row than the row itself. Or, whatever the diagonal, the three rows that are farthest from a row have entries more
    like its own than the three nearest: the mean difference of their rank correlations, over 200 rows among 300, is
    below -0.25, and below 0 by four standard errors. (It was so for none of 633 matrices of distances, Euclidean and
    other, of 34 tables, and for 358 of 435 of similarities.) And, in a sparse matrix of values up to 1 such as the
    connectivities that scanpy computes, rows with a large value between them share more neighbours than those with a
    small one: the mean over 200 rows of the correlation within a row is above 0.1, and above 0 by four standard errors.
    Between distances it is negative.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_samples)
        No entry is negative beyond rounding.
    what : str, default="metric='precomputed'"
        What was given the matrix, for the error text.
    """
    if isinstance(X, np.ndarray):
        found, fact = _diagonal_is_largest(X), "in every row the entry on the diagonal is the largest"
        if not found:
            found = _farthest_are_most_alike(X)
            fact = "entries of two rows are the more alike the larger the number between them"
    else:
        found = _large_values_share_neighbors(scipy.sparse.csr_array(X))
        fact = "values up to 1, and rows with large values between them share more neighbours"
    if found:
        remedy = (
            'Pass distances, of an AnnData object obsp["distances"] and not obsp["connectivities"], or map the '
            "similarities themselves by NeighborEmbedding(affinity=similarities)."
        )
        raise ValueError(message(f"{what} with similarities", "given distances", fact=fact, remedy=remedy))


def _diagonal_is_largest(X: npt.NDArray[Any]) -> bool:
    rows = evenly_spaced(len(X), _ROWS)
    some = np.asarray(X[rows], dtype=np.float64)
    own = some[np.arange(len(rows)), rows]
    if not np.isfinite(own).all() or not (own > _ROUNDING * np.abs(own).max(initial=0.0)).all():
        return False
    some[np.arange(len(rows)), rows] = -np.inf
    return len(X) > 2 and bool((some.max(axis=1) < own).all())


def _farthest_are_most_alike(X: npt.NDArray[Any]) -> bool:
    among = evenly_spaced(len(X), _COMPARED)
    m = len(among)
    if m < _FEWEST_ROWS:
        return False
    part = np.array(X[np.ix_(among, among)], dtype=np.float64)
    np.fill_diagonal(part, 0.0)
    with np.errstate(invalid="ignore"):
        symmetric = bool((np.abs(part - part.T) <= _ROUNDING_OF_FLOAT32 * part.max()).all())
    if not symmetric:
        return False  # which is said elsewhere
    order = np.argsort(part, axis=1, kind="stable")
    ranks = np.empty((m, m))
    np.put_along_axis(ranks, order, np.arange(m, dtype=np.float64)[None, :], axis=1)
    rows = evenly_spaced(m, _ROWS)
    others = order[rows][order[rows] != rows[:, None]].reshape(len(rows), m - 1)
    near, far = (_rank_correlations(ranks, rows, ends) for ends in (others[:, :_ENDS], others[:, -_ENDS:]))
    gaps = near - far
    error = float(gaps.std()) / np.sqrt(len(gaps))
    return bool(float(gaps.mean()) < -max(_TURNED, _CERTAIN * error))


def _rank_correlations(
    ranks: npt.NDArray[np.float64], rows: npt.NDArray[Any], others: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return the mean correlation of some rows with others each, the columns of both left out."""
    total = np.zeros(len(rows))
    at = np.arange(len(rows))
    for column in others.T:
        counts = np.ones((len(rows), ranks.shape[1]))
        counts[at, rows] = counts[at, column] = 0.0
        a, b = ranks[rows], ranks[column]
        a, b = (counts * (some - np.average(some, axis=1, weights=counts)[:, None]) for some in (a, b))
        total += (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    mean: npt.NDArray[np.float64] = total / others.shape[1]
    return mean


def _large_values_share_neighbors(X: scipy.sparse.csr_array) -> bool:
    n = int(X.shape[0])
    if X.nnz == 0 or float(X.data.max()) > 1.0 + _ROUNDING:
        return False
    rows = evenly_spaced(n, _ROWS)
    pattern = scipy.sparse.csr_array((np.ones(X.nnz, dtype=np.float32), X.indices, X.indptr), shape=X.shape)
    shared = scipy.sparse.csr_array(pattern[rows] @ pattern.T)
    sizes = np.diff(X.indptr)
    found = []
    for at, row in enumerate(rows.tolist()):
        part = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = X.indices[part], X.data[part].astype(np.float64)
        others = columns != row
        columns, values = columns[others], values[others]
        if len(columns) < _FEWEST:
            continue
        common = np.asarray(shared[[at]].toarray())[0, columns] / sizes[columns]
        if np.ptp(values) > 0.0 and np.ptp(common) > 0.0:
            found.append(float(np.corrcoef(values, common)[0, 1]))
    if len(found) < _FEWEST_ROWS:
        return False
    error = float(np.std(found)) / np.sqrt(len(found))
    return bool(float(np.mean(found)) > max(_SHARED, _CERTAIN * error))
