"""FeatMAP: UMAP with a term that keeps the spread of the rows along each tangent direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._estimator import check_is_fitted
from gnomon._validation import Either, Integer, Nothing, Real, Rule, message
from gnomon.affinities import Affinities, NewRows
from gnomon.geometry import local_jacobians
from gnomon.initialization import principal_rotation
from gnomon.methods.neighbor.base import Inputs, Recipe
from gnomon.methods.neighbor.kept_structure import frame_terms, median_dimension
from gnomon.methods.neighbor.umap import UMAP
from gnomon.methods.other_names import UMAP_LEARN, other_names
from gnomon.neighbors import NeighborGraph
from gnomon.objectives import AddedTerm
from gnomon.optimizers import SampledDescent

__all__ = ["FeatMAP"]


@dataclass(frozen=True)
class _NearestAffinity:
    """An affinity of the nearest of the neighbours found, whose graph is kept."""

    affinity: Any
    n_neighbors: int
    keep: Callable[[NeighborGraph], None]

    def __call__(self, inputs: Inputs) -> Any:
        """Return the affinities of a table."""
        graph = inputs.neighbors.nearest(self.n_neighbors)
        self.keep(graph)
        return self.affinity(replace(inputs, graph=graph))

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return the rule for new rows."""
        found: NewRows = self.affinity.new_rows(inputs)
        return found


@other_names(UMAP_LEARN)
@dataclass(eq=False, repr=False)
class FeatMAP(UMAP):
    """FeatMAP: `UMAP` that keeps how far the data spread along their tangent directions, and names their features.

    Input affinity: fuzzy simplicial set of the nearest neighbours. Output kernel: 1 / (1 + a d^(2b)). Loss:
    cross-entropy with sampled repulsion, minus the correlations of log spreads along each tangent direction in the map
    with those in the data. Optimizer: Adam on all edges, sampled repulsions and the exact gradient of the correlations
    at once, with no preferred axes: rotating or reflecting a start that is given does that to the map, no more.

    Each row gets a tangent frame, the leading singular vectors of its neighbours' weighted displacements, and the map a
    frame that follows it: the orthonormal frame closest to the local Jacobian, estimated anew every few passes. The
    authors' program compares the axes of the map instead, so its maps depend on how they lie, and starts from a map of
    the importances; here the start is UMAP's.

    Parameters
    ----------
    n_neighbors : int >= 2, default=30
        Neighbours of each row, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the map. As many leading tangent directions are compared, or as many as there are; a row with
        fewer directions takes no part in the others. Directions beyond ``dimension_`` hold what is left of the spread.
    frames : float >= 0, dict or None, default=0.5
        Weight of each of up to two correlations, in units of the loss of an edge; more weigh as much together as two.
        0 or None leaves the cross-entropy alone. A dict gives some of weight, begins (share of the passes after which
        the correlations count, 0.7), every (passes between two estimates of the map's frames, 10) and variance_shift
        (added to the variance of the map's log spreads, 0.1).
    tangent_neighbors : int >= 1 or None, default=None
        Neighbours of which tangent frames are made; None takes 2 * n_neighbors, or all others if there are fewer.
    variance_share : float in (0, 1], default=0.9
        Share of the local variance that the tangent space of a row holds.
    min_dist : float in [0, spread], default=0.5
        How close points may come in the map, in map units.
    metric : str or callable, default="euclidean"
        As in `UMAP`, but not "precomputed": frames are made of features. Under "periodic" and "haversine" they are
        those of neighbours at their nearest images, under every other metric of straight differences.
    spread, a, b, metric_params, precomputed_knn, local_connectivity, set_op_mix_ratio, density : as in `UMAP`
        Kernel, affinities, and the density of the rows.
    blocks, join : as in `UMAP`
        Only with frames=0: tangent directions are of all features.
    target_weight, target_metric : as in `UMAP`
        A target y; spreads are those of the data alone.
    repulsion_strength, negative_sample_rate, evaluation, learning_rate, max_iter : as in `UMAP`
        The cross-entropy and its descent.
    init : {"spectral", "pca", "random"} or ndarray of shape (n_samples, n_components), default="spectral"
        As in `UMAP`. An array is turned to its principal axes for the descent, and the map back, so that with a start
        in double precision rounding does not depend on how it lies either.
    random_state, n_jobs, callback, verbose : as in `UMAP`
        Seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    frames_ : TangentFrames
        Tangent frames of the distinct rows, with their singular values and dimensions.
    dimension_ : int
        Median number of tangent directions that hold variance_share of the local variance.
    importance_ : ndarray of shape (n_features,)
        Mean over the rows of how far each feature spreads within the tangent space, in units of the feature.
    embedding_frames_ : ndarray of shape (n_samples, n_components, n_directions)
        Columns: where each leading tangent direction points in the map; 0 for a direction that a row lacks.
    frame_correlation_ : ndarray of shape (n_directions,)
        Correlation of log spreads in map and data along each direction; nan where one does not vary.
    graph_ : NeighborGraph
        The n_neighbors nearest neighbours of the distinct rows.
    affinities_, supervision_, kernel_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`, and with `density` what is learned of it.

    References
    ----------
    .. [1] Yang, Sun, Gong & Yu, "Interpretable dimensionality reduction by feature preserving manifold approximation
       and projection", 2022.
    """

    n_neighbors: int = 30
    _: KW_ONLY
    frames: float | dict[str, Any] | None = 0.5
    tangent_neighbors: int | None = None
    variance_share: float = 0.9
    min_dist: float = 0.5

    _rules: ClassVar[dict[str, Rule]] = {
        **UMAP._rules,
        "tangent_neighbors": Either(Integer(1), Nothing()),
        "variance_share": Real(0.0, 1.0, low_open=True),
    }

    _stages: ClassVar[Mapping[str, Cost]] = {
        "affinities": Cost(fixed=2e5, row=0.0, neighbor=29.0),
        "initialization": Cost(fixed=2e5, row=0.0, neighbor=52.0),
        "layout": Cost(fixed=2e5, row=2150.0, neighbor=110.0, entry=3.0),
    }

    def _n_searched(self, parameters: dict[str, Any], n_samples: int) -> int:
        near: int = parameters["n_neighbors"]
        tangent: int | None = parameters["tangent_neighbors"]
        return max(near, 2 * near if tangent is None else tangent)

    def _why_sampled(self, parameters: dict[str, Any]) -> str:
        return "its term of frames joins the samples"

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        if isinstance(parameters["metric"], str) and parameters["metric"] == "precomputed":
            fact = "tangent frames are made of features"
            raise ValueError(message("metric='precomputed'", "a metric of rows with features", fact=fact))
        n_neighbors, tangent = parameters["n_neighbors"], parameters["tangent_neighbors"]
        if tangent is None:
            tangent = min(2 * n_neighbors, n_samples - 1)
        recipe = super()._recipe({**parameters, "tangent_neighbors": tangent}, n_samples)
        affinity = _NearestAffinity(recipe.affinity, n_neighbors, partial(setattr, self, "graph_"))
        # steps of 4, as UMAP's, would let rounding errors grow to another map
        self.learning_rate_ = 1.0 if parameters["learning_rate"] == "auto" else float(parameters["learning_rate"])
        optimizer = SampledDescent(recipe.optimizer.max_iter, learning_rate=self.learning_rate_, isotropic=True)
        return replace(recipe, n_neighbors=max(n_neighbors, tangent), affinity=affinity, optimizer=optimizer)

    def _terms(self, parameters: dict[str, Any], affinities: Affinities, inputs: Inputs) -> tuple[AddedTerm, ...]:
        """Return the terms, and remember what explains the map."""
        near = replace(inputs, graph=inputs.neighbors.nearest(parameters["tangent_neighbors"]))
        (term,) = frame_terms(
            parameters["frames"],
            affinities,
            self.kernel_,
            near,
            parameters,
            variance_share=parameters["variance_share"],
            always=True,
        )
        frames = term.tangent_frames
        assert frames is not None
        self._rows, self._tangent_graph = inputs.X, near.neighbors
        self.importance_ = frames.mean_importance(inputs.X)
        self.dimension_ = median_dimension(frames.dimension)
        return (*super()._terms({**parameters, "frames": None}, affinities, inputs), term)

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[np.float32]:
        axes = None
        if isinstance(parameters["init"], np.ndarray):
            axes = principal_rotation(parameters["init"])
            parameters["init"] = np.asarray(parameters["init"], dtype=np.float64) @ axes
        places = super()._embed(X, parameters)
        if axes is not None:  # the map lies as the start lay
            places = np.asarray(places @ axes.T, dtype=np.float32)
            self._learn = partial(_rotated, self._learn, axes)
            self.solution_ = replace(self.solution_, embedding=places)
            self.placement_ = None if self.placement_ is None else replace(self.placement_, Y=places)
        self._places = places
        return places

    def _repeat(self, copies: npt.NDArray[np.intp] | None) -> None:
        super()._repeat(copies)
        self._distinct = copies
        if self._one_place:
            self.dimension_, self.importance_ = 0, np.zeros(self.n_features_in_)
            shape = (len(self.embedding_), self._n_features_out, 0)
            self._keep_learned({"embedding_frames_": np.zeros(shape), "frame_correlation_": np.zeros(0)})

    @entrance()
    def feature_importance(self, rows: Any = None, *, weighted: bool = True) -> npt.NDArray[np.float32]:
        """Return how far each feature spreads within the tangent space of each row, (len(rows), n_features).

        Parameters
        ----------
        rows : int or array of row numbers, default=None
            Rows of the fitted table; all by default.
        weighted : bool, default=True
            If True, in units of the feature: the root mean square displacement along the tangent directions. If False,
            the share of the feature's axis that lies in the tangent space, in [0, 1], as in the paper.

        Returns
        -------
        ndarray of shape (len(rows), n_features), float32
            NaN where there is no frame.
        """
        at = self._positions(np.arange(len(self.embedding_)) if rows is None else rows)
        if self._one_place:
            return np.full((len(at), self.n_features_in_), np.nan, dtype=np.float32)
        found: npt.NDArray[np.float32] = self.frames_.importance(self._rows, at, weighted=weighted)
        return found

    @entrance()
    def feature_loadings(self, row: int) -> npt.NDArray[np.float64]:
        """Return the biplot axes of a row: where one unit of each feature moves it in the map.

        The Jacobian of the map on the row's tangent space, fitted to its neighbours' displacements, times the tangent
        frame.

        Parameters
        ----------
        row : int
            Number of the row in the fitted table.

        Returns
        -------
        ndarray of shape (n_components, n_features)
            In units of the map per unit of the feature; exactly 0 for a feature that is constant among the neighbours,
            NaN for a row without a tangent space.
        """
        at = self._positions(row)
        if self._one_place:
            return np.full((self._n_features_out, self.n_features_in_), np.nan)
        jacobians = local_jacobians(
            self._rows,
            self._places,
            self._tangent_graph,
            weights=self.frames_.weights,
            rows=at[:1],
            variance_share=self.variance_share,
        )
        return jacobians.axes(self._rows, 0)

    def _positions(self, rows: Any) -> npt.NDArray[np.intp]:
        """Return the positions of fitted rows among the distinct ones, or raise an error."""
        check_is_fitted(self)
        wanted = np.atleast_1d(np.asarray(rows))
        n = len(self.embedding_)
        if (
            wanted.ndim != 1
            or wanted.dtype.kind not in "iu"
            or (wanted.size and not 0 <= wanted.min() <= wanted.max() < n)
        ):
            raise ValueError(message(f"rows={rows}", f"row numbers from 0 to {n - 1}"))
        found: npt.NDArray[np.intp] = wanted.astype(np.intp) if self._distinct is None else self._distinct[wanted]
        return found


def _rotated(
    learn: Callable[[npt.NDArray[np.intp] | None], dict[str, Any]],
    turn: npt.NDArray[np.float64],
    copies: npt.NDArray[np.intp] | None,
) -> dict[str, Any]:
    """Return what was learned, the frames in the map turned by an orthogonal matrix, which stands on their left."""
    learned = learn(copies)
    return {**learned, "embedding_frames_": np.einsum("ca,ial->icl", turn, learned["embedding_frames_"])}
