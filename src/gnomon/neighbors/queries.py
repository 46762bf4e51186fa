"""Neighbours of new rows among the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.neighbors.row_search import RowSearch

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["query_neighbors"]

_WHO = "query_neighbors"


def query_neighbors(
    X_train: npt.NDArray[Any] | sp.csr_array | sp.csr_matrix,
    X_new: npt.NDArray[Any] | sp.csr_array | sp.csr_matrix,
    n_neighbors: int,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_threads: int = 1,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Find the nearest rows of a table for each new row, exactly; for many questions see `RowSearch`.

    Parameters
    ----------
    X_train : ndarray of shape (n_samples, n_features) or CSR matrix
        The table searched.
    X_new : ndarray of shape (n_new, n_features) or CSR matrix
        New rows. A row that also stands in `X_train` finds itself at distance 0.
    n_neighbors : int in [1, n_samples]
        Found for each row.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`, without "precomputed".
    metric_params : mapping, default=None
        Further arguments of a scikit-learn metric or callable.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    indices : ndarray of shape (n_new, n_neighbors), int32
    distances : ndarray of shape (n_new, n_neighbors), float32
        Ascending by (distance, index) in each row. A row's result does not depend on the other new rows.

    Raises
    ------
    ValueError
        If `n_neighbors` exceeds n_samples, numbers of features differ or the metric is unknown.
    """
    search = RowSearch.of(
        X_train,
        n_neighbors,
        metric=metric,
        metric_params=metric_params,
        method="exact",
        n_threads=n_threads,
        who=_WHO,
    )
    return search.find(X_new, n_threads=n_threads)
