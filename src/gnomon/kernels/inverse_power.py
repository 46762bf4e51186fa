"""Repulsion that falls as a power of the distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._validation import Real, check_parameters
from gnomon.kernels.base import SMALLEST, FloatArray

__all__ = ["InversePower"]

_POSITIVE = Real(low=0.0, low_open=True)
_LARGEST = 1e18


@dataclass(frozen=True)
class InversePower:
    """The potential k(s) = s^-exponent of the squared distance s.

    Below s = 1e-12 it is held constant, and neither it nor its slope exceeds 1e18.

    Parameters
    ----------
    exponent : float > 0, default=0.5
        0.5 is the Coulomb potential, one over the distance.
    """

    exponent: float = 0.5
    name = "inverse_power"
    smooth = False
    bounded = False
    compiled = True

    def __post_init__(self) -> None:
        check_parameters("InversePower", {"exponent": _POSITIVE}, {"exponent": self.exponent})

    @property
    def parameters(self) -> tuple[float, float]:
        """(exponent, 1)."""
        return (self.exponent, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(np.minimum(s**-self.exponent, _LARGEST))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -exponent s^(-exponent - 1), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(-np.minimum(self.exponent * s ** (-self.exponent - 1.0), _LARGEST))

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = exponent (exponent + 1) s^(-exponent - 2), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        factor = self.exponent * (self.exponent + 1.0)
        return np.asarray(np.minimum(factor * s ** (-self.exponent - 2.0), _LARGEST))
