"""Rows with given scores in kernel PCA: by regression or by the nearest image in the feature space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import squared_lengths, weighted_sums
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.affinities.kernel_components import KernelComponents
from gnomon.kernels import InputKernel
from gnomon.kernels.choice import median_distance
from gnomon.kernels.inputs import GaussianInput, RadialInput, squared_distances
from gnomon.linalg import dense_rows

__all__ = ["Preimages"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 256
OfSquares = Callable[[Float64Array], Float64Array]

_HALVINGS = 6
_ENDED = 1e-9  # a step of this share of the scale changes nothing


@dataclass(frozen=True)
class Preimages:
    """A function from scores to rows.

    Attributes
    ----------
    inverse : {"linear", "ridge", "fixed_point"}
        How rows are found.
    alpha : float
        Penalty of "ridge".
    components : KernelComponents
        What gave the scores.
    kernel : InputKernel
        For "ridge" the Gaussian kernel of scores, else that of the rows.
    scores : ndarray of shape (n, n_components)
        Of `rows`.
    rows : ndarray of shape (n, n_features)
        Rows that others are made of.
    weights : ndarray of shape (n, n_features)
        For "ridge" the coefficients of the regression.
    """

    inverse: str
    alpha: float
    components: KernelComponents
    kernel: InputKernel
    scores: Float64Array
    rows: Float64Array
    weights: Float64Array

    @classmethod
    def learn(
        cls,
        inverse: str,
        alpha: float,
        components: KernelComponents,
        kernel: InputKernel,
        landmarks: Any,
        sample: tuple[Any, Float64Array],
    ) -> Self:
        """Prepare pre-images.

        Parameters
        ----------
        inverse, alpha, components
            See the attributes.
        kernel : InputKernel
            Of the rows.
        landmarks : ndarray or CSR of shape (n_landmarks, n_features)
            Rows that the components compare others with; pre-images are made of them, but for "ridge".
        sample : rows and their scores
            What "ridge" learns from.
        """
        if inverse == "ridge":
            return cls._regress(alpha, components, *sample)
        if inverse == "fixed_point" and not isinstance(kernel, RadialInput):
            rule = "'ridge' for a kernel that is not one of the distance"
            raise ValueError(message("inverse='fixed_point'", rule, fact=f"kernel={kernel.name!r}"))
        scores = components.scores if components.landmarks is None else components.scores[components.landmarks]
        return cls(inverse, alpha, components, kernel, scores, dense_rows(landmarks), np.zeros((0, 0)))

    @classmethod
    def _regress(cls, alpha: float, components: KernelComponents, rows: Any, scores: Float64Array) -> Self:
        kernel = GaussianInput(median_distance(scores))
        dense = dense_rows(rows)
        mean = dense.mean(axis=0)
        with single_threaded_blas():
            system = kernel.block(scores, scores)
            system[np.diag_indices_from(system)] = 1.0 + alpha
            weights = scipy.linalg.solve(system, dense - mean, assume_a="pos", check_finite=False, overwrite_a=True)
        return cls("ridge", alpha, components, kernel, scores, mean[None], np.asarray(weights, dtype=np.float64))

    def find(self, Y: Float64Array) -> Float64Array:
        """Return the rows of scores Y (n_rows, n_components), each a function of its own scores."""
        found = np.empty((len(Y), self.rows.shape[1]))
        work = {"linear": self._linear, "ridge": self._ridge, "fixed_point": self._fixed_point}[self.inverse]
        with single_threaded_blas():
            for begin in range(0, len(Y), _BLOCK):
                found[begin : begin + _BLOCK] = work(Y[begin : begin + _BLOCK])
        return found

    def _linear(self, Y: Float64Array) -> Float64Array:
        combination = Y @ self.components.projection.T + self.components.mean_weights
        return np.asarray(combination @ self.rows, dtype=np.float64)

    def _ridge(self, Y: Float64Array) -> Float64Array:
        return np.asarray(self.kernel.block(Y, self.scores) @ self.weights + self.rows, dtype=np.float64)

    def _fixed_point(self, Y: Float64Array) -> Float64Array:
        assert isinstance(self.kernel, RadialInput)
        combination = Y @ self.components.projection.T + self.components.mean_weights
        nearest = squared_distances(Y, self.scores).argmin(axis=1)
        return _fixed_point_preimages(
            self.kernel.of_squares, self.kernel.slope, self.rows, combination, self.rows[nearest]
        )


def _fixed_point_preimages(
    value: OfSquares,
    slope: OfSquares,
    rows: Float64Array,
    weights: Float64Array,
    start: Float64Array,
    *,
    max_iter: int = 100,
) -> Float64Array:
    """Find z that maximizes sum_j w_j k(|z - x_j|^2), for a kernel of distances with k = 1 at 0.

    It is the point whose image is nearest to sum_j w_j phi(x_j). The fixed point is the mean of the rows weighted by
    w_j k'; a step that would lower the sum, as negative weights make possible, is halved.

    Parameters
    ----------
    value, slope : callable
        k and dk/ds of squared distances s; `value` may overwrite them.
    rows : ndarray of shape (n, n_features)
        x_j.
    weights : ndarray of shape (n_points, n)
        w_j of each point that is sought.
    start : ndarray of shape (n_points, n_features)
        First guesses.
    max_iter : int, default=100
        Most steps.

    Returns
    -------
    ndarray of shape (n_points, n_features)
        Where the sum no longer grows; each a function of its own weights and start.

    References
    ----------
    .. [1] Mika et al., "Kernel PCA and de-noising in feature spaces", NeurIPS 1998, equation 10.
    """
    z = np.array(start, dtype=np.float64)
    sizes = squared_lengths(rows)
    scale = float(np.sqrt(sizes.max(initial=0.0))) or 1.0

    def squared(points: Float64Array) -> Float64Array:
        found: Float64Array = squared_lengths(points)[:, None] + sizes - 2.0 * (points @ rows.T)
        return np.maximum(found, 0.0)

    def height(points: Float64Array, some: npt.NDArray[np.intp]) -> Float64Array:
        return np.asarray(weighted_sums(weights[some], value(squared(points))), dtype=np.float64)

    with single_threaded_blas():
        active = np.arange(len(z))
        heights = height(z, active)
        for _ in range(max_iter):
            if not active.size:
                break
            pulls = weights[active] * -slope(squared(z[active]))
            totals = pulls.sum(axis=1)
            sound = np.abs(totals) > 1e-12 * np.abs(pulls).sum(axis=1)
            steps = (pulls @ rows) / np.where(sound, totals, 1.0)[:, None] - z[active]
            steps[~sound] = 0.0
            moved = _climb(z, heights, active, steps, height)
            active = active[moved & (np.sqrt(squared_lengths(steps)) > _ENDED * scale)]
    return z


def _climb(
    z: Float64Array,
    heights: Float64Array,
    active: npt.NDArray[np.intp],
    steps: Float64Array,
    height: Callable[[Float64Array, npt.NDArray[np.intp]], Float64Array],
) -> npt.NDArray[np.bool_]:
    """Move the active points by the longest of their steps, halved again and again, that climbs; say which moved."""
    moved = np.zeros(active.size, dtype=bool)
    share = 1.0
    for _ in range(_HALVINGS):
        left = np.flatnonzero(~moved)
        if not left.size:
            break
        some = active[left]
        tried = z[some] + share * steps[left]
        reached = height(tried, some)
        better = reached > heights[some]
        z[some[better]], heights[some[better]] = tried[better], reached[better]
        moved[left[better]] = True
        share /= 2.0
    return moved
