"""Input kernels: how similar two rows of the data are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import dense_product, exp, power, product, sparse_product, squared_lengths
from gnomon._entrance import entrance
from gnomon._printed import Constructed
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
    "RadialInput",
    "SketchMapInput",
    "UMAPInput",
    "products",
    "squared_distances",
]

_NEAREST = 1e-9  # of sigma: below it slopes that are infinite at r = 0 are held
_NEAR = 1e-7  # share of the squared lengths of two rows: a squared distance below it has at most eight digits left
_TOGETHER = 2**20  # numbers of pairs of near rows that are held at a time


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
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        return product(A, B.T)
    if isinstance(A, np.ndarray):
        return np.ascontiguousarray(sparse_product(B, A.T).T)
    return np.asarray(sparse_product(A, B.T) if isinstance(B, np.ndarray) else dense_product(A, B.T))


def _squared_norms(A: Any) -> FloatArray:
    """Return the squared lengths of the rows, float64."""
    return squared_lengths(A).astype(np.float64, copy=False)


def squared_distances(A: Any, B: Any) -> FloatArray:
    """Return |a_i - b_j|^2, exactly 0 for equal rows.

    Of pairs so near that |a_i|^2 + |b_j|^2 would leave few digits of it, the differences are squared and summed.
    """
    sizes = _squared_norms(A)[:, None] + _squared_norms(B)[None]
    squared = products(A, B)
    squared *= -2.0
    squared += sizes
    sizes *= _NEAR
    i, j = np.nonzero(squared <= sizes)
    step = max(1, _TOGETHER // max(1, int(A.shape[1])))
    for begin in range(0, len(i), step):
        some = slice(begin, begin + step)
        squared[i[some], j[some]] = _squared_norms(A[i[some]] - B[j[some]])
    return squared


def _from(rows: Any, center: FloatArray | None) -> Any:
    """Return rows as they lie from a point, dense where there is one."""
    if center is None:
        return rows
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    if dense.shape[1] != len(center):
        raise ValueError(message(f"rows of {dense.shape[1]} features", f"of {len(center)}, as the center has"))
    return dense - center


def _check_center(kernel: Any) -> None:
    """Keep the center of a kernel as a vector of float64; raise ValueError unless it is finite."""
    if kernel.center is None:
        return
    center = np.array(kernel.center, dtype=np.float64)
    if center.ndim != 1 or not np.isfinite(center).all():
        raise ValueError(message(f"center of shape {center.shape}", "a vector of finite numbers"))
    object.__setattr__(kernel, "center", center)


def _check_scale(name: str, value: float) -> None:
    """Raise ValueError unless a parameter is finite and above 0."""
    if not (np.isfinite(value) and value > 0.0):
        raise ValueError(message(f"{name}={value!r}", "a number > 0"))


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
        return _squared_norms(A)


@dataclass(frozen=True, eq=False, repr=False)
class PolynomialInput(Constructed):
    """The polynomial sum_a p_a ((x - c) . (z - c) / scale)^a.

    Parameters
    ----------
    coefficients : tuple of float >= 0, default=(0.0, 1.0, 1.0)
        p_0, p_1, ...; a negative one could make the kernel indefinite.
    scale : float > 0, default=1.0
        In squared units of the features.
    center : array-like of shape (n_features,) or None, default=None
        c; None is the origin. Sparse rows are made dense, a block at a time, to be measured from elsewhere.
    """

    coefficients: tuple[float, ...] = (0.0, 1.0, 1.0)
    scale: float = 1.0
    center: npt.NDArray[np.float64] | None = None
    name: ClassVar[str] = "polynomial"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    @entrance("PolynomialInput")
    def __post_init__(self) -> None:
        coefficients = tuple(float(p) for p in self.coefficients)
        if not coefficients or min(coefficients) < 0.0 or not all(np.isfinite(coefficients)):
            raise ValueError(message(f"coefficients={coefficients}", "numbers >= 0"))
        object.__setattr__(self, "coefficients", coefficients)
        _check_scale("scale", self.scale)
        _check_center(self)

    def _value(self, inner: FloatArray) -> FloatArray:
        return np.asarray(np.polynomial.polynomial.polyval(inner / self.scale, self.coefficients), dtype=np.float64)

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the polynomial of the inner products."""
        return self._value(products(_from(A, self.center), _from(B, self.center)))

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, of shape (len(A), n_columns, n_features)."""
        derived = np.polynomial.polynomial.polyder(self.coefficients)
        A, B = _from(A, self.center), _from(B, self.center)
        slopes = np.polynomial.polynomial.polyval(products(A, B) / self.scale, derived) / self.scale
        return np.stack([(slopes * column) @ B for column in weights.T], axis=1)

    def diagonal(self, A: Any) -> FloatArray:
        """Return the polynomial of the squared lengths."""
        return self._value(_squared_norms(_from(A, self.center)))


@dataclass(frozen=True, eq=False, repr=False)
class CosineInput(Constructed):
    """The cosine of the angle between x - c and z - c; 0 where one of them is 0.

    Parameters
    ----------
    center : array-like of shape (n_features,) or None, default=None
        c; None is the origin, as for counts. Sparse rows are made dense, a block at a time, to be measured from
        elsewhere.
    """

    center: npt.NDArray[np.float64] | None = None
    name: ClassVar[str] = "cosine"
    semidefinite: ClassVar[bool | None] = True
    of_differences: ClassVar[bool] = False

    @entrance("CosineInput")
    def __post_init__(self) -> None:
        _check_center(self)

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the cosines."""
        A, B = _from(A, self.center), _from(B, self.center)
        a, b = np.sqrt(_squared_norms(A)), np.sqrt(_squared_norms(B))
        cosines: FloatArray = products(A, B) / np.where(a > 0.0, a, 1.0)[:, None] / np.where(b > 0.0, b, 1.0)
        return cosines

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, (len(A), n_columns, n_features); 0 for a row of zeros."""
        A, B = _from(A, self.center), _from(B, self.center)
        size, sizes = np.sqrt(_squared_norms(A)), np.sqrt(_squared_norms(B))
        inverse = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        shares = weights / np.where(sizes > 0.0, sizes, 1.0)[:, None]
        found = np.repeat(np.asarray(shares.T @ B, dtype=np.float64)[None], A.shape[0], axis=0)
        units = A * inverse[:, None]
        along = (found * units[:, None]).sum(axis=2)
        slopes: FloatArray = (found - along[:, :, None] * units[:, None]) * inverse[:, None, None]
        return slopes

    def diagonal(self, A: Any) -> FloatArray:
        """Return ones, and zeros for rows of zeros."""
        return np.asarray(_squared_norms(_from(A, self.center)) > 0.0, dtype=np.float64)


@dataclass(frozen=True)
class RadialInput:
    """A kernel of the Euclidean distance r with k = 1 at r = 0.

    Parameters
    ----------
    sigma : float > 0
        In the units of the features.
    """

    sigma: float
    of_differences: ClassVar[bool] = True

    @entrance()
    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _check_scale(name, value)

    @property
    def semidefinite(self) -> bool | None:
        """Whether every Gram matrix is positive semidefinite; None where some are not."""
        return True

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which may be overwritten."""
        raise NotImplementedError

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2) at squared distances, finite everywhere."""
        raise NotImplementedError

    def block(self, A: Any, B: Any) -> FloatArray:
        """Return the kernel of the distances."""
        return self.of_squares(squared_distances(A, B))

    def gradients(self, A: FloatArray, B: Any, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_jc dk(a_i, b_j)/da_i, of shape (len(A), n_columns, n_features)."""
        slopes = 2.0 * self.slope(squared_distances(A, B))
        found = np.empty((A.shape[0], weights.shape[1], A.shape[1]))
        for c, column in enumerate(weights.T):
            pulls = slopes * column
            found[:, c] = pulls.sum(axis=1)[:, None] * A - pulls @ B
        return found

    def diagonal(self, A: Any) -> FloatArray:
        """Return ones."""
        return np.ones(A.shape[0])


class GaussianInput(RadialInput):
    """exp(-r^2 / (2 sigma^2)) of the Euclidean distance r."""

    name: ClassVar[str] = "gaussian"

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared *= -0.5 / self.sigma**2
        return np.asarray(exp(squared, out=squared))

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2)."""
        return np.asarray(self.of_squares(squared * 1.0) * (-0.5 / self.sigma**2), dtype=np.float64)


class LaplacianInput(RadialInput):
    """exp(-r / sigma) of the Euclidean distance r (scikit-learn's takes the sum of absolute differences)."""

    name: ClassVar[str] = "laplacian"

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        np.sqrt(squared, out=squared)
        squared /= -self.sigma
        return np.asarray(exp(squared, out=squared))

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2), infinite at r = 0 and held there at r = 1e-9 sigma."""
        r = np.sqrt(np.maximum(squared, (_NEAREST * self.sigma) ** 2))
        return np.asarray(exp(r / -self.sigma) / (-2.0 * self.sigma * r), dtype=np.float64)


@dataclass(frozen=True)
class CauchyInput(RadialInput):
    """(1 + r^2 / sigma^2)^-exponent of the Euclidean distance r: Cauchy or Lorentzian, and rational quadratic.

    Parameters
    ----------
    sigma : float > 0
        In the units of the features.
    exponent : float > 0, default=1.0
        With ``sigma = s sqrt(2 exponent)`` a large one tends to the Gaussian kernel of width s.
    """

    exponent: float = 1.0
    name: ClassVar[str] = "cauchy"

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared /= self.sigma**2
        squared += 1.0
        if self.exponent == 1.0:
            return np.reciprocal(squared, out=squared)
        return np.asarray(power(squared, -self.exponent, out=squared))

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2)."""
        base = 1.0 + squared / self.sigma**2
        return np.asarray(power(base, -self.exponent - 1.0) * (-self.exponent / self.sigma**2), dtype=np.float64)


@dataclass(frozen=True)
class SketchMapInput(RadialInput):
    """(1 + c (r / sigma)^a)^(-b / a) with c = 2^(a/b) - 1: one minus the sigmoid of sketch-map.

    Parameters
    ----------
    sigma : float > 0
        Distance at which the kernel is one half, in the units of the features.
    a : float > 0, default=2.0
        Power with which it leaves 1 at r = 0. Above 2 some Gram matrices have negative eigenvalues.
    b : float > 0, default=3.0
        Power with which it falls far away.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Simplifying the representation of complex free-energy landscapes using
       sketch-map", PNAS 108, 2011.
    """

    a: float = 2.0
    b: float = 3.0
    name: ClassVar[str] = "sketch_map"

    @property
    def semidefinite(self) -> bool | None:
        """True for a of at most 2, where the kernel is a mixture of Gaussians."""
        return True if self.a <= 2.0 else None

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared /= self.sigma**2
        power(squared, self.a / 2.0, out=squared)
        squared *= 2.0 ** (self.a / self.b) - 1.0
        squared += 1.0
        return np.asarray(power(squared, -self.b / self.a, out=squared))

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2); with a below 2 it is infinite at r = 0 and held there at r = 1e-9 sigma."""
        s = np.maximum(squared / self.sigma**2, _NEAREST**2)
        c = 2.0 ** (self.a / self.b) - 1.0
        outer = power(1.0 + c * power(s, self.a / 2.0), -self.b / self.a - 1.0)
        return np.asarray(outer * power(s, self.a / 2.0 - 1.0) * (-0.5 * self.b * c / self.sigma**2), dtype=np.float64)


@dataclass(frozen=True)
class UMAPInput(RadialInput):
    """1 / (1 + a (r / sigma)^(2 b)), the kernel of UMAP's maps, of the rows of the data.

    Parameters
    ----------
    sigma : float > 0
        Unit of distance, in the units of the features. With 1 it is UMAP's kernel 1 / (1 + a s^b) of s = r^2.
    a, b : float > 0, default=1.577, 0.895
        Those of UMAP's min_dist=0.1. With b above 1 (min_dist above about 0.2) some Gram matrices have negative
        eigenvalues.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018, section 3.2.
    """

    a: float = 1.577
    b: float = 0.895
    name: ClassVar[str] = "umap"

    @property
    def semidefinite(self) -> bool | None:
        """True for b of at most 1, where the kernel is a mixture of Gaussians."""
        return True if self.b <= 1.0 else None

    def of_squares(self, squared: FloatArray) -> FloatArray:
        """Return the kernel of squared distances, which are overwritten."""
        squared /= self.sigma**2
        if self.b != 1.0:
            power(squared, self.b, out=squared)
        squared *= self.a
        squared += 1.0
        return np.reciprocal(squared, out=squared)

    def slope(self, squared: FloatArray) -> FloatArray:
        """Return dk/d(r^2); with b below 1 it is infinite at r = 0 and held there at r = 1e-9 sigma."""
        s = np.maximum(squared / self.sigma**2, _NEAREST**2)
        value = 1.0 / (1.0 + self.a * power(s, self.b))
        return np.asarray(value**2 * power(s, self.b - 1.0) * (-self.a * self.b / self.sigma**2), dtype=np.float64)


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

    @entrance("CustomInput")
    def block(self, A: Any, B: Any) -> FloatArray:
        """Return what the function gives, checked for shape and finite values."""
        values = np.asarray(self.function(A, B), dtype=np.float64)
        shape = (A.shape[0], B.shape[0])
        if values.shape != shape:
            found = f"similarity(A, B) of shape {values.shape}"
            raise ValueError(message(found, f"of shape (len(A), len(B))={shape}"))
        if not np.isfinite(values).all():
            raise ValueError(message("similarity(A, B)", "finite"))
        return values

    def diagonal(self, A: Any) -> FloatArray:
        """Return the similarity of each row with itself."""
        return np.concatenate([np.zeros(0), *(self.block(A[i : i + 1], A[i : i + 1])[0] for i in range(A.shape[0]))])
