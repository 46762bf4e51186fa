"""The kernel of PCA, classical scaling and Laplacian eigenmaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.kernels.base import FloatArray

__all__ = ["Linear"]


@dataclass(frozen=True)
class Linear:
    """The linear kernel k(s) = -s / 2, whose double-centred matrix is the centred Gram matrix of the embedding."""

    name = "linear"
    parameters = (1.0, 1.0)
    smooth = False
    bounded = False
    compiled = True

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        return -0.5 * np.asarray(squared_distances, dtype=np.float64)

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -1/2."""
        return np.full(np.shape(squared_distances), -0.5)

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = 0."""
        return np.zeros(np.shape(squared_distances))
