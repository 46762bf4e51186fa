"""From a table to its neighbour graph: which search serves which metric and size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Reporter
from gnomon._validation import SEED, Integer, Options, Real, Rule, check_parameters, message
from gnomon.data import given_rows
from gnomon.neighbors import cells
from gnomon.neighbors.euclidean import SELECTION, Points
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.searched import SearchedRows

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["EXACT_FLOPS", "by_cells", "check_n_neighbors", "compute_neighbors", "prefers_cells"]

EXACT_FLOPS = 50e9
"""Up to this many multiplications and additions, or as much work, all pairs are computed: about 0.3 s on two cores."""

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "method": Options("auto", "exact", "approximate"),
    "target_recall": Real(0.0, 1.0),
    "seed": SEED,
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
        A name of the table below, searched here, dense or sparse. Other names of scikit-learn, and callables of two
        rows, go through scikit-learn's exact search. "precomputed": `X` holds distances.
    metric_params : mapping, default=None
        Arguments of the metric: ``period`` of "periodic", or those of a scikit-learn metric or callable. The variances
        ``V`` of "seuclidean" and the inverse covariance ``VI`` of "mahalanobis" are those of the fitted table if they
        are not given.
    method : {"auto", "exact", "approximate"}, default="auto"
        "exact" compares all pairs. "approximate" looks into the nearest cells only; it compares all pairs where these
        cost less than the recall asked for. "auto" is exact up to `EXACT_FLOPS` = n_samples^2 (n_features + 10),
        and where pairs cost more than a product of rows, up to as much work. Metrics of scikit-learn are searched
        exactly.
    target_recall : float in [0, 1], default=0.98
        Share of the true neighbours that an approximate search must find. It looks into so many cells that a sample of
        rows shows the share to be reached with a probability of about 95%.
    keep : int, default=0
        Return up to so many neighbours where the same search holds them, at most n_samples - 1: all of them in an exact
        search made here, none more than `n_neighbors` through scikit-learn. The first `n_neighbors` of each row are
        those found without.
    seed : int in [0, 2**63), default=0
        Chooses the cells and the sample of an approximate search.
    reporter : Reporter, default=None
        Told about progress in rows. A search has no result before its end: a wish to stop early is not heard.

    Returns
    -------
    NeighborGraph
        Rows ascending by (distance, index). `method` and `recall` say how they were found and how completely,
        `recall_error` how well that is known.

    Raises
    ------
    ValueError
        If `n_neighbors` exceeds n_samples - 1, a metric is unknown or not defined for some row, its arguments do not
        suit it or the columns, or distances are not valid.

    Warns
    -----
    DataWarning
        If rows of zeros meet "cosine" or "hellinger", or values other than 0 and 1 a metric of sets.
    PrecisionWarning
        If distances of many rows are too small for the working precision.
    NeighborsWarning
        If a precomputed matrix holds fewer than `n_neighbors` distances for some row.

    Notes
    -----
    The metrics, with their ranges, x and y two rows of D columns:

    ==================== ======== ==========================================================================
    metric               range    distance
    ==================== ======== ==========================================================================
    euclidean, l2        [0, inf) length of x - y
    cosine               [0, 2]   1 - cos; a row of zeros is at 0 from other such rows, at 1 from all else
    correlation          [0, 2]   1 - the correlation of x and y; a row of equal values has none and is refused
    hellinger            [0, 1]   sqrt(1 - sum sqrt(p q)), p = x / sum x >= 0 [2]_; rows of zeros as under cosine
    haversine            [0, pi]  angle on a sphere; two columns, latitude and longitude in radians
    manhattan, l1,       [0, inf) sum of the absolute differences
    cityblock
    chebyshev, linfinity [0, inf) largest absolute difference
    periodic             [0, inf) length of the differences, each the shorter way round its column's ``period``
    hamming              [0, 1]   share of the D columns in which x and y differ
    jaccard              [0, 1]   of the columns that are not 0 in x or y, the share that is 0 in one; 0 if none are
    dice                 [0, 1]   j / (2 - j) of the Jaccard distance j
    sokalsneath          [0, 1]   2 j / (1 + j) of the Jaccard distance j
    rogerstanimoto,      [0, 1]   2 h / (1 + h) of the share h of the columns that are 0 in one of x and y alone
    sokalmichener
    ruzicka, tanimoto    [0, 1]   1 - sum min(x, y) / sum max(x, y) of x, y >= 0; 0 between rows of zeros
    ==================== ======== ==========================================================================

    ``metric_params={"period": p}`` is a number, or one for each column, with None or inf where a column is plain; such
    columns enter with their whole difference, so that they should be in the units of the others. The graph's metric is
    then called "periodic(p)", a name that may be given in turn. Metrics of sets take every value but 0 as 1, as
    scikit-learn does; SciPy compares real rows otherwise.

    The first five are functions of a Euclidean distance of points that rows are turned into, and are searched as these
    are. The others are compared by kernels of their own; for an approximate search candidates come from the cells of
    Euclidean points near which they lie, as many as the recall asked for needs, and are ranked by their true distances.
    Candidates among sparse rows come from their coordinates along 96 principal directions [1]_.

    References
    ----------
    .. [1] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011.
    .. [2] Hellinger, "Neue Begruendung der Theorie quadratischer Formen von unendlichvielen Veraenderlichen", Journal
       fuer die reine und angewandte Mathematik 136, 1909; as in umap-learn.
    """
    given = {"n_neighbors": n_neighbors, "method": method, "target_recall": target_recall, "seed": seed}
    checked = check_parameters(_RULES, given)
    n_neighbors = checked["n_neighbors"]
    X = given_rows(X, distances=isinstance(metric, str) and metric == "precomputed")
    check_n_neighbors(n_neighbors, X.shape[0] - 1)
    if metric == "precomputed":
        from gnomon.neighbors.precomputed import graph_of_distances

        return graph_of_distances(X, n_neighbors)
    native = native_metric(metric, metric_params)
    if native is None:
        from gnomon.neighbors.library import library_neighbors

        graph = library_neighbors(X, n_neighbors, metric, metric_params)
        if isinstance(metric, str):
            _check_range(X, graph.distances)
        return graph
    native = native.for_table(X)
    table = native.searched(native.rows(X, alone=True))
    if isinstance(table, Points):
        table.check_range()
    found, used = _search(table, n_neighbors, keep, checked["method"], checked["target_recall"], seed, reporter)
    distances = native.distances(found.distances)
    _check_range(X, distances)
    return NeighborGraph(found.indices, distances, None, native.name, used, found.recall, found.recall_error)


def _check_range(X: Any, distances: npt.NDArray[np.float32]) -> None:
    """Raise ValueError if distances are infinite, as those beyond float32 are, of which nothing says which is less."""
    far = np.flatnonzero(np.isinf(distances).any(axis=1))
    if not len(far):
        return
    largest = float(np.abs(X if isinstance(X, np.ndarray) else X.data).max())
    fact = f"neighbours of {len(far):,} rows are farther away, first: {', '.join(map(str, far[:5]))}"
    remedy = f"Pass X * 1e-{math.floor(math.log10(max(largest, 1.0)))}, or mend the values if they are mistakes."
    raise ValueError(message("X", "of distances in the range of float32, up to 3.4e38", fact=fact, remedy=remedy))


def by_cells(n_samples: int, n_features: float) -> bool:
    """Return whether a Euclidean search among dense rows is approximate by default.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.

    Returns
    -------
    bool
    """
    return float(n_samples) ** 2 * (n_features + SELECTION) > EXACT_FLOPS


def prefers_cells(method: str, table: SearchedRows) -> bool:
    """Return whether a method asks for an approximate search of a table, or leaves it to the cost of an exact one."""
    return method == "approximate" or (method == "auto" and by_cells(table.n_samples, table.exact_width))


def _search(
    table: SearchedRows,
    n_neighbors: int,
    keep: int,
    method: str,
    target_recall: float,
    seed: int,
    reporter: Reporter | None,
) -> tuple[cells.Approximation, str]:
    """Search all pairs or cell by cell; return what is found and the method used."""
    if prefers_cells(method, table):
        found = cells.approximate_search(
            table, n_neighbors, target_recall=target_recall, seed=seed, keep=keep, reporter=reporter
        )
        if found is not None:
            return found, "cells"
    return cells.Approximation(*table.search_all(n_neighbors, min(keep, table.n_samples - 1), reporter)), "exact"
