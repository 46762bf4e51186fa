"""How similar two rows of the data are: input kernels, which make Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from gnomon._validation import message
from gnomon.kernels.base import FloatArray

__all__ = [
    "CauchyInput",
    "CosineInput",
    "CustomInput",
    "GaussianInput",
    "InputKernel",
    "LaplacianInput",
    "LinearInput",
    "PolynomialInput",
    "squared_distances",
]


class InputKernel(Protocol):
    """A symmetric similarity k(x, z) of rows. Rows are float64: an ndarray, or CSR where the kernel can take it."""

    name: ClassVar[str]
    semidefinite: ClassVar[bool | None]
    """Whether every Gram matrix is positive semidefinite; None where that is not known."""
    of_differences: ClassVar[bool]
    """Whether k depends on x - z alone, so that rows may be moved together."""

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return k(a_i, b_j), of shape (len(A), len(B))."""
        ...

    def diagonal(self, A: Any) -> FloatArray:
        """Return k(a_i, a_i)."""
        ...


def _products(A: Any, B: Any) -> FloatArray:
    products = A @ B.T
    return products if isinstance(products, np.ndarray) else np.asarray(products.toarray(), dtype=np.float64)


def _squared_norms(A: Any) -> FloatArray:
    if isinstance(A, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", A, A), dtype=np.float64)
    return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()


def squared_distances(A: Any, B: Any) -> FloatArray:
    """Return |a_i - b_j|^2; what is rounding beside |a_i|^2 + |b_j|^2 is 0, so that equal rows have distance 0."""
    sizes = _squared_norms(A)[:, None] + _squared_norms(B)[None]
    squared = _products(A, B)
    squared *= -2.0
    squared += sizes
    squared[squared <= 1e-14 * sizes] = 0.0
    return squared


@dataclass(frozen=True)
class LinearInput:
    """The inner product x . z."""

    name: ClassVar[str] = "linear"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the inner products."""
        return _products(A, B)

    def diagonal(self, A: Any) -> FloatArray:
        """Return the squared lengths."""
        return _squared_norms(A)


@dataclass(frozen=True)
class PolynomialInput:
    """The polynomial sum_a p_a (x . z / scale)^a.

    Parameters
    ----------
    coefficients : tuple of float >= 0, default=(0.0, 1.0, 1.0)
        p_0, p_1, ...; a negative one could make the kernel indefinite.
    scale : float > 0, default=1.0
        In squared units of the features.
    """

    coefficients: tuple[float, ...] = (0.0, 1.0, 1.0)
    scale: float = 1.0
    name: ClassVar[str] = "polynomial"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    def __post_init__(self) -> None:
        coefficients = tuple(float(p) for p in self.coefficients)
        if not coefficients or min(coefficients) < 0.0 or not all(np.isfinite(coefficients)):
            raise ValueError(message("PolynomialInput", f"coefficients={coefficients}", "numbers >= 0"))
        object.__setattr__(self, "coefficients", coefficients)
        _check_scale("PolynomialInput", "scale", self.scale)

    def _value(self, products: FloatArray) -> FloatArray:
        return np.asarray(np.polynomial.polynomial.polyval(products / self.scale, self.coefficients), dtype=np.float64)

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the polynomial of the inner products."""
        return self._value(_products(A, B))

    def diagonal(self, A: Any) -> FloatArray:
        """Return the polynomial of the squared lengths."""
        return self._value(_squared_norms(A))


@dataclass(frozen=True)
class _Radial:
    """A kernel of the Euclidean distance r with k = 1 at r = 0.

    Parameters
    ----------
    sigma : float > 0
        In the units of the features.
    """

    sigma: float
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_scale(type(self).__name__, "sigma", self.sigma)

    def _value(self, squared: FloatArray) -> FloatArray:
        raise NotImplementedError

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the kernel of the distances."""
        return self._value(squared_distances(A, B))

    def diagonal(self, A: Any) -> FloatArray:
        """Return ones."""
        return np.ones(A.shape[0])


class GaussianInput(_Radial):
    """exp(-r^2 / (2 sigma^2)) of the Euclidean distance r."""

    name: ClassVar[str] = "gaussian"

    def _value(self, squared: FloatArray) -> FloatArray:
        return np.exp(squared * (-0.5 / self.sigma**2))


class LaplacianInput(_Radial):
    """exp(-r / sigma) of the Euclidean distance r (scikit-learn's takes the sum of absolute differences)."""

    name: ClassVar[str] = "laplacian"

    def _value(self, squared: FloatArray) -> FloatArray:
        return np.exp(np.sqrt(squared) / -self.sigma)


class CauchyInput(_Radial):
    """1 / (1 + r^2 / sigma^2) of the Euclidean distance r, also called Lorentzian or rational quadratic."""

    name: ClassVar[str] = "cauchy"

    def _value(self, squared: FloatArray) -> FloatArray:
        return np.asarray(1.0 / (1.0 + squared / self.sigma**2), dtype=np.float64)


@dataclass(frozen=True)
class CosineInput:
    """The cosine of the angle between x and z; 0 where one of them is 0."""

    name: ClassVar[str] = "cosine"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the cosines."""
        a, b = np.sqrt(_squared_norms(A)), np.sqrt(_squared_norms(B))
        cosines: FloatArray = _products(A, B) / np.where(a > 0.0, a, 1.0)[:, None] / np.where(b > 0.0, b, 1.0)
        return cosines

    def diagonal(self, A: Any) -> FloatArray:
        """Return ones, and zeros for rows of zeros."""
        return np.asarray(_squared_norms(A) > 0.0, dtype=np.float64)


@dataclass(frozen=True)
class CustomInput:
    """A user's kernel.

    Parameters
    ----------
    function : callable
        Takes rows A and B to the (len(A), len(B)) similarities, which must be symmetric: f(A, B) = f(B, A)'.
    """

    function: Callable[[Any, Any], Any]
    name: ClassVar[str] = "custom"
    semidefinite: ClassVar[bool | None] = None
    of_differences: ClassVar[bool] = False

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return what the function gives, checked for shape and finite values."""
        values = np.asarray(self.function(A, B), dtype=np.float64)
        shape = (A.shape[0], B.shape[0])
        if values.shape != shape:
            found = f"similarity(A, B) of shape {values.shape}"
            raise ValueError(message("CustomInput", found, f"of shape (len(A), len(B))={shape}"))
        if not np.isfinite(values).all():
            raise ValueError(message("CustomInput", "similarity(A, B)", "finite"))
        return values

    def diagonal(self, A: Any) -> FloatArray:
        """Return the similarity of each row with itself."""
        return np.concatenate([np.zeros(0), *(self.block(A[i : i + 1], A[i : i + 1])[0] for i in range(A.shape[0]))])


def _check_scale(who: str, name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0.0):
        raise ValueError(message(who, f"{name}={value!r}", "a number > 0"))
