"""densMAP: UMAP with a term that keeps the density around each row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import Real, Rule
from gnomon.methods.neighbor.base import NeighborEmbedder, Recipe
from gnomon.methods.neighbor.density import density_terms
from gnomon.methods.neighbor.umap import UMAP_RULES, umap_kernel, umap_recipe

__all__ = ["DensMAP"]


@dataclass(eq=False, repr=False)
class DensMAP(NeighborEmbedder):
    """densMAP: dense regions of the data stay dense in the map, sparse ones sparse.

    Input affinity: fuzzy simplicial set of the nearest neighbours. Output kernel: 1 / (1 + a d^(2b)). Loss:
    cross-entropy with sampled repulsion, minus the correlation of each row's log radius in the map with that in the
    data. Optimizer: Adam on all edges, sampled repulsions and the exact gradient of the correlation at once, so the
    same seed gives the same map for any number of threads. In the passes in which the correlation counts, its weight
    rises over the first half and repulsion is that of all rows, by a tree: sampled to the end, maps came to rest short
    of the optimum, with worse radii. More than three components are sampled throughout.

    The loss is that of the paper, sum_ij mu_ij (mean loss of an edge - density_weight * correlation): the weight means
    what it means in umap-learn.

    Parameters
    ----------
    n_neighbors : int >= 2, default=30
        Neighbours of each row, the row itself not counted (umap-learn counts it: its 30 is 29 here).
    n_components : int >= 1, default=2
        Dimension of the map.
    density_weight : float >= 0, default=2.0
        Weight of the correlation (umap-learn's dens_lambda); 0 gives the map of `UMAP`.
    density_fraction : float in [0, 1], default=0.3
        Share of the passes, the last ones, in which the correlation counts (dens_frac).
    variance_shift : float >= 0, default=0.1
        Added to the variance of the map's log radii in the correlation (dens_var_shift).
    min_dist, spread, metric, metric_params, local_connectivity, set_op_mix_ratio : as in `UMAP`
        Kernel and affinities.
    repulsion_strength, negative_sample_rate, learning_rate, max_iter : as in `UMAP`
        The cross-entropy and its descent.
    init, random_state, n_jobs, callback : as in `UMAP`
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
    graph_, affinities_, kernel_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`.

    References
    ----------
    .. [1] Narayan, Berger & Cho, "Assessing single-cell transcriptomic variability through density-preserving data
       visualization", Nature Biotechnology 39, 2021.
    """

    n_neighbors: int = 30
    n_components: int = 2
    _: KW_ONLY
    density_weight: float = 2.0
    density_fraction: float = 0.3
    variance_shift: float = 0.1
    min_dist: float = 0.1
    spread: float = 1.0
    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0
    repulsion_strength: float = 1.0
    negative_sample_rate: int = 5
    learning_rate: float = 1.0
    max_iter: int | None = None
    init: Any = "spectral"

    _rules: ClassVar[dict[str, Rule]] = {
        **UMAP_RULES,
        "density_weight": Real(0.0),
        "density_fraction": Real(0.0, 1.0),
        "variance_shift": Real(0.0),
    }

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        self.kernel_ = umap_kernel("DensMAP", parameters)
        density = {
            "weight": parameters["density_weight"],
            "begins": 1.0 - parameters["density_fraction"],
            "variance_shift": parameters["variance_shift"],
        }
        return umap_recipe(
            parameters,
            self.kernel_,
            n_samples,
            lambda affinities, inputs: density_terms("DensMAP", density, affinities, self.kernel_, inputs, always=True),
        )

    def _repeat(self, copies: npt.NDArray[np.intp] | None) -> None:
        super()._repeat(copies)
        if self._one_place:
            self.radii_ = self.map_radii_ = np.full(len(self.embedding_), np.nan)
            self.density_correlation_ = float("nan")
