"""The columns of a table as they came, and those that a person names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import caller, message
from gnomon.data.arrays import matrix_of
from gnomon.data.columns.listed import written_lists
from gnomon.data.columns.vectors import entries_of, names_of_entries, vectors_of
from gnomon.data.dataset import require_names
from gnomon.data.frames import Frame, is_frame, read_frame
from gnomon.data.labels import of_categories
from gnomon.data.names import are_default_names, default_names
from gnomon.data.records import are_records, columns_of_records, rows_of
from gnomon.data.table import Table, check_feature_count, check_shape, refuse_sparse, told_names

__all__ = ["RawColumn", "asked_columns", "columns_of_fit", "columns_of_frame", "raw_columns", "with_entries"]

Array = npt.NDArray[Any]

_OF_VECTORS = ("features", "drop", "forget")  # what takes a column of vectors by its name


@dataclass(frozen=True)
class RawColumn:
    """A column as it came: its values, its categories if they are ordered, what it was said to hold, all categories.

    Of integers that are floats among the values also those, and which of them are rounded.
    """

    values: Array
    ordered: tuple[Any, ...] = ()
    boolean: bool = False
    category: bool = False
    categories: tuple[Any, ...] = ()
    integers: Array | None = None
    rounding: str = ""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers, and no numbers of categories."""
        return self.values.dtype.kind in "biuf" and not self.category and not self.ordered

    @property
    def labels(self) -> Array:
        """Its values, with the order of their categories if it has some."""
        return of_categories(self.values if self.integers is None else self.integers, self.categories)


def raw_columns(X: Any) -> dict[str, RawColumn]:
    """Return the columns of a data frame, mapping, records, array or what it returned by name, as they came."""
    if not isinstance(X, np.ndarray) and scipy.sparse.issparse(X):  # one format of which is a mapping
        refuse_sparse(str(getattr(X, "format", "unknown")))
    if isinstance(X, Mapping) and all(isinstance(column, RawColumn) for column in X.values()):
        return dict(X)
    if isinstance(X, Mapping):
        arrays = {str(name): rows_of(values, name=f"X[{name!r}]") for name, values in X.items()}
        for name, values in arrays.items():
            if not values.ndim:
                fact, remedy = f"it is {values.item()!r:.60}", "Pass a record as a list of one, [X]."
                at = f"column {name!r} of shape ()"
                raise ValueError(message(at, "one value for each row", fact=fact, remedy=remedy))
        return with_entries(
            {name: RawColumn(values, boolean=values.dtype.kind == "b") for name, values in arrays.items()}
        )
    if are_records(X):
        return {
            name: RawColumn(values, boolean=values.dtype.kind == "b") for name, values in columns_of_records(X).items()
        }
    if not is_frame(X):
        values = matrix_of(X)
        check_shape(values.shape, min_samples=0)
        return {name: RawColumn(values[:, j]) for j, name in enumerate(default_names(values.shape[1]))}
    return columns_of_frame(read_frame(X))


def columns_of_frame(frame: Frame) -> dict[str, RawColumn]:
    """Return the columns of a data frame that was read, by name or by number."""
    names = frame.names or [str(j) for j in range(len(frame.columns))]
    unordered = [
        kind.startswith("Categorical") or (bool(categories) and not order and values.dtype.kind in "iuf")
        for kind, categories, order, values in zip(
            frame.kinds, frame.categories, frame.orders, frame.columns, strict=True
        )
    ]
    booleans = [
        boolean or (bool(categories) and all(isinstance(one, bool | np.bool_) for one in categories))
        for boolean, categories in zip(frame.booleans, frame.categories, strict=True)
    ]
    of_columns = frame.columns, frame.orders, booleans, unordered, frame.categories, frame.integers
    parts = zip(*of_columns, frame.roundings, strict=True)
    return with_entries({name: RawColumn(*part) for name, part in zip(names, parts, strict=True)})


def with_entries(columns: dict[str, RawColumn]) -> dict[str, RawColumn]:
    """Return columns of which each that holds vectors has become one for each of their entries, and lists are texts."""
    found: dict[str, RawColumn] = {}
    for name, raw in columns.items():
        table = vectors_of(raw.values)
        if table is None:
            texts = written_lists(raw.values)
            found[name] = raw if texts is None else replace(raw, values=texts)
        else:
            entries = names_of_entries(name, table.shape[1])
            if clash := [entry for entry in entries if entry in columns]:
                fact = f"column {clash[0]!r} is called as one of the numbers of {name!r}, which holds vectors"
                remedy = f"Rename {clash[0]!r}, or leave one of them out."
                raise ValueError(message("X", "of columns of unlike names", fact=fact, remedy=remedy))
            found |= {entry: RawColumn(table[:, j]) for j, entry in enumerate(entries)}
    return found


def columns_of_fit(
    columns: dict[str, RawColumn], fitted: Sequence[str], used: Sequence[str]
) -> tuple[dict[str, RawColumn], str]:
    """Return the columns of new rows under the names of those in `fit`.

    Parameters
    ----------
    columns : dict
        As `raw_columns` returns them.
    fitted : sequence of str
        The names of the columns in `fit`, as `raw_columns` gave them.
    used : sequence of str
        Those of them that are needed.

    Returns
    -------
    columns : dict
        As they are, in any order and with others beside them, if both have names or those needed are among them; else
        by their place.
    told : str
        As scikit-learn says it, that they are taken by their place though one side has names; else empty.

    Raises
    ------
    ValueError
        If they are taken by their place and are not as many as in `fit`.
    """
    named, were_named = not are_default_names(columns), not are_default_names(fitted)
    if (named and were_named) or (named != were_named and all(name in columns for name in used)):
        return columns, ""
    check_feature_count(Table(np.empty((0, len(columns)))), len(fitted), None)
    told = ""
    if named:
        told = told_names(caller())
    elif were_named:
        told = f"X does not have valid feature names, but {caller()} was fitted with feature names"
    return dict(zip(fitted, columns.values(), strict=True)), told


def asked_columns(what: str, names: Sequence[Any] | None, columns: Iterable[str]) -> list[str] | None:
    """Return columns that are asked for by their names, or by their number where they have no names.

    Spaces around a name need not be given if only one column is called so. The name of a column of vectors stands for
    all of their entries.
    """
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(message(f"{what}={names!r}", "a sequence of names", remedy=f"Pass {what}=[{names!r}]."))
    available = list(columns)
    numbered = {str(j): name for j, name in enumerate(available)} if available == default_names(len(available)) else {}
    found = []
    for name in map(str, names):
        entries = entries_of(name, {*available}) if what in _OF_VECTORS and name not in available else []
        found += entries or [numbered.get(name, name)]
    if not {*found} <= {*available}:
        bare = [name.strip() for name in available]
        alone = {name for name, count in Counter(bare).items() if count == 1}
        full = {name: one for name, one in zip(bare, available, strict=True) if name in alone}
        full |= {name: name for name in available}
        found = [full.get(name, name) for name in found]
    require_names(found, available, what=what)
    return found
