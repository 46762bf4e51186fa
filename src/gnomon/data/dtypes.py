"""Which working precision an input is read in, and how arrays come to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["FloatArray", "cast", "floats_from_objects", "refuse_kind", "working_dtype"]

FloatArray = npt.NDArray[np.floating[Any]]
"""float32 or float64."""

_KINDS = {
    "U": "text",
    "S": "bytes",
    "M": "dates",
    "m": "time differences",
    "V": "records",
    "T": "text",
}


def working_dtype(dtype: np.dtype[Any]) -> type[np.float32] | type[np.float64]:
    """Return float32 if it holds every value of `dtype` exactly, else float64.

    The answer depends on the type alone, never on the values: a row is read in the same way in every batch. Wide
    integers become float64, because time stamps and identifiers lose their differences in float32.
    """
    if dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize <= 2) or (dtype.kind == "f" and dtype.itemsize <= 4):
        return np.float32
    return np.float64


def refuse_kind(array: npt.NDArray[Any], *, who: str) -> None:
    """Raise if the dtype of an array is not real numbers; object arrays pass, they are looked at value by value."""
    if array.dtype.kind == "c":
        raise ValueError(
            message(
                who,
                "X",
                "an array of real numbers",
                fact=f"Complex data not supported: found {array.dtype}",
                remedy="Pass X.real and X.imag as separate features.",
            )
        )
    if array.dtype.kind in _KINDS:
        raise TypeError(
            message(
                who,
                "X",
                "an array of numbers",
                fact=f"found {_KINDS[array.dtype.kind]}, dtype {array.dtype}",
                remedy="Convert it, for instance with X.astype(float), or leave these columns out.",
            )
        )


def cast(array: npt.NDArray[Any], dtype: type[np.float32] | type[np.float64] | None) -> FloatArray:
    """Return the values in C order and native byte order, with at most one copy."""
    target = working_dtype(array.dtype) if dtype is None else dtype
    with np.errstate(over="ignore"):  # what overflows is named by the check for finite values
        return np.ascontiguousarray(array, dtype=target)


def _is_missing(value: object) -> bool:
    # pandas.NA and polars' null cannot be compared, and pandas need not be installed: go by the name of the type.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def floats_from_objects(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], int | None]:
    """Read an object array as float64.

    Parameters
    ----------
    values : ndarray of any shape, dtype object
        Numbers; None, NaN, pandas.NA are missing.

    Returns
    -------
    floats : ndarray of the same shape, float64
        Missing values are NaN. Undefined if `bad` is not None.
    bad : int or None
        Flat position of the first value that is no real number. Text is not read as a number even if it could be.
    """
    flat = values.ravel()
    floats = np.empty(flat.shape, np.float64)
    for i, value in enumerate(flat):
        if _is_missing(value):
            floats[i] = np.nan
            continue
        if isinstance(value, (str, bytes, complex, np.complexfloating)):
            return floats.reshape(values.shape), i
        try:
            floats[i] = value
        except (TypeError, ValueError):
            return floats.reshape(values.shape), i
    return floats.reshape(values.shape), None
