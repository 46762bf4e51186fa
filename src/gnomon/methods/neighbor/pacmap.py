"""PaCMAP: near, mid-near and further pairs, rational kernels, three phases of weights, Adam."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Either, Integer, Nothing, Real, Rule
from gnomon.affinities import PacmapAffinity
from gnomon.initialization import rescale
from gnomon.methods.neighbor.base import NeighborEmbedder, Recipe
from gnomon.methods.neighbor.reduction import at_most_half, principal_rows, reduced_width
from gnomon.methods.other_names import PACMAP, other_names
from gnomon.objectives import PacmapLoss
from gnomon.optimizers import Adam

__all__ = ["EXTRA", "PaCMAP"]

EXTRA = 50
"""Further neighbours among which those of smallest scaled distance are chosen."""
_SMALL = 10_000  # rows up to which 10 neighbours are the default
_START_SPREAD = 0.01  # standard deviation of the start along its first axis


@other_names(PACMAP)
@dataclass(eq=False, repr=False)
class PaCMAP(NeighborEmbedder):
    """Pairwise controlled manifold approximation.

    Input: near pairs (neighbours), mid-near pairs (the second nearest of six random rows) and further pairs (random
    rows). Output kernels: 1 / (1 + c d) with d = 1 + squared distance and a c for each kind. Loss: their sum, with
    weights that first place groups, by mid-near pairs, and later neighbours. Optimizer: Adam.

    Parameters
    ----------
    n_neighbors : int >= 1 or None, default=None
        Near pairs of each row, the row itself not counted. None takes 10 up to 10,000 rows and 10 + 15 (log10 n - 4)
        above. At most half of the other rows are taken.
    n_components : int >= 1, default=2
        Dimension of the map.
    mid_near_ratio : float >= 0, default=0.5
        Mid-near pairs for each near pair.
    further_ratio : float >= 0, default=2.0
        Further pairs for each near pair.
    learning_rate : float > 0, default=1.0
        About the distance a point moves in an iteration along each axis, at most.
    max_iter : int >= 0, default=450
        Iterations; the three phases take 2/9, 2/9 and 5/9 of them.
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
    affinities_ : PacmapPairs
        Pairs of the distinct rows.
    solution_ : Solution
        Loss history under the weights of the moment, reason for stopping, times.
    n_iter_, seed_, init_, evaluation_, timings_
        What was used, and seconds by stage.

    Notes
    -----
    `place` puts a new row where its own part of the loss of the last phase is least: near pairs to fitted rows,
    chosen as in the fit, and further pairs replaced by their mean over all fitted points. Rows are compared in all
    features.

    References
    ----------
    .. [1] Wang, Huang, Rudin & Shaposhnik, "Understanding how dimension reduction tools work: an empirical approach to
       deciphering t-SNE, UMAP, TriMap, and PaCMAP for data visualization", JMLR 22, 2021.
    """

    n_neighbors: int | None = None
    n_components: int = 2
    _: KW_ONLY
    mid_near_ratio: float = 0.5
    further_ratio: float = 2.0
    learning_rate: float = 1.0
    max_iter: int = 450

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Either(Integer(1), Nothing()),
        "mid_near_ratio": Real(0.0),
        "further_ratio": Real(0.0),
        "learning_rate": Real(0.0, low_open=True),
        "max_iter": Integer(0),
    }

    def _stages_of(self, parameters: dict[str, Any], n_neighbors: int) -> Mapping[str, Cost]:
        pairs = max(1, n_neighbors - EXTRA) * (1.0 + parameters["mid_near_ratio"] + parameters["further_ratio"])
        return {
            "affinities": Cost(fixed=2e5, row=41.0 * pairs, neighbor=8.0),
            "initialization": Cost(fixed=2e5, row=41.0 * pairs, neighbor=8.0),
            "layout": Cost(fixed=2e5, row=61.0 * pairs, neighbor=8.0),
        }

    def _n_searched(self, parameters: dict[str, Any], n_samples: int) -> int:
        return _n_near(parameters["n_neighbors"], n_samples) + EXTRA

    def _n_reduced(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> float:
        return reduced_width(parameters["metric"], n_samples, n_features)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        n_neighbors = at_most_half(_n_near(parameters["n_neighbors"], n_samples), n_samples)
        return Recipe(
            n_neighbors=min(n_neighbors + EXTRA, n_samples - 1),
            affinity=PacmapAffinity(
                n_neighbors,
                parameters["mid_near_ratio"],
                parameters["further_ratio"],
                parameters["metric"],
                parameters["metric_params"],
            ),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda pairs, inputs: PacmapLoss(pairs),
            optimizer=Adam(parameters["learning_rate"], max_iter=parameters["max_iter"]),
            reduce=principal_rows(parameters["metric"], n_samples, self.n_features_in_),
        )

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        return max(1, wanted - EXTRA)


def _n_near(wanted: int | None, n_samples: int) -> int:
    """Return the neighbours that are attracted, by the authors' rule if none are asked for."""
    if wanted is not None:
        return wanted
    return 10 if n_samples <= _SMALL else round(10 + 15 * (math.log10(n_samples) - 4))
