"""How far a matrix lies from a table, large errors counted by their size and not by their square."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message

__all__ = ["HuberFit"]

Float64Array = npt.NDArray[np.float64]


class HuberFit:
    """The sum of Huber's function of the entries of L - X.

        h(e) = e^2 / 2 where |e| <= threshold, else threshold (|e| - threshold / 2),      gradient = clip(L - X).

    Convex, and its gradient has the Lipschitz constant 1. It is what is left of |L + S - X|^2 / 2 + threshold |S|_1
    when the sparse part S is chosen best.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite.
    threshold : float > 0
        Errors below it count as noise, in the units of X.

    References
    ----------
    .. [1] Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35, 1964.
    """

    dtype = np.float64

    @entrance("HuberFit")
    def __init__(self, X: npt.ArrayLike, threshold: float) -> None:
        self._table = np.asarray(X, dtype=np.float64)
        if self._table.ndim != 2 or not np.isfinite(self._table).all():
            raise ValueError(message(f"X of shape {self._table.shape}", "a finite matrix"))
        if not (math.isfinite(threshold) and threshold > 0.0):
            raise ValueError(message(f"threshold={threshold!r}", "a number > 0"))
        self.threshold = float(threshold)

    @property
    def n_samples(self) -> int:
        """Rows of the table."""
        return len(self._table)

    def loss(self, L: npt.ArrayLike) -> float:
        """Return the loss."""
        sizes = np.abs(np.asarray(L, dtype=np.float64) - self._table)
        small = np.minimum(sizes, self.threshold)
        return float(np.sum(small * (sizes - 0.5 * small)))

    def gradient(self, L: npt.ArrayLike) -> Float64Array:
        """Return the gradient, of the shape of L."""
        return np.clip(np.asarray(L, dtype=np.float64) - self._table, -self.threshold, self.threshold)
