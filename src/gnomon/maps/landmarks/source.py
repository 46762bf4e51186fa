"""Where the rows of a map with landmarks come from: a prepared table in memory, or one that is read in blocks."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data import Dataset, Representation, Table, check_labels
from gnomon.data.cells import is_cells, told_part
from gnomon.data.dataset import first_few
from gnomon.data.scaling import ScalingChoice, choose_scaling
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.maps.fitting import ChooseScaling
from gnomon.maps.prepare import Prepared, Reading, prepare
from gnomon.scale import current_executor

__all__ = ["MemoryTable", "Rows", "Source", "crc_of", "noting_unused", "open_source"]

Rows = npt.NDArray[np.int64]

_SHOWN = 5  # columns named in a note


class MemoryTable(StoredTable):
    """A checked table in memory, dense or sparse.

    Parameters
    ----------
    table : Table
    name : str, default="X"
    """

    def __init__(self, table: Table, *, name: str = "X") -> None:
        self._values: Any = table.values
        self.n_samples, self.n_features = (int(size) for size in table.values.shape)
        self.dtype, self.is_sparse = table.values.dtype.type, table.is_sparse
        self.feature_names, self.name = table.feature_names, name

    @property
    def fingerprint(self) -> str:
        """A checksum of all numbers."""
        parts = [self._values.data, self._values.indices] if self.is_sparse else [self._values]
        return f"table {self.shape} {self._values.dtype} {' '.join(crc_of(part) for part in parts)}"

    def _rows(self, start: int, stop: int) -> Any:
        return self._values[start:stop]

    def _chosen(self, rows: Rows) -> Any:
        return self._values[rows]


class Source(ABC):
    """All rows of a map.

    Attributes
    ----------
    table : StoredTable
        Their numbers.
    labels : ndarray of shape (n_samples,) or None
    """

    table: StoredTable
    labels: npt.NDArray[Any] | None

    @abstractmethod
    def part(self, rows: Rows) -> Prepared:
        """Return some rows, by ascending numbers, prepared to be fitted."""

    @property
    @abstractmethod
    def choose(self) -> ChooseScaling:
        """How columns are standardised, decided on all rows."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, str]:
        """What of the rows decides the map beside the table, for the record of a run."""


@dataclass(frozen=True)
class _InMemory(Source):
    whole: Prepared
    table: StoredTable

    @property
    def labels(self) -> npt.NDArray[Any] | None:  # type: ignore[override]
        """Those of the prepared table."""
        found: npt.NDArray[Any] | None = self.whole.labels
        return found

    def part(self, rows: Rows) -> Prepared:
        whole, data = self.whole, self.whole.data
        if len(rows) == whole.table.n_samples:
            return whole
        of_rows = {name: getattr(data, name) for name in ("labels", "target", "point_names", "images", "depth")}
        kept: dict[str, Any] = {name: None if one is None else np.asarray(one)[rows] for name, one in of_rows.items()}
        metadata = {name: np.asarray(column)[rows] for name, column in data.metadata.items()}
        index = None if whole.table.index is None else whole.table.index[rows]
        table = replace(whole.table, values=whole.table.values[rows], index=index)
        told = whole.told
        if whole.completion is not None:
            told = [*told, "Missing values of all rows were filled in before landmarks were drawn; new rows have none."]
        return replace(
            whole,
            data=replace(data, X=table.values, metadata=metadata, **kept),
            table=table,
            completion=None,
            told=told,
        )

    @property
    def choose(self) -> ChooseScaling:
        return partial(choose_scaling, self.whole.table.values)

    @property
    def facts(self) -> dict[str, str]:
        data = self.whole.data
        return _facts({"labels": data.labels, "target": data.target, "n_pcs": data.representation})


@dataclass(frozen=True)
class _InBlocks(Source):
    table: StoredTable
    labels: npt.NDArray[Any] | None
    target: npt.NDArray[Any] | None
    reading: Reading

    def part(self, rows: Rows) -> Prepared:
        stated, n = dict(self.reading.stated), self.table.n_samples
        for name in ("images", "point_names"):
            if name in stated:
                stated[name] = _of_rows(stated[name], rows, n, name)
        if "metadata" in stated:
            named = stated["metadata"].items()
            stated["metadata"] = {key: _of_rows(column, rows, n, f"metadata[{key!r}]") for key, column in named}
        if self.labels is not None:
            stated["labels"] = self.labels[rows]
        target = None if self.target is None else self.target[rows]
        table, names = self.table, self.table.feature_names
        source = "" if table.name == "X" else table.name
        data = Dataset(_read_rows(table, rows), None if names is None else list(names), source=source, part=table.part)
        prepared = prepare(data, replace(self.reading, stated=stated, column=None, target=target, drop=None))
        return _noting_coordinates(noting_unused(prepared, self.table, self.reading), self.table)

    @property
    def choose(self) -> ChooseScaling:
        return partial(_choose, self.table)

    @property
    def facts(self) -> dict[str, str]:
        return _facts({"labels": self.labels, "target": self.target, "n_pcs": self.reading.n_pcs})


def _choose(table: StoredTable, scale: Any, *, names: list[str], metric: str, spreads: Any) -> ScalingChoice:
    """Decide by all rows of a table that is read in blocks; its columns have the spreads that they have."""
    from gnomon.scale import choose_stored_scaling

    found: ScalingChoice = choose_stored_scaling(table, scale, names=names, metric=metric)
    return found


def open_source(X: Any, stored: StoredTable | None, reading: Reading) -> Source:
    """Return all rows of X.

    Parameters
    ----------
    X : object
        As `gnomon.map` takes it.
    stored : StoredTable or None
        What X is if it is read in blocks.
    reading : Reading
        How it is read.

    Raises
    ------
    ValueError
        If something does not go with landmarks.
    """
    _refuse(reading, in_blocks=stored is not None)
    if stored is None:
        whole = prepare(X, reading)
        if isinstance(whole.data.representation, Representation) or whole.data.distances is not None:
            rule, fact = "of features where landmarks are fitted", "new rows would have none of its coordinates"
            remedy = 'Pass the coordinates themselves, such as adata.obsm["X_pca"], or use_rep="X" and n_pcs=50.'
            raise ValueError(message("the map", rule, fact=fact, remedy=remedy))
        return _InMemory(whole, MemoryTable(whole.table, name=whole.data.name or "X"))
    n, labels = stored.n_samples, reading.stated.get("labels")
    reading = replace(reading, cells={}) if is_cells(X) else reading  # `as_stored` has followed them
    if reading.column is not None:
        labels = stored.column(reading.column)
        reading = replace(reading, stated={"label_name": reading.column, **reading.stated})
    target = stored.column(reading.target) if isinstance(reading.target, str) else reading.target
    checked = None if labels is None else check_labels(labels, n)
    followed = None if target is None else check_labels(target, n, name="target")
    return _InBlocks(stored, checked, followed, reading)


def _refuse(reading: Reading, *, in_blocks: bool) -> None:
    """Raise ValueError for what only a map of all rows, or only a table in memory, has."""
    remedy = "Leave it out, or map all rows without n_fitted."
    for name in ("sample_weight", "blocks"):
        if getattr(reading, name) is not None:
            raise ValueError(message(name, "left out where landmarks are fitted", remedy=remedy))
    if reading.anchored:
        raise ValueError(message("anchors", "left out where landmarks are fitted", remedy=remedy))
    cells = {name: value for name, value in reading.cells.items() if name != "use_rep"}
    for name, value in cells.items() if in_blocks else ():
        if value is not None:
            remedy = "Leave it out, or map all rows in memory."
            if name in ("layer", "explain"):
                place = "raw/X" if value == "raw" else f"layers/{value}"
                remedy = f"Open the table at its place in the file: gnomon.open_table(path, key={place!r})."
            raise ValueError(message(name, "left out for a table that is read in blocks", remedy=remedy))


def _read_rows(table: StoredTable, rows: Rows) -> Any:
    """Return rows, each block read by who works in the run."""
    import scipy.sparse as sp

    cuts = [(block, rows[slice(*np.searchsorted(rows, [block.start, block.stop]))]) for block in table.blocks()]
    workers = current_executor()
    found = list(workers.map(_take, [cut for cut in cuts if len(cut[1])], workers.broadcast(table)))
    return sp.csr_array(sp.vstack(found, format="csr")) if table.is_sparse else np.concatenate(found)


def _take(cut: tuple[RowBlock, Rows], table: StoredTable) -> Any:
    return table.take(cut[1])


def _of_rows(values: Any, rows: Rows, n: int, name: str) -> Any:
    column = np.asarray(values)
    if column.shape[:1] != (n,):
        raise ValueError(message(f"{name} of shape {column.shape}", f"of {n:,} rows"))
    return column[rows]


def _facts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: crc_of(value) for name, value in values.items() if value is not None}


def crc_of(value: Any) -> str:
    """Return a checksum of an array, of whatever type, or of the text of anything else."""
    if not isinstance(value, np.ndarray):
        return f"{zlib.crc32(repr(value).encode()):08x}"
    if value.dtype.hasobject:
        return f"{zlib.crc32(repr(value.tolist()).encode()):08x}"
    return f"{zlib.crc32(np.ascontiguousarray(value).view(np.uint8).data):08x}"


def _noting_coordinates(prepared: Prepared, table: StoredTable) -> Prepared:
    """Return rows of coordinates of an AnnData object with a note that its genes have no part in the map."""
    if not table.part.startswith("obsm/"):
        return prepared
    what = (
        f"the map is made of {told_part(table.part)} and explained in these coordinates: genes are not read with them"
    )
    how = "where genes are wanted, pass n_pcs=50 for their components, or use_rep='X'"
    return replace(prepared, told=[*prepared.told, f"{what}; {how}"])


def noting_unused(prepared: Prepared, table: StoredTable, reading: Reading) -> Prepared:
    """Return rows of a stored table with a note of the columns beside its features that have no part in the map."""
    used = {reading.column, reading.stated.get("label_name"), reading.target if isinstance(reading.target, str) else ""}
    names = [name for name in table.columns if name not in {*used, *(reading.drop or ())}]
    if not names:
        return prepared
    what = f"columns stored beside the features are not mapped: {first_few(map(repr, names), _SHOWN)}"
    return replace(prepared, told=[*prepared.told, f"{what}; gnomon.read_table(path) makes features of them"])
