"""Bottom eigenvectors of sparse positive semidefinite matrices, by solvers whose cost is known or bounded."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon._threads import single_threaded_blas
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.eigen.block_krylov import new_directions
from gnomon.linalg.eigen.block_preconditioner import principal_parts, smooth_vectors
from gnomon.linalg.eigen.multifrontal import Elimination, SparseCholesky, plan_elimination
from gnomon.linalg.signs import with_signs

__all__ = ["MAX_FACTOR_ENTRIES", "BottomEigenpairs", "bottom_eigenpairs"]

Float64Array = npt.NDArray[np.float64]

MAX_FACTOR_ENTRIES = 4e8
"""Numbers in memory (8 bytes each) that a factor may need by default."""

_LARGEST_DENSE = 600  # rows; the dense eigenproblem then takes some hundredths of a second
_STREAM_START = 123
_ROUNDING = 1e-13  # residuals below this share of the norm of the matrix are rounding
_MAX_STEPS = 60
_MAX_WIDTH = 12  # blocks kept before a restart
_MAX_DESCENTS, _MAX_BASIS, _KEPT = 200, 120, 60

_RULES: dict[str, Rule] = {
    "n_vectors": Integer(1),
    "tolerance": Real(0.0, low_open=True),
    "seed": Integer(0),
    "solver": Options("auto", "dense", "factor", "descent"),
    "max_entries": Real(1.0),
    "max_operations": Real(1.0),
    "time_budget": Either(Nothing(), Real(0.0)),
}


@dataclass(frozen=True)
class BottomEigenpairs:
    """The algebraically smallest eigenvalues of a symmetric matrix, a known null vector left out.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, n_vectors), float64
        Orthonormal columns by rising eigenvalue, orthogonal to the null vector; the entry of largest magnitude of each
        is positive.
    eigenvalues : ndarray of shape (n_vectors,), float64
        Not below 0.
    residuals : ndarray of shape (n_vectors,), float64
        |M v - lambda v| of each vector.
    converged : bool
        Whether the residuals are below the tolerance times the largest eigenvalue asked for, or below the rounding of
        the products, 1e-13 times the norm of the matrix.
    out_of_time : bool
        Whether the time budget ended the search; the result then depends on the machine's speed.
    solver : {"dense", "factor", "descent"}
        How they were found.
    """

    vectors: Float64Array
    eigenvalues: Float64Array
    residuals: Float64Array
    converged: bool
    out_of_time: bool
    solver: str


def bottom_eigenpairs(
    matrix: Any,
    n_vectors: int,
    *,
    null_vector: Float64Array | None = None,
    tolerance: float = 1e-6,
    seed: int = 0,
    solver: str = "auto",
    max_entries: float = MAX_FACTOR_ENTRIES,
    max_operations: float = 4e12,
    time_budget: float | None = None,
    report: Callable[[int, int], bool] | None = None,
    who: str = "bottom_eigenpairs",
) -> BottomEigenpairs:
    """Find the smallest eigenvalues of a sparse positive semidefinite matrix and their vectors.

    The null vector that is known beforehand is left out by itself, not every vector of eigenvalue zero: those that
    remain are wanted, such as the coordinates of flat data in locally linear embedding.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples), float64
        Symmetric and positive semidefinite, both triangles stored.
    n_vectors : int in [1, n_samples - 1]
        Vectors wanted.
    null_vector : ndarray of shape (n_samples,) or None, default=None
        A vector that the matrix maps to zero; the result is orthogonal to it. None: nothing is left out.
    tolerance : float > 0, default=1e-6
        On the residuals, relative to the largest eigenvalue asked for.
    seed : int in [0, 2**63), default=0
        Of the random start.
    solver : {"auto", "dense", "factor", "descent"}, default="auto"
        "dense": LAPACK. "factor": Krylov spaces of the inverse by a sparse Cholesky factor, whose size and work are
        counted before they are spent. "descent": a preconditioned search without a factor of the whole matrix, for
        those whose factor is too large; it may end without convergence. "auto" takes "dense" up to 600 rows, and
        "factor" within the two limits below.
    max_entries : float >= 1, default=4e8
        Numbers in memory (8 bytes each) that a factor may need.
    max_operations : float >= 1, default=4e12
        Multiplications and additions that a factor may need, some minutes of one core.
    time_budget : float or None, default=None
        Seconds after which the search ends early. It is bounded anyhow, so this is a last resort.
    report : callable or None, default=None
        Called with the work done and in all now and then; if it returns True the search ends with what it has.
    who : str, default="bottom_eigenpairs"
        Opens the error text.

    Returns
    -------
    BottomEigenpairs

    Raises
    ------
    ValueError
        If a value is out of range, or solver="factor" exceeds the limits.
    """
    given = {
        "n_vectors": n_vectors,
        "tolerance": tolerance,
        "seed": seed,
        "solver": solver,
        "max_entries": max_entries,
        "max_operations": max_operations,
        "time_budget": time_budget,
    }
    values = check_parameters(who, _RULES, given)
    n, n_vectors = int(matrix.shape[0]), values["n_vectors"]
    most = n - (null_vector is not None)
    if n_vectors > most:
        raise ValueError(message(who, f"n_vectors={n_vectors}", f"at most {most}", fact=f"n_samples={n}"))
    task = _Task(matrix, null_vector, values, report)
    if solver == "dense" or (solver == "auto" and (n <= _LARGEST_DENSE or 8 * n_vectors >= n)):
        return task.dense()
    if solver == "descent":
        return task.descent()
    plan = plan_elimination(matrix, max_entries=values["max_entries"])
    fits = plan.n_fronts > 0 and plan.n_entries <= values["max_entries"]
    if fits and plan.n_operations <= values["max_operations"]:
        return task.factor(plan)
    if solver == "factor":
        fact = f"the factor needs {plan.n_entries:.2g} numbers or more and {plan.n_operations:.2g} operations"
        rule = "'descent', or max_entries and max_operations larger"
        raise ValueError(message(who, "solver='factor'", rule, fact=fact))
    return task.descent()


class _OutOfTimeError(Exception):
    """The time budget is spent."""


class _Task:
    """One eigenproblem: the matrix, what is left out, and what ends the search."""

    def __init__(
        self,
        matrix: Any,
        null_vector: Float64Array | None,
        values: dict[str, Any],
        report: Callable[[int, int], bool] | None,
    ) -> None:
        self._matrix = matrix
        self._n = int(matrix.shape[0])
        self._n_vectors: int = values["n_vectors"]
        self._tolerance: float = values["tolerance"]
        self._seed: int = values["seed"]
        self._report = report
        budget = values["time_budget"]
        self._deadline = math.inf if budget is None else time.monotonic() + budget
        self._norm = float(abs(matrix).sum(axis=1).max()) if matrix.nnz else 0.0
        self._null: Float64Array | None = None
        if null_vector is not None:
            null = np.asarray(null_vector, dtype=np.float64)
            self._null = null / np.linalg.norm(null)

    # -- solvers --

    def dense(self) -> BottomEigenpairs:
        full = self._matrix.toarray().astype(np.float64)
        if self._null is not None:  # moved beyond the far end of the spectrum, so that no other vector mixes with it
            full += (2.0 * self._norm + 1.0) * np.outer(self._null, self._null)
        with single_threaded_blas():
            _, vectors = scipy.linalg.eigh(
                full, subset_by_index=[0, self._n_vectors - 1], check_finite=False, overwrite_a=True
            )
            return self._result(self._without_null(vectors), "dense", out_of_time=False)

    def factor(self, plan: Elimination) -> BottomEigenpairs:
        """Search the Krylov spaces of the inverse, block by block, until the residuals are small."""
        try:
            cholesky = self._factorize(plan)
        except (_OutOfTimeError, np.linalg.LinAlgError):
            return self.descent()
        with single_threaded_blas():
            vectors, out_of_time = self._inverse_krylov(cholesky.solve)
            return self._result(vectors, "factor", out_of_time=out_of_time)

    def descent(self) -> BottomEigenpairs:
        """Enlarge a space of smooth vectors by preconditioned residuals, as Davidson's method does."""
        with single_threaded_blas():
            vectors, out_of_time = self._davidson(smooth_vectors(self._matrix, self._seed))
            return self._result(vectors, "descent", out_of_time=out_of_time)

    # -- pieces --

    def _factorize(self, plan: Elimination) -> SparseCholesky:
        """Factor the matrix with the least shift that makes its pivots positive."""
        scale = float(self._matrix.diagonal().max()) or 1.0
        for relative in (1e-13, 1e-12, 1e-11, 1e-10):
            try:
                return SparseCholesky(self._matrix, plan, shift=relative * scale, check=self._look_up)
            except np.linalg.LinAlgError:
                continue
        raise np.linalg.LinAlgError("the matrix is not positive semidefinite")

    def _look_up(self, done: int, total: int) -> None:
        """Report; raise if the user or the time budget ends the search."""
        if (self._report is not None and self._report(done, total)) or time.monotonic() > self._deadline:
            raise _OutOfTimeError

    def _without_null(self, X: Float64Array) -> Float64Array:
        if self._null is None:
            return X
        deflated: Float64Array = X - np.outer(self._null, self._null @ X)
        return deflated

    def _inverse_krylov(self, solve: Callable[[Float64Array], Float64Array]) -> tuple[Float64Array, bool]:
        width = min(self._n_vectors + 3, self._n - 1)
        block = self._without_null(normal_matrix(self._seed, _STREAM_START, (self._n, width)))
        basis = np.empty((self._n, 0))
        images = np.empty((self._n, 0))
        best = block[:, : self._n_vectors]
        for step in range(_MAX_STEPS):
            block = new_directions(block, basis)
            if block.shape[1] == 0:  # the basis spans an invariant space
                return best, False
            try:
                self._look_up(step, _MAX_STEPS)
            except _OutOfTimeError:
                return best, True
            image = self._without_null(solve(block))
            basis, images = np.hstack([basis, block]), np.hstack([images, image])
            small = basis.T @ images
            inverses, rotation = scipy.linalg.eigh((small + small.T) / 2.0)
            order = np.argsort(inverses)[::-1]
            # The images are the Ritz vectors after one more inverse step, which smooths what M would magnify.
            best = images @ rotation[:, order[: self._n_vectors]]
            if self._accurate(best):
                return best, False
            if basis.shape[1] >= _MAX_WIDTH * width:
                kept = rotation[:, order[: 2 * width]]
                basis, images = basis @ kept, images @ kept
            block = image
        return best, False

    def _davidson(self, start: Float64Array) -> tuple[Float64Array, bool]:
        parts = principal_parts(self._matrix, start)
        width = self._n_vectors + 3
        basis = new_directions(self._without_null(start), np.empty((self._n, 0)))
        images = self._matrix @ basis
        best = basis[:, : self._n_vectors]
        for step in range(_MAX_DESCENTS):
            small = basis.T @ images
            eigenvalues, rotation = scipy.linalg.eigh((small + small.T) / 2.0)
            found, image = basis @ rotation[:, :width], images @ rotation[:, :width]
            best = found[:, : self._n_vectors]
            residuals = image - found * eigenvalues[:width]
            worst = float(np.linalg.norm(residuals[:, : self._n_vectors], axis=0).max())
            if worst <= self._limit(eigenvalues[: self._n_vectors]):
                return best, False
            try:
                self._look_up(step, _MAX_DESCENTS)
            except _OutOfTimeError:
                return best, True
            if basis.shape[1] + width > _MAX_BASIS:
                basis, images = basis @ rotation[:, :_KEPT], images @ rotation[:, :_KEPT]
            block = new_directions(self._without_null(parts.solve(residuals)), basis)
            if block.shape[1] == 0:
                return best, False
            basis, images = np.hstack([basis, block]), np.hstack([images, self._matrix @ block])
        return best, False

    def _rayleigh_ritz(self, vectors: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the eigenvalues in a space, its vectors by rising eigenvalue, and their residuals."""
        basis: Float64Array = np.linalg.qr(self._without_null(vectors / np.linalg.norm(vectors, axis=0)))[0]
        images = self._matrix @ basis
        small = basis.T @ images
        eigenvalues, rotation = scipy.linalg.eigh((small + small.T) / 2.0)
        found = basis @ rotation
        residuals: Float64Array = np.linalg.norm(images @ rotation - found * eigenvalues, axis=0)
        return eigenvalues, found, residuals

    def _limit(self, eigenvalues: Float64Array) -> float:
        return max(self._tolerance * float(eigenvalues[-1]), _ROUNDING * self._norm)

    def _accurate(self, vectors: Float64Array) -> bool:
        eigenvalues, _, residuals = self._rayleigh_ritz(vectors)
        return bool(residuals.max() <= self._limit(eigenvalues))

    def _result(self, vectors: Float64Array, solver: str, *, out_of_time: bool) -> BottomEigenpairs:
        eigenvalues, found, residuals = self._rayleigh_ritz(vectors)
        return BottomEigenpairs(
            vectors=with_signs(found),
            eigenvalues=np.maximum(eigenvalues, 0.0),
            residuals=residuals,
            converged=bool(residuals.max() <= self._limit(eigenvalues)),
            out_of_time=out_of_time,
            solver=solver,
        )
