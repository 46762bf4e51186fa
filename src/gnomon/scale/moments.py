"""Mean, deviation and range of the columns of a stored table, merged from those of its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.column_scales import ColumnScales, column_scales
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.scale.executor import current_executor

__all__ = ["ColumnMoments", "column_moments"]

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ColumnMoments:
    """What the columns of rows range over.

    Moments of parts of a table are merged to those of the whole, in any order, up to rounding.

    Attributes
    ----------
    count : int
        Rows.
    mean : ndarray of shape (n_features,), float64
    squares : ndarray of shape (n_features,), float64
        Sum over rows of (x - mean)^2; 0 for a constant column.
    low, high : ndarray of shape (n_features,), float64
        Smallest and largest value.

    References
    ----------
    .. [1] Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
       COMPSTAT 1982, eq. 2.1.
    """

    count: int
    mean: Float64Array
    squares: Float64Array
    low: Float64Array
    high: Float64Array

    @classmethod
    def of(cls, X: Any) -> ColumnMoments:
        """Compute the moments of an ndarray or csr_array of one row at least, which is not densified."""
        found = column_scales(X)
        return cls(int(X.shape[0]), found.mean, X.shape[0] * found.deviation**2, found.low, found.high)

    def merge(self, other: ColumnMoments) -> ColumnMoments:
        """Return the moments of the rows of both."""
        count, shift = self.count + other.count, other.mean - self.mean
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        squares = self.squares + other.squares + shift**2 * (self.count * other.count / count)
        squares[low == high] = 0.0  # whatever rounding makes of the means of sparse columns
        return ColumnMoments(count, self.mean + shift * (other.count / count), squares, low, high)

    @property
    def scales(self) -> ColumnScales:
        """Mean, standard deviation (divisor n) and range, as `gnomon.data.scaling` takes them."""
        return ColumnScales(self.mean, np.sqrt(self.squares / self.count), self.low, self.high)

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Which columns have one value, (n_features,)."""
        return np.asarray(self.low == self.high)


def column_moments(table: StoredTable) -> ColumnMoments:
    """Return mean, deviation and range of each column of a stored table, in one pass.

    Each block is taken about its own mean, in float64, and blocks are merged along a fixed tree: columns that lie far
    from 0 lose no digits, and no bit depends on who works.

    Parameters
    ----------
    table : StoredTable
        Of one row at least.

    Returns
    -------
    ColumnMoments

    Raises
    ------
    ValueError
        If a value is missing or infinite; the text says in which row.
    """
    workers = current_executor()
    found: ColumnMoments = workers.reduce(_moments, ColumnMoments.merge, table.blocks(), workers.broadcast(table))
    return found


def _moments(block: RowBlock, table: StoredTable) -> ColumnMoments:
    return ColumnMoments.of(table.read(block.start, block.stop))
