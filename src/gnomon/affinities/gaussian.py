"""Gaussian affinities of a given perplexity, the input side of t-SNE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import exp, log
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.affinities.affinity import NeighborAffinity
from gnomon.affinities.base import Affinities, Join, joined_matrix, rows_as_matrix, usable_distances
from gnomon.affinities.derivatives import Float64, RowWeights, bisect_scale
from gnomon.neighbors.graph import NeighborGraph

__all__ = [
    "ConditionalAffinity",
    "GaussianAffinity",
    "conditional_affinities",
    "gaussian_affinities",
    "gaussian_weights",
]

Float32Array = npt.NDArray[np.float32]

_LEAST_SPREAD = 1e-12  # variance of beta s below which all neighbours are as near: the weights then do not move
_RULES: dict[str, Rule] = {"perplexity": Real(1.0)}


def gaussian_weights(distances: Float32Array, *, perplexity: float) -> tuple[Float32Array, Float32Array]:
    """Weigh the neighbours of each row by a Gaussian of a given perplexity.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_neighbors), float32
        Entries that are not finite are left out and get weight 0.
    perplexity : float >= 1
        exp(entropy in nats) of each row of weights. A row with fewer neighbours gets equal weights, as does one whose
        distances are all equal. Where more than `perplexity` neighbours tie at the smallest distance the entropy
        cannot be reached and those share the weight.

    Returns
    -------
    weights : ndarray of shape (n_rows, n_neighbors), float32
        p_{j|i}: rows sum to 1 (to 0 without any neighbour).
    bandwidths : ndarray of shape (n_rows,), float32
        sigma in exp(-d^2 / (2 sigma^2)), in the units of the distances; inf where equal weights are the limit.
    """
    weights, bandwidths = _core.gaussian_weights(distances, math.log2(perplexity), current_run().n_threads)
    return weights, bandwidths


@part("gaussian_affinities")
def gaussian_affinities(graph: NeighborGraph, *, perplexity: float = 30.0) -> Affinities:
    """Turn neighbour distances into symmetric affinities with a given perplexity.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric; about three neighbours for each unit of perplexity are usual.
    perplexity : float in [1, n_neighbors], default=30.0
        Effective number of neighbours, exp(entropy in nats) of each row of conditional affinities.

    Returns
    -------
    Affinities
        ``matrix``: (P_c + P_c') / (2 n), all entries sum to 1, normalization "total"; entries below about 1e-30 of a
        row are not stored. ``bandwidths``: sigma of each row.

    Raises
    ------
    ValueError
        If `perplexity` exceeds ``graph.n_neighbors``.

    References
    ----------
    .. [1] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008, eq. 1-2.
    """
    perplexity = _checked(graph, perplexity)
    indices, distances = np.ascontiguousarray(graph.indices, dtype=np.int32), usable_distances(graph)
    parts, bandwidths = _core.gaussian_affinities(indices, distances, math.log2(perplexity), current_run().n_threads)
    return Affinities(joined_matrix(parts), "total", bandwidths, symmetric=True)


@part("conditional_affinities")
def conditional_affinities(graph: NeighborGraph, *, perplexity: float = 30.0) -> Affinities:
    """Turn neighbour distances into each row's own distribution over its neighbours, with a given perplexity.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric.
    perplexity : float in [1, n_neighbors], default=30.0
        Effective number of neighbours, exp(entropy in nats) of each row.

    Returns
    -------
    Affinities
        ``matrix``: P_c, rows sum to 1 and are not symmetric, normalization "rows". ``bandwidths``: sigma of each row.

    Raises
    ------
    ValueError
        If `perplexity` exceeds ``graph.n_neighbors``.

    References
    ----------
    .. [1] Hinton & Roweis, "Stochastic neighbor embedding", NeurIPS 2002, eq. 1-2.
    """
    perplexity = _checked(graph, perplexity)
    weights, bandwidths = gaussian_weights(usable_distances(graph), perplexity=perplexity)
    return Affinities(rows_as_matrix(graph.indices, weights), "rows", bandwidths)


def _checked(graph: NeighborGraph, perplexity: float) -> float:
    """Return a perplexity that the neighbours of a graph can have, or raise ValueError."""
    checked: float = check_parameters(_RULES, {"perplexity": perplexity})["perplexity"]
    if checked > graph.n_neighbors:
        remedy = f"Lower perplexity or pass n_neighbors={int(3 * checked)}."
        rule = f"at most n_neighbors={graph.n_neighbors}"
        raise ValueError(message(f"perplexity={perplexity}", rule, remedy=remedy))
    return checked


@dataclass(frozen=True)
class GaussianAffinity(NeighborAffinity):
    """Gaussian affinities of a given perplexity, see `gaussian_affinities`.

    Parameters
    ----------
    perplexity : float >= 1, default=30.0
        Effective number of neighbours.
    """

    perplexity: float = 30.0
    power: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        check_parameters(_RULES, {"perplexity": self.perplexity})

    def of_rows(self, distances: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return p_j|i."""
        return gaussian_weights(distances, perplexity=self.perplexity)[0]

    of_new_rows = of_rows  # rows sum to 1

    def calibrated(self, squared: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_]) -> RowWeights:
        """Return p_j|i with its derivatives, the precision's included."""
        return _PerplexityWeights.of(squared, mask, self.perplexity)

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the affinities of a table."""
        return gaussian_affinities(graph, perplexity=self.perplexity)


@dataclass(frozen=True)
class ConditionalAffinity(GaussianAffinity):
    """Each row's own distribution over its neighbours, see `conditional_affinities`.

    Parameters
    ----------
    perplexity : float >= 1, default=30.0
        Effective number of neighbours.
    """

    join: ClassVar[Join] = "rows"

    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the distributions of the rows of a table."""
        return conditional_affinities(graph, perplexity=self.perplexity)


@dataclass(frozen=True)
class _PerplexityWeights:
    """p_j = exp(-beta s_j) / sum, beta such that the entropy is log(perplexity).

    The entropy stays the same when distances change: with v_j = ds_j and t = s - E s,

        dp_j = -beta p_j [ v_j - E v - t_j E(t v) / E(t^2) ],  E the mean under p,

    which is the change that the mean and the slope on s do not explain.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_neighbors)
        p; 0 where there is no neighbour.
    precision : ndarray of shape (n_rows,)
        beta, 0 in rows whose weights do not move: as many neighbours as the perplexity, or all as near.
    deviations : ndarray of shape (n_rows, n_neighbors)
        t.
    variance : ndarray of shape (n_rows,)
        E(t^2).
    """

    values: Float64
    precision: Float64
    deviations: Float64
    variance: Float64

    @classmethod
    def of(cls, squared: Float64, mask: npt.NDArray[np.bool_], perplexity: float) -> _PerplexityWeights:
        """Calibrate: squared distances and a mask, both (n_rows, n_neighbors)."""
        least = np.where(mask, squared, np.inf).min(axis=1, initial=np.inf)
        excess = np.where(mask, squared - np.where(np.isfinite(least), least, 0.0)[:, None], 0.0)
        count = mask.sum(axis=1)
        unit = excess.sum(axis=1) / np.maximum(count, 1)
        scaled = excess / np.where(unit > 0.0, unit, 1.0)[:, None]
        free = (count > perplexity) & (unit > 0.0)

        def is_wide(precision: Float64) -> npt.NDArray[np.bool_]:
            beta = precision[:, None]
            weights = np.where(mask, exp(-beta * scaled), 0.0)
            total = np.maximum(weights.sum(axis=1), 1e-300)
            entropy = log(total) + (beta * weights * scaled).sum(axis=1) / total
            return np.asarray(entropy > log(perplexity))

        beta = np.where(free, bisect_scale(is_wide, len(unit)), 0.0)
        weights = np.where(mask, exp(-beta[:, None] * scaled), 0.0)
        values = weights / np.maximum(weights.sum(axis=1), 1e-300)[:, None]
        precision = beta / np.where(unit > 0.0, unit, 1.0)
        deviations = np.where(mask, excess - (values * excess).sum(axis=1)[:, None], 0.0)
        variance = (values * deviations**2).sum(axis=1)
        moves = variance * precision**2 > _LEAST_SPREAD
        return cls(values, np.where(moves, precision, 0.0), deviations, np.where(moves, variance, 1.0))

    def pull(self, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return sum_j slopes_j dp_j/ds."""
        p, t, beta, variance = self._of(rows)
        weighted = p * slopes
        explained = p * weighted.sum(axis=1, keepdims=True)
        explained += p * t * ((t * weighted).sum(axis=1, keepdims=True) / variance)
        return np.asarray(-beta * (weighted - explained))

    def push(self, rows: npt.NDArray[np.intp], changes: Float64) -> Float64:
        """Return dp for changes of s."""
        p, t, beta, variance = self._of(rows)
        mean = (p * changes).sum(axis=1, keepdims=True)
        slope = (p * t * changes).sum(axis=1, keepdims=True) / variance
        return np.asarray(-beta * p * (changes - mean - t * slope))

    def _of(self, rows: npt.NDArray[np.intp]) -> tuple[Float64, Float64, Float64, Float64]:
        p, t = self.values[rows][:, :, None], self.deviations[rows][:, :, None]
        return p, t, self.precision[rows][:, None, None], self.variance[rows][:, None, None]
