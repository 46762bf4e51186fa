"""What an input kernel is, and the inner products and distances that they are functions of."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from gnomon._validation import message
from gnomon.kernels.base import FloatArray

__all__ = ["InputKernel", "check_scale", "products", "squared_distances", "squared_norms"]


class InputKernel(Protocol):
    """A symmetric similarity k(x, z) of rows. Rows are float64: an ndarray, or CSR where the kernel can take it.

    Attributes
    ----------
    name : str
        By which `input_kernel` knows it.
    of_differences : bool
        Whether k depends on x - z alone, so that rows may be moved together.
    """

    name: ClassVar[str]
    of_differences: ClassVar[bool]

    @property
    def semidefinite(self) -> bool | None:
        """Whether every Gram matrix is positive semidefinite; None where that is not known."""
        ...

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return k(a_i, b_j), of shape (len(A), len(B))."""
        ...

    def diagonal(self, A: Any) -> FloatArray:
        """Return k(a_i, a_i)."""
        ...


def products(A: Any, B: Any) -> FloatArray:
    """Return the inner products of the rows of A and B, dense."""
    found = A @ B.T
    return found if isinstance(found, np.ndarray) else np.asarray(found.toarray(), dtype=np.float64)


def squared_norms(A: Any) -> FloatArray:
    """Return the squared lengths of the rows."""
    if isinstance(A, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", A, A), dtype=np.float64)
    return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()


def squared_distances(A: Any, B: Any) -> FloatArray:
    """Return |a_i - b_j|^2; what is rounding beside |a_i|^2 + |b_j|^2 is 0, so that equal rows have distance 0."""
    sizes = squared_norms(A)[:, None] + squared_norms(B)[None]
    squared = products(A, B)
    squared *= -2.0
    squared += sizes
    squared[squared <= 1e-14 * sizes] = 0.0
    return squared


def check_scale(who: str, name: str, value: float) -> None:
    """Raise ValueError unless a parameter is finite and above 0."""
    if not (np.isfinite(value) and value > 0.0):
        raise ValueError(message(who, f"{name}={value!r}", "a number > 0"))
