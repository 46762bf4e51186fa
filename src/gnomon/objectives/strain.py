"""The loss of principal component analysis, as a function of the points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.affinities import Gram
from gnomon.linalg import inner, product, symmetric_eigen

__all__ = ["SafeStep", "Strain"]

Float64Array = npt.NDArray[np.float64]

_RIDGE = 1e-12  # of the trace of Yc'Yc, so that a column that vanishes divides nothing by zero
_INDEFINITE = 1e-10  # an eigenvalue this share of the largest below zero is more than rounding


@dataclass(frozen=True)
class SafeStep:
    """A step of plain gradient descent on the strain that cannot fail.

    Attributes
    ----------
    gamma : float
        Y <- Y + gamma (T Y - Yc Yc'Yc), the step in the form of attraction and repulsion.
    learning_rate : float
        gamma / 4, the same as a factor of the gradient. The loss falls by at least half of it times the squared norm of
        the gradient in every step.
    radius : float
        rho, which bounds the largest eigenvalue of Yc'Yc in every step.
    """

    gamma: float
    learning_rate: float
    radius: float

    def gradient_tolerance(self, tol: float) -> float:
        """Return the norm of a gradient that counts as zero: tol * 4 rho^(3/2), the norm's own scale."""
        return float(tol * 4.0 * self.radius * np.sqrt(self.radius))


class Strain:
    """How far the inner products of an embedding are from a similarity, both centred.

    With H the matrix that subtracts the mean, T = H K H and Yc = H Y,

        loss = |H (K - Y Y') H|^2 in Frobenius norm,
        gradient = -4 (T Y - Yc Yc'Yc) = 4 sum_j l_ij (y_i - y_j) with l = H (K - Y Y') H:

    the entries of T attract, those of Yc Yc' repel, and negative ones do the opposite. Its minimisers are the leading d
    eigenvectors of T times the roots of their positive eigenvalues, up to a rotation: the PCA scores if K = X X', those
    of kernel PCA for a kernel, those of classical scaling if K = -D^2 / 2. All other critical points are saddles.

    Everything is in float64 and takes products with K only; no matrix of all pairs is formed for a linear similarity or
    a factor.

    Parameters
    ----------
    gram : Gram
        The similarity K, of any signature.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023, lemmas
       1-2 and theorem 1; signs and factors here are those of the derivative, which finite differences confirm.
    """

    dtype = np.float64
    evaluation = "exact"

    def __init__(self, gram: Gram) -> None:
        self.gram = gram

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.gram.n_samples

    def loss(self, Y: npt.ArrayLike) -> float:
        """Return the loss, in units of the similarity squared."""
        points = self._check(Y)
        with single_threaded_blas():
            cross = inner(points, self.gram.centred_matvec(points))
            scatter = product(points.T, points)
            return self.gram.centred_squared_norm - 2.0 * cross + inner(scatter, scatter)

    def gradient(self, Y: npt.ArrayLike) -> Float64Array:
        """Return the gradient of the loss."""
        attraction, repulsion = self.forces(Y)
        return -(attraction + repulsion)

    def forces(self, Y: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
        """Return the attraction 4 T Y and the repulsion -4 Yc Yc'Yc; their sum is minus the gradient."""
        points = self._check(Y)
        with single_threaded_blas():
            return 4.0 * self.gram.centred_matvec(points), product(points, product(points.T, points)) * -4.0

    def evaluation_for(self, n_components: int) -> str:
        """Return "exact"."""
        return self.evaluation

    def precondition(self, gradient: Float64Array, Y: npt.ArrayLike) -> Float64Array:
        """Return the gradient times (Yc'Yc)^-1 from the right, with a ridge of 1e-12 of its trace.

        With a step of 1/8 this is Y + 1/2 (T Yc - Yc Yc'Yc) (Yc'Yc)^-1, the Babylonian square root on top of subspace
        iteration. Its error shrinks by (1 + lambda_d+1 / lambda_d) / 2 in an iteration, that of the safe step by
        1 - (lambda_d - lambda_d+1) / (3 lambda_1): it gains where the components wanted differ much in size. The loss
        may rise in the first iterations.
        """
        points = self._check(Y)
        with single_threaded_blas():
            scatter = product(points.T, points)
            ridge = _RIDGE * float(np.trace(scatter))
            if not ridge > 0.0:  # all points lie on one another, where the gradient is zero
                return gradient
            values, vectors = symmetric_eigen(scatter + ridge * np.eye(len(scatter)))
            return product(product(gradient, vectors / values), vectors.T)

    def safe_step(self, Y0: npt.ArrayLike) -> float:
        """Return the factor of the gradient of `safe_bound`, as optimizers ask for it."""
        return self.safe_bound(Y0).learning_rate

    def safe_bound(self, Y0: npt.ArrayLike) -> SafeStep:
        """Return the largest step that is proved to lower the loss in every iteration from Y0 on.

        gamma = 1 / (3 rho) if T is positive semidefinite, else 1 / (4 rho), with rho the larger of |T| and |H Y0|^2 in
        spectral norm; |T| comes from Lanczos steps with a margin of 1 % or more.
        """
        lowest, highest = self.gram.centred_bounds
        start = self._check(Y0)
        with single_threaded_blas():
            spread = float(symmetric_eigen(product(start.T, start), 0)[0][0])
        indefinite = lowest < -_INDEFINITE * highest
        radius = max(highest, spread, -lowest if indefinite else 0.0)
        if radius == 0.0:  # nothing attracts and nothing repels: no step has an effect
            return SafeStep(0.0, 0.0, 0.0)
        gamma = 1.0 / ((4.0 if indefinite else 3.0) * radius)
        return SafeStep(gamma, gamma / 4.0, radius)

    def _check(self, Y: npt.ArrayLike) -> Float64Array:
        """Return Y, centred."""
        points = np.asarray(Y, dtype=np.float64)
        if points.ndim != 2 or points.shape[0] != self.n_samples or points.shape[1] < 1:
            rule = f"of shape (n_samples={self.n_samples}, n_components)"
            raise ValueError(message(f"Y of shape {points.shape}", rule, who="Strain"))
        return np.ascontiguousarray(points - points.mean(axis=0))
