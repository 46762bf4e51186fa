"""With which power of the rows a time grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Growth", "growth"]


@dataclass(frozen=True)
class Growth:
    """An exponent: time ~ rows^exponent, by least squares on logarithms, and its standard error (nan from two)."""

    exponent: float
    standard_error: float


def growth(rows: Sequence[int], seconds: Sequence[float]) -> Growth | None:
    """Fit the exponent; None from fewer than two sizes."""
    if len(rows) < 2:
        return None
    x, y = np.log(np.asarray(rows, dtype=float)), np.log(np.asarray(seconds, dtype=float))
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    if len(rows) == 2:
        return Growth(exponent, float("nan"))
    residual = y - y.mean() - exponent * centred
    return Growth(exponent, float(np.sqrt(residual @ residual / (len(rows) - 2) / (centred @ centred))))
