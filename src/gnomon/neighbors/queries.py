"""Neighbours of new rows among the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, check_parameters, message
from gnomon.neighbors import cosine, euclidean
from gnomon.neighbors.compute import NATIVE_METRICS, check_n_neighbors

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
    """Find the nearest rows of a table for each new row, exactly.

    Parameters
    ----------
    X_train : ndarray of shape (n_samples, n_features) or CSR matrix
        The table searched.
    X_new : ndarray of shape (n_new, n_features) or CSR matrix
        New rows. A row that also stands in `X_train` finds itself at distance 0.
    n_neighbors : int in [1, n_samples]
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
    n_neighbors = check_parameters(_WHO, {"n_neighbors": Integer(1)}, {"n_neighbors": n_neighbors})["n_neighbors"]
    check_n_neighbors(_WHO, n_neighbors, X_train.shape[0])
    if X_new.shape[1] != X_train.shape[1]:
        raise ValueError(message(_WHO, f"X_new with {X_new.shape[1]} features", f"of {X_train.shape[1]} features"))
    if X_new.shape[0] == 0:
        return np.empty((0, n_neighbors), np.int32), np.empty((0, n_neighbors), np.float32)
    native = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
    if native is None or not isinstance(X_train, np.ndarray) or not isinstance(X_new, np.ndarray):
        from gnomon.neighbors.library import library_query

        return library_query(X_train, X_new, n_neighbors, metric, metric_params, n_threads=n_threads, who=_WHO)
    if metric_params:
        raise ValueError(message(_WHO, f"metric_params={dict(metric_params)!r}", f"empty for metric={metric!r}"))
    values = euclidean.as_values(X_train)
    new = np.ascontiguousarray(X_new, dtype=values.dtype)
    if native == "cosine":
        # Whether some other new row is all zeros must not matter, so the extra coordinate is always there.
        values, new = cosine.unit_rows(values, who=_WHO, append=True), cosine.unit_rows(new, who=_WHO, append=True)
    points = euclidean.Points.of(values, n_threads=n_threads)
    indices, distances = euclidean.nearest_of_new(points, new, n_neighbors)
    return indices, cosine.from_chords(distances) if native == "cosine" else distances
