"""Stored tables seen through a function of their rows, such as without units."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.data.scaling import Scaling
from gnomon.data.stored.table import StoredTable

__all__ = ["ScaledTable", "TransformedTable", "digest"]

_COPIES = 3.2  # of a block, in float64 where it is scaled


class TransformedTable(StoredTable):
    """A stored table whose rows go through a function when they are read; nothing is written.

    Parameters
    ----------
    table : StoredTable
    function : callable
        Takes rows (n_rows, n_features of `table`), of which there may be none, to rows of the dtype of `table`, each a
        function of the same row alone. One of a module, a method or a `functools.partial`, to be sent to other
        processes.
    key : str
        Tells this function from others, for `fingerprint`.
    feature_names : list of str or None, default=None
        Of the columns that come out.
    """

    def __init__(
        self,
        table: StoredTable,
        function: Callable[[Any], Any],
        *,
        key: str,
        feature_names: list[str] | None = None,
    ) -> None:
        self.table, self._function, self._key = table, function, key
        none = function(table.read(0, 0))
        self.n_samples, self.n_features = table.n_samples, int(none.shape[1])
        self.dtype, self.is_sparse, self.name = table.dtype, hasattr(none, "tocsr"), table.name
        self.feature_names = feature_names

    @property
    def fingerprint(self) -> str:
        """That of the table, and the key of the function."""
        return f"{self.table.fingerprint} {self._key}"

    @property
    def reading_bytes(self) -> float:
        """What reading the table takes, and copies of a block on their way through the function."""
        return self.table.reading_bytes + _COPIES * self.block_bytes

    def _rows(self, start: int, stop: int) -> Any:
        starts = self._starts(start, stop)
        return self._joined(self.table.read(first, min(first + self._step, stop)) for first in starts)

    def _chosen(self, rows: npt.NDArray[np.int64]) -> Any:
        return self._joined(self.table.take(rows[first : first + self._step]) for first in self._starts(0, len(rows)))

    @property
    def _step(self) -> int:
        """Rows that are read before they go through the function: a block of the table, which may be wider."""
        return max([1, *(len(block) for block in self.table.blocks()[:1])])

    def _starts(self, start: int, stop: int) -> range:
        return range(start, max(stop, start + 1), self._step)

    def _joined(self, parts: Iterator[Any]) -> Any:
        first, *others = (self._function(part) for part in parts)
        if not others:
            return first
        return (
            scipy.sparse.vstack([first, *others], format="csr") if self.is_sparse else np.concatenate([first, *others])
        )


class ScaledTable(TransformedTable):
    """A stored table without units.

    Parameters
    ----------
    table : StoredTable
    scaling : gnomon.data.Scaling
        Applied to the rows when they are read, to the same bytes as to the table in memory.
    """

    def __init__(self, table: StoredTable, scaling: Scaling) -> None:
        key = f"{scaling.name} {digest(scaling.center, scaling.spread)}"
        super().__init__(table, scaling.apply, key=key, feature_names=table.feature_names)
        self.scaling = scaling


def digest(*arrays: npt.NDArray[Any]) -> str:
    """Return text that tells arrays from others."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.shape} {array.dtype}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:16]
