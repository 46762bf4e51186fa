"""Products of matrices, exp, log, powers, angles: the same bits on every processor, unlike those of BLAS and libm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run

__all__ = [
    "arctan2",
    "exp",
    "expm1",
    "geometric",
    "inner",
    "length",
    "log",
    "log1p",
    "power",
    "product",
    "softplus",
    "squared_lengths",
]

Float64Array = npt.NDArray[np.float64]

_TOGETHER = 1 << 15  # numbers squared at a time, which stay in the cache
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


def expm1(x: npt.ArrayLike) -> Any:
    """Return e^x - 1, of full relative accuracy near 0; see `exp`."""
    return _of_each(_core.expm1, x, None)


def log(x: npt.ArrayLike, *, out: npt.NDArray[Any] | None = None) -> Any:
    """Return the natural logarithm, to one unit in the last place; -inf of 0 and NaN below, without a warning."""
    return _of_each(_core.log, x, out)


def log1p(x: npt.ArrayLike) -> Any:
    """Return log(1 + x) for x >= -1, of full relative accuracy near 0; see `log`."""
    return _of_each(_core.log1p, x, None)


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
    return np.maximum(given, 0.0) + log1p(exp(-np.abs(given)))


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


def squared_lengths(A: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum of the squares of each row.

    `numpy.einsum` multiplies and adds at once on some processors, with other last bits.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float32 or float64

    Returns
    -------
    ndarray of shape (n_rows,), of the type of A
    """
    found = np.empty(len(A), dtype=A.dtype)
    step = max(1, _TOGETHER // max(1, A.shape[1]))
    for begin in range(0, len(A), step):
        some = slice(begin, begin + step)
        np.square(A[some], order="C").sum(axis=1, out=found[some])
    return found


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


def inner(A: npt.NDArray[Any], B: npt.NDArray[Any]) -> float:
    """Return the sum of the products of the entries."""
    return float(np.sum(A * B))


def length(A: npt.NDArray[Any]) -> float:
    """Return the root of the sum of squares of all entries."""
    return math.sqrt(inner(A, A))
