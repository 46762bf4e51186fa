"""Neighbours of rows at their nearest images, where columns have a period under the metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.linalg.table import dense_rows
from gnomon.neighbors.circles import periods_under, shorter_way

__all__ = ["Images", "images_around", "metric_wraps"]

_BLOCK = 1 << 21  # numbers of neighbours written out at a time


@dataclass(frozen=True, eq=False)
class Images:
    """Some rows, each at the origin, and their neighbours as they lie around it.

    Attributes
    ----------
    rows : slice
    table : ndarray of shape (m + m k, n_features), float64
        Zeros for the m rows, then the neighbours of each.
    indices : ndarray of shape (m, k), int32
        Where in the table the neighbours are.
    """

    rows: slice
    table: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int32]


def metric_wraps(metric: str, n_features: int) -> bool:
    """Say whether columns have a period under a metric, so that neighbours are taken at their nearest images."""
    return periods_under(metric, n_features) is not None


def images_around(rows: Any, others: Any, indices: npt.NDArray[np.integer[Any]], metric: str) -> Iterator[Images]:
    """Yield neighbours at their nearest images, some rows at a time, as many whatever the number of threads.

    Parameters
    ----------
    rows, others : ndarray or CSR of shapes (n, n_features) and (m, n_features)
    indices : ndarray of shape (n, k)
        Which of the others are near each row.
    metric : str
        "periodic(...)" or "haversine".
    """
    n_features = int(others.shape[1])
    periods = periods_under(metric, n_features)
    assert periods is not None
    n, k = indices.shape
    step = max(1, _BLOCK // ((k + 1) * n_features))
    for begin in range(0, n, step):
        some = slice(begin, min(begin + step, n))
        near = indices[some]
        m = len(near)
        around = dense_rows(others[near.ravel()]).reshape(m, k, n_features) - dense_rows(rows[some])[:, None]
        table = np.zeros((m * (k + 1), n_features))
        table[m:] = shorter_way(around, periods).reshape(m * k, n_features)
        yield Images(some, table, np.arange(m, m * (k + 1), dtype=np.int32).reshape(m, k))
