"""Cholesky factors of sparse symmetric matrices, eliminated by dense fronts whose cost is known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import scipy.linalg.blas
import scipy.linalg.lapack
import scipy.sparse.linalg

from gnomon import _core
from gnomon._threads import single_threaded_blas

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
    n = matrix.shape[0]
    values = np.full(matrix.nnz, -1.0 / n)
    pattern = (
        scipy.sparse.csc_matrix((values, matrix.indices, matrix.indptr), shape=(n, n))
        + scipy.sparse.eye_array(n, format="csc") * 2.0
    )
    factor = scipy.sparse.linalg.spilu(
        scipy.sparse.csc_matrix(pattern),
        drop_tol=1.0,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    order: Int32Array = np.argsort(factor.perm_c).astype(np.int32)
    return order


_WIDE = 1024  # pivots; a wider front is factored in panels, between which Ctrl-C is heard
_TALL = 8192
_SHARES = 1000  # in which the work of a factor is told
_PUT_TOGETHER = 200.0  # operations that an entry of a front takes the time of
_SOLVED_WITH = 1000.0  # those of a number of the factor in the solves that follow, about four with five columns


def _cholesky(matrix: Float64Array, look_up: Callable[[float], None]) -> Float64Array:
    """Factor a dense column-major matrix in place, told how many operations it took; the upper triangle stays."""
    n = matrix.shape[0]
    if n <= _WIDE:
        factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("a pivot is not positive")
        result: Float64Array = factor
        return result
    for begin in range(0, n, _WIDE // 2):
        look_up(float(begin) ** 2 * (n - 2.0 * begin / 3.0))
        end = min(begin + _WIDE // 2, n)
        for top in range(begin, n, _TALL):
            rows = slice(top, min(top + _TALL, n))
            matrix[rows, begin:end] -= matrix[rows, :begin] @ matrix[begin:end, :begin].T
        corner = _cholesky(np.asfortranarray(matrix[begin:end, begin:end]), _no_look)
        matrix[begin:end, begin:end] = corner
        if end < n:
            panel = np.asfortranarray(matrix[end:, begin:end])
            matrix[end:, begin:end] = scipy.linalg.blas.dtrsm(1.0, corner, panel, side=1, lower=1, trans_a=1)
    return matrix


@dataclass(frozen=True)
class _Front:
    """Factored part of one front: places begin..end, the later places it touches, and their columns of the factor."""

    begin: int
    end: int
    places: Int32Array
    pivots: Float64Array  # (p, p) lower triangle, column-major
    below: Float64Array  # (q, p), column-major


def _no_check(done: int, total: int) -> None:
    """Do nothing."""


def _no_look(operations: float) -> None:
    """Do nothing."""


class SparseCholesky:
    """The factor of a symmetric positive definite matrix, L L' = matrix + shift * I.

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
        self._fronts: list[_Front] = []
        with single_threaded_blas():
            self._eliminate(_Entries(matrix, plan, shift), plan, check)

    def _eliminate(self, entries: _Entries, plan: Elimination, check: Check) -> None:
        pivots_of, below_of = np.diff(plan.starts).astype(np.float64), np.diff(plan.offsets).astype(np.float64)
        work = pivots_of**3 / 3.0 + pivots_of * below_of * (pivots_of + below_of)
        work += _PUT_TOGETHER * (pivots_of + below_of) ** 2
        done = np.append(0.0, np.cumsum(work))
        total = float(done[-1] + _SOLVED_WITH * (pivots_of * (pivots_of + below_of)).sum())

        def look_up(before: float, operations: float = 0.0) -> None:
            check(int(_SHARES * (before + operations) / total), _SHARES)

        look_up(0.0)
        waiting: list[list[tuple[Float64Array, Int32Array]]] = [[] for _ in range(plan.n_fronts)]
        for f in range(plan.n_fronts):
            begin, end = int(plan.starts[f]), int(plan.starts[f + 1])
            places = plan.places[plan.offsets[f] : plan.offsets[f + 1]]
            n_pivots, n_below = end - begin, places.shape[0]
            pivots, below = entries.front(f, n_pivots, n_below)
            rest = np.zeros((n_below, n_below), order="F")
            for child, child_places in waiting[f]:
                local = np.where(
                    child_places < end, child_places - begin, n_pivots + np.searchsorted(places, child_places)
                )
                _core.add_to_front(child, local.astype(np.int32), pivots, below, rest)
            waiting[f].clear()
            pivots = _cholesky(pivots, partial(look_up, float(done[f])))
            if n_below:
                below = scipy.linalg.blas.dtrsm(1.0, pivots, below, side=1, lower=1, trans_a=1, overwrite_b=1)
                rest = scipy.linalg.blas.dsyrk(-1.0, below, beta=1.0, c=rest, lower=1, overwrite_c=1)
                waiting[plan.parents[f]].append((rest, places))
            self._fronts.append(_Front(begin, end, places, pivots, below))
            if f % 16 == 0 or f == plan.n_fronts - 1:
                look_up(float(done[f + 1]))

    def solve(self, B: Float64Array) -> Float64Array:
        """Return the solution of (matrix + shift * I) X = B.

        Parameters
        ----------
        B : ndarray of shape (n_samples, n_columns), float64

        Returns
        -------
        ndarray of shape (n_samples, n_columns), float64
        """
        X = np.ascontiguousarray(B[self._order])
        dtrsm = scipy.linalg.blas.dtrsm
        with single_threaded_blas():
            for front in self._fronts:  # X' = X' L^-T, in the column-major view of the rows
                own = X[front.begin : front.end]
                own[:] = dtrsm(1.0, front.pivots, own.T, side=1, lower=1, trans_a=1).T
                if front.places.size:
                    X[front.places] -= front.below @ own
            for front in reversed(self._fronts):
                own = X[front.begin : front.end]
                if front.places.size:
                    own -= front.below.T @ X[front.places]
                own[:] = dtrsm(1.0, front.pivots, own.T, side=1, lower=1).T
        solution = np.empty_like(X)
        solution[self._order] = X
        return solution


class _Entries:
    """The lower triangle of a matrix, sorted by the front that eliminates it."""

    def __init__(self, matrix: Any, plan: Elimination, shift: float) -> None:
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
        inside = rows < ends[fronts]
        found = np.searchsorted(keys, fronts * n + rows) - plan.offsets[fronts]
        self._rows = np.where(inside, rows - begins[fronts], found)
        self._columns = columns - begins[fronts]
        self._inside, self._values, self._shift = inside, values, shift
        self._ranges = np.searchsorted(fronts, np.arange(plan.n_fronts + 1))

    def front(self, f: int, n_pivots: int, n_below: int) -> tuple[Float64Array, Float64Array]:
        """Return the entries of one front, its pivots (p, p) and what lies below (q, p), column-major."""
        mine = slice(self._ranges[f], self._ranges[f + 1])
        rows, columns, values, inside = (part[mine] for part in (self._rows, self._columns, self._values, self._inside))
        pivots, below = np.zeros((n_pivots, n_pivots), order="F"), np.zeros((n_below, n_pivots), order="F")
        pivots[rows[inside], columns[inside]] = values[inside]
        below[rows[~inside], columns[~inside]] = values[~inside]
        np.fill_diagonal(pivots, pivots.diagonal() + self._shift)
        return pivots, below
