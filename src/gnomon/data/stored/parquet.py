"""Parquet files, one or many, read by whole row groups."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.arrays import working_dtype
from gnomon.data.dataset import first_few, require_names, text_array
from gnomon.data.frames import fill_columns
from gnomon.data.limits import refuse_unreadable
from gnomon.data.stored.annotated import texts
from gnomon.data.stored.grouped import GroupedTable

__all__ = ["ParquetFile", "ParquetTable"]

_TOGETHER = 1 << 22  # values that are decoded together, so that a row group is not in memory twice
_SHOWN = 5  # columns named in an error


@dataclass(frozen=True)
class ParquetFile:
    """A file, or some of its row groups.

    Attributes
    ----------
    path : str
        Within the file system.
    keys : dict
        What the names of its folders say of all its rows, such as {"year": "2024"}.
    groups : list of int or None
        Numbers of the row groups that count; None for all.
    """

    path: str
    keys: dict[str, Any] = field(default_factory=dict)
    groups: list[int] | None = None


class ParquetTable(GroupedTable):
    """Columns of numbers, and of vectors of numbers, of Parquet files that follow one another.

    Parameters
    ----------
    files : sequence of ParquetFile
        In the order of their rows.
    filesystem : pyarrow.fs.FileSystem, default=None
        Where they lie; None is this machine.
    columns : sequence of str or None, default=None
        The features, in this order. None takes all that hold numbers.
    name : str, default="X"
        For people.
    """

    has_columns = True

    def __init__(
        self,
        files: Sequence[ParquetFile],
        *,
        filesystem: Any = None,
        columns: Sequence[str] | None = None,
        name: str = "X",
    ) -> None:
        self._files, self._filesystem, self.name = list(files), filesystem, name
        if not self._files:
            raise ValueError(message(name, "one Parquet file or more", fact="there is none"))
        self._reader: tuple[int, Any] | None = None
        sizes: list[int] = []
        self._places: list[tuple[int, int]] = []  # file and row group of each group of the table
        schemas = []
        for number, file in enumerate(self._files):
            about = self._open(number).metadata
            schemas.append(self._open(number).schema_arrow)
            for group in range(about.num_row_groups) if file.groups is None else file.groups:
                self._places.append((number, group))
                sizes.append(int(about.row_group(group).num_rows))
        if min(sizes, default=0) < 0:
            raise ValueError(message(name, "of complete Parquet files", fact="a row group has fewer rows than none"))
        self._bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        self.n_samples = int(self._bounds[-1])
        self._schema = schemas[0]
        self._check_same(schemas)
        self._kinds = {  # the working types of each column of numbers
            str(name): {working_dtype(kind) for schema in schemas if (kind := _numbers(schema.field(name).type))}
            for name in self._schema.names
        }
        self._take(self._features(columns))

    def _take(self, widths: dict[str, int]) -> None:
        """Have these columns as features, given with the length of their vectors."""
        self._widths = widths
        self.feature_names = [name for names in self.feature_columns.values() for name in names]
        self.n_features = len(self.feature_names)
        self.dtype = np.float64 if any(np.float64 in self._kinds[one] for one in widths) else np.float32
        self._check_groups()

    @property
    def feature_columns(self) -> dict[str, list[str]]:
        """The columns of the features, by name, with the names of the features: of vectors, one for each number."""
        return {
            one: [f"{one}[{j}]" if width else one for j in range(width or 1)] for one, width in self._widths.items()
        }

    def with_columns(self, columns: Sequence[str]) -> ParquetTable:
        """Return the table with some of its columns as features, in this order; the others are beside these.

        Parameters
        ----------
        columns : sequence of str
            Of `feature_columns`.
        """
        other = copy(self)
        other._take({name: self._widths[name] for name in columns})
        return other

    def _open(self, number: int) -> Any:
        opened = self._reader
        if opened is None or opened[0] != number:
            module = import_optional("pyarrow.parquet", package="pyarrow", extra="io")
            path = self._files[number].path
            with refuse_unreadable(f"file {path!r}", "a complete Parquet file", errors=(Exception,)):
                opened = number, module.ParquetFile(path, filesystem=self._filesystem, page_checksum_verification=True)
            self._reader = opened
        return opened[1]

    def _check_same(self, schemas: Sequence[Any]) -> None:
        names = list(self._schema.names)
        if len(set(names)) < len(names):
            again = next(name for name in names if names.count(name) > 1)
            raise ValueError(message(self.name, "without columns of the same name", fact=f"two are called {again!r}"))
        for file, schema in zip(self._files, schemas, strict=True):
            other = sorted(set(schema.names) ^ set(names))
            if other:
                fact = f"column {other[0]!r} is not in each of {self._files[0].path!r} and {file.path!r}"
                raise ValueError(message(self.name, "files with the same columns", fact=fact))
            for name in names:
                if (_numbers(schema.field(name).type) is None) != (_numbers(self._schema.field(name).type) is None):
                    fact = f"column {name!r} of {file.path!r} holds {schema.field(name).type}"
                    raise ValueError(message(self.name, "files whose columns hold the same", fact=fact))

    def _features(self, columns: Sequence[str] | None) -> dict[str, int]:
        """Return the columns of features with the length of their vectors, 0 for plain numbers."""
        kinds = {str(one.name): one.type for one in self._schema}
        require_names(columns or (), list(kinds), what="columns")
        for name in columns or ():
            if list(columns or ()).count(name) > 1:
                raise ValueError(
                    message(f"columns={list(columns or ())!r:.60}", "different", fact=f"{name!r} is repeated")
                )
        wanted = [name for name in kinds if not name.startswith("__index_level_")] if columns is None else list(columns)
        widths = {name: self._width(name) for name in wanted}
        bad = [name for name, width in widths.items() if width is None]
        if bad and columns is not None:
            shown = first_few((f"{name!r}: {kinds[name]}" for name in bad), _SHOWN)
            fact = f"{len(bad):,} of {len(wanted):,} columns hold something else: {shown}"
            remedy = "Name the columns of numbers: gnomon.open_table(path, columns=[...])."
            raise TypeError(message(self.name, "a table of real numbers", fact=fact, remedy=remedy))
        found = {name: width for name, width in widths.items() if width is not None}
        if not found:
            fact = f"its columns: {first_few(map(repr, wanted), _SHOWN)}"
            raise ValueError(message(self.name, "a table with columns of numbers", fact=fact))
        return found

    def _width(self, name: str) -> int | None:
        kind = self._schema.field(name).type
        if _numbers(kind) is None:
            return None
        if not _is_list(kind):
            return 0
        if hasattr(kind, "list_size"):
            return int(kind.list_size)
        if not self.n_samples:
            return None
        number, group = self._places[int(np.searchsorted(self._bounds, 0, side="right")) - 1]
        batches = self._open(number).iter_batches(batch_size=1, row_groups=[group], columns=[name])
        first = next(iter(batches)).column(name).to_pylist()[0]
        return len(first) if first else None

    @property
    def fingerprint(self) -> str:
        """Sizes and times of the files, and the columns."""
        parts = [f"{self._widths} {self.shape}"]
        for file in self._files:
            if self._filesystem is None:
                status = os.stat(file.path)
                parts.append(f"{os.path.abspath(file.path)} {status.st_size} {status.st_mtime_ns} {file.groups}")
            else:
                about = self._filesystem.get_file_info(file.path)
                parts.append(f"{file.path} {about.size} {about.mtime_ns} {file.groups}")
        return f"{len(self._files)} Parquet files {self.shape} {zlib.crc32(repr(parts).encode()):08x}"

    def _groups(self, first: int, last: int) -> npt.NDArray[Any]:
        begin = self._bounds[first]
        values = np.empty((int(self._bounds[last] - begin), self.n_features), self.dtype)
        for at in range(first, last):
            number, group = self._places[at]
            self._fill(values[self._bounds[at] - begin : self._bounds[at + 1] - begin], number, group)
        return values

    def _fill(self, values: npt.NDArray[Any], number: int, group: int) -> None:
        place = 0
        rule = f"a complete Parquet file in row group {group}"
        for names in self._batches(len(values)):
            with refuse_unreadable(f"file {self._files[number].path!r}", rule, errors=(Exception,)):
                table = self._open(number).read_row_group(group, columns=names)
                table.validate(full=True)  # offsets and lengths are believed from here on
                if table.num_rows != len(values):
                    raise ValueError(f"{len(values):,} rows are promised and {table.num_rows:,} stored")
            found: list[npt.NDArray[Any]] = []
            for name in names:
                what, width = f"column {name!r} of {self._files[number].path!r}", self._widths[name]
                with refuse_unreadable(what, _rule(width), errors=(Exception,)):
                    found += _arrays(table.column(name), width)
            fill_columns(values[:, place : place + len(found)], found)
            place += len(found)

    def _batches(self, n_rows: int) -> Iterable[list[str]]:
        names: list[str] = []
        size = 0
        for name, width in self._widths.items():
            if names and size + n_rows * (width or 1) > _TOGETHER:
                yield names
                names, size = [], 0
            names.append(name)
            size += n_rows * (width or 1)
        yield names

    def _beside(self) -> Mapping[str, Callable[[], Any]]:
        others = [str(name) for name in self._schema.names if name not in self._widths]
        keys = sorted({key for file in self._files for key in file.keys} - set(self._schema.names))
        return {name: partial(self._other, name) for name in others} | {name: partial(self._key, name) for name in keys}

    def _other(self, name: str) -> npt.NDArray[Any]:
        found = []
        for number, group in self._places:
            path = self._files[number].path
            with refuse_unreadable(f"file {path!r}", "a complete Parquet file", errors=(Exception,)):
                table = self._open(number).read_row_group(group, columns=[name])
                table.validate(full=True)
                found.append(texts(np.asarray(table.column(name).to_numpy())))
        return np.concatenate(found)

    def _key(self, name: str) -> npt.NDArray[Any]:
        counts = np.diff(self._bounds)
        values = [self._files[number].keys.get(name) for number, _ in self._places]
        said = text_array([None if value is None else str(value) for value in values])
        return np.repeat(said, counts)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the file that is open."""
        return {**super().__getstate__(), "_reader": None}


def _is_list(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def _numbers(kind: Any) -> Any:
    """Return the dtype of the numbers in a column or in its vectors; None if it holds something else."""
    import pyarrow.types as kinds

    inner = kind.value_type if _is_list(kind) else kind
    if kinds.is_decimal(inner):
        return np.dtype(np.float64)
    if kinds.is_boolean(inner) or kinds.is_integer(inner) or kinds.is_floating(inner):
        return np.dtype(inner.to_pandas_dtype())
    return None


def _rule(width: int) -> str:
    return f"vectors of {width} numbers" if width else "numbers"


def _arrays(column: Any, width: int) -> list[npt.NDArray[Any]]:
    """Return a column of numbers, or the entries of its vectors, as arrays; NaN where a number is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = column.type.value_type if width else column.type
    if pa.types.is_decimal(inner) or pa.types.is_boolean(inner):
        column = column.cast(pa.list_(pa.float64()) if width else pa.float64())
    if width == 0:
        return [column.to_numpy()]
    lengths = pc.list_value_length(column)
    if column.null_count or pc.min(lengths).as_py() != width or pc.max(lengths).as_py() != width:
        raise ValueError("some are missing or have another length")
    return list(pc.list_flatten(column).to_numpy().reshape(-1, width).T)
