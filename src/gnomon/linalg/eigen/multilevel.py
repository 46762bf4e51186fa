"""Smallest eigenpairs of a graph's Laplacian: Chebyshev-filtered subspaces, started from coarser graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.linalg.eigen.search import Search
from gnomon.linalg.table import kernel_graph

__all__ = ["MAX_SPECTRAL_VECTORS", "Filtered", "block_width", "filtered_subspace", "multilevel_subspace"]

Float64Array = npt.NDArray[np.float64]

_WIDTHS = {8: 5, 16: 12, 32: 27, 64: 56}  # width of the block of the iteration: vectors it can be asked for
MAX_SPECTRAL_VECTORS = max(_WIDTHS.values())
_GAIN = 1e4  # of the last vector wanted in one round, against what is damped
_MAX_GROWTH = 1e9  # of the first: rounding, 1e-16, that mixes into the others must stay small
_DEGREES = (4, 200)
_ROUNDING = 2e-14  # of the upper end of the spectrum: residuals in double do not fall further


@dataclass(frozen=True)
class Filtered:
    """A block of approximate eigenvectors by rising eigenvalue; those wanted come first.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, width)
    values, residuals : ndarray of shape (width,), float64
    converged, out_of_time : bool
        As in `Eigenpairs`.
    """

    vectors: npt.NDArray[Any]
    values: Float64Array
    residuals: Float64Array
    converged: bool
    out_of_time: bool


def block_width(n_vectors: int, n_samples: int) -> int | None:
    """Return the width of the multilevel iteration's block; None for too many vectors or too few nodes."""
    width = next((width for width, most in _WIDTHS.items() if n_vectors <= most), None)
    return None if width is None or n_samples < 4 * width else width


def multilevel_subspace(
    weights: Any, width: int, search: Search, *, tolerance: float, max_products: int | None = None
) -> Filtered:
    """Find smallest pairs of I - D^-1/2 A D^-1/2 in float32, the trivial one left out, from coarser graphs upwards.

    Parameters
    ----------
    weights : CSR of shape (n_samples, n_samples)
        A: symmetric, non-negative.
    width : int
        See `block_width`.
    search : Search
        Its tolerance and limit of products do not count.
    tolerance : float > 0
        On the residuals, relative to the largest eigenvalue asked for; those below 5e-6, the rounding of float32, pass.
    max_products : int >= 1 or None, default=None
        Products with the block; None: 500, fewer for graphs of more than eight million entries, but at least 120.

    Returns
    -------
    Filtered
    """
    most = max_products or min(500, max(120, int(4e9) // max(weights.nnz, 1)))
    graph, seconds = kernel_graph(weights), search.seconds_left
    block, leading, residuals, converged, out_of_time, _, _ = _core.spectral_vectors(
        graph, search.n_vectors, width, tolerance, most, seconds, search.seed, current_run().n_threads
    )
    return Filtered(block, 1.0 - leading, residuals, converged, out_of_time)


def filtered_subspace(
    operator: Any, start: Float64Array, trivial: Float64Array, upper: float, search: Search
) -> Filtered:
    """Refine approximate eigenvectors in double by Chebyshev-filtered subspace iteration.

    Parameters
    ----------
    operator : CSR of shape (n_samples, n_samples), float64
        Symmetric, positive semidefinite.
    start : ndarray of shape (n_samples, width), float64
        Independent columns; the more beyond those wanted, the faster.
    trivial : ndarray of shape (n_samples,), float64
        Unit vector of the eigenvalue 0; it is left out.
    upper : float > 0
        At least the largest eigenvalue.
    search : Search
        Products with the block are 3000 unless it says otherwise, fewer for operators of more than a million entries,
        but at least 300.

    Returns
    -------
    Filtered

    References
    ----------
    .. [1] Zhou, Saad, Tiago & Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace
       iteration", J. Comput. Phys. 219, 2006.
    """
    n_wanted = search.n_vectors
    most = search.max_products or min(3000, max(300, int(3e9) // max(operator.nnz, 1)))
    X, n_products = start, 0
    while True:
        X, values, residuals = _rayleigh_ritz(operator, X, trivial)
        n_products += 1
        bound = max(search.tolerance * values[n_wanted - 1], _ROUNDING * upper)
        converged = bool((residuals[:n_wanted] <= bound).all())
        stopped = search.stopped(min(n_products, most), most)
        if converged or stopped or n_products >= most:
            return Filtered(X, values, residuals, converged, stopped and not converged)
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
