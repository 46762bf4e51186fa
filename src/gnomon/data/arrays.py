"""Arrays, lists and whatever NumPy can read become one contiguous array of floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.dtypes import FloatArray, cast, floats_from_objects, refuse_kind
from gnomon.data.names import column_text

__all__ = ["read_array"]


def _as_array(X: Any, *, who: str) -> npt.NDArray[Any]:
    """Let NumPy read X; what it cannot read is refused with the reason it gives."""
    if isinstance(X, np.matrix):
        raise TypeError(
            message(
                who,
                "X",
                "an ordinary array",
                fact="np.matrix is not supported",
                remedy="Please convert it to a numpy array with np.asarray(X).",
            )
        )
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        # The mask says "missing", and np.asarray would silently show what lies beneath it.
        return np.ma.filled(X.astype(np.promote_types(X.dtype, np.float32)), np.nan)
    if X is None or isinstance(X, (str, bytes, dict, set)) or (callable(X) and not hasattr(X, "__array__")):
        raise TypeError(
            message(who, "X", "an array, a data frame or a sparse matrix", fact=f"found {type(X).__name__}")
        )
    try:
        return np.asarray(X)
    except Exception as error:
        if isinstance(X, (list, tuple)):
            raise ValueError(
                message(who, "X", "a list of rows of equal length", fact=str(error).split(". ")[0])
            ) from error
        # torch and cupy refuse to copy from a device or to drop a gradient behind the user's back; so do we.
        kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
        raise TypeError(
            message(
                who,
                "X",
                "readable by NumPy",
                fact=f"{kind}: {error}",
                remedy="Copy it to host memory first: X.detach().cpu().numpy() for torch, X.get() for cupy.",
            )
        ) from error


def _check_dimensions(array: npt.NDArray[Any], *, who: str) -> None:
    if array.ndim == 2:
        return
    if array.ndim < 2:
        got = "1D array" if array.ndim else "scalar array"
        fact = f"Expected 2D array, got {got} instead: shape={array.shape}"
        remedy = (
            "Reshape your data with X.reshape(-1, 1) if it has a single feature "
            "or X.reshape(1, -1) if it is a single sample."
        )
    else:
        fact = f"Found array with dim {array.ndim}, shape={array.shape}"
        remedy = "Reshape your data to one row per sample, for instance with X.reshape(len(X), -1)."
    raise ValueError(message(who, "X", "two-dimensional", fact=fact, remedy=remedy))


def _from_objects(array: npt.NDArray[Any], *, who: str, names: Sequence[str] | None) -> npt.NDArray[np.float64]:
    floats, bad = floats_from_objects(array)
    if bad is None:
        return floats
    row, column = divmod(bad, array.shape[1])
    value = array[row, column]
    if isinstance(value, (complex, np.complexfloating)):
        refuse_kind(np.empty(0, np.complex128), who=who)
    kinds = sorted({type(v).__name__ for v in array[:, column].tolist() if isinstance(v, type(value))})
    raise TypeError(
        message(
            who,
            "X",
            "an array of real numbers",
            fact=f"found {value!r:.40} at row {row}, {column_text(column, names)}, of type {', '.join(kinds)}; "
            "the argument must be free of strings and other objects and hold real numbers",
            remedy="Convert it, for instance with X.astype(float), or encode or leave out these columns.",
        )
    )


def read_array(
    X: Any, *, who: str, names: Sequence[str] | None = None, dtype: type[np.float32] | type[np.float64] | None = None
) -> FloatArray:
    """Read anything NumPy can read as a two-dimensional, contiguous array of floats.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers of any real dtype, byte order and memory layout; never written.
    who : str
        Opens the error text.
    names : sequence of str, default=None
        Names of the columns, for the error text.
    dtype : {float32, float64}, default=None
        Working precision; None keeps float32 and float64, reads what float32 holds exactly as float32, else float64.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float32 or float64
        Shares the memory of `X` where no conversion was needed.
    """
    array = _as_array(X, who=who)
    refuse_kind(array, who=who)
    _check_dimensions(array, who=who)
    if array.dtype.kind == "O":
        usable = names if names is not None and len(names) == array.shape[1] else None
        array = _from_objects(array, who=who, names=usable)
    return cast(array, dtype)
