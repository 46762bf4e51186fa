"""Input kernels of the Euclidean distance of two rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gnomon.kernels.base import FloatArray
from gnomon.kernels.inputs.base import check_scale, squared_distances

__all__ = ["CauchyInput", "GaussianInput", "LaplacianInput", "RadialInput", "SketchMapInput", "UMAPInput"]

_NEAREST = 1e-9  # of sigma: below it slopes that are infinite at r = 0 are held


@dataclass(frozen=True)
class RadialInput:
    """A kernel of the Euclidean distance r with k = 1 at r = 0.

    Parameters
    ----------
    sigma : float > 0
        In the units of the features.
    """

    sigma: float
    of_differences: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_scale(type(self).__name__, name, value)

    @property
    def semidefinite(self) -> bool | None:
        """Whether every Gram matrix is positive semidefinite; None where some are not."""
        return True

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which may be overwritten."""
        raise NotImplementedError

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2) at squared distances, finite everywhere."""
        raise NotImplementedError

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the kernel of the distances."""
        return self.of_squares(squared_distances(A, B))

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, of shape (len(A), n_columns, n_features)."""
        slopes = 2.0 * self.slope(squared_distances(A, B))
        found = np.empty((A.shape[0], weights.shape[1], A.shape[1]))
        for c, column in enumerate(weights.T):
            pulls = slopes * column
            found[:, c] = pulls.sum(axis=1)[:, None] * A - pulls @ B
        return found

    def diagonal(self, A: Any) -> FloatArray:
        """Return ones."""
        return np.ones(A.shape[0])


class GaussianInput(RadialInput):
    """exp(-r^2 / (2 sigma^2)) of the Euclidean distance r."""

    name: ClassVar[str] = "gaussian"

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared *= -0.5 / self.sigma**2
        return np.exp(squared, out=squared)

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2)."""
        return np.asarray(self.of_squares(squared * 1.0) * (-0.5 / self.sigma**2), dtype=np.float64)


class LaplacianInput(RadialInput):
    """exp(-r / sigma) of the Euclidean distance r (scikit-learn's takes the sum of absolute differences)."""

    name: ClassVar[str] = "laplacian"

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        np.sqrt(squared, out=squared)
        squared /= -self.sigma
        return np.exp(squared, out=squared)

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2), infinite at r = 0 and held there at r = 1e-9 sigma."""
        r = np.sqrt(np.maximum(squared, (_NEAREST * self.sigma) ** 2))
        return np.asarray(np.exp(r / -self.sigma) / (-2.0 * self.sigma * r), dtype=np.float64)


@dataclass(frozen=True)
class CauchyInput(RadialInput):
    """(1 + r^2 / sigma^2)^-exponent of the Euclidean distance r: Cauchy or Lorentzian, and rational quadratic.

    Parameters
    ----------
    sigma : float > 0
        In the units of the features.
    exponent : float > 0, default=1.0
        With ``sigma = s sqrt(2 exponent)`` a large one tends to the Gaussian kernel of width s.
    """

    exponent: float = 1.0
    name: ClassVar[str] = "cauchy"

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared /= self.sigma**2
        squared += 1.0
        if self.exponent == 1.0:
            return np.reciprocal(squared, out=squared)
        return np.power(squared, -self.exponent, out=squared)

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2)."""
        base = 1.0 + squared / self.sigma**2
        return np.asarray(base ** (-self.exponent - 1.0) * (-self.exponent / self.sigma**2), dtype=np.float64)


@dataclass(frozen=True)
class SketchMapInput(RadialInput):
    """(1 + c (r / sigma)^a)^(-b / a) with c = 2^(a/b) - 1: one minus the sigmoid of sketch-map.

    Parameters
    ----------
    sigma : float > 0
        Distance at which the kernel is one half, in the units of the features.
    a : float > 0, default=2.0
        Power with which it leaves 1 at r = 0. Above 2 some Gram matrices have negative eigenvalues.
    b : float > 0, default=3.0
        Power with which it falls far away.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Simplifying the representation of complex free-energy landscapes using
       sketch-map", PNAS 108, 2011.
    """

    a: float = 2.0
    b: float = 3.0
    name: ClassVar[str] = "sketch_map"

    @property
    def semidefinite(self) -> bool | None:
        """True for a of at most 2, where the kernel is a mixture of Gaussians."""
        return True if self.a <= 2.0 else None

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared /= self.sigma**2
        np.power(squared, self.a / 2.0, out=squared)
        squared *= 2.0 ** (self.a / self.b) - 1.0
        squared += 1.0
        return np.power(squared, -self.b / self.a, out=squared)

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2); with a below 2 it is infinite at r = 0 and held there at r = 1e-9 sigma."""
        s = np.maximum(squared / self.sigma**2, _NEAREST**2)
        c = 2.0 ** (self.a / self.b) - 1.0
        outer = (1.0 + c * s ** (self.a / 2.0)) ** (-self.b / self.a - 1.0)
        return np.asarray(outer * s ** (self.a / 2.0 - 1.0) * (-0.5 * self.b * c / self.sigma**2), dtype=np.float64)


@dataclass(frozen=True)
class UMAPInput(RadialInput):
    """1 / (1 + a (r / sigma)^(2 b)), the kernel of UMAP's maps, of the rows of the data.

    Parameters
    ----------
    sigma : float > 0
        Unit of distance, in the units of the features. With 1 it is UMAP's kernel 1 / (1 + a s^b) of s = r^2.
    a, b : float > 0, default=1.577, 0.895
        Those of UMAP's min_dist=0.1. With b above 1 (min_dist above about 0.2) some Gram matrices have negative
        eigenvalues.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018, section 3.2.
    """

    a: float = 1.577
    b: float = 0.895
    name: ClassVar[str] = "umap"

    @property
    def semidefinite(self) -> bool | None:
        """True for b of at most 1, where the kernel is a mixture of Gaussians."""
        return True if self.b <= 1.0 else None

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared /= self.sigma**2
        if self.b != 1.0:
            np.power(squared, self.b, out=squared)
        squared *= self.a
        squared += 1.0
        return np.reciprocal(squared, out=squared)

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2); with b below 1 it is infinite at r = 0 and held there at r = 1e-9 sigma."""
        s = np.maximum(squared / self.sigma**2, _NEAREST**2)
        value = 1.0 / (1.0 + self.a * s**self.b)
        return np.asarray(value**2 * s ** (self.b - 1.0) * (-self.a * self.b / self.sigma**2), dtype=np.float64)
