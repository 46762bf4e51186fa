"""Stored tables of which some columns are features, and the others stored beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.names import default_names
from gnomon.data.stored.parquet import ParquetTable
from gnomon.data.stored.table import StoredTable
from gnomon.data.stored.transformed import TransformedTable

__all__ = ["NarrowedTable", "columns_of", "narrow", "with_features"]


class NarrowedTable(TransformedTable):
    """Some columns of a stored table that is read by whole rows; the other columns are stored beside the features.

    Parameters
    ----------
    table : StoredTable
    places : sequence of int
        Numbers of the columns, in the order of the features.
    """

    def __init__(self, table: StoredTable, places: Sequence[int]) -> None:
        self._names = table.feature_names or default_names(table.n_features)
        self._taken = [int(place) for place in places]
        names = None if table.feature_names is None else [self._names[place] for place in self._taken]
        take = partial(_take_columns, places=np.asarray(self._taken, dtype=np.intp))
        super().__init__(table, take, key=f"columns {self._taken}", feature_names=names)
        self.part = table.part

    def _beside(self) -> Mapping[str, Callable[[], Any]]:
        others = [place for place in range(self.table.n_features) if place not in {*self._taken}]
        return {**self.table._beside(), **{self._names[place]: partial(self._other, place) for place in others}}

    def _other(self, place: int) -> npt.NDArray[Any]:
        only = NarrowedTable(self.table, [place])
        parts: list[Any] = [only.read(block.start, block.stop) for block in self.table.blocks()]
        return np.concatenate([np.asarray(part.toarray() if only.is_sparse else part)[:, 0] for part in parts])


def _take_columns(rows: Any, places: npt.NDArray[np.intp]) -> Any:
    taken = rows[:, places]
    return taken if hasattr(taken, "tocsr") else np.ascontiguousarray(taken)


def columns_of(table: StoredTable) -> dict[str, list[str]]:
    """Return the columns that hold the features of a table, by name, with the names of the features of each.

    A column of vectors, in Parquet files, holds several. Where columns have no names, they are called by their numbers.
    """
    if isinstance(table, ParquetTable):
        return table.feature_columns
    return {name: [name] for name in table.feature_names or default_names(table.n_features)}


def narrow(table: StoredTable, columns: Sequence[str]) -> StoredTable:
    """Return a table of which these columns are the features, in this order.

    Parameters
    ----------
    table : StoredTable
    columns : sequence of str
        Of those that `columns_of` returns.

    Returns
    -------
    StoredTable
        The others are stored beside its features: `column` reads them. The table itself if they are all of it. Of
        Parquet files no other column is read for the features.
    """
    held = columns_of(table)
    if list(columns) == list(held):
        return table
    if isinstance(table, ParquetTable):
        return table.with_columns(columns)
    numbers = {name: place for place, name in enumerate(held)}
    return NarrowedTable(table, [numbers[name] for name in columns])


def with_features(table: StoredTable, names: Sequence[str] | None) -> StoredTable:
    """Return a table with the features of these names alone, in this order; as it is if it does not hold them all."""
    if names is None or table.feature_names is None or list(names) == list(table.feature_names):
        return table
    held = {feature: column for column, features in columns_of(table).items() for feature in features}
    if not {*names} <= held.keys():
        return table
    columns = [*dict.fromkeys(held[name] for name in names)]
    narrowed = narrow(table, columns)
    return narrowed if narrowed.feature_names == list(names) else table
