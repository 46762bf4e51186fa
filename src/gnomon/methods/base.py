"""What all methods share: fitting from a table through the rooms, as scikit-learn estimators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon._progress import Callback, Reporter
from gnomon._random import RandomState, resolve_seed
from gnomon._threads import resolve_n_threads
from gnomon._validation import Either, Instance, Integer, Nothing, Rule, check_parameters
from gnomon.affinities import Affinities, fuzzy_simplicial_set
from gnomon.data import check_table, find_duplicate_rows
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.initialization import initialize
from gnomon.methods.parameters import INIT, METRIC, check_start
from gnomon.neighbors import NeighborGraph, compute_neighbors

if TYPE_CHECKING:
    from gnomon.data import Table
    from gnomon.objectives import Objective
    from gnomon.optimizers import Solution

__all__ = ["Embedder", "Inputs", "NeighborEmbedder", "Recipe"]


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A method as a scikit-learn estimator: it learns from a table and remembers its features."""

    def _remember_features(self, table: Table) -> None:
        self.n_features_in_ = int(table.values.shape[1])
        if table.feature_names is not None:
            self.feature_names_in_ = np.asarray(table.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class Inputs:
    """What an affinity is made from.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The distinct rows, or their distances with metric="precomputed".
    graph : NeighborGraph or None
        Their neighbours, None if the method asked for none.
    seed, n_threads : int
    """

    X: Any
    graph: NeighborGraph | None
    seed: int
    n_threads: int

    @property
    def neighbors(self) -> NeighborGraph:
        """The graph of a method that asked for one."""
        assert self.graph is not None
        return self.graph


@dataclass(frozen=True)
class Recipe:
    """The choices that make a neighbour embedding, given the number of distinct rows.

    Attributes
    ----------
    n_neighbors : int
        Neighbours the affinity needs; 0 for none.
    affinity : callable
        Inputs -> Affinities, or what else the objective takes.
    rescale : callable
        Start positions -> start positions at the scale the method wants.
    objective : callable
        (affinities, inputs) -> Objective, which holds kernel, loss and evaluation.
    optimizer : object with minimize(objective, embedding, reporter=...) -> Solution
    reduce : callable or None, default=None
        (rows, seed, n_threads) -> rows of fewer features, in which the distances are taken.
    """

    n_neighbors: int
    affinity: Callable[[Inputs], Any]
    rescale: Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]
    objective: Callable[[Any, Inputs], Objective]
    optimizer: Any
    reduce: Callable[[Any, int, int], Any] | None = None


@dataclass(eq=False, repr=False)
class NeighborEmbedder(Embedder):
    """A method that turns rows into affinities and moves points until attraction and repulsion balance.

    A subclass is a dataclass of its parameters, n_components among them, declares rules for those it adds in
    ``_rules``, and returns its `Recipe`; everything else is here.

    Rows that are equal share one position: the distinct rows are embedded and the copies placed on them.
    """

    _: KW_ONLY
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    init: Any = "pca"
    random_state: RandomState = None
    n_jobs: int | None = None
    callback: Callback | None = None

    _rules: ClassVar[dict[str, Rule]] = {}
    _common_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "metric": METRIC,
        "metric_params": Either(Instance((dict,), "a dict"), Nothing()),
        "init": INIT,
    }

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        raise NotImplementedError

    def fit(self, X: Any, y: object = None) -> Self:
        """Compute the map of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers, or with metric="precomputed" the distances, shape (n_samples, n_samples).
        y : ignored

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.
        """
        who = type(self).__name__
        distances = isinstance(self.metric, str) and self.metric == "precomputed"  # where a stored zero means "equal"
        table = check_table(X, who=who, accept_sparse=True, min_samples=2, keep_zeros=distances)
        parameters = check_parameters(who, {**self._common_rules, **self._rules}, self.get_params())
        n_threads = resolve_n_threads(self.n_jobs, who=who)
        self.seed_ = resolve_seed(self.random_state, who=who)
        self._remember_features(table)
        reporter = Reporter(self.callback)
        if not isinstance(parameters["init"], str):
            shape = (int(table.values.shape[0]), parameters["n_components"])
            parameters["init"] = check_start(who, parameters["init"], shape).astype(np.float32)
        rows, copies = self._distinct_rows(table.values, parameters)
        positions = self._embed(rows, parameters, n_threads, reporter)
        reporter.end()
        self.timings_ = reporter.timings
        self.embedding_ = positions if copies is None else positions[copies]
        return self

    def fit_transform(self, X: Any, y: object = None) -> npt.NDArray[np.float32]:
        """Compute the map of X and return it, ``embedding_`` of shape (n_samples, n_components), float32."""
        return self.fit(X).embedding_

    def _distinct_rows(self, values: Any, parameters: dict[str, Any]) -> tuple[Any, npt.NDArray[np.intp] | None]:
        if parameters["metric"] == "precomputed":
            return values, None
        representatives, copies = find_duplicate_rows(values)
        n_distinct = len(representatives)
        if n_distinct == values.shape[0]:
            return values, None
        warnings.warn(
            f"{type(self).__name__}: {values.shape[0]} rows hold {n_distinct} distinct "
            f"row{'s' if n_distinct > 1 else ''}; equal rows share one position.",
            DataWarning,
            stacklevel=4,
        )
        if not isinstance(parameters["init"], str):
            parameters["init"] = parameters["init"][representatives]
        return values[representatives], copies

    def _embed(self, X: Any, parameters: dict[str, Any], n_threads: int, reporter: Reporter) -> npt.NDArray[np.float32]:
        n_samples, n_components = int(X.shape[0]), parameters["n_components"]
        if n_samples == 1:
            return np.zeros((1, n_components), dtype=np.float32)
        recipe = self._recipe(parameters, n_samples)
        if recipe.reduce is not None:
            reporter.begin("reduction")
            X = recipe.reduce(X, self.seed_, n_threads)
        graph = self._find_neighbors(X, recipe, parameters, n_threads, reporter) if recipe.n_neighbors else None
        if graph is not None:
            self.graph_ = (
                graph if recipe.reduce is None else replace(graph, metric=f"{graph.metric}, {X.shape[1]} features")
            )
        inputs = Inputs(X, graph, self.seed_, n_threads)
        reporter.begin("affinities")
        self.affinities_ = recipe.affinity(inputs)
        reporter.begin("initialization")
        start = initialize(
            parameters["init"],
            X=None if parameters["metric"] == "precomputed" else X,
            affinities=self._start_affinities(inputs, parameters),
            n_components=n_components,
            seed=self.seed_,
            n_threads=n_threads,
            who=type(self).__name__,
        )
        self.init_ = start.kind
        given = not isinstance(self.init, str)
        reporter.begin("layout", recipe.optimizer.max_iter)
        objective = recipe.objective(self.affinities_, inputs)
        first = start.embedding if given else recipe.rescale(start.embedding)
        solution: Solution = recipe.optimizer.minimize(objective, first, reporter=reporter)
        self.solution_, self.n_iter_ = solution, solution.n_iter
        self.evaluation_ = objective.evaluation_for(n_components)
        return np.asarray(solution.embedding, dtype=np.float32)

    def _start_affinities(self, inputs: Inputs, parameters: dict[str, Any]) -> Affinities | None:
        """Return affinities for a spectral start, or for any start without a table: the method's, if symmetric."""
        if isinstance(self.affinities_, Affinities) and self.affinities_.normalization != "rows":
            return self.affinities_
        wanted = isinstance(self.init, str) and self.init == "spectral"
        if inputs.graph is None or not (wanted or parameters["metric"] == "precomputed"):
            return None
        return fuzzy_simplicial_set(inputs.graph, n_threads=inputs.n_threads)

    def _find_neighbors(
        self, X: Any, recipe: Recipe, parameters: dict[str, Any], n_threads: int, reporter: Reporter
    ) -> NeighborGraph:
        wanted, possible = recipe.n_neighbors, int(X.shape[0]) - 1
        if wanted > possible:
            warnings.warn(
                f"{type(self).__name__}: {wanted} neighbours were asked for and a row has only {possible} others; "
                f"{possible} are used.",
                NeighborsWarning,
                stacklevel=5,
            )
        reporter.begin("neighbors", int(X.shape[0]))
        return compute_neighbors(
            X,
            min(wanted, possible),
            metric=parameters["metric"],
            metric_params=self.metric_params,
            seed=self.seed_,
            n_threads=n_threads,
            reporter=reporter,
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
