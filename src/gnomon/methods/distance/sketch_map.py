"""Sketch-map: distances of rows and of the map agree after a sigmoid of each, so that only the middle ones count."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._run import current_run
from gnomon._validation import Either, Integer, Options, Real, Rule, message
from gnomon.affinities import sketch_map_advice
from gnomon.initialization import classical_start
from gnomon.kernels import SketchMapKernel
from gnomon.methods.base import PlacesRows
from gnomon.methods.forecast import Forecast
from gnomon.methods.parameters import Numbers
from gnomon.methods.rows import RowEmbedder
from gnomon.neighbors import choose_landmarks, cross_distances, distance_matrix
from gnomon.objectives import SigmoidStress
from gnomon.optimizers import LBFGS, Solution, minimize_in_stages, move_points, place_points

if TYPE_CHECKING:
    from gnomon.data import Table

__all__ = ["SketchMap"]

_ALL_UP_TO = 2000  # distinct rows that are all landmarks
_LANDMARKS = 1000  # of more rows
_ANNEALING_SHARE = 5  # a stage of the annealing has this part of max_iter
_FLAT = 1e-3  # of the mean squared difference of sigmoids, which is at most 1
_ROWS = 1024  # rows placed at a time
_SAME, _SAME_SPARSE = 1e-12, 3e-7  # of the largest distance: below it a row is the landmark itself, up to rounding

Float64Array = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]


@dataclass(eq=False, repr=False)
class SketchMap(PlacesRows, RowEmbedder):
    """Metric scaling that asks near to stay near and far to stay far, and how far only in between.

    Input affinity: F(R), a sigmoid of the distances of rows. Output kernel: f(r), a sigmoid of the distances of the
    map. Loss: the squared difference of both, the "sigmoid stress". A sigmoid is
    1 - (1 + (2^(a/b) - 1) (r / sigma)^a)^(-b/a), one half at sigma, with exponents A, B for the data and a, b for the
    map. Distances far below sigma, such as fluctuations within a cluster, which fill more dimensions than the map has,
    need not be kept, nor those far above.
    Optimizer: L-BFGS from classical scaling, with a sigma that falls to its value, then points moved one by one to
    where they fit better; points that it leaves free come no farther from the middle than the data's largest distance.
    Above 2,000 rows landmarks are mapped, each weighted by the rows nearest to it, and every
    other row is placed among them.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension d of the map.
    sigma : float > 0 or "auto", default="auto"
        The distance where both sigmoids are one half, in units of the distances. "auto": just below the most frequent
        distance, see `gnomon.affinities.sketch_map_advice`.
    high : (A, B), two numbers > 0, or "auto", default="auto"
        Exponents of F at small and at large distances, in the literature 2 to 12. "auto": A is the dimension of the
        data at small distances, between 2 and 12, and B = 6.
    low : (a, b), two numbers > 0, or "auto", default="auto"
        Exponents of f, in the literature 1 to 3; below a = 1 the force between close points is infinite. "auto":
        a = A d / D with the dimension D of the data, between 1 and 3, and b = 3.
    n_landmarks : int >= 2 or "auto", default="auto"
        Rows whose distances are kept, all if there are no more. "auto": all up to 2,000, else 1,000.
    landmarks : {"maxmin", "random"}, default="maxmin"
        How they are chosen: each the row farthest from those before, or drawn, more where rows are dense.
    annealing : tuple of numbers > 0, default=(4.0, 2.0, 1.4)
        Multiples of sigma that the descent begins with, in turn; () for none.
    max_iter : int >= 0, default=300
        Iterations with the final sigma; a fifth of it with each one before, and again after each round of moves.
    tol : float >= 0, default=1e-5
        Relative gradient at which to stop.
    global_moves : int >= 0, default=1
        Rounds in which every point may move to where its own part of the loss is less. The loss falls with each move.
    metric : str or callable, default="euclidean"
        As in `gnomon.neighbors.cross_distances`; "precomputed" takes distances.
    metric_params, random_state, n_jobs : as in `TSNE`
        The seed used is ``seed_``.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the iteration early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, in units of the distances.
    sigma_ : float
        The sigma used.
    high_, low_ : (float, float)
        (A, B) and (a, b) used.
    advice_ : SketchMapAdvice or None
        What "auto" was read from; None where all were given.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Places of the landmarks among the distinct rows, in the order of their first copies.
    landmark_weights_ : ndarray of shape (n_landmarks,) or None
        Distinct rows nearest to each; None where all rows are landmarks and count alike.
    loss_ : float
        Weighted mean of (F - f)^2 over pairs of landmarks.
    n_moves_ : int
        Points moved in the rounds of moves.
    solution_, n_iter_, seed_, timings_
        As in `UMAP`; the points of the solution are the landmarks in units of sigma.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Simplifying the representation of complex free-energy landscapes using
       sketch-map", PNAS 108, 2011.
    .. [2] Ceriotti, Tribello & Parrinello, "Demonstrating the transferability and the descriptive power of sketch-map",
       Journal of Chemical Theory and Computation 9, 2013.
    """

    n_components: int = 2
    _: KW_ONLY
    sigma: Any = "auto"
    high: Any = "auto"
    low: Any = "auto"
    n_landmarks: Any = "auto"
    landmarks: str = "maxmin"
    annealing: tuple[float, ...] = (4.0, 2.0, 1.4)
    max_iter: int = 300
    tol: float = 1e-5
    global_moves: int = 1

    _rules: ClassVar[dict[str, Rule]] = {
        "sigma": Either(Real(0.0, low_open=True), Options("auto")),
        "high": Either(Numbers(0.0, low_open=True, length=2), Options("auto")),
        "low": Either(Numbers(0.0, low_open=True, length=2), Options("auto")),
        "n_landmarks": Either(Integer(2), Options("auto")),
        "landmarks": Options("maxmin", "random"),
        "annealing": Numbers(0.0, low_open=True),
        "max_iter": Integer(0),
        "tol": Real(0.0),
        "global_moves": Integer(0),
    }

    def _remember_features(self, table: Table) -> None:
        super()._remember_features(table)
        self.__dict__.pop("solution_", None)  # of an earlier fit; rows that are all equal have none

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return ", by landmarks" if _count_landmarks(parameters["n_landmarks"], n_samples) < n_samples else ""

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        n_landmarks = _count_landmarks(parameters["n_landmarks"], n_samples)
        # Bytes for a pair of landmarks: distances in single and double precision, and a start and targets made of them.
        between = 34.0 * float(n_landmarks) ** 2 + (2000.0 + 8.0 * n_features) * n_landmarks
        placed = 60.0 * n_landmarks * min(n_samples - n_landmarks, _ROWS)
        return Forecast(
            max(between, placed) + 16.0 * n_samples * parameters["n_components"] + 4e6,
            f"distances of {n_landmarks} x {n_landmarks} landmarks and what is made of them",
            f"Use n_landmarks={_LANDMARKS}, or fewer rows.",
        )

    def _embed(self, X: Any, parameters: dict[str, Any]) -> Float64Array:
        reporter = current_run().reporter
        _check_dense(X, parameters["metric"])
        reporter.begin("landmarks")
        distances = self._measure_landmarks(X, parameters)
        reporter.begin("affinities")
        self._choose_parameters(X, parameters)
        distances /= self.sigma_
        reporter.begin("initialization")
        start = classical_start(distances, parameters["n_components"], seed=self.seed_)
        self._lay_out(distances, start, parameters)
        n = int(X.shape[0])
        if len(self.landmark_indices_) == n:
            return np.array(self.landmark_positions_)
        reporter.begin("placement", n)
        return self._place_among_landmarks(X)

    def _measure_landmarks(self, X: Any, parameters: dict[str, Any]) -> Float64Array:
        """Choose the landmarks and return the distances between them."""
        n, metric = int(X.shape[0]), parameters["metric"]
        wanted = _count_landmarks(parameters["n_landmarks"], n)
        indices, weights = np.arange(n), None
        if wanted < n:
            chosen = choose_landmarks(
                X,
                wanted,
                method=parameters["landmarks"],
                metric=metric,
                metric_params=self.metric_params,
                seed=self.seed_,
                reporter=current_run().reporter,
            )
            indices, weights = chosen.indices, chosen.counts.astype(np.float64)
        given = isinstance(metric, str) and metric == "precomputed"
        rows = X if wanted >= n else X[np.ix_(indices, indices)] if given else X[indices]
        matrix, unit = distance_matrix(rows, metric=metric, metric_params=self.metric_params)
        distances = matrix.astype(np.float64) * unit
        self._same = (_SAME_SPARSE if scipy.sparse.issparse(X) else _SAME) * float(distances.max())
        # rows that nothing tells apart share the position of the first
        first = np.flatnonzero(~np.tril(distances <= self._same, -1).any(axis=1))
        self.landmark_indices_ = indices[first]
        self.landmark_weights_ = weights if weights is None else weights[first]
        self._landmark_rows = None if given else X[self.landmark_indices_]
        return distances[np.ix_(first, first)]

    def _choose_parameters(self, X: Any, parameters: dict[str, Any]) -> None:
        self.advice_ = None
        if "auto" in [parameters[name] for name in ("sigma", "high", "low") if isinstance(parameters[name], str)]:
            self.advice_ = sketch_map_advice(
                X,
                n_components=parameters["n_components"],
                metric=parameters["metric"],
                metric_params=self.metric_params,
                seed=self.seed_,
            )
        self.sigma_, self.high_, self.low_ = (
            getattr(self.advice_, name) if isinstance(parameters[name], str) else parameters[name]
            for name in ("sigma", "high", "low")
        )

    def _lay_out(self, distances: Float64Array, start: Float32Array, parameters: dict[str, Any]) -> None:
        """Descend from the start; distances and points are in units of sigma."""
        reporter = current_run().reporter
        max_iter, tol = parameters["max_iter"], parameters["tol"]

        def objective(sigma: float) -> SigmoidStress:
            return SigmoidStress(
                distances,
                SketchMapKernel(sigma, *self.high_),
                SketchMapKernel(sigma, *self.low_),
                weights=self.landmark_weights_,
            )

        short = LBFGS(max_iter=max_iter // _ANNEALING_SHARE, tol=tol)
        final = objective(1.0)
        stages = [(partial(objective, factor), short) for factor in parameters["annealing"]]
        reporter.begin("layout", max_iter)
        solution = minimize_in_stages(
            [*stages, (lambda: final, LBFGS(max_iter=max_iter, tol=tol))], start, reporter=reporter
        )
        self.n_moves_ = 0
        for _ in range(parameters["global_moves"]):
            reporter.begin("moves", len(start))
            Y, n_moved = move_points(
                final.high.of_distances(distances), solution.embedding, final.low, weights=self.landmark_weights_
            )
            if n_moved == 0:
                break
            self.n_moves_ += n_moved
            reporter.begin("layout", short.max_iter)
            before = solution.n_iter
            solution = minimize_in_stages([(lambda: final, short)], Y, reporter=reporter, n_iter=before)
        self._publish(_drawn_back(final, solution, float(distances.max())))

    def _publish(self, solution: Solution) -> None:
        self.solution_, self.n_iter_, self.loss_ = solution, solution.n_iter, solution.loss[-1][1]
        self._anchors = solution.embedding
        self.landmark_positions_ = solution.embedding.astype(np.float64) * self.sigma_

    def _place(self, X: Any) -> Float64Array:
        _check_dense(X, self.metric)
        return self._place_among_landmarks(X)

    def _place_among_landmarks(self, X: Any) -> Float64Array:
        """Return positions of rows, each by its distances to the landmarks; landmarks get their own."""
        anchors = self._anchors
        high, low = SketchMapKernel(1.0, *self.high_), SketchMapKernel(1.0, *self.low_)
        positions = np.empty((int(X.shape[0]), anchors.shape[1]))
        for begin in range(0, len(positions), _ROWS):
            rows = slice(begin, begin + _ROWS)
            distances = self._to_landmarks(X[rows])
            targets = high.of_distances(distances / self.sigma_)
            placed, _ = place_points(targets, anchors, low, weights=self.landmark_weights_)
            nearest = distances.argmin(axis=1)
            same = distances[np.arange(len(nearest)), nearest] <= self._same
            placed[same] = anchors[nearest[same]]
            positions[rows] = placed.astype(np.float64) * self.sigma_
            current_run().reporter.update(min(begin + _ROWS, len(positions)), len(positions))
        return positions

    def _to_landmarks(self, X: Any) -> Float64Array:
        if self._landmark_rows is None:
            return np.maximum(np.asarray(X[:, self.landmark_indices_], dtype=np.float64), 0.0)
        return cross_distances(X, self._landmark_rows, metric=self.metric, metric_params=self.metric_params)


def _drawn_back(objective: SigmoidStress, solution: Solution, farthest: float) -> Solution:
    """Bring points beyond the largest distance of the data back to it, if the loss hardly tells.

    Where both sigmoids are nearly 1 the loss is flat, and a step of the descent may end anywhere.
    """
    points = solution.embedding
    centre = np.median(points, axis=0)
    away = np.sqrt(np.square(points - centre).sum(axis=1))
    if not (away > farthest).any():
        return solution
    share = np.minimum(1.0, farthest / np.maximum(away, farthest))[:, None]
    drawn = (centre + (points - centre) * share).astype(points.dtype)
    loss, before = objective.loss(drawn), solution.loss[-1][1]
    if loss > before + _FLAT:
        return solution
    return replace(solution, embedding=drawn, loss=[*solution.loss[:-1], (solution.loss[-1][0], loss)])


def _count_landmarks(wanted: int | str, n_samples: int) -> int:
    if isinstance(wanted, str):
        return n_samples if n_samples <= _ALL_UP_TO else _LANDMARKS
    return min(wanted, n_samples)


def _check_dense(X: Any, metric: Any) -> None:
    if isinstance(metric, str) and metric == "precomputed" and scipy.sparse.issparse(X):
        raise ValueError(message("X", "dense for metric='precomputed'", fact="found a sparse matrix"))
