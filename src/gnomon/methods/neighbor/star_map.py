"""StarMAP: UMAP with attraction to stars, the means of clusters placed by principal components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._validation import Integer, Real, Rule, message
from gnomon.affinities import Affinities
from gnomon.initialization import initialize
from gnomon.linalg import procrustes
from gnomon.methods.neighbor.base import Inputs, Prepared
from gnomon.methods.neighbor.umap import UMAP
from gnomon.methods.other_names import UMAP_LEARN, other_names
from gnomon.neighbors import k_means
from gnomon.objectives import AddedTerm, StarAttraction

__all__ = ["StarMAP"]

_WIDTH = 20.0  # of the principal components along their longest side, in units of the map
_TOGETHER = 1024  # rows that are centred in double
_WIDEST = 50  # columns; of wider tables clusters are found along so many principal components


@other_names(UMAP_LEARN)
@dataclass(eq=False, repr=False)
class StarMAP(UMAP):
    """StarMAP: `UMAP` whose points are drawn to stars as well, so that clusters lie as principal components place them.

    Input affinity: fuzzy simplicial set of the nearest neighbours, and clusters by k-means. Output kernel:
    1 / (1 + a d^(2b)). Loss: cross-entropy with sampled repulsion, and the attraction of each point to its star, the
    mean of its cluster at its place along the leading principal components, which stays. Optimizer: Adam on all edges,
    stars and sampled repulsions.

    Parameters
    ----------
    n_neighbors, n_components, min_dist, spread, a, b : as in `UMAP`
        Neighbours, dimension and kernel.
    n_stars : int >= 1, default=30
        Clusters; no more than there are distinct rows.
    star_weight : float >= 0, default=0.1
        Pull of a star, as a multiple of the pull that all neighbours of a mean point have at the same distance; 0 is
        UMAP with a start by principal components.
    init : as in `UMAP`, default="pca"
        A named start is turned, moved and scaled to the principal components on which the stars lie.
    local_connectivity, set_op_mix_ratio, density, frames, blocks, join : as in `UMAP`
        Affinities and further terms.
    metric, metric_params, precomputed_knn, target_weight, target_metric : as in `UMAP`
        Distances and neighbours, and a target y. Clusters and components are those of the table; distances alone,
        metric="precomputed", have none.
    repulsion_strength, negative_sample_rate, evaluation, learning_rate, max_iter : as in `UMAP`
        The cross-entropy and its descent. Maps on surfaces have no stars.
    random_state, n_jobs, callback, verbose : as in `UMAP`
        Seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    stars_ : ndarray of shape (n_stars, n_components), float64
        Where the stars lie; only with a weight.
    star_of_rows_ : ndarray of shape (n_samples,), int64
        The number of the star of each row; only with a weight.
    graph_, affinities_, supervision_, kernel_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`.

    Notes
    -----
    Stars and attraction are those of the paper's description: k-means in the data, stars placed together with the data
    by principal components and held there, attraction by the kernel of the map. How strongly a star pulls and how wide
    the components are drawn, 20 units along their longest side, are choices made here. Of tables of more than 50
    columns clusters are found along 50 principal components.

    `place` puts a new row where its neighbours draw it, as in `UMAP`.

    References
    ----------
    .. [1] Watanabe, Maeda, Ogawa & Haseyama, "StarMAP: global neighbor embedding for faithful data visualization",
       arXiv:2502.03776, 2025.
    """

    _: KW_ONLY
    n_stars: int = 30
    star_weight: float = 0.1
    init: Any = "pca"

    _rules: ClassVar[dict[str, Rule]] = {**UMAP._rules, "n_stars": Integer(1), "star_weight": Real(0.0)}

    _stages: ClassVar[Mapping[str, Cost]] = {
        **UMAP._stages,
        "initialization": replace(UMAP._stages["initialization"], row=UMAP._stages["initialization"].row + 500.0),
        "layout": replace(UMAP._stages["layout"], row=UMAP._stages["layout"].row + 150.0),
    }

    def _prepare(self, X: Any, parameters: dict[str, Any]) -> Prepared:
        weight = parameters["star_weight"]
        if weight > 0.0 and parameters["metric"] == "precomputed":
            fact, remedy = "distances have no principal components", "Pass the rows, or use UMAP."
            raise ValueError(
                message("metric='precomputed'", "a metric of rows with features", fact=fact, remedy=remedy)
            )
        if weight > 0.0 and parameters["output_metric"] != "euclidean":
            what = f"output_metric={parameters['output_metric']!r}"
            raise ValueError(message(what, "'euclidean' with stars", remedy="Pass star_weight=0."))
        prepared = super()._prepare(X, parameters)
        if weight > 0.0:
            parameters["places"] = self._places(prepared.inputs, parameters)
        return prepared

    def _start(self, prepared: Prepared) -> npt.NDArray[Any]:
        first = super()._start(prepared)
        if prepared.parameters["star_weight"] == 0.0 or not isinstance(self.init, str):
            return first
        onto = procrustes(first, prepared.parameters["places"])
        return onto.apply(first.astype(np.float64)).astype(np.float32)

    def _why_sampled(self, parameters: dict[str, Any]) -> str:
        if parameters["star_weight"] > 0.0:
            return "the term of stars joins the samples"
        return super()._why_sampled(parameters)

    def _terms(self, parameters: dict[str, Any], affinities: Affinities, inputs: Inputs) -> tuple[AddedTerm, ...]:
        terms = super()._terms(parameters, affinities, inputs)
        if parameters["star_weight"] == 0.0:
            return terms
        rows = self._start_rows(inputs.X, parameters)
        count = int(rows.shape[0])
        cells = k_means(_coordinates(rows, inputs.seed), min(parameters["n_stars"], count), seed=inputs.seed)
        masses = np.ones(count) if inputs.masses is None else inputs.masses
        sums = np.stack([np.bincount(cells, weights=masses * column) for column in parameters["places"].T], axis=1)
        stars = sums / np.bincount(cells, weights=masses)[:, None]
        weight = parameters["star_weight"]
        return (*terms, StarAttraction(stars, cells, self.kernel_, masses=inputs.masses, weight=weight))

    def _places(self, inputs: Inputs, parameters: dict[str, Any]) -> npt.NDArray[np.float64]:
        """Return the rows along their principal components, in units of the map."""
        rows, n_components = self._start_rows(inputs.X, parameters), parameters["n_components"]
        scores = initialize("pca", X=rows, n_components=n_components, seed=inputs.seed).embedding.astype(np.float64)
        scores -= scores.mean(axis=0)
        longest = float(np.ptp(scores, axis=0).max())
        return scores * (_WIDTH * parameters["spread"] / longest if longest > 0 else 1.0)


def _coordinates(rows: Any, seed: int) -> npt.NDArray[np.float32]:
    """Return dense rows of few columns, in which clusters are found: centred before they are rounded to float32."""
    if isinstance(rows, np.ndarray) and rows.shape[1] <= _WIDEST:
        mean, blocks = rows.mean(axis=0, dtype=np.float64), range(0, len(rows), _TOGETHER)
        largest = max(float(np.abs(rows[begin : begin + _TOGETHER] - mean).max()) for begin in blocks)
        small, exponent = np.empty(rows.shape, np.float32), -int(np.frexp(largest)[1])
        for begin in blocks:
            some = slice(begin, begin + _TOGETHER)
            small[some] = np.ldexp(rows[some] - mean, exponent)
        return small
    return initialize("pca", X=rows, n_components=min(_WIDEST, *rows.shape), seed=seed).embedding
