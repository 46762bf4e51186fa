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
_SHARED = 0.1  # mean correlation from which on large values go with shared neighbours
_FEWEST = 5  # entries of a row that say anything
_FEWEST_ROWS = 20
_CERTAIN = 4.0  # standard errors by which the mean correlation must exceed 0


def refuse_similarities(X: Any, what: str = "metric='precomputed'") -> None:
    """Raise ValueError if a matrix of distances holds similarities.

    Two findings count. The diagonal of a complete matrix is its largest entry in every row: nothing is farther from a
    row than the row itself. And, in a sparse matrix of values up to 1 such as the connectivities that scanpy computes,
    rows with a large value between them share more neighbours than those with a small one: the mean over 200 rows of
    the correlation within a row is above 0.1, and above 0 by four standard errors. Between distances it is negative.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_samples)
        No entry is negative beyond rounding.
    what : str, default="metric='precomputed'"
        What was given the matrix, for the error text.
    """
    if isinstance(X, np.ndarray):
        found = _diagonal_is_largest(X)
        fact = "in every row the entry on the diagonal is the largest"
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
