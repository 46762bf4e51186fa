"""The checks that every entry point applies: to a table of numbers, and to what goes with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import caller, message, pass_on
from gnomon.data.arrays import LARGEST, FloatArray, all_finite, check_finite, fields_of, read_array
from gnomon.data.cells import in_memory, is_cells, is_stored_matrix
from gnomon.data.frames import is_frame, is_lazy_frame, read_frame, stack_columns
from gnomon.data.names import are_default_names, check_name_count, clean_names, names_of_coordinates
from gnomon.data.sparse import canonical_csr
from gnomon.exceptions import DataWarning

__all__ = [
    "Table",
    "check_feature_count",
    "check_one_row",
    "check_same_length",
    "check_shape",
    "check_table",
    "given_rows",
    "plain_row",
    "refuse_sparse",
    "told_names",
]

_SHOWN = 5  # names listed in an error


@dataclass(frozen=True)
class Table(ShortRepr):
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

    values: FloatArray | scipy.sparse.csr_array
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


def refuse_sparse(form: str) -> None:
    """Raise TypeError for a sparse matrix of a format where only dense tables are taken."""
    raise TypeError(
        message(
            "X",
            "a dense array",
            fact=f"sparse data in {form} format",
            remedy="Sparse input is not supported here; convert it with X.toarray() if that fits in memory.",
        )
    )


def _read(
    X: Any,
    *,
    accept_sparse: bool,
    keep_zeros: bool,
    dtype: type[np.float32] | type[np.float64] | None,
    names: list[str] | None,
    known_as: Sequence[str] | None = None,
) -> tuple[FloatArray | scipy.sparse.csr_array, list[str] | None, npt.NDArray[Any] | None]:
    if not isinstance(X, np.ndarray) and scipy.sparse.issparse(X):
        if not accept_sparse:
            refuse_sparse(str(getattr(X, "format", "unknown")))
        return canonical_csr(X, dtype=dtype, keep_zeros=keep_zeros), names, None
    if not isinstance(X, (np.ndarray, list, tuple)):
        if is_lazy_frame(X):
            raise TypeError(message("X", "a table with rows", fact="a lazy frame", remedy="Pass X.collect()."))
        if is_frame(X):
            frame = read_frame(X)
            names = frame.names if names is None else names
            if known_as is not None and names is not None and any(frame.kinds) and {*known_as} - {*names}:
                _refuse_names(names, known_as)
            usable = names if names is not None and len(names) == len(frame.columns) else None
            return stack_columns(frame, names=usable, dtype=dtype), names, frame.index
        names = names_of_coordinates(X) if names is None else names
    fields = fields_of(X) if isinstance(X, np.ndarray) and X.dtype.names and X.ndim == 1 else {}
    if fields and all(column.dtype.kind in "biuf" and column.ndim == 1 for column in fields.values()):
        X, names = np.column_stack([*fields.values()]), [*fields] if names is None else names
    return read_array(X, names=known_as if names is None else names, dtype=dtype), names, None


def _matrix_of_cells(X: Any) -> Any:
    if X.X is None:
        raise ValueError(message("the AnnData", "one with a matrix X", remedy="Pass one of its layers."))
    return in_memory(X.X)


def _rows_of_stored(X: Any, names: list[str] | None) -> tuple[Any, list[str] | None]:
    """Return all rows of a table of Dask, Zarr, h5py or pyarrow, and its names; anything else as it is."""
    # What reads them imports this module, and is only needed for them.
    from gnomon.data.stored.libraries import of_library
    from gnomon.data.stored.table import StoredTable

    stored = X if isinstance(X, StoredTable) else of_library(X)
    if stored is None:
        return X, names
    return stored.whole(), stored.feature_names if names is None else names


def check_shape(shape: tuple[int, int], *, min_samples: int = 1, min_features: int = 1) -> None:
    """Raise ValueError for a table of too few rows or columns, in the words of scikit-learn.

    Parameters
    ----------
    shape : tuple of two int
        Rows and columns.
    min_samples, min_features : int, default=1
        Least number of rows and columns.
    """
    for size, least, word, unit in (
        (shape[0], min_samples, "rows", "sample(s)"),
        (shape[1], min_features, "columns", "feature(s)"),
    ):
        if size < least:
            fact = f"Found array with {size} {unit} (shape={shape}) while a minimum of {least} is required"
            raise ValueError(message("X", f"a table of at least {least} {word}", fact=fact))


def _check_range(values: FloatArray | scipy.sparse.csr_array) -> None:
    """Raise a better error if only the conversion to float32 made the values infinite."""
    stored = values if isinstance(values, np.ndarray) else values.data
    if all_finite(stored):
        largest = float(np.abs(stored).max())
        text = message("X", "within the range of float32, ±3.4e38", fact=f"largest magnitude {largest:.3g}")
        raise ValueError(f"{text} Rescale the data.")


def check_table(
    X: Any,
    *,
    accept_sparse: bool = False,
    min_samples: int = 1,
    min_features: int = 1,
    dtype: type[np.float32] | type[np.float64] | None = None,
    feature_names: Iterable[object] | None = None,
    keep_zeros: bool = False,
    allow_missing: bool = False,
    known_as: Sequence[str] | None = None,
    largest: float = LARGEST,
) -> Table:
    """Check a table of numbers and bring it into the form that all computations expect.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix, AnnData or Table of shape (n_samples, n_features)
        NumPy arrays of any real dtype, byte order and layout, also with fields of numbers, lists, objects with
        ``__array__``, data frames of pandas, polars and pyarrow, SciPy sparse matrices and arrays of any format. Of an
        AnnData object its matrix `X`, also if it is a view or in a file, with the names of its genes. Tensors of torch
        and of DLPack on the CPU. What `gnomon.open_table` returns, arrays of Dask and Zarr, datasets of h5py and
        pyarrow are read whole if they take at most a quarter of the available memory. Never written. The values of a
        plain Table are taken as they are.
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
    known_as : sequence of str, default=None
        What errors call the columns of a table without names, if it has as many: those of the table in `fit`. Of a data
        frame with columns of other kinds the error names those of them that it lacks.
    largest : float, default=LARGEST
        Magnitude that no value may pass.

    Returns
    -------
    Table
        Values with at most one copy made, names and row labels.

    Raises
    ------
    TypeError
        If X is no table, holds text or other objects, or is sparse where that is not accepted.
    ValueError
        If the shape is wrong, or a value is complex, infinite, too large or, unless allowed, missing; the text says
        where.
    MemoryError
        If a stored table takes more than a quarter of the available memory; the text names what reads it in blocks.
    """
    given = None if feature_names is None else clean_names(feature_names)
    if is_cells(X):
        given = clean_names(X.var_names) if given is None else given
        X = _matrix_of_cells(X)
    elif is_stored_matrix(X):
        X = in_memory(X)
    elif not isinstance(X, (np.ndarray, list, tuple, Table)):
        X, given = _rows_of_stored(X, given)
    known = X if isinstance(X, Table) else None
    if known is not None:
        X, given = known.values, known.feature_names if given is None else given
        if known.is_sparse and not accept_sparse:
            refuse_sparse("csr")
        if known.plain and dtype in (None, known.values.dtype.type):
            check_shape(X.shape, min_samples=min_samples, min_features=min_features)
            if given is not None:
                check_name_count(given, known.n_features)
            return Table(known.values, given, known.index, plain=True)
    values, names, index = _read(
        X, accept_sparse=accept_sparse, keep_zeros=keep_zeros, dtype=dtype, names=given, known_as=known_as
    )
    check_shape(values.shape, min_samples=min_samples, min_features=min_features)
    if names is not None:
        check_name_count(names, values.shape[1])
    try:
        told = known_as if names is None and known_as is not None and len(known_as) == values.shape[1] else names
        check_finite(values, names=told, allow_missing=allow_missing, largest=largest)
    except ValueError:
        if dtype is np.float32:
            wide, _, _ = _read(X, accept_sparse=accept_sparse, keep_zeros=True, dtype=np.float64, names=given)
            _check_range(wide)
        raise
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
    index = index if known is None else known.index
    return Table(values, names, index, plain=not allow_missing and not keep_zeros)


def check_one_row(x: Any) -> npt.NDArray[Any]:
    """Return one row of numbers as a table of one row.

    Parameters
    ----------
    x : array-like of shape (n_features,)
        Of one dimension.

    Returns
    -------
    ndarray of shape (1, n_features)

    Raises
    ------
    ValueError
        If it has another shape.
    """
    row = np.asarray(x)
    if row.ndim != 1:
        raise ValueError(message(f"x of shape {row.shape}", "one row of shape (n_features,)"))
    return row[None]


def given_rows(X: Any, *, name: str = "X", distances: bool = False) -> Any:
    """Return the values of a table: checked where a user gives it, taken as they are where a part of gnomon does.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix, AnnData or Table of shape (n_samples, n_features)
        As for `check_table`.
    name : str, default="X"
        What errors call it.
    distances : bool, default=False
        Whether the table is one of distances, which have checks of their own: an array or matrix is taken as it is.

    Returns
    -------
    ndarray or CSR of shape (n_samples, n_features)

    Raises
    ------
    TypeError, ValueError
        As `check_table`.
    """
    if (distances or current_run().within) and (isinstance(X, np.ndarray) or scipy.sparse.issparse(X)):
        return X
    try:
        return check_table(X, accept_sparse=True, min_samples=0, keep_zeros=distances).values
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace(f"{caller()}: X", f"{caller()}: {name}", 1)) from None


def plain_row(x: Any, n_features: int) -> npt.NDArray[np.float64] | None:
    """Return one row that `check_table` would take as it is; None for anything else.

    For loops that ask of one row after the other: the usual row is known in a few microseconds, and all else goes the
    way that raises the errors.

    Parameters
    ----------
    x : object
        Anything that may be a row.
    n_features : int
        Its length.

    Returns
    -------
    ndarray of shape (n_features,), float64, or None
        C-contiguous, if x is a finite float64 array of this shape.
    """
    usual = isinstance(x, np.ndarray) and x.dtype == np.float64 and x.shape == (n_features,)
    return np.ascontiguousarray(x) if usual and np.isfinite(x).all() else None


def _listed(title: str, names: Iterable[str]) -> str:
    ordered = sorted(names)
    if not ordered:
        return ""
    lines = [f"- {name}" for name in ordered[:_SHOWN]] + (["- ..."] if len(ordered) > _SHOWN else [])
    return f"{title}\n" + "\n".join(lines) + "\n"


def _refuse_names(given: Sequence[str], fitted: Sequence[str], kept_as: str = "") -> NoReturn:
    """Raise ValueError about columns of other names, or in another order, than those of `fit`."""
    unseen = _listed("Feature names unseen at fit time:", set(given) - set(fitted))
    missing = _listed("Feature names seen at fit time, yet now missing:", set(fitted) - set(given))
    order = "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(
        f"{caller()}: The feature names should match those that were passed during fit.\n"
        f"{unseen}{missing}{'' if unseen or missing else order}{_remedy_of_names(kept_as, lacking=bool(missing))}"
    )


def _remedy_of_names(kept_as: str, *, lacking: bool) -> str:
    """Return what to do about columns of other names, or in another order, than those of `fit`."""
    if lacking:
        return "Add them to the new rows, or fit again with the columns that all rows have."
    return f"Pass X[names] of a data frame, X[:, names] of an AnnData object, where names are {kept_as}."


def told_names(fitted: str) -> str:
    """Return how scikit-learn says that only new rows have names, of the columns of what was fitted.

    Parameters
    ----------
    fitted : str
        What was fitted.
    """
    return f"X has feature names, but {fitted} was fitted without feature names"


def check_feature_count(
    table: Table, n_features_in: int, feature_names_in: Sequence[str] | None, *, kept_as: str = "feature_names_in_"
) -> None:
    """Raise ValueError unless a table has the columns that a model was fitted with.

    Parameters
    ----------
    table : Table
        The new rows.
    n_features_in : int
        Number of columns in `fit`.
    feature_names_in : sequence of str or None
        Names of the columns in `fit`, if there were any. Compared only if the table has names too.
    kept_as : str, optional
        What the remedy calls these names; by default the attribute that has them, `feature_names_in_`.

    Warns
    -----
    DataWarning
        If the table has names, and those of fit are not known: columns are taken by their place then, in whatever order
        they are.

    Notes
    -----
    The sentences are those of scikit-learn, whose estimator checks and users match on them.
    """
    if feature_names_in is not None and table.feature_names is not None:
        if list(feature_names_in) != table.feature_names:
            _refuse_names(table.feature_names, feature_names_in, kept_as)
        return
    if table.n_features != n_features_in:
        raise ValueError(
            f"X has {table.n_features} features, but {caller()} is expecting {n_features_in} features as input. "
            "Pass the columns that the model was fitted with."
        )
    if feature_names_in is None and not are_default_names(table.feature_names or ()):
        pass_on(f"{told_names(caller())}. Columns are taken by their place.", DataWarning)


def _length(value: Any) -> int:
    shape = getattr(value, "shape", None)  # a sparse matrix has no length
    return int(shape[0]) if shape else len(value)


def check_same_length(**arguments: Any) -> None:
    """Raise ValueError unless all arguments that are not None have the same number of rows.

    Parameters
    ----------
    **arguments : array-like, sized or None
        The arguments by name, the one that sets the length first.
    """
    lengths = {name: _length(value) for name, value in arguments.items() if value is not None}
    if len(set(lengths.values())) > 1:
        first, *others = lengths
        other = next(name for name in others if lengths[name] != lengths[first])
        fact = f"{first} has {lengths[first]} rows, {other} has {lengths[other]}"
        raise ValueError(message(other, f"as long as {first}", fact=fact, remedy="Pass one entry for each row."))
