"""From what a user gives to a table of numbers that can be mapped, with everything that goes with its rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Either, Integer, Nothing, check_parameters, message, warn
from gnomon.completion import Completion
from gnomon.data import (
    Block,
    Dataset,
    Join,
    Reduction,
    Representation,
    Table,
    check_labels,
    check_table,
    find_constant_columns,
    find_join,
    warn_of_distances,
)
from gnomon.data.absent import warn_of_absent
from gnomon.data.cells import is_cells, read_cells
from gnomon.data.columns import with_order
from gnomon.data.dataset import text_array
from gnomon.data.floors import warn_of_filled_floors
from gnomon.data.frames import is_frame, names_of_rows
from gnomon.data.mixed_units import warn_of_mixed_units
from gnomon.data.records import are_records, read_records
from gnomon.data.sentinels import warn_of_sentinels
from gnomon.data.totals import warn_of_totals
from gnomon.exceptions import DataWarning, GnomonWarning
from gnomon.maps.blocks import blocks_of_cells, column_names, encode_columns, refuse_with_blocks
from gnomon.maps.forgetting import check_forgotten, forget, warn_of_personal, warn_of_personal_names
from gnomon.maps.leaked import warn_of_leaked_labels
from gnomon.maps.matching import refuse_other_order_of_names
from gnomon.maps.missing import settle_missing
from gnomon.maps.parts import check_metadata, check_picture
from gnomon.maps.representation import leading
from gnomon.maps.steering import take_columns
from gnomon.maps.weights import SAMPLE_WEIGHT, with_weights, without_weights

__all__ = ["Prepared", "Reading", "noted", "prepare", "stated_parts"]


@dataclass(frozen=True)
class Prepared:
    """A table of finite numbers that differ, with what goes with its rows.

    Attributes
    ----------
    data : Dataset
    table : Table
        Its numbers, without missing values.
    completion : Completion or None
        How missing values were filled in.
    kept : ndarray of int, or None
        The rows that are mapped, if some were left out for what they lack.
    n_given : int
        Rows of what was given.
    blocks : dict of str to Block, or None
    weighing : str or None
        The metadata that hold the weights of the rows, if they have any.
    told : list of str
        What a reader of the map should know.
    join : Join or None
        Columns that say of which owners the rows are.
    """

    data: Dataset
    table: Table
    completion: Completion | None
    kept: npt.NDArray[np.intp] | None
    n_given: int
    blocks: dict[str, Block] | None = None
    weighing: str | None = None
    told: list[str] = field(default_factory=list)
    join: Join | None = None

    @property
    def labels(self) -> Any:
        """The labels, checked; None without any."""
        return None if self.data.labels is None else check_labels(self.data.labels, self.table.n_samples)


def stated_parts(
    *, labels: Any, metadata: Mapping[str, Any] | None, point_names: Any, image_shape: Any, **others: Any
) -> dict[str, Any]:
    """Return the fields of a Dataset that a user states beside the table."""
    parts = {
        "labels": None if isinstance(labels, str) else labels,
        "metadata": None if metadata is None else {key: np.asarray(column) for key, column in check_metadata(metadata)},
        "point_names": None if point_names is None else np.asarray(point_names),
        "image_shape": None if image_shape is None else check_picture(image_shape),
        **others,
    }
    return {key: value for key, value in parts.items() if value is not None}


@dataclass(frozen=True)
class Reading:
    """How a table is read: the arguments of `gnomon.map` by their names.

    Attributes
    ----------
    stated : dict
        What `stated_parts` returns.
    cells : dict
        Parts of an AnnData object by the names of the arguments.
    column : str or None
        The labels, if they are a column.
    anchored : bool
        Whether some rows have given positions.
    metric : object
        In which the rows will be compared, as far as it is known; "precomputed" says that they are distances.
    is_kept : bool
        Whether metadata stay with what is made, so that those that tell who people are are warned of.
    """

    stated: dict[str, Any] = field(default_factory=dict)
    cells: dict[str, str | None] = field(default_factory=dict)
    column: str | None = None
    target: Any = None
    n_pcs: int | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    forget: Sequence[str] | None = None
    ordered: Any = True
    lists: Any = True
    blocks: Mapping[str, Block] | None = None
    scale: Any = "auto"
    feature_weight: Any = None
    sample_weight: Any = None
    missing: Any = "distance"
    random_state: int = 0
    anchored: bool = False
    metric: Any = None
    is_kept: bool = False


def prepare(X: Any, how: Reading) -> Prepared:
    """Read, encode and complete a table."""
    weights, column = how.sample_weight, how.column
    blocks, of_cells = how.blocks, None
    if blocks is not None and is_cells(X):
        of_cells = blocks_of_cells(X, blocks, column, {**how.cells, "n_pcs": how.n_pcs})
    if of_cells is None:
        stated = {**how.stated}
        symbols = stated.pop("feature_names") if is_cells(X) and isinstance(stated.get("feature_names"), str) else None
        read = _read(X, column, how.n_pcs, how.cells, symbols)
        if "metadata" in stated:  # beside those that are still to become features
            texts = {name: read.metadata[name] for name in read.text_columns or ()}
            stated["metadata"] = {**stated["metadata"], **texts}
        data = replace(read, **stated)
    else:
        data, blocks = of_cells
        data = replace(data, **how.stated)
    refuse_with_blocks(how.blocks, features=how.features, drop=how.drop, feature_weight=how.feature_weight)
    said = {"ordered": how.ordered, "lists": how.lists}
    gone = check_forgotten(data, how.forget, labels=column, target=how.target, sample_weight=weights, **said)
    data, drop = take_columns(data, column, how.target, how.drop)
    if data.labels is not None and how.ordered is not False:
        data = replace(data, labels=with_order(data.label_name or "", check_labels(data.labels, len(data.labels))))
    weighing = weights if isinstance(weights, str) else SAMPLE_WEIGHT
    chosen = without_weights(data, how.features, drop, weights)
    data, known_blocks = encode_columns(
        *chosen, blocks, [name for name in gone if name in column_names(data)], ordered=how.ordered, lists=how.lists
    )
    data = forget(data, gone)
    if data.point_names is not None:
        refuse_other_order_of_names(data.point_names, how.stated.get("metadata", {}))
    if column is not None and column != weighing:
        data.metadata.pop(column, None)
    data = with_weights(data, weights)
    n_given = data.n_samples
    join = None
    with noted() as told:
        if how.is_kept:
            warn_of_personal(data, stated=how.stated.get("metadata", ()))
            if "point_names" not in how.stated:
                found = names_of_rows(X)
                warn_of_personal_names(data, "" if found is None else found[0])
        settled = settle_missing(data, how.missing, scale=how.scale, random_state=how.random_state)
        values = settled.table.values
        if isinstance(values, np.ndarray) and data.image_shape is None and not _are_distances(how.metric):
            warn_of_sentinels(values, settled.table.feature_names, data.columns, of_cells=data.part is not None)
            if not data.part:
                filled = None if settled.completion is None else settled.completion.missing
                warn_of_mixed_units(values, settled.table.feature_names, data.columns, filled)
                warn_of_totals(values, settled.table.feature_names, data.columns)
                warn_of_absent(values, settled.table.feature_names, data.columns)
            warn_of_filled_floors(values, settled.table.feature_names)
            join = find_join(values, settled.table.feature_names, data.columns)
            if join is not None:
                warn(join.told, DataWarning)
            given = settled.data.labels
            known = None if given is None else check_labels(given, len(values))
            warn_of_leaked_labels(values, known, settled.table.feature_names, data.columns)
    _refuse_equal_rows(settled.table)
    if not _are_distances(how.metric):
        warn_of_distances(settled.table.values)
    return Prepared(*settled, n_given, known_blocks, None if weights is None else weighing, told, join)


def _are_distances(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def _read(
    X: Any, labels: str | None, n_pcs: int | None, cells: dict[str, str | None], symbols: str | None = None
) -> Dataset:
    """Return what is to be mapped, with the coordinates in which that is asked for."""
    check_parameters({"n_pcs": Either(Integer(0), Nothing())}, {"n_pcs": n_pcs})
    if is_cells(X):
        return read_cells(X, n_pcs=n_pcs, labels=labels, feature_names=symbols, **cells)
    for name, value in cells.items():
        if value is not None:
            fact = f"it names a part of an AnnData object, and X is {type(X).__name__}"
            raise ValueError(message(f"{name}={value!r:.60}", "left out", fact=fact))
    data = X if isinstance(X, Dataset) else read_records(X) if are_records(X) else _with_names_of_rows(X)
    if n_pcs is None:
        return data
    if n_pcs == 0:
        return replace(data, representation=None)
    if isinstance(data.representation, Representation):
        return replace(data, representation=leading(data.representation, n_pcs))
    columns = None if data.representation is None else data.representation.columns
    return replace(data, representation=Reduction(n_pcs, columns))


def _with_names_of_rows(X: Any) -> Dataset:
    """Return a table as a data set, with the index of a data frame as names of its rows."""
    found = names_of_rows(X)
    return Dataset(_table(X), point_names=None if found is None else text_array(found[1]))


def _table(X: Any) -> Any:
    """Return what has rows and columns; lists of rows are read."""
    return X if hasattr(X, "shape") or is_frame(X) else check_table(X, allow_missing=True).values


@contextmanager
def noted() -> Iterator[list[str]]:
    """Keep the texts of gnomon's warnings; the warnings themselves go on to the caller, before an error too."""
    notes: list[str] = []
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GnomonWarning)
            yield notes
    finally:
        for warning in caught:
            if issubclass(warning.category, GnomonWarning):
                notes.append(str(warning.message))
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _refuse_equal_rows(table: Table) -> None:
    if len(find_constant_columns(table.values)) == table.n_features:
        fact = f"all {table.n_samples:,} rows are the same"
        raise ValueError(message("X", "a table of rows that differ", fact=fact, remedy="Are these the right columns?"))
