"""A few rows of very many columns, by as many coordinates as there are rows: with the distances that they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.sparse_distances import SparseProducts
from gnomon.linalg import row_products, symmetric_eigen

__all__ = ["are_wide", "few_coordinates", "n_varying"]

Floats = npt.NDArray[np.float64]

_WIDE = 1000  # columns up to which rows are taken as they are


def are_wide(rows: Any) -> bool:
    """Return whether rows have more columns than there are rows, and more than 1,000."""
    n, p = rows.shape
    return bool(p > max(n, _WIDE))


def few_coordinates(rows: Any) -> Floats:
    """Return centred coordinates of rows, by as many columns as there are rows, with the same straight distances.

    They are those of classical scaling of the distances [1]_, falling in variance. Equal rows have equal coordinates.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n, n_features), float64
        Sparse rows are not written out.

    Returns
    -------
    ndarray of shape (n, n), float64

    References
    ----------
    .. [1] Gower, "Some distance properties of latent root and vector methods used in multivariate analysis",
       Biometrika 53, 1966.
    """
    squares = _squared_distances(rows)
    firsts = (squares <= 0.0).argmax(axis=1)
    means = squares.mean(axis=0)
    squares -= means
    squares -= means[:, None] - means.mean()
    squares *= -0.5
    values, vectors = symmetric_eigen(squares)
    vectors *= np.sqrt(np.maximum(values, 0.0))
    return np.asarray(vectors[firsts])


def _squared_distances(rows: Any) -> Floats:
    """Return the squared distances of all rows, symmetric and 0 between equal rows."""
    n = rows.shape[0]
    if not isinstance(rows, np.ndarray):
        found: Floats = SparseProducts(rows, "euclidean", np.float64)(np.arange(n))
        found = np.maximum(found, found.T)
    else:
        found = row_products(rows - rows.mean(axis=0))
        squares = found.diagonal().copy()
        found *= -2.0
        found += squares[:, None] + squares
    np.fill_diagonal(found, 0.0)
    return found


def n_varying(rows: Any) -> int:
    """Return how many columns of dense or sparse rows hold different values."""
    high, low = rows.max(axis=0), rows.min(axis=0)
    if not isinstance(rows, np.ndarray):
        high, low = high.toarray(), low.toarray()
    return int(np.count_nonzero(high > low))
