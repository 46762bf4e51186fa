"""Blocks of rows that come once are written to a file, which is then read as often as needed."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from gnomon._files import atomic_write
from gnomon._validation import message
from gnomon.data.stored.arrays import ArrayTable, Stretch
from gnomon.data.table import check_table

__all__ = ["SpooledTable"]

_HEADER = 128  # bytes; NumPy pads every header of a table to them


class SpooledTable(ArrayTable):
    """The blocks of an iterator, read once.

    Parameters
    ----------
    blocks : iterator of array-like of shape (n_rows, n_features)
        What `gnomon.data.check_table` takes, all of the same columns and precision.
    folder : path-like, default=None
        Where ``X.npy`` is written. None writes to a temporary folder, which is removed with the table, at the latest
        when Python ends.
    """

    def __init__(self, blocks: Iterator[Any], *, folder: str | os.PathLike[str] | None = None) -> None:
        temporary = Path(tempfile.mkdtemp(prefix="gnomon-")) if folder is None else None
        if temporary is not None:
            self._removal = weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
        where = Path(folder) if temporary is None and folder is not None else temporary
        assert where is not None
        where.mkdir(parents=True, exist_ok=True)
        path = os.path.abspath(where / "X.npy")
        n_samples, n_features, dtype, names, self._sum = _write(blocks, path)
        strides = (n_features * dtype.itemsize, dtype.itemsize)
        super().__init__(Stretch(path, dtype, (n_samples, n_features), strides, _HEADER), feature_names=names)

    @property
    def fingerprint(self) -> str:
        """A checksum of the numbers: the same blocks make the same table, wherever they are written."""
        return f"blocks {self.shape} {np.dtype(self.dtype).str} {self._sum:08x}"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the removal of the folder to the table that wrote it."""
        return {name: value for name, value in self.__dict__.items() if name != "_removal"}


def _write(blocks: Iterator[Any], path: str) -> tuple[int, int, np.dtype[Any], list[str] | None, int]:
    n_samples, total = 0, 0
    first = None
    with atomic_write(path) as file:
        file.write(bytes(_HEADER))
        for number, block in enumerate(blocks):
            if scipy.sparse.issparse(block) or np.ndim(block) != 2:
                fact = "it is sparse" if scipy.sparse.issparse(block) else f"found {np.ndim(block)} dimensions"
                raise TypeError(message(f"block {number} of X", "a dense table of rows", fact=fact))
            try:
                table = check_table(block)
            except (TypeError, ValueError) as error:
                where = f"It is in block {number}, which begins at row {n_samples:,} of the table."
                raise type(error)(f"{error} {where}") from error
            values = table.values
            assert isinstance(values, np.ndarray)
            about = table.n_features, values.dtype, table.feature_names
            first = first or about
            if about != first:
                fact = f"found {_text(*about)}; block 0 has {_text(*first)}"
                remedy = "Give all blocks the same columns and precision, for instance with astype(numpy.float32)."
                raise ValueError(message(f"block {number} of X", "like the first", fact=fact, remedy=remedy))
            file.write(values.data)
            total = zlib.crc32(values.data, total)
            n_samples += table.n_samples
        if first is None:
            raise ValueError(message("X", "an iterator of one block or more", fact="it gave none"))
        n_features, dtype, names = first
        file.seek(0)
        shape = {"descr": dtype.str, "fortran_order": False, "shape": (n_samples, n_features)}
        np.lib.format.write_array_header_1_0(file, shape)
        assert file.tell() == _HEADER
    return n_samples, n_features, dtype, names, total


def _text(n_features: int, dtype: np.dtype[Any], names: list[str] | None) -> str:
    return f"{n_features} columns of {dtype}{'' if names is None else ' called ' + ', '.join(names[:3])}"
