"""The kernel of sketch-map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._validation import Real, Rule, check_parameters
from gnomon.kernels.base import FloatArray

__all__ = ["SketchMapKernel"]

_POSITIVE = Real(low=0.0, low_open=True)
_RULES: dict[str, Rule] = {"sigma": _POSITIVE, "a": _POSITIVE, "b": _POSITIVE}
_SMALLEST = 1e-18  # squared distance, 1e-9 squared: far above the smallest normal float32, 1e-38


@dataclass(frozen=True)
class SketchMapKernel:
    """Sketch-map's sigmoid of the distance r, k = 1 - (1 + (2^(a/b) - 1) (r / sigma)^a)^(-b/a) with r = sqrt(s).

    It grows from 0 to 1 and is one half at sigma: nearer pairs count as close, farther ones as far, and how close or
    how far matters little.

    Parameters
    ----------
    sigma : float > 0, default=1.0
        The distance where k is one half.
    a : float > 0, default=2.0
        k grows as r^a far below sigma. For a < 2 the slope dk/ds is infinite at 0 and held below r = 1e-9.
    b : float > 0, default=3.0
        1 - k falls as r^-b far above sigma.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Simplifying the representation of complex free-energy landscapes using
       sketch-map", PNAS 108, 2011, eq. 2.
    """

    sigma: float = 1.0
    a: float = 2.0
    b: float = 3.0
    name = "sketch_map"
    smooth = False
    bounded = False
    compiled = True

    def __post_init__(self) -> None:
        check_parameters("SketchMapKernel", _RULES, {"sigma": self.sigma, "a": self.a, "b": self.b})

    @property
    def parameters(self) -> tuple[float, float, float]:
        """(a, b, sigma)."""
        return (self.a, self.b, self.sigma)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        return self.of_distances(np.sqrt(np.asarray(squared_distances, dtype=np.float64)))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds, with r held at 1e-9 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), _SMALLEST)
        power = self._power(np.sqrt(s))
        share = np.where(power > 1.0, 1.0 / (1.0 + 1.0 / np.maximum(power, 1.0)), power / (1.0 + power))
        return np.asarray(0.5 * self.b / s * share * np.exp(-self._exponent(power)))

    def of_distances(self, distances: npt.ArrayLike) -> FloatArray:
        """Return k as a function of the distance r >= 0 itself; 1 at infinity."""
        return np.asarray(-np.expm1(-self._exponent(self._power(np.asarray(distances, dtype=np.float64)))))

    def inverse(self, values: npt.ArrayLike) -> FloatArray:
        """Return the distances r at which k takes values in [0, 1]; infinity for 1.

        Parameters
        ----------
        values : array-like
            In [0, 1].

        Returns
        -------
        ndarray of the same shape, float64
        """
        with np.errstate(divide="ignore", over="ignore"):
            exponent = -np.log1p(-np.asarray(values, dtype=np.float64))
            return np.asarray(self.sigma * (np.expm1(exponent * self.a / self.b) / self._factor) ** (1.0 / self.a))

    @property
    def _factor(self) -> float:
        """2^(a/b) - 1, at most the largest float."""
        return float(np.expm1(min(np.log(2.0) * self.a / self.b, 700.0)))

    def _power(self, distances: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self._factor * (distances / self.sigma) ** self.a)

    def _exponent(self, power: FloatArray) -> FloatArray:
        return np.asarray(self.b / self.a * np.log1p(power))
