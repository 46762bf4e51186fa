"""Student's t with any number of degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._validation import Real, check_parameters
from gnomon.kernels.base import FloatArray

__all__ = ["StudentT"]

_POSITIVE = Real(low=0.0, low_open=True)


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

    def __post_init__(self) -> None:
        check_parameters("StudentT", {"dof": _POSITIVE}, {"dof": self.dof})

    @property
    def parameters(self) -> tuple[float, float]:
        """(dof, 1)."""
        return (self.dof, 1.0)

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(np.exp(-0.5 * (self.dof + 1.0) * np.log1p(s / self.dof)))

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds = -k (dof + 1) / (2 (dof + s))."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(-0.5 * (self.dof + 1.0) / (self.dof + s) * self.value(s))

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2 = k (dof + 1) (dof + 3) / (4 (dof + s)^2)."""
        s = np.asarray(squared_distances, dtype=np.float64)
        return np.asarray(0.25 * (self.dof + 1.0) * (self.dof + 3.0) / (self.dof + s) ** 2 * self.value(s))
