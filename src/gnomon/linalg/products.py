"""Products of large matrices in tiles, which threads share without changing a bit of the result."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas

__all__ = ["inner_products", "product", "share"]

Float64Array = npt.NDArray[np.float64]

T = TypeVar("T")
R = TypeVar("R")

_TILE = 512  # rows or columns; the tiles do not depend on the number of threads


def inner_products(A: Float64Array) -> Float64Array:
    """Return A' A, of which each tile is one product of whole columns.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float64

    Returns
    -------
    ndarray of shape (n_columns, n_columns), float64
        Symmetric.
    """
    result = np.empty((A.shape[1], A.shape[1]))

    def fill(pair: tuple[slice, slice]) -> None:
        one, other = pair
        tile = A[:, one].T @ A[:, other]
        result[one, other] = tile
        if one != other:
            result[other, one] = tile.T

    share(fill, list(combinations_with_replacement(_tiles(A.shape[1]), 2)))
    return result


def product(A: Float64Array, B: Float64Array, *, out: Float64Array | None = None) -> Float64Array:
    """Return A B, some rows at a time.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_inner), float64
    B : ndarray of shape (n_inner, n_columns), float64
    out : ndarray of shape (n_rows, n_columns), float64, default=None
        Where to write it; must not overlap A or B.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        `out`, if given.
    """
    result = np.empty((A.shape[0], B.shape[1])) if out is None else out

    def fill(rows: slice) -> None:
        np.matmul(A[rows], B, out=result[rows])

    share(fill, _tiles(A.shape[0]))
    return result


def _tiles(size: int) -> list[slice]:
    return [slice(begin, min(begin + _TILE, size)) for begin in range(0, size, _TILE)]


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
