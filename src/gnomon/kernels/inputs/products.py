"""Input kernels of the inner product of two rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gnomon._validation import message
from gnomon.kernels.base import FloatArray
from gnomon.kernels.inputs.base import check_scale, products, squared_norms

__all__ = ["CosineInput", "LinearInput", "PolynomialInput"]


@dataclass(frozen=True)
class LinearInput:
    """The inner product x . z."""

    name: ClassVar[str] = "linear"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the inner products."""
        return products(A, B)

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, of shape (len(A), n_columns, n_features)."""
        return np.repeat(np.asarray(weights.T @ B, dtype=np.float64)[None], A.shape[0], axis=0)

    def diagonal(self, A: Any) -> FloatArray:
        """Return the squared lengths."""
        return squared_norms(A)


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
        check_scale("PolynomialInput", "scale", self.scale)

    def _value(self, inner: FloatArray) -> FloatArray:
        return np.asarray(np.polynomial.polynomial.polyval(inner / self.scale, self.coefficients), dtype=np.float64)

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the polynomial of the inner products."""
        return self._value(products(A, B))

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, of shape (len(A), n_columns, n_features)."""
        derived = np.polynomial.polynomial.polyder(self.coefficients)
        slopes = np.polynomial.polynomial.polyval(products(A, B) / self.scale, derived) / self.scale
        return np.stack([(slopes * column) @ B for column in weights.T], axis=1)

    def diagonal(self, A: Any) -> FloatArray:
        """Return the polynomial of the squared lengths."""
        return self._value(squared_norms(A))


@dataclass(frozen=True)
class CosineInput:
    """The cosine of the angle between x and z; 0 where one of them is 0."""

    name: ClassVar[str] = "cosine"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the cosines."""
        a, b = np.sqrt(squared_norms(A)), np.sqrt(squared_norms(B))
        cosines: FloatArray = products(A, B) / np.where(a > 0.0, a, 1.0)[:, None] / np.where(b > 0.0, b, 1.0)
        return cosines

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, (len(A), n_columns, n_features); 0 for a row of zeros."""
        size, sizes = np.sqrt(squared_norms(A)), np.sqrt(squared_norms(B))
        inverse = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        shares = weights / np.where(sizes > 0.0, sizes, 1.0)[:, None]
        found = np.repeat(np.asarray(shares.T @ B, dtype=np.float64)[None], A.shape[0], axis=0)
        units = A * inverse[:, None]
        along = np.einsum("icf,if->ic", found, units)
        turned: FloatArray = (found - along[:, :, None] * units[:, None]) * inverse[:, None, None]
        return turned

    def diagonal(self, A: Any) -> FloatArray:
        """Return ones, and zeros for rows of zeros."""
        return np.asarray(squared_norms(A) > 0.0, dtype=np.float64)
