"""Arrays that NumPy maps from a file, or that are in memory, as stored tables."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.arrays import refuse_kind, working_dtype
from gnomon.data.limits import refuse_unreadable
from gnomon.data.stored.table import StoredTable

__all__ = ["ArrayTable", "Stretch", "check_array", "stretch_of"]

_MAPPED = 8_000_000  # bytes of a file within which chosen rows are read through one map


def check_array(shape: Sequence[int], dtype: np.dtype[Any], name: str) -> tuple[int, int]:
    """Return the two sizes of an array of numbers; raise for arrays of other dimensions, or of anything else."""
    refuse_kind(np.empty(0, dtype))
    if dtype.kind == "O":
        raise TypeError(message(name, "an array of numbers", fact="it holds Python objects"))
    if len(shape) != 2:
        remedy = "Store one row for each sample, for instance X.reshape(len(X), -1)."
        raise ValueError(message(name, "two-dimensional", fact=f"found shape {tuple(shape)}", remedy=remedy))
    return int(shape[0]), int(shape[1])


@dataclass(frozen=True)
class Stretch:
    """Where the numbers of an array lie in a file.

    Attributes
    ----------
    path : str
        Absolute.
    dtype : dtype
        As stored.
    shape, strides : tuple of int
        Strides in bytes.
    offset : int
        Byte of the first number.
    """

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, int]
    strides: tuple[int, ...]
    offset: int

    def open(self) -> npt.NDArray[Any]:
        """Map the file anew; what was read through a map counts as memory in use until the map is gone."""
        what, rule = f"file {self.path!r}", f"there, with the numbers of a table of shape {self.shape}"
        with refuse_unreadable(what, rule, errors=(OSError, ValueError, TypeError)), open(self.path, "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return np.ndarray(self.shape, self.dtype, content, self.offset, self.strides)

    @property
    def fingerprint(self) -> str:
        """Path, size and time of the file, and which of its numbers."""
        status = os.stat(self.path)
        numbers = f"{self.shape} {self.strides} {self.offset} {self.dtype.str}"
        return f"{self.path} {status.st_size} {status.st_mtime_ns} {numbers}"


def stretch_of(values: npt.NDArray[Any]) -> Stretch | None:
    """Return where the numbers of a memory map lie; None if they are in memory, also where a copy may be changed."""
    root: Any = values
    while isinstance(root, np.ndarray) and isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or not isinstance(root.base, mmap.mmap):
        return None
    if root.filename is None or root.mode == "c" or not os.path.isfile(root.filename):
        return None
    # The pages of a map begin before the array, at a multiple of their size; `offset` counts from the file's begin.
    offset = root.offset + values.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return Stretch(os.path.abspath(root.filename), values.dtype, values.shape, values.strides, int(offset))


class ArrayTable(StoredTable):
    """A two-dimensional array; of one that is mapped from a file the place is kept, and sent to other processes.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features), or Stretch
        In memory, a memory map, or where the numbers lie in a file.
    name : str, default="X"
        For people.
    feature_names : sequence of str, default=None
        Of the columns.
    beside : mapping of str to callable, default=None
        How to read what belongs to the rows.
    """

    def __init__(
        self,
        values: npt.NDArray[Any] | Stretch,
        *,
        name: str = "X",
        feature_names: Sequence[str] | None = None,
        beside: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        self._values = values if isinstance(values, Stretch) else stretch_of(values) or values
        self.n_samples, self.n_features = check_array(values.shape, values.dtype, name)
        self.dtype = working_dtype(values.dtype)
        self.name = name
        self.feature_names = None if feature_names is None else list(feature_names)
        self._others = dict(beside or {})

    @property
    def fingerprint(self) -> str:
        """Path, size and time of the file; of an array in memory a checksum."""
        if isinstance(self._values, Stretch):
            return self._values.fingerprint
        sums = zlib.crc32(np.ascontiguousarray(self._values).view(np.uint8).data)
        return f"array {self.shape} {self._values.dtype} {sums:08x}"

    def _rows(self, start: int, stop: int) -> Any:
        if isinstance(self._values, Stretch):
            return np.array(self._values.open()[start:stop])
        return np.asarray(self._values[start:stop])

    def _chosen(self, rows: npt.NDArray[np.int64]) -> Any:
        if not isinstance(self._values, Stretch):
            return np.asarray(self._values[rows])
        # The system may map megabytes around each row, which are in use until the map is gone.
        step = max(1, _MAPPED // max(1, self.n_features * self._values.dtype.itemsize))
        cuts = np.searchsorted(rows, np.arange(step, self.n_samples, step))
        return np.concatenate([self._values.open()[part] for part in np.split(rows, cuts) if len(part)])

    def _beside(self) -> Mapping[str, Callable[[], Any]]:
        return self._others
