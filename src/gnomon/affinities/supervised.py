"""Affinities of rows that are near both in the data and in a target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log
from gnomon.affinities.affinity import Inputs, NeighborAffinity, NewRows
from gnomon.affinities.base import Affinities, usable_distances
from gnomon.affinities.fuzzy import membership_weights
from gnomon.data.target import Target
from gnomon.neighbors import compute_neighbors

__all__ = ["SupervisedAffinity"]

Float64Array = npt.NDArray[np.float64]
_Edges = tuple[npt.NDArray[np.int32], Float64Array]  # neighbours of each row, and the logarithms of their weights

_FAR = 5.0  # two rows of different classes are so far apart, in units of the bandwidth, at weight 1/2
_UNKNOWN = 1.0  # and a row from one whose class is unknown
_LARGEST_ODDS = 1e6


@dataclass(frozen=True)
class SupervisedAffinity:
    """The intersection of a table's affinities with those of a target, row by row, before directions are joined.

    With the odds o = weight / (1 - weight) of the target against the data, the weight v_ij of a neighbour becomes

    - for classes: v_ij exp(-5 o) where both rows have classes and they differ, v_ij exp(-min(1, o)) where one has none;
    - for numbers: v_ij^min(1, 1/o) t_ij^min(1, o), t the fuzzy memberships of the nearest rows in the target. A pair
      that is near in the data alone has exp(-5 o) for the second factor, one that is near in the target alone exp(-5/o)
      for the first, and v_ij exp(-min(1, o)) stands where one row has no number.

    Then each row is scaled back: to a largest membership of 1 ("local connectivity"), or to the sum 1 of a
    distribution. So a row without a class, or whose neighbours all have other classes, keeps its neighbours as they
    are, and a weight towards 0 leads to the affinities of the table alone.

    Parameters
    ----------
    affinity : NeighborAffinity
        Of the table.
    target : Target of n_samples rows
        Classes or numbers, of some rows at least.
    weight : float in [0, 1]
        Share of the target; at 1/2 these are the factors of umap-learn.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018 (fuzzy simplicial sets and their operations).
    """

    affinity: NeighborAffinity
    target: Target
    weight: float

    def __call__(self, inputs: Inputs) -> Affinities:
        """Return the affinities of table and target."""
        distances = usable_distances(inputs.neighbors)
        given = np.asarray(self.affinity.of_rows(distances), dtype=np.float64)
        with np.errstate(divide="ignore"):
            logs = log(given)
        indices, logs = (
            self._of_numbers(inputs, logs) if self.target.kind == "numbers" else self._of_classes(inputs, logs)
        )
        largest = logs.max(axis=1, initial=-np.inf, keepdims=True)
        weights = exp(logs - np.where(np.isfinite(largest), largest, 0.0)).astype(np.float32)
        if self.affinity.join == "membership":
            weights *= given.max(axis=1, initial=0.0, keepdims=True).astype(np.float32)
        return self.affinity.joined(indices, weights, inputs.masses)

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return the rule for new rows, whose target is not known: that of the table."""
        return self.affinity.new_rows(inputs)

    @property
    def _odds(self) -> float:
        return min(self.weight / max(1.0 - self.weight, 1e-12), _LARGEST_ODDS)

    def _both_known(self, indices: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        known = self.target.known
        return np.asarray(known[:, None] & known[indices])

    def _of_classes(self, inputs: Inputs, logs: Float64Array) -> _Edges:
        indices, values = inputs.neighbors.indices, self.target.values
        differ = np.where(values[:, None] == values[indices], 0.0, -_FAR * self._odds)
        unknown = -_UNKNOWN * min(1.0, self._odds)
        return indices, logs + np.where(self._both_known(indices), differ, unknown)

    def _of_numbers(self, inputs: Inputs, logs: Float64Array) -> _Edges:
        odds, indices = self._odds, inputs.neighbors.indices
        near, target_logs = self._near_in_target(inputs)
        n = len(indices)
        rows = np.arange(n, dtype=np.int64)[:, None] * n
        keys, target_keys = (rows + indices).ravel(), (rows + near).ravel()
        order = np.argsort(target_keys, kind="stable")
        at = order[np.minimum(np.searchsorted(target_keys, keys, sorter=order), len(order) - 1)]
        shared = (target_keys[at] == keys) & np.isfinite(target_logs.ravel()[at]) & np.isfinite(logs.ravel())
        second = np.where(shared, min(1.0, odds) * target_logs.ravel()[at], -_FAR * odds).reshape(logs.shape)
        second = np.where(self._both_known(indices), second, -_UNKNOWN * min(1.0, odds))
        alone = min(1.0, odds) * target_logs - _FAR / odds
        alone.ravel()[at[shared]] = -np.inf  # counted where they are near in the data
        return np.hstack([indices, near]), np.hstack([min(1.0, 1.0 / odds) * logs + second, alone])

    def _near_in_target(self, inputs: Inputs) -> tuple[npt.NDArray[np.int32], Float64Array]:
        """Return the rows nearest in the target and the logarithms of their memberships; -inf for a row without."""
        known = np.flatnonzero(self.target.known)
        values = self.target.values[known]
        scaled = ((values - values.mean()) / values.std())[:, None]
        n_neighbors = min(inputs.neighbors.n_neighbors, len(known) - 1)
        graph = compute_neighbors(scaled, n_neighbors, seed=inputs.seed)
        memberships, _, _ = membership_weights(usable_distances(graph))
        n = len(self.target.values)
        near, logs = np.zeros((n, n_neighbors), dtype=np.int32), np.full((n, n_neighbors), -np.inf)
        near[known] = known[graph.indices]
        logs[known] = log(memberships.astype(np.float64))
        return near, logs
