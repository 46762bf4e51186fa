"""How a stored table is standardised, found by reading it once or twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.scaling import Scaling, ScalingChoice, decide_scaling, scaling_of
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.data.unlike_columns import Unlike, are_uncorrelated, find_unlike_rows, rows_that_decide
from gnomon.linalg import Moments
from gnomon.scale.executor import current_executor
from gnomon.scale.moments import ColumnMoments, column_moments

__all__ = ["choose_stored_scaling"]

_NUMBERS, _FEWEST = 2**25, 10_000  # numbers of the rows of which quartiles are taken, and the least of these rows


def choose_stored_scaling(
    table: StoredTable,
    scale: Any,
    *,
    names: list[str],
    metric: str = "euclidean",
    moments: ColumnMoments | None = None,
) -> ScalingChoice:
    """Decide how a stored table is standardised, as `gnomon.data.scaling.choose_scaling` does of one in memory.

    Means and deviations are those of all rows. Median and interquartile range of "robust" are those of all rows where
    the table has at most 2^25 numbers, else of rows at equal distances, so many that they have 2^25 numbers, 10,000 at
    least. They then are off by standard errors of about 1.6 / sqrt(rows) deviations: .002 for 50 columns. Whether
    columns have unlike units is decided by the same 10,000 rows as in memory.

    Parameters
    ----------
    table : StoredTable
    scale : {"auto", "standard", "robust"} or None
    names : list of str
        One name for each column.
    metric : str, default="euclidean"
    moments : ColumnMoments or None, default=None
        Of the table, if they are known; None to find them where they are needed.

    Returns
    -------
    ScalingChoice

    Raises
    ------
    ValueError
        If the table is sparse and `scale` is "robust".
    """

    def fit(name: str) -> Scaling:
        robust = name == "robust"
        if robust and table.is_sparse:
            raise ValueError(message("scale='robust'", "for a dense table", remedy="Pass scale='standard'."))
        rows = table.take(_spaced(table)) if robust else table.read(0, 0)
        known = column_moments(table) if moments is None else moments
        return scaling_of(known.scales, rows, name)

    return decide_scaling(scale, fit, lambda: _find(table, names), metric=metric)


def _spaced(table: StoredTable) -> npt.NDArray[np.int64]:
    """Return the rows of which quartiles are taken."""
    wanted = max(_FEWEST, _NUMBERS // max(1, table.n_features))
    if table.n_samples <= wanted:
        return np.arange(table.n_samples)
    return np.arange(wanted) * table.n_samples // wanted


def _find(table: StoredTable, names: list[str]) -> Unlike:
    """Find what tells that columns have unlike units."""
    if table.is_sparse:
        return Unlike()

    def uncorrelated(columns: npt.NDArray[np.intp]) -> bool:
        workers = current_executor()
        shared = workers.broadcast(table), columns
        scatter = workers.reduce(_moments_of_columns, Moments.merge, table.blocks(), *shared).scatter
        roots = np.sqrt(scatter.diagonal())
        with np.errstate(invalid="ignore"):
            return are_uncorrelated(scatter / roots / roots[:, None])

    deciding = np.arange(table.n_samples)[rows_that_decide(table.n_samples)]
    return find_unlike_rows(np.asarray(table.take(deciding)), names, uncorrelated)


def _moments_of_columns(block: RowBlock, table: StoredTable, columns: npt.NDArray[np.intp]) -> Moments:
    return Moments.of(np.asarray(table.read(block.start, block.stop))[:, columns])
