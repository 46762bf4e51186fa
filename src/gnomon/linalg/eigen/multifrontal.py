"""Cholesky factors of sparse symmetric matrices, eliminated by dense fronts whose cost is known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._run import current_run

__all__ = ["Elimination", "SparseCholesky", "plan_elimination"]

Float64Array = npt.NDArray[np.float64]
Int32Array = npt.NDArray[np.int32]
Check = Callable[[int, int], None]


@dataclass(frozen=True)
class Elimination:
    """In which order the rows of a sparse symmetric matrix are eliminated, and what it costs.

    Attributes
    ----------
    order : ndarray of shape (n_samples,), int32
        The row in each place of the order.
    starts : ndarray of shape (n_fronts + 1,), int32
        Front f eliminates the places from starts[f] to starts[f + 1].
    parents : ndarray of shape (n_fronts,), int32
        The front that takes up what is left of this one; -1 if nothing is.
    offsets : ndarray of shape (n_fronts + 1,), int64
    places : ndarray of shape (offsets[-1],), int32
        Later places that front f touches, ascending: places[offsets[f] : offsets[f + 1]].
    n_entries : float
        Numbers in memory at once.
    n_operations : float
        Multiplications and additions.
    """

    order: Int32Array
    starts: Int32Array
    parents: Int32Array
    offsets: npt.NDArray[np.int64]
    places: Int32Array
    n_entries: float
    n_operations: float

    @property
    def n_fronts(self) -> int:
        """Number of dense blocks; 0 if the plan was given up because the factor is too large."""
        return int(self.parents.shape[0])


def plan_elimination(matrix: Any, *, max_entries: float) -> Elimination:
    """Order the rows of a sparse symmetric matrix by minimum degree and find the structure of its Cholesky factor.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
        Its pattern counts alone.
    max_entries : float
        The plan is given up, and has no fronts, if the factor has more entries.

    Returns
    -------
    Elimination
    """
    offsets, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    order = _minimum_degree(matrix)
    return Elimination(*_core.plan_fronts(offsets, columns, order, float(max_entries)))


def _minimum_degree(matrix: Any) -> Int32Array:
    """Return the order that SuperLU finds; its incomplete factorization of the pattern, told to drop all, is cheap."""
    from scipy.sparse.linalg import spilu  # loaded with LAPACK, when first asked for

    n = matrix.shape[0]
    values = np.full(matrix.nnz, -1.0 / n)
    pattern = (
        scipy.sparse.csc_matrix((values, matrix.indices, matrix.indptr), shape=(n, n))
        + scipy.sparse.eye_array(n, format="csc") * 2.0
    )
    factor = spilu(
        scipy.sparse.csc_matrix(pattern),
        drop_tol=1.0,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    order: Int32Array = np.argsort(factor.perm_c).astype(np.int32)
    return order


_OPERATIONS = 1e8  # after which the caller is asked whether to go on
_SHARES = 1000  # in which the work of a factor is told
_PUT_TOGETHER, _NEW_MEMORY, _KEPT = 90.0, 110.0, 2.0**22
"""Operations that an entry of a front takes the time of, and one more whose block of numbers is larger than the memory
that allocators keep, in numbers. Fitted to the fronts of 9,000 drawn rows: up to any column they took the share of the
time that is told within 2 %, within 5 % for 6,000 rows of MNIST in 50 components and 2 % for 9,000 of 784 pixels."""
_SOLVED_WITH = 300.0  # those of a number of the factor in the solves that follow, about six with five columns


def _no_check(done: int, total: int) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class _Work:
    """What a factor and the solves that follow take, in operations.

    Attributes
    ----------
    starts : ndarray of shape (n_fronts + 1,), int32
        As in `Elimination`.
    sides : ndarray of shape (n_fronts,), float64
        Rows of each front, those it eliminates and those below.
    made : ndarray of shape (n_fronts,), float64
        To put each front together.
    before : ndarray of shape (n_fronts + 1,), float64
        Done before each front is put together.
    total : float
        With the solves.
    """

    starts: Int32Array
    sides: Float64Array
    made: Float64Array
    before: Float64Array
    total: float

    @classmethod
    def of(cls, plan: Elimination) -> Self:
        """Return that of a plan."""
        pivots, below = np.diff(plan.starts).astype(np.float64), np.diff(plan.offsets).astype(np.float64)
        sides = pivots + below
        new = sum(block * (block > _KEPT) for block in (pivots * sides, below**2))
        made = _PUT_TOGETHER * sides**2 + _NEW_MEMORY * new
        before = np.append(0.0, np.cumsum(made + _eliminated(pivots, sides) + pivots * below**2))
        total = float(before[-1] + _SOLVED_WITH * (pivots * sides).sum())
        return cls(plan.starts, sides, made, before, total)

    def done(self, place: int) -> float:
        """Return what is done when the rows before a place are eliminated: a column costs more the later it is."""
        front = int(np.searchsorted(self.starts, place, side="right")) - 1
        columns = place - int(self.starts[front])
        if columns == 0:
            return float(self.before[front])
        return float(self.before[front] + self.made[front] + _eliminated(columns, self.sides[front]))


def _eliminated(columns: Any, side: Any) -> Any:
    """Return the operations by which the first columns of a front are found, each from those before."""
    return columns**2 * (side - 2.0 / 3.0 * columns)


class SparseCholesky:
    """The factor of a symmetric positive definite matrix, L L' = matrix + shift * I: the same bits on every processor.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
        Both triangles.
    plan : Elimination
        Of a matrix of this pattern.
    shift : float, default=0.0
        Added to the diagonal.
    check : callable, default: does nothing
        Called now and then with what is done and 1000, thousandths of the work of this and of a few solves; raises to
        give up.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a pivot is not positive.
    """

    def __init__(self, matrix: Any, plan: Elimination, *, shift: float = 0.0, check: Check = _no_check) -> None:
        self._order = plan.order
        planned = plan.starts, plan.parents, plan.offsets, plan.places
        self._factor = _core.SparseFactor(*planned, *_entries(matrix, plan), shift)
        work, place = _Work.of(plan), 0
        check(0, _SHARES)
        while place < len(plan.order):
            place = self._factor.advance(_OPERATIONS, current_run().n_threads)
            if not place:
                raise np.linalg.LinAlgError("a pivot is not positive")
            check(int(_SHARES * work.done(place) / work.total), _SHARES)

    def solve(self, B: Float64Array) -> Float64Array:
        """Return the solution of (matrix + shift * I) X = B.

        Parameters
        ----------
        B : ndarray of shape (n_samples, n_columns), float64

        Returns
        -------
        ndarray of shape (n_samples, n_columns), float64
            Each column depends on the same one of B alone.
        """
        X = np.ascontiguousarray(B[self._order])
        self._factor.solve(X, current_run().n_threads)
        solution = np.empty_like(X)
        solution[self._order] = X
        return solution


def _entries(
    matrix: Any, plan: Elimination
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32], Float64Array]:
    """Return the lower triangle of a matrix by fronts: their ranges, and rows, columns and values of the entries."""
    n = matrix.shape[0]
    place_of = np.empty(n, dtype=np.int64)
    place_of[plan.order] = np.arange(n)
    rows = place_of[np.repeat(np.arange(n), np.diff(matrix.indptr))]
    columns = place_of[matrix.indices]
    lower = rows >= columns
    front_of = np.repeat(np.arange(plan.n_fronts), np.diff(plan.starts))
    rows, columns, values = rows[lower], columns[lower], np.asarray(matrix.data, dtype=np.float64)[lower]
    fronts = front_of[columns]
    begins, ends = plan.starts[:-1].astype(np.int64), plan.starts[1:].astype(np.int64)
    order = np.argsort(fronts, kind="stable")
    rows, columns, values, fronts = rows[order], columns[order], values[order], fronts[order]
    # Where a row stands among the later places of its front: one search in all of them at once.
    keys = np.repeat(np.arange(plan.n_fronts), np.diff(plan.offsets)) * n + plan.places
    later = np.searchsorted(keys, fronts * n + rows) - plan.offsets[fronts] + (ends - begins)[fronts]
    rows = np.where(rows < ends[fronts], rows - begins[fronts], later).astype(np.int32)
    ranges = np.searchsorted(fronts, np.arange(plan.n_fronts + 1)).astype(np.int64)
    return ranges, rows, (columns - begins[fronts]).astype(np.int32), values
