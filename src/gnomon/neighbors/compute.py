"""From a table to its neighbour graph: which search serves which metric and size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Reporter
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.data import check_table
from gnomon.data.cells import is_cells, is_stored_matrix
from gnomon.neighbors import cells, cosine, euclidean
from gnomon.neighbors.graph import NeighborGraph

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["EXACT_FLOPS", "NATIVE_METRICS", "check_n_neighbors", "compute_neighbors"]

NATIVE_METRICS = {"euclidean": "euclidean", "l2": "euclidean", "cosine": "cosine"}
EXACT_FLOPS = 50e9
"""Up to this many multiplications and additions all pairs are computed: about 0.3 s on two cores."""

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "method": Options("auto", "exact", "approximate"),
    "target_recall": Real(0.0, 1.0),
}


def check_n_neighbors(n_neighbors: int, n_others: int) -> None:
    """Raise ValueError if there are fewer than `n_neighbors` rows to choose from."""
    if n_neighbors > n_others:
        raise ValueError(
            message(
                f"n_neighbors={n_neighbors}",
                f"at most {n_others}, the number of other rows",
                remedy=f"Pass n_neighbors={n_others} or more rows." if n_others else "Pass more rows.",
            )
        )


@entrance("compute_neighbors")
def compute_neighbors(
    X: npt.NDArray[Any] | sp.csr_array | sp.csr_matrix,
    n_neighbors: int,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    method: str = "auto",
    target_recall: float = 0.98,
    keep: int = 0,
    seed: int = 0,
    reporter: Reporter | None = None,
) -> NeighborGraph:
    """Find the nearest neighbours of every row.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, CSR matrix or AnnData
        Finite values. With ``metric="precomputed"`` distances of shape (n_samples, n_samples): dense and symmetric, or
        sparse, where what is not stored is no neighbour and a stored zero is a distance of zero.
    n_neighbors : int in [1, n_samples - 1]
        Neighbours of each row, the row itself not counted.
    metric : str or callable, default="euclidean"
        "euclidean" (or "l2") and "cosine" are searched here. Other names of scikit-learn, and callables of two rows, go
        through scikit-learn's exact search, as does sparse `X`. "precomputed": `X` holds distances.
        Cosine: 1 - cos in [0, 2]; a row of zeros has distance 0 to other rows of zeros and 1 to everything else.
    metric_params : mapping, default=None
        Further arguments of a scikit-learn metric or callable.
    method : {"auto", "exact", "approximate"}, default="auto"
        "exact" compares all pairs. "approximate" looks into the nearest cells only; it compares all pairs where these
        cost less than the recall asked for. "auto" is exact up to `EXACT_FLOPS` = n_samples^2 n_features.
    target_recall : float in [0, 1], default=0.98
        Share of the true neighbours that an approximate search must find, measured on a sample of rows.
    keep : int, default=0
        Return up to so many neighbours where the same search holds them, at most n_samples - 1: all of them in an exact
        search made here, none more than `n_neighbors` through scikit-learn. The first `n_neighbors` of each row are
        those found without.
    seed : int, default=0
        Chooses the cells and the sample of an approximate search.
    reporter : Reporter, default=None
        Told about progress in rows. A search has no result before its end: a wish to stop early is not heard.

    Returns
    -------
    NeighborGraph
        Rows ascending by (distance, index). `method` and `recall` say how they were found and how completely.

    Raises
    ------
    ValueError
        If `n_neighbors` exceeds n_samples - 1, a metric is unknown, or distances are not valid.

    Warns
    -----
    DataWarning
        If rows of zeros meet the cosine metric.
    PrecisionWarning
        If distances of many rows are too small for the working precision.
    NeighborsWarning
        If a precomputed matrix holds fewer than `n_neighbors` distances for some row.
    """
    given = {"n_neighbors": n_neighbors, "method": method, "target_recall": target_recall}
    checked = check_parameters(_RULES, given)
    n_neighbors = checked["n_neighbors"]
    if is_cells(X) or is_stored_matrix(X):
        X = check_table(X, accept_sparse=True, keep_zeros=metric == "precomputed").values
    check_n_neighbors(n_neighbors, X.shape[0] - 1)
    if metric == "precomputed":
        from gnomon.neighbors.precomputed import graph_of_distances

        return graph_of_distances(X, n_neighbors)
    native = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
    if native is None or not isinstance(X, np.ndarray):
        from gnomon.neighbors.library import library_neighbors

        return library_neighbors(X, n_neighbors, metric, metric_params)
    if metric_params:
        raise ValueError(message(f"metric_params={dict(metric_params)!r}", f"empty for metric={metric!r}"))
    values = euclidean.as_values(X)
    if native == "cosine":
        values = cosine.unit_rows(values)
    indices, distances, used, recall = _search(
        values, n_neighbors, keep, checked["method"], checked["target_recall"], seed, reporter
    )
    if native == "cosine":
        distances = cosine.from_chords(distances)
    return NeighborGraph(indices, distances, None, native, used, recall)


def _search(
    X: euclidean.Values,
    n_neighbors: int,
    keep: int,
    method: str,
    target_recall: float,
    seed: int,
    reporter: Reporter | None,
) -> tuple[euclidean.Indices, euclidean.Distances, str, float]:
    """Search all pairs or cell by cell; return indices, distances, the method used and the recall."""
    points = euclidean.Points.of(X)
    small = math.prod(X.shape) * X.shape[0] <= EXACT_FLOPS
    if method == "approximate" or (method == "auto" and not small):
        found = cells.approximate_search(
            points, n_neighbors, target_recall=target_recall, seed=seed, keep=keep, reporter=reporter
        )
        if found is not None:
            return found.indices, found.distances, "cells", found.recall
    indices, distances = euclidean.exact_search(points, n_neighbors, keep=min(keep, X.shape[0] - 1), reporter=reporter)
    return indices, distances, "exact", 1.0
