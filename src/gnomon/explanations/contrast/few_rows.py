"""Ranks of the few rows of small clusters among those of others, by which chance is judged exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.explanations.contrast.errors import are_few, rank_p_values
from gnomon.explanations.rows import dense_rows_of
from gnomon.linalg.table import evenly_spaced

__all__ = ["FewRows"]

Array = npt.NDArray[np.float64]

_ENOUGH = 20  # rows among which the ranks of two to four tell more than how these vary
_ROWS = 1000  # of a cluster that are looked at
_SUMMED = 127  # signs whose sum an int8 holds


@dataclass(frozen=True)
class FewRows:
    """Clusters of two to four rows, whose own variances tell next to nothing, against clusters of 20 and more.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    rows : list of ndarray of int
        Of each cluster, evenly spaced ones of many.
    """

    X: Any
    rows: list[npt.NDArray[np.intp]]

    @classmethod
    def of(cls, X: Any, groups: npt.NDArray[np.integer[Any]], n_groups: int) -> FewRows | None:
        """Return the rows of all clusters; None if no pair of them is judged by ranks.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        groups : ndarray of shape (n_samples,), int
            Number of the cluster of each row, -1 for none.
        n_groups : int
        """
        sizes = np.bincount(groups[groups >= 0], minlength=n_groups).tolist()
        if max(sizes) < _ENOUGH or not any(are_few((size, max(sizes))) for size in sizes):
            return None
        order = np.argsort(groups, kind="stable")
        each = np.split(order[np.count_nonzero(groups < 0) :], np.cumsum(sizes)[:-1])
        return cls(X, [rows[evenly_spaced(len(rows), _ROWS)] for rows in each])

    def judge(self, g: int, h: int) -> bool:
        """Return whether chance between two clusters is judged by ranks."""
        sizes = len(self.rows[g]), len(self.rows[h])
        return are_few(sizes) and max(sizes) >= _ENOUGH

    def chances(self, g: int, h: int) -> tuple[Array, Array]:
        """Return the p-value of every feature between two clusters, and the side on which cluster g is by its ranks.

        Parameters
        ----------
        g, h : int
            Such as `judge` says.

        Returns
        -------
        p_values : ndarray of shape (n_features,), float64
        side : ndarray of shape (n_features,), float64
            1 where the rows of g rank higher, -1 where lower, 0 where neither.
        """
        few, many = sorted((self.rows[g], self.rows[h]), key=len)
        some, others = dense_rows_of(self.X, few), dense_rows_of(self.X, many)
        above = np.zeros(int(self.X.shape[1]))
        for start in range(0, len(many), _SUMMED):
            block = others[start : start + _SUMMED]
            for row in some:
                above += np.add.reduce((row > block).view(np.int8) - (row < block).view(np.int8), dtype=np.int8)
        sizes = len(few), len(many)
        auc = 0.5 + above / (2.0 * sizes[0] * sizes[1])
        side = np.sign(above) if few is self.rows[g] else -np.sign(above)
        return rank_p_values(auc, sizes), side
