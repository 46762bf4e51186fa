"""The neighbours of new rows among fitted ones, by the search that suits the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._entrance import entrance, part
from gnomon._run import current_run
from gnomon._validation import SEED, Integer, Options, Real, Rule, check_parameters, message
from gnomon.data import given_rows
from gnomon.neighbors.cell_plans import Plan
from gnomon.neighbors.cells import Space, Start, group
from gnomon.neighbors.compute import check_n_neighbors, prefers_cells
from gnomon.neighbors.euclidean import Distances, Indices, Points, far_rows
from gnomon.neighbors.graph import without_own
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.precomputed import nearest_given
from gnomon.neighbors.samples import Estimate, Sample
from gnomon.neighbors.searched import SearchedRows

__all__ = ["RowSearch", "query_neighbors"]

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "method": Options("auto", "exact", "approximate"),
    "target_recall": Real(0.0, 1.0),
    "seed": SEED,
}
_MANY_FROM, _MANY_RECALL = 10_000, 0.999  # of tables that many rows ask: cells pay from some 2,000 questions on


@dataclass(frozen=True)
class _CellIndex:
    """The cells of a table and how many of them a new row looks into.

    A new row seeks candidates in its nearest cells, along the leading principal directions where there are many
    features, and ranks them by accurate distances. Its result is a function of the row alone.

    Attributes
    ----------
    table : SearchedRows
    space : Space
    join : CellJoin
        The table packed by cells.
    plan : Plan
    recall, recall_error : float
        Share of the true neighbours found for a sample of the table's own rows, taken as new ones, and its standard
        error.
    """

    table: SearchedRows
    space: Space
    join: _core.CellJoin
    plan: Plan
    recall: float = 0.0
    recall_error: float = 0.0

    @classmethod
    def of(cls, table: SearchedRows, n_neighbors: int, *, target_recall: float, seed: int) -> _CellIndex | None:
        """Build the index for questions of n_neighbors; None if comparing with all rows costs less.

        Parameters
        ----------
        table : SearchedRows of n_samples rows
        n_neighbors : int in [1, n_samples - 1]
        target_recall : float in [0, 1]
            What the true recall reaches with a probability of about 95%.
        seed : int
            Decides cells and samples.
        """
        start = Start.of(table, n_neighbors, n_neighbors, target_recall, seed)
        if start is None:
            return None
        centres, n_threads = start.space.centres, current_run().n_threads
        homes = _core.nearest_rows(centres, start.coordinates, 1, n_threads)[0]
        members = group(homes[:, 0], len(centres))
        join = _core.CellJoin(start.coordinates, homes, *members, n_threads, start.space.rounded)
        plan, (choosing, judging) = start.find_plan(homes[:, 0], join)

        def recall(index: _CellIndex, sample: Sample) -> Estimate:
            found = index.find(table.take(sample.rows), n_neighbors + 1)
            return sample.recall(without_own(*found, sample.rows)[1])

        while plan is not None and plan.n_probes <= len(centres):
            index = cls(table, start.space, join, plan)
            if recall(index, choosing).value >= target_recall:
                judged = recall(index, judging)
                return replace(index, recall=float(judged.value), recall_error=float(judged.error))
            plan = start.effort.raised(plan)
        return None

    def find(self, queries: Any, n_neighbors: int) -> tuple[Indices, Distances]:
        """Return the neighbours of new rows, ascending by (distance, index)."""
        table, space = self.table, self.space
        coordinates = space.coordinates_of(table.proxy, table.proxy_of(queries))
        far = far_rows(coordinates)
        coordinates[far] = 0
        probes = _core.nearest_rows(space.centres, coordinates, self.plan.n_probes, current_run().n_threads)[0]
        order, offsets = group(probes[:, 0], len(space.centres))
        width = space.width(max(self.plan.n_candidates, n_neighbors), table.n_samples)
        candidates = self.join.find(coordinates, probes, order, offsets, width, current_run().n_threads)
        indices, distances = table.rank(candidates, n_neighbors, queries, order=order)
        short = np.flatnonzero((indices[:, -1] < 0) & ~far)
        if len(short):  # rows in cells with few members
            nobody: npt.NDArray[np.int32] = np.full(len(short), -1, np.int32)
            indices[short], distances[short] = table.scan(queries[short], nobody, n_neighbors)
        table.search_far(queries, far, indices, distances)
        return indices, distances


@dataclass(frozen=True)
class RowSearch:
    """A table made ready to be asked for the nearest of its rows.

    Attributes
    ----------
    method : {"exact", "cells", "scikit-learn", "precomputed"}
        How neighbours are found. The choice depends on the table alone, never on the rows that ask.
    recall : float in [0, 1]
        Share of the true neighbours found: 1.0 for exact methods, else estimated from some of the table's own rows,
        taken as new ones, that had no part in choosing how to search.
    recall_error : float in [0, 1]
        Standard error of this estimate, 0.0 for exact methods.
    n_neighbors : int
        Neighbours of a new row.
    """

    method: str
    recall: float
    recall_error: float
    n_neighbors: int
    _table: Any
    _metric: Any
    _metric_params: Mapping[str, Any] | None
    _search: SearchedRows | _CellIndex | None

    @classmethod
    @part("RowSearch")
    def of(
        cls,
        X_train: npt.NDArray[Any] | scipy.sparse.csr_array | scipy.sparse.csr_matrix,
        n_neighbors: int,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        method: str = "auto",
        target_recall: float = 0.98,
        many: bool = False,
        seed: int = 0,
    ) -> RowSearch:
        """Make a table ready.

        Parameters
        ----------
        X_train : ndarray of shape (n_samples, n_features) or CSR matrix
            The table searched; with metric="precomputed" only its number of rows counts.
        n_neighbors : int in [1, n_samples]
        metric : str or callable, default="euclidean"
            As for `compute_neighbors`; with "precomputed" new rows are their distances to the table's.
        metric_params : mapping, default=None
            Arguments of the metric: ``period`` of "periodic", or those of a scikit-learn metric or callable.
        method : {"auto", "exact", "approximate"}, default="auto"
            "exact" compares with all rows. "approximate" looks into the nearest cells, or compares with all rows where
            that costs less than the recall asked for. "auto" is exact up to `EXACT_FLOPS` = n_samples^2
            (n_features + 10), as the search among the table's own rows, unless `many` ask.
        target_recall : float in [0, 1], default=0.98
            Share of the true neighbours that an approximate search must find, reached with a probability of about 95%.
        many : bool, default=False
            Whether many rows are expected to ask, as where a map places a table. "auto" then looks into cells from
            10,000 dense rows on whose distances are Euclidean, and up to `EXACT_FLOPS` finds 0.999 of the neighbours at
            least. The rule hangs on the table alone, not on a call: a row finds the same whatever else is asked.
        seed : int in [0, 2**63), default=0
            Chooses the cells and the sample of an approximate search.

        Raises
        ------
        ValueError
            If `n_neighbors` exceeds n_samples or the metric is unknown.
        """
        given = {"n_neighbors": n_neighbors, "method": method, "target_recall": target_recall, "seed": seed}
        checked = check_parameters(_RULES, given)
        n_neighbors = checked["n_neighbors"]
        check_n_neighbors(n_neighbors, X_train.shape[0])
        if isinstance(metric, str) and metric == "precomputed":
            return cls("precomputed", 1.0, 0.0, n_neighbors, X_train.shape, metric, None, None)
        native = native_metric(metric, metric_params)
        if native is None:
            from gnomon.neighbors.library import learned_params

            params = learned_params(metric, metric_params, X_train)
            return cls("scikit-learn", 1.0, 0.0, n_neighbors, X_train, metric, params, None)
        table = native.searched(native.rows(X_train))
        cells, target = prefers_cells(method, table), checked["target_recall"]
        if not cells and many and method == "auto" and isinstance(table, Points) and table.n_samples >= _MANY_FROM:
            cells, target = True, max(target, _MANY_RECALL)
        if cells and n_neighbors < table.n_samples and target < 1.0:
            index = _CellIndex.of(table, n_neighbors, target_recall=target, seed=seed)
            if index is not None:
                return cls("cells", index.recall, index.recall_error, n_neighbors, X_train, native, None, index)
        return cls("exact", 1.0, 0.0, n_neighbors, X_train, native, None, table)

    @part("RowSearch")
    def find(
        self, X_new: npt.NDArray[Any] | scipy.sparse.csr_array | scipy.sparse.csr_matrix, n_neighbors: int | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the nearest rows of each new row.

        Parameters
        ----------
        X_new : ndarray of shape (n_new, n_features) or CSR matrix
            With metric="precomputed" distances of shape (n_new, n_samples).
        n_neighbors : int in [1, n_neighbors of the search], default=None
            Find fewer: the first ones of those that would be found. None for all.

        Returns
        -------
        indices : ndarray of shape (n_new, n_neighbors), int32
        distances : ndarray of shape (n_new, n_neighbors), float32
            Ascending by (distance, index); inf where distances given hold fewer. A row's result does not depend on the
            other new rows; through scikit-learn its distances do not up to rounding.

        Raises
        ------
        ValueError
            If the numbers of features differ.
        """
        n_features = self._table[1] if self.method == "precomputed" else self._table.shape[1]
        if X_new.shape[1] != n_features:
            raise ValueError(message(f"X_new with {X_new.shape[1]} features", f"of {n_features} features"))
        k = self.n_neighbors if n_neighbors is None else min(n_neighbors, self.n_neighbors)
        if X_new.shape[0] == 0:
            return np.empty((0, k), np.int32), np.empty((0, k), np.float32)
        if self.method == "precomputed":
            return nearest_given(X_new, k)
        if self._search is None:
            from gnomon.neighbors.library import library_query

            return library_query(self._table, X_new, k, self._metric, self._metric_params)
        queries = self._metric.rows(_like(X_new, self._table))
        if isinstance(self._search, _CellIndex):
            indices, distances = self._search.find(queries, k)
        else:
            indices, distances = self._search.nearest(queries, k)
        return indices, self._metric.distances(distances)


def _like(X_new: Any, table: Any) -> Any:
    """Return rows in the form and precision of a table."""
    if not isinstance(table, np.ndarray):
        return scipy.sparse.csr_array(X_new)
    rows = X_new if isinstance(X_new, np.ndarray) else X_new.toarray()
    return np.ascontiguousarray(rows, dtype=np.float32 if table.dtype == np.float32 else np.float64)


@entrance("query_neighbors")
def query_neighbors(
    X_train: npt.NDArray[Any] | scipy.sparse.csr_array | scipy.sparse.csr_matrix,
    X_new: npt.NDArray[Any] | scipy.sparse.csr_array | scipy.sparse.csr_matrix,
    n_neighbors: int,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
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
        Arguments of the metric: ``period`` of "periodic", or those of a scikit-learn metric or callable.

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
    table, rows = given_rows(X_train, name="X_train"), given_rows(X_new, name="X_new")
    search = RowSearch.of(table, n_neighbors, metric=metric, metric_params=metric_params, method="exact")
    return search.find(rows)
