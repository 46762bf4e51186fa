"""Points whose inner products come nearest to those that distances imply: classical (Torgerson) scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._threads import single_threaded_blas
from gnomon.linalg.krylov import leading_eigenpairs

__all__ = ["ExactScaling", "exact_scaling"]

Float64Array = npt.NDArray[np.float64]

_NOISE = 64.0  # times n_samples eps of the largest eigenvalue: what lies below it is rounding


@dataclass(frozen=True)
class ExactScaling:
    """The leading eigenpairs of B = -H D^2 H / 2, and how to place points by their distances to those fitted.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_components,), float64
        Falling, as found: those that are not positive have no axis.
    vectors : ndarray of shape (n_samples, n_components), float64
        Orthonormal columns; the entry of largest magnitude of each is positive.
    means : ndarray of shape (n_samples,), float64
        Means of the rows of the squared distances.
    smallest_eigenvalue : float
        Of B; not negative, up to rounding, if the distances are Euclidean.
    squared_norm : float
        Sum of the squared entries of B.
    """

    eigenvalues: Float64Array
    vectors: Float64Array
    means: Float64Array
    smallest_eigenvalue: float
    squared_norm: float

    @property
    def is_axis(self) -> npt.NDArray[np.bool_]:
        """Which eigenvalues are positive beyond rounding; shape (n_components,)."""
        scale = max(float(np.abs(self.eigenvalues).max(initial=0.0)), -self.smallest_eigenvalue)
        return np.asarray(self.eigenvalues > _NOISE * len(self.means) * np.finfo(np.float64).eps * scale)

    @property
    def points(self) -> Float64Array:
        """The points fitted, (n_samples, n_components); zeros along what is no axis."""
        return np.asarray(self.vectors * np.sqrt(np.where(self.is_axis, self.eigenvalues, 0.0)))

    @property
    def strain(self) -> float:
        """Sum of the squared differences between B and the inner products of the points."""
        return max(self.squared_norm - float(np.square(self.eigenvalues[self.is_axis]).sum()), 0.0)

    def place(self, distances: Float64Array, *, n_threads: int = 1) -> Float64Array:
        """Place points by their distances to those fitted (Gower's formula).

        Parameters
        ----------
        distances : ndarray of shape (n_points, n_samples), float64
            In the units of those fitted.
        n_threads : int >= 1, default=1
            Does not change the result.

        Returns
        -------
        ndarray of shape (n_points, n_components), float64
            Each row is a function of its distances alone; for those of a point fitted, its place.
        """
        roots = np.where(self.is_axis, np.sqrt(np.where(self.is_axis, self.eigenvalues, 1.0)), np.inf)
        directions = np.ascontiguousarray(self.vectors / (-2.0 * roots))
        placed = np.empty((len(distances), directions.shape[1]))
        _core.project(np.ascontiguousarray(np.square(distances)), self.means, directions, placed, n_threads)
        return placed


def exact_scaling(distances: Float64Array, n_components: int, *, seed: int = 0) -> ExactScaling:
    """Find the points whose inner products are nearest, in squares, to B = -H D^2 H / 2.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples), float64
        Symmetric. Overwritten: its memory holds B.
    n_components : int in [1, n_samples]
    seed : int in [0, 2**63), default=0
        Of the random start, where eigenvectors are found by iteration.

    Returns
    -------
    ExactScaling

    References
    ----------
    .. [1] Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
    .. [2] Gower, "Adding a point to vector diagrams in multivariate analysis", Biometrika 55, 1968.
    """
    n = len(distances)
    B = np.square(distances, out=distances)
    means = B.mean(axis=1)
    B -= means[:, None]
    B -= means - means.mean()
    B *= -0.5
    with single_threaded_blas():
        squared_norm = float(np.vdot(B, B))
        pairs = leading_eigenpairs(lambda Y: np.asarray(B @ Y), n, n_components, seed=seed)
        lowest = leading_eigenpairs(lambda Y: np.asarray(-(B @ Y)), n, 1, seed=seed)
    return ExactScaling(pairs.values, pairs.vectors, means, -float(lowest.values[0]), squared_norm)
