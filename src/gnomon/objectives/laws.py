"""What a pair of points contributes to a loss: functions F of the similarity k(s), and their slopes in s.

The float64 forms here are the oracles of the compiled sums of the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["BOUNDED_LAWS", "LAWS", "REPULSION_FLOOR", "evaluate_law"]

LAWS = ("value", "log", "log_deficit", "square")
"""F = k, -log k, -log(1 - k), k^2."""

BOUNDED_LAWS = ("log", "log_deficit")
"""Laws that need similarities between 0 and 1."""

REPULSION_FLOOR = 1e-3
"""Squared distance below which -log(1 - k), infinite at 0, goes on as a straight line."""

_Floats = npt.NDArray[np.float64]


def evaluate_law(law: str, kernel: OutputKernel, squared_distances: npt.ArrayLike) -> tuple[_Floats, _Floats]:
    """Return F and its slope dF/ds = F'(k) k'(s), in float64.

    Parameters
    ----------
    law : {"value", "log", "log_deficit", "square"}
        F.
    kernel : OutputKernel
        k.
    squared_distances : array-like
        s, not negative.

    Returns
    -------
    F, slope : ndarray of the shape of s
    """
    s = np.asarray(squared_distances, dtype=np.float64)
    if law == "log_deficit":
        below = np.maximum(REPULSION_FLOOR - s, 0.0)
        s = np.maximum(s, REPULSION_FLOOR)
        deficit = 1.0 - kernel.value(s)
        slope = np.asarray(kernel.derivative(s) / deficit)
        return np.asarray(-np.log(deficit) - below * slope), slope
    k, derivative = kernel.value(s), kernel.derivative(s)
    if law == "value":
        return k, derivative
    if law == "log":
        return np.asarray(-np.log(k)), np.asarray(-derivative / k)
    return np.asarray(k * k), np.asarray(2.0 * k * derivative)
