"""The one check that every entry point applies to a table of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.data.arrays import read_array
from gnomon.data.dtypes import FloatArray
from gnomon.data.finite import all_finite, check_finite
from gnomon.data.frames import is_frame, is_lazy_frame, read_frame, stack_columns
from gnomon.data.names import check_name_count, clean_names
from gnomon.data.sparse import canonical_csr

__all__ = ["Table", "check_table"]


@dataclass(frozen=True)
class Table:
    """A checked table of finite numbers, and of NaN where they were let through.

    Attributes
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features), float32 or float64
        Dense: C-contiguous, native byte order, read-only because it may share memory with the input.
        Sparse: canonical (sorted, unique columns, no stored zeros) and private.
    feature_names : list of str, or None
        Unique, non-empty names of the columns, if the input had names.
    index : ndarray of shape (n_samples,), or None
        Row labels of a data frame, if they are more than 0, 1, 2, ...; rows are matched by position, never by label.
    plain : bool
        Whether it was checked without exceptions: no missing values, no stored zeros. Then it is not checked again.
    """

    values: FloatArray | sp.csr_array
    feature_names: list[str] | None = None
    index: npt.NDArray[Any] | None = None
    plain: bool = False

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a sparse matrix."""
        return not isinstance(self.values, np.ndarray)


def _refuse_sparse(form: str, *, who: str) -> None:
    raise TypeError(
        message(
            who,
            "X",
            "a dense array",
            fact=f"sparse data in {form} format",
            remedy="Sparse input is not supported here; convert it with X.toarray() if that fits in memory.",
        )
    )


def _read(
    X: Any,
    *,
    who: str,
    accept_sparse: bool,
    keep_zeros: bool,
    dtype: type[np.float32] | type[np.float64] | None,
    names: list[str] | None,
) -> tuple[FloatArray | sp.csr_array, list[str] | None, npt.NDArray[Any] | None]:
    if sp.issparse(X):
        if not accept_sparse:
            _refuse_sparse(str(getattr(X, "format", "unknown")), who=who)
        return canonical_csr(X, who=who, dtype=dtype, keep_zeros=keep_zeros), names, None
    if not isinstance(X, (np.ndarray, list, tuple)):
        if is_lazy_frame(X):
            raise TypeError(message(who, "X", "a table with rows", fact="a lazy frame", remedy="Pass X.collect()."))
        if is_frame(X):
            frame = read_frame(X)
            names = frame.names if names is None else names
            usable = names if names is not None and len(names) == len(frame.columns) else None
            return stack_columns(frame, who=who, names=usable, dtype=dtype), names, frame.index
    return read_array(X, who=who, names=names, dtype=dtype), names, None


def _check_shape(shape: tuple[int, int], *, who: str, min_samples: int, min_features: int) -> None:
    for size, least, word, unit in (
        (shape[0], min_samples, "rows", "sample(s)"),
        (shape[1], min_features, "columns", "feature(s)"),
    ):
        if size < least:
            fact = f"Found array with {size} {unit} (shape={shape}) while a minimum of {least} is required"
            raise ValueError(message(who, "X", f"a table of at least {least} {word}", fact=fact))


def _check_range(values: FloatArray | sp.csr_array, *, who: str) -> None:
    """Raise a better error if only the conversion to float32 made the values infinite."""
    stored = values if isinstance(values, np.ndarray) else values.data
    if all_finite(stored):
        largest = float(np.abs(stored).max())
        text = message(who, "X", "within the range of float32, +-3.4e38", fact=f"largest magnitude {largest:.3g}")
        raise ValueError(f"{text} Rescale the data.")


def check_table(
    X: Any,
    *,
    who: str,
    accept_sparse: bool = False,
    min_samples: int = 1,
    min_features: int = 1,
    dtype: type[np.float32] | type[np.float64] | None = None,
    feature_names: Iterable[object] | None = None,
    keep_zeros: bool = False,
    allow_missing: bool = False,
) -> Table:
    """Check a table of numbers and bring it into the form that all computations expect.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or Table of shape (n_samples, n_features)
        NumPy arrays of any real dtype, byte order and layout, lists, objects with ``__array__``, data frames of
        pandas, polars and pyarrow, SciPy sparse matrices and arrays of any format. Never written. The values of a
        plain Table are taken as they are.
    who : str
        Class or function that opens the error text.
    accept_sparse : bool, default=False
        Whether sparse input is allowed. It is never silently made dense.
    min_samples, min_features : int, default=1
        Least number of rows and columns.
    dtype : {float32, float64}, default=None
        Working precision of the result. None keeps float32 and float64; truth values, integers of up to 16 bits and
        float16 become float32, which holds them exactly; wider integers become float64.
    feature_names : iterable, default=None
        Names of the columns, instead of those of a data frame.
    keep_zeros : bool, default=False
        Keep stored zeros of a sparse matrix, which in a matrix of distances are distances of zero.
    allow_missing : bool, default=False
        Let NaN through, for methods that know what to do without a value. Infinities are refused all the same.

    Returns
    -------
    Table
        Values with at most one copy made, names and row labels.

    Raises
    ------
    TypeError
        If X is no table, holds text or other objects, or is sparse where that is not accepted.
    ValueError
        If the shape is wrong or a value is complex, infinite or, unless allowed, missing; the text says where.
    """
    given = None if feature_names is None else clean_names(feature_names, who=who)
    known = X if isinstance(X, Table) else None
    if known is not None:
        X, given = known.values, known.feature_names if given is None else given
        if known.is_sparse and not accept_sparse:
            _refuse_sparse("csr", who=who)
        if known.plain and dtype in (None, known.values.dtype.type):
            _check_shape(X.shape, who=who, min_samples=min_samples, min_features=min_features)
            if given is not None:
                check_name_count(given, known.n_features, who=who)
            return Table(known.values, given, known.index, plain=True)
    values, names, index = _read(
        X, who=who, accept_sparse=accept_sparse, keep_zeros=keep_zeros, dtype=dtype, names=given
    )
    _check_shape(values.shape, who=who, min_samples=min_samples, min_features=min_features)
    if names is not None:
        check_name_count(names, values.shape[1], who=who)
    try:
        check_finite(values, who=who, names=names, allow_missing=allow_missing)
    except ValueError:
        if dtype is np.float32:
            wide, _, _ = _read(X, who=who, accept_sparse=accept_sparse, keep_zeros=True, dtype=np.float64, names=given)
            _check_range(wide, who=who)
        raise
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
    index = index if known is None else known.index
    return Table(values, names, index, plain=not allow_missing and not keep_zeros)
