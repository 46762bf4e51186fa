"""What estimators of the intrinsic dimension found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DimensionEstimate", "IntrinsicDimension"]

_NAMES = {
    "mle": "maximum likelihood (MacKay & Ghahramani)",
    "levina_bickel": "maximum likelihood (Levina & Bickel)",
    "two_nn": "two nearest neighbours",
    "correlation": "correlation dimension",
    "local_pca": "local PCA",
}


@dataclass(frozen=True)
class DimensionEstimate:
    """One estimate of the intrinsic dimension.

    Attributes
    ----------
    value : float
        The dimension; NaN where the data allow no estimate.
    low, high : float
        Ends of the confidence interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class IntrinsicDimension:
    """How many coordinates the data need locally.

    Attributes
    ----------
    estimates : dict of str to DimensionEstimate
        "mle", "levina_bickel", "two_nn", "correlation" and "local_pca".
    local : ndarray of shape (n_samples,), float64
        Dimension around each row, by maximum likelihood; NaN where a row has no two distinct distances.
    local_low, local_high : ndarray of shape (n_samples,), float64
        Ends of its confidence interval: wide, since few neighbours know little.
    n_neighbors : (int, int)
        Least and largest number of neighbours that "mle" and "levina_bickel" average over; `local` takes the
        largest.
    confidence : float in (0, 1)
        Of all intervals.
    """

    estimates: dict[str, DimensionEstimate]
    local: npt.NDArray[np.float64]
    local_low: npt.NDArray[np.float64]
    local_high: npt.NDArray[np.float64]
    n_neighbors: tuple[int, int]
    confidence: float

    @property
    def value(self) -> float:
        """The median of the estimates, NaN if there are none."""
        values = [one.value for one in self.estimates.values() if math.isfinite(one.value)]
        return float(np.median(values)) if values else math.nan

    @property
    def n_components(self) -> int:
        """Components that a map needs to keep the data without loss: the median, from a quarter above a number on
        rounded up; at least 1.

        A lower bound: a closed surface such as a sphere needs one more.
        """
        return max(1, math.ceil(self.value - 0.25)) if math.isfinite(self.value) else 1

    def summary(self) -> str:
        """Say in words what was found."""
        if not math.isfinite(self.value):
            return "The data have too few distinct rows to estimate an intrinsic dimension."
        low = min(one.value for one in self.estimates.values() if math.isfinite(one.value))
        high = max(one.value for one in self.estimates.values() if math.isfinite(one.value))
        lines = [f"The data are about {self.value:.1f}-dimensional (estimates from {low:.1f} to {high:.1f})."]
        for key, one in self.estimates.items():
            if math.isfinite(one.value):
                lines.append(f"  {one.value:5.1f}  ({one.low:.1f} to {one.high:.1f})  {_NAMES[key]}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, without those of single rows, ready for JSON."""
        return {
            "value": _number(self.value),
            "n_components": self.n_components,
            "confidence": self.confidence,
            "n_neighbors": list(self.n_neighbors),
            "estimates": {
                key: {"value": _number(one.value), "low": _number(one.low), "high": _number(one.high)}
                for key, one in self.estimates.items()
            },
        }


def _number(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
