"""Trials: maps of one table by several methods, from one search for neighbours, each judged by the same scorecard."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import methods as catalogue
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import Integer, Options, check_parameters, message, warn, warning_once
from gnomon.data import check_labels, check_table, find_duplicate_rows
from gnomon.data.names import default_names
from gnomon.data.scaling import choose_scaling
from gnomon.evaluation import Scorecard, scorecard
from gnomon.evaluation.anchors import choose_anchors
from gnomon.exceptions import DataWarning
from gnomon.neighbors import NeighborGraph, check_metric, compute_neighbors, metric_name, native_metric
from gnomon.neighbors.column_halves import warn_of_hiding_columns

if TYPE_CHECKING:
    from gnomon.comparison.given import Given

__all__ = ["SEEDS", "Request", "Trial", "Trials", "neighbors_of", "requests_of"]

_PER_PERPLEXITY = 3.0  # neighbours for each unit of perplexity, as the methods themselves choose
SEEDS = 2**31
"""Seeds of maps are below this, which other libraries take too."""


@dataclass(frozen=True)
class Request:
    """A map to be made: a method's name in `gnomon.methods.METHODS` and what is not its default, under a label."""

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    n_components: int = 2
    label: str = ""

    @property
    def name(self) -> str:
        """Both in words, such as "umap, n_neighbors=5"."""
        return ", ".join([self.label or self.method, *(f"{key}={value}" for key, value in self.parameters.items())])

    def estimator(self, **settings: Any) -> Any:
        """Return the estimator, not fitted."""
        return _class_of(self.method)(n_components=self.n_components, **settings, **self.parameters)

    @property
    def takes_metric(self) -> bool:
        """Whether the method compares rows by a metric."""
        return "metric" in _class_of(self.method)().get_params()

    def in_metric(self, metric: str) -> Request:
        """Return the request with a metric, where it names none and the method takes one."""
        if metric == "euclidean" or "metric" in self.parameters or not self.takes_metric:
            return self
        return replace(self, parameters={**self.parameters, "metric": metric})

    def taken(self, parameter: str, value: Any, n_samples: int) -> Any:
        """Return what a fit of so many rows takes for the value of a parameter: a number for no perplexity."""
        if parameter != "perplexity" or value is not None:
            return value
        return _usual(_class_of(self.method)(), n_samples)

    def default(self, parameter: str, n_samples: int) -> Any:
        """Return what a fit of so many rows takes for a parameter that is left out."""
        return self.taken(parameter, _class_of(self.method)().get_params()[parameter], n_samples)

    def n_neighbors(self, n_samples: int, metric: str = "euclidean") -> int | None:
        """Return the neighbours that it looks for in so many rows where a graph by a metric can serve it, else None."""
        return neighbors_of(self.estimator(), self.parameters.get("metric", metric), n_samples, metric)


@dataclass(frozen=True, eq=False)
class Trial(ShortRepr):
    """A map that was made and judged.

    Attributes
    ----------
    name : str
        Method and parameters in words.
    method : str
        As in `gnomon.methods.METHODS`, or the class of an estimator that was given.
    parameters : dict of str to object
        Those that were asked for; the others are the method's defaults.
    embedding : ndarray of shape (n_samples, n_components), float32
        Of the first seed.
    scorecard : Scorecard
        Of the first seed.
    values : dict of str to ndarray of shape (n_seeds,), float64
        The measures for each seed that the map was made with.
    seconds : float
        Of the fit with the first seed, the search for neighbours apart.
    """

    name: str
    method: str
    parameters: dict[str, Any]
    embedding: npt.NDArray[np.float32] = field(repr=False)
    scorecard: Scorecard = field(repr=False)
    values: dict[str, npt.NDArray[np.float64]] = field(repr=False)
    seconds: float

    @property
    def n_seeds(self) -> int:
        """Seeds that the map was made with."""
        return max(len(found) for found in self.values.values())

    @property
    def scores(self) -> dict[str, float]:
        """The measures: means over the seeds."""
        return {name: float(found.mean()) for name, found in self.values.items()}

    @property
    def noise(self) -> dict[str, float]:
        """Standard deviations of the measures over the seeds; nan of a single one."""
        return {name: float(np.std(v, ddof=1)) if len(v) > 1 else math.nan for name, v in self.values.items()}


def neighbors_of(estimator: Any, own_metric: Any, n_samples: int, metric: str) -> int | None:
    """Return the neighbours that an estimator looks for in so many rows where a graph can serve it, else None.

    Parameters
    ----------
    estimator : Embedder
    own_metric : str, callable or None
        In which it compares rows.
    n_samples : int
    metric : str
        Of the graph.
    """
    given = estimator.get_params(deep=False)
    if "precomputed_knn" not in given or metric_name(own_metric, given.get("metric_params")) != metric:
        return None
    wanted = given.get("n_neighbors")
    if wanted is None and "perplexity" in given:
        perplexity = given["perplexity"]
        wanted = math.floor(_PER_PERPLEXITY * (_usual(estimator, n_samples) if perplexity is None else perplexity))
    return None if wanted is None else int(wanted)


def _usual(estimator: Any, n_samples: int) -> float:
    """Return the perplexity that a method takes for so many rows unless one is given."""
    found: float = estimator._usual_perplexity(n_samples)
    return found


def _class_of(method: str) -> Any:
    card = catalogue.find_method(method)
    assert card is not None  # checked by requests_of
    return getattr(catalogue, card.estimator)


def requests_of(
    methods: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None,
    n_components: int,
    *,
    others: bool = False,
) -> list[Request]:
    """Return every map that is asked for: of each method all combinations of the values of its parameters.

    Parameters
    ----------
    methods : sequence of str
    parameters : mapping of method to mapping of parameter to value, or to a list or tuple of values; or None
    n_components : int
        Of all maps.
    others : bool, default=False
        Whether estimators are mapped by as well, so that there may be no names.
    """
    names = [methods] if isinstance(methods, str) else list(methods)
    if not (names or others) or len(set(names)) < len(names):
        fact = "it is empty" if not names else "one comes twice"
        raise ValueError(message("methods", "at least one name, each once", fact=fact))
    for name in names:
        check_parameters({"methods": Options(*(card.name for card in catalogue.METHODS))}, {"methods": name})
    grids = dict(parameters or {})
    for name, grid in grids.items():
        if name not in names:
            rule = f"of one of the methods, {', '.join(names)}" if names else "left out beside estimators"
            raise ValueError(message(f"parameters of {name!r}", rule))
        known = _class_of(name)().get_params()
        for key in grid:
            if key not in known or key in ("n_components", "random_state", "n_jobs", "callback"):
                raise ValueError(
                    message(f"parameters[{name!r}][{key!r}]", f"a parameter of {name} in which maps may differ")
                )
    found = []
    for name in names:
        grid = {key: list(v) if isinstance(v, (list, tuple)) else [v] for key, v in grids.get(name, {}).items()}
        found += [
            Request(name, dict(zip(grid, values, strict=True)), n_components) for values in product(*grid.values())
        ]
    return found


class Trials:
    """Makes and judges maps of one table.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,) or None
        Seen by the measures of labels alone.
    metric : str
        In which maps are made where the method takes one, and judged.
    scale : {"auto", "standard", "robust"} or None
        As for `gnomon.map`.
    n_neighbors : int or None
        Of the measures.
    measures : sequence of str
    n_seeds : int
        Fits of each map, if not said otherwise.
    n_pairs : int, default=2_000_000
        Of the measures.
    max_rows : int or None, default=None
        Rows of a random sample that stands for longer tables.

    Attributes
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        The table as it is mapped and judged.
    rows : ndarray of shape (n_samples,), int64
        Which rows of the table these are, ascending.
    n_given : int
        Rows of the table.
    as_given : bool
        Whether the columns stay in their own units because nothing told that these are unlike.
    graph_neighbors : int
        Neighbours of the graph that maps share; 0 if none does, or rows are equal.
    """

    def __init__(
        self,
        X: Any,
        *,
        labels: Any,
        metric: str = "euclidean",
        scale: Any,
        n_neighbors: int | None,
        measures: str | Sequence[str],
        n_seeds: int,
        n_pairs: int = 2_000_000,
        max_rows: int | None = None,
    ) -> None:
        self.n_seeds = check_parameters({"n_seeds": Integer(1)}, {"n_seeds": n_seeds})["n_seeds"]
        table = check_table(X, accept_sparse=True)
        names = table.feature_names or default_names(table.n_features)
        self.metric = _checked_metric(metric, is_sparse=table.is_sparse)
        scaling, unlike, _ = choose_scaling(table.values, scale, names=names, metric=self.metric)
        if unlike and scaling is not None:
            warn(
                f"{unlike}: all columns are standardised. Pass scale=None to map them in their own units.", DataWarning
            )
        self.as_given = scaling is None and scale == "auto" and not unlike
        if self.as_given:
            warn_of_hiding_columns(table.values, names, self.metric)
        scaled = table.values if scaling is None else scaling.apply(table.values)
        labels = None if labels is None else check_labels(labels, table.n_samples)
        self.n_given = table.n_samples
        self.rows = choose_anchors(self.n_given, max_rows or self.n_given, current_run().seed)
        self.n_samples = len(self.rows)
        whole = self.n_samples == self.n_given
        self.values = scaled if whole else scaled[self.rows]
        self.labels = labels if whole or labels is None else labels[self.rows]
        self.n_neighbors, self.measures, self.n_pairs = n_neighbors, measures, n_pairs
        self.graph_neighbors = 0
        self._graph: NeighborGraph | None = None
        self._made: dict[tuple[str, int], Trial] = {}
        self._told = set[str]()

    def share(self, requests: Sequence[Request | Given]) -> None:
        """Search once for the neighbours of all these maps."""
        wanted = [one.n_neighbors(self.n_samples, self.metric) or 0 for one in requests]
        most = max((k for k in wanted if k < self.n_samples), default=0)
        if most <= self.graph_neighbors or len(find_duplicate_rows(self.values)[0]) < self.n_samples:
            return  # equal rows share a place, and neighbours are then those of the distinct rows
        self._graph = compute_neighbors(self.values, most, metric=self.metric, seed=current_run().seed)
        self.graph_neighbors = most

    def make(self, requests: Sequence[Request | Given], n_seeds: int | None = None) -> list[Trial]:
        """Make and judge maps with the first so many seeds, each only once."""
        self.share(requests)
        wanted = n_seeds or self.n_seeds
        reporter = current_run().reporter
        total = len(requests)
        reporter.begin("maps", total)
        for done, request in enumerate(requests):
            key = (request.name, request.n_components)
            for repeat in range(self._made[key].n_seeds if key in self._made else 0, wanted):
                self._made[key] = self._made_again(request, repeat, self._made.get(key))
            reporter.update(done + 1, total)
        reporter.end()
        return [self._made[one.name, one.n_components] for one in requests]

    def held_out_trust(self, request: Request, n_seeds: int) -> npt.NDArray[np.float64]:
        """Return the trustworthiness that a scorecard tells by itself, for seeds that nothing was compared by."""
        seeds = [(current_run().seed + self.n_seeds + k) % SEEDS for k in range(n_seeds)]
        cards = [self._judge(self._fit(request, seed), "trustworthiness", 1, None) for seed in seeds]
        return np.array([card["trustworthiness"].value for card in cards])

    def _judge(
        self, Y: npt.NDArray[np.float32], measures: str | Sequence[str], n_pairs: int, n_neighbors: int | None
    ) -> Scorecard:
        run = current_run()
        return scorecard(
            self.values,
            Y,
            self.labels,
            n_neighbors=n_neighbors,
            measures=measures,
            metric=self.metric,
            n_pairs=n_pairs,
            random_state=run.seed,
            n_jobs=run.n_threads,
        )

    def _made_again(self, request: Request | Given, repeat: int, before: Trial | None) -> Trial:
        """Return the trial with one more seed."""
        began = time.perf_counter()
        Y = self._fit(request, (current_run().seed + repeat) % SEEDS)
        seconds = time.perf_counter() - began
        if before is not None and np.array_equal(Y, before.embedding):  # nothing is random: neither are the scores
            return replace(before, values={name: np.append(v, v[0]) for name, v in before.values.items()})
        card = self._judge(Y, self.measures, self.n_pairs, self.n_neighbors)
        if before is not None:
            return replace(before, values={name: np.append(v, card[name].value) for name, v in before.values.items()})
        values = {name: np.array([one.value]) for name, one in card.items()}
        return Trial(request.name, request.method, dict(request.parameters), Y, card, values, seconds)

    def _fit(self, request: Request | Given, seed: int) -> npt.NDArray[np.float32]:
        estimator = request.in_metric(self.metric).estimator(random_state=seed, n_jobs=current_run().n_threads)
        needed = request.n_neighbors(self.n_samples, self.metric)
        if needed is not None and self._graph is not None and needed <= self.graph_neighbors:
            estimator.set_params(precomputed_knn=self._graph)
        with warning_once(self._told):
            made = np.asarray(estimator.fit_transform(self.values), dtype=np.float32)
        shape = (self.n_samples, request.n_components)
        if made.shape != shape:
            rule = f"of shape {shape}, as of all maps"
            raise ValueError(message(f"map by {request.name} of shape {made.shape}", rule))
        return made


def _checked_metric(metric: object, *, is_sparse: bool) -> str:
    """Return the name that says all about a metric of rows, or raise an error about it."""
    name = metric_name(metric) if isinstance(metric, str) else None
    if name is None or name == "precomputed":
        rule = "the name of a metric between rows of features, such as 'cosine' or 'periodic(360)'"
        raise ValueError(message(f"metric={metric!r:.60}", rule, remedy="Compare maps of distances with evaluate."))
    if native_metric(name) is None:
        check_metric(name, is_sparse)
    return name
