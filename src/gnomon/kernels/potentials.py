"""Output kernels that are no similarities: distances, which grow, and potentials."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import arctan2, exp, expm1, log, log1p, softplus
from gnomon._entrance import entrance
from gnomon._validation import Real, Rule, check_parameters
from gnomon.kernels.base import SMALLEST, FloatArray

__all__ = ["Distance", "InversePower", "Linear", "Logarithmic", "ShortReach", "SketchMapKernel"]

_POSITIVE = Real(low=0.0, low_open=True)
_RULES: dict[str, Rule] = {"sigma": _POSITIVE, "a": _POSITIVE, "b": _POSITIVE}
_SMALLEST = 1e-18  # squared distance, 1e-9 squared: far above the smallest normal float32, 1e-38
_LARGEST = 1e18


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

    @entrance("SketchMapKernel")
    def __post_init__(self) -> None:
        check_parameters(_RULES, {"sigma": self.sigma, "a": self.a, "b": self.b})

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
        log_power = self._log_power(np.sqrt(s))
        exponent = softplus(log_power)
        return np.asarray(0.5 * self.b / s * exp(log_power - exponent - self.b / self.a * exponent))

    def of_distances(self, distances: npt.ArrayLike) -> FloatArray:
        """Return k as a function of the distance r >= 0 itself; 1 at infinity."""
        found = np.asarray(softplus(self._log_power(np.asarray(distances, dtype=np.float64))))
        found *= -self.b / self.a
        expm1(found, out=found)
        np.negative(found, out=found)
        return found

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
        power = expm1(-log1p(-np.asarray(values, dtype=np.float64)) * self.a / self.b)
        return np.asarray(self.sigma * exp((log(power) - self._log_factor) / self.a))

    @property
    def _log_factor(self) -> float:
        """log(2^(a/b) - 1)."""
        exponent = math.log(2.0) * self.a / self.b
        return float(exponent if exponent > 40.0 else log(expm1(exponent)))

    def _log_power(self, distances: FloatArray) -> FloatArray:
        """Return the logarithm of the term that is added to 1."""
        found = np.asarray(log(distances))
        found -= log(self.sigma)
        found *= self.a
        found += self._log_factor
        return found


@dataclass(frozen=True)
class ShortReach:
    """A potential that pulls near points as (1 + s) / (reach + 1 + s) does, and far ones less by 1 / sqrt(1 + s).

    k(s) = u / (reach + u^2) + arctan(u / sqrt(reach)) / sqrt(reach) with u^2 = 1 + s, so that
    dk/ds = reach / (reach + u^2)^2 / u: the slope of PaCMAP's loss of a near pair over u, which is LocalMAP's.

    Parameters
    ----------
    reach : float > 0, default=10.0
        Squared distance, 1 added, from which on the pull of (1 + s) / (reach + 1 + s) fades.

    References
    ----------
    .. [1] Wang, Sun, Huang & Rudin, "Dimension reduction with locally adjusted graphs", AAAI 2025.
    """

    reach: float = 10.0
    name = "short_reach"
    smooth = False
    bounded = False
    compiled = True

    @entrance("ShortReach")
    def __post_init__(self) -> None:
        check_parameters({"reach": _POSITIVE}, {"reach": self.reach})

    @property
    def parameters(self) -> tuple[float, float]:
        """(reach, 1)."""
        return (self.reach, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        d, root = 1.0 + np.asarray(squared_distances, dtype=np.float64), math.sqrt(self.reach)
        return np.asarray(np.sqrt(d) / (self.reach + d) + arctan2(np.sqrt(d), root) / root)

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds."""
        d = 1.0 + np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(self.reach / ((self.reach + d) ** 2 * np.sqrt(d)))

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2."""
        d = 1.0 + np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(-self.derivative(d - 1.0) * (2.0 / (self.reach + d) + 0.5 / d))


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
        return np.asarray(-0.5 * log(s))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -1 / (2 s), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(-0.5 / s)

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = 1 / (2 s^2), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(0.5 / s**2)


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

    @entrance("InversePower")
    def __post_init__(self) -> None:
        check_parameters({"exponent": _POSITIVE}, {"exponent": self.exponent})

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
