"""Sparse matrices of HDF5 files and Zarr stores as AnnData writes them, read row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message
from gnomon.data.arrays import working_dtype
from gnomon.data.limits import refuse_unreadable
from gnomon.data.sparse import check_csr
from gnomon.data.stored.annotated import arrays_beside, gene_names, part_of
from gnomon.data.stored.arrays import check_array
from gnomon.data.stored.grouped import GroupedTable, equal_groups
from gnomon.data.stored.nodes import Node, is_array

__all__ = ["CSRTable"]


class CSRTable(GroupedTable):
    """A matrix in CSR form: a group with the arrays `data`, `indices` and `indptr`.

    Parameters
    ----------
    node : Node
        Of the group.

    Raises
    ------
    ValueError
        If it is stored by columns (CSC), or its parts do not fit together.
    """

    is_sparse = True

    def __init__(self, node: Node) -> None:
        group = node.get()
        self._node = node
        self.name = node.name
        layout = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", ""))).removesuffix("_matrix")
        parts = ("data", "indices", "indptr")
        if layout == "csc":
            remedy = "Write it anew by rows: adata.X = adata.X.tocsr(), then adata.write_h5ad(...)."
            raise ValueError(message(node.name, "stored by rows (CSR)", fact="it is in CSC format", remedy=remedy))
        if layout != "csr" or not all(one in group and is_array(group[one]) for one in parts):
            raise ValueError(message(node.name, "a dense array or a CSR matrix", fact="it is another group"))
        data, indices, offsets = (group[one] for one in parts)
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape", ()))
        with refuse_unreadable(node.name, "a valid sparse matrix", errors=(TypeError, ValueError, OverflowError)):
            sizes = tuple(int(size) for size in shape)
        self.n_samples, self.n_features = check_array(sizes, np.dtype(data.dtype), node.name)
        whole = all(np.dtype(one.dtype).kind in "iu" and len(one.shape) == 1 for one in (indices, offsets))
        if not whole or data.shape != indices.shape or offsets.shape != (self.n_samples + 1,):
            fact = f"data of shape {data.shape}, indices {indices.shape}, indptr {offsets.shape}, shape {sizes}"
            raise ValueError(message(node.name, "a valid sparse matrix", fact=fact))
        self.dtype = working_dtype(np.dtype(data.dtype))
        self._n_stored = int(data.shape[0])
        self.feature_names = gene_names(node, self.n_features)
        self.part = part_of(node)
        self._bounds = equal_groups(self.n_samples, 1)

    @property
    def n_read_bytes(self) -> float:
        """Bytes of the entries with their column numbers."""
        return float(self._n_stored) * (np.dtype(self.dtype).itemsize + 4) + 8.0 * self.n_samples

    @property
    def fingerprint(self) -> str:
        """Of the file or store, with shape and number of entries."""
        return f"{self._node.fingerprint} {self.shape} {self._n_stored}"

    def _groups(self, first: int, last: int) -> Any:
        return self._matrix(int(self._bounds[first]), int(self._bounds[last]))

    def _matrix(self, start: int, stop: int) -> scipy.sparse.csr_array:
        group, rule = self._node.get(), f"a valid sparse matrix in rows {start:,} to {stop:,}"
        with refuse_unreadable(self.name, rule, errors=(Exception,)):
            offsets = np.asarray(group["indptr"][start : stop + 1]).astype(np.int64)
            _check_offsets(offsets, self._n_stored)
            where = slice(int(offsets[0]), int(offsets[-1]))
            data, indices = np.asarray(group["data"][where]), np.asarray(group["indices"][where])
            offsets -= offsets[0]
            check_csr(indices, offsets, len(data), stop - start, self.n_features, ordered=False)
            return scipy.sparse.csr_array((data, indices, offsets), shape=(stop - start, self.n_features))

    def _beside(self) -> Mapping[str, Callable[[], Any]]:
        return arrays_beside(self._node, self.n_samples)


def _check_offsets(offsets: npt.NDArray[np.int64], n_stored: int) -> None:
    if offsets[0] < 0 or offsets[-1] > n_stored or bool((np.diff(offsets) < 0).any()):
        raise ValueError(f"its row offsets do not ascend from 0 to {n_stored}")
