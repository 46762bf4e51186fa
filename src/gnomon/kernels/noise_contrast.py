"""The kernel of noise-contrastive losses and of PaCMAP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._validation import Real, check_parameters
from gnomon.kernels.base import FloatArray

__all__ = ["NoiseContrast"]

_POSITIVE = Real(low=0.0, low_open=True)


@dataclass(frozen=True)
class NoiseContrast:
    """The probability q / (q + c) that a pair of Cauchy similarity q is no noise: k(s) = 1 / (1 + c (1 + s)).

    Parameters
    ----------
    c : float > 0
        Strength of the noise.

    References
    ----------
    .. [1] Damrich, Bohm, Hamprecht & Kobak, "From t-SNE to UMAP with contrastive learning", ICLR 2023.
    """

    c: float
    name = "noise_contrast"
    smooth = True

    def __post_init__(self) -> None:
        check_parameters("NoiseContrast", {"c": _POSITIVE}, {"c": self.c})

    @property
    def parameters(self) -> tuple[float, float]:
        """(c, 1)."""
        return (self.c, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(1.0 / (1.0 + self.c * (1.0 + s)))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -c k^2."""
        return np.asarray(-self.c * self.value(squared_distances) ** 2)
