"""Products of matrices, exp, log, powers, angles: the same bits on every processor, unlike those of BLAS and libm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._run import current_run

__all__ = [
    "SparseTimes",
    "arctan2",
    "dense_product",
    "exp",
    "expm1",
    "geometric",
    "inner",
    "isotonic_levels",
    "length",
    "log",
    "log1p",
    "pair_distances",
    "power",
    "product",
    "row_distances",
    "row_hashes",
    "softplus",
    "sparse_product",
    "squared_lengths",
    "weighted_sums",
]

Float64Array = npt.NDArray[np.float64]

_TOGETHER = 1 << 15  # numbers squared at a time, which stay in the cache
_PAIRED = 128  # rows whose distances to later ones are found together
_HALVINGS, _TERMS = 3, 9  # of an angle, and of the series for what is left: to a 1e-18th of it


def exp(x: npt.ArrayLike, *, out: npt.NDArray[Any] | None = None) -> Any:
    """Return e^x of numbers, to two units in the last place.

    Parameters
    ----------
    x : array-like of float32 or float64
    out : ndarray of the shape of x, default=None
        Where to write it; may be x.

    Returns
    -------
    ndarray, or a number where x is one
        float32 where x is, else float64.
    """
    return _of_each(_core.exp, x, out)


def expm1(x: npt.ArrayLike, *, out: npt.NDArray[Any] | None = None) -> Any:
    """Return e^x - 1, of full relative accuracy near 0; see `exp`."""
    return _of_each(_core.expm1, x, out)


def log(x: npt.ArrayLike, *, out: npt.NDArray[Any] | None = None) -> Any:
    """Return the natural logarithm, to one unit in the last place; -inf of 0 and NaN below, without a warning."""
    return _of_each(_core.log, x, out)


def log1p(x: npt.ArrayLike, *, out: npt.NDArray[Any] | None = None) -> Any:
    """Return log(1 + x) for x >= -1, of full relative accuracy near 0; see `log`."""
    return _of_each(_core.log1p, x, out)


def power(x: npt.ArrayLike, p: float, *, out: npt.NDArray[Any] | None = None) -> Any:
    """Return x^p for x >= 0, to about 2 + ``|p log x| / 2`` units in the last place; see `exp`."""
    return _of_each(lambda values, found, n_threads: _core.power(values, float(p), found, n_threads), x, out)


def geometric(start: float, stop: float, number: int) -> Float64Array:
    """Return numbers from start > 0 to stop > 0, each as many times the one before, as NumPy's `geomspace` does."""
    found: Float64Array = exp(np.linspace(log(start), log(stop), number))
    found[[0, -1]] = start, stop
    return found


def softplus(x: npt.ArrayLike) -> Any:
    """Return log(1 + e^x), of full relative accuracy; see `exp`."""
    given = np.asarray(x, dtype=np.float64)
    found = np.abs(given, out=np.empty(given.shape))
    np.negative(found, out=found)
    log1p(exp(found, out=found), out=found)
    np.add(found, given, out=found, where=given > 0.0)
    return found[()]


def arctan2(y: npt.ArrayLike, x: npt.ArrayLike) -> Any:
    """Return the angle from the first axis to (x, y), finite, to six units in the last place; signs as in C.

    Angles are halved three times, to at most pi / 32, and summed up by the series of the arctangent.
    """
    across, along = np.abs(np.asarray(y, dtype=np.float64)), np.abs(np.asarray(x, dtype=np.float64))
    larger = np.maximum(across, along)
    tangent = np.minimum(across, along) / np.where(larger == 0.0, 1.0, larger)
    for _ in range(_HALVINGS):
        tangent = tangent / (1.0 + np.sqrt(1.0 + tangent * tangent))
    square, series = tangent * tangent, np.zeros_like(tangent)
    for k in reversed(range(_TERMS)):
        series = (1.0 if k % 2 == 0 else -1.0) / (2 * k + 1) + square * series
    angle = 2.0**_HALVINGS * tangent * series
    angle = np.where(across > along, math.pi / 2.0 - angle, angle)
    return np.copysign(np.where(np.signbit(x), math.pi - angle, angle), y)[()]


def _of_each(function: Callable[..., None], x: npt.ArrayLike, out: npt.NDArray[Any] | None) -> Any:
    given = np.asarray(x)
    values = np.ascontiguousarray(given, dtype=np.float64).reshape(-1)
    in_place = out is not None and out.dtype == np.float64 and out.flags.c_contiguous
    found = out.reshape(-1) if in_place and out is not None else np.empty(values.shape)
    function(values, found, current_run().n_threads)
    if in_place:
        return out
    shaped = found.reshape(given.shape).astype(np.float32 if given.dtype == np.float32 else np.float64, copy=False)
    if out is not None:
        out[...] = shaped
        return out
    return shaped[()]


def squared_lengths(A: Any, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """Return the sum of the squares of each row.

    `numpy.einsum` multiplies and adds at once on some processors, with other last bits.

    Parameters
    ----------
    A : ndarray or sparse array of shape (n_rows, n_columns), float32 or float64
    dtype : dtype, default=None
        Of the squares and their sums, of a sparse array of the sums alone; None is that of A.

    Returns
    -------
    ndarray of shape (n_rows,), of that type
    """
    if not isinstance(A, np.ndarray):
        return np.asarray(A.multiply(A).sum(axis=1), dtype=dtype or A.dtype).reshape(-1)
    found = np.empty(len(A), dtype=dtype or A.dtype)
    step = max(1, _TOGETHER // max(1, A.shape[1]))
    for begin in range(0, len(A), step):
        some = slice(begin, begin + step)
        np.square(A[some], dtype=found.dtype, order="C").sum(axis=1, out=found[some])
    return found


def row_distances(A: npt.NDArray[Any], B: npt.NDArray[Any], *, squared: bool = False) -> Float64Array:
    """Return the Euclidean distances, or their squares, between all rows of A and B, from differences of their columns.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns)
    B : ndarray of shape (n_others, n_columns)
    squared : bool, default=False

    Returns
    -------
    ndarray of shape (n_rows, n_others), float64
        Squares are added in the order of the columns, unlike those of SciPy on some processors.
    """
    left, right = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (A, B))
    found = np.empty((len(left), len(right)))
    _core.row_distances(left, right, squared, found, current_run().n_threads)
    return found


def pair_distances(A: npt.NDArray[Any], *, squared: bool = False) -> Float64Array:
    """Return those of all pairs i < j of rows, row by row, see `row_distances`."""
    parts = [np.empty(0)]
    for begin in range(0, len(A) - 1, _PAIRED):
        block = row_distances(A[begin : begin + _PAIRED], A[begin:], squared=squared)
        parts += [row[i + 1 :] for i, row in enumerate(block)]
    return np.concatenate(parts)


def row_hashes(X: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return a number for each row: the same for equal rows, where -0.0 equals 0.0, and hardly ever for others.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
        Finite, in rows.

    Returns
    -------
    ndarray of shape (n_samples,), uint64
        A function of the row alone.
    """
    return np.asarray(_core.row_hashes(X, current_run().n_threads))


def weighted_sums(weights: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum over j of weights[i, j] values[i, j] for each i, without `numpy.einsum`: see `squared_lengths`.

    Parameters
    ----------
    weights : ndarray of shape (m, k)
    values : ndarray of shape (m, k, ...)

    Returns
    -------
    ndarray of shape (m, ...)
    """
    return np.asarray((weights.reshape(weights.shape + (1,) * (values.ndim - 2)) * values).sum(axis=1))


def product(A: npt.NDArray[Any], B: npt.NDArray[Any], *, out: Float64Array | None = None) -> Float64Array:
    """Return A B.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_inner), float64
    B : ndarray of shape (n_inner, n_columns) or (n_inner,), float64
        Transposes of matrices in rows are taken as they are.
    out : ndarray of shape (n_rows, n_columns), float64, default=None
        Where to write it, row by row; must not overlap A or B.

    Returns
    -------
    ndarray of shape (n_rows, n_columns) or (n_rows,), float64
        `out`, if given.
    """
    columns = B if B.ndim == 2 else B[:, None]
    result = np.empty((A.shape[0], columns.shape[1])) if out is None else out
    _core.product(*_in_rows(A), *_in_rows(columns), result, current_run().n_threads)
    return result if B.ndim == 2 else result[:, 0]


def _in_rows(A: npt.NDArray[Any]) -> tuple[Float64Array, bool]:
    """Return a matrix or its transpose, whichever lies row by row, and whether it is the transpose."""
    if A.flags.f_contiguous and not A.flags.c_contiguous:
        return np.asarray(A.T, dtype=np.float64), True
    return np.ascontiguousarray(A, dtype=np.float64), False


class SparseTimes:
    """The product with a sparse matrix, which is checked once; terms in the order of the columns.

    SciPy multiplies and adds at once on some processors, with other last bits.

    Parameters
    ----------
    A : sparse matrix or array of shape (n_rows, n_inner), float32 or float64
        Its arrays must not change while the product lives.
    """

    def __init__(self, A: Any) -> None:
        self._matrix, self._table = A, _sparse_table(A)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let copies and pickles check the matrix again."""
        return SparseTimes, (self._matrix,)

    def __call__(self, X: npt.NDArray[Any]) -> Float64Array:
        """Return A X for X of shape (n_inner, n_columns) or (n_inner,)."""
        columns = np.ascontiguousarray(X if X.ndim == 2 else X[:, None], dtype=np.float64)
        result = np.empty((self._matrix.shape[0], columns.shape[1]))
        _core.sparse_product(self._table, columns, result, current_run().n_threads)
        return result if X.ndim == 2 else result[:, 0]


def sparse_product(A: Any, B: Any) -> Any:
    """Return A B for a sparse A; see `SparseTimes`.

    Parameters
    ----------
    A : sparse matrix or array of shape (n_rows, n_inner), float32 or float64
    B : ndarray of shape (n_inner, n_columns) or (n_inner,), or sparse matrix or array
        Numbers that are not of float64 become so.

    Returns
    -------
    ndarray of shape (n_rows, n_columns) or (n_rows,), float64
        For a sparse B a csr_array, with an entry for every pair of stored entries that meet.
    """
    if isinstance(B, np.ndarray):
        return SparseTimes(A)(B)
    left, right = (_sparse_table(one.astype(np.float64, copy=False)) for one in (A, B))
    offsets, columns, values = _core.sparse_by_sparse(left, right, current_run().n_threads)
    if len(values) <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    found = scipy.sparse.csr_array((values, columns, offsets), shape=(A.shape[0], B.shape[1]))
    found.has_canonical_format = True
    return found


def dense_product(A: Any, B: Any) -> Float64Array:
    """Return A B written out, for sparse A and B: the numbers of `sparse_product`.

    Parameters
    ----------
    A : sparse matrix or array of shape (n_rows, n_inner)
    B : sparse matrix or array of shape (n_inner, n_columns)

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
    """
    found = np.empty((A.shape[0], B.shape[1]))
    left, right = (_sparse_table(one.astype(np.float64, copy=False)) for one in (A, B))
    _core.dense_product(left, right, found, current_run().n_threads)
    return found


def _sparse_table(A: Any) -> _core.Table:
    matrix = A.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    offsets = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    columns = np.ascontiguousarray(matrix.indices, dtype=np.int32)
    values = np.ascontiguousarray(matrix.data, dtype=np.float32 if matrix.dtype == np.float32 else np.float64)
    return _core.Table(offsets, columns, values, int(matrix.shape[1]))


def inner(A: npt.NDArray[Any], B: npt.NDArray[Any]) -> float:
    """Return the sum of the products of the entries."""
    return float(np.sum(A * B))


def length(A: npt.NDArray[Any]) -> float:
    """Return the root of the sum of squares of all entries."""
    return math.sqrt(inner(A, A))


def isotonic_levels(values: npt.NDArray[Any], weights: npt.NDArray[Any] | None = None) -> Float64Array:
    """Return the ascending numbers nearest to given ones, by the weighted sum of squared differences.

    SciPy, which has the same, multiplies and adds at once on some processors, with other last bits.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weights : ndarray of shape (n,), default=None
        Positive; None weighs all alike.

    Returns
    -------
    ndarray of shape (n,), float64
    """
    levels = np.array(values, dtype=np.float64, order="C")
    _core.isotonic_levels(levels, np.ones(len(levels)) if weights is None else np.array(weights, dtype=np.float64))
    return levels
