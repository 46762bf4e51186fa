"""What an output kernel is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["SMALLEST", "CurvedKernel", "FloatArray", "OutputKernel"]

FloatArray = npt.NDArray[np.float64]

SMALLEST = 1e-12
"""Squared distance below which a slope or a potential that is infinite at 0 is held constant."""


class OutputKernel(Protocol):
    """A function k(s) of the squared distance s of two points of the embedding.

    Most are similarities, which fall from k(0) towards 0; others are potentials or distances. `value` and `derivative`
    work in float64 and are the oracles of the compiled kernel that `name` and `parameters` stand for.
    """

    @property
    def name(self) -> str:
        """Name under which the compiled kernels know it."""
        ...

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers a, b and, if it has one, scale that the compiled kernel takes; 1 where it takes none."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether k has a bounded slope at s = 0 and decays, as interpolation needs."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether k is a similarity in (0, 1], below 1 for s > 0, as logarithmic laws need."""
        ...

    @property
    def compiled(self) -> bool:
        """Whether the compiled kernels know it; sums over others are slow."""
        ...

    def value(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return k(s)."""
        ...

    def derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return dk/ds, finite at s = 0."""
        ...


@runtime_checkable
class CurvedKernel(OutputKernel, Protocol):
    """A kernel whose second derivative is known, as exact sensitivities need."""

    def second_derivative(self, squared_distances: npt.ArrayLike) -> FloatArray:
        """Return d2k/ds2, finite at s = 0."""
        ...
