"""Weights of each row's neighbours as functions of its distances, calibration included, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Float64", "JacobianWeights", "MembershipWeights", "PerplexityWeights", "RowWeights"]

Float64 = npt.NDArray[np.float64]

_STEPS = 100  # halvings of a bracket of 120 units of a logarithm: below rounding
_BRACKET = 60.0
_BANDWIDTH_FLOOR = 1e-3  # UMAP's: share of the mean distance
_DIFFERENCE = 6e-6  # relative step of central differences: the third root of a rounding
_LEAST_SPREAD = 1e-12  # variance of beta s below which all neighbours are as near: the weights then do not move


class RowWeights(Protocol):
    """Weights w (n_rows, n_neighbors) of neighbours, each row a function of its own squared distances s."""

    @property
    def values(self) -> Float64:
        """Return w."""
        ...

    def pull(self, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return sum_j slopes_j dw_j/ds for some rows: (len(rows), n_neighbors, n) from the same shape."""
        ...

    def push(self, rows: npt.NDArray[np.intp], changes: Float64) -> Float64:
        """Return dw = sum_j dw/ds_j changes_j for some rows: (len(rows), n_neighbors, n) from the same shape."""
        ...


@dataclass(frozen=True)
class PerplexityWeights:
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
    def of(cls, squared: Float64, mask: npt.NDArray[np.bool_], perplexity: float) -> PerplexityWeights:
        """Calibrate: squared distances and a mask, both (n_rows, n_neighbors)."""
        least = np.where(mask, squared, np.inf).min(axis=1, initial=np.inf)
        excess = np.where(mask, squared - np.where(np.isfinite(least), least, 0.0)[:, None], 0.0)
        count = mask.sum(axis=1)
        unit = excess.sum(axis=1) / np.maximum(count, 1)
        scaled = excess / np.where(unit > 0.0, unit, 1.0)[:, None]
        free = (count > perplexity) & (unit > 0.0)
        low, high = np.full(len(unit), -_BRACKET), np.full(len(unit), _BRACKET)
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            beta = np.exp(middle)[:, None]
            weights = np.where(mask, np.exp(-beta * scaled), 0.0)
            total = np.maximum(weights.sum(axis=1), 1e-300)
            entropy = np.log(total) + (beta * weights * scaled).sum(axis=1) / total
            wide = entropy > np.log(perplexity)
            low, high = np.where(wide, middle, low), np.where(wide, high, middle)
        beta = np.where(free, np.exp(0.5 * (low + high)), 0.0)
        weights = np.where(mask, np.exp(-beta[:, None] * scaled), 0.0)
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


@dataclass(frozen=True)
class MembershipWeights:
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
    def of(cls, squared: Float64, mask: npt.NDArray[np.bool_], local_connectivity: float) -> MembershipWeights:
        """Calibrate: squared distances, ascending in each row, and a mask, both (n_rows, n_neighbors)."""
        d = np.where(mask, np.sqrt(squared), 0.0)
        nearest = _nearest(d, mask, local_connectivity)
        rho = (nearest * d).sum(axis=1)
        excess = np.where(mask, np.maximum(d - rho[:, None], 0.0), 0.0)
        excess[nearest == 1.0] = 0.0
        size = mask.sum(axis=1)
        target = np.log2(size + 1.0)
        share = _BANDWIDTH_FLOOR / (size + 1.0)
        overall = float(d.sum() / (mask.sum() + len(d)))
        floor = np.where(rho > 0.0, share * d.sum(axis=1), _BANDWIDTH_FLOOR * overall)
        unit = np.maximum(excess.mean(axis=1), 1e-300)
        scaled = excess / unit[:, None]
        low, high = np.full(len(unit), -_BRACKET), np.full(len(unit), _BRACKET)
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            total = np.where(mask, np.exp(-scaled / np.exp(middle)[:, None]), 0.0).sum(axis=1)
            low, high = np.where(total < target, middle, low), np.where(total < target, high, middle)
        sigma = unit * np.exp(0.5 * (low + high))
        floored = (sigma <= floor) | (((excess == 0.0) & mask).sum(axis=1) >= target)
        sigma = np.where(floored, np.maximum(floor, 1e-300), sigma)
        values = np.where(mask, np.exp(-excess / sigma[:, None]), 0.0)
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


@dataclass(frozen=True)
class JacobianWeights:
    """Weights that a function of the distances gives, with its derivatives by central differences.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_neighbors)
        w.
    jacobian : ndarray of shape (n_rows, n_neighbors, n_neighbors)
        dw_j/ds_l; 0 for neighbours at distance 0.
    """

    values: Float64
    jacobian: Float64

    @classmethod
    def of(
        cls, function: Callable[[Float64], Float64], squared: Float64, mask: npt.NDArray[np.bool_]
    ) -> JacobianWeights:
        """Differentiate a function of distances, which are inf where the mask is False."""
        distances = np.where(mask, np.sqrt(squared), np.inf)
        jacobian = np.zeros((*squared.shape, squared.shape[1]))
        for column in range(squared.shape[1]):
            d = distances[:, column]
            step = np.where((d > 0.0) & np.isfinite(d), _DIFFERENCE * d, 0.0)
            ahead, behind = distances.copy(), distances.copy()
            ahead[:, column] += step
            behind[:, column] -= step
            change = function(ahead) - function(behind)
            width = 4.0 * step * np.where(np.isfinite(d), d, 0.0)  # dd/ds = 1 / (2 d)
            jacobian[:, :, column] = np.where(step > 0.0, 1.0 / np.where(step > 0.0, width, 1.0), 0.0)[:, None] * change
        return cls(np.where(mask, function(distances), 0.0), jacobian)

    def pull(self, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return sum_j slopes_j dw_j/ds."""
        return np.asarray(np.einsum("ijl,ijq->ilq", self.jacobian[rows], slopes))

    def push(self, rows: npt.NDArray[np.intp], changes: Float64) -> Float64:
        """Return dw for changes of s."""
        return np.asarray(np.einsum("ijl,ilq->ijq", self.jacobian[rows], changes))


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
