"""Laplacians of graphs and their smallest eigenpairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph

from gnomon._entrance import part
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.linalg.eigen.dense import dense_smallest
from gnomon.linalg.eigen.krylov import smallest_by_lanczos
from gnomon.linalg.eigen.multilevel import MAX_SPECTRAL_VECTORS, block_width, filtered_subspace, multilevel_subspace
from gnomon.linalg.eigen.search import LARGEST_DENSE, Eigenpairs, Search
from gnomon.linalg.signs import with_signs

__all__ = ["GraphLaplacian", "connected_components", "laplacian_eigenpairs"]

Float64Array = npt.NDArray[np.float64]

_SINGLE = 1e-5  # tolerances from here on are met in float32
_START_TOLERANCE = 1e-3
_ROUNDING = 1e-11  # residuals of solvers that are not told the tolerance, as a share of the upper end of the spectrum


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
    _, labels = csgraph.connected_components(matrix, directed=False)
    return np.asarray(labels, dtype=np.int32)


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
    def matrix(self) -> sp.csr_array:
        """The Laplacian in double."""
        n, weights = self.weights.shape[0], sp.csr_array(self.weights, dtype=np.float64)
        rows = np.repeat(np.arange(n), np.diff(weights.indptr))
        if self.normalized:
            inverse = _inverse(np.sqrt(self._degrees))
            values, diagonal = -weights.data * (inverse[rows] * inverse[weights.indices]), np.ones(n)
        else:
            values, diagonal = -weights.data, self._degrees
        off = sp.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
        return sp.csr_array(off + sp.diags_array(diagonal, format="csr"))

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
        return np.asarray(sp.csr_array(self.weights, dtype=np.float64).sum(axis=1), dtype=np.float64)


def _inverse(roots: Float64Array) -> Float64Array:
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)


def _unit(vector: Float64Array) -> Float64Array:
    unit: Float64Array = vector / max(float(np.linalg.norm(vector)), 1e-300)
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
    width = block_width(k, n)
    operator: Any
    if solver == "auto":
        solver = "dense" if n <= LARGEST_DENSE else "lanczos" if width is None else "multilevel"
    single, stopped = laplacian.normalized and search.tolerance >= _SINGLE, False
    with single_threaded_blas():
        if solver == "multilevel":
            if width is None:
                rule = f"at most {MAX_SPECTRAL_VECTORS} and far below n_samples={n}"
                raise ValueError(message(f"n_vectors={k}", rule, remedy="Use another solver."))
            return _multilevel(laplacian, width, search, single=single)
        if solver == "dense" and single:  # the double operator is not formed
            operator, trivial = _written_out(laplacian.weights)
            values, vectors = dense_smallest(operator, k, trivial, 3.0)
        elif solver == "dense":
            operator = laplacian.matrix
            values, vectors = dense_smallest(operator.toarray(), k, laplacian.trivial, 1.5 * laplacian.upper)
        else:
            operator = laplacian.matrix
            found = smallest_by_lanczos(operator, laplacian.trivial, laplacian.upper, search)
            values, vectors, stopped = found.values, found.vectors, found.out_of_time
        residuals = np.linalg.norm(operator @ vectors - vectors * values, axis=0)
    bound = max(search.tolerance * float(values[-1]), _ROUNDING * laplacian.upper)
    converged = bool((residuals <= bound).all())
    return Eigenpairs(np.maximum(values, 0.0), with_signs(vectors), residuals, converged, solver, stopped)


def _multilevel(laplacian: GraphLaplacian, width: int, search: Search, *, single: bool) -> Eigenpairs:
    weights, k = laplacian.weights, search.n_vectors
    if single:
        found = multilevel_subspace(
            weights, width, search, tolerance=search.tolerance, max_products=search.max_products
        )
    else:
        start = multilevel_subspace(weights, width, search, tolerance=_START_TOLERANCE).vectors.astype(np.float64)
        if not laplacian.normalized:
            degrees = np.asarray(weights.astype(np.float64).sum(axis=1))
            start = np.asarray(start / np.sqrt(np.maximum(degrees, 1e-300))[:, None])
        found = filtered_subspace(laplacian.matrix, start, laplacian.trivial, laplacian.upper, search)
    vectors, values, residuals = found.vectors[:, :k].astype(np.float64), found.values[:k], found.residuals[:k]
    if not single:
        residuals = np.linalg.norm(laplacian.matrix @ vectors - vectors * values, axis=0)
    values, vectors = np.maximum(values, 0.0), with_signs(vectors)
    return Eigenpairs(values, vectors, residuals, found.converged, "multilevel", found.out_of_time)


def _written_out(weights: Any) -> tuple[Float64Array, Float64Array]:
    """Return the normalised Laplacian as a dense matrix, and its trivial vector."""
    full = weights.toarray().astype(np.float64)
    roots = np.sqrt(full.sum(axis=1))
    inverse = _inverse(roots)
    return np.eye(len(full)) - inverse[:, None] * full * inverse, _unit(roots)
