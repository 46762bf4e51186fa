"""Tables that are stored in groups of rows, of which a part cannot be read alone."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._memory import require_memory
from gnomon.data.stored.table import StoredTable

__all__ = ["GroupedTable", "equal_groups"]

_FEWEST = 1024  # rows that are read together, where groups are smaller
_TOGETHER = 32_768  # rows of chosen groups that are read together


def equal_groups(n_samples: int, step: int) -> npt.NDArray[np.int64]:
    """Return where groups of `step` rows begin, as many together as make 1,024 rows, and the number of rows."""
    step *= max(1, -(-_FEWEST // step))
    return np.append(np.arange(0, n_samples, step, dtype=np.int64), n_samples)


class GroupedTable(StoredTable):
    """Rows are read by whole groups; the last group that was read in part is kept for the block that follows.

    A subclass sets `_bounds`, the first row of each group and the number of rows, and reads whole groups. One thread at
    a time reads: the libraries use threads themselves, and readers of pyarrow are made for one caller.
    """

    _lock: threading.Lock
    _bounds: npt.NDArray[np.int64]
    _kept: tuple[int, Any] | None = None  # the first row of a group, and its rows as they are stored

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Give each table a lock, also one that was sent to another process."""
        table = super().__new__(cls)
        table._lock = threading.Lock()
        return table

    @abstractmethod
    def _groups(self, first: int, last: int) -> Any:
        """Return the rows of groups [first, last), as NumPy or SciPy read them."""

    def _check_groups(self) -> None:
        """Raise MemoryError if a group does not fit in memory."""
        largest = int(np.diff(self._bounds).max(initial=0))
        fact = f"{largest:,} rows that are stored together"
        remedy = "Store it anew in smaller chunks or row groups."
        require_memory(self.name, self._group_bytes, fact=fact, remedy=remedy)

    @property
    def _group_bytes(self) -> float:
        """Bytes of the largest group, as stored and as numbers."""
        return 2.0 * int(np.diff(self._bounds).max(initial=0)) * self.n_read_bytes / max(1, self.n_samples)

    @property
    def reading_bytes(self) -> float:
        """What reading a block takes, and the group that is read for its last rows."""
        return super().reading_bytes + self._group_bytes

    def _rows(self, start: int, stop: int) -> Any:
        with self._lock:
            return self._read_rows(start, stop)

    def _read_rows(self, start: int, stop: int) -> Any:
        pieces = []
        kept = self._kept
        if kept is not None and kept[0] <= start < kept[0] + kept[1].shape[0]:
            piece = kept[1][start - kept[0] : stop - kept[0]]
            pieces.append(piece)
            start += piece.shape[0]
        if start < stop:
            first = int(np.searchsorted(self._bounds, start, side="right")) - 1
            last = int(np.searchsorted(self._bounds, stop, side="left"))
            begin, tail, end = (int(self._bounds[group]) for group in (first, last - 1, last))
            rows = self._groups(first, last)
            pieces.append(rows[start - begin : stop - begin])
            if stop < end:
                self._kept = tail, rows if tail == begin else rows[tail - begin :].copy()
        if not pieces:
            return np.empty((0, self.n_features), self.dtype)
        return pieces[0] if len(pieces) == 1 else self._joined(pieces)

    def _chosen(self, rows: npt.NDArray[np.int64]) -> Any:
        groups = np.searchsorted(self._bounds, rows, side="right") - 1
        touched = np.unique(groups)
        together = max(1, _TOGETHER * (len(self._bounds) - 1) // max(1, self.n_samples))
        found = []
        for run in np.split(touched, np.flatnonzero(np.diff(touched) > 1) + 1):
            for at in range(0, len(run), together):
                first, last = int(run[at]), int(run[min(at + together, len(run)) - 1]) + 1
                inside = rows[np.searchsorted(groups, first) : np.searchsorted(groups, last)]
                found.append(
                    self._rows(int(self._bounds[first]), int(self._bounds[last]))[inside - self._bounds[first]]
                )
        return self._joined(found)

    def _joined(self, pieces: Sequence[Any]) -> Any:
        return scipy.sparse.vstack(pieces, format="csr") if self.is_sparse else np.concatenate(pieces)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock, and what was kept of the last group."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_kept", "_lock")}
