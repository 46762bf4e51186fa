"""The repulsion of ForceAtlas2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.kernels.base import SMALLEST, FloatArray

__all__ = ["Logarithmic"]


@dataclass(frozen=True)
class Logarithmic:
    """The potential k(s) = -log(s) / 2 = -log(distance), whose force is one over the distance.

    Below s = 1e-12 it is held constant.

    References
    ----------
    .. [1] Jacomy et al., "ForceAtlas2, a continuous graph layout algorithm for handy network visualization", PLOS ONE
       9, 2014.
    """

    name = "logarithmic"
    parameters = (1.0, 1.0)
    smooth = False
    bounded = False
    compiled = True

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(-0.5 * np.log(s))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -1 / (2 s), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(-0.5 / s)

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = 1 / (2 s^2), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(0.5 / s**2)
