"""The explanation of an embedding: which features move each point, how strongly, and how far to believe it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._printed import ShortRepr, preformatted, prints_harmlessly
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Options, Rule, check_parameters, message, warn
from gnomon.data.scaling import Scaling, choose_scaling
from gnomon.exceptions import DataWarning
from gnomon.explanations.choice import FitChoice, choose_fit
from gnomon.explanations.fidelity import push_fidelity
from gnomon.explanations.reach import LINEAR, fit_forward, median_r2
from gnomon.explanations.rows import dense_rows_of
from gnomon.explanations.summary import summary_of
from gnomon.explanations.why import Why, why
from gnomon.geometry import Distortion, FeatureEffects, LocalJacobians, distortion, feature_effects
from gnomon.geometry.check import check_features, check_places, has_place
from gnomon.geometry.effects import calibrated_effects
from gnomon.geometry.inverse import InverseFits, inverse_fits
from gnomon.linalg import product, stacked_eigen
from gnomon.linalg.table import float_rows, table_as_bytes
from gnomon.neighbors import (
    NeighborGraph,
    alike_by_chance,
    as_sets,
    compute_neighbors,
    distinct_neighbors,
    find_representatives,
    read_graph,
)
from gnomon.neighbors.circles import Seams, find_seams
from gnomon.neighbors.graph import ANSWER_NEIGHBORS
from gnomon.surfaces import Surface

if TYPE_CHECKING:
    from gnomon.explanations.importance import MeanImportance

__all__ = ["EXPLAIN_RULES", "N_TOP", "Explanation", "TopFeatures", "explain_in_memory"]

EXPLAIN_RULES: dict[str, Rule] = {
    "n_neighbors": Either(Integer(2), Options("auto")),
    "pooling": Either(Integer(0), Options("auto")),
    "fit": Options("auto", "forward", "inverse"),
}
N_TOP = 8

Places = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class TopFeatures(ShortRepr):
    """The most important features of every point; NaN where the point has no explanation.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_top), int32
        Column numbers, most important first.
    arrows : ndarray of shape (n_samples, n_top, n_components), float32
        Displacement in the map per one local standard deviation of the feature.
    importance : ndarray of shape (n_samples, n_top), float32
        Length of the arrow, in units of the map.
    """

    indices: npt.NDArray[np.int32]
    arrows: npt.NDArray[np.float32]
    importance: npt.NDArray[np.float32]


class Explanation:
    """Which features move each point of an embedding; made by `gnomon.explain`.

    It keeps a reference to the data, from which axes and the full table of importances are formed when asked for:
    do not change the data in between.

    Attributes
    ----------
    n_samples, n_features, n_components : int
        Sizes of the data and the embedding.
    feature_names : list of str
        One name for each feature.
    r2 : ndarray of shape (n_samples,), float32, in [0, 1]
        How far to believe each point's explanation: share of its neighbours' displacements in the map that is
        predicted when each neighbour is predicted by the local linear fit to the others; 0 if that is worse than
        the mean of the others. NaN where `mask` is False. It is that of the fit of a single neighbourhood, before fits
        are averaged; with pooling all predictions are stretched by one factor first, as the axes are.
    push_r2 : ndarray of shape (n_samples,), float32, in [0, 1]
        How far to believe `foretell`: share of the squared steps in the map from the point to its neighbours in the
        data that it foretells; 0 if that is worse than to foretell no movement. Usually below `r2`, since these steps
        carry the scatter of the point's own place too. Formed when first used.
    push_scale : ndarray of shape (n_samples,), float32
        Factor by which `foretell` takes the arrows of a point longer or shorter: it makes the steps from the point and
        from its neighbours to theirs as long as they are in the map. Formed when first used.
    r2_error : ndarray of shape (n_samples,), float32
        Standard error of `r2` (before predictions are stretched and it is cut at 0), by the jackknife over the
        neighbours.
    fit_r2 : ndarray of shape (n_samples,), float32, at most 1
        Share that the damped fit itself accounts for. Without damping it is high even for a random map: there are few
        neighbours in many dimensions. Do not read it as trust.
    ellipses : ndarray of shape (n_samples, n_components, n_components), float64
        Image of the unit ball of the data's tangent space, in squared units of the map per squared unit of the data.
    mask : ndarray of shape (n_samples,), bool
        False where nothing can be said: then r2, ellipses and arrows are NaN.
    global_importance : ndarray of shape (n_features,), float64
        Mean importance of each feature over the points with an explanation, in units of the map.
    graph : NeighborGraph
        Neighbours in the data, of which the fits take the first distinct ones (see `n_repeats`).
    ridge : float
        Damping of the fits, chosen by how well neighbours are predicted from each other.
    n_neighbors : int
        Neighbours used for each point.
    places : ndarray of shape (n_samples, n_components), float64
        The embedding; NaN where a row has no place.
    pooling : int
        Times that the fits were averaged over neighbouring points.
    n_jobs : int or None
        Threads of the questions that follow.
    calibration : float
        Factor that gives the fits the length at which they predict the neighbours best: damping and noise in the
        features shorten them. 1 for forward fits without pooling.
    direction : {"forward", "inverse"}
        "forward": the place fitted by the features, over neighbours in the data. "inverse": the features fitted by the
        place, over neighbours in the map, and turned round with each feature weighted by what its scatter lets it say.
        `r2`, `r2_error`, `fit_r2`, `mask`, arrows and importances are those of this fit; `ellipses` and `distortion`
        are always those of the data's neighbourhoods.
    neighborhood : {"data", "map"}
        Where the neighbours of the fits are.
    scores : dict of str to float
        Share of the steps to held-out rows in the map that each fit tried predicts; see `FitChoice`. Empty if none was
        compared: the fit was given, its median R2 reaches 0.5, or there are too few rows.
    scale : Scaling or None
        How the features were standardised for neighbours and fits; `axes` and values are in units of the features all
        the same, `ellipses` in those of the standardised features.
    seams : gnomon.neighbors.circles.Seams or None
        Where columns that have a period under the metric were cut: values are told from there. None without any.
    distinct_graph : NeighborGraph
        Of each row the neighbours outside of its set of repeated rows, one of each set: those of the fits.
    n_repeats : int
        Rows that repeat others, as copies, repeated measurements and answers of few values do. Only one row of each
        set enters fits and errors; a row is explained by its neighbours outside of its set. See `representatives`.
    """

    def __init__(
        self,
        X: Any,
        jacobians: LocalJacobians,
        effects: FeatureEffects,
        feature_names: list[str],
        *,
        graph: NeighborGraph,
        ridge: float,
        scale: Scaling | None = None,
        n_jobs: int | None = None,
        inverse: InverseFits | None = None,
        scores: dict[str, float] | None = None,
        seams: Seams | None = None,
        reads: str | None = None,
        distinct: NeighborGraph | None = None,
        representatives: Rows | None = None,
    ) -> None:
        self._X = X
        self.distinct_graph = graph if distinct is None else distinct
        self._representatives = representatives
        own = np.arange(0 if representatives is None else len(representatives))
        self.n_repeats = 0 if representatives is None else int(np.count_nonzero(representatives != own))
        self.seams = seams
        self._reads = reads  # the metric of sets as which X is told, of a table that holds other numbers
        self.scale = scale
        self.n_jobs = n_jobs
        self.places = jacobians.places
        self.graph = graph
        self._jacobians = jacobians
        self._effects = effects
        self.feature_names = feature_names
        self.ridge = ridge
        self.r2: npt.NDArray[np.float32] = np.clip(jacobians.held_out_r2(), 0.0, 1.0)
        self.r2_error = jacobians.r2_error
        self.fit_r2 = jacobians.r2
        self.ellipses = jacobians.ellipses if effects.ellipses is None else effects.ellipses
        self.pooling = jacobians.pooling
        self.calibration = jacobians.calibration
        self.mask = jacobians.mask
        self.global_importance = effects.mean_importance
        self.direction, self.neighborhood = ("forward", "data") if inverse is None else ("inverse", "map")
        self.scores = {} if scores is None else scores
        self._inverse = inverse
        self._means: dict[bool, MeanImportance] = {}  # over all points, weighted by R2 or not: see `mean_importance`
        self.n_samples, self.n_features = int(X.shape[0]), int(X.shape[1])
        self.n_components = jacobians.n_components
        self.n_neighbors = int(jacobians.indices.shape[1])
        if inverse is not None:
            self.r2 = np.clip(inverse.predicted_r2, 0.0, 1.0)
            self.r2_error, self.fit_r2, self.mask = inverse.r2_error, inverse.r2, inverse.mask
            self.calibration, self.n_neighbors, self.pooling = inverse.calibration, inverse.n_neighbors, 0

    @property
    def jacobians(self) -> LocalJacobians:
        """The forward fits, which `ellipses` and `distortion` describe."""
        return self._jacobians

    @property
    def representatives(self) -> Rows:
        """The row that stands for each in fits and errors, (n_samples,): itself unless it repeats another."""
        return np.arange(self.n_samples) if self._representatives is None else self._representatives

    @cached_property
    def _fitted(self) -> Any:
        """What neighbours and fits are of: the data, or the data standardised."""
        return self._X if self.scale is None else self.scale.apply(self._X)

    @cached_property
    def distortion(self) -> Distortion:
        """What the map does to areas, directions and neighbourhoods around each point; formed when first used."""
        fits = replace(self._jacobians, ellipses=self.ellipses)
        return distortion(fits, Y=self.places, graph=self.distinct_graph.nearest(fits.indices.shape[1]))

    @cached_property
    def importance(self) -> npt.NDArray[np.float32]:
        """Importance of every feature for every point, (n_samples, n_features) float32; formed when first used."""
        if self._inverse is not None:
            return self._inverse.importance(self._fitted)
        effects = feature_effects(self._fitted, self._jacobians, all_features=True)
        assert effects.all_importance is not None
        return effects.all_importance

    @cached_property
    def _pushes(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        return push_fidelity(self)

    @cached_property
    def push_r2(self) -> npt.NDArray[np.float32]:
        """Share of the steps to the neighbours that `foretell` foretells, (n_samples,); formed when first used."""
        return self._pushes[1].astype(np.float32)

    @cached_property
    def push_scale(self) -> npt.NDArray[np.float32]:
        """What `foretell` multiplies the arrows of a point by, (n_samples,); formed when first used."""
        return self._pushes[0].astype(np.float32)

    @cached_property
    def semi_axes(self) -> npt.NDArray[np.float64]:
        """Semi-axes of the distortion ellipses, (n_samples, n_components), descending: map units per data unit."""
        axes = np.full((self.n_samples, self.n_components), np.nan)
        known = self._jacobians.mask
        axes[known] = np.sqrt(np.maximum(stacked_eigen(self.ellipses[known])[0], 0.0))
        return axes

    def axes(self, i: int) -> npt.NDArray[np.float64]:
        """Return the displacement of point i in the map per unit of each feature, (n_components, n_features)."""
        fits = self._jacobians if self._inverse is None else self._inverse
        axes = fits.axes(self._fitted, self._row(i))
        return axes if self.scale is None else self.scale.per_unit(axes)

    def axes_error(self, i: int, features: Any = None) -> npt.NDArray[np.float64]:
        """Return the standard errors of `axes`, (n_components, n_features), in the same units.

        Of some features only, by their column numbers, if they are given.

        They answer for scatter of the places in the map about a locally linear function of the data (of the features
        about one of the place, if the fit is inverse), by the jackknife over the rows that enter; not for the bias of
        damping and of averaging over a curved map.
        """
        fits = self._jacobians if self._inverse is None else self._inverse
        errors = fits.axes_error(self._fitted, self._row(i), features)
        if self.scale is None:
            return errors
        return errors / (self.scale.spread if features is None else self.scale.spread[features])

    @entrance("foretell")
    def foretell(self, i: int, X_new: Any) -> npt.NDArray[np.float64]:
        """Return where point i would go if its row were another: ``push_scale[i] * axes(i) @ (x_new - x_i)``.

        This is a straight line from the point along its arrows, meant for changes about as large as those to the
        nearest rows; `push_r2` says how far to believe it. `Map.transform` follows the map's bends.

        Parameters
        ----------
        i : int
            Row number.
        X_new : array-like of shape (n_rows, n_features) or (n_features,)
            What the row would be, in units of the features.

        Returns
        -------
        ndarray of shape (n_rows, n_components) or (n_components,), float64
            Displacement in the map; NaN where nothing is said about the point.
        """
        i = self._row(i)
        rows = np.asarray(X_new, dtype=np.float64)
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.n_features:
            raise ValueError(message(f"X_new of shape {rows.shape}", f"rows of n_features={self.n_features}"))
        rows = rows if self._reads is None else as_sets(rows, self._reads)
        step = rows - dense_rows_of(self._X, [i])[0]
        step = step if self.seams is None else self.seams.shorter(step)
        scale = push_fidelity(self, i)[0] if "_pushes" not in self.__dict__ else self._pushes[0][[i]]
        return np.asarray(
            scale[0]
            * product(step.reshape(-1, self.n_features), self.axes(i).T).reshape(*step.shape[:-1], self.n_components)
        )

    @entrance("top_features")
    def top_features(self, n_top: int = N_TOP) -> TopFeatures:
        """Return the `n_top` most important features of every point (at most n_features)."""
        n_top = min(check_parameters({"n_top": Integer(1)}, {"n_top": n_top})["n_top"], self.n_features)
        effects = self._effects
        if n_top > effects.indices.shape[1]:
            effects = (
                feature_effects(self._fitted, self._jacobians, n_top=n_top)
                if self._inverse is None
                else self._inverse.effects(self._fitted, n_top)
            )
        return TopFeatures(effects.indices[:, :n_top], effects.arrows[:, :n_top], effects.importance[:, :n_top])

    def why(self, i: int, n_top: int = 5) -> Why:
        """Return the features that move point i most, with values, arrows and R2; `print` shows a table."""
        return why(self, i, n_top)

    @prints_harmlessly
    def summary(self, n_top: int = 10) -> str:
        """Return the features of largest mean importance as a table, with the R2 over all points."""
        return summary_of(self, n_top)

    def describe_fit(self) -> str:
        """Return in words which fit was chosen, and the scores that chose it, a clause without a full stop."""
        place = {"forward": "place fitted by features", "inverse": "features fitted by place"}[self.direction]
        text = f"{place} over {self.n_neighbors} neighbours in the {self.neighborhood}"
        if self.pooling:
            text += f", averaged {self.pooling} times"
        if self.n_repeats:
            n_distinct = self.n_samples - self.n_repeats
            text += f" (of {n_distinct:,} distinct rows: {self.n_repeats:,} repeat others, or nearly)"
        if self.scores:
            best = max((name for name in self.scores if name != "forward"), key=self.scores.__getitem__)
            own = "forward" if self.direction == "forward" else f"inverse {self.n_neighbors}"
            text += f" (held-out R2 {self.scores[own]:.2f}, "
            text += f"{best} {self.scores[best]:.2f})" if own == "forward" else f"forward {self.scores['forward']:.2f})"
        return text

    def _repr_html_(self) -> str:
        return preformatted(self.summary())

    def _row(self, i: int) -> int:
        if not -self.n_samples <= i < self.n_samples:
            raise IndexError(message(f"row {i}", f"below n_samples={self.n_samples}", who="Explanation"))
        return int(i) % self.n_samples

    def __repr__(self) -> str:
        return f"Explanation(n_samples={self.n_samples}, n_features={self.n_features}, ridge={self.ridge:g})"


def _neighbors(X: Any, graph: Any, n_neighbors: int, metric: str) -> NeighborGraph:
    """Return the graph, computed with n_neighbors if it is not given."""
    n = int(X.shape[0])
    if graph is None:
        if n < 3:
            raise ValueError(message(f"X with {n:,} rows", "of at least 3 rows"))
        return compute_neighbors(float_rows(X), min(n_neighbors, n - 1), metric=metric)
    return read_graph(graph, n)


def _warn_of_repeats(X: Any, representatives: Rows) -> None:
    """Warn of rows that were copied or measured several times, not of those whose columns have few values.

    These are independent, but their places too are the same whatever the features do: fits take one of each set.
    """
    n = len(representatives)
    n_repeats = int(np.count_nonzero(representatives != np.arange(n)))
    if alike_by_chance(X, n_repeats):
        return
    warn(
        f"{n_repeats:,} of {n:,} rows lie as near to others as if they were measured or copied several times. A copy "
        "foretells the place of the other whatever the features do, so only one row of each set enters fits, R2 and "
        "errors, and rows are explained by neighbours outside of their set. Where you know the sets, pass one row of "
        "each",
        DataWarning,
    )


@entrance("explain")
def explain_in_memory(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int | Literal["auto"] = "auto",
    pooling: int | Literal["auto"] = "auto",
    graph: Any = None,
    feature_names: Any = None,
    metric: str = "euclidean",
    scale: Literal["auto", "standard", "robust"] | Scaling | None = None,
    fit: str = "auto",
    surface: Surface | None = None,
    n_jobs: int | None = None,
    cut: bool = False,
    representatives: Rows | None = None,
) -> Explanation:
    """Explain an embedding of a table in memory; parameters are those of `gnomon.explain`.

    `cut` says whether columns that have a period under the metric are cut where they hold fewest rows, and whether a
    metric of sets, which reads of a value if it is 0, leaves nothing else of it;
    `representatives` is that of another explanation of the same rows, else repeated rows are found and warned of.
    """
    checked = check_parameters(EXPLAIN_RULES, {"n_neighbors": n_neighbors, "pooling": pooling, "fit": fit})
    given, labels = check_features(X, feature_names)
    scaling = scale if isinstance(scale, Scaling) else None
    if scaling is None and scale is not None:
        scaling = choose_scaling(given, scale, names=labels, metric=metric).scaling
    values = given if scaling is None else scaling.apply(given)
    seams = find_seams(given, metric) if cut and scaling is None else None
    places = check_places(Y, values.shape[0])
    if surface is not None:
        places = surface.drawn(places)
    wanted = ANSWER_NEIGHBORS if checked["n_neighbors"] == "auto" else checked["n_neighbors"]
    near = _neighbors(values, graph, wanted, metric)
    distinct, representatives = _among_distinct(values, near, places, representatives, wanted)
    near = near.nearest(wanted)
    if seams is not None:
        given = values = seams.apply(given)
    reads = None
    if cut and scaling is None and (sets := as_sets(given, near.metric)) is not given:
        given, values, reads = sets, sets, near.metric
    asked = distinct.n_neighbors if checked["n_neighbors"] != "auto" else "auto"
    compact = table_as_bytes(values)
    jacobians = fit_forward(compact, places, distinct, asked, checked["pooling"])
    n_neighbors = int(jacobians.indices.shape[1])
    among = _entering(representatives, places)
    chosen = _choose_fit(compact, jacobians, distinct.nearest(n_neighbors), checked["fit"], among)
    jacobians, effects = calibrated_effects(compact, jacobians, n_top=N_TOP)
    inverse = None
    if chosen.direction == "inverse":
        inverse, found = inverse_fits(
            values, jacobians.places, n_neighbors=chosen.n_neighbors, n_top=N_TOP, among=among
        )
        effects = replace(found, ellipses=effects.ellipses)
    return Explanation(
        given,
        jacobians,
        effects,
        labels,
        graph=near,
        ridge=jacobians.ridge,
        scale=scaling,
        n_jobs=n_jobs,
        inverse=inverse,
        scores=chosen.scores,
        seams=seams,
        reads=reads,
        distinct=distinct,
        representatives=representatives,
    )


def _among_distinct(
    X: Any, graph: NeighborGraph, places: Places, representatives: Rows | None, n_neighbors: int
) -> tuple[NeighborGraph, Rows | None]:
    """Return the neighbours of each row among distinct rows, and which row stands for each if some repeat others."""
    if representatives is None:
        representatives = find_representatives(X, graph, has_place(places), seed=current_run().seed)
        if representatives is None:
            return graph.nearest(n_neighbors), None
        _warn_of_repeats(X, representatives)
    return distinct_neighbors(X, graph, representatives, n_neighbors), representatives


def _entering(representatives: Rows | None, places: Places) -> npt.NDArray[np.int64] | None:
    """Return the rows with a place that stand for themselves, where some repeat others."""
    if representatives is None:
        return None
    return np.flatnonzero(has_place(places) & (representatives == np.arange(len(places)))).astype(np.int64)


def _choose_fit(
    X: Any, jacobians: LocalJacobians, graph: NeighborGraph, fit: str, among: npt.NDArray[np.int64] | None
) -> FitChoice:
    """Return the fit asked for, or the one that predicts held-out rows."""
    linear = not median_r2(jacobians) < LINEAR
    if fit == "forward" or (fit == "auto" and linear):
        return FitChoice("forward", graph.n_neighbors, {})
    return choose_fit(
        X,
        jacobians.places,
        graph,
        ridge=jacobians.ridge,
        pooling=jacobians.pooling,
        inverse=fit == "inverse",
        among=among,
    )
