"""Dense arrays of HDF5 files and Zarr stores, read by whole chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gnomon.data.arrays import working_dtype
from gnomon.data.limits import refuse_unreadable
from gnomon.data.stored.annotated import arrays_beside, gene_names, part_of
from gnomon.data.stored.arrays import check_array
from gnomon.data.stored.grouped import GroupedTable, equal_groups
from gnomon.data.stored.nodes import Node

__all__ = ["ChunkedTable"]


class ChunkedTable(GroupedTable):
    """A two-dimensional array in chunks.

    Parameters
    ----------
    node : Node
        Of the array.
    """

    def __init__(self, node: Node) -> None:
        array = node.get()
        self._node = node
        self.name = node.name
        self.n_samples, self.n_features = check_array(array.shape or (), np.dtype(array.dtype), node.name)
        self.dtype = working_dtype(np.dtype(array.dtype))
        self.feature_names = gene_names(node, self.n_features)
        self.part = part_of(node)
        self._bounds = equal_groups(self.n_samples, int(array.chunks[0]) if array.chunks else 1)
        self._check_groups()

    @property
    def fingerprint(self) -> str:
        """Of the file or store, with shape and type."""
        return f"{self._node.fingerprint} {self.shape} {np.dtype(self._node.get().dtype).str}"

    def _groups(self, first: int, last: int) -> Any:
        start, stop = int(self._bounds[first]), int(self._bounds[last])
        rule = f"readable in rows {start:,} to {stop:,}"
        with refuse_unreadable(self.name, rule, errors=(Exception,)):
            return np.asarray(self._node.get()[start:stop])

    def _beside(self) -> Mapping[str, Callable[[], Any]]:
        return arrays_beside(self._node, self.n_samples)
