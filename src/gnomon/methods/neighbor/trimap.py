"""TriMap: weighted triplets, ratio of distances, descent with momentum and gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Integer, Real, Rule
from gnomon.affinities import trimap_triplets
from gnomon.affinities.candidates import local_scales
from gnomon.extension import TripletPlacement
from gnomon.initialization import rescale
from gnomon.methods.neighbor.base import NeighborEmbedder, Recipe
from gnomon.methods.neighbor.reduction import at_most_half, principal_rows, reduced_width
from gnomon.objectives import TripletLoss
from gnomon.optimizers import GradientDescent

__all__ = ["TriMap"]

_EXTRA = 50  # further neighbours among which those of smallest scaled distance are chosen
_START_SPREAD = 0.01  # standard deviation of the start along its first axis
_SLOW_ITERATIONS = 250  # the momentum is 0.5 so long, then 0.8


@dataclass(eq=False, repr=False)
class TriMap(NeighborEmbedder):
    """Large-scale dimensionality reduction using triplets.

    Input: triplets (i, j, k) of a point, a neighbour and an outlier, weighted by how much farther the outlier is; and
    random ones. Output kernel: d_ij / (d_ij + d_ik) with d = 1 + squared distance. Loss: its weighted sum. Optimizer:
    gradient descent with momentum and gains.

    Parameters
    ----------
    n_neighbors : int >= 1, default=12
        Inliers of each row, the row itself not counted. At most half of the other rows are taken.
    n_components : int >= 1, default=2
        Dimension of the map.
    n_outliers : int >= 1, default=4
        Triplets of each inlier.
    n_random : int >= 0, default=3
        Random triplets of each row.
    temperature : float >= 0, default=0.5
        How far the weights are compressed: 0 not at all, 1 to their logarithm.
    learning_rate : float > 0, default=0.1
        Step size for the gradient of the summed loss.
    max_iter : int >= 0, default=400
        Iterations.
    metric : str or callable, default="euclidean"
        The names in the table of `gnomon.neighbors.compute_neighbors` run natively; other names, and callables,
        are those of scikit-learn's ``NearestNeighbors``; "precomputed" takes distances. Euclidean distances are taken
        along the first 100 principal components where there are more features.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"period": 360}`` of "periodic".
    precomputed_knn : as in `UMAP`
        Of these, 50 more than n_neighbors are used.
    init : {"pca", "spectral", "random"} or ndarray of shape (n_samples, n_components), default="pca"
        Start positions; named ones are scaled to a standard deviation of 0.01 along the first axis, an array is taken
        as it is. The start used is ``init_``.
    random_state : int, Generator, RandomState or None, default=None
        The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the layout early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    graph_ : NeighborGraph
        Nearest neighbours of the distinct rows, with the measured recall.
    affinities_ : Triplets
        Triplets of the distinct rows.
    solution_ : Solution
        Loss history, reason for stopping, times.
    n_iter_, seed_, init_, evaluation_, timings_
        What was used, and seconds by stage.

    Notes
    -----
    `place` puts a new row where its own triplets are best in order: of its inliers among the fitted rows,
    chosen as in the fit, and 128 fitted rows that all new ones share as outliers. Rows are compared in all
    features.

    References
    ----------
    .. [1] Amid & Warmuth, "TriMap: large-scale dimensionality reduction using triplets", arXiv:1910.00204, 2019.
    """

    n_neighbors: int = 12
    n_components: int = 2
    _: KW_ONLY
    n_outliers: int = 4
    n_random: int = 3
    temperature: float = 0.5
    learning_rate: float = 0.1
    max_iter: int = 400

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(1),
        "n_outliers": Integer(1),
        "n_random": Integer(0),
        "temperature": Real(0.0),
        "learning_rate": Real(0.0, low_open=True),
        "max_iter": Integer(0),
    }

    def _stages_of(self, parameters: dict[str, Any], n_neighbors: int) -> Mapping[str, Cost]:
        near = max(1, n_neighbors - _EXTRA)
        triplets = near * parameters["n_outliers"] + parameters["n_random"]
        return {
            "affinities": Cost(fixed=2e5, row=64.0 * triplets, neighbor=8.0),
            "initialization": Cost(fixed=2e5, row=38.0 * triplets, neighbor=8.0),
            "layout": Cost(fixed=2e5, row=49.0 * triplets, neighbor=8.0),
        }

    def _n_searched(self, parameters: dict[str, Any], n_samples: int) -> int:
        return int(parameters["n_neighbors"]) + _EXTRA

    def _n_reduced(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> float:
        return reduced_width(parameters["metric"], n_samples, n_features)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        n_neighbors = at_most_half(parameters["n_neighbors"], n_samples)
        return Recipe(
            n_neighbors=min(n_neighbors + _EXTRA, n_samples - 1),
            affinity=lambda inputs: trimap_triplets(
                inputs.X,
                inputs.neighbors,
                n_inliers=n_neighbors,
                n_outliers=parameters["n_outliers"],
                n_random=parameters["n_random"],
                temperature=parameters["temperature"],
                metric=parameters["metric"],
                metric_params=parameters["metric_params"],
                seed=inputs.seed,
            ),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda triplets, inputs: TripletLoss(triplets),
            optimizer=GradientDescent(
                parameters["learning_rate"],
                max_iter=parameters["max_iter"],
                early_momentum=0.5,
                early_exaggeration=1.0,
                early_exaggeration_iter=_SLOW_ITERATIONS,
            ),
            placement=lambda inputs, _objective, _positions: partial(
                TripletPlacement,
                scales=local_scales(inputs.neighbors),
                n_inliers=n_neighbors,
                temperature=parameters["temperature"],
            ),
            reduce=principal_rows(parameters["metric"], n_samples, self.n_features_in_),
        )

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        return max(1, wanted - _EXTRA)
