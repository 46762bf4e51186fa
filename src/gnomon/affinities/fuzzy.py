"""The fuzzy simplicial set of UMAP, as the weighted graph that it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import exp, log
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._validation import Real, Rule, check_parameters
from gnomon.affinities.affinity import Inputs, NeighborAffinity, NewRows, sums_to_one
from gnomon.affinities.base import Affinities, Join, fuzzy_union, usable_distances
from gnomon.affinities.derivatives import Float64, RowWeights, bisect_scale
from gnomon.neighbors.graph import NeighborGraph

__all__ = [
    "FuzzyAffinity",
    "MembershipRows",
    "fuzzy_simplicial_set",
    "membership_weights",
    "usual_distance",
]

Float32Array = npt.NDArray[np.float32]

_BANDWIDTH_FLOOR = 1e-3  # UMAP's: share of the mean distance
_RULES: dict[str, Rule] = {"local_connectivity": Real(0.0), "set_op_mix_ratio": Real(0.0, 1.0)}


def membership_weights(
    distances: Float32Array, *, local_connectivity: float = 1.0, usual_distance: float | None = None
) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Weigh the neighbours of each row by fuzzy membership, as UMAP does.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_neighbors), float32
        Ascending in each row, the row itself not counted. Entries that are not finite are left out and get weight 0.
    local_connectivity : float >= 0, default=1.0
        Number of neighbours with membership 1; between whole numbers the distance is interpolated.
    usual_distance : float >= 0 or None, default=None
        What bounds sigma from below where rho is 0; None takes the mean of all distances, so that rows depend on each
        other.

    Returns
    -------
    weights : ndarray of shape (n_rows, n_neighbors), float32
        exp(-max(0, d - rho) / sigma). The weights of a row of m neighbours sum to log2(m + 1), unless so many
        neighbours lie within rho that the sum cannot be as small; sigma is then 1/1000 of the mean distance.
    nearest : ndarray of shape (n_rows,), float32
        rho, the distance within which the membership is 1; 0 where all distances are.
    bandwidths : ndarray of shape (n_rows,), float32
        sigma, at least 1/1000 of the row's mean distance (of the usual distance where rho is 0).
    """
    weights, nearest, bandwidths = _core.membership_weights(
        distances, local_connectivity, -1.0 if usual_distance is None else usual_distance, current_run().n_threads
    )
    return weights, nearest, bandwidths


@part("fuzzy_simplicial_set")
def fuzzy_simplicial_set(
    graph: NeighborGraph, *, local_connectivity: float = 1.0, set_op_mix_ratio: float = 1.0
) -> Affinities:
    """Turn neighbour distances into fuzzy memberships and join the two directions.

    umap-learn counts a point among its own neighbours: its ``n_neighbors=15`` is a graph of 14 neighbours here. On such
    a pair of graphs both give the same matrix.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric. A row with fewer neighbours than the others (see its mask) is treated as
        if the graph had that many.
    local_connectivity : float >= 0, default=1.0
        Number of neighbours with membership 1; between whole numbers the distance is interpolated.
    set_op_mix_ratio : float in [0, 1], default=1.0
        1 joins both directions by fuzzy union, 0 by fuzzy intersection, which keeps mutual neighbours only.

    Returns
    -------
    Affinities
        ``matrix``: memberships in (0, 1], normalization "membership". ``bandwidths``: sigma of each row.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: Uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018, algorithms 2-3.
    """
    given = {"local_connectivity": local_connectivity, "set_op_mix_ratio": set_op_mix_ratio}
    values = check_parameters(_RULES, given)
    mix = values.pop("set_op_mix_ratio")
    weights, _, bandwidths = membership_weights(usable_distances(graph), **values)
    matrix = fuzzy_union(graph.indices, weights, set_op_mix_ratio=mix)
    return Affinities(matrix, "membership", bandwidths, symmetric=True)


@dataclass(frozen=True)
class FuzzyAffinity(NeighborAffinity):
    """The fuzzy memberships of UMAP, see `fuzzy_simplicial_set`.

    Parameters
    ----------
    local_connectivity : float >= 0, default=1.0
        Number of neighbours with membership 1.
    set_op_mix_ratio : float in [0, 1], default=1.0
        1 joins both directions of an edge by fuzzy union, 0 by intersection.
    """

    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0
    join: ClassVar[Join] = "membership"

    def of_rows(self, distances: Float32Array) -> Float32Array:
        """Return memberships."""
        return membership_weights(distances, local_connectivity=self.local_connectivity)[0]

    def calibrated(self, squared: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_]) -> RowWeights:
        """Return memberships with their derivatives, those of nearest distance and bandwidth included."""
        return _MembershipWeights.of(squared, mask, self.local_connectivity)

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the fuzzy simplicial set of a table."""
        return fuzzy_simplicial_set(
            graph, local_connectivity=self.local_connectivity, set_op_mix_ratio=self.set_op_mix_ratio
        )

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return memberships of new rows."""
        return MembershipRows(self.local_connectivity, usual_distance(inputs.neighbors))


@dataclass(frozen=True)
class MembershipRows:
    """Memberships of new rows, with one neighbour less assumed to be fully connected: the row itself.

    Parameters
    ----------
    local_connectivity : float >= 0
        Of the fitted rows.
    usual_distance : float >= 0
        Mean distance of fitted rows to their neighbours; its thousandth bounds the bandwidth from below.
    """

    local_connectivity: float
    usual_distance: float

    def __call__(self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Return memberships divided by their sum."""
        weights, _, _ = membership_weights(
            distances, local_connectivity=max(0.0, self.local_connectivity - 1.0), usual_distance=self.usual_distance
        )
        return sums_to_one(weights)


def usual_distance(graph: NeighborGraph) -> float:
    """Return the mean finite distance of a graph, 0 if there is none."""
    finite = graph.distances[np.isfinite(graph.distances)]
    return float(finite.mean(dtype=np.float64)) if finite.size else 0.0


@dataclass(frozen=True)
class _MembershipWeights:
    """w_j = exp(-max(0, d_j - rho) / sigma), sigma such that the row of m neighbours sums to log2(m + 1).

    rho is a fixed combination of the row's distances, that of its nearest neighbour by default. With
    e_j = d(d_j) - d(rho) and u_j = d_j - rho > 0, the sum stays the same when distances change:

        dw_j = -w_j / sigma [ e_j - u_j sum(w e) / sum(w u) ],

    and where the floor, a thousandth of the mean distance, decides sigma it moves with that mean.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_neighbors)
        w; 0 where there is no neighbour.
    distances, excess, nearest : ndarray of shape (n_rows, n_neighbors)
        d; u, 0 where w is 1; and the shares of the distances in rho.
    bandwidths : ndarray of shape (n_rows,)
        sigma.
    floor : ndarray of shape (n_rows, n_neighbors)
        Share of each distance in sigma where the floor decides; elsewhere 0.
    floored : ndarray of shape (n_rows,), bool
        Whether the floor decides.
    """

    values: Float64
    distances: Float64
    excess: Float64
    nearest: Float64
    bandwidths: Float64
    floor: Float64
    floored: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, squared: Float64, mask: npt.NDArray[np.bool_], local_connectivity: float) -> _MembershipWeights:
        """Calibrate: squared distances, ascending in each row, and a mask, both (n_rows, n_neighbors)."""
        d = np.where(mask, np.sqrt(squared), 0.0)
        nearest = _nearest(d, mask, local_connectivity)
        rho = (nearest * d).sum(axis=1)
        excess = np.where(mask, np.maximum(d - rho[:, None], 0.0), 0.0)
        excess[nearest == 1.0] = 0.0
        size = mask.sum(axis=1)
        target = log(size + 1.0) / math.log(2.0)
        share = _BANDWIDTH_FLOOR / (size + 1.0)
        overall = float(d.sum() / (mask.sum() + len(d)))
        floor = np.where(rho > 0.0, share * d.sum(axis=1), _BANDWIDTH_FLOOR * overall)
        unit = np.maximum(excess.mean(axis=1), 1e-300)
        scaled = excess / unit[:, None]

        def is_narrow(bandwidth: Float64) -> npt.NDArray[np.bool_]:
            return np.asarray(np.where(mask, exp(-scaled / bandwidth[:, None]), 0.0).sum(axis=1) < target)

        sigma = unit * bisect_scale(is_narrow, len(unit))
        floored = (sigma <= floor) | (((excess == 0.0) & mask).sum(axis=1) >= target)
        sigma = np.where(floored, np.maximum(floor, 1e-300), sigma)
        values = np.where(mask, exp(-excess / sigma[:, None]), 0.0)
        moved = np.where(floored & (rho > 0.0), share, 0.0)[:, None] * mask
        return cls(values, d, excess, nearest, sigma, moved, floored)

    def pull(self, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return sum_j slopes_j dw_j/ds."""
        w, u, r, sigma = self._of(rows)
        share = slopes * w / sigma
        widening = (share * u).sum(axis=1, keepdims=True)  # what a relative change of sigma does
        kept = self.floored[rows][:, None, None]
        found = -share + np.where(kept, 0.0, w * (widening / np.maximum((w * u).sum(axis=1, keepdims=True), 1e-300)))
        found = np.where(u > 0.0, found, 0.0)
        found = found - r * found.sum(axis=1, keepdims=True)
        found += self.floor[rows][:, :, None] * (widening / sigma)
        return np.asarray(found * self._per_squared(rows))

    def push(self, rows: npt.NDArray[np.intp], changes: Float64) -> Float64:
        """Return dw for changes of s."""
        w, u, r, sigma = self._of(rows)
        lengths = changes * self._per_squared(rows)
        e = np.where(u > 0.0, lengths - (r * lengths).sum(axis=1, keepdims=True), 0.0)
        held = (self.floor[rows][:, :, None] * lengths).sum(axis=1, keepdims=True) / sigma
        total = np.maximum((w * u).sum(axis=1, keepdims=True), 1e-300)
        widening = np.where(self.floored[rows][:, None, None], held, (w * e).sum(axis=1, keepdims=True) / total)
        return np.asarray(w / sigma * (u * widening - e))

    def _of(self, rows: npt.NDArray[np.intp]) -> tuple[Float64, Float64, Float64, Float64]:
        u, r = self.excess[rows][:, :, None], self.nearest[rows][:, :, None]
        return np.where(u > 0.0, self.values[rows][:, :, None], 0.0), u, r, self.bandwidths[rows][:, None, None]

    def _per_squared(self, rows: npt.NDArray[np.intp]) -> Float64:
        """Return dd/ds, 0 at distance 0."""
        d = self.distances[rows][:, :, None]
        return np.where(d > 0.0, 0.5 / np.where(d > 0.0, d, 1.0), 0.0)


def _nearest(d: Float64, mask: npt.NDArray[np.bool_], local_connectivity: float) -> Float64:
    """Return the shares of the distances in rho, the distance within which a row has local_connectivity neighbours."""
    shares = np.zeros_like(d)
    positive = mask & (d > 0.0)
    n_positive, size = positive.sum(axis=1), mask.sum(axis=1)
    first = np.argmax(positive, axis=1)
    whole, rest = int(local_connectivity), local_connectivity - int(local_connectivity)
    rows = np.arange(len(d))
    few = (n_positive > 0) & (n_positive < local_connectivity)
    shares[rows[few], size[few] - 1] = 1.0
    enough = (n_positive > 0) & ~few
    if whole:
        shares[rows[enough], first[enough] + whole - 1] += 1.0 - rest
    if rest > 0.0:
        shares[rows[enough], first[enough] + whole] += rest
    return shares
