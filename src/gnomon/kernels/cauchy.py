"""The kernel of t-SNE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.kernels.base import FloatArray

__all__ = ["Cauchy"]


@dataclass(frozen=True)
class Cauchy:
    """The Cauchy kernel k(s) = 1 / (1 + s), Student's t with one degree of freedom.

    References
    ----------
    .. [1] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008.
    """

    name = "cauchy"
    parameters = (1.0, 1.0)
    smooth = True
    bounded = True
    compiled = True

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        return 1.0 / (1.0 + np.asarray(squared_distances, dtype=np.float64))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -k^2."""
        return -(self.value(squared_distances) ** 2)

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = 2 k^3."""
        return 2.0 * self.value(squared_distances) ** 3
