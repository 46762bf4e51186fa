"""A law of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy.typing as npt

from gnomon.kernels.base import FloatArray

__all__ = ["CustomLaw"]

Function = Callable[[FloatArray], npt.ArrayLike]


@dataclass(frozen=True)
class CustomLaw:
    """A law F(k) of the output kernel given by functions of the similarity k.

    Sums over it run in NumPy, exactly and slowly. `gnomon.objectives.gradient_error` of a loss made with it tests
    whether the derivative is that of the value.

    Parameters
    ----------
    value : callable
        F(k) for a float64 array of similarities, element by element; finite for every value of the kernel.
    derivative : callable
        dF/dk, likewise.
    second_derivative : callable or None, default=None
        d2F/dk2, likewise, which sensitivities ask for.
    needs_similarity : bool, default=False
        Whether k must be a similarity in (0, 1].
    """

    value: Function
    derivative: Function
    second_derivative: Function | None = None
    needs_similarity: bool = False
