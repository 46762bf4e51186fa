"""Tables of Dask, Zarr, h5py, pyarrow and AnnData, known by the names of their types: nothing is imported to ask."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gnomon._validation import message
from gnomon.data.cells import annotation, in_memory, is_cells
from gnomon.data.dataset import require_name
from gnomon.data.limits import refuse_unreadable
from gnomon.data.names import clean_names
from gnomon.data.stored.arrays import ArrayTable
from gnomon.data.stored.chunked import ChunkedTable
from gnomon.data.stored.csr import CSRTable
from gnomon.data.stored.dask_arrays import DaskTable, array_of_frame
from gnomon.data.stored.nodes import HDF5Node, Node, ZarrNode, is_array
from gnomon.data.stored.parquet import ParquetFile, ParquetTable
from gnomon.data.stored.table import StoredTable

__all__ = ["cells_in_file", "of_library", "table_of_node"]


def _kinds(X: Any) -> set[tuple[str, str]]:
    """Return library and name of the type of X and of the types that it is made from."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}


def of_library(X: Any) -> StoredTable | None:
    """Return a table of one of the libraries as a stored table; None for anything else."""
    kinds = _kinds(X)
    if ("dask", "Array") in kinds:
        return DaskTable(X)
    if {name for library, name in kinds if library in ("dask", "dask_expr")} & {"DataFrame", "FrameBase"}:
        return DaskTable(array_of_frame(X), feature_names=clean_names(X.columns))
    if ("zarr", "Array") in kinds:
        return ChunkedTable(_named(ZarrNode(X, "X")))
    if ("h5py", "Dataset") in kinds:
        return ChunkedTable(_dataset(X))
    if ("pyarrow", "Dataset") in kinds:
        return _files(X)
    if ("anndata", "BaseCompressedSparseDataset") in kinds:
        group = X.group
        return CSRTable(_named(ZarrNode(group, "X")) if hasattr(group, "store") else _dataset(group))
    if kinds & {("zarr", "Group"), ("h5py", "Group")}:
        fact = f"a group of {', '.join(map(repr, sorted(X)[:5])) or 'nothing'}"
        raise TypeError(message("X", "an array", fact=fact, remedy="Pass one of its arrays, such as X['X']."))
    return None


def _named(node: Node) -> Node:
    node.name = "X"
    return node


def _dataset(X: Any) -> Node:
    if not X:
        raise ValueError(message("X", "of an HDF5 file that is open", remedy="Open the file again."))
    name = X.file.filename
    return _named(HDF5Node(name if isinstance(name, str) else name.decode(), X.name, X.file))


def _files(X: Any) -> ParquetTable:
    rule = "a pyarrow.dataset of Parquet files"
    if type(X).__name__ != "FileSystemDataset" or getattr(X.format, "default_extname", "") != "parquet":
        remedy = "Write it with pyarrow.dataset.write_dataset(X, folder, format='parquet') first."
        raise TypeError(message("X", rule, fact=type(X).__name__, remedy=remedy))
    import pyarrow.dataset
    import pyarrow.fs

    with refuse_unreadable("X", f"{rule}, not filtered", errors=(ValueError,), remedy="Write the rows that count."):
        fragments = list(X.get_fragments())
    with refuse_unreadable("X", rule, errors=(Exception,)):
        found = []
        for one in fragments:
            keys = pyarrow.dataset.get_partition_keys(one.partition_expression)
            found.append(ParquetFile(one.path, keys, [group.id for group in one.row_groups]))
    local = isinstance(X.filesystem, pyarrow.fs.LocalFileSystem)
    keys = {key for one in found for key in one.keys}
    columns = [name for name in X.schema.names if name not in keys]
    return ParquetTable(found, filesystem=None if local else X.filesystem, columns=columns)


def table_of_node(node: Node) -> StoredTable:
    """Return an array, or the group of a CSR matrix, as a table."""
    return ChunkedTable(node) if is_array(node.get()) else CSRTable(node)


def cells_in_file(X: Any, use_rep: str | None = None) -> StoredTable | None:
    """Return an AnnData object that is backed by a file as a table; None if it is in memory, or no AnnData.

    A view of such an object is no table of the file: None too, as its matrix is read into memory like that of others.

    Parameters
    ----------
    X : object
        Of any type.
    use_rep : str or None, default=None
        A key of `obsm`, whose arrays such an object holds in memory; None and "X" are its matrix in the file.
    """
    if not is_cells(X) or not X.isbacked:
        return None
    beside = {str(name): partial(annotation, X.obs[name]) for name in X.obs.columns}
    if use_rep not in (None, "X"):
        require_name(str(use_rep), ["X", *map(str, X.obsm)], what="use_rep")
        values = in_memory(X.obsm[use_rep])
        if not isinstance(values, np.ndarray):
            raise TypeError(message(f"obsm[{use_rep!r}]", "a dense table", fact="it is sparse"))
        table = ArrayTable(values, name=f"obsm[{use_rep!r}]", beside=beside)
        table.part = f"obsm/{use_rep}"
        return table
    if X.is_view:
        return None
    return table_of_node(_named(HDF5Node(str(X.filename), "X", X.file._file)))
