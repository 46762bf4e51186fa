"""Weighted rows as a plain table: principal components of rows that stand for several.

Rows x_i of weights w_i have the mean mu = sum_i w_i x_i / sum_i w_i and the scatter matrix Z'Z with the rows z_i =
sqrt(w_i) (x_i - mu). Z'q = 0 for q = sqrt(w) / |sqrt(w)|, and the reflection R that swaps q and the constant vector 1 /
sqrt(n) keeps products: RZ has the scatter matrix of Z, and its columns sum to 0. So the principal components of the
plain table RZ, by any solver, are those of the weighted rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length, product
from gnomon._memory import ALWAYS_THERE, require_memory

__all__ = ["Reflection", "reflected_rows"]

Float64Array = npt.NDArray[np.float64]

_ROWS = 4096  # centred at a time


class Reflection:
    """The reflection that swaps the roots of weights, made a unit vector, and the constant unit vector.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,), float64
        Positive.
    """

    def __init__(self, weights: Float64Array) -> None:
        roots = np.sqrt(weights)
        axis = roots / length(roots) - 1.0 / np.sqrt(len(weights))
        size = length(axis)
        self._axis = axis / size if size > 0.0 else np.zeros_like(axis)  # equal weights: nothing to swap

    def __call__(self, columns: Any) -> Float64Array:
        """Reflect columns, of shape (n_rows, n_columns)."""
        return np.asarray(columns - 2.0 * np.outer(self._axis, product(columns.T, self._axis)), dtype=np.float64)

    def add(self, table: npt.NDArray[Any]) -> None:
        """Reflect the columns of a table in its place, some rows at a time."""
        total = np.zeros(table.shape[1])
        for begin in range(0, len(table), _ROWS):
            total += product(
                table[begin : begin + _ROWS].T.astype(np.float64, copy=False), self._axis[begin : begin + _ROWS]
            )
        for begin in range(0, len(table), _ROWS):
            rows = slice(begin, begin + _ROWS)
            table[rows] = table[rows] - 2.0 * np.outer(self._axis[rows], total)


def reflected_rows(X: Any, weights: Float64Array) -> tuple[npt.NDArray[Any], Float64Array]:
    """Return a centred table with the scatter matrix of weighted rows, and their mean.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR, of shape (n_samples, n_features)
        CSR is written out: a weighted table is as large as a dense one.
    weights : ndarray of shape (n_samples,), float64
        Positive.

    Returns
    -------
    table : ndarray of shape (n_samples, n_features), float32 for float32 X, else float64
    mean : ndarray of shape (n_features,), float64

    Raises
    ------
    MemoryError
        If a sparse table does not fit in memory when written out.
    """
    n, width = X.shape
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    sparse = hasattr(X, "tocsr")
    needed = float(np.dtype(dtype).itemsize) * n * width
    if sparse and needed > ALWAYS_THERE:
        fact, remedy = "with sample_weight it is written out", "Repeat the rows instead, or use fewer."
        require_memory(f"X of {n} x {width} numbers", needed, fact=fact, remedy=remedy)

    def block(begin: int) -> Float64Array:
        rows = X[begin : begin + _ROWS]
        return np.asarray(rows.toarray() if sparse else rows, dtype=np.float64)

    total, first = float(weights.sum()), block(0)[0]  # digits stay where rows lie far from the origin
    shift = np.zeros(width)
    for begin in range(0, n, _ROWS):
        shift += product((block(begin) - first).T, weights[begin : begin + _ROWS])
    mean = first + shift / total
    table = np.empty((n, width), dtype=dtype)
    for begin in range(0, n, _ROWS):
        roots = np.sqrt(weights[begin : begin + _ROWS, None])
        table[begin : begin + _ROWS] = roots * (block(begin) - mean)
    Reflection(weights).add(table)
    return table, mean
