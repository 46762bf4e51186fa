"""Products of matrices, the same bits on every processor and for any number of threads; and work that threads share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import SparseTimes, dense_product, inner, product, sparse_product
from gnomon._run import current_run
from gnomon._threads import ThreadPool, in_order, single_threaded_blas

__all__ = [
    "SparseTimes",
    "dense_product",
    "inner",
    "inner_products",
    "product",
    "row_products",
    "share",
    "sparse_product",
    "sum_of_squares",
]

Float64Array = npt.NDArray[np.float64]

T = TypeVar("T")
R = TypeVar("R")

_ROWS = 2048  # whose inner products are summed at a time, whatever the number of threads
_LARGE = 1024  # columns above which one block at a time is formed, by all threads: several results are much memory
_WORTH_A_POOL = 1e8  # products of numbers, some ms of one core: threads of a pool take one to begin and to end


def inner_products(A: npt.NDArray[np.floating], dtype: type[np.floating] | None = None) -> Float64Array:
    """Return A' A.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float32 or float64
    dtype : numpy.float32, numpy.float64 or None, default=None
        Type in which the numbers are multiplied and summed over 256 rows, in double beyond; None is that of A.

    Returns
    -------
    ndarray of shape (n_columns, n_columns), float64
        Symmetric.
    """
    kind: Any = A.dtype if dtype is None else dtype

    def part(begin: int) -> npt.NDArray[np.floating]:
        return A[begin : begin + _ROWS].astype(kind, copy=False)

    return sum_of_squares(part, A.shape[0], A.shape[1], step=_ROWS)


def row_products(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return X X', in the type of X.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), float32 or float64

    Returns
    -------
    ndarray of shape (n_rows, n_rows), of the type of X
        Symmetric; equal rows have equal products.
    """
    found = np.empty((len(X), len(X)), X.dtype)
    _core.inner_products(np.ascontiguousarray(X.T), found, current_run().n_threads)
    return found


def sum_of_squares(part: Callable[[int], npt.NDArray[Any]], length: int, order: int, *, step: int) -> Float64Array:
    """Return the sum of B'B over the blocks B of a table.

    Parameters
    ----------
    part : callable
        Takes the first row of a block to the block, of shape (at most step, order).
    length : int
        Rows of the table.
    order : int
        Its columns.
    step : int
        Rows of a block. Products are summed in the type of the blocks over 256 rows, in double beyond.

    Returns
    -------
    ndarray of shape (order, order), float64
        Symmetric. The same bits on every processor.
    """

    def of_block(begin: int, result: Float64Array | None = None) -> Float64Array:
        result = np.empty((order, order)) if result is None else result
        _core.inner_products(np.ascontiguousarray(part(begin)), result, current_run().n_threads)
        return result

    total, begins = np.zeros((order, order)), range(0, length, step)
    if length * order**2 < _WORTH_A_POOL or order > _LARGE:
        one = np.empty((order, order))
        for begin in begins:
            total += of_block(begin, one)
        return total
    for one in in_order(of_block, begins):
        total += one
    return total


def share(work: Callable[[T], R], parts: list[T]) -> list[R]:
    """Return what a work gives for each part, in their order; BLAS keeps to one thread in each.

    Parameters
    ----------
    work : callable
        Takes a part; must not ask for `single_threaded_blas` itself.
    parts : list
        Must not depend on the number of threads, then neither does the result.

    Returns
    -------
    list
    """
    n_threads = current_run().n_threads
    with single_threaded_blas():
        if n_threads == 1 or len(parts) < 2:
            return [work(part) for part in parts]
        with ThreadPool(min(n_threads, len(parts))) as pool:
            return list(pool.map(work, parts))  # raises what a part raised
