"""Bottom eigenvectors of a sparse symmetric operator in double precision, from a start that lies near them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Refined", "refine_bottom"]

Float64Array = npt.NDArray[np.float64]

_GAIN = 1e4  # of the last vector wanted in one round, against what is damped
_MAX_GROWTH = 1e9  # of the first: rounding, 1e-16, that mixes into the others must stay small
_DEGREES = (4, 200)
_ROUNDING = 2e-14  # of the upper end of the spectrum: residuals in double do not fall further


@dataclass(frozen=True)
class Refined:
    """Vectors, eigenvalues and residuals of the columns wanted; whether they are below the tolerance."""

    vectors: Float64Array
    eigenvalues: Float64Array
    residuals: Float64Array
    converged: bool


def refine_bottom(
    operator: Any,
    start: Float64Array,
    trivial: Float64Array,
    n_wanted: int,
    *,
    upper: float,
    tolerance: float,
    max_products: int,
    report: Callable[[int, int], bool] | None = None,
) -> Refined:
    """Refine approximate bottom eigenvectors by Chebyshev-filtered subspace iteration.

    Parameters
    ----------
    operator : CSR of shape (n_samples, n_samples), float64
        Symmetric, positive semidefinite.
    start : ndarray of shape (n_samples, width), float64
        Independent columns; the more beyond those wanted, the faster.
    trivial : ndarray of shape (n_samples,), float64
        Unit vector of the eigenvalue 0; it is left out.
    n_wanted : int in [1, width]
    upper : float > 0
        At least the largest eigenvalue.
    tolerance : float > 0
        On the residuals, relative to the largest eigenvalue wanted.
    max_products : int
        Products with the block after which the iteration ends.
    report : callable or None, default=None
        (products, max_products) -> whether to end.

    Returns
    -------
    Refined

    References
    ----------
    .. [1] Zhou, Saad, Tiago & Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace
       iteration", J. Comput. Phys. 219, 2006.
    """
    X, n_products = start, 0
    while True:
        X, values, residuals = _rayleigh_ritz(operator, X, trivial)
        n_products += 1
        bound = max(tolerance * values[n_wanted - 1], _ROUNDING * upper)
        converged = bool((residuals[:n_wanted] <= bound).all())
        stopped = report is not None and report(min(n_products, max_products), max_products)
        if converged or stopped or n_products >= max_products:
            return Refined(X[:, :n_wanted], values[:n_wanted], residuals[:n_wanted], converged)
        degree, cut = _choose_filter(values, n_wanted, upper)
        X = _filter(operator, X, degree, cut, upper)
        n_products += degree


def _rayleigh_ritz(
    operator: Any, X: Float64Array, trivial: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    for _ in range(2):  # once more removes what rounding left
        X = X - np.outer(trivial, trivial @ X)
        X, _ = np.linalg.qr(X)
    image = operator @ X
    small = X.T @ image
    values, rotation = np.linalg.eigh((small + small.T) / 2.0)
    X, image = X @ rotation, image @ rotation
    return X, values, np.linalg.norm(image - X * values, axis=0)


def _choose_filter(values: Float64Array, n_wanted: int, upper: float) -> tuple[int, float]:
    """Return the degree and the lower end of what is damped: the largest value of the block, or near the wanted."""
    wanted, lowest = max(float(values[n_wanted - 1]), 0.0), max(float(values[0]), 0.0)
    # Values that crowd cannot be parted by the highest degree allowed; the error from elsewhere still can be damped.
    least = wanted + (upper - wanted) * 0.5 * (math.acosh(_GAIN) / _DEGREES[1]) ** 2 / 2.0
    cut = min(max(float(values[-1]), least), 0.9 * upper)
    centre, half = (upper + cut) / 2.0, (upper - cut) / 2.0

    def degree_of(growth: float, value: float) -> float:
        return math.acosh(growth) / math.acosh(max((centre - value) / half, 1.0 + 1e-12))

    degree = min(degree_of(_GAIN, wanted), degree_of(_MAX_GROWTH, lowest))
    return int(np.clip(math.ceil(degree), *_DEGREES)), cut


def _filter(operator: Any, X: Float64Array, degree: int, cut: float, upper: float) -> Float64Array:
    """Return T_degree((operator - centre) / half) X, scaled to 1 at the eigenvalue 0."""
    centre, half = (upper + cut) / 2.0, (upper - cut) / 2.0
    first = -half / centre
    sigma = first
    previous = X
    present: Float64Array = (operator @ X - centre * X) * (sigma / half)
    for _ in range(degree - 1):
        scale = 1.0 / (2.0 / first - sigma)
        following = operator @ present
        following -= centre * present
        following *= 2.0 * scale / half
        following -= (sigma * scale) * previous
        previous, present, sigma = present, following, scale
    return present
