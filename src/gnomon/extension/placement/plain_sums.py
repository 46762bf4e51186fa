"""New rows placed by sums in NumPy, for losses of kernels that are not compiled or of several terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.optimize

from gnomon._threads import single_threaded_blas
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives import RowLoss

__all__ = ["PlainPlacer"]

_STARTS = 15  # nearest rows whose places are tried as a start

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]


class PlainPlacer:
    """What the compiled placer does, in float64 and row by row.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_components), float32
        The map.
    loss : RowLoss
    sources : ndarray of int
        Points that stand for all in the repulsion, their charges raised to the sum of all.
    max_iter : int
    """

    def __init__(self, points: Float32Array, loss: RowLoss, sources: npt.NDArray[np.intp], max_iter: int) -> None:
        self._points = points.astype(np.float64)
        self._loss = loss
        self._sources = self._points[sources]
        charges = [np.ones(len(points)) if part.charges is None else part.charges for part in loss.repulsions]
        self._charges = [v[sources] * (v.sum() / v[sources].sum()) for v in charges]
        self._max_iter = max_iter

    def losses(
        self, indices: npt.NDArray[np.int32], weights: Float32Array, places: Float32Array, n_threads: int
    ) -> tuple[Float64Array, Float64Array]:
        """Return the loss of rows at given places, and its gradient."""
        with single_threaded_blas():
            found = [
                self._evaluate(y, *self._neighbors(i, p))
                for y, i, p in zip(places.astype(np.float64), indices, weights, strict=True)
            ]
        return np.array([loss for loss, _ in found]), np.array([slope for _, slope in found]).reshape(places.shape)

    def place(
        self, indices: npt.NDArray[np.int32], weights: Float32Array, n_threads: int
    ) -> tuple[Float32Array, Float64Array]:
        """Return places of rows, and their losses at the weighted mean of their neighbours and at the end."""
        places = np.empty((len(indices), self._points.shape[1]), dtype=np.float32)
        losses = np.empty((len(indices), 2))
        with single_threaded_blas():
            for row, (i, p) in enumerate(zip(indices, weights, strict=True)):
                places[row], losses[row] = self._place(*self._neighbors(i, p))
        return places, losses

    def _neighbors(self, indices: npt.NDArray[np.int32], weights: Float32Array) -> tuple[Float64Array, Float64Array]:
        return self._points[indices], weights.astype(np.float64)

    def _place(self, near: Float64Array, weights: Float64Array) -> tuple[Float64Array, tuple[float, float]]:
        middle = weights @ near
        starts = [middle, *near[:_STARTS]]
        values = [self._evaluate(y, near, weights)[0] for y in starts]
        best = int(np.argmin(values))
        found: Any = scipy.optimize.minimize(
            self._evaluate,
            starts[best],
            args=(near, weights),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self._max_iter, "ftol": 1e-14, "gtol": 1e-9},
        )
        better = found.fun <= values[best]
        return (found.x if better else starts[best]), (values[0], float(found.fun if better else values[best]))

    def _evaluate(self, y: Float64Array, near: Float64Array, weights: Float64Array) -> tuple[float, Float64Array]:
        """Return loss and gradient of a point at y."""
        across, away = y - near, y - self._sources
        squares, far = np.square(across).sum(axis=1), np.square(away).sum(axis=1)
        loss, gradient = 0.0, np.zeros_like(y)
        for term in self._loss.attractions:
            energies, slopes = evaluate_law(term.law, term.kernel, squares)
            loss += term.scale * float(weights @ energies)
            gradient += (2.0 * term.scale) * ((weights * slopes) @ across)
        for part, charges in zip(self._loss.repulsions, self._charges, strict=True):
            energies, slopes = evaluate_law(part.law, part.kernel, far)
            total = part.strength * float(charges @ energies)
            slope = (2.0 * part.strength) * ((charges * slopes) @ away)
            if part.link == "log":
                loss, gradient = loss + float(np.log(total)), gradient + slope / total
            elif part.link == "contrast":
                kernel = self._loss.attractions[0].kernel
                sums = kernel.value(squares) + total
                shares = weights / sums
                loss += float(weights @ np.log(sums))
                gradient += 2.0 * ((shares * kernel.derivative(squares)) @ across) + shares.sum() * slope
            else:
                loss, gradient = loss + total, gradient + slope
        return loss, gradient
