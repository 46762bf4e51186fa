"""densMAP: UMAP with a term that keeps the density around each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon.affinities import Affinities
from gnomon.methods.neighbor.base import Inputs
from gnomon.methods.neighbor.kept_structure import density_terms, unknown_radii
from gnomon.methods.neighbor.umap import UMAP
from gnomon.methods.other_names import UMAP_LEARN, other_names
from gnomon.objectives import AddedTerm

__all__ = ["DensMAP"]


@other_names(UMAP_LEARN)
@dataclass(eq=False, repr=False)
class DensMAP(UMAP):
    """densMAP: `UMAP` with other defaults, so that dense regions of the data stay dense in the map, sparse ones sparse.

    Input affinity: fuzzy simplicial set of the nearest neighbours. Output kernel: 1 / (1 + a d^(2b)). Loss:
    cross-entropy with sampled repulsion, minus the correlation of each row's log radius in the map with that in the
    data. Optimizer: Adam on all edges, sampled repulsions and the exact gradient of the correlation at once, so the
    same seed gives the same map for any number of threads. In the passes in which the correlation counts, its weight
    rises over the first half and repulsion is that of all rows, by a tree: sampled to the end, maps came to rest short
    of the optimum, with worse radii. More than three components are sampled throughout.

    The loss is that of the paper, sum_ij mu_ij (mean loss of an edge - weight * correlation): the weight means what it
    means in umap-learn.

    Parameters
    ----------
    n_neighbors : int >= 2, default=30
        Neighbours of each row, the row itself not counted (umap-learn counts it: its 30 is 29 here).
    n_components : int >= 1, default=2
        Dimension of the map.
    density : float >= 0, dict or None, default=2.0
        Weight of the correlation (umap-learn's dens_lambda); 0 or None gives the map of `UMAP` with
        evaluation="sampled", and the radii. A dict gives some of weight, begins (share of the passes after which the
        correlation counts, 0.7; 1 - dens_frac) and variance_shift (added to the variance of the map's log radii, 0.1;
        dens_var_shift).
    min_dist, spread, a, b, local_connectivity, set_op_mix_ratio, frames : as in `UMAP`
        Kernel, affinities, and the spread along tangent directions.
    metric, metric_params, precomputed_knn : as in `UMAP`
        Distances and neighbours.
    blocks, join : as in `UMAP`
        One block at most: distances in several have no common unit, and so no density.
    target_weight, target_metric : as in `UMAP`
        A target y; radii are those of the data alone.
    repulsion_strength, negative_sample_rate, evaluation, learning_rate, max_iter : as in `UMAP`
        The cross-entropy and its descent.
    init, random_state, n_jobs, callback, verbose : as in `UMAP`
        Start, seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    radii_ : ndarray of shape (n_samples,)
        Log of the mean squared distance of each row to its neighbours, weighted by the memberships.
    map_radii_ : ndarray of shape (n_samples,)
        The same in the map, weighted by the similarities there. Both are nan if all rows are equal.
    density_correlation_ : float
        Pearson correlation of the two; nan where one does not vary.
    graph_, affinities_, supervision_, kernel_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`, and with `frames` what is learned of them.

    References
    ----------
    .. [1] Narayan, Berger & Cho, "Assessing single-cell transcriptomic variability through density-preserving data
       visualization", Nature Biotechnology 39, 2021.
    """

    n_neighbors: int = 30
    _: KW_ONLY
    density: float | dict[str, Any] | None = 2.0

    _stages: ClassVar[Mapping[str, Cost]] = {**UMAP._stages, "layout": Cost(fixed=2e5, row=500.0, neighbor=60.0)}

    def _why_sampled(self, parameters: dict[str, Any]) -> str:
        return "its term of density joins the samples"

    def _terms(self, parameters: dict[str, Any], affinities: Affinities, inputs: Inputs) -> tuple[AddedTerm, ...]:
        density = parameters["density"]
        terms = density_terms(density, affinities, self.kernel_, inputs, always=True)
        return (*terms, *super()._terms({**parameters, "density": None}, affinities, inputs))

    def _repeat(self, copies: npt.NDArray[np.intp] | None) -> None:
        super()._repeat(copies)
        if self._one_place:
            self._keep_learned(unknown_radii(len(self.embedding_)))
