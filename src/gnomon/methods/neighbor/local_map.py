"""LocalMAP: PaCMAP whose last phase lets go of stretched edges and parts what the map crowds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, cast

import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._validation import Either, Nothing, Real, Rule
from gnomon.affinities import PacmapAffinity, PacmapPairs
from gnomon.methods.neighbor.base import Inputs, Recipe
from gnomon.methods.neighbor.pacmap import EXTRA, PaCMAP
from gnomon.methods.other_names import LOCALMAP, other_names
from gnomon.objectives import LocalmapLoss, NearbyPairs

__all__ = ["LocalMAP"]


@other_names(LOCALMAP)
@dataclass(eq=False, repr=False)
class LocalMAP(PaCMAP):
    """LocalMAP: `PaCMAP` that adjusts its pairs to the map of the moment, so that clusters part more sharply.

    Input: the near, mid-near and further pairs of PaCMAP. Output kernels: those of PaCMAP; in the last phase near pairs
    pull nearby_distance / 2 / sqrt(d) times as PaCMAP's do, d = 1 + squared distance, and further pairs are drawn anew
    every 10 iterations among points within nearby_distance in the map. Loss: their sum. Optimizer: Adam.

    Parameters
    ----------
    n_neighbors : int >= 1 or None, default=None
        As in `PaCMAP`.
    n_components : int >= 1, default=2
        Dimension of the map.
    nearby_distance : float > 0 or None, default=10.0
        Within which distance, in units of the map, further pairs are drawn in the last phase; twice the distance at
        which a near pair pulls as PaCMAP's. More draws neighbours together harder: groups are tighter and farther
        apart. None leaves the pairs as they are: PaCMAP.
    mid_near_ratio, further_ratio, learning_rate, max_iter : as in `PaCMAP`
        Pairs and their descent.
    metric, metric_params, precomputed_knn : as in `PaCMAP`
        Distances and neighbours.
    init, random_state, n_jobs, callback, verbose : as in `PaCMAP`
        Start, seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    graph_, affinities_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `PaCMAP`.

    Notes
    -----
    The last phase begins at 4/9 of the iterations, with nearby pairs drawn at once; the authors' program begins it one
    iteration later and draws first at the tenth. Where 100 draws find no point within the distance, one of the further
    pairs that the row began with stands in.

    `place` puts a new row where its own part of the loss of the last phase is least: near pairs to fitted rows, chosen
    as in the fit, and the repulsion of all fitted points, as strong on average as that of nearby pairs in the map.

    References
    ----------
    .. [1] Wang, Sun, Huang & Rudin, "Dimension reduction with locally adjusted graphs", AAAI 2025.
    """

    _: KW_ONLY
    nearby_distance: float | None = 10.0

    _rules: ClassVar[dict[str, Rule]] = {
        **PaCMAP._rules,
        "nearby_distance": Either(Real(0.0, low_open=True), Nothing()),
    }

    def _stages_of(self, parameters: dict[str, Any], n_neighbors: int) -> Mapping[str, Cost]:
        stages = super()._stages_of(parameters, n_neighbors)
        if parameters["nearby_distance"] is None:
            return stages
        drawn = max(1, n_neighbors - EXTRA) * parameters["further_ratio"]
        return {**stages, "layout": replace(stages["layout"], row=stages["layout"].row + 60.0 * drawn)}

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        recipe, distance = super()._recipe(parameters, n_samples), parameters["nearby_distance"]
        if distance is None:
            return recipe
        affinity = _KeptPartners(cast(PacmapAffinity, recipe.affinity))

        def objective(pairs: PacmapPairs, inputs: Inputs) -> LocalmapLoss:
            near, _, further = affinity.take()
            return LocalmapLoss(pairs, NearbyPairs(near, further, distance, seed=inputs.seed))

        return replace(recipe, affinity=affinity, objective=objective)


class _KeptPartners:
    """PaCMAP's affinity, which keeps the partners that rows choose until the loss takes them."""

    def __init__(self, affinity: PacmapAffinity) -> None:
        self._affinity, self.new_rows = affinity, affinity.new_rows
        self._chosen: tuple[npt.NDArray[Any], ...] = ()

    def __call__(self, inputs: Inputs) -> PacmapPairs:
        """Return the pairs of a table."""
        self._chosen = chosen = self._affinity.chosen(inputs)
        return self._affinity(inputs, chosen)

    def take(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the partners, and keep them no longer."""
        taken, self._chosen = self._chosen, ()
        return taken
