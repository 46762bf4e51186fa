"""What every stored table can do: say its size, and read some of its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._memory import available_memory, in_bytes
from gnomon._validation import message
from gnomon.data.arrays import LARGEST_SQUARED, FloatArray, all_within, cast
from gnomon.data.dataset import require_name
from gnomon.data.names import column_text
from gnomon.data.sparse import canonical_csr

__all__ = ["RowBlock", "StoredTable", "row_blocks"]

_BLOCK_BYTES = 32e6  # of the float32 numbers of a block
_READ = 2.5  # times the bytes of a block, of which its file counts as memory too
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
    part : str
        Of an h5ad file its place there, such as "layers/counts"; empty elsewhere.
    has_columns : bool
        Whether its features are columns as people have them, in Parquet files and data frames, of which some may be
        identifiers.
    """

    n_samples: int
    n_features: int
    dtype: type[np.float32] | type[np.float64]
    feature_names: list[str] | None = None
    is_sparse: bool = False
    name: str = "X"
    part: str = ""
    has_columns: bool = False

    def __repr__(self) -> str:
        """Say where the table lies and how large it is."""
        kind = "sparse " if self.is_sparse else ""
        size = f"{self.n_samples:,} rows and {self.n_features:,} columns"
        return f"{type(self).__name__}({self.name!r}: {size}, {kind}{np.dtype(self.dtype).name})"

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_samples, self.n_features

    @property
    def n_bytes(self) -> float:
        """Bytes of the whole table in memory; of a sparse one, if it were dense."""
        return float(self.n_samples) * self.n_features * np.dtype(self.dtype).itemsize

    @property
    def n_read_bytes(self) -> float:
        """Bytes of what `read` returns for all rows: of a sparse table those of its entries."""
        return self.n_bytes

    @property
    def block_bytes(self) -> float:
        """Bytes of the longest block in memory; of a sparse table, if it were dense."""
        longest = max((len(block) for block in self.blocks()), default=0)
        return float(longest) * self.n_features * np.dtype(self.dtype).itemsize

    @property
    def reading_bytes(self) -> float:
        """Bytes that it takes at the peak to read the longest block and to check it."""
        return _READ * self.block_bytes

    @property
    def columns(self) -> list[str]:
        """Names of what is stored beside the features with a value for each row, such as labels."""
        return list(self._beside())

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column that is stored beside the features.

        Parameters
        ----------
        name : str
            One of `columns`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers as they are stored; everything else as text (dtype object), None where it is missing.

        Raises
        ------
        ValueError
            If there is none of this name, or it is a feature; the text names what is near.
        """
        readers = self._beside()
        if name not in readers and name in (self.feature_names or ()):
            remedy = f"Pass its values as an array, such as labels=X[{name!r}], and X without it."
            raise ValueError(message(f"column={name!r}", "stored beside the features", fact="it is one", remedy=remedy))
        require_name(name, list(readers), what="column")
        values = np.asarray(readers[name]())
        if values.shape != (self.n_samples,):
            fact = f"found shape {values.shape}"
            raise ValueError(message(f"column {name!r} of {self.name}", f"{self.n_samples:,} values", fact=fact))
        return values

    def _beside(self) -> Mapping[str, Callable[[], Any]]:
        """Return how to read what is stored beside the features, by name."""
        return {}

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
        return scipy.sparse.vstack(found, format="csr") if self.is_sparse else np.concatenate(found)

    def blocks(self) -> list[RowBlock]:
        """Return the blocks in which the table is worked on; see `row_blocks`."""
        return row_blocks(*self.shape)

    def read(self, start: int, stop: int) -> FloatArray | scipy.sparse.csr_array:
        """Return rows [start, stop), as far as there are so many.

        Returns
        -------
        ndarray, or csr_array if `is_sparse`, of shape (stop - start, n_features)
            Finite, of the table's dtype, C-contiguous.

        Raises
        ------
        ValueError
            If a value is missing or infinite; the text says in which row of the table.
        """
        start, stop, _ = slice(start, stop).indices(self.n_samples)
        return self._checked(self._rows(start, max(start, stop)), lambda row: start + row)

    def whole(self) -> Any:
        """Return all rows as they are stored, unchecked, as NumPy or SciPy hold them.

        Raises
        ------
        MemoryError
            If they take more than a quarter of the available memory.
        """
        allowed = available_memory() / 4.0
        if self.n_read_bytes > allowed:
            what = f"{self.name} of {self.n_samples:,} rows and {self.n_features:,} columns"
            rule = f"a table of at most {in_bytes(allowed)}, a quarter of the available memory, to be read whole"
            remedy = (
                "Pass it to gnomon.map(X, n_fitted=...), PCA().fit(X) or the transform of a fitted model, which "
                "read it in blocks."
            )
            raise MemoryError(message(what, rule, fact=f"it takes {in_bytes(self.n_read_bytes)}", remedy=remedy))
        return self._rows(0, self.n_samples)

    def take(self, rows: npt.ArrayLike) -> FloatArray | scipy.sparse.csr_array:
        """Return rows by their numbers, in any order; each is read once."""
        wanted = np.asarray(rows, dtype=np.int64)
        distinct, places = np.unique(wanted, return_inverse=True)
        if not len(distinct):
            return self._checked(self._rows(0, 0), int)
        return self._checked(self._chosen(distinct), lambda row: int(distinct[row]))[places.ravel()]

    def _checked(self, rows: Any, number: Callable[[int], int]) -> FloatArray | scipy.sparse.csr_array:
        if rows.shape[0] == 0:
            empty = np.empty((0, self.n_features), dtype=self.dtype)
            return scipy.sparse.csr_array(empty) if self.is_sparse else empty
        if self.is_sparse:
            matrix = canonical_csr(rows, dtype=self.dtype)
            if not all_within(matrix.data, LARGEST_SQUARED):
                first = int(np.flatnonzero(~(np.abs(matrix.data) <= np.float64(LARGEST_SQUARED)))[0])
                row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
                self._refuse(number(row), int(matrix.indices[first]), matrix.data[first])
            return matrix
        values = cast(rows, self.dtype)
        if not all_within(values, LARGEST_SQUARED):
            row, column = np.argwhere(~(np.abs(values) <= np.float64(LARGEST_SQUARED)))[0]
            self._refuse(number(int(row)), int(column), values[row, column])
        values = values.view()
        values.flags.writeable = False
        return values

    def _refuse(self, row: int, column: int, value: Any) -> None:
        what = f"row {row:,} of {self.name}"
        found = "missing" if np.isnan(value) else "infinite" if np.isinf(value) else f"{value:g}"
        fact = f"{column_text(column, self.feature_names)} is {found}"
        rule = f"numbers up to {LARGEST_SQUARED:g} in magnitude" if np.isfinite(value) else "finite numbers"
        remedy = "Fill in or leave out such rows or columns before."
        raise ValueError(message(what, rule, fact=fact, remedy=remedy))
