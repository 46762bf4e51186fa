"""Methods that map the distinct rows of a table, and the neighbours that such a fit may share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon import neighbors, scale
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Either, Instance, Integer, Nothing, Rule, warn
from gnomon.data import (
    check_sample_weight,
    check_table,
    find_duplicate_rows,
    relative_masses,
    warn_of_distances,
    weights_that_count,
)
from gnomon.data.blocks import METRIC
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.methods.base import Embedder, WeighsRows, kind_of_table, stored_features
from gnomon.methods.parameters import check_start
from gnomon.optimizers.base import IN_PARTS_FROM

if TYPE_CHECKING:
    from gnomon.data import Table

__all__ = ["RowEmbedder", "SharedGraph"]


@dataclass
class SharedGraph:
    """Where a fit leaves the neighbours it found, for those who ask for `n_neighbors` of them later."""

    n_neighbors: int
    graph: neighbors.NeighborGraph | None = None


@dataclass(eq=False, repr=False)
class RowEmbedder(Embedder):
    """A method that maps the distinct rows of a table: rows that are equal share one position.

    A subclass is a dataclass of its parameters, n_components among them, declares rules for those it adds in
    ``_rules``, and computes the positions in ``_embed``. One that needs every row says so with
    ``_merges_equal_rows = False``.
    """

    _: KW_ONLY
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    random_state: RandomState = None
    n_jobs: int | None = None
    callback: Callback | None = None
    verbose: bool | int = False

    _merges_equal_rows: ClassVar[bool] = True
    _position_type: ClassVar[type] = np.float64
    _rules: ClassVar[dict[str, Rule]] = {}
    _common_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "metric": METRIC,
        "metric_params": Either(Instance((dict,), "a dict"), Nothing()),
    }

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: object = None) -> Self:
        """Compute the map of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers, or with metric="precomputed" the distances, shape (n_samples, n_samples).
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.

        Raises
        ------
        MemoryError
            If the method keeps all pairs of rows, or much of them, and there is less memory; before any work.
        ValueError
            If X, y or a parameter is refused, or going through all pairs would take more than three hours of one core.
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: object, sample_weight: Any) -> Self:
        """Compute the map of X, each row counted by its weight; None for 1."""
        rows, copies, parameters = self._begin(X, y, sample_weight)
        if self._one_place:
            positions = np.zeros((1, parameters["n_components"]), dtype=self._position_type)
        else:
            positions = self._embed(rows, parameters)
        self._finish(positions, copies)
        if parameters["present"] is not None:
            self._add_absent(parameters["values"], parameters["present"])
        return self

    def _begin(
        self, X: Any, y: object, sample_weight: Any = None
    ) -> tuple[Any, npt.NDArray[np.intp] | None, dict[str, Any]]:
        """Check table, target and parameters; return the distinct rows, the number of each row among them, parameters.

        The numbers are None where all rows are distinct.
        """
        given = check_table(X, accept_sparse=True, min_samples=2, keep_zeros=self._takes_distances)
        if not self._takes_distances and not current_run().within:
            warn_of_distances(given.values)
        parameters = self._check_parameters()
        weights = weights_that_count(check_sample_weight(sample_weight, given.values))
        target = self._check_target(y, given.values)
        if isinstance(parameters.get("init", ""), (np.ndarray, list, tuple)):
            shape = (int(given.values.shape[0]), parameters["n_components"])
            parameters["init"] = check_start(parameters["init"], shape)
        present = None if weights is None or weights.all() else np.flatnonzero(weights)
        table = given if present is None else self._rows_present(given, present, parameters)
        if weights is not None and present is not None:
            weights, target = weights[present], None if target is None else target.of_rows(present)
        self.seed_ = current_run().seed
        self._remember_features(table)
        counted = self._counts_rows(parameters, weights)
        rows, copies = self._distinct_rows(table.values, parameters, counted=counted)
        if target is not None and copies is not None:
            target = target.of_distinct_rows(copies)
        masses = relative_masses(weights, copies, int(rows.shape[0])) if counted else None
        parameters["target"], parameters["masses"] = target, masses
        self._masses = masses
        parameters["present"], parameters["values"], parameters["sample_weight"] = present, given.values, weights
        self._weighted = weights is not None
        n_distinct = int(rows.shape[0])
        parameters |= kind_of_table(rows)
        if n_distinct > 1 and (forecast := self._forecast(n_distinct, stored_features(self, rows), parameters)):
            forecast.with_reserve().check(n_distinct)
        self._one_place = rows.shape[0] == 1
        return rows, copies, parameters

    def _finish(self, positions: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None) -> Self:
        """Keep the positions of the distinct rows, for all rows."""
        reporter = current_run().reporter
        reporter.end()
        self.timings_ = reporter.timings
        self.embedding_ = positions if copies is None else positions[copies]
        self._repeat(copies)
        return self

    def _counts_rows(self, parameters: dict[str, Any], weights: npt.NDArray[np.float64] | None) -> bool:
        """Say whether rows count by weight and number, or raise ValueError if weights are given and they do not."""
        return isinstance(self, WeighsRows)

    def _rows_present(self, given: Table, present: npt.NDArray[np.intp], parameters: dict[str, Any]) -> Table:
        """Return the rows of positive weight; those of weight 0 take no part in the fit."""
        if isinstance(parameters.get("init"), np.ndarray):
            parameters["init"] = parameters["init"][present]
        values = given.values[present]
        if self._takes_distances:
            values = values[:, present]
            values = np.ascontiguousarray(values) if isinstance(values, np.ndarray) else values
        return replace(given, values=values, index=None if given.index is None else given.index[present])

    def _add_absent(self, values: Any, present: npt.NDArray[np.intp]) -> None:
        """Place rows of weight 0 as new ones, so that all rows have a position."""
        absent = np.setdiff1d(np.arange(values.shape[0]), present)
        rows = values[absent]
        if self._takes_distances:
            rows = rows[:, present]
        fitted = self.embedding_
        places = np.empty((values.shape[0], fitted.shape[1]), dtype=fitted.dtype)
        places[present], places[absent] = fitted, self.transform(rows)
        self.embedding_, self._present = places, present

    def fit_sharing_graph(
        self, X: Any, n_neighbors: int, y: Any = None, sample_weight: Any = None
    ) -> neighbors.NeighborGraph | None:
        """Fit, and return the neighbours that the fit searched for, more of them than it used if that is free.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            As for `fit`; the map is the same.
        n_neighbors : int
            Neighbours that others will ask for.
        y : array-like of n_samples values or None, default=None
            As for `fit`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            As for `fit_transform`.

        Returns
        -------
        NeighborGraph or None
            Of the rows that were searched: distinct ones only if X holds equal rows, of fewer features if the method
            looks for neighbours there. None if the method searched for none.
        """
        self._shared = SharedGraph(n_neighbors)
        try:
            self.fit(X, y, **self._weighing(sample_weight))
            return self._shared.graph
        finally:
            del self._shared

    def _repeat(self, copies: npt.NDArray[np.intp] | None) -> None:
        """Give all rows what was learned of the distinct ones, `copies` of them; None if all are distinct."""

    def _distinct_rows(
        self, values: Any, parameters: dict[str, Any], *, counted: bool
    ) -> tuple[Any, npt.NDArray[np.intp] | None]:
        if parameters["metric"] == "precomputed" or not self._merges_equal_rows:
            return values, None
        representatives, copies = find_duplicate_rows(values)
        n_distinct = len(representatives)
        if n_distinct == values.shape[0]:
            return values, None
        warn(
            f"{values.shape[0]:,} rows hold {n_distinct:,} distinct "
            f"row{'s' if n_distinct > 1 else ''}; equal rows share one position"
            f"{', which counts for all of them' if counted else ''}.",
            DataWarning,
        )
        if isinstance(parameters.get("init"), np.ndarray):
            parameters["init"] = parameters["init"][representatives]
        distinct = values[representatives]
        neighbors.count_merged_zeros(distinct, copies)
        return distinct, copies

    def _all_rules(self) -> Mapping[str, Rule]:
        return {**self._common_rules, **self._rules}

    @abstractmethod
    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        """Return the positions of the rows of X, two at least, distinct if equal ones are merged."""

    def _find_neighbors(self, X: Any, wanted: int, parameters: dict[str, Any]) -> neighbors.NeighborGraph:
        """Return the graph of the wanted number of neighbours, or of all others, with a warning, if there are fewer."""
        reporter = current_run().reporter
        possible = int(X.shape[0]) - 1
        if wanted > possible:
            warn(
                f"{wanted} neighbours were asked for and a row has only {possible} others; {possible} are used.",
                NeighborsWarning,
            )
        reporter.begin("neighbors", int(X.shape[0]))
        return self._search_neighbors(X, min(wanted, possible), parameters)

    def _search_neighbors(self, X: Any, n_neighbors: int, parameters: dict[str, Any]) -> neighbors.NeighborGraph:
        """Return the graph, searched for by the workers of the run where they find the same and many rows ask."""
        keep = 0 if self._shared is None else self._shared.n_neighbors
        large = X.shape[0] >= IN_PARTS_FROM
        shared = large and not isinstance(scale.current_executor(), scale.LocalExecutor)
        if shared and scale.as_in_memory(X, parameters["metric"]):
            from gnomon.data.stored import ArrayTable

            graph = scale.neighbors_by_blocks(ArrayTable(X), n_neighbors, keep=keep, seed=self.seed_)
        else:
            graph = neighbors.compute_neighbors(
                X,
                n_neighbors,
                metric=parameters["metric"],
                metric_params=parameters["metric_params"],
                keep=keep,
                seed=self.seed_,
                reporter=current_run().reporter,
            )
        if self._shared is not None:
            self._shared.graph = graph
        return graph.nearest(n_neighbors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._takes_distances
        return tags
