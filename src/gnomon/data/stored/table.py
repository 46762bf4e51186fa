"""What every stored table can do: say its size, and read some of its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.data.arrays import FloatArray
from gnomon.data.table import check_table

__all__ = ["RowBlock", "StoredTable", "row_blocks"]

_BLOCK_BYTES = 32e6  # of the float32 numbers of a block
_FEWEST, _MOST = 1024, 131_072  # rows of a block


@dataclass(frozen=True)
class RowBlock:
    """Rows of a table that are worked on together.

    Attributes
    ----------
    number : int
        Of the block, counted from 0.
    start, stop : int
        Its first row, and the first after it.
    """

    number: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def row_blocks(n_samples: int, n_features: int) -> list[RowBlock]:
    """Cut a table into blocks of rows.

    The cuts are a function of the shape alone: a power of two of rows, at most 131,072 and about 32 MB in float32, so
    that no result depends on memory or on the number of workers.

    Parameters
    ----------
    n_samples, n_features : int
        Of the table.

    Returns
    -------
    list of RowBlock
        In order; the last may be shorter.
    """
    fitting = max(1.0, _BLOCK_BYTES / (4.0 * max(1, n_features)))
    step = int(np.clip(2 ** int(np.log2(fitting)), _FEWEST, _MOST))
    starts = range(0, n_samples, step)
    return [RowBlock(number, start, min(start + step, n_samples)) for number, start in enumerate(starts)]


class StoredTable(ABC):
    """A table whose rows are read when they are needed.

    It can be sent to other processes, where it is opened again; what is sent is small, unless its rows are in memory.

    Attributes
    ----------
    n_samples, n_features : int
    dtype : float32 or float64
        Of the rows read, by the rule of `gnomon.data.check_table`.
    feature_names : list of str or None
        Unique, not empty.
    is_sparse : bool
        Whether rows are read as a CSR array.
    name : str
        For people, such as the path.
    """

    n_samples: int
    n_features: int
    dtype: type[np.float32] | type[np.float64]
    feature_names: list[str] | None = None
    is_sparse: bool = False
    name: str = "X"

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_samples, self.n_features

    @property
    def n_bytes(self) -> float:
        """Bytes of the whole table in memory; of a sparse one, if it were dense."""
        return float(self.n_samples) * self.n_features * np.dtype(self.dtype).itemsize

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Text that changes when the data do: a run that was cut goes on only with the same."""

    @abstractmethod
    def _rows(self, start: int, stop: int) -> Any:
        """Return rows [start, stop) as NumPy or SciPy read them."""

    def _chosen(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return rows by their numbers, which ascend; by reading what holds them, block by block."""
        found = []
        for block in row_blocks(*self.shape):
            inside = rows[np.searchsorted(rows, block.start) : np.searchsorted(rows, block.stop)]
            if len(inside):
                found.append(self._rows(block.start, block.stop)[inside - block.start])
        return sp.vstack(found, format="csr") if self.is_sparse else np.concatenate(found)

    def blocks(self) -> list[RowBlock]:
        """Return the blocks in which the table is worked on; see `row_blocks`."""
        return row_blocks(*self.shape)

    def read(self, start: int, stop: int) -> FloatArray | sp.csr_array:
        """Return rows [start, stop).

        Returns
        -------
        ndarray, or csr_array if `is_sparse`, of shape (stop - start, n_features)
            Finite, of the table's dtype, C-contiguous.

        Raises
        ------
        ValueError
            If a value is missing or infinite; the text says in which row of the table.
        """
        return self._checked(self._rows(start, stop), lambda row: start + row)

    def take(self, rows: npt.ArrayLike) -> FloatArray | sp.csr_array:
        """Return rows by their numbers, in any order; each is read once."""
        wanted = np.asarray(rows, dtype=np.int64)
        distinct, places = np.unique(wanted, return_inverse=True)
        if not len(distinct):
            return self._checked(self._rows(0, 0), int)
        return self._checked(self._chosen(distinct), lambda row: int(distinct[row]))[places.ravel()]

    def _checked(self, rows: Any, number: Any) -> FloatArray | sp.csr_array:
        if rows.shape[0] == 0:
            empty = np.empty((0, self.n_features), dtype=self.dtype)
            return sp.csr_array(empty) if self.is_sparse else empty
        stored = rows.data if self.is_sparse else rows
        bad = ~np.isfinite(stored).reshape(len(stored), -1)
        if bad.any():
            first = int(np.flatnonzero(bad.any(axis=1))[0])
            row = int(np.searchsorted(rows.indptr, first, side="right") - 1) if self.is_sparse else first
            what, rule = f"row {number(row):,} of {self.name}", "finite numbers"
            remedy = "Fill in or leave out such rows before."
            raise ValueError(message(what, rule, fact="a value is missing or infinite", remedy=remedy))
        return check_table(rows, accept_sparse=True, dtype=self.dtype).values
