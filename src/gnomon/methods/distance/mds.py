"""Metric and ordinal multidimensional scaling: distances in the map near those of the rows, by majorization."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon._validation import Boolean, Either, Elsewhere, Instance, Integer, Nothing, Options, Real, Rule, message
from gnomon.affinities import DataDistances
from gnomon.data import warn_of_one_row
from gnomon.data.blocks import METRIC
from gnomon.linalg import classical_scaling, normal_matrix, principal_components, procrustes, product
from gnomon.methods.base import Differentiable, PlacesRows
from gnomon.methods.distance.landmark_mds import landmark_scaling
from gnomon.methods.forecast import STRIPS, Forecast
from gnomon.methods.other_names import MDS as NAMES
from gnomon.methods.other_names import MDS_STARTS, MDS_VARIANTS, other_names
from gnomon.methods.parameters import Rows
from gnomon.methods.weighted import WeightedRowEmbedder
from gnomon.neighbors import NATIVE_METRICS, cross_distances, distance_matrix, distances_to_fitted
from gnomon.objectives import OrdinalStress, Stress
from gnomon.optimizers import Majorization, Solution, place_by_distances

if TYPE_CHECKING:
    from gnomon.extension.sensitivity import DataLoss

__all__ = ["MDS"]

_PAIR = 8.0  # bytes of a pair: the distances, and the targets made of them, in float32
_ROW = 12_800.0  # bytes of a row in strips of pairs, beside its distances
_LARGEST_CLASSICAL = 5000  # rows up to which a start takes the inner products of all pairs: 200 MB
_START_LANDMARKS = 1000
_FEW_ROWS, _RUNS_OF_FEW = 50, 10  # of more rows ten runs lower stress-1 by less than half a percent
_STREAM = 241
_POWERS = {"inverse": 1, "inverse_square": 2}


_METRIC = Instance(METRIC.types, f"{METRIC.name}; variant='ordinal' is what scikit-learn called metric=False")


@other_names(NAMES)
@dataclass(eq=False, repr=False)
class MDS(WeightedRowEmbedder, PlacesRows, Differentiable):
    """Place points so that their distances are near those of the rows.

    Input affinity: the distances of all pairs, delta. Output kernel: the distance d. Loss: the stress, the sum over
    pairs of w (delta - d)^2, or for variant="ordinal" of the disparities, which only rise with delta. Optimizer:
    majorization (SMACOF), under which the stress never rises, each step lengthened by the last ones where that is
    lower. It takes the n_samples^2 distances in float32 twice: 800 MB for 10,000 rows, seven times that with weights of
    pairs or variant="ordinal". A table whose distances do not fit in memory is refused before they are measured.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    variant : {"metric", "ordinal"}, default="metric"
        "ordinal" (non-metric) keeps the order of the distances only; equal ones may differ in the map.
    weights : None, "inverse", "inverse_square" or array-like, default=None
        Of pairs: None weighs all 1; "inverse" takes w = 1 / delta (Sammon's), "inverse_square" 1 / delta^2 (elastic
        scaling), both 0 for pairs at distance 0; an array of shape (n_samples, n_samples) holds w, symmetric and >= 0,
        one of shape (n_samples,) the u of w_ij = u_i u_j.
    init : {"classical", "random"} or array-like of shape (n_samples, n_components), default="classical"
        "classical" is `ClassicalMDS`; from 5001 rows on, unless distances are Euclidean, `LandmarkMDS`. The start used
        is ``init_``.
    n_init : int >= 1 or "auto", default="auto"
        Runs, of which that of least stress is kept; those after the first start at random. "auto": 10 of up to 50 rows,
        whose stress has local minima, and 1 of more or from a given `init`; a run that started at random is then turned
        to lie as the first does.
    max_iter : int >= 0, default=300
        Iterations of a run.
    tol : float >= 0, default=1e-6
        End when steps lower the stress by less than this share of it.
    accelerated : bool, default=True
        Lengthen steps; False takes plain SMACOF steps.
    metric : str or callable, default="euclidean"
        As for `ClassicalMDS`, "precomputed" for distances (or any dissimilarities >= 0) of all pairs.
    metric_params, n_jobs : as in `ClassicalMDS`
        Arguments of the metric, and the number of threads.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the iteration early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.
    random_state : int, Generator, RandomState or None, default=None
        Seed of random starts. The one used is ``seed_``.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, in the units of the distances; with variant="ordinal" in units of a mean squared disparity of 1.
    stress_ : float
        The sum over pairs i < j of w (delta - d)^2, computed from ``embedding_`` in float64.
    normalized_stress_ : float
        Kruskal's stress-1: the square root of that sum over the sum of w d^2; inf if all points coincide. Of ordinal
        disparities at the scale at which it is least, that of the regression of d.
    stress_per_point_ : ndarray of shape (n_samples,)
        Each point's share of ``stress_``, to which they sum.
    solution_ : Solution
        Of the run kept.
    n_iter_ : int
        Its iterations.
    init_ : str
        Its start: "classical", "landmarks", "random" or "given".
    n_init_ : int
        Runs that were made.
    seed_ : int
    timings_ : dict of str to float
        Seconds by stage.

    References
    ----------
    .. [1] Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis", Psychometrika
       29, 1964.
    .. [2] de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977.
    .. [3] Borg & Groenen, "Modern Multidimensional Scaling", 2nd ed., Springer, 2005.
    """

    n_components: int = 2
    _: KW_ONLY
    variant: str = "metric"
    weights: Any = None
    init: Any = "classical"
    n_init: int | str = "auto"
    max_iter: int = 300
    tol: float = 1e-6
    accelerated: bool = True

    _merges_equal_rows: ClassVar[bool] = False
    _rules: ClassVar[dict[str, Rule]] = {
        "metric": _METRIC,
        "variant": Elsewhere(Options("metric", "ordinal"), MDS_VARIANTS),
        "weights": Either(Nothing(), Options(*_POWERS), Rows("an array of weights")),
        "init": Either(
            Elsewhere(Options("classical", "random"), MDS_STARTS),
            Rows("an array of shape (n_samples, n_components)"),
        ),
        "n_init": Either(Integer(1), Options("auto")),
        "max_iter": Integer(0),
        "tol": Real(0.0),
        "accelerated": Boolean(),
    }

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        n, metric, weights = float(n_samples), parameters["metric"], parameters["weights"]
        named = metric if isinstance(metric, str) else ""
        euclidean = NATIVE_METRICS.get(named) == "euclidean"
        each = _PAIR
        if named == "precomputed":
            each = 13.0  # while they are checked in float64
        if not euclidean and n_samples <= _LARGEST_CLASSICAL and isinstance(parameters["init"], str):
            each = 16.0  # inner products for the start
        if weights is not None and np.ndim(weights) != 1:
            each = 54.0  # the weights, the edges among which a component is sought, and a Laplacian
        if parameters["variant"] == "ordinal":
            each = 81.0 if each == 54.0 else 56.0  # the order of all pairs, and what regression takes
        row = _ROW + 4.0 * n_features if each == _PAIR else STRIPS + 16.0 * n_features
        passes = parameters["max_iter"] * _count_runs(parameters, n_samples)
        return Forecast(
            each * n**2 + row * n,
            f"distances of {n_samples} x {n_samples} pairs and what is made of them",
            "Use LandmarkMDS, or fewer rows.",
            1.1e-9 * passes * n**2,
            f"{passes} passes over {n_samples} x {n_samples} pairs",
        )

    def _durations(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> dict[str, float]:
        found = super()._durations(n_samples, n_features, parameters)
        return found | {"layout": found["layout"] * _count_runs(parameters, n_samples)}

    def _counts_rows(self, parameters: dict[str, Any], weights: npt.NDArray[np.float64] | None) -> bool:
        if weights is not None and parameters["variant"] == "ordinal":
            fact = "ordinal disparities are those of distinct pairs"
            raise ValueError(message("sample_weight", "left out with variant='ordinal'", fact=fact))
        return True

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        reporter = current_run().reporter
        warn_of_one_row(X)
        n, metric = int(X.shape[0]), parameters["metric"]
        reporter.begin("distances", n)
        delta, unit = distance_matrix(X, metric=metric, metric_params=self.metric_params, reporter=reporter)
        reporter.begin("initialization")
        self._unit, self._rows = unit, None if isinstance(metric, str) and metric == "precomputed" else X
        weights, by_row = parameters["weights"], parameters["sample_weight"]
        self._power = _POWERS.get(weights, 0) if isinstance(weights, str) else 0
        self._factors = None
        if self._power:
            weights = _inverse(delta, self._power)
        elif weights is not None:
            weights = _of_present(np.asarray(weights, dtype=np.float64), parameters["present"])
            self._factors = weights if weights.ndim == 1 else None
        if by_row is not None:
            weights, self._factors = self._by_rows(weights, by_row)
        ordinal = parameters["variant"] == "ordinal"
        if not delta.any():
            return self._coincide(n, parameters["n_components"])
        objective = (OrdinalStress if ordinal else Stress)(delta, weights=weights)
        optimizer = Majorization(
            max_iter=parameters["max_iter"], tol=parameters["tol"], memory=5 if parameters["accelerated"] else 0
        )
        self.n_init_ = _count_runs(parameters, n)
        first: Solution | None = None
        best: tuple[Solution, str] | None = None
        for run in range(self.n_init_):
            if run:
                reporter.begin("initialization")
            start, kind = self._start(X, delta, parameters, run)
            reporter.begin("layout", optimizer.max_iter)
            solution = optimizer.minimize(objective, start, reporter=reporter)
            first = solution if first is None else first
            if best is None or solution.loss[-1][1] < best[0].loss[-1][1]:
                best = solution, kind
        assert best is not None
        assert first is not None
        self.solution_, self.init_ = best
        if parameters["n_init"] == "auto" and self.solution_ is not first:
            self.solution_ = _turned(self.solution_, first)
        self.n_iter_ = self.solution_.n_iter
        reporter.begin("stress")
        points = self.solution_.embedding.astype(np.float64)
        points -= np.average(points, axis=0, weights=by_row)
        self._publish(objective, points, 1.0 if ordinal else unit)
        return points * (1.0 if ordinal else unit)

    def _by_rows(
        self, weights: npt.NDArray[Any] | None, by_row: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the weights of pairs with those of rows, and how much each row counts for a new one."""
        if weights is None:
            return by_row, by_row
        if weights.ndim == 1:
            return weights * by_row, weights * by_row
        return weights * np.outer(by_row, by_row).astype(weights.dtype), by_row

    def _publish(self, objective: Stress, points: npt.NDArray[np.float64], unit: float) -> None:
        errors, squares = objective.of_points(points)
        with np.errstate(over="ignore"):  # squares of distances beyond 1e154 are infinite
            # weights delta^-p are computed in the same units as the distances
            scale = np.float64(unit) ** (2 - self._power)
            self.stress_per_point_ = errors * scale
            self.stress_ = float(errors.sum() * scale)
        total = float(squares.sum())
        least = float(errors.sum())
        if isinstance(objective, OrdinalStress):  # at the scale of the disparities at which the stress is least
            held = objective.sum_of_squares
            least = max(total - (0.5 * (total + held - least)) ** 2 / held, 0.0)
        self.normalized_stress_ = float(np.sqrt(least / total)) if total > 0.0 else np.inf
        self._disparity = objective.disparity_curve(points) if isinstance(objective, OrdinalStress) else None

    def _coincide(self, n_samples: int, n_components: int) -> npt.NDArray[np.float64]:
        """Return one position for rows that are all at distance 0."""
        points = np.zeros((n_samples, n_components))
        reason = "All distances are 0."
        self.solution_, self.init_, self.n_iter_ = Solution(points, [(0, 0.0)], True, reason, 0), "classical", 0
        self.n_init_ = 0
        self.stress_, self.normalized_stress_, self.stress_per_point_ = 0.0, 0.0, np.zeros(n_samples)
        self._disparity = None
        return points

    def _start(
        self, X: Any, delta: npt.NDArray[np.float32], parameters: dict[str, Any], run: int
    ) -> tuple[npt.NDArray[Any], str]:
        """Return start positions in units of `delta`, and what they are."""
        n, n_components = len(delta), parameters["n_components"]
        init = parameters["init"]
        if isinstance(init, np.ndarray) and run == 0:
            return init / self._unit if parameters["variant"] == "metric" else init, "given"
        if run > 0 or init == "random":
            return normal_matrix(self.seed_, _STREAM + run, (n, n_components)), "random"
        kept = min(n_components, n)
        metric = parameters["metric"]
        if isinstance(X, np.ndarray) and isinstance(metric, str) and NATIVE_METRICS.get(metric) == "euclidean":
            kept, weights = min(kept, X.shape[1]), parameters["sample_weight"]
            model = principal_components(X, kept, weights=weights, seed=self.seed_)
            points, kind = model.transform(X) / self._unit, "classical"
        elif n <= _LARGEST_CLASSICAL:
            copy = delta.astype(np.float64)
            points = classical_scaling(copy, kept, weights=parameters["sample_weight"], seed=self.seed_).embedding
            kind = "classical"
        else:
            points = landmark_scaling(delta, kept, _START_LANDMARKS, seed=self.seed_)
            kind = "landmarks"
        return np.pad(points, ((0, 0), (0, n_components - points.shape[1]))), kind

    def _loss_of_data(self, X: npt.NDArray[np.float64]) -> DataLoss:
        from gnomon.extension.sensitivity import DataLoss  # loaded when first asked for

        if self._masses is not None:
            raise ValueError(message("the fit", "one without sample_weight"))
        if self.variant != "metric":
            fact = "disparities are no smooth function"
            raise ValueError(message(f"variant={self.variant!r}", "'metric'", fact=fact))
        return DataLoss(
            DataDistances(X),
            lambda delta: Stress(delta, weights=self.weights, dtype=np.float64),
        )

    def _place(self, X: Any) -> npt.NDArray[Any]:
        """Minimise the stress of each row to the points fitted, from where squared distances place it best."""
        if self._rows is None:
            distances = distances_to_fitted(X)
        else:
            distances = cross_distances(X, self._rows, metric=self.metric, metric_params=self.metric_params)
        delta = distances / self._unit
        weights = _inverse(delta, self._power) if self._power else None
        if self._factors is not None:
            weights = self._factors * (np.ones_like(delta) if weights is None else weights)
        unit = self._unit
        if self._disparity is not None:
            delta, unit = np.interp(delta, *self._disparity), 1.0
        anchors = self._fitted_places / unit
        nearest = distances.argmin(axis=1)
        start = _offset(anchors, nearest)
        placed = unit * place_by_distances(anchors, delta, start, weights=weights)
        same = distances.min(axis=1) == 0.0  # a row that was fitted, or equals one
        placed[same] = self._fitted_places[nearest[same]]
        return placed


def _count_runs(parameters: dict[str, Any], n_samples: int) -> int:
    """Return how many runs are made of so many rows."""
    if parameters["n_init"] != "auto":
        return int(parameters["n_init"])
    return _RUNS_OF_FEW if n_samples <= _FEW_ROWS and isinstance(parameters["init"], str) else 1


def _turned(solution: Solution, like: Solution) -> Solution:
    """Return a solution rotated or reflected, which its stress does not feel, to lie as another one does."""
    points = solution.embedding
    rotation = procrustes(points, like.embedding, scaling=False).rotation
    return replace(solution, embedding=product(points, rotation).astype(points.dtype))


def _of_present(weights: npt.NDArray[np.float64], present: npt.NDArray[np.intp] | None) -> npt.NDArray[np.float64]:
    """Return the given weights of rows, or of pairs, for the rows that take part."""
    if present is None:
        return weights
    return weights[present] if weights.ndim == 1 else weights[np.ix_(present, present)]


def _inverse(delta: npt.NDArray[Any], power: int) -> npt.NDArray[Any]:
    """Return delta^-power, and 0 where delta is."""
    with np.errstate(divide="ignore", over="ignore"):
        weights = delta ** np.asarray(-power, dtype=delta.dtype)
    weights[~np.isfinite(weights)] = 0.0
    return np.asarray(weights)


def _offset(anchors: npt.NDArray[np.float64], nearest: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return places next to anchors, a little away from the middle: at an anchor itself its distance has no slope."""
    middle = anchors.mean(axis=0)
    return np.asarray(middle + 1.001 * (anchors[nearest] - middle) + 1e-6 * np.abs(anchors).max())
