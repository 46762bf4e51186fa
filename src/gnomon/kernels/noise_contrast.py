"""The kernel of negative sampling with the Cauchy similarity."""

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
    """The chance that a pair is data and not noise, k(s) = q / (q + noise) = 1 / (1 + noise (1 + s)).

    q = 1 / (1 + s) is the Cauchy similarity. The law -log k for edges and -log(1 - k) for noise is negative sampling:
    with noise 1 it is UMAP's loss for a = b = 1, with the partition sum over pairs it is close to t-SNE's.

    Parameters
    ----------
    noise : float > 0, default=1.0
        How often noise comes for each unit of similarity.

    References
    ----------
    .. [1] Damrich, Bohm, Hamprecht & Kobak, "From t-SNE to UMAP with contrastive learning", ICLR 2023.
    """

    noise: float = 1.0
    name = "noise_contrast"
    smooth = True
    bounded = True
    compiled = True

    def __post_init__(self) -> None:
        check_parameters("NoiseContrast", {"noise": _POSITIVE}, {"noise": self.noise})

    @property
    def parameters(self) -> tuple[float, float]:
        """(noise, 1)."""
        return (self.noise, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(1.0 / (1.0 + self.noise * (1.0 + s)))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -noise k^2."""
        return -self.noise * self.value(squared_distances) ** 2

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = 2 noise^2 k^3."""
        return 2.0 * self.noise**2 * self.value(squared_distances) ** 3
