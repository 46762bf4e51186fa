"""The kernel of SNE and of the elastic embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._validation import Real, check_parameters
from gnomon.kernels.base import FloatArray

__all__ = ["Gaussian"]

_POSITIVE = Real(low=0.0, low_open=True)


@dataclass(frozen=True)
class Gaussian:
    """The Gaussian kernel k(s) = exp(-s / scale).

    Parameters
    ----------
    scale : float > 0, default=1.0
        Squared distance at which k has fallen to 1/e.

    References
    ----------
    .. [1] Hinton & Roweis, "Stochastic neighbor embedding", NeurIPS 2002.
    """

    scale: float = 1.0
    name = "gaussian"
    smooth = True
    bounded = True
    compiled = True

    def __post_init__(self) -> None:
        check_parameters("Gaussian", {"scale": _POSITIVE}, {"scale": self.scale})

    @property
    def parameters(self) -> tuple[float, float]:
        """(1 / scale, 1)."""
        return (1.0 / self.scale, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        return np.asarray(np.exp(-np.asarray(squared_distances, dtype=np.float64) / self.scale))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -k / scale."""
        return -self.value(squared_distances) / self.scale

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = k / scale^2."""
        return self.value(squared_distances) / self.scale**2
