"""A fall of density held against the deepest ones of tables without gaps: p-value and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

__all__ = ["Chance"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Chance:
    """What chance makes of a fall of the logarithm of density.

    Attributes
    ----------
    estimate : float >= 0
        The fall less the median of the deepest falls of tables without gaps, of the kind whose are deeper.
    interval : tuple of (low, high)
        It has the width of the falls of these tables, or of the noise of one density where that is more.
    p_value : float
        How often tables without gaps have a fall as deep; the larger of both kinds.
    noise : float > 0
        Of the logarithm of one density: by how much it is too high in a share `alpha` of cases.
    """

    estimate: float
    interval: tuple[float, float]
    p_value: float
    noise: float

    @classmethod
    def of(cls, fall: float, kinds: tuple[Floats, Floats], alpha: float, k: int) -> Self:
        """Hold a fall that k neighbours tell against those of both kinds of tables without gaps."""
        p_value = max((1 + np.count_nonzero(kind >= fall)) / (1 + len(kind)) for kind in kinds)
        deeper = max(kinds, key=np.median)
        center = float(np.median(deeper))
        noise = float(-scipy.special.ndtri(alpha) * math.sqrt(scipy.special.polygamma(1, k)))
        low = max(0.0, fall - max(center + noise, *(float(np.quantile(kind, 1.0 - alpha)) for kind in kinds)))
        high = max(low, fall - min(center - noise, float(np.quantile(deeper, alpha))))
        return cls(max(0.0, fall - center), (low, high), float(p_value), noise)
