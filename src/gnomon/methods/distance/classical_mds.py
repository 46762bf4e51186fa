"""Classical multidimensional scaling: inner products that distances imply, solved as an eigenproblem."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon.affinities import Gram
from gnomon.data import warn_of_one_row
from gnomon.linalg import (
    ClassicalScaling,
    PrincipalComponents,
    classical_scaling,
    principal_components,
    reflected_rows,
)
from gnomon.linalg.principal.scatter import centring_memory
from gnomon.methods.base import DifferentiableScores, PlacesRows
from gnomon.methods.forecast import FEWER_ROWS, STRIPS, Forecast
from gnomon.methods.linear.subspace import linear_derivative
from gnomon.methods.parameters import check_n_components
from gnomon.methods.weighted import WeightedRowEmbedder
from gnomon.neighbors import NATIVE_METRICS, cross_distances, distance_matrix, distances_to_fitted

__all__ = ["ClassicalMDS"]


_COPIES = Cost(fixed=1e5, row=32.0, entry=16.0)  # bytes: of the rows, for what the map leaves out


@dataclass(eq=False, repr=False)
class ClassicalMDS(WeightedRowEmbedder, PlacesRows, DifferentiableScores):
    """Place points so that their inner products are those that the distances of the rows imply.

    Input affinity: B = -H D^2 H / 2 of the squared distances D^2, H subtracting the mean. Output kernel: inner
    product. Loss: the strain, the sum of squares of B - Y Y'. Optimizer: an eigenproblem. For Euclidean distances of
    rows it is PCA, and computed as PCA, without a matrix of all pairs.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map, at most n_samples.
    metric : str or callable, default="euclidean"
        A metric of `gnomon.neighbors.cross_distances`, or "precomputed": X holds the distances of all pairs. They need
        not be Euclidean.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the start of the eigensolver. The one used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress`.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, in the units of the distances, centred; zeros along an axis whose eigenvalue is not positive.
    eigenvalues_ : ndarray of shape (n_components,)
        The largest of B, falling: the sums of squares along the axes.
    smallest_eigenvalue_ : float
        Of B; negative if no points of any dimension have these distances. 0 for Euclidean distances of rows.
    strain_ : float
        Sum of the squared differences between B and the inner products of the map.
    normalized_strain_ : float
        The same as a share of the sum of squares of B, in [0, 1].
    seed_ : int
    timings_ : dict of str to float
        Seconds by stage.

    References
    ----------
    .. [1] Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
    .. [2] Gower, "Adding a point to vector diagrams in multivariate analysis", Biometrika 55, 1968 (new rows).
    """

    n_components: int = 2
    _: KW_ONLY

    _merges_equal_rows: ClassVar[bool] = False

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        if self._by_components(parameters["metric"]):
            needed = centring_memory(n_samples, parameters["n_varying"], parameters["itemsize"]) + _COPIES.of(
                n_samples, n_features
            )
            return Forecast(needed, f"a block of rows, directions and scores of {n_samples:,} rows", FEWER_ROWS)
        given = isinstance(parameters["metric"], str) and parameters["metric"] == "precomputed"
        each = 9.0 if given else 8.0  # bytes for a pair: float64, and whether it is finite
        row = STRIPS if given else 0.5 * STRIPS + 8.0 * n_features
        return Forecast(
            each * float(n_samples) ** 2 + row * n_samples,
            f"distances of {n_samples} x {n_samples} pairs",
            "Use LandmarkMDS, or fewer rows.",
        )

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return "" if self._by_components(parameters["metric"]) else ", by distances"

    def _by_components(self, metric: Any) -> bool:
        """Whether principal components of the rows do, without distances."""
        return isinstance(metric, str) and NATIVE_METRICS.get(metric) == "euclidean" and not self.metric_params

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        reporter = current_run().reporter
        warn_of_one_row(X)
        n, n_components = int(X.shape[0]), parameters["n_components"]
        check_n_components(n_components, n, f"at most n_samples={n}")
        metric = parameters["metric"]
        if self._by_components(metric):
            reporter.begin("eigenvectors")
            return self._embed_rows(X, n_components, parameters["sample_weight"])
        reporter.begin("distances", n)
        distances, self._unit = distance_matrix(
            X, metric=metric, metric_params=self.metric_params, dtype=np.float64, reporter=reporter
        )
        reporter.begin("eigenvectors")
        weights = parameters["sample_weight"]
        model = classical_scaling(distances, n_components, weights=weights, seed=self.seed_)
        self._model: ClassicalScaling | PrincipalComponents = model
        self._rows = None if metric == "precomputed" else X
        unit = np.float64(self._unit)
        self.normalized_strain_ = model.normalized_strain
        with np.errstate(over="ignore"):
            self.eigenvalues_ = model.eigenvalues * unit**2
            self.smallest_eigenvalue_ = float(model.lowest_eigenvalue * unit**2)
            self.strain_ = float(model.strain * unit**4) if model.strain > 0.0 else 0.0
        return model.embedding * self._unit

    def _embed_rows(self, X: Any, n_components: int, weights: npt.NDArray[np.float64] | None) -> npt.NDArray[Any]:
        kept = min(n_components, *X.shape)
        model = principal_components(X, kept, weights=weights, seed=self.seed_)
        table = X if weights is None else reflected_rows(X, weights)[0]
        self._model, self._unit = model, 1.0
        self.eigenvalues_ = np.zeros(n_components)
        self.eigenvalues_[:kept] = np.square(model.singular_values)
        self.smallest_eigenvalue_ = 0.0
        largest = float(self.eigenvalues_[0])
        shares = np.square(self.eigenvalues_ / largest).sum() if largest > 0.0 else 0.0
        with np.errstate(over="ignore"), single_threaded_blas():
            total = Gram.from_features(table / np.sqrt(largest)).centred_squared_norm if largest > 0.0 else 0.0
            self.normalized_strain_ = max(0.0, 1.0 - float(shares) / total) if total > 0.0 else 0.0
            self.strain_ = float(np.float64(self.normalized_strain_) * total * np.float64(largest) ** 2)
        return self._place_rows(model, X)

    def _place_rows(self, model: PrincipalComponents, X: Any) -> npt.NDArray[np.float64]:
        scores = model.transform(X).astype(np.float64)
        return np.pad(scores, ((0, 0), (0, len(self.eigenvalues_) - scores.shape[1])))

    @property
    def _has_formula(self) -> bool:
        return isinstance(self._model, PrincipalComponents)

    def _derive(self, X: Any) -> npt.NDArray[np.float64]:
        if isinstance(self._model, PrincipalComponents):
            return linear_derivative(self._model, X.shape[0], self.n_features_in_, len(self.eigenvalues_))
        return super()._derive(X)

    def _place(self, X: Any) -> npt.NDArray[Any]:
        if isinstance(self._model, PrincipalComponents):
            return self._place_rows(self._model, X)
        if self._rows is None:
            distances = distances_to_fitted(X)
        else:
            distances = cross_distances(X, self._rows, metric=self.metric, metric_params=self.metric_params)
        return self._model.place(distances / self._unit) * self._unit
