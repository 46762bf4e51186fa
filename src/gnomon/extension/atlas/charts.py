"""The local affine maps that an atlas blends, and the laws of their weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import log
from gnomon._cached import cached_property
from gnomon.geometry import local_jacobians
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import NeighborGraph

__all__ = ["BlendLaw", "Charts", "fit_charts", "torn_weights"]

Float64Array = npt.NDArray[np.float64]

_WAYS = ((0.0, 1.0), (1e-3, 0.9), (1e-2, 0.9), (1e-1, 0.9), (1.0, 0.9))  # ridge and share of the variance tried
_TRIED_ROWS = 500
_OUTER = 4.0  # the step falls between ranks n_neighbors / 4 and n_neighbors
_TORN = 4.0
_MOST_DIMENSION = 60.0


@dataclass(frozen=True)
class BlendLaw:
    """How charts are weighted: S(log(rho / s) / softness) s^-power of the squared distance s.

    The smooth step S is 0 below 0 and 1 above 1; rho is the solution of ``sum_i S_i = count``, so that it changes
    smoothly with the place.

    Attributes
    ----------
    count : float
        Sum of the values of S, not a whole number.
    softness : float
        Width of the step in log s: about n_neighbors rows then have weight, whatever their dimension.
    power : float
    dimension : float
        That of the rows, as far as distances to the nearest neighbours tell it.
    """

    count: float
    softness: float
    power: float
    dimension: float

    @classmethod
    def of(cls, distances: npt.NDArray[Any], *, power: float | None = None, n_rows: float = 1.0) -> BlendLaw:
        """Choose the law from the distances of rows to their nearest others, (n_rows, n_neighbors), ascending.

        Parameters
        ----------
        distances : ndarray of shape (n_rows, n_neighbors)
        power : float, default=None
            None takes half the dimension, at least 1: the weight of a chart falls as one over its rank.
        n_rows : float in (0, 2], default=1.0
            How many rows have weight at a usual place, in units of n_neighbors.
        """
        k = distances.shape[1]
        inner = max(math.ceil(k / _OUTER), 1)
        far, near = distances[:, -1].astype(np.float64), distances[:, inner - 1].astype(np.float64)
        sound = (near > 0.0) & np.isfinite(far) & (far > near)
        dimension = 2.0
        if inner < k and sound.any():
            dimension = math.log(k / inner) / float(np.median(log(far[sound] / near[sound])))
        dimension = min(max(dimension, 1.0), _MOST_DIMENSION)
        chosen = max(1.0, dimension / 2.0) if power is None else power
        return cls(math.floor(n_rows * k / 2.0) + 0.5, 2.0 / dimension * math.log(_OUTER), chosen, dimension)


@dataclass(frozen=True)
class Charts:
    """Affine maps y_i + B_i (x - x_i) of the rows of a table.

    Attributes
    ----------
    positions : ndarray of shape (n_samples, n_components), float64
    indices : ndarray of shape (n_samples, n_neighbors), int32
    coefficients : ndarray of shape (n_samples, n_neighbors * n_components), float64
        ``B_i.T = sum_j (x_j - x_i) outer coefficients[i, j]``; 0 where a chart is undefined.
    chart : ndarray of shape (n_samples,), int32
        The row whose B each one takes: itself, or its nearest neighbour with a defined one.
    reach : ndarray of shape (n_samples,), float64
        Scale of the map around each row: lower quartile of the distances to its neighbours there, and not 0.
    trust : ndarray of shape (n_samples,), float64, in [0, 1]
        What each B was multiplied by: the share of the neighbours' displacements that is predicted when each neighbour
        is left out of the fit.
    ridge, variance_share : float
        See `gnomon.geometry.local_jacobians`.
    """

    positions: Float64Array
    indices: npt.NDArray[np.int32]
    coefficients: Float64Array
    chart: npt.NDArray[np.int32]
    reach: Float64Array
    trust: Float64Array
    ridge: float
    variance_share: float

    @cached_property
    def core(self) -> _core.AtlasCharts:
        """The charts as kernels take them; made when first asked for, and not pickled."""
        return _core.AtlasCharts(self.positions, self.indices, self.coefficients, self.chart, self.reach)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made from."""
        return {name: value for name, value in self.__dict__.items() if name != "core"}


def fit_charts(X: Any, Y: Float64Array, graph: NeighborGraph) -> Charts:
    """Fit the charts; the damping is the one with which neighbours are predicted best.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_components), float64
    graph : NeighborGraph of n_samples rows
    """
    n = graph.n_samples
    weights, reach = torn_weights(Y, graph)
    ridge, share = _choose_way(X, Y, graph, weights)
    fits = local_jacobians(X, Y, graph, weights=weights, ridge=ridge, variance_share=share)
    trust = np.where(fits.mask, np.clip(np.nan_to_num(fits.predicted_r2.astype(np.float64)), 0.0, 1.0), 0.0)
    trust[trust > 1.0 - 1e-6] = 1.0  # r2 comes in single precision
    coefficients = np.nan_to_num(fits.coefficients.reshape(n, -1)) * trust[:, None]
    own = np.arange(n, dtype=np.int32)
    chart = own.copy()
    for row in np.flatnonzero(~fits.mask):
        known = graph.indices[row][fits.mask[graph.indices[row]]]
        chart[row] = known[0] if known.size else row
    return Charts(Y, fits.indices, coefficients, chart, reach, trust, ridge, share)


def _choose_way(X: Any, Y: Float64Array, graph: NeighborGraph, weights: npt.NDArray[np.float32]) -> tuple[float, float]:
    n = graph.n_samples
    rows = evenly_spaced(n, _TRIED_ROWS)
    best, best_score = _WAYS[0], -np.inf
    for ridge, share in _WAYS:
        fits = local_jacobians(X, Y, graph, weights=weights, rows=rows, ridge=ridge, variance_share=share)
        scores = fits.predicted_r2[fits.mask]
        score = float(np.median(scores)) if len(scores) else -np.inf
        if score > best_score:
            best, best_score = (ridge, share), score
    return best


def torn_weights(Y: Float64Array, graph: NeighborGraph) -> tuple[npt.NDArray[np.float32], Float64Array]:
    """Return the weight of each neighbour in the fit of a chart, and the scale of the map around each row.

    The weight is ``(1 + d^2 / (4 reach)^2)^-2`` of the distance d in the map: neighbours that lie far apart there are
    on the other side of a tear and would turn it into a slope.
    """
    squared = np.empty(graph.indices.shape)
    for column in range(graph.n_neighbors):
        squared[:, column] = np.square(Y[graph.indices[:, column]] - Y).sum(axis=1)
    reach = np.sqrt(np.quantile(squared, 0.25, axis=1))
    usual = float(np.median(reach[reach > 0.0])) if (reach > 0.0).any() else 1.0
    reach = np.maximum(reach, 1e-3 * usual)
    return (1.0 / np.square(1.0 + squared / np.square(_TORN * reach)[:, None])).astype(np.float32), reach
