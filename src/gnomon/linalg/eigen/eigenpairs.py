"""The one function for eigenproblems: which solver finds which pairs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._threads import single_threaded_blas
from gnomon._validation import SEED, Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.linalg.eigen.base import (
    LARGEST_DENSE,
    Eigenpairs,
    OutOfTimeError,
    Search,
    Semidefinite,
    dense_smallest,
    with_signs,
)
from gnomon.linalg.eigen.davidson import davidson
from gnomon.linalg.eigen.krylov import inverse_krylov, largest_eigenpairs, smallest_by_lanczos
from gnomon.linalg.eigen.laplacian import GraphLaplacian, laplacian_eigenpairs
from gnomon.linalg.eigen.multifrontal import SparseCholesky, plan_elimination
from gnomon.linalg.products import SparseTimes

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["MAX_FACTOR_ENTRIES", "eigenpairs", "symmetric_operator"]

Float64Array = npt.NDArray[np.float64]

MAX_FACTOR_ENTRIES = 4e8
"""Numbers in memory (8 bytes each) that a factor may need by default."""

_SOLVERS = {
    "products": ("auto", "dense", "lanczos"),
    "matrix": ("auto", "dense", "lanczos", "factor", "descent"),
    "graph": ("auto", "dense", "lanczos", "multilevel", "factor", "descent"),
}
_RULES: dict[str, Rule] = {
    "n_vectors": Integer(1),
    "which": Options("smallest", "largest"),
    "tol": Either(Nothing(), Real(0.0, low_open=True)),
    "other_end": Either(Nothing(), Real(0.0, low_open=True)),
    "turn": Either(Nothing(), Real(0.0, low_open=True)),
    "seed": SEED,
    "max_products": Either(Nothing(), Integer(1)),
    "max_entries": Real(1.0),
    "max_operations": Real(1.0),
    "time_budget": Either(Nothing(), Real(0.0)),
}


def symmetric_operator(product: Callable[[Float64Array], Float64Array], n_samples: int) -> LinearOperator:
    """Return the operator whose products with blocks of vectors, (n_samples, n_columns), a function computes."""
    from scipy.sparse.linalg import LinearOperator  # loaded with LAPACK, when first asked for

    return LinearOperator((n_samples, n_samples), matvec=product, matmat=product, dtype=np.float64)


@part("eigenpairs")
def eigenpairs(
    operator: Any,
    n_vectors: int,
    *,
    which: str = "smallest",
    known: npt.ArrayLike | None = None,
    tol: float | None = None,
    other_end: float | None = None,
    turn: float | None = None,
    seed: int = 0,
    solver: str = "auto",
    max_products: int | None = None,
    max_entries: float = MAX_FACTOR_ENTRIES,
    max_operations: float = 4e12,
    time_budget: float | None = None,
    report: Callable[..., bool] | None = None,
) -> Eigenpairs:
    """Find eigenvalues at one end of the spectrum of a symmetric operator, and their vectors.

    Parameters
    ----------
    operator : LinearOperator, CSR or GraphLaplacian of shape (n_samples, n_samples)
        Symmetric. Of a LinearOperator, products with blocks of vectors are taken. A CSR matrix, both triangles stored,
        must be positive semidefinite where its smallest pairs are wanted. From those of a Laplacian the trivial one is
        left out.
    n_vectors : int in [1, n_samples]
        Number of pairs, one less where a vector is left out.
    which : {"smallest", "largest"}, default="smallest"
        End of the spectrum, by algebraic value.
    known : ndarray of shape (n_samples,) or None, default=None
        A vector that a CSR matrix maps to zero, left out of its smallest pairs; other vectors of eigenvalue zero are
        not, such as the coordinates of flat data in locally linear embedding.
    tol : float > 0 or None, default=None
        On the residuals: of the smallest pairs of a CSR matrix or a Laplacian relative to the largest eigenvalue asked
        for, else relative to the largest magnitude of an eigenvalue. None: 1e-7 and 1e-12.
    other_end : float > 0 or None, default=None
        Tolerance of the eigenvalue at the other end of the spectrum, if that is wanted; of the same kind.
    turn : float > 0 or None, default=None
        "multilevel" by a tolerance of 1e-5 or more ends as well once a round turns the space of the vectors by an angle
        whose sine is less: what is then missing is about twice that. Residuals say what was reached.
    seed : int in [0, 2**63), default=0
        Of random starts.
    solver : {"auto", "dense", "lanczos", "multilevel", "factor", "descent"}, default="auto"
        "dense": of the matrix written out; it is taken up to 600 rows.

        "lanczos": Lanczos' method with blocks of vectors, and ARPACK where these do not do. It is taken for pairs
        known by products alone and for Laplacians with more than 56 vectors.

        "multilevel", for Laplacians: Chebyshev-filtered subspaces in float32, started from coarser graphs; then in
        double for tolerances below 1e-5.

        "factor", for smallest pairs of a CSR matrix: Krylov spaces of the inverse by a sparse Cholesky factor, whose
        size and work are counted before they are spent. It is taken within the two limits below.

        "descent", for the same: Davidson's method without a factor of the whole matrix, for those whose factor is too
        large; it may end without convergence.
    max_products : int >= 1 or None, default=None
        Products with a block after which "lanczos" and "multilevel" end. None: as many as suits the size.
    max_entries : float >= 1, default=4e8
        Numbers in memory (8 bytes each) that a factor may need.
    max_operations : float >= 1, default=4e12
        Multiplications and additions that a factor may need, some minutes of one core.
    time_budget : float or None, default=None
        Seconds after which the search ends early. It is bounded anyhow, so this is a last resort.
    report : callable or None, default=None
        Called now and then as ``report(done, total, at_most=...)``: the work done and in all, and whether the search
        may end before; if it returns True the search ends with what it has.

    Returns
    -------
    Eigenpairs

    Raises
    ------
    ValueError
        If a value is out of range, the solver does not fit the operator, or solver="factor" exceeds the limits.
    """
    kind = "graph" if isinstance(operator, GraphLaplacian) else "matrix"
    if _is_known_by_products(operator) or which == "largest":
        kind = "products"
    given = {
        "n_vectors": n_vectors,
        "which": which,
        "tol": tol,
        "other_end": other_end,
        "turn": turn,
        "seed": seed,
        "solver": solver,
        "max_products": max_products,
        "max_entries": max_entries,
        "max_operations": max_operations,
        "time_budget": time_budget,
    }
    values = check_parameters({**_RULES, "solver": Options(*_SOLVERS[kind])}, given)
    n = int(operator.weights.shape[0] if isinstance(operator, GraphLaplacian) else operator.shape[0])
    most = n - (kind == "graph" or known is not None)
    if values["n_vectors"] > most:
        raise ValueError(message(f"n_vectors={n_vectors}", f"at most {most}", fact=f"n_samples={n}"))
    if known is not None and kind != "matrix":
        raise ValueError(message("known", "None unless the smallest pairs of a CSR matrix are wanted"))
    if other_end is not None and kind != "products":
        raise ValueError(message(f"other_end={other_end}", "None where a vector is left out or solvers use zero"))
    search = Search(
        values["n_vectors"],
        (1e-12 if kind == "products" else 1e-7) if tol is None else values["tol"],
        values["seed"],
        values["max_products"],
        math.inf if time_budget is None else time.monotonic() + values["time_budget"],
        report,
        turn=values["turn"] or 0.0,
    )
    if kind == "products":
        return _by_products(operator, which, search, solver, values["other_end"])
    if kind == "graph" and solver not in ("factor", "descent"):
        return laplacian_eigenpairs(operator, search, solver=solver)
    if kind == "graph":
        operator, known = operator.matrix, operator.trivial
    return _smallest(Semidefinite(operator, known), search, solver, (values["max_entries"], values["max_operations"]))


def _is_known_by_products(operator: Any) -> bool:
    """Say whether an operator is a LinearOperator of SciPy, whose module takes as long to load as a small fit."""
    return hasattr(operator, "matmat")


def _by_products(operator: Any, which: str, search: Search, solver: str, other_end: float | None) -> Eigenpairs:
    if isinstance(operator, GraphLaplacian):
        operator = operator.matrix
    times: Callable[[Any], Any] = operator.matmat if _is_known_by_products(operator) else SparseTimes(operator)
    n = operator.shape[0]
    if which == "largest":
        return largest_eigenpairs(times, n, search, solver=solver, other_end=other_end)
    found = largest_eigenpairs(lambda X: -times(X), n, search, solver=solver, other_end=other_end)
    beyond = None if found.other_end is None else -found.other_end
    return replace(found, values=-found.values, other_end=beyond)


def _smallest(operator: Semidefinite, search: Search, solver: str, limits: tuple[float, float]) -> Eigenpairs:
    """Choose the solver for the smallest pairs of a matrix; take the eigenvalues in the space that it finds."""
    n, k, matrix = operator.n, search.n_vectors, operator.matrix
    may_descend, out_of_time = solver == "auto", False
    if solver == "auto":
        solver = "dense" if n <= LARGEST_DENSE or 8 * k >= n else "factor"
    factor = _factor(operator, search, limits, may_descend=may_descend) if solver == "factor" else None
    if solver == "factor" and factor is None:
        solver = "descent"
    with single_threaded_blas():
        if solver == "dense":
            full, beyond = matrix.toarray().astype(np.float64, copy=False), 2.0 * operator.norm + 1.0
            vectors = operator.without_known(dense_smallest(full, k, operator.known, beyond, overwrite=True)[1])
            del full
        elif solver == "lanczos":
            found = smallest_by_lanczos(matrix, operator.known, operator.norm or 1.0, search)
            vectors, out_of_time = found.vectors, found.out_of_time
        elif factor is not None:
            vectors, out_of_time = inverse_krylov(operator, factor.solve, search)
        else:
            vectors, out_of_time = davidson(operator, search)
        values, vectors, residuals = operator.rayleigh_ritz(vectors)
    converged = bool(residuals.max() <= operator.limit(values, search.tolerance))
    return Eigenpairs(np.maximum(values, 0.0), with_signs(vectors), residuals, converged, solver, out_of_time)


def _factor(
    operator: Semidefinite, search: Search, limits: tuple[float, float], *, may_descend: bool
) -> SparseCholesky | None:
    """Factor the matrix with the least shift that makes its pivots positive; None if there is none."""
    matrix = operator.matrix
    plan = plan_elimination(matrix, max_entries=limits[0])
    if plan.n_fronts == 0 or plan.n_entries > limits[0] or plan.n_operations > limits[1]:
        if may_descend:
            return None
        fact = f"the factor needs {plan.n_entries:.2g} numbers or more and {plan.n_operations:.2g} operations"
        rule = "'descent', or max_entries and max_operations larger"
        raise ValueError(message("solver='factor'", rule, fact=fact))
    scale = float(matrix.diagonal().max()) or 1.0
    check = partial(search.look_up, at_most=False)
    for relative in (1e-13, 1e-12, 1e-11, 1e-10):
        try:
            return SparseCholesky(matrix, plan, shift=relative * scale, check=check)
        except np.linalg.LinAlgError:  # the next shift
            continue
        except OutOfTimeError:
            break
    return None
