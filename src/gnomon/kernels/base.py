"""What an output kernel is."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "OutputKernel"]

FloatArray = npt.NDArray[np.float64]


class OutputKernel(Protocol):
    """The similarity k(s) of two points of the embedding at squared distance s.

    k falls from k(0) = 1 towards 0. `value` and `derivative` work in float64 and are the oracles of the compiled
    kernel that `name` and `parameters` stand for.
    """

    @property
    def name(self) -> str:
        """Name under which the compiled kernels know it."""
        ...

    @property
    def parameters(self) -> tuple[float, float]:
        """The two numbers a, b that the compiled kernel takes."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether k has a bounded slope at s = 0, as interpolation needs."""
        ...

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s), in (0, 1]."""
        ...

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds, never positive."""
        ...
