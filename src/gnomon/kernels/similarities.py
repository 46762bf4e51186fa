"""Output kernels that are similarities: in (0, 1], falling with the distance."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log1p
from gnomon._entrance import entrance
from gnomon._validation import Real, check_parameters, message
from gnomon.kernels.base import SMALLEST, FloatArray

__all__ = ["Cauchy", "Gaussian", "NoiseContrast", "StudentT", "UMAPKernel"]

_POSITIVE = Real(low=0.0, low_open=True)
_NONNEGATIVE = Real(low=0.0)
# (a, b) as fitted to the usual (min_dist, spread): what fits them takes longer to load than a map of a small table.
_FITTED = {
    (0.1, 1.0): (1.5769434602697652, 0.8950608778515733),
    (0.0, 1.0): (1.93280839734315, 0.7904949732233831),  # of the embedding that clusters are found in
}


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
        value = self.value(squared_distances)
        return 2.0 * value * np.square(value)


@dataclass(frozen=True)
class StudentT:
    """Student's t kernel k(s) = (1 + s / dof)^(-(dof + 1) / 2).

    Parameters
    ----------
    dof : float > 0, default=1.0
        Degrees of freedom: 1 is the Cauchy kernel, fewer have heavier tails and show finer clusters, many approach the
        Gaussian exp(-s / 2).

    References
    ----------
    .. [1] van der Maaten, "Learning a parametric embedding by preserving local structure", AISTATS 2009.
    .. [2] Kobak et al., "Heavy-tailed kernels reveal a finer cluster structure in t-SNE visualisations", ECML 2019.
    """

    dof: float = 1.0
    name = "student_t"
    smooth = True
    bounded = True
    compiled = True

    @entrance("StudentT")
    def __post_init__(self) -> None:
        check_parameters({"dof": _POSITIVE}, {"dof": self.dof})

    @property
    def parameters(self) -> tuple[float, float]:
        """(dof, 1)."""
        return (self.dof, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(exp(-0.5 * (self.dof + 1.0) * log1p(s / self.dof)))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -k (dof + 1) / (2 (dof + s))."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(-0.5 * (self.dof + 1.0) / (self.dof + s) * self.value(s))

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = k (dof + 1) (dof + 3) / (4 (dof + s)^2)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(0.25 * (self.dof + 1.0) * (self.dof + 3.0) / (self.dof + s) ** 2 * self.value(s))


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

    @entrance("Gaussian")
    def __post_init__(self) -> None:
        check_parameters({"scale": _POSITIVE}, {"scale": self.scale})

    @property
    def parameters(self) -> tuple[float, float]:
        """(1 / scale, 1)."""
        return (1.0 / self.scale, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        return np.asarray(exp(-np.asarray(squared_distances, dtype=np.float64) / self.scale))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -k / scale."""
        return -self.value(squared_distances) / self.scale

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = k / scale^2."""
        return self.value(squared_distances) / self.scale**2


@dataclass(frozen=True)
class UMAPKernel:
    """UMAP's kernel k(s) = 1 / (1 + a s^b).

    Parameters
    ----------
    a, b : float > 0
        k is one half at the squared distance a^(-1/b); b is its steepness. (1, 1) is the Cauchy kernel.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018, section 3.2.
    """

    a: float
    b: float
    name = "umap"
    bounded = True
    compiled = True

    @entrance("UMAPKernel")
    def __post_init__(self) -> None:
        check_parameters({"a": _POSITIVE, "b": _POSITIVE}, {"a": self.a, "b": self.b})

    @classmethod
    @entrance("UMAPKernel")
    def from_min_dist(cls, min_dist: float = 0.1, spread: float = 1.0) -> UMAPKernel:
        """Fit a and b so that points rest about min_dist apart.

        Parameters
        ----------
        min_dist : float in [0, spread], default=0.1
            Distance below which two neighbours count as one: the target is 1 up to it, in units of the embedding.
        spread : float > 0, default=1.0
            Length over which the target falls to 1/e beyond min_dist.

        Returns
        -------
        UMAPKernel
            Least-squares fit of k on 300 distances in [0, 3 spread] to exp(-max(0, distance - min_dist) / spread).
        """
        checked = check_parameters(
            {"min_dist": _NONNEGATIVE, "spread": _POSITIVE}, {"min_dist": min_dist, "spread": spread}
        )
        min_dist, spread = checked["min_dist"], checked["spread"]
        if min_dist > spread:
            raise ValueError(message(f"min_dist={min_dist}", f"at most spread={spread}", remedy="Raise spread."))
        return cls(*(_FITTED.get((min_dist, spread)) or _fitted(min_dist, spread)))

    @property
    def parameters(self) -> tuple[float, float]:
        """(a, b)."""
        return (self.a, self.b)

    @property
    def smooth(self) -> bool:
        """Whether the slope is bounded at 0: b of at least 1."""
        return self.b >= 1.0

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(1.0 / (1.0 + self.a * s**self.b))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -a b s^(b-1) k^2, with s held at 1e-12 below it: for b < 1 it is infinite at 0."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        return np.asarray(-self.a * self.b * s ** (self.b - 1.0) * self.value(s) ** 2)

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = -a b s^(b-2) k^2 (b - 1 - 2 a b s^b k), with s held at 1e-12 below it."""
        s = np.maximum(np.asarray(squared_distances, dtype=np.float64), SMALLEST)
        k, power = self.value(s), self.a * self.b * s**self.b
        return np.asarray(-power / s**2 * k**2 * (self.b - 1.0 - 2.0 * power * k))


@functools.lru_cache(maxsize=64)
def _fitted(min_dist: float, spread: float) -> tuple[float, float]:
    """Return the a and b of a kernel; they take a sixth of a small fit by `UMAP`."""
    from scipy.optimize import curve_fit  # takes long to load

    distances, near = np.linspace(0.0, 3.0, 300), min_dist / spread  # in units of spread, where the fit converges
    target = np.where(distances < near, 1.0, exp(-(distances - near)))

    def curve(x: FloatArray, a: float, b: float) -> FloatArray:
        return np.asarray(1.0 / (1.0 + a * x ** (2.0 * b)))

    (a, b), _ = curve_fit(curve, distances, target)
    return float(a / spread ** (2.0 * b)), float(b)


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
    .. [1] Damrich, Böhm, Hamprecht & Kobak, "From t-SNE to UMAP with contrastive learning", ICLR 2023.
    """

    noise: float = 1.0
    name = "noise_contrast"
    smooth = True
    bounded = True
    compiled = True

    @entrance("NoiseContrast")
    def __post_init__(self) -> None:
        check_parameters({"noise": _POSITIVE}, {"noise": self.noise})

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
        value = self.value(squared_distances)
        return 2.0 * self.noise**2 * value * np.square(value)
