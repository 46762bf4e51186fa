"""Products of matrices, the same bits on every processor and for any number of threads; and work that threads share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import inner, product
from gnomon._run import current_run
from gnomon._threads import ThreadPool, in_order, single_threaded_blas

__all__ = ["inner", "inner_products", "product", "share"]

Float64Array = npt.NDArray[np.float64]

T = TypeVar("T")
R = TypeVar("R")

_ROWS = 2048  # whose inner products are summed at a time, whatever the number of threads


def inner_products(A: Float64Array) -> Float64Array:
    """Return A' A.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float64

    Returns
    -------
    ndarray of shape (n_columns, n_columns), float64
        Symmetric.
    """
    order = A.shape[1]

    def part(begin: int) -> Float64Array:
        result = np.empty((order, order))
        _core.inner_products(np.ascontiguousarray(A[begin : begin + _ROWS]), result)
        return result

    total = np.zeros((order, order))
    for one in in_order(part, range(0, A.shape[0], _ROWS)):
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
