"""The kernel of metric scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.kernels.base import SMALLEST, FloatArray

__all__ = ["Distance"]


@dataclass(frozen=True)
class Distance:
    """The distance itself, k(s) = sqrt(s): with squared errors from target distances, the raw stress.

    References
    ----------
    .. [1] Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis", Psychometrika
       29, 1964.
    """

    name = "distance"
    parameters = (1.0, 1.0)
    smooth = False
    bounded = False
    compiled = True

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        return np.asarray(np.sqrt(np.asarray(squared_distances, dtype=np.float64)))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = 1 / (2 sqrt(s)), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(0.5 / np.sqrt(s))

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = -s^(-3/2) / 4, with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(-0.25 / (s * np.sqrt(s)))
