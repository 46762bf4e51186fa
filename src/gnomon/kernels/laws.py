"""What a pair of points adds to a loss: laws of the output kernel, in float64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log, log1p
from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.kernels.base import CurvedKernel, FloatArray, OutputKernel
from gnomon.kernels.custom import CustomLaw

__all__ = ["LAWS", "REPULSION_FLOOR", "curvature_of_law", "evaluate_law"]

LAWS = ("value", "log", "log_deficit", "square")
"""F = k, F = -log k, F = -log(1 - k) and F = k^2. The logarithmic laws need a similarity."""

REPULSION_FLOOR = 1e-3
"""Squared distance below which -log(1 - k), infinite at 0 where k(0) = 1, goes on as a straight line."""

_TINY = np.finfo(np.float64).tiny


@entrance("evaluate_law")
def evaluate_law(
    law: str | CustomLaw, kernel: OutputKernel, squared_distances: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return F(k(s)) and its slope dF/ds = F'(k) k'(s), the oracles of the compiled sums.

    Parameters
    ----------
    law : {"value", "log", "log_deficit", "square"} or CustomLaw
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
    if isinstance(law, CustomLaw):
        k = kernel.value(squared_distances)
        slope = np.asarray(law.derivative(k), dtype=np.float64) * kernel.derivative(squared_distances)
        return np.asarray(law.value(k), dtype=np.float64), np.asarray(slope)
    if law not in LAWS:
        raise ValueError(message(f"law={law!r}", f"one of {', '.join(LAWS)}"))
    if law.startswith("log") and not kernel.bounded:
        raise ValueError(message(f"kernel={kernel}", f"a similarity in (0, 1] for law={law!r}"))
    s = np.asarray(squared_distances, dtype=np.float64)
    if law == "value":
        return kernel.value(s), kernel.derivative(s)
    if law == "square":
        k = kernel.value(s)
        return k**2, 2.0 * k * kernel.derivative(s)
    if law == "log":
        k = np.maximum(kernel.value(s), _TINY)
        return np.asarray(-log(k)), np.asarray(-kernel.derivative(s) / k)
    held = np.maximum(s, _floor(kernel))
    k = kernel.value(held)
    slope = kernel.derivative(held) / (1.0 - k)
    return np.asarray(-log1p(-k) + slope * (s - held)), np.asarray(slope)


@entrance("curvature_of_law")
def curvature_of_law(law: str | CustomLaw, kernel: CurvedKernel, squared_distances: npt.ArrayLike) -> FloatArray:
    """Return the second derivative d2F/ds2 of F(k(s)), with s held as by `evaluate_law`.

    Parameters
    ----------
    law : {"value", "log", "log_deficit", "square"} or CustomLaw
        The law F.
    kernel : CurvedKernel
        The kernel k.
    squared_distances : array-like
        s >= 0, any shape.

    Returns
    -------
    ndarray of the same shape, float64
        0 where -log(1 - k) goes on as a straight line.
    """
    if isinstance(law, CustomLaw):
        if law.second_derivative is None:
            rule, remedy = "given: curvature is asked for", "Pass second_derivative=, a function of the similarity."
            raise TypeError(message("second_derivative", rule, remedy=remedy, who="CustomLaw"))
        k, first = kernel.value(squared_distances), kernel.derivative(squared_distances)
        bend = np.asarray(law.second_derivative(k), dtype=np.float64) * first**2
        slope = np.asarray(law.derivative(k), dtype=np.float64)
        return np.asarray(bend + slope * kernel.second_derivative(squared_distances))
    if law not in LAWS:
        raise ValueError(message(f"law={law!r}", f"one of {', '.join(LAWS)}"))
    s = np.asarray(squared_distances, dtype=np.float64)
    if law == "value":
        return kernel.second_derivative(s)
    k, first, second = kernel.value(s), kernel.derivative(s), kernel.second_derivative(s)
    if law == "square":
        return np.asarray(2.0 * (first**2 + k * second))
    if law == "log":
        k = np.maximum(k, _TINY)
        return np.asarray((first / k) ** 2 - second / k)
    floor = _floor(kernel)
    rest = np.where(s < floor, 1.0, 1.0 - k) if floor else 1.0 - k
    return np.where(s < floor, 0.0, second / rest + (first / rest) ** 2)


def _floor(kernel: OutputKernel) -> float:
    """Return the floor, which a kernel with k(0) < 1 does not need."""
    return REPULSION_FLOOR if float(kernel.value(0.0)) >= 1.0 else 0.0
