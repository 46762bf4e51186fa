"""Laplacians of graphs and their smallest eigenpairs: Chebyshev-filtered subspaces, started from coarser graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.linalg.eigen.base import LARGEST_DENSE, Eigenpairs, Search, dense_smallest, with_signs
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.eigen.krylov import smallest_by_lanczos
from gnomon.linalg.orthonormal import orthonormalised, with_draws, without
from gnomon.linalg.products import SparseTimes, product, sparse_product
from gnomon.linalg.table import kernel_graph

__all__ = [
    "MAX_SPECTRAL_VECTORS",
    "Filtered",
    "GraphLaplacian",
    "connected_components",
    "filtered_subspace",
    "laplacian_eigenpairs",
]

Float64Array = npt.NDArray[np.float64]

_WIDTHS = {8: 5, 16: 12, 32: 27, 64: 56}  # width of the block of the iteration: vectors it can be asked for
MAX_SPECTRAL_VECTORS = max(_WIDTHS.values())
_GAIN = 1e4  # of the last vector wanted in one round, against what is damped
_MAX_GROWTH = 1e9  # of the first: rounding, 1e-16, that mixes into the others must stay small
_DEGREES = (4, 200)
_ROUNDING = 2e-14  # of the upper end of the spectrum: residuals in double do not fall further

_SINGLE = 1e-5  # tolerances from here on are met in float32
_START_TOLERANCE = 1e-3
_SOLVER_ROUNDING = (
    1e-11  # residuals of solvers that are not told the tolerance, as a share of the upper end of the spectrum
)


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


def _block_width(n_vectors: int, n_samples: int) -> int | None:
    """Return the width of the multilevel iteration's block; None for too many vectors or too few nodes."""
    width = next((width for width, most in _WIDTHS.items() if n_vectors <= most), None)
    return None if width is None or n_samples < 4 * width else width


def _multilevel_subspace(
    weights: Any,
    width: int,
    search: Search,
    *,
    tolerance: float,
    turn: float = 0.0,
    max_products: int | None = None,
) -> Filtered:
    """Find smallest pairs of I - D^-1/2 A D^-1/2 in float32, the trivial one left out, from coarser graphs upwards.

    Parameters
    ----------
    weights : CSR of shape (n_samples, n_samples)
        A: symmetric, non-negative.
    width : int
        See `_block_width`.
    search : Search
        Its tolerance and limit of products do not count.
    tolerance : float > 0
        On the residuals, relative to the largest eigenvalue asked for; those below 5e-6, the rounding of float32, pass.
    turn : float >= 0, default=0.0
        Enough instead: the sine of the angle by which a round turns the span of the vectors asked for.
    max_products : int >= 1 or None, default=None
        Products with the block; None: 500, fewer for graphs of more than eight million entries, but at least 120.

    Returns
    -------
    Filtered
    """
    most = max_products or min(500, max(120, int(4e9) // max(weights.nnz, 1)))
    graph, seconds = kernel_graph(weights), search.seconds_left
    block, leading, residuals, converged, out_of_time, _, _ = _core.spectral_vectors(
        graph, search.n_vectors, width, tolerance, turn, most, seconds, search.seed, current_run().n_threads
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
    X, n_products, times = start, 0, SparseTimes(operator)
    while True:
        X, values, residuals = _rayleigh_ritz(times, X, trivial, search.seed)
        n_products += 1
        bound = max(search.tolerance * values[n_wanted - 1], _ROUNDING * upper)
        converged = bool((residuals[:n_wanted] <= bound).all())
        stopped = search.stopped(min(n_products, most), most)
        if converged or stopped or n_products >= most:
            return Filtered(X, values, residuals, converged, stopped and not converged)
        degree, cut = _choose_filter(values, n_wanted, upper)
        X = _filter(times, X, degree, cut, upper)
        n_products += degree


def _rayleigh_ritz(
    times: SparseTimes, X: Float64Array, trivial: Float64Array, seed: int
) -> tuple[Float64Array, Float64Array, Float64Array]:
    for _ in range(2):  # once more removes what rounding left
        X = orthonormalised(without(with_draws(X, seed), trivial))
    image = times(X)
    small = product(X.T, image)
    values, rotation = (part[..., ::-1] for part in symmetric_eigen((small + small.T) / 2.0))
    X, image = product(X, rotation), product(image, rotation)
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


def _filter(times: SparseTimes, X: Float64Array, degree: int, cut: float, upper: float) -> Float64Array:
    """Return T_degree((operator - centre) / half) X, scaled to 1 at the eigenvalue 0."""
    centre, half = (upper + cut) / 2.0, (upper - cut) / 2.0
    first = -half / centre
    sigma = first
    previous = X
    present: Float64Array = (times(X) - centre * X) * (sigma / half)
    for _ in range(degree - 1):
        scale = 1.0 / (2.0 / first - sigma)
        following = times(present)
        following -= centre * present
        following *= 2.0 * scale / half
        following -= (sigma * scale) * previous
        previous, present, sigma = present, following, scale
    return present


def connected_components(matrix: Any) -> npt.NDArray[np.int32]:
    """Label the connected components of a symmetric CSR affinity matrix.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)

    Returns
    -------
    ndarray of shape (n_samples,), int32
        Component of each row, numbered from 0 in the order of their first rows.
    """
    return _core.graph_components(kernel_graph(scipy.sparse.csr_array(matrix)))


@dataclass(frozen=True, eq=False)
class GraphLaplacian:
    """The Laplacian of a graph, whose trivial eigenvector is known.

    Attributes
    ----------
    weights : CSR of shape (n_samples, n_samples)
        A: symmetric, non-negative. Beyond one connected component, vectors of eigenvalue 0 tell components apart and
        nothing else.
    normalized : bool, default=True
        I - D^-1/2 A D^-1/2, D the degrees; else D - A.
    """

    weights: Any
    normalized: bool = True

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The Laplacian in double."""
        n, weights = self.weights.shape[0], scipy.sparse.csr_array(self.weights, dtype=np.float64)
        rows = np.repeat(np.arange(n), np.diff(weights.indptr))
        if self.normalized:
            inverse = _inverse(np.sqrt(self._degrees))
            values, diagonal = -weights.data * (inverse[rows] * inverse[weights.indices]), np.ones(n)
        else:
            values, diagonal = -weights.data, self._degrees
        off = scipy.sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
        return scipy.sparse.csr_array(off + scipy.sparse.diags_array(diagonal, format="csr"))

    @cached_property
    def trivial(self) -> Float64Array:
        """Unit vector of the eigenvalue 0."""
        return _unit(np.sqrt(self._degrees) if self.normalized else np.ones(self.weights.shape[0]))

    @cached_property
    def upper(self) -> float:
        """A bound of the eigenvalues: 2, or the largest sum of the degrees of two neighbours (Anderson & Morley)."""
        if self.normalized:
            return 2.0
        rows = np.repeat(np.arange(self.weights.shape[0]), np.diff(self.weights.indptr))
        return float((self._degrees[rows] + self._degrees[self.weights.indices]).max(initial=0.0)) or 1.0

    @cached_property
    def _degrees(self) -> Float64Array:
        return np.asarray(scipy.sparse.csr_array(self.weights, dtype=np.float64).sum(axis=1), dtype=np.float64)


def _inverse(roots: Float64Array) -> Float64Array:
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)


def _unit(vector: Float64Array) -> Float64Array:
    unit: Float64Array = vector / max(float(np.sqrt(np.square(vector).sum())), 1e-300)
    return unit


@part("eigenpairs")
def laplacian_eigenpairs(laplacian: GraphLaplacian, search: Search, *, solver: str = "auto") -> Eigenpairs:
    """Find the smallest pairs of a Laplacian, the trivial one left out.

    Parameters
    ----------
    laplacian : GraphLaplacian
    search : Search
        Tolerances of 1e-5 or more are met in single precision by "multilevel", for a normalised Laplacian.
    solver : {"auto", "dense", "multilevel", "lanczos"}, default="auto"
        "auto" takes "dense" up to 600 nodes and "lanczos" for more than 56 vectors.

    Returns
    -------
    Eigenpairs
    """
    n, k = laplacian.weights.shape[0], search.n_vectors
    width = _block_width(k, n)
    operator: Any
    if solver == "auto":
        solver = "dense" if n <= LARGEST_DENSE else "lanczos" if width is None else "multilevel"
    single, stopped = laplacian.normalized and search.tolerance >= _SINGLE, False
    if solver == "multilevel":
        if width is None:
            rule = f"at most {MAX_SPECTRAL_VECTORS} and far below n_samples={n}"
            raise ValueError(message(f"n_vectors={k}", rule, remedy="Use another solver."))
        return _multilevel(laplacian, width, search, single=single)
    with single_threaded_blas():
        if solver == "dense" and single:  # the double operator is not formed
            operator, trivial = _written_out(laplacian.weights)
            values, vectors = dense_smallest(operator, k, trivial, 3.0)
        elif solver == "dense":
            operator = laplacian.matrix
            values, vectors = dense_smallest(
                operator.toarray(), k, laplacian.trivial, 1.5 * laplacian.upper, overwrite=True
            )
        else:
            operator = laplacian.matrix
            found = smallest_by_lanczos(operator, laplacian.trivial, laplacian.upper, search)
            values, vectors, stopped = found.values, found.vectors, found.out_of_time
        image = product(operator, vectors) if isinstance(operator, np.ndarray) else sparse_product(operator, vectors)
        residuals = np.linalg.norm(image - vectors * values, axis=0)
    bound = max(search.tolerance * float(values[-1]), _SOLVER_ROUNDING * laplacian.upper)
    converged = bool((residuals <= bound).all())
    return Eigenpairs(np.maximum(values, 0.0), with_signs(vectors), residuals, converged, solver, stopped)


def _multilevel(laplacian: GraphLaplacian, width: int, search: Search, *, single: bool) -> Eigenpairs:
    weights, k = laplacian.weights, search.n_vectors
    if single:  # without BLAS, of which a fit of this kind then loads none
        limits: dict[str, Any] = {"turn": search.turn, "max_products": search.max_products}
        found = _multilevel_subspace(weights, width, search, tolerance=search.tolerance, **limits)
    else:
        with single_threaded_blas():
            found = _refined(laplacian, width, search)
    vectors, values, residuals = found.vectors[:, :k].astype(np.float64), found.values[:k], found.residuals[:k]
    if not single:
        residuals = np.linalg.norm(sparse_product(laplacian.matrix, vectors) - vectors * values, axis=0)
    values, vectors = np.maximum(values, 0.0), with_signs(vectors)
    return Eigenpairs(values, vectors, residuals, found.converged, "multilevel", found.out_of_time)


def _refined(laplacian: GraphLaplacian, width: int, search: Search) -> Filtered:
    """Find the smallest pairs in single precision and refine them in double."""
    weights = laplacian.weights
    start = _multilevel_subspace(weights, width, search, tolerance=_START_TOLERANCE).vectors.astype(np.float64)
    if not laplacian.normalized:
        degrees = np.asarray(weights.astype(np.float64).sum(axis=1))
        start = np.asarray(start / np.sqrt(np.maximum(degrees, 1e-300))[:, None])
    return filtered_subspace(laplacian.matrix, start, laplacian.trivial, laplacian.upper, search)


def _written_out(weights: Any) -> tuple[Float64Array, Float64Array]:
    """Return the normalised Laplacian as a dense matrix, and its trivial vector."""
    full = weights.toarray().astype(np.float64)
    roots = np.sqrt(full.sum(axis=1))
    inverse = _inverse(roots)
    return np.eye(len(full)) - inverse[:, None] * full * inverse, _unit(roots)
