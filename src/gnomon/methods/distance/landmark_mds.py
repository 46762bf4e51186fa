"""Landmark multidimensional scaling: classical scaling of a few rows, which place all others."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._run import current_run
from gnomon._validation import Boolean, Either, Integer, Options, Rule, message
from gnomon.data import warn_of_one_row
from gnomon.linalg import ClassicalScaling, PrincipalComponents, classical_scaling, principal_components
from gnomon.linalg.principal.scatter import centring_memory
from gnomon.methods.base import PlacesRows
from gnomon.methods.forecast import Forecast
from gnomon.methods.linear.subspace import linear_derivative
from gnomon.methods.rows import RowEmbedder
from gnomon.neighbors import (
    NATIVE_METRICS,
    Landmarks,
    choose_landmarks,
    cross_distances,
    distance_matrix,
    distances_to_fitted,
)
from gnomon.objectives import Stress
from gnomon.optimizers import Majorization, place_by_distances

__all__ = ["LandmarkMDS", "landmark_scaling"]

_MOST = 500  # landmarks that "auto" takes
_BLOCK = 2048  # rows placed at a time
_CHOSEN = Cost(fixed=2e5, row=16.0, entry=16.0)  # bytes: rows in double, and their differences
_TOLERANCE = 1e-4  # of the spread of the landmarks, of the last step that a refined row takes


def _by_components(metric: Any, metric_params: Any, *, refine: bool) -> bool:
    """Return whether principal components of the landmarks do, without distances."""
    euclidean = isinstance(metric, str) and NATIVE_METRICS.get(metric) == "euclidean"
    return euclidean and not refine and not metric_params


@dataclass(eq=False, repr=False)
class LandmarkMDS(RowEmbedder, PlacesRows):
    """Place a few rows by classical scaling, and all others by their distances to these.

    Input affinity: the inner products that the distances of the landmarks imply. Output kernel: inner product. Loss:
    the strain of the landmarks, or with ``refine`` their stress. Optimizer: an eigenproblem, or majorization. Only the
    distances to the landmarks are needed: n_samples x n_landmarks, some rows at a time.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map, at most the number of landmarks.
    n_landmarks : "auto" or int >= 1, default="auto"
        At least n_components + 1 are useful. "auto" takes 500, or all rows if there are fewer; the number used is
        ``n_landmarks_``.
    landmarks : {"maxmin", "random"}, default="maxmin"
        "maxmin": each landmark is the row farthest from those before it. "random": rows drawn at random.
    refine : bool, default=False
        Lower the stress instead: that of the landmarks among each other, then that of each row to the landmarks.
    metric, metric_params, n_jobs : as in `ClassicalMDS`
        Distance of rows, its arguments, and the number of threads.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the choice of landmarks. The one used is ``seed_``.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, in the units of the distances.
    landmarks_ : Landmarks
        The rows chosen, and which of them is nearest to each row.
    n_landmarks_ : int
        Fewer than asked for if other rows equal a landmark.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the landmarks, see `ClassicalMDS`.
    seed_ : int
    timings_ : dict of str to float
        Seconds by stage.

    References
    ----------
    .. [1] de Silva & Tenenbaum, "Sparse multidimensional scaling using landmark points", Stanford, 2004.
    """

    n_components: int = 2
    _: KW_ONLY
    n_landmarks: int | str = "auto"
    landmarks: str = "maxmin"
    refine: bool = False

    _merges_equal_rows: ClassVar[bool] = False
    _rules: ClassVar[dict[str, Rule]] = {
        "n_landmarks": Either(Options("auto"), Integer(1)),
        "landmarks": Options("maxmin", "random"),
        "refine": Boolean(),
    }

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        wanted = parameters["n_landmarks"]
        m = float(min(n_samples, _MOST) if wanted == "auto" else wanted)
        chosen = _CHOSEN.of(n_samples, n_features)
        peaks = {
            "landmarks": chosen,
            "eigenvectors": max(chosen, centring_memory(int(m), parameters["n_columns"], parameters["itemsize"])),
            "placement": chosen,
        }
        if not _by_components(parameters["metric"], self.metric_params, refine=parameters["refine"]):
            peaks["eigenvectors"] = chosen + 32.0 * m * m
            peaks["placement"] = chosen + 8.0 * m * m + 17.0 * m * min(n_samples, _BLOCK)
        return Forecast.of_stages(peaks, f"distances of {n_samples:,} rows to {m:,.0f} landmarks", "Lower n_landmarks.")

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        reporter = current_run().reporter
        warn_of_one_row(X)
        n, n_components = int(X.shape[0]), parameters["n_components"]
        wanted = parameters["n_landmarks"]
        wanted = min(n, _MOST) if wanted == "auto" else wanted
        for what, value, limit, name in (
            ("n_landmarks", wanted, n, "n_samples"),
            ("n_components", n_components, wanted, "n_landmarks"),
        ):
            if value > limit:
                raise ValueError(message(f"{what}={value}", f"at most {name}={limit}"))
        given = isinstance(parameters["metric"], str) and parameters["metric"] == "precomputed"
        if given and not isinstance(X, np.ndarray):
            X = distances_to_fitted(X)
        if given and X.shape[1] != n:
            rule = "square, one row and column a sample"
            raise ValueError(message(f"a distance matrix of shape {X.shape}", rule))
        reporter.begin("landmarks", wanted)
        self.landmarks_ = choose_landmarks(
            X,
            wanted,
            method=parameters["landmarks"],
            metric=parameters["metric"],
            metric_params=self.metric_params,
            seed=self.seed_,
            reporter=reporter,
        )
        self.n_landmarks_ = len(self.landmarks_.indices)
        reporter.begin("eigenvectors")
        self._fit_landmarks(X, n_components, given)
        reporter.begin("placement", n)
        return self._place_all(X[:, self.landmarks_.indices] if given else X)

    def _fit_landmarks(self, X: Any, n_components: int, given: bool) -> None:
        chosen = self.landmarks_.indices
        self._rows = None if given else X[chosen]
        kept = min(n_components, len(chosen))
        self._model: ClassicalScaling | PrincipalComponents | None = None
        self._unit = 1.0
        self.eigenvalues_ = np.zeros(n_components)
        if len(chosen) < 2:
            self._anchors = np.zeros((len(chosen), n_components))
            return
        if _by_components(self.metric, self.metric_params, refine=self.refine):
            kept = min(kept, X.shape[1])
            model = principal_components(X[chosen], kept, seed=self.seed_)
            self._model, self.eigenvalues_[:kept] = model, np.square(model.singular_values)
            return
        distances, self._unit = distance_matrix(
            X[np.ix_(chosen, chosen)] if given else self._rows,
            metric=self.metric,
            metric_params=self.metric_params,
            dtype=np.float64,
        )
        objective = Stress(distances) if self.refine else None
        scaling = self._model = classical_scaling(distances, kept, seed=self.seed_)
        with np.errstate(over="ignore"):
            self.eigenvalues_[:kept] = scaling.eigenvalues * np.float64(self._unit) ** 2
        if not np.isfinite(self.eigenvalues_).all():
            rule, fact = "of distances with finite squares", f"distances of landmarks come to {self._unit:.3g}"
            raise ValueError(message("X", rule, fact=fact, remedy=f"Pass X * 1e-{math.floor(math.log10(self._unit))}."))
        if objective is not None:
            points = Majorization().minimize(objective, self._padded(scaling.embedding)).embedding
            self._anchors = points.astype(np.float64)

    def _padded(self, points: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return np.pad(points.astype(np.float64), ((0, 0), (0, len(self.eigenvalues_) - points.shape[1])))

    def _place_all(self, X: Any) -> npt.NDArray[np.float64]:
        reporter = current_run().reporter
        parts = []
        for begin in range(0, int(X.shape[0]), _BLOCK):
            parts.append(self._place_block(X[begin : begin + _BLOCK]))
            reporter.update(min(begin + _BLOCK, int(X.shape[0])), int(X.shape[0]))
        return np.concatenate(parts)

    def _place_block(self, X: Any) -> npt.NDArray[np.float64]:
        if self._model is None:
            return np.zeros((int(X.shape[0]), len(self.eigenvalues_)))
        if isinstance(self._model, PrincipalComponents):
            return self._padded(self._model.transform(X))
        if self._rows is None:
            distances = distances_to_fitted(X)
        else:
            distances = cross_distances(X, self._rows, metric=self.metric, metric_params=self.metric_params)
        distances /= self._unit
        start = self._padded(self._model.place(distances))
        if self.refine:
            start = place_by_distances(self._anchors, distances, start, max_iter=100, tol=_TOLERANCE)
            same = distances.min(axis=1) == 0.0
            start[same] = self._anchors[distances[same].argmin(axis=1)]
        return start * self._unit

    @property
    def _has_formula(self) -> bool:
        return isinstance(self._model, PrincipalComponents)

    def _derive(self, X: Any) -> npt.NDArray[np.float64]:
        if isinstance(self._model, PrincipalComponents):
            return linear_derivative(self._model, X.shape[0], self.n_features_in_, len(self.eigenvalues_))
        return super()._derive(X)

    def _place(self, X: Any) -> npt.NDArray[Any]:
        if self._rows is None and self._model is not None:
            X = distances_to_fitted(X)[:, self.landmarks_.indices]
        return self._place_all(X)


def landmark_scaling(
    distances: npt.NDArray[Any], n_components: int, n_landmarks: int, *, seed: int = 0
) -> npt.NDArray[np.float64]:
    """Return the places of all rows of a matrix of distances by landmarks drawn at random.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples)
    n_components : int >= 1
    n_landmarks : int in [n_components, n_samples]
    seed : int in [0, 2**63), default=0

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    chosen: Landmarks = choose_landmarks(distances, n_landmarks, method="random", metric="precomputed", seed=seed)
    columns = distances[:, chosen.indices].astype(np.float64)
    scaling = classical_scaling(columns[chosen.indices], n_components, seed=seed)
    return scaling.place(columns)
