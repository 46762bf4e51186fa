"""Whatever NumPy can read becomes one contiguous array of floats, checked to be finite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message, warn
from gnomon.data.names import column_text
from gnomon.data.tensors import array_of_tensor, is_tensor
from gnomon.data.texts import TEXTS_TO_NUMBERS, are_texts
from gnomon.exceptions import DataWarning

__all__ = [
    "EXACT_UP_TO",
    "IMPUTE",
    "LARGEST",
    "LARGEST_SQUARED",
    "FloatArray",
    "all_finite",
    "all_within",
    "cast",
    "check_finite",
    "exact_integers",
    "fields_of",
    "floats_from_objects",
    "is_missing",
    "matrix_of",
    "may_be_rounded",
    "read_array",
    "refuse_kind",
    "told_of_rounding",
    "unmasked",
    "warn_of_rounded",
    "warn_of_rounding",
    "whole_numbers",
    "working_dtype",
]

FloatArray = npt.NDArray[np.floating[Any]]
"""float32 or float64."""

IMPUTE = (
    "Impute the missing values, as gnomon.complete_missing does, or leave these rows or columns out, or pass distances "
    "from a metric that accepts missing values."
)
"""A remedy, to go on an error."""

_KINDS = {
    "U": "text",
    "S": "bytes",
    "M": "dates",
    "m": "time differences",
    "V": "records",
    "T": "text",
}
_SHOWN = 5  # places named in an error
EXACT_UP_TO = 2**53
"""float64 holds every whole number up to here."""
LARGEST = 1e300
"""Largest magnitude of a value of a table: sums and differences of such values stay in the range of float64."""
LARGEST_SQUARED = 1e150
"""Largest magnitude of a value whose square counts: sums of such squares stay in the range of float64."""

_CHUNK = 1 << 22  # values looked at together, so that the masks stay small beside the data


def working_dtype(dtype: np.dtype[Any]) -> type[np.float32] | type[np.float64]:
    """Return float32 if it holds every value of `dtype` exactly, else float64.

    The answer depends on the type alone, never on the values: a row is read in the same way in every batch. Wide
    integers become float64, because time stamps and identifiers lose their differences in float32.
    """
    return np.float32 if np.can_cast(dtype, np.float32) else np.float64


def refuse_kind(array: npt.NDArray[Any]) -> None:
    """Raise if the dtype of an array is not real numbers; object arrays pass, they are looked at value by value."""
    if array.dtype.kind == "c":
        raise ValueError(
            message(
                "X",
                "an array of real numbers",
                fact=f"Complex data not supported: found {array.dtype}",
                remedy="Pass X.real and X.imag as separate features.",
            )
        )
    if array.dtype.kind in _KINDS:
        _refuse_column_of_texts(array)
        convert = "pandas.DataFrame(X)" if array.dtype.names else "X.astype(float)"
        raise TypeError(
            message(
                "X",
                "an array of numbers",
                fact=f"found {_KINDS[array.dtype.kind]}, dtype {array.dtype}",
                remedy=f"Convert it, for instance with {convert}, or leave these columns out.",
            )
        )


def _refuse_column_of_texts(array: npt.NDArray[Any]) -> None:
    """Raise TypeError if an array of one column, or of one dimension, holds texts that are no numbers."""
    is_one = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    if is_one and array.dtype.kind in "OSTU" and are_texts(array.ravel()):
        fact = f"found texts, the first {array.ravel()[:1].tolist()[0]!r:.40}"
        raise TypeError(message("X", "an array of numbers", fact=fact, remedy=TEXTS_TO_NUMBERS))


def warn_of_rounding(array: npt.NDArray[Any]) -> None:
    """Warn of whole numbers that float64 rounds, see `told_of_rounding`."""
    if told := told_of_rounding(array):
        warn_of_rounded(told)


def warn_of_rounded(told: str, column: str = "") -> None:
    """Warn of what `told_of_rounding` said, of a column with a name."""
    whose = f"{column!r}: " if column else ""
    warn(f"{whose}{told}. Subtract one of them before, as integers", DataWarning)


def told_of_rounding(array: npt.NDArray[Any]) -> str:
    """Say which whole numbers beyond 2^53 float64 rounds, if any: time stamps in nanoseconds may fall together.

    Parameters
    ----------
    array : ndarray of any shape and dtype
    """
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or not array.size:
        return ""
    low, high = int(array.min()), int(array.max())
    if max(-low, high) <= EXACT_UP_TO:
        return ""
    floats, limit = array.astype(np.float64), float(np.iinfo(array.dtype).max)  # rounded up to a power of two
    inside = floats < limit
    rounded = int(np.count_nonzero(np.where(inside, floats, 0.0).astype(array.dtype) != array))
    return _rounded(rounded, low, high) if rounded else ""


def _rounded(count: int, low: int, high: int) -> str:
    lost = int(np.spacing(float(max(-low, high))))
    return f"{count} whole numbers from {low} to {high} are rounded in float64; differences below {lost} are lost"


def cast(array: npt.NDArray[Any], dtype: type[np.float32] | type[np.float64] | None) -> FloatArray:
    """Return the values in C order and native byte order, with at most one copy."""
    target = working_dtype(array.dtype) if dtype is None else dtype
    warn_of_rounding(array)
    with np.errstate(over="ignore"):  # what overflows is named by the check for finite values
        return np.ascontiguousarray(array, dtype=target)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NA or NaT."""
    # pandas.NA and polars' null cannot be compared, and pandas need not be installed: go by the name of the type.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)


def floats_from_objects(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], int | None]:
    """Read an object array as float64.

    Parameters
    ----------
    values : ndarray of any shape, dtype object
        Numbers; None, NaN, pandas.NA are missing.

    Returns
    -------
    floats : ndarray of the same shape, float64
        Missing values are NaN. Undefined if `bad` is not None. Whole numbers that are rounded are warned of.
    bad : int or None
        Flat position of the first value that is no real number. Text is not read as a number even if it could be.
    """
    flat = values.ravel()
    floats = np.empty(flat.shape, np.float64)
    for i, value in enumerate(flat):
        if is_missing(value):
            floats[i] = np.nan
            continue
        if isinstance(value, (str, bytes, complex, np.complexfloating)):
            return floats.reshape(values.shape), i
        try:
            floats[i] = value
        except (TypeError, ValueError):
            return floats.reshape(values.shape), i
    large = [int(flat[i]) for i in np.flatnonzero(np.abs(floats) >= EXACT_UP_TO) if isinstance(flat[i], Integral)]
    rounded = sum(int(float(value)) != value for value in large)
    if rounded:
        warn_of_rounded(_rounded(rounded, min(large), max(large)))
    return floats.reshape(values.shape), None


def unmasked(X: Any, *, name: str = "X") -> Any:
    """Return a masked array of numbers with NaN where it is masked, a tensor as an array, and anything else as it is.

    Parameters
    ----------
    X : object
        Of a masked array `numpy.asarray` would silently show what lies beneath the mask.
    name : str, default="X"
        What errors about a tensor call it.
    """
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.promote_types(X.dtype, np.float32)), np.nan)
    return array_of_tensor(X, name=name) if is_tensor(X) else X


def fields_of(X: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the fields of a structured array by name, NaN where a number is masked."""
    return {name: np.asarray(unmasked(X[name])) for name in X.dtype.names or ()}


def _kind_of(X: object) -> str:
    """Return the name of a type with that of its package."""
    return f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"


def _as_array(X: Any) -> npt.NDArray[Any]:
    """Let NumPy read X; what it cannot read is refused with the reason it gives."""
    if isinstance(X, np.matrix):
        raise TypeError(
            message(
                "X",
                "an ordinary array",
                fact="np.matrix is not supported",
                remedy="Please convert it to a numpy array with np.asarray(X).",
            )
        )
    X = unmasked(X)
    tensors = getattr(X, "tensors", None)
    if isinstance(tensors, tuple) and tensors and all(map(is_tensor, tensors)):
        fact = f"{_kind_of(X)} of {len(tensors)} {'tensor' if len(tensors) == 1 else 'tensors'}"
        raise TypeError(message("X", "a table", fact=fact, remedy="Pass X.tensors[0]."))
    if isinstance(X, Iterator):
        remedy = "Pass numpy.concatenate(list(X)), or X itself to gnomon.map(X, n_fitted=...)."
        raise TypeError(message("X", "a table in memory", fact="an iterator, whose rows come once", remedy=remedy))
    if X is None or isinstance(X, (str, bytes, dict, set)) or (callable(X) and not hasattr(X, "__array__")):
        raise TypeError(message("X", "an array, a data frame or a sparse matrix", fact=f"found {type(X).__name__}"))
    if hasattr(X, "__iter__") and not any(hasattr(X, name) for name in ("__array__", "__getitem__", "__dlpack__")):
        fact = f"{_kind_of(X)}, whose rows come in parts"
        remedy = "Stack them: numpy.concatenate(list(X)), or of [batch[0] for batch in X] if labels come with them."
        raise TypeError(message("X", "a table in memory", fact=fact, remedy=remedy))
    try:
        return np.asarray(X)
    except Exception as error:
        if isinstance(X, (list, tuple)):
            raise ValueError(message("X", "a list of rows of equal length", fact=str(error).split(". ")[0])) from error
        # torch and cupy refuse to copy from a device or to drop a gradient behind the user's back; so do we.
        remedy = "Copy it to host memory first: X.detach().cpu().numpy() for torch, X.get() for cupy."
        if not hasattr(X, "__array__"):
            remedy = "Stack its rows, such as numpy.stack([row[0] for row in X]) if labels come with them."
        if callable(getattr(X, "df", None)):
            remedy = "Pass X.df(), its data frame."
        raise TypeError(message("X", "readable by NumPy", fact=f"{_kind_of(X)}: {error}", remedy=remedy)) from error


def _check_dimensions(array: npt.NDArray[Any]) -> None:
    if array.ndim == 2:
        return
    _refuse_column_of_texts(array)
    if array.shape == (0,):
        remedy = "Pass a table of one row or more."
        raise ValueError(message("X", "two-dimensional", fact="it is empty, shape=(0,)", remedy=remedy))
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
    raise ValueError(message("X", "two-dimensional", fact=fact, remedy=remedy))


def matrix_of(X: Any) -> npt.NDArray[Any]:
    """Read anything NumPy can read as a two-dimensional array of whatever it holds but complex numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns)

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        Of the dtype that NumPy gives it; masked numbers are NaN.
    """
    array = _as_array(X)
    if array.dtype.kind == "c":
        refuse_kind(array)
    _check_dimensions(array)
    return array


def _from_objects(array: npt.NDArray[Any], *, names: Sequence[str] | None) -> npt.NDArray[np.float64]:
    floats, bad = floats_from_objects(array)
    if bad is None:
        return floats
    row, column = divmod(bad, array.shape[1])
    value = array[row, column]
    if isinstance(value, (complex, np.complexfloating)):
        refuse_kind(np.empty(0, np.complex128))
    kinds = sorted({type(v).__name__ for v in array[:, column].tolist() if isinstance(v, type(value))})
    raise TypeError(
        message(
            "X",
            "an array of real numbers",
            fact=f"found {value!r:.40} at row {row}, {column_text(column, names)}, of type {', '.join(kinds)}; "
            "the argument must be free of strings and other objects and hold real numbers",
            remedy="Convert it, for instance with X.astype(float), or encode or leave out these columns.",
        )
    )


def read_array(
    X: Any, *, names: Sequence[str] | None = None, dtype: type[np.float32] | type[np.float64] | None = None
) -> FloatArray:
    """Read anything NumPy can read as a two-dimensional, contiguous array of floats.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers of any real dtype, byte order and memory layout; never written.
    names : sequence of str, default=None
        Names of the columns, for the error text.
    dtype : {float32, float64}, default=None
        Working precision; None keeps float32 and float64, reads what float32 holds exactly as float32, else float64.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float32 or float64
        Shares the memory of `X` where no conversion was needed.
    """
    array = _as_array(X)
    refuse_kind(array)
    _check_dimensions(array)
    if array.dtype.kind == "O":
        usable = names if names is not None and len(names) == array.shape[1] else None
        array = _from_objects(array, names=usable)
    return cast(array, dtype)


def all_finite(values: npt.NDArray[Any]) -> bool:
    """Return whether no value is NaN or infinite."""
    # NaN and infinity survive a sum, which is one pass without a mask. Only if it is not finite (also because large
    # finite values overflowed) every value is looked at.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return True
    return all(bool(np.isfinite(block).all()) for _, block in _blocks(values))


def _blocks(values: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the values in the order of their rows, a block after the other, each with the number of those before it."""
    flat = values.ravel()
    for start in range(0, flat.size, _CHUNK):
        yield start, flat[start : start + _CHUNK]


def whole_numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as integers if all are whole."""
    if values.dtype.kind == "f" and (np.abs(values) <= EXACT_UP_TO).all() and (values == np.rint(values)).all():
        return values.astype(np.int64)
    return values


def exact_integers(values: Sequence[int | None]) -> npt.NDArray[Any]:
    """Return whole numbers of any size as they are: as integers if 64 bits hold all, else as texts.

    Parameters
    ----------
    values : sequence of int or None
        With a None, which stands for a missing one, they are texts.
    """
    known = [value for value in values if value is not None]
    if len(known) == len(values) and known:
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= min(known) and max(known) <= np.iinfo(kind).max:
                return np.array(values, dtype=kind)
    return np.array([None if value is None else str(value) for value in values], dtype=object)


def may_be_rounded(values: npt.NDArray[Any]) -> bool:
    """Return whether a column of whole numbers has some beyond those of which float64 holds every one."""
    known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if values.dtype.kind not in "iuf" or not known.size or max(-float(known.min()), float(known.max())) <= EXACT_UP_TO:
        return False
    return values.dtype.kind != "f" or bool((known == np.rint(known)).all())


def all_within(values: npt.NDArray[Any], largest: float) -> bool:
    """Return whether all values are finite and none is larger in magnitude than one that float32 does not reach."""
    if not all_finite(values):
        return False
    return values.dtype != np.float64 or not values.size or bool(-largest <= values.min() and values.max() <= largest)


def _place(values: FloatArray | scipy.sparse.csr_array, position: int, names: Sequence[str] | None) -> str:
    if isinstance(values, np.ndarray):
        row, column = divmod(position, values.shape[1])
    else:
        row = int(np.searchsorted(values.indptr, position, side="right")) - 1
        column = int(values.indices[position])
    return f"row {row}, {column_text(column, names)}"


def check_finite(
    values: FloatArray | scipy.sparse.csr_array,
    *,
    names: Sequence[str] | None = None,
    allow_missing: bool = False,
    largest: float = LARGEST,
) -> None:
    """Raise ValueError if a value is NaN, infinite or too large.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        The values to look at; of a sparse matrix the stored ones.
    names : sequence of str, default=None
        Names of the columns.
    allow_missing : bool, default=False
        Let NaN through.
    largest : float, default=LARGEST
        Magnitude up to which finite values are let through; float32 does not reach it.

    Raises
    ------
    ValueError
        Says how many values are NaN, +infinity, -infinity and too large, and where the first five are.
    """
    stored = values if isinstance(values, np.ndarray) else values.data
    if all_within(stored, largest):
        return
    beyond = f"numbers beyond ±{largest:g}"
    counts = {"NaN": 0, "+infinity": 0, "-infinity": 0, beyond: 0}
    places: list[int] = []
    for offset, block in _blocks(stored):
        huge = np.isfinite(block) & (np.abs(block) > np.float64(largest))
        bad = np.flatnonzero(huge | (np.isinf(block) if allow_missing else ~np.isfinite(block)))
        counts["NaN"] += int(np.isnan(block[bad]).sum())
        counts["+infinity"] += int((block[bad] == np.inf).sum())
        counts["-infinity"] += int((block[bad] == -np.inf).sum())
        counts[beyond] += int(huge.sum())
        places += [int(i) + offset for i in bad[: _SHOWN - len(places)]]
    if not places:
        return
    found = ", ".join(f"{kind} ({count:,})" for kind, count in counts.items() if count)
    where = "; ".join(_place(values, place, names) for place in places)
    more = sum(counts.values()) > len(places)
    remedies = []
    if counts["NaN"]:
        remedies.append(IMPUTE)
    if counts["+infinity"] or counts["-infinity"]:
        remedies.append("Was a logarithm of zero or a division by zero taken? Clip or remove infinity.")
    if counts[beyond]:
        remedies.append("Mend the numbers if they are mistakes, with NaN for missing ones, or rescale their columns.")
    fact = f"it contains {found}: {'the first at ' if more else 'at '}{where}"
    rule = "finite" if sum(counts.values()) > counts[beyond] else f"numbers up to {largest:g} in magnitude"
    rule = f"{rule} or NaN" if allow_missing else rule
    raise ValueError(message("X", rule, fact=fact, remedy=" ".join(remedies)))
