"""Methods that move points until attraction and repulsion balance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon import extension, initialization, neighbors, objectives
from gnomon._costs import Cost, returned_late
from gnomon._run import current_run
from gnomon._validation import Rule, message, warn
from gnomon.affinities import Affinities, Inputs, RowsByMass, fuzzy_simplicial_set
from gnomon.exceptions import ConvergenceWarning
from gnomon.linalg.principal.scatter import centring_memory, centring_seconds
from gnomon.methods.base import Differentiable, PlacesRows
from gnomon.methods.forecast import FEWER_ROWS, JOINED_IN_PARTS, Forecast, dense_eigenvectors_memory
from gnomon.methods.given_neighbors import GraphEmbedder
from gnomon.methods.neighbor.anchors import (
    ANCHOR_WEIGHT,
    ANCHORS,
    check_anchors,
    join_terms,
    of_distinct_rows,
    start_at_anchors,
)
from gnomon.methods.neighbor.first_phase import warn_of_first_phase
from gnomon.methods.parameters import INIT
from gnomon.neighbors.circles import on_circles

if TYPE_CHECKING:
    from gnomon.data import Table
    from gnomon.extension import AffineAtlas, RowPlacement
    from gnomon.extension.sensitivity import DataLoss
    from gnomon.initialization import Initialization
    from gnomon.objectives import Objective
    from gnomon.optimizers import Solution
    from gnomon.surfaces import Surface

__all__ = ["Inputs", "NeighborEmbedder", "Prepared", "Recipe", "is_wanted"]

_REUSED = 0.25  # share of the memory of a reduction that what follows takes again
_WIDE = 100.0  # standard deviation of a start beyond which no finished map of 10,000 rows lies; it grows as their root
_LEFT = 1.2e7  # bytes of small arrays at most that stay with the process


@dataclass(frozen=True)
class Recipe:
    """The choices that make a neighbour embedding, given the number of distinct rows.

    Attributes
    ----------
    n_neighbors : int
        Neighbours the affinity needs; 0 for none.
    affinity : callable
        Inputs -> Affinities, or what else the objective takes. One with ``new_rows(inputs)`` weighs the neighbours of
        new rows, see `gnomon.affinities.NeighborAffinity`.
    rescale : callable
        Start positions -> start positions at the scale the method wants.
    objective : callable
        (affinities, inputs) -> Objective, which holds kernel, loss and evaluation.
    optimizer : object with minimize(objective, embedding, reporter=...) -> Solution
    reduce : callable or None, default=None
        (rows, seed) -> rows of fewer features, in which the distances are taken.
    placement : callable or None, default=None
        (inputs, objective, embedding) -> class of the placement of new rows, or None if they cannot be placed. None
        places them by the affinity and the objective.
    surface : Surface or None, default=None
        What the map lies on; None for flat space. The optimizer then is one of points on a surface.
    """

    n_neighbors: int
    affinity: Callable[[Inputs], Any]
    rescale: Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]
    objective: Callable[[Any, Inputs], Objective]
    optimizer: Any
    reduce: Callable[[Any, int], Any] | None = None
    placement: Callable[[Inputs, Any, npt.NDArray[np.float32]], Callable[..., RowPlacement] | None] | None = None
    surface: Surface | None = None


@dataclass(frozen=True)
class Prepared:
    """What a map is made of, before the first point moves.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features)
        The distinct rows.
    recipe : Recipe
    inputs : Inputs
        The rows as they are compared, and their neighbours.
    parameters : dict
        Checked.
    """

    rows: Any
    recipe: Recipe
    inputs: Inputs
    parameters: dict[str, Any]


@dataclass(eq=False, repr=False)
class NeighborEmbedder(PlacesRows, GraphEmbedder, Differentiable):
    """A method that turns rows into affinities and moves points until attraction and repulsion balance.

    A subclass is a dataclass of its parameters and returns its `Recipe`; everything else is here.

    Parameters
    ----------
    anchors : array-like of shape (n_samples, n_components), dict or None, default=None
        Positions that rows are held near, in units of the map: NaN in all of a row that is free, or a dict from the
        number of a row, counted from 0, to its position. Rows that are equal share the mean of their anchors. A named
        start is turned, reflected, moved and scaled to the anchors, and anchored rows start at theirs; a start that is
        given is taken as it is. How far rows come to lie from their anchors is ``anchor_distances_``, NaN where a row
        is free.
    anchor_weight : float >= 0 or inf, default=0.1
        Stiffness of the springs from anchored rows to their anchors: weight times the mean sum of a row's affinities
        times the squared distance, in units of the map, joins the loss. At 1 a spring as long as a unit pulls as hard
        as all neighbours of a row can by the kernel of t-SNE, so no row rests farther than about 1 / anchor_weight
        from its anchor there. With inf the rows lie exactly at their anchors, and only the others move.
    """

    _: KW_ONLY
    init: Any = "pca"
    anchors: Any = None
    anchor_weight: float = 0.1

    _position_type: ClassVar[type] = np.float32
    _common_rules: ClassVar[dict[str, Rule]] = {
        **GraphEmbedder._common_rules,
        "init": INIT,
        "anchors": ANCHORS,
        "anchor_weight": ANCHOR_WEIGHT,
    }

    _stages: ClassVar[Mapping[str, Cost]] = {}  # what stages after the search take; empty where that is not known

    _leaves: ClassVar[float] = 0.0  # bytes of affinities for each neighbour that stay with the process, up to 12 MB

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        raise NotImplementedError

    def _n_searched(self, parameters: dict[str, Any], n_samples: int) -> int:
        """Return how many neighbours are searched, as the recipe asks for them."""
        return int(parameters.get("n_neighbors") or 0)

    def _stages_of(self, parameters: dict[str, Any], n_neighbors: int) -> Mapping[str, Cost]:
        """Return what stages after the search of so many neighbours take."""
        return self._stages

    def _share_of_edges(self, n_features: float) -> float:
        """Return the edges of a table of so many features, relative to those that `_stages` is for."""
        return 1.0

    def _sums_memory(self, parameters: dict[str, Any], n_samples: int) -> float:
        """Return the bytes that the sums over pairs of the layout take beside the affinities."""
        return 0.0

    def _n_reduced(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> float:
        """Return in how many features neighbours are searched."""
        return n_features

    def _n_compared(self, parameters: dict[str, Any], n_samples: int) -> int:
        return min(self._n_searched(parameters, n_samples), n_samples - 1)

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        k = self._n_compared(parameters, n_samples)
        stages = self._stages_of(parameters, k)
        if not stages:
            return None
        width = self._n_reduced(n_samples, n_features, parameters)
        reduced, left = 0.0, 0.0  # bytes: rows of fewer features, and what was freed but stays with the process
        free = 0.0  # bytes of the latter that what follows may take
        peaks: dict[str, float] = {}
        columns = parameters["n_varying" if n_features == width or width < parameters["n_varying"] else "n_columns"]
        centring = centring_memory(n_samples, columns, parameters["itemsize"])
        if width != n_features:
            reduced, left = 4.0 * n_samples * width, centring
            peaks["reduction"] = reduced + left
            centring = centring_memory(n_samples, width)
        if parameters["metric"] == "precomputed" or parameters["precomputed_knn"] is not None:
            peaks["neighbors"] = 8.0 * n_samples * k
        else:
            kept, shared = self._n_kept(k, n_samples), parameters["n_shared"]
            shared = None if reduced else shared
            search = neighbors.search_memory(n_samples, width, kept, n_columns=parameters["n_columns"], n_shared=shared)
            after = neighbors.memory_after_search(n_samples, width, kept)
            peaks["neighbors"] = reduced + left + max(0.0, search - _REUSED * left)
            left += max(0.0, after - _REUSED * left)
            free = neighbors.memory_taken_again(n_samples, width, kept)
        init = parameters["init"] if isinstance(parameters["init"], str) else "given"
        for name, cost in stages.items():
            joined = k * self._share_of_edges(width)
            needed = cost.of(n_samples, width, joined)
            if name == "affinities":
                needed = min(needed, JOINED_IN_PARTS.of(n_samples, width, joined))
            elif name == "initialization" and init == "spectral":
                needed += dense_eigenvectors_memory(n_samples)
            elif name == "layout":
                needed += self._sums_memory(parameters, n_samples)
            free = _REUSED * left if reduced else free
            peaks[name] = reduced + left + max(0.0, needed - free)
            if name == "affinities":
                left += min(self._leaves * n_samples * k, _LEFT)
            if name == "initialization" and init == "pca":
                peaks[name] += centring
                left = left + returned_late(centring) if neighbors.by_cells(n_samples, width) else max(left, centring)
                free = 0.0
        if parameters["of_bytes"] and not reduced and parameters["metric"] == "euclidean":
            peaks = {name: 1.0 * n_samples * parameters["n_columns"] + peak for name, peak in peaks.items()}
        remedy = FEWER_ROWS if parameters["n_shared"] is None else "Use fewer rows or columns."
        return Forecast.of_stages(peaks, f"{k} neighbours of {n_samples:,} rows and what is made of them", remedy)

    def _durations(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> dict[str, float]:
        width = self._n_reduced(n_samples, n_features, parameters)
        if width == n_features:
            return super()._durations(n_samples, width, parameters)
        found = super()._durations(n_samples, width, {**parameters, "n_shared": None})
        return {"reduction": centring_seconds(n_samples, n_features), **found}

    def _counts_rows(self, parameters: dict[str, Any], weights: npt.NDArray[np.float64] | None) -> bool:
        unweighted = self._why_rows_count_alike(parameters)
        if unweighted and weights is not None:
            remedy = "Leave either out. Rows that are repeated share a point, and count once too."
            raise ValueError(message("sample_weight", "left out", fact=unweighted, remedy=remedy))
        return not unweighted and super()._counts_rows(parameters, weights)

    def _why_rows_count_alike(self, parameters: dict[str, Any]) -> str:
        """Return what in the parameters counts every distinct row once, as a clause; empty if nothing does."""
        if parameters.get("output_metric", "euclidean") != "euclidean":
            return "a map on a surface counts distinct rows"
        kept = [name for name in ("density", "frames") if is_wanted(parameters.get(name))]
        return f"the term of {kept[0]} counts distinct rows" if kept else ""

    def _chosen(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        """Return the recipe as it is carried out."""
        return self._recipe(parameters, n_samples)

    def _start_rows(self, X: Any, parameters: dict[str, Any]) -> Any:
        """Return rows of which a start by principal components is made: columns with a period as circles."""
        return on_circles(X, parameters["metric"], parameters["metric_params"])

    def _distinct_rows(
        self, values: Any, parameters: dict[str, Any], *, counted: bool
    ) -> tuple[Any, npt.NDArray[np.intp] | None]:
        shape = (int(values.shape[0]), parameters["n_components"])
        anchors = check_anchors(parameters["anchors"], shape)
        if anchors is not None and parameters.get("output_metric", "euclidean") != "euclidean":
            what, rule = f"output_metric={parameters['output_metric']!r}", "'euclidean' where anchors are given"
            raise ValueError(message(what, rule))
        rows, copies = super()._distinct_rows(values, parameters, counted=counted)
        parameters["anchors"] = anchors if anchors is None or copies is None else of_distinct_rows(anchors, copies)
        return rows, copies

    def _rows_present(self, given: Table, present: npt.NDArray[np.intp], parameters: dict[str, Any]) -> Table:
        anchors = check_anchors(parameters["anchors"], (int(given.values.shape[0]), parameters["n_components"]))
        if anchors is not None:
            parameters["anchors"] = anchors[present]
        return super()._rows_present(given, present, parameters)

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        reporter = current_run().reporter
        prepared = self._prepare(X, parameters)
        reporter.begin("initialization")
        first = self._start(prepared)
        reporter.begin("layout", prepared.recipe.optimizer.max_iter)
        objective = self._objective(prepared)
        return self._conclude(
            prepared, objective, prepared.recipe.optimizer.minimize(objective, first, reporter=reporter)
        )

    def _prepare(self, X: Any, parameters: dict[str, Any]) -> Prepared:
        """Find what the map is made of: neighbours and affinities."""
        reporter, rows = current_run().reporter, X
        if isinstance(parameters["init"], np.ndarray):
            parameters["init"] = parameters["init"].astype(np.float32)
        recipe = self._chosen(parameters, int(X.shape[0]))
        if recipe.reduce is not None:
            reporter.begin("reduction")
            X = recipe.reduce(X, self.seed_)
        graph = None
        if recipe.n_neighbors:
            graph = self._find_neighbors(X, recipe.n_neighbors, parameters)
        if graph is not None:
            reduced = recipe.reduce is not None and parameters["precomputed_knn"] is None
            self.graph_ = replace(graph, metric=f"{graph.metric}, {X.shape[1]} features") if reduced else graph
        inputs = Inputs(X, graph, self.seed_, parameters["masses"], parameters.get("of_blocks", ()))
        self.surface_ = recipe.surface
        reporter.begin("affinities")
        self.affinities_ = recipe.affinity(inputs)
        return Prepared(rows, recipe, inputs, parameters)

    def _start(self, prepared: Prepared) -> npt.NDArray[Any]:
        """Return where the points start."""
        parameters, surface = prepared.parameters, prepared.recipe.surface
        given = not isinstance(self.init, str)
        start = self._initialize(prepared, parameters["n_components"] if surface is None or given else surface.width)
        self.init_ = start.kind
        if given and surface is None:
            _check_spread(start.embedding)
        if surface is not None:
            return surface.points(start.embedding) if given else surface.start(start.embedding)
        if given:
            return start.embedding
        first = prepared.recipe.rescale(start.embedding)
        return first if parameters["anchors"] is None else start_at_anchors(first, parameters["anchors"])

    def _initialize(self, prepared: Prepared, n_components: int) -> Initialization:
        """Return the start that is asked for, before it is scaled."""
        parameters, inputs = prepared.parameters, prepared.inputs
        return initialization.initialize(
            parameters["init"],
            X=None if parameters["metric"] == "precomputed" else self._start_rows(inputs.X, parameters),
            affinities=self._start_affinities(inputs, parameters),
            n_components=n_components,
            seed=self.seed_,
        )

    def _objective(self, prepared: Prepared) -> Any:
        """Return the loss, springs to anchors included."""
        parameters, surface = prepared.parameters, prepared.recipe.surface
        objective = prepared.recipe.objective(self.affinities_, prepared.inputs)
        if parameters["anchors"] is not None:
            join_terms(objective, objectives.Anchors(parameters["anchors"], weight=parameters["anchor_weight"]))
        elif surface is None and isinstance(objective, objectives.KLDivergence) and objective.falls_without_end:
            _warn_of_growth(objective.attraction_weight, prepared)
        warn_of_first_phase(prepared.recipe.optimizer, objective)
        return objective if surface is None else objectives.on_surface(objective, surface)

    def _conclude(self, prepared: Prepared, objective: Any, solution: Solution) -> npt.NDArray[Any]:
        """Keep what the descent found; return the positions."""
        recipe, surface = prepared.recipe, prepared.recipe.surface
        self.solution_, self.n_iter_ = solution, solution.n_iter
        evaluation = objective.evaluation_for(prepared.parameters["n_components"])
        self.evaluation_ = getattr(recipe.optimizer, "evaluation", evaluation)
        self._learn: Callable[[npt.NDArray[np.intp] | None], dict[str, Any]]  # to the end of the fit
        self._learn = partial(objectives.added_terms(objective).learned, solution.embedding)
        found = solution.embedding if surface is None else surface.coordinates(solution.embedding)
        positions = np.asarray(found, dtype=np.float32 if surface is None else np.float64)
        self.placement_ = self._placement(prepared, positions, objective)
        return positions

    def _placement(self, prepared: Prepared, positions: npt.NDArray[Any], objective: Any) -> RowPlacement | None:
        """Return how new rows are placed: by affinity and loss, each of which knows what it asks of a new row."""
        recipe, inputs, parameters = prepared.recipe, prepared.inputs, prepared.parameters
        make: Callable[..., RowPlacement] | None = parameters.get("placement", extension.RowPlacement)
        if recipe.surface is not None:
            make = partial(extension.SurfacePlacement, surface=recipe.surface)
        weights, loss = None, None
        if recipe.placement is not None:
            make = recipe.placement(inputs, objective, positions)
        elif inputs.graph is not None and hasattr(recipe.affinity, "new_rows") and hasattr(objective, "row_loss"):
            degree = recipe.affinity.degree(inputs) if hasattr(recipe.affinity, "degree") else None
            weights, loss = recipe.affinity.new_rows(inputs), objective.row_loss(positions, degree=degree)
            if inputs.masses is not None:
                weights = RowsByMass(weights, inputs.masses)
        if make is None or (recipe.placement is None and (weights is None or loss is None)):
            return None
        return make(
            prepared.rows,
            positions,
            1 if inputs.graph is None else self.graph_.n_neighbors,
            weights,
            loss,
            metric=parameters["metric"],
            metric_params=parameters["metric_params"],
            seed=self.seed_,
        )

    def _place(self, X: Any) -> npt.NDArray[Any]:
        if self.placement_ is None:
            rule = "used with an affinity that weighs new rows and a loss of their pairs"
            remedy = "Name the affinity, or give one with new_rows(inputs), and a loss with row_loss(Y)."
            raise ValueError(message("place", rule, remedy=remedy))
        found = self.placement_.search.find(X)
        if self.placement_.affinities is not None or isinstance(self.placement_, extension.TripletPlacement):
            self._tell_far(*found)
        return self.placement_.place_found(X, *found)

    def _make_atlas(self) -> AffineAtlas:
        if self.surface_ is not None:
            what, rule = f"output_metric={self.surface_.name!r}", "'euclidean' for a function with a derivative"
            fact = "an atlas is of flat maps"
            raise ValueError(message(what, rule, fact=fact, remedy="Place new rows with place."))
        return super()._make_atlas()

    def _loss_of_data(self, X: npt.NDArray[np.float64]) -> DataLoss:
        """Return the loss with affinities that follow the data: the parts of the fit, in float64."""
        from gnomon.extension.sensitivity import DataLoss  # loaded when first asked for

        if self.surface_ is not None:
            raise ValueError(message(f"output_metric={self.surface_.name!r}", "'euclidean' for a sensitivity"))
        who = type(self).__name__
        if self._masses is not None:
            remedy = "Fit distinct rows without sample_weight."
            raise ValueError(message("the map", "one of rows that count alike", remedy=remedy))
        parameters = self._check_parameters()
        recipe = self._recipe(parameters, len(X))
        if recipe.reduce is not None or not hasattr(recipe.affinity, "derivative"):
            rule = "of affinities that know their derivatives"
            remedy = "Name the affinity, or derive one from gnomon.affinities.NeighborAffinity."
            raise TypeError(message(f"estimator={who}", rule, remedy=remedy))
        inputs = Inputs(X, self.graph_, self.seed_)
        return DataLoss(recipe.affinity.derivative(inputs), lambda affinities: recipe.objective(affinities, inputs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # maps are float32
        return tags

    def _repeat(self, copies: npt.NDArray[np.intp] | None) -> None:
        if self._one_place:
            self.n_iter_ = 0
        self._keep_learned({} if self._one_place else self._learn(copies))
        self.__dict__.pop("_learn", None)

    def _keep_learned(self, learned: dict[str, Any]) -> None:
        """Set what the terms of the loss learned as fitted attributes, and remove what those of an earlier fit did."""
        for name in self.__dict__.pop("_learned", ()):
            self.__dict__.pop(name, None)
        if learned:
            self._learned = tuple(learned)
        self.__dict__.update(learned)

    def _start_affinities(self, inputs: Inputs, parameters: dict[str, Any]) -> Affinities | None:
        """Return affinities for a spectral start, or for any start without a table: the method's, if symmetric."""
        if isinstance(self.affinities_, Affinities) and self.affinities_.normalization != "rows":
            return self.affinities_
        wanted = isinstance(self.init, str) and self.init == "spectral"
        if inputs.graph is None or not (wanted or parameters["metric"] == "precomputed"):
            return None
        return fuzzy_simplicial_set(inputs.graph)


def is_wanted(term: Any) -> bool:
    """Say whether a parameter such as ``density`` gives a term weight."""
    return bool(term.get("weight", True) if isinstance(term, dict) else term)


def _warn_of_growth(weight: float, prepared: Prepared) -> None:
    """Warn that a map is as large as the iterations make it."""
    name = "exaggeration" if "exaggeration" in prepared.parameters else "attraction_weight"
    text = f"{name}={weight:g} is less than 1: the loss has no minimum, it falls as long as the map grows"
    extent = f"so the extent of the map is that of max_iter={prepared.recipe.optimizer.max_iter}"
    remedy = f"Read such a map by its shape, or take {name}=1 or more."
    warn(f"{text}, {extent}. {remedy}", ConvergenceWarning)


def _check_spread(Y: npt.NDArray[np.float32]) -> None:
    """Warn if all points of a given start are one, or farther apart than those of maps."""
    spread = float(Y.std(axis=0, dtype=np.float64).max())
    if spread == 0.0:
        warn("init puts all rows in one place, where nothing parts them. Add some noise to it.", ConvergenceWarning)
    if spread > _WIDE * max(1.0, math.sqrt(len(Y) / 1e4)):
        text = f"init has a standard deviation of {spread:.3g} along an axis, far more than a finished map"
        remedy = f"Divide it by {spread / 10.0:.2g} or so."
        warn(f"{text}: points so far apart hardly feel each other. {remedy}", ConvergenceWarning)
