"""An output kernel and a law of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import construction
from gnomon._validation import message
from gnomon.kernels.base import FloatArray
from gnomon.kernels.slopes import SQUARED_DISTANCES, check_slope

__all__ = ["CustomKernel", "CustomLaw"]

Function = Callable[[FloatArray], npt.ArrayLike]

_SIMILARITIES: FloatArray = np.geomspace(1.037e-4, 0.951, 61)
"""Where laws are tested; most have meaning there."""


@dataclass(frozen=True, init=False)
class CustomKernel:
    """A kernel given by two functions of the squared distance.

    Sums over it run in NumPy, exactly and slowly. Each derivative is compared with central differences of what it is
    the derivative of, at 81 squared distances from 1e-4 to 1e4.

    Parameters
    ----------
    value : callable
        k(s) for a float64 array of squared distances s >= 0, element by element; finite, also at 0.
    derivative : callable
        dk/ds, likewise: by the squared distance, not by the distance.
    second_derivative : callable or None, default=None
        d2k/ds2, likewise, which sensitivities ask for.
    bounded : bool, default=False
        Whether k is a similarity in (0, 1], below 1 for s > 0, so that logarithmic laws may be taken of it.

    Attributes
    ----------
    value_function, derivative_function, second_derivative_function : callable
        The functions as they were given.

    Raises
    ------
    ValueError
        If a derivative differs from the differences by more than 1 % and their error, at more places than single kinks
        take; or a function takes no arrays, or returns another shape or no real numbers; or a bounded kernel is larger
        far away than close together.
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
        _check_slopes(given, SQUARED_DISTANCES, by="s")
        if self.bounded:
            _check_falls(_numbers("value", value, SQUARED_DISTANCES))

    def __repr__(self) -> str:
        given = {
            "value": self.value_function,
            "derivative": self.derivative_function,
            "second_derivative": self.second_derivative_function,
            "bounded": self.bounded,
        }
        return construction(CustomKernel, given)

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
        numbers = _numbers(argument, function, s)
        finite = np.isfinite(numbers)
        if not finite.all():
            fact = f"{numbers[~finite][0]} at s={s[~finite][0]:.6g}"
            raise ValueError(message(argument, "finite at every squared distance", fact=fact))
        return numbers


def _numbers(argument: str, function: Function, at: FloatArray) -> FloatArray:
    """Return what a function gives for an array, checked for its shape and type."""
    try:
        result = np.asarray(function(at))
    except (TypeError, ValueError) as error:  # of a function of one number
        remedy = "Use np.where in place of if, and NumPy's functions in place of those of math."
        rule = f"a function of an array of numbers, shape {at.shape}"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(message(argument, rule, fact=f"it raises: {error}", remedy=remedy)) from error
    if result.shape != at.shape:
        fact = f"shape {result.shape} for an array of shape {at.shape}"
        raise ValueError(message(argument, "a function that keeps the shape", fact=fact))
    if result.dtype.kind not in "fiu":
        raise ValueError(message(argument, "a function with real values", fact=str(result.dtype)))
    return result.astype(np.float64)


def _check_falls(k: FloatArray) -> None:
    """Raise ValueError if a similarity is larger far away than close together."""
    near, far = float(k[0]), float(k[-1])
    if far > near:
        fact = f"{near:.4g} at s={SQUARED_DISTANCES[0]:.2g} and {far:.4g} at s={SQUARED_DISTANCES[-1]:.2g}"
        remedy = "Pass 1 - k, or leave bounded out for a kernel that is no similarity."
        raise ValueError(
            message("value", "one that falls with the distance for bounded=True", fact=fact, remedy=remedy)
        )


def _check_slopes(given: Mapping[str, Function], at: FloatArray, *, by: str) -> None:
    """Raise ValueError if a derivative is not that of the function before it, by central differences."""
    with np.errstate(all="ignore"):  # places where one is not finite tell nothing
        for of, name in pairwise(given):
            value, slope = partial(_numbers, of, given[of]), partial(_numbers, name, given[name])
            check_slope(name, value, slope, at, by=by, of=of)


@dataclass(frozen=True)
class CustomLaw:
    """A law F(k) of the output kernel given by functions of the similarity k.

    Sums over it run in NumPy, exactly and slowly. Each derivative is compared with central differences of what it is
    the derivative of, at 61 similarities from 1e-4 to 0.95; `gnomon.objectives.gradient_error` of a loss made with it
    tests it at others.

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

    Raises
    ------
    ValueError
        If a derivative differs from the differences by more than 1 % and their error, at more places than single kinks
        take; or a function returns another shape or no real numbers.
    """

    value: Function
    derivative: Function
    second_derivative: Function | None = None
    needs_similarity: bool = False

    def __repr__(self) -> str:
        return construction(CustomLaw, vars(self))

    @entrance("CustomLaw")
    def __post_init__(self) -> None:
        given: dict[str, Any] = {"value": self.value, "derivative": self.derivative}
        if self.second_derivative is not None:
            given["second_derivative"] = self.second_derivative
        for argument, function in given.items():
            if not callable(function):
                raise TypeError(message(f"{argument}={function!r}", "a function of similarities"))
        _check_slopes(given, _SIMILARITIES, by="k")
