"""Proximal maps of matrices: singular values lowered by a threshold, and columns smoothed over a graph."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance, part
from gnomon._threads import single_threaded_blas
from gnomon._validation import SEED, Options, Real, Rule, check_parameters, message
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.eigen.base import column_signs
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.eigen.multifrontal import Elimination, SparseCholesky, plan_elimination
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.products import SparseTimes, inner_products, product

__all__ = ["LARGEST_FACTOR", "Smoothing", "ThresholdedSVD", "singular_value_threshold"]

Float64Array = npt.NDArray[np.float64]

_SOLVERS = ("auto", "svd", "gram", "subspace")
_THRESHOLD_RULES: dict[str, Rule] = {"threshold": Real(0.0), "solver": Options(*_SOLVERS), "seed": SEED}
_STREAM_EXTRA = 131
_SMALL = 1e6  # n_rows n_columns min(n_rows, n_columns) up to which a decomposition takes a millisecond
_GRAM_ERROR = 1e-8  # accepted error of the Gram matrix's vectors, in thresholds
_SUBSPACE_ERROR = 1e-7  # accepted error of the subspace, in thresholds
_LARGEST_SHARE = 10  # the subspace is tried where the rank is at most the smaller side over this
_EXTRA = 10  # further directions of the subspace

_SMOOTHING_RULES: dict[str, Rule] = {"weight": Real(0.0), "solver": Options("auto", "factor", "chebyshev")}
LARGEST_FACTOR = 1000  # rows; factors of graphs in many dimensions fill up beyond
_MOST_STEPS = 60
_ERROR = 1e-14


@dataclass(frozen=True)
class ThresholdedSVD:
    """A matrix of low rank by its singular vectors.

    Attributes
    ----------
    left : ndarray of shape (n_rows, rank), float64
        Orthonormal columns; the entry of largest magnitude of each row of `right` is positive.
    values : ndarray of shape (rank,), float64
        What the threshold left of the singular values; positive, falling.
    right : ndarray of shape (rank, n_columns), float64
        Orthonormal rows.
    solver : {"svd", "gram", "subspace"}
        How they were found.
    """

    left: Float64Array
    values: Float64Array
    right: Float64Array
    solver: str = "svd"

    @property
    def rank(self) -> int:
        """Number of singular values above the threshold."""
        return len(self.values)

    def matrix(self, *, out: Float64Array | None = None) -> Float64Array:
        """Return the matrix of shape (n_rows, n_columns), written to `out` if given."""
        return product(self.left * self.values, self.right, out=out)


@part("singular_value_threshold")
def singular_value_threshold(
    A: npt.ArrayLike, threshold: float, *, solver: str = "auto", start: ThresholdedSVD | None = None, seed: int = 0
) -> ThresholdedSVD:
    """Lower all singular values of a matrix by a threshold, those below it to zero.

    The result minimises ``threshold * |L|_* + |L - A|_F^2 / 2`` over L.

    Parameters
    ----------
    A : array-like of shape (n_rows, n_columns)
        Finite.
    threshold : float >= 0
        In the units of the entries.
    solver : {"auto", "svd", "gram", "subspace"}, default="auto"
        "svd": full decomposition. "gram": eigenvectors of the inner products along the smaller side. Squaring loses
        what lies below 1e-8 of the largest singular value s, but what lies below the threshold t is discarded anyway;
        the error is about eps (s / t)^2 t, and where that is above 1e-8 t the full decomposition is taken instead.
        "subspace": block iteration from the vectors of `start` with ten further directions, to an error of 1e-7 t in
        the Frobenius norm. "auto": of large matrices "subspace" where `start` is of low rank, if it converges at a
        fraction of the cost, else "gram".
    start : ThresholdedSVD, default=None
        Of a matrix that is close to A, such as that of the last iteration.
    seed : int in [0, 2**63), default=0
        Of the further directions.

    Returns
    -------
    ThresholdedSVD

    Raises
    ------
    ValueError
        If `A` is no matrix, or solver="subspace" has no start or does not converge.

    References
    ----------
    .. [1] Cai, Candès & Shen, "A singular value thresholding algorithm for matrix completion", SIAM Journal on
       Optimization 20, 2010, theorem 2.1.
    .. [2] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011 (subspace iteration).
    """
    given = {"threshold": threshold, "solver": solver, "seed": seed}
    values = check_parameters(_THRESHOLD_RULES, given)
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(message(f"A of shape {matrix.shape}", "a matrix"))
    if values["solver"] == "subspace" and start is None:
        raise ValueError(message("solver='subspace'", "given a start"))
    wide = matrix.shape[0] < matrix.shape[1]
    tall = matrix.T if wide else matrix  # its columns are the smaller side
    basis = np.empty((tall.shape[1], 0))
    if start is not None:
        basis = start.left if wide else start.right.T
    with single_threaded_blas():
        left, lowered, right, used = _solve(tall, values, basis)
    return _oriented(right if wide else left, lowered, left.T if wide else right.T, used)


Triples = tuple[Float64Array, Float64Array, Float64Array]
"""Left vectors as columns, singular values less the threshold, right vectors as columns."""


def _solve(tall: Float64Array, values: dict[str, object], basis: Float64Array) -> tuple[*Triples, str]:
    threshold, solver = float(values["threshold"]), values["solver"]  # type: ignore[arg-type]
    seed = int(values["seed"])  # type: ignore[call-overload]
    side = tall.shape[1]
    small = tall.size * side <= _SMALL
    partial = solver == "auto" and not small and 0 < basis.shape[1] <= side // _LARGEST_SHARE
    if solver == "subspace" or partial:
        found = _by_subspace(tall, threshold, basis, seed, budget=0.3 if partial else 100.0)
        if found is not None:
            return *found, "subspace"
        if not partial:
            what = "solver='subspace'"
            fact = "it did not converge"
            raise ValueError(message(what, "given a start close to A", fact=fact, remedy="Use solver='auto'."))
    if solver != "svd":
        found = _by_gram(tall, threshold)
        if found is not None:
            return *found, "gram"
    return *_by_svd(tall, threshold), "svd"


def _oriented(left: Float64Array, lowered: Float64Array, right: Float64Array, solver: str) -> ThresholdedSVD:
    signs = column_signs(right.T)
    return ThresholdedSVD(
        np.multiply(left, signs, out=left), lowered, np.multiply(right, signs[:, None], out=right), solver
    )


def _by_svd(tall: Float64Array, threshold: float) -> Triples:
    left, values, right = scipy.linalg.svd(tall, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(values > threshold))
    return left[:, :rank], values[:rank] - threshold, right[:rank].T


def _by_gram(tall: Float64Array, threshold: float) -> Triples | None:
    """Solve by the eigenvectors of A' A, or return None where squaring loses too much."""
    gram = inner_products(tall)
    largest = float(np.abs(gram).sum(axis=1).max(initial=0.0))  # bounds the square of the largest singular value
    floor = threshold**2
    if np.finfo(np.float64).eps * largest > _GRAM_ERROR * floor:
        return None
    squares, right = symmetric_eigen(gram, least=floor)
    values = np.sqrt(squares[: right.shape[1]])
    return product(tall, right / values), values - threshold, right


def _by_subspace(
    tall: Float64Array, threshold: float, basis: Float64Array, seed: int, *, budget: float
) -> Triples | None:
    """Solve by block iteration, or return None if that takes more than a share `budget` of the Gram matrix's cost.

    For triples (u, s, v) with A' u = s v the residuals A v - s u are how much of A couples these vectors to the others.
    Without the coupling the result would be exact, and the map is non-expansive, so their norm bounds its error.
    """
    side = tall.shape[1]
    width = min(side, basis.shape[1] + max(_EXTRA, basis.shape[1] // 5))
    extra = normal_matrix(seed, _STREAM_EXTRA, (side, width - basis.shape[1]))
    right = orthonormalised(np.concatenate([basis, extra / np.sqrt(side)], axis=1))
    most = max(3, int(budget * side / width))
    left, values, before = np.empty(0), np.empty(0), np.inf
    for sweep in range(most):
        images = product(tall, right)
        if sweep:
            above = values > threshold
            error = math.sqrt(np.square((images - left * values)[:, above]).sum())
            if error <= _SUBSPACE_ERROR * threshold:
                rank = int(np.count_nonzero(above))
                if rank == width < side:
                    return None  # there may be more above the threshold
                return left[:, :rank], values[:rank] - threshold, right[:, :rank]
            rate = error / before
            if sweep > 1 and error * rate ** (most - 1 - sweep) > _SUBSPACE_ERROR * threshold:
                return None  # it will not get there
            before = error
        ortho = orthonormalised(images)
        back = product(tall.T, ortho)
        squares, rotation = symmetric_eigen(inner_products(back))
        values = np.sqrt(np.maximum(squares, 0.0))
        right, left = orthonormalised(product(back, rotation)), product(ortho, rotation)
    return None


class Smoothing:
    """The map V -> (I + weight * M)^-1 V.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_samples, n_samples)
        Symmetric, eigenvalues not negative.
    weight : float >= 0
    solver : {"auto", "factor", "chebyshev"}, default="auto"
        "factor": sparse Cholesky factor, made once. "chebyshev": products with the matrix, as many as its largest row
        sum asks for; they are fixed beforehand, so each column of the result depends on the same column of V alone.
        "auto": the first up to 1000 rows or where more than 60 products are needed.

    Attributes
    ----------
    solver : {"factor", "chebyshev"}

    Notes
    -----
    The result is the same bits on every processor.
    """

    _plan: Elimination | None = None

    @entrance("Smoothing")
    def __init__(self, matrix: Any, weight: float, *, solver: str = "auto") -> None:
        given = check_parameters(_SMOOTHING_RULES, {"weight": weight, "solver": solver})
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(message(f"matrix of shape {matrix.shape}", "square"))
        self._matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
        self._times = SparseTimes(self._matrix)
        self._asked: str = given["solver"]
        self._prepare(given["weight"])

    def with_weight(self, weight: float) -> Smoothing:
        """Return the map of another weight; how the matrix is eliminated is planned once for all of them."""
        another = copy(self)
        another._prepare(check_parameters(_SMOOTHING_RULES, {"weight": weight, "solver": self._asked})["weight"])
        return another

    def _prepare(self, weight: float) -> None:
        self.weight = weight
        bound = float(abs(self._matrix).sum(axis=1).max()) if self._matrix.nnz else 0.0
        self._largest = 1.0 + self.weight * bound  # eigenvalue of the sum, by Gershgorin's theorem; the least is 1
        root = math.sqrt(self._largest)
        rate = (root - 1.0) / (root + 1.0)
        self._n_steps = 0 if rate == 0.0 else math.ceil(math.log(_ERROR / 2.0) / math.log(rate))
        self.solver = self._asked
        if self.solver == "auto":
            small = self._matrix.shape[0] <= LARGEST_FACTOR
            self.solver = "factor" if small or self._n_steps > _MOST_STEPS else "chebyshev"
        self._factor: SparseCholesky | None = None
        if self.solver == "factor":
            self._plan = self._plan or plan_elimination(self._matrix, max_entries=math.inf)
            self._factor = SparseCholesky(self.weight * self._matrix, self._plan, shift=1.0)

    def solve(self, V: npt.ArrayLike) -> Float64Array:
        """Return (I + weight * M)^-1 V for V of shape (n_samples, n_columns)."""
        right = np.asarray(V, dtype=np.float64)
        if self._factor is not None:
            return self._factor.solve(right)
        return self._chebyshev(right)

    def _chebyshev(self, V: Float64Array) -> Float64Array:
        """Iterate by Chebyshev's polynomials on [1, largest] (Saad, Iterative Methods, algorithm 12.1)."""
        if self._n_steps == 0:
            return V.copy()
        centre, radius = (self._largest + 1.0) / 2.0, (self._largest - 1.0) / 2.0
        sigma = centre / radius
        rho = 1.0 / sigma
        residual = V.copy()
        change: Float64Array = residual / centre
        solution: Float64Array = change.copy()
        for _ in range(self._n_steps - 1):
            residual -= change
            residual -= self.weight * self._times(change)
            following = 1.0 / (2.0 * sigma - rho)
            change = following * rho * change + (2.0 * following / radius) * residual
            rho = following
            solution += change
        return solution
