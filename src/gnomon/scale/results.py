"""Results with a row for each row of a table, written block by block as Zarr, Parquet or NPY, and read back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._files import atomic_write
from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.stored import ArrayTable, RowBlock, StoredTable
from gnomon.scale.journal import first_difference

__all__ = ["ResultColumn", "ResultsWriter", "StoredResults", "open_results", "read_results"]

Arrays = Mapping[str, npt.NDArray[Any]]


def _module(name: str) -> Any:
    """Return zarr, pyarrow or pyarrow.parquet."""
    return import_optional(name, package=name.partition(".")[0], extra="scale")


@dataclass(frozen=True)
class ResultColumn:
    """A number, or a few, of each row.

    Attributes
    ----------
    name : str
    dtype : str
        As NumPy writes it, such as "float32".
    width : int, default=0
        Numbers of a row, one array with two dimensions in Zarr and columns NAME1, NAME2, ... in Parquet; 0 for one.
    values : tuple of str, default=()
        What whole numbers from 0 stand for: a dictionary in Parquet, the attribute "values" of the array in Zarr.
    """

    name: str
    dtype: str
    width: int = 0
    values: tuple[str, ...] = ()

    @property
    def fields(self) -> list[str]:
        """Names of the columns of a table with one number in each."""
        return [f"{self.name}{place}" for place in range(1, self.width + 1)] if self.width else [self.name]

    def shape(self, n: int) -> tuple[int, ...]:
        """Return the shape of the array of n rows."""
        return (n, self.width) if self.width else (n,)


class _Format:
    """How blocks of arrays are laid out in a file or folder."""

    one_array = False  # whether there is no room for more than one column

    def create(self, path: Path, columns: Sequence[ResultColumn], blocks: Sequence[RowBlock]) -> None:
        """Make ready what blocks are written to; twice is as once."""
        raise NotImplementedError

    def write(self, path: Path, columns: Sequence[ResultColumn], block: RowBlock, arrays: Arrays) -> None:
        """Write the rows of a block; twice is as once."""
        raise NotImplementedError

    def read(self, path: Path, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        """Return rows of an array."""
        raise NotImplementedError

    def columns(self, path: Path) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the arrays by name."""
        raise NotImplementedError


class _Zarr(_Format):
    """A group with an array for each column, whose chunks are the blocks."""

    def create(self, path: Path, columns: Sequence[ResultColumn], blocks: Sequence[RowBlock]) -> None:
        """Write the metadata; no chunk is left out for being 0 throughout, so that all that stand were written."""
        zarr = _module("zarr")
        n, step = blocks[-1].stop, len(blocks[0])
        group = zarr.open_group(path, mode="a")
        for column in columns:
            if column.name not in group:
                shape, chunks = column.shape(n), column.shape(step)
                array = group.create_array(column.name, shape=shape, chunks=chunks, dtype=column.dtype)
                if column.values:
                    array.attrs["values"] = list(column.values)

    def write(self, path: Path, columns: Sequence[ResultColumn], block: RowBlock, arrays: Arrays) -> None:
        """Write a chunk of each array."""
        group = _module("zarr").open_group(path, mode="r+")
        for column in columns:
            group[column.name][block.start : block.stop] = arrays[column.name]

    def read(self, path: Path, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        """Read the chunks that hold the rows."""
        return np.asarray(_module("zarr").open_group(path, mode="r")[name][start:stop])

    def columns(self, path: Path) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the arrays."""
        group = _module("zarr").open_group(path, mode="r")
        return {name: tuple(array.shape) for name, array in sorted(group.arrays())}


class _Parquet(_Format):
    """A folder with a file for each block, which all readers of Parquet take as one table."""

    def create(self, path: Path, columns: Sequence[ResultColumn], blocks: Sequence[RowBlock]) -> None:
        """Make the folder."""
        path.mkdir(exist_ok=True)

    def write(self, path: Path, columns: Sequence[ResultColumn], block: RowBlock, arrays: Arrays) -> None:
        """Write one file, whole or not at all."""
        pa, pq = _module("pyarrow"), _module("pyarrow.parquet")
        fields: dict[str, Any] = {}
        for column in columns:
            values = np.asarray(arrays[column.name], dtype=column.dtype).reshape(len(block), -1)
            for name, one in zip(column.fields, values.T, strict=True):
                plain = pa.array(np.ascontiguousarray(one))
                fields[name] = pa.DictionaryArray.from_arrays(plain, list(column.values)) if column.values else plain
        kinds = {column.name: [column.dtype, column.width] for column in columns}
        table = pa.table(fields).replace_schema_metadata({"gnomon": json.dumps(kinds)})
        with atomic_write(path / f"part-{block.number:06d}.parquet") as file:
            pq.write_table(table, file)

    def _parts(self, path: Path) -> list[tuple[Path, int]]:
        parts = sorted(path.glob("part-*.parquet"))
        return [(part, int(_module("pyarrow.parquet").read_metadata(part).num_rows)) for part in parts]

    def _kinds(self, path: Path) -> dict[str, list[Any]]:
        stored = _module("pyarrow.parquet").read_schema(self._parts(path)[0][0]).metadata or {}
        kinds: dict[str, list[Any]] = json.loads(stored.get(b"gnomon", b"{}"))
        return kinds

    def read(self, path: Path, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        """Read the columns of the files that hold the rows."""
        pa, pq = _module("pyarrow"), _module("pyarrow.parquet")
        dtype, width = self._kinds(path)[name]
        fields, found, first = ResultColumn(name, dtype, width).fields, [], 0
        for part, n in self._parts(path):
            if first < stop and first + n > start:
                table = pq.read_table(part, columns=fields).combine_chunks()
                kept = slice(max(start - first, 0), min(stop - first, n))
                columns = [table.column(field).combine_chunks() for field in fields]
                plain = [one.indices if isinstance(one, pa.DictionaryArray) else one for one in columns]
                found.append(np.stack([one.to_numpy(zero_copy_only=False)[kept] for one in plain], axis=1))
            first += n
        whole = np.concatenate(found) if found else np.empty((0, len(fields)))
        return np.ascontiguousarray(whole if width else whole[:, 0], dtype=dtype)

    def columns(self, path: Path) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the columns, those that were one array together."""
        n = sum(rows for _, rows in self._parts(path))
        return {name: ResultColumn(name, dtype, width).shape(n) for name, (dtype, width) in self._kinds(path).items()}


class _Npy(_Format):
    """One array in a file of NumPy."""

    one_array = True

    def create(self, path: Path, columns: Sequence[ResultColumn], blocks: Sequence[RowBlock]) -> None:
        """Write a file of the final size."""
        if not path.exists():
            shape = columns[0].shape(blocks[-1].stop)
            np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(columns[0].dtype), shape=shape).flush()

    def write(self, path: Path, columns: Sequence[ResultColumn], block: RowBlock, arrays: Arrays) -> None:
        """Write rows to their place in the file."""
        array = np.lib.format.open_memmap(path, mode="r+")
        array[block.start : block.stop] = arrays[columns[0].name]
        array.flush()

    def read(self, path: Path, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        """Read rows of the array."""
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])

    def columns(self, path: Path) -> dict[str, tuple[int, ...]]:
        """Return the shape of the array, by the name of the file."""
        return {path.stem: tuple(np.load(path, mmap_mode="r", allow_pickle=False).shape)}


_FORMATS: dict[str, _Format] = {".zarr": _Zarr(), ".parquet": _Parquet(), ".npy": _Npy()}


def _format_of(path: Path) -> _Format:
    found = _FORMATS.get(path.suffix.lower())
    if found is None:
        raise ValueError(message(f"out={path.name!r}", f"named with one of the endings {', '.join(_FORMATS)}"))
    return found


@dataclass(frozen=True)
class ResultsWriter:
    """Results on their way to a file or folder; made by `open_results`.

    Blocks are written to a hidden folder beside the target, which is moved there as a whole by `finish`: under its name
    there is never half a result. A writer can be sent to other processes that see the same folder.

    Attributes
    ----------
    path : Path
        Where the results will be.
    columns : tuple of ResultColumn
    blocks : tuple of RowBlock
    """

    path: Path
    columns: tuple[ResultColumn, ...]
    blocks: tuple[RowBlock, ...]

    @property
    def _folder(self) -> Path:
        return _folder_of(self.path)

    @property
    def _data(self) -> Path:
        return self._folder / f"data{self.path.suffix}"

    def _note(self, block: RowBlock) -> Path:
        return self._folder / f"{block.number:06d}.npz"

    def missing(self) -> list[RowBlock]:
        """Return the blocks that are not written yet."""
        return [block for block in self.blocks if not self._note(block).exists()]

    def write(self, block: RowBlock, arrays: Arrays, notes: Arrays | None = None) -> None:
        """Write the rows of a block; it counts as written only when all of it is.

        Parameters
        ----------
        block : RowBlock
        arrays : mapping of str to ndarray of shape (len(block),) or (len(block), width)
            Of all columns.
        notes : mapping of str to ndarray, default=None
            Small arrays that are kept for `notes`, such as sums over the block.

        Raises
        ------
        ValueError
            If an array is missing or of another shape.
        """
        for column in self.columns:
            given = np.shape(arrays[column.name]) if column.name in arrays else "missing"
            if given != column.shape(len(block)):
                rule = f"of shape {column.shape(len(block))} for block {block.number}"
                raise ValueError(message(f"array {column.name!r}", rule, fact=f"found {given}"))
        _format_of(self.path).write(self._data, self.columns, block, arrays)
        with atomic_write(self._note(block)) as file:
            np.savez(file, allow_pickle=False, **(notes or {}))

    def notes(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the notes of all blocks, in order."""
        for block in self.blocks:
            with np.load(self._note(block), allow_pickle=False) as stored:
                yield {name: stored[name] for name in stored.files}

    def finish(self) -> StoredResults:
        """Move the results to their name and return them; the notes stay, so that a later run finds all done.

        Raises
        ------
        ValueError
            If a block is not written.
        """
        missing = self.missing()
        if missing:
            fact = f"{len(missing)} of {len(self.blocks)} are not, the first is block {missing[0].number}"
            raise ValueError(message("results", "written in all blocks before they are finished", fact=fact))
        if self._data.exists():
            os.replace(self._data, self.path)
        return read_results(self.path)


class StoredResults:
    """Results on disk, read when they are asked for; made by `read_results`.

    Attributes
    ----------
    path : Path
    shapes : dict of str to tuple of int
        Of the arrays by name; the first number is that of the rows.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise FileNotFoundError(message(f"results {str(path)!r}", "an existing file or folder"))

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays by name."""
        return _format_of(self.path).columns(self.path)

    def read(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return rows [start, stop) of an array, all by default."""
        if name not in self.shapes:
            raise KeyError(message(f"array {name!r}", f"one of {', '.join(self.shapes)}"))
        n = self.shapes[name][0]
        return _format_of(self.path).read(self.path, name, start, n if stop is None else min(stop, n))

    def table(self, name: str) -> StoredTable:
        """Return an array with two dimensions as a table that is read in blocks, such as positions."""
        return _ResultTable(self, name)


class _ResultTable(StoredTable):
    """One array of stored results."""

    def __init__(self, results: StoredResults, name: str) -> None:
        shape = results.shapes[name]
        if len(shape) != 2:
            raise ValueError(message(f"array {name!r} of shape {shape}", "with two dimensions"))
        self._results, self._name = results, name
        self.n_samples, self.n_features = shape
        self.dtype = ArrayTable(results.read(name, 0, 1)).dtype
        self.name = f"{results.path.name}[{name!r}]"

    @property
    def fingerprint(self) -> str:
        """Path, name and shape, and the time of the file or folder."""
        return f"{self._results.path.resolve()} {self._name} {self.shape} {self._results.path.stat().st_mtime_ns}"

    def _rows(self, start: int, stop: int) -> Any:
        return self._results.read(self._name, start, stop)


def _folder_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.run")


def open_results(
    path: str | os.PathLike[str], columns: Sequence[ResultColumn], blocks: Sequence[RowBlock], run: Mapping[str, Any]
) -> ResultsWriter:
    """Begin to write results, or go on where a run that was cut stopped.

    Parameters
    ----------
    path : path-like
        NAME.zarr, a group with an array for each column; NAME.parquet, a folder with a file for each block; or NAME.npy
        for a single column. Nothing is there before `ResultsWriter.finish`.
    columns : sequence of ResultColumn
    blocks : sequence of RowBlock
        Of the table that the rows belong to; they become the chunks or files.
    run : mapping of str to str, int, float, bool or None
        What decides the results. It is kept in the hidden folder ``.NAME.run`` beside the target.

    Returns
    -------
    ResultsWriter

    Raises
    ------
    FileExistsError
        If something is there that this run did not write.
    ValueError
        If a run that was cut, and that was another one, was to write there; or the name has another ending.
    """
    target = Path(os.path.abspath(path))
    form, folder = _format_of(target), _folder_of(target)
    record = folder / "run.json"
    if form.one_array and len(columns) > 1:
        fact = f"there are {len(columns)}: {', '.join(column.name for column in columns)}"
        remedy = "Choose a name that ends in .zarr or .parquet."
        raise ValueError(message(f"out={target.name!r}", "for one array", fact=fact, remedy=remedy))
    kinds = [[column.name, column.dtype, column.width] for column in columns]
    known = json.loads(json.dumps({**run, "columns": kinds, "rows": blocks[-1].stop, "blocks": len(blocks)}))
    what, remedy = f"out={str(path)!r}", f"Remove it with {folder.name}, or choose another name."
    if record.exists():
        before = json.loads(record.read_text())
        if fact := first_difference(before, known):
            raise ValueError(message(what, "new or of this run", fact=fact, remedy=remedy))
    elif target.exists():
        raise FileExistsError(message(what, "a name that nothing has yet", remedy=remedy))
    writer = ResultsWriter(target, tuple(columns), tuple(blocks))
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if not record.exists():
            with atomic_write(record, "w") as file:
                json.dump(known, file, indent=1)
        if not writer._data.exists():
            for block in blocks:
                writer._note(block).unlink(missing_ok=True)
        form.create(writer._data, columns, blocks)
    return writer


def read_results(path: str | os.PathLike[str]) -> StoredResults:
    """Open results that were written by blocks.

    Parameters
    ----------
    path : path-like
        As for `open_results`.

    Returns
    -------
    StoredResults
    """
    return StoredResults(os.path.abspath(path))
