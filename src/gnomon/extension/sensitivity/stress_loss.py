"""The raw stress as a function of map and data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from gnomon._validation import message
from gnomon.extension.sensitivity.pairs import PairLoss, Pairs, blocks
from gnomon.extension.sensitivity.row_weights import Float64
from gnomon.objectives.pair_force import pair_force

__all__ = ["StressLoss"]

_POWERS = {None: 0, "inverse": 1, "inverse_square": 2}
_TINY = 1e-150


class StressLoss(PairLoss):
    """The sum over i < j of w_ij (delta_ij - d_ij)^2, delta the Euclidean distances of the data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    weights : None, "inverse", "inverse_square" or array-like of shape (n_samples, n_samples), default=None
        w: 1, 1 / delta, 1 / delta^2 (0 for pairs at distance 0), which then change with the data, or fixed numbers.
    n_threads : int, default=1
        Does not change the result.
    """

    def __init__(self, X: npt.ArrayLike, *, weights: str | npt.ArrayLike | None = None, n_threads: int = 1) -> None:
        rows = np.array(X, dtype=np.float64, ndmin=2)
        super().__init__(rows - rows.mean(axis=0), n_threads=n_threads)
        self.kind = "stress"
        self._delta = cdist(self.X, self.X)
        if weights is None or isinstance(weights, str):
            if weights not in _POWERS:
                rule = "None, 'inverse', 'inverse_square' or an array"
                raise ValueError(message("sensitivity", f"weights={weights!r}", rule))
            self._power, self._weights = _POWERS[weights], None
        else:
            given = np.array(weights, dtype=np.float64)
            given = np.outer(given, given) if given.ndim == 1 else given
            if given.shape != self._delta.shape:
                raise ValueError(message("sensitivity", f"weights of shape {given.shape}", f"of {self._delta.shape}"))
            self._power, self._weights = 0, given

    def _weights_of(self, rows: slice | int) -> tuple[Float64, Float64]:
        """Return w and dw/d delta of some rows."""
        delta = self._delta[rows]
        if self._weights is not None:
            return self._weights[rows].copy(), np.zeros_like(delta)
        if self._power == 0:
            return np.ones_like(delta), np.zeros_like(delta)
        safe = np.where(delta > 0.0, delta, np.inf)
        return safe**-self._power, -self._power * safe ** (-self._power - 1.0)

    def _distances(self, Y: Float64, rows: slice) -> Float64:
        d = cdist(Y[rows], Y)
        return np.where(d > _TINY, d, np.inf)  # points that coincide exert no force

    def evaluate(self, Y: Float64) -> Pairs:
        """Return stress and gradient."""
        loss, forces, pulls = 0.0, np.empty_like(Y), np.empty_like(Y)
        for rows in blocks(self.n_samples):
            w, d = self._weights_of(rows)[0], self._distances(Y, rows)
            own = np.arange(rows.start, rows.stop)
            w[own - rows.start, own] = 0.0
            loss += 0.5 * float((w * np.square(self._delta[rows] - np.where(np.isinf(d), 0.0, d))).sum())
            forces[rows] = 2.0 * pair_force(w * (1.0 - self._delta[rows] / d), Y[rows], Y)
            pulls[rows] = 2.0 * pair_force(w, Y[rows], Y)
        return Pairs(Y, loss, forces, float(np.linalg.norm(pulls)))

    def coefficients(self, pairs: Pairs, rows: slice) -> tuple[Float64, Float64]:
        """Return S = w (1 - delta / d) / 2 and C = w delta / (4 d^3)."""
        w, d = self._weights_of(rows)[0], self._distances(pairs.Y, rows)
        S, C = 0.5 * w * (1.0 - self._delta[rows] / d), 0.25 * w * self._delta[rows] / d**3
        own = np.arange(rows.start, rows.stop)
        S[own - rows.start, own] = 0.0
        C[own - rows.start, own] = 0.0
        return S, C

    def share(self, pairs: Pairs, Z: Float64) -> Float64 | None:
        """Return None: every pair is its own."""
        return None

    def pull(self, pairs: Pairs, Z: Float64, i: int, share: Float64 | None) -> Float64:
        """Return the derivative by x_i of the products of q directions Z with the gradient."""
        along = np.einsum("jd,jdq->jq", pairs.Y[i] - pairs.Y, Z[i] - Z)
        return np.asarray(4.0 * along.T @ self._slopes(pairs, i))

    def push(self, pairs: Pairs, i: int) -> Float64:
        """Return the derivative of the gradient by x_i."""
        found = -4.0 * (pairs.Y[i] - pairs.Y)[:, :, None] * self._slopes(pairs, i)[:, None, :]
        found[i] = -found.sum(axis=0)
        return np.asarray(found)

    def _slopes(self, pairs: Pairs, i: int) -> Float64:
        """Return dS_ij/dx_i of all j, (n_samples, n_features)."""
        delta, d = self._delta[i], self._distances(pairs.Y, slice(i, i + 1))[0]
        w, slope = (part for part in self._weights_of(i))
        change = 0.5 * (slope * (1.0 - delta / d) - w / d)
        change[i] = 0.0
        return np.asarray((change / np.where(delta > 0.0, delta, np.inf))[:, None] * (self.X[i] - self.X))
