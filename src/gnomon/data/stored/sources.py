"""Whatever holds rows beyond memory becomes a stored table: an object of a library, an iterator, a file or a folder."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._files import require_existing
from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.dataset import require_name
from gnomon.data.labels import natural_order
from gnomon.data.limits import refuse_unreadable
from gnomon.data.numpy_files import read_header
from gnomon.data.stored.annotated import coordinates_of
from gnomon.data.stored.arrays import ArrayTable, Stretch, check_array, stretch_of
from gnomon.data.stored.libraries import cells_in_file, of_library, table_of_node
from gnomon.data.stored.nodes import HDF5Node, ZarrNode, find_key
from gnomon.data.stored.parquet import ParquetFile, ParquetTable
from gnomon.data.stored.spooled import SpooledTable
from gnomon.data.stored.table import StoredTable
from gnomon.data.texts import refuse_texts

__all__ = ["as_stored", "coordinates_in_file", "open_stored", "open_table"]

_HDF5 = (".h5", ".hdf5", ".h5ad")
_TEXT = (".csv", ".tsv", ".txt")
_TO_PARQUET = (
    'Read it with gnomon.read_table if it fits in memory. Convert it: python -c "'
    "from pyarrow import csv, dataset as d; d.write_dataset(d.dataset('{name}', "
    "format=d.CsvFileFormat(csv.ParseOptions(delimiter={delimiter}))), '{stem}.parquet', format='parquet')\""
)
_KINDS = "one of .npy, .zarr, .h5, .hdf5, .h5ad, .parquet or a folder of Parquet files"


def as_stored(
    X: Any, *, use_rep: str | None = None, folder: str | os.PathLike[str] | None = None
) -> StoredTable | None:
    """Return what holds rows beyond memory as a stored table.

    Nothing is imported to find out what X is.

    Parameters
    ----------
    X : object
        A StoredTable, a memory map of NumPy, an array or data frame of Dask, an array of Zarr, a dataset of h5py or
        pyarrow, an AnnData object that is backed by a file, an iterator of blocks of rows, or a path or list of paths
        for `open_stored`. Of an AnnData object the matrix `X`; a view of one is in memory.
    use_rep : str or None, default=None
        Of an AnnData object a key of `obsm` in place of its matrix.
    folder : path-like, default=None
        Where the blocks of an iterator are written, see `SpooledTable`.

    Returns
    -------
    StoredTable or None
        None if X is an ordinary table in memory, or no table: `gnomon.data.check_table` decides.
    """
    if isinstance(X, StoredTable):
        return X
    if isinstance(X, np.ndarray):
        return ArrayTable(X) if isinstance(X, np.memmap) and X.ndim == 2 and stretch_of(X) is not None else None
    if isinstance(X, (str, os.PathLike)) or (
        isinstance(X, (list, tuple)) and X and all(isinstance(one, (str, os.PathLike)) for one in X)
    ):
        refuse_texts(X)
        return open_stored(X)
    if isinstance(X, Iterator) and not isinstance(X, io.IOBase):
        return SpooledTable(X, folder=folder)
    return cells_in_file(X, use_rep) or of_library(X)


def open_stored(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    key: str | None = None,
    columns: Sequence[str] | None = None,
) -> StoredTable:
    """Open a file or folder without reading its rows; see `open_table`."""
    if not isinstance(path, (str, os.PathLike)):
        return _open_parquet(_paths(path), key, columns)
    text = os.fspath(path)
    lower = text.rstrip("/").lower()
    remote = "://" in text
    if not remote:
        require_existing(text)
    if lower.endswith(".zarr") or (not remote and _is_zarr(Path(text))):
        _leave_out(columns=columns)
        return _open_zarr(text, key)
    if lower.endswith(".parquet") or (not remote and os.path.isdir(text)):
        return _open_parquet([text], key, columns)
    _leave_out(columns=columns)
    if remote:
        rule = "a .zarr store or Parquet files, which are read through a network"
        raise ValueError(message(f"file {text!r}", rule, remedy="Copy it to this machine first."))
    if lower.endswith(_HDF5):
        return _open_hdf5(text, key)
    _leave_out(key=key)
    if lower.endswith(".npy"):
        return _open_npy(text)
    remedy = ""
    if lower.endswith(".npz"):
        remedy = "Write its array with numpy.save; the parts of an archive cannot be read in place."
    elif lower.endswith(_TEXT):
        delimiter = r"'\t'" if lower.endswith(".tsv") else "','"
        remedy = _TO_PARQUET.format(name=text, stem=os.path.splitext(text)[0], delimiter=delimiter)
    fact = f"it ends in {os.path.splitext(text)[1]!r}"
    raise ValueError(message(f"file {text!r}", _KINDS, fact=fact, remedy=remedy))


def _paths(given: Any) -> list[str]:
    paths = list(given) if isinstance(given, Iterable) else [given]
    if odd := [one for one in paths if not isinstance(one, (str, os.PathLike))]:
        fact = f"found {type(odd[0]).__name__}"
        raise TypeError(message(f"path={given!r:.60}", "a path or a sequence of paths", fact=fact))
    return [os.fspath(one) for one in paths]


@entrance("open_table")
def open_table(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    key: str | None = None,
    columns: Sequence[str] | None = None,
) -> StoredTable:
    """Open a table that need not fit in memory; its rows are read in blocks where they are needed.

    Parameters
    ----------
    path : str, path-like or list of these
        - ``.npy``: a two-dimensional array, mapped.
        - ``.zarr``: an array, or a group with one; version 2 or 3 of the format. Needs zarr.
        - ``.h5``, ``.hdf5``: a dataset. Needs h5py.
        - ``.h5ad``: the matrix of an AnnData file, dense or CSR, with the names of its genes. Needs h5py and anndata.
        - ``.parquet``, a folder with such files, also in folders such as ``year=2024``, or a list of files: one after
          the other, in the order of their names and of the numbers in these. Needs pyarrow.

        Zarr and Parquet may lie behind an address such as ``s3://``, if fsspec or pyarrow has what reads it.
    key : str or None, default=None
        Of a Zarr group or HDF5 file the array; of h5ad files such as "layers/counts" or "obsm/X_pca". None takes the
        one called "X", or the only table.
    columns : sequence of str or None, default=None
        Of Parquet files the features, in this order. None takes all columns of numbers and of vectors of equal length;
        the others stay beside the features.

    Returns
    -------
    gnomon.data.stored.StoredTable
        Its size and names, ``read(start, stop)``, ``take(rows)``, and ``column(name)`` for what is stored beside the
        features, such as labels: other columns of Parquet files, `obs` of h5ad files, arrays of one dimension in the
        same group of a Zarr store or an HDF5 file; ``columns`` lists their names.

    Raises
    ------
    FileNotFoundError
        If nothing is there.
    ValueError, TypeError
        If the file is damaged, of another kind, or holds no table of numbers; the error says what to do. A missing or
        infinite value is found when its row is read, and named with its row and column.
    MissingDependencyError
        If reading this kind of file needs a package that is not installed.

    Notes
    -----
    Files are read in this process and in workers, by the libraries that made them: open those whose origin you trust.
    `gnomon.read_table` reads files of any origin.

    Examples
    --------
    >>> import numpy as np, gnomon, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, np.arange(6.0).reshape(3, 2))
    >>> table = gnomon.open_table(path)
    >>> table.shape, table.read(1, 3).tolist()
    ((3, 2), [[2.0, 3.0], [4.0, 5.0]])
    """
    return open_stored(path, key=key, columns=columns)


def coordinates_in_file(path: str, use_rep: str | None = None) -> str | None:
    """Return the place of the coordinates of cells in an h5ad file, a `key` of `open_stored`; None for its matrix.

    Parameters
    ----------
    path : str
    use_rep : str or None, default=None
        A key of `obsm`, or "X". None takes what `gnomon.map` takes of the same object in memory.
    """
    root = HDF5Node(path, "").root()
    with refuse_unreadable(f"file {path!r}", "a complete file of AnnData", errors=(KeyError, AttributeError)):
        chosen = coordinates_of(root) if use_rep is None else use_rep
    if chosen == "X":
        return None
    require_name(chosen, ["X", *root.get("obsm", {})], what="use_rep")
    return f"obsm/{chosen}"


def _leave_out(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                message(f"{name}={value!r:.60}", "left out", fact="it has no meaning for this kind of file")
            )


def _open_npy(path: str) -> StoredTable:
    refusal = f"file {path!r}", "a whole NPY file of a table of numbers"
    with refuse_unreadable(*refusal, errors=(ValueError, OSError)), open(path, "rb") as file:
        dtype, by_columns, shape, begin = read_header(file)
    sizes = check_array(shape, dtype, refusal[0])
    n_bytes = sizes[0] * sizes[1] * dtype.itemsize
    stored = os.path.getsize(path) - begin
    if n_bytes > stored:
        fact = f"its shape {shape} takes {n_bytes:,} bytes and {stored:,} are stored"
        raise ValueError(message(*refusal, fact=fact))
    steps = (1, sizes[0]) if by_columns else (sizes[1], 1)
    strides = (steps[0] * dtype.itemsize, steps[1] * dtype.itemsize)
    return ArrayTable(Stretch(os.path.abspath(path), dtype, sizes, strides, begin), name=path)


def _is_zarr(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


def _open_zarr(path: str, key: str | None) -> StoredTable:
    zarr = import_optional("zarr", package="zarr", extra="scale")
    name = f"store {path!r}"
    with refuse_unreadable(name, "a complete Zarr store", errors=(Exception,)):
        root = zarr.open(path, mode="r")
    found = find_key(root, key, name)
    node = root[found] if found else root
    return table_of_node(ZarrNode(node, f"{path}:{found}" if found else path))


def _open_hdf5(path: str, key: str | None) -> StoredTable:
    root = HDF5Node(path, "")
    found = find_key(root.root(), key, f"file {path!r}")
    return table_of_node(HDF5Node(path, found, root.root()))


def _open_parquet(paths: list[str], key: str | None, columns: Sequence[str] | None) -> StoredTable:
    _leave_out(key=key)
    name = paths[0] if len(paths) == 1 else f"{len(paths)} files"
    if isinstance(columns, str):
        raise TypeError(message(f"columns={columns!r}", "a list of names", remedy=f"Pass [{columns!r}]."))
    filesystem = None
    files: list[ParquetFile] = []
    for path in paths:
        if "://" in path:
            filesystem, path = _remote(path)
            files += _remote_files(filesystem, path)
        elif os.path.isdir(path):
            inside = [file for file in Path(path).rglob("*.parquet") if _counts(file.relative_to(path))]
            found = sorted(inside, key=lambda file: _order(file.relative_to(path)))
            files += [ParquetFile(os.path.abspath(file), _partition(file.relative_to(path))) for file in found]
        else:
            _require_parquet(path, among=len(paths))
            files.append(ParquetFile(os.path.abspath(path)))
    import_optional("pyarrow.parquet", package="pyarrow", extra="io")
    return ParquetTable(files, filesystem=filesystem, columns=columns, name=name)


def _require_parquet(path: str, *, among: int) -> None:
    """Raise unless a file is there, and is none that is read otherwise, alone."""
    require_existing(path)
    end = os.path.splitext(path)[1]
    if end.lower() in {".npy", ".npz", *_HDF5, *_TEXT}:
        remedy = f"Pass {path!r} itself." if among == 1 else "Pass one path, or the arrays joined into one."
        raise ValueError(
            message(f"file {path!r}", "a Parquet file in a list of paths", fact=f"it ends in {end!r}", remedy=remedy)
        )


def _counts(path: Path) -> bool:
    return not any(part.startswith(("_", ".")) for part in path.parts)


def _order(path: Path) -> list[Any]:
    """Order files by the numbers in their names, part.2 before part.10, as those who write such names read them."""
    return [natural_order(part) for part in path.parts]


def _partition(path: Path) -> dict[str, Any]:
    parts = (part.partition("=") for part in path.parts[:-1] if "=" in part)
    return {key: value for key, _, value in parts}


def _remote(address: str) -> tuple[Any, str]:
    fs = import_optional("pyarrow.fs", package="pyarrow", extra="io")
    rule = "an address that pyarrow or fsspec can read"
    with refuse_unreadable(f"address {address!r}", rule, errors=(Exception,), remedy="Copy it to this machine first."):
        try:
            return tuple(fs.FileSystem.from_uri(address))
        except Exception:
            fsspec = import_optional("fsspec", package="fsspec", extra="scale")
            found, path = fsspec.core.url_to_fs(address)
            return fs.PyFileSystem(fs.FSSpecHandler(found)), str(path)


def _remote_files(filesystem: Any, path: str) -> list[ParquetFile]:
    fs = import_optional("pyarrow.fs", package="pyarrow", extra="io")
    with refuse_unreadable(f"address {path!r}", "there", errors=(Exception,)):
        if filesystem.get_file_info(path).is_file:
            return [ParquetFile(path)]
        entries = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    found = [one.path for one in entries if one.is_file and one.path.endswith(".parquet")]
    inside = sorted(((one, Path(one).relative_to(path)) for one in found), key=lambda pair: _order(pair[1]))
    return [ParquetFile(one, _partition(within)) for one, within in inside if _counts(within)]
