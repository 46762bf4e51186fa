"""What a pair of points adds to a loss: laws of the output kernel, in float64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.kernels.base import FloatArray, OutputKernel

__all__ = ["LAWS", "REPULSION_FLOOR", "evaluate_law"]

LAWS = ("value", "log", "log_deficit", "square")
"""F = k, F = -log k, F = -log(1 - k) and F = k^2. The logarithmic laws need a similarity."""

REPULSION_FLOOR = 1e-3
"""Squared distance below which -log(1 - k), infinite at 0 where k(0) = 1, goes on as a straight line."""

_TINY = np.finfo(np.float64).tiny


def evaluate_law(law: str, kernel: OutputKernel, squared_distances: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return F(k(s)) and its slope dF/ds = F'(k) k'(s), the oracles of the compiled sums.

    Parameters
    ----------
    law : {"value", "log", "log_deficit", "square"}
        The law F.
    kernel : OutputKernel
        The kernel k.
    squared_distances : array-like
        s >= 0, any shape.

    Returns
    -------
    energy, slope : ndarray of the same shape, float64
        Of one ordered pair: its force is slope (y_i - y_j), four times that its gradient.

    Raises
    ------
    ValueError
        If the law is unknown, or not defined for the kernel.
    """
    if law not in LAWS:
        raise ValueError(message("evaluate_law", f"law={law!r}", f"one of {', '.join(LAWS)}"))
    if law.startswith("log") and not kernel.bounded:
        raise ValueError(message("evaluate_law", f"kernel={kernel}", f"a similarity in (0, 1] for law={law!r}"))
    s = np.asarray(squared_distances, dtype=np.float64)
    if law == "value":
        return kernel.value(s), kernel.derivative(s)
    if law == "square":
        k = kernel.value(s)
        return k**2, 2.0 * k * kernel.derivative(s)
    if law == "log":
        k = np.maximum(kernel.value(s), _TINY)
        return np.asarray(-np.log(k)), np.asarray(-kernel.derivative(s) / k)
    held = np.maximum(s, _floor(kernel))
    k = kernel.value(held)
    slope = kernel.derivative(held) / (1.0 - k)
    return np.asarray(-np.log1p(-k) + slope * (s - held)), np.asarray(slope)


def _floor(kernel: OutputKernel) -> float:
    """Return the floor, which a kernel with k(0) < 1 does not need."""
    return REPULSION_FLOOR if float(kernel.value(0.0)) >= 1.0 else 0.0
