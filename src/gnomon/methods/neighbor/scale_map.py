"""ScaleMAP: UMAP of differences in units of local radii, so that dense regions of the data stay dense in the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._validation import Real, Rule, message
from gnomon.affinities import Affinities, LocalRadii
from gnomon.affinities.base import usable_distances
from gnomon.extension import ScaledPlacement
from gnomon.methods.neighbor.base import Inputs, Prepared
from gnomon.methods.neighbor.kept_structure import density_terms, unknown_radii
from gnomon.methods.neighbor.umap import UMAP
from gnomon.methods.other_names import UMAP_LEARN, other_names
from gnomon.objectives import AddedTerm, CrossEntropy, ScaledCrossEntropy

if TYPE_CHECKING:
    from gnomon.extension.sensitivity import DataLoss
    from gnomon.optimizers import Solution

__all__ = ["ScaleMAP"]


@other_names(UMAP_LEARN)
@dataclass(eq=False, repr=False)
class ScaleMAP(UMAP):
    """ScaleMAP: `UMAP` of differences over local radii, so that dense regions of the data stay dense, sparse ones wide.

    Input affinity: fuzzy simplicial set of the nearest neighbours. Output kernel: 1 / (1 + a d^(2b)) of
    d = |y_i - y_j| / sqrt(r_i r_j), with the radius r of the neighbourhood of each row in the data. Loss: cross-entropy
    with sampled repulsion. Optimizer: Adam on all edges and sampled repulsions, each point in units of its radius.

    Parameters
    ----------
    n_neighbors, n_components, min_dist, spread, a, b : as in `UMAP`
        Neighbours, dimension and kernel; distances at the usual radius.
    radius_power : float >= 0, default=1.0
        Power of the radii: with p a neighbourhood twice as wide as another in the data is drawn 2^p times as wide. 1 is
        the paper's, 0 is UMAP. Radii of data of many dimensions differ little: there 2 to 4 shows their density more
        clearly, and at half the intrinsic dimension areas in a plane are in the ratio of volumes in the data.
    local_connectivity, set_op_mix_ratio, frames, blocks, join : as in `UMAP`
        Affinities and the spread along tangent directions; of blocks one at most, as distances in several have no
        common unit.
    density : None or 0, default=None
        As in `UMAP`, with radius_power=0 alone.
    metric, metric_params, precomputed_knn, target_weight, target_metric : as in `UMAP`
        Distances and neighbours, and a target y; radii are those of the data alone. Maps on surfaces have no radii.
    repulsion_strength, negative_sample_rate, evaluation, learning_rate, max_iter : as in `UMAP`
        The cross-entropy and its descent; steps are in units of each point's radius.
    init, random_state, n_jobs, callback, verbose : as in `UMAP`
        Start, seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    scales_ : ndarray of shape (n_samples,), float64
        r, with a geometric mean of 1 over the distinct rows.
    radii_ : ndarray of shape (n_samples,)
        Log of the mean squared distance of each row to its neighbours, weighted by the memberships, as in `DensMAP`.
    map_radii_ : ndarray of shape (n_samples,)
        The same in the map, weighted by the similarities there. Both are nan if all rows are equal.
    density_correlation_ : float
        Pearson correlation of the two; nan where one does not vary.
    graph_, affinities_, supervision_, kernel_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`.

    Notes
    -----
    Differences over the geometric mean of the two radii, in UMAP's loss, are the paper's. Chosen here are the radius,
    the root of the mean squared distance to the n_neighbors neighbours, over the geometric mean of the table (weighted
    by the memberships, or the distance to the last neighbour, maps are as good); its bounds, 1,000 times less and more
    than the middle one, so that equal rows have a radius and a map of float32 shows all; and steps in units of the
    radius, with which dense groups come to rest as sparse ones do.

    `place` puts a new row where its own part of the loss is least, with the radius of its own distances to fitted rows.
    It is summed in NumPy, row by row; above 4,096 fitted rows 4,096 of them stand for the repulsion of all.

    References
    ----------
    .. [1] Poorna & Cicerone, "ScaleMAP: preserving local density and neighborhood structure in low-dimensional
       embeddings", arXiv:2605.30597, 2026.
    """

    _: KW_ONLY
    radius_power: float = 1.0

    _rules: ClassVar[dict[str, Rule]] = {**UMAP._rules, "radius_power": Real(0.0)}

    _stages: ClassVar[Mapping[str, Cost]] = {**UMAP._stages, "layout": Cost(fixed=2e5, row=500.0, neighbor=60.0)}

    def _prepare(self, X: Any, parameters: dict[str, Any]) -> Prepared:
        power = parameters["radius_power"]
        if power == 0.0:
            return super()._prepare(X, parameters)
        _refuse(parameters)
        prepared = super()._prepare(X, parameters)
        radii = LocalRadii.from_neighbors(prepared.inputs.neighbors, power)
        parameters["scales"] = radii.of(usable_distances(prepared.inputs.neighbors))
        parameters["placement"] = partial(ScaledPlacement, radii=radii)
        return prepared

    def _why_sampled(self, parameters: dict[str, Any]) -> str:
        if parameters["radius_power"] > 0.0:
            return "points have units of their own"
        return super()._why_sampled(parameters)

    def _loss(self, parameters: dict[str, Any]) -> Callable[..., CrossEntropy]:
        radii = parameters.get("scales")
        return CrossEntropy if radii is None else partial(ScaledCrossEntropy, radii=radii)

    def _terms(self, parameters: dict[str, Any], affinities: Affinities, inputs: Inputs) -> tuple[AddedTerm, ...]:
        terms = super()._terms(parameters, affinities, inputs)
        if parameters["radius_power"] == 0.0:
            return terms
        return (*density_terms(0.0, affinities, self.kernel_, inputs, always=True), *terms)

    def _conclude(self, prepared: Prepared, objective: Any, solution: Solution) -> npt.NDArray[Any]:
        positions = super()._conclude(prepared, objective, solution)
        scales, learn = prepared.parameters.get("scales"), self._learn
        if scales is not None:
            self._learn = lambda copies: {**learn(copies), "scales_": scales if copies is None else scales[copies]}
        return positions

    def _repeat(self, copies: npt.NDArray[np.intp] | None) -> None:
        super()._repeat(copies)
        if self._one_place and self.radius_power > 0.0:
            self._keep_learned({**unknown_radii(len(self.embedding_)), "scales_": np.ones(len(self.embedding_))})

    @staticmethod
    def _refuse_with_blocks(parameters: dict[str, Any], n_blocks: int) -> None:
        UMAP._refuse_with_blocks(parameters, n_blocks)
        if parameters["radius_power"] > 0.0 and n_blocks > 1:
            what, fact = f"radius_power={parameters['radius_power']}", "their distances have no common unit"
            raise ValueError(message(what, "0 where several blocks are given", fact=fact))

    def _loss_of_data(self, X: npt.NDArray[np.float64]) -> DataLoss:
        if self.radius_power > 0.0:
            fact, remedy = "radii follow the data as well", "Ask for jacobian, the derivative of transform."
            what = f"radius_power={self.radius_power}"
            raise ValueError(message(what, "0 for a sensitivity", fact=fact, remedy=remedy))
        return super()._loss_of_data(X)


def _refuse(parameters: dict[str, Any]) -> None:
    """Refuse what has no place beside radii."""
    if parameters["output_metric"] != "euclidean":
        what = f"output_metric={parameters['output_metric']!r}"
        raise ValueError(message(what, "'euclidean' with local radii", remedy="Pass radius_power=0."))
    if parameters["density"]:
        what, fact = f"density={parameters['density']!r:.60}", "the radii keep the density"
        remedy = "Pass radius_power=0, or use DensMAP."
        raise ValueError(message(what, "None or 0 with local radii", fact=fact, remedy=remedy))
