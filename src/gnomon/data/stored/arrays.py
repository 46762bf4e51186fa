"""Arrays that NumPy maps from a file, or that are in memory, as stored tables."""

from __future__ import annotations

import os
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.arrays import working_dtype
from gnomon.data.stored.table import StoredTable

__all__ = ["ArrayTable"]


class ArrayTable(StoredTable):
    """A two-dimensional array; one that is mapped from a file is sent to other processes as its path.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        In memory or a memory map.
    name : str, default="X"
        For people.
    """

    def __init__(self, values: npt.NDArray[Any], *, name: str = "X") -> None:
        self._values = values
        self.n_samples, self.n_features = (int(size) for size in values.shape)
        self.dtype = working_dtype(values.dtype)
        self.name = name

    @property
    def fingerprint(self) -> str:
        """Path, size and time of the file; of an array in memory a checksum."""
        path = getattr(self._values, "filename", None)
        if path is None:
            sums = zlib.crc32(np.ascontiguousarray(self._values).view(np.uint8).data)
            return f"array {self.shape} {self._values.dtype} {sums:08x}"
        status = os.stat(path)
        return f"{os.path.abspath(path)} {status.st_size} {status.st_mtime_ns} {self.shape} {self._values.dtype}"

    def _rows(self, start: int, stop: int) -> Any:
        return np.asarray(self._values[start:stop])

    def _chosen(self, rows: npt.NDArray[np.int64]) -> Any:
        return np.asarray(self._values[rows])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the numbers of a memory map, but not where they are."""
        state, values = dict(self.__dict__), self._values
        if isinstance(values, np.memmap) and isinstance(values.base, np.memmap) is False and values.flags.c_contiguous:
            state["_values"] = (str(values.filename), values.dtype, values.shape, int(values.offset))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self._values, tuple):
            path, dtype, shape, offset = self._values
            self._values = np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)
