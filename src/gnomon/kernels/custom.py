"""An output kernel and a law of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.kernels.base import FloatArray

__all__ = ["CustomKernel", "CustomLaw"]

Function = Callable[[FloatArray], npt.ArrayLike]


@dataclass(frozen=True, init=False)
class CustomKernel:
    """A kernel given by two functions of the squared distance.

    Sums over it run in NumPy, exactly and slowly.

    Parameters
    ----------
    value : callable
        k(s) for a float64 array of squared distances s >= 0, element by element; finite, also at 0.
    derivative : callable
        dk/ds, likewise.
    second_derivative : callable or None, default=None
        d2k/ds2, likewise, which sensitivities ask for.
    bounded : bool, default=False
        Whether k is a similarity in (0, 1], below 1 for s > 0, so that logarithmic laws may be taken of it.

    Attributes
    ----------
    value_function, derivative_function, second_derivative_function : callable
        The functions as they were given.
    """

    value_function: Function
    derivative_function: Function
    second_derivative_function: Function | None
    bounded: bool
    name = "custom"
    parameters = (1.0, 1.0)
    smooth = False
    compiled = False

    @entrance("CustomKernel")
    def __init__(
        self,
        value: Function,
        derivative: Function,
        *,
        second_derivative: Function | None = None,
        bounded: bool = False,
    ) -> None:
        given: dict[str, Any] = {"value": value, "derivative": derivative}
        if second_derivative is not None:
            given["second_derivative"] = second_derivative
        for argument, function in given.items():
            if not callable(function):
                raise TypeError(message(f"{argument}={function!r}", "a function of squared distances"))
        object.__setattr__(self, "value_function", value)
        object.__setattr__(self, "derivative_function", derivative)
        object.__setattr__(self, "second_derivative_function", second_derivative)
        object.__setattr__(self, "bounded", bool(bounded))

    @entrance("CustomKernel")
    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s); raise ValueError where it is not a finite number, or, if bounded, not in [0, 1]."""
        k = self._call("value", self.value_function, squared_distances)
        if self.bounded and k.size and not (k.min() >= 0.0 and k.max() <= 1.0):
            fact = f"values from {k.min():.6g} to {k.max():.6g}"
            raise ValueError(message("value", "in (0, 1] for bounded=True", fact=fact))
        return k

    @entrance("CustomKernel")
    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds; raise ValueError where it is not a finite number."""
        return self._call("derivative", self.derivative_function, squared_distances)

    @entrance("CustomKernel")
    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2; raise TypeError if it was not given, ValueError where it is not a finite number."""
        if self.second_derivative_function is None:
            rule, remedy = "given: curvature is asked for", "Pass second_derivative=, a function of squared distances."
            raise TypeError(message("second_derivative", rule, remedy=remedy))
        return self._call("second_derivative", self.second_derivative_function, squared_distances)

    @staticmethod
    def _call(argument: str, function: Function, squared_distances: npt.ArrayLike) -> FloatArray:
        s = np.asarray(squared_distances, dtype=np.float64)
        result = np.asarray(function(s))
        if result.shape != s.shape:
            fact = f"shape {result.shape} for squared distances of shape {s.shape}"
            raise ValueError(message(argument, "a function that keeps the shape", fact=fact))
        if result.dtype.kind not in "fiu":
            raise ValueError(message(argument, "a function with real values", fact=str(result.dtype)))
        numbers = result.astype(np.float64)
        finite = np.isfinite(numbers)
        if not finite.all():
            fact = f"{numbers[~finite][0]} at s={s[~finite][0]:.6g}"
            raise ValueError(message(argument, "finite at every squared distance", fact=fact))
        return numbers


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
