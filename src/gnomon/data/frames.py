"""Data frames of any kind (pandas, polars, pyarrow) become one array of numbers with column names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.arrays import (
    FloatArray,
    exact_integers,
    floats_from_objects,
    is_missing,
    may_be_rounded,
    told_of_rounding,
    warn_of_rounded,
    whole_numbers,
    working_dtype,
)
from gnomon.data.dataset import first_few
from gnomon.data.labels import categories_of
from gnomon.data.names import clean_names

__all__ = [
    "Frame",
    "fill_columns",
    "holds_other_kinds",
    "is_frame",
    "is_lazy_frame",
    "names_of_frame",
    "names_of_rows",
    "read_frame",
    "stack_columns",
]

_SHOWN = 5  # columns named in an error


@dataclass(frozen=True)
class Frame:
    """What a data frame holds.

    Attributes
    ----------
    columns : list of ndarray of shape (n_samples,)
        The columns; numbers as floats with NaN where a value is missing.
    kinds : list of str
        Empty for a column of numbers, else what the column holds, such as "String".
    names : list of str or None
        Unique column names; None if the frame has only numbered columns.
    index : ndarray of shape (n_samples,) or None
        Row labels other than 0, 1, 2, ...
    n_samples : int
        Number of rows.
    orders : list of tuple
        The categories of each column whose categories are ordered, else ().
    booleans : list of bool
        Which columns hold truth values.
    categories : list of tuple
        The categories of each column that has some, else ().
    integers : list of ndarray of shape (n_samples,) or None
        The columns of integers as they came, but those with missing values that floating point does not round.
    roundings : list of str
        Which whole numbers of each column float64 rounds, as `told_of_rounding` says it, else empty.
    """

    columns: list[npt.NDArray[Any]]
    kinds: list[str]
    names: list[str] | None
    index: npt.NDArray[Any] | None
    n_samples: int
    orders: list[tuple[Any, ...]]
    booleans: list[bool]
    categories: list[tuple[Any, ...]]
    integers: list[npt.NDArray[Any] | None]
    roundings: list[str]


_NO_FRAMES = {"builtins", "numpy", "scipy"}  # packages of types that are no frames, for which narwhals is not loaded


def _is_none(X: object) -> bool:
    return type(X).__module__.partition(".")[0] in _NO_FRAMES


def is_frame(X: object) -> bool:
    """Return whether X is a data frame that narwhals knows, of a library that is already imported."""
    if _is_none(X):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def is_lazy_frame(X: object) -> bool:
    """Return whether X is a lazy frame of polars, which has no rows yet."""
    if _is_none(X):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_polars_lazyframe(X))


def _names(native: Any) -> tuple[list[object], bool]:
    """Return the column names and whether they are more than a running number."""
    columns = native.column_names if hasattr(native, "column_names") else native.columns
    names = list(columns)
    numbered = all(isinstance(name, (int, np.integer)) for name in names) and names == list(range(len(names)))
    return names, not numbered


def names_of_frame(X: Any) -> list[object]:
    """Return the names of a data frame as they came; none if they are a running number."""
    import narwhals as nw

    names, named = _names(nw.to_native(X, pass_through=True))
    return names if named else []


def _rounding(series: Any, dtype: Any) -> str:
    """Say which whole numbers of a column float64 rounds; of a column with missing ones they have become floats."""
    if not dtype.is_integer():
        return ""
    values = np.asarray(series.to_numpy())
    return told_of_rounding(values if values.dtype.kind != "f" else series.drop_nulls().to_numpy())


def _with_unique_names(native: Any, n_columns: int) -> Any:
    """Return the frame with columns named "0", "1", ...: narwhals refuses duplicates. The data are not copied."""
    names = [str(j) for j in range(n_columns)]
    if hasattr(native, "rename_columns"):  # pyarrow
        return native.rename_columns(names)
    if hasattr(native, "iloc"):  # pandas and what looks like it
        renamed = native.copy(deep=False)
        renamed.columns = names
        return renamed
    return native  # polars has unique names by itself


def _index(native: Any) -> npt.NDArray[Any] | None:
    index = getattr(native, "index", None)
    if index is None or _only_counts(index):
        return None
    return np.asarray(index)


def _only_counts(index: Any) -> bool:
    """Return whether an index is 0, 1, 2, ... by its type; that of rows taken from a larger frame is another."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def names_of_rows(X: Any) -> tuple[str, list[str]] | None:
    """Return what the index of a data frame is called, and its texts, dates or numbers as names of the rows.

    None where there is no index, and where it is one of numbers that repeat, or of fractions.
    """
    index: Any = getattr(X, "index", None)  # a list's is a method
    if not hasattr(index, "is_unique") or _only_counts(index):
        return None
    values = np.asarray(index)
    if values.dtype.kind == "f" or (values.dtype.kind in "biu" and not index.is_unique):
        return None
    levels = [str(name) for name in index.names if name is not None]
    dated = values.dtype.kind == "M" and bool(np.all(values == values.astype("datetime64[D]")))
    texts = np.datetime_as_string(values, unit="D").tolist() if dated else [_name_of_row(value) for value in index]
    return " / ".join(levels), texts


def _name_of_row(value: Any) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return " / ".join("" if is_missing(part) else str(part) for part in parts)


def _column(series: Any, dtype: Any) -> tuple[npt.NDArray[Any], str]:
    """Return a column as floats and "", or as it is and what it holds; its dtype takes long to find of objects."""
    values = np.asarray(series.to_numpy())
    kind = str(dtype)
    if values.ndim != 1:  # an array in each row
        rows = np.empty(len(values), object)
        rows[:] = list(values)
        return rows, kind
    if values.dtype.kind == "c":
        return values, f"Complex data not supported: {values.dtype}"
    if values.dtype.kind in "biuf":
        return values.astype(working_dtype(values.dtype), copy=False), ""
    if values.dtype.kind == "O" and kind.split("(")[0] not in ("String", "Categorical", "Enum", "Date", "Datetime"):
        floats, bad = floats_from_objects(values)
        if bad is None:
            return floats, ""
        if kind == "Object":
            kind = f"Object holding {type(values[bad]).__name__}"
    return values, kind


def read_frame(X: Any) -> Frame:
    """Read a data frame column by column; columns without numbers are described, not converted."""
    import narwhals as nw

    native = nw.to_native(X, pass_through=True)
    raw_names, named = _names(native)
    frame = nw.from_native(_with_unique_names(native, len(raw_names)), eager_only=True)
    columns, kinds, orders, booleans, categories, integers = [], [], [], [], [], []
    roundings = []
    for series in frame.iter_columns():
        dtype = series.dtype
        values, kind = _column(series, dtype)
        columns.append(values)
        kinds.append(kind)
        orders.append(tuple(dtype.categories) if isinstance(dtype, nw.Enum) else ())
        booleans.append(dtype == nw.Boolean or (dtype == nw.Object and _holds_truths(series)))
        categories.append(categories_of(series.to_native()))
        integers.append(None if kind or booleans[-1] else _integers(series, values))
        roundings.append(_rounding(series, dtype))
    names, n_rows = clean_names(raw_names) if named else None, int(frame.shape[0])
    return Frame(columns, kinds, names, _index(native), n_rows, orders, booleans, categories, integers, roundings)


def _integers(series: Any, floats: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column as integers if it came so, as texts if 64 bits do not hold them or some are missing."""
    given = np.asarray(series.to_numpy())
    if given.dtype.kind in "iu":
        return given
    if given.dtype.kind == "f" and "Int" not in str(series.dtype):
        return None
    if not may_be_rounded(floats):
        return whole_numbers(floats) if given.dtype.kind == "O" else None
    values = [None if is_missing(value) else value for value in series.to_list()]
    if not all(value is None or value == int(value) for value in values):
        return None
    return exact_integers([None if value is None else int(value) for value in values])


def _holds_truths(series: Any) -> bool:
    """Return whether a column of objects is of True, False and missing values alone."""
    known = (value for value in series.to_numpy().tolist() if not is_missing(value))
    first = next(known, None)
    return isinstance(first, (bool, np.bool_)) and all(isinstance(value, (bool, np.bool_)) for value in known)


def holds_other_kinds(X: Any) -> bool:
    """Return whether a data frame has columns that are not of numbers or truth values by their type."""
    import narwhals as nw

    native = nw.to_native(X, pass_through=True)
    frame = nw.from_native(_with_unique_names(native, len(_names(native)[0])), eager_only=True)
    return any(not kind.is_numeric() and kind != nw.Boolean for kind in frame.schema.values())


def stack_columns(
    frame: Frame, *, names: list[str] | None, dtype: type[np.float32] | type[np.float64] | None
) -> FloatArray:
    """Put the columns of a frame of numbers side by side; whole numbers that are rounded are warned of.

    Raises
    ------
    TypeError or ValueError
        If a column does not hold real numbers; the text names the columns and what they hold.
    """
    bad = [j for j, kind in enumerate(frame.kinds) if kind]
    if bad:
        shown = first_few((f"{names[j] if names else j!r}: {frame.kinds[j]}" for j in bad), _SHOWN)
        text = message(
            "X",
            "a table of real numbers",
            fact=f"{len(bad):,} of {len(frame.kinds):,} columns hold something else: {shown}",
            remedy="Leave these columns out, or pass gnomon.TablePreprocessor().fit_transform(X), which makes "
            "numbers of them as gnomon.map does.",
        )
        raise (ValueError if any("Complex" in frame.kinds[j] for j in bad) else TypeError)(text)
    for j, told in enumerate(frame.roundings):
        if told:
            warn_of_rounded(told, names[j] if names else "")
    if dtype is None:
        dtype = np.float64 if any(c.dtype == np.float64 for c in frame.columns) else np.float32
    values = np.empty((frame.n_samples, len(frame.columns)), dtype)
    with np.errstate(over="ignore"):
        fill_columns(values, frame.columns)
    return values


def fill_columns(values: FloatArray, columns: list[npt.NDArray[Any]]) -> None:
    """Write arrays of one dimension side by side into a table."""
    # In blocks of rows of about a megabyte, so that the strided writes of neighbouring columns meet in the cache.
    block = max(256, (1 << 20) // max(1, values.itemsize * values.shape[1]))
    for start in range(0, values.shape[0], block):
        rows = slice(start, start + block)
        for j, column in enumerate(columns):
            values[rows, j] = column[rows]
