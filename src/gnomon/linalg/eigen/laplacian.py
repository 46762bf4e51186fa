"""Bottom eigenpairs of the Laplacian of a graph in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from gnomon import _core
from gnomon._threads import single_threaded_blas
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.linalg.eigen.chebyshev import refine_bottom
from gnomon.linalg.eigen.krylov import leading_eigenpairs
from gnomon.linalg.eigen.multilevel import MAX_SPECTRAL_VECTORS, block_width
from gnomon.linalg.signs import with_signs
from gnomon.linalg.sparse import kernel_graph

__all__ = ["LaplacianEigenpairs", "laplacian_eigenpairs"]

Float64Array = npt.NDArray[np.float64]

_LARGEST_DENSE = 600  # nodes; the dense eigenproblem then takes some hundredths of a second
_START_TOLERANCE = 1e-3
_RULES: dict[str, Rule] = {
    "n_vectors": Integer(1),
    "normalized": Boolean(),
    "seed": Integer(0),
    "n_threads": Integer(1),
    "tolerance": Real(0.0, low_open=True),
    "max_products": Either(Nothing(), Integer(1)),
    "solver": Options("auto", "dense", "multilevel", "lanczos"),
}


@dataclass(frozen=True)
class LaplacianEigenpairs:
    """Bottom eigenpairs of a graph's Laplacian, the trivial one left out.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, n_vectors), float64
        Orthonormal columns by rising eigenvalue; the entry of largest magnitude of each is positive.
    eigenvalues : ndarray of shape (n_vectors,), float64
        Never negative; at most 2 for the normalised Laplacian.
    residuals : ndarray of shape (n_vectors,), float64
        |L v - lambda v| of each vector.
    converged : bool
        Whether the residuals are below the tolerance times the largest eigenvalue asked for, or below 2e-14 of the
        upper end of the spectrum, where rounding ends.
    solver : {"dense", "multilevel", "lanczos"}
        How they were found.
    """

    vectors: Float64Array
    eigenvalues: Float64Array
    residuals: Float64Array
    converged: bool
    solver: str


def laplacian_eigenpairs(
    matrix: Any,
    n_vectors: int,
    *,
    normalized: bool = True,
    seed: int = 0,
    n_threads: int = 1,
    tolerance: float = 1e-7,
    max_products: int | None = None,
    solver: str = "auto",
    report: Callable[[int, int], bool] | None = None,
    who: str = "laplacian_eigenpairs",
) -> LaplacianEigenpairs:
    """Find the bottom eigenpairs of the Laplacian of a connected graph.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
        Weights A: symmetric, non-negative, of one connected component.
    n_vectors : int in [1, n_samples - 1]
        Number of pairs beyond the trivial one.
    normalized : bool, default=True
        Of I - D^-1/2 A D^-1/2, D the degrees; else of D - A.
    seed : int in [0, 2**63), default=0
        Of random starts.
    n_threads : int >= 1, default=1
        Does not change the result.
    tolerance : float > 0, default=1e-7
        On the residuals, relative to the largest eigenvalue asked for.
    max_products : int >= 1 or None, default=None
        Products of the graph with a block of vectors in double after which the iteration ends. None: 3000, fewer for
        graphs of more than a million entries, but at least 300.
    solver : {"auto", "dense", "multilevel", "lanczos"}, default="auto"
        "dense": LAPACK. "multilevel": `spectral_vectors` in float32, then refined by Chebyshev filters in double.
        "lanczos": ARPACK. "auto" takes "dense" up to 600 nodes and "lanczos" for more than 56 vectors.
    report : callable or None, default=None
        (products, max_products) -> whether to end the iteration.
    who : str, default="laplacian_eigenpairs"
        Opens the error text.

    Returns
    -------
    LaplacianEigenpairs
    """
    given = {
        "n_vectors": n_vectors,
        "normalized": normalized,
        "seed": seed,
        "n_threads": n_threads,
        "tolerance": tolerance,
        "max_products": max_products,
        "solver": solver,
    }
    values = check_parameters(who, _RULES, given)
    n = matrix.shape[0]
    n_vectors = values["n_vectors"]
    if n_vectors > n - 1:
        raise ValueError(message(who, f"n_vectors={n_vectors}", f"at most {n - 1}", fact=f"n_samples={n}"))
    width = block_width(n_vectors)
    small = width is None or n < 4 * width
    if solver == "auto":
        solver = "dense" if n <= _LARGEST_DENSE else "lanczos" if small else "multilevel"
    if solver == "multilevel" and small:
        rule = f"at most {MAX_SPECTRAL_VECTORS} and far below n_samples={n}"
        raise ValueError(message(who, f"n_vectors={n_vectors}", rule, remedy="Use another solver."))
    operator, trivial, upper = _laplacian(matrix, values["normalized"])
    with single_threaded_blas():
        if solver == "multilevel":
            products = values["max_products"] or min(3000, max(300, int(3e9) // max(matrix.nnz, 1)))
            assert width is not None
            start = _start(matrix, n_vectors, width, values)
            refined = refine_bottom(
                operator,
                start,
                trivial,
                n_vectors,
                upper=upper,
                tolerance=values["tolerance"],
                max_products=products,
                report=report,
            )
            vectors, eigenvalues = refined.vectors, refined.eigenvalues
        elif solver == "dense":
            vectors, eigenvalues = _dense(operator, trivial, upper, n_vectors)
        else:
            vectors, eigenvalues = _lanczos(operator, trivial, upper, n_vectors, values["seed"])
        residuals = np.linalg.norm(operator @ vectors - vectors * eigenvalues, axis=0)
    bound = max(values["tolerance"] * float(eigenvalues[-1]), (1e-11 if solver != "multilevel" else 2e-14) * upper)
    converged = refined.converged if solver == "multilevel" else bool((residuals <= bound).all())
    return LaplacianEigenpairs(with_signs(vectors), np.maximum(eigenvalues, 0.0), residuals, converged, solver)


def _laplacian(matrix: Any, normalized: bool) -> tuple[sp.csr_array, Float64Array, float]:
    """Return the Laplacian in double, its trivial unit vector and an upper bound of its eigenvalues."""
    n = matrix.shape[0]
    weights = sp.csr_array(matrix, dtype=np.float64)
    degrees = np.asarray(weights.sum(axis=1), dtype=np.float64)
    rows = np.repeat(np.arange(n), np.diff(weights.indptr))
    if normalized:
        roots = np.sqrt(degrees)
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
        values, diagonal, upper = -weights.data * (inverse[rows] * inverse[weights.indices]), np.ones(n), 2.0
        trivial = roots
    else:
        values, diagonal = -weights.data, degrees
        sums = degrees[rows] + degrees[weights.indices]  # Anderson & Morley's bound
        upper, trivial = float(sums.max(initial=0.0)) or 1.0, np.ones(n)
    off = sp.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
    operator = sp.csr_array(off + sp.diags_array(diagonal, format="csr"))
    return operator, trivial / max(float(np.linalg.norm(trivial)), 1e-300), upper


def _start(matrix: Any, n_vectors: int, width: int, values: dict[str, Any]) -> Float64Array:
    """Return vectors of the normalised Laplacian, in float32 precision; for D - A mapped back by D^-1/2."""
    block, *_ = _core.spectral_vectors(
        kernel_graph(matrix),
        n_vectors,
        width,
        _START_TOLERANCE,
        min(500, max(120, int(4e9) // max(matrix.nnz, 1))),
        math.inf,
        values["seed"],
        values["n_threads"],
    )
    start = block.astype(np.float64)
    if values["normalized"]:
        return start
    degrees = np.asarray(matrix.astype(np.float64).sum(axis=1))
    return np.asarray(start / np.sqrt(np.maximum(degrees, 1e-300))[:, None])


def _dense(
    operator: sp.csr_array, trivial: Float64Array, upper: float, n_vectors: int
) -> tuple[Float64Array, Float64Array]:
    # The trivial vector is moved beyond the far end of the spectrum, so that no other can mix with it.
    moved = operator.toarray() + 1.5 * upper * np.outer(trivial, trivial)
    eigenvalues, vectors = scipy.linalg.eigh(moved, subset_by_index=[0, n_vectors - 1], check_finite=False)
    return vectors, eigenvalues


def _lanczos(
    operator: sp.csr_array, trivial: Float64Array, upper: float, n_vectors: int, seed: int
) -> tuple[Float64Array, Float64Array]:
    def product(X: Float64Array) -> Float64Array:
        return np.asarray(upper * X - operator @ X - (1.5 * upper) * np.outer(trivial, trivial @ X))

    found = leading_eigenpairs(product, operator.shape[0], n_vectors, seed=seed)
    return found.vectors, upper - found.values
