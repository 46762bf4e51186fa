"""Mean and spread of every feature in every cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ClusterMoments", "cluster_moments"]

Array = npt.NDArray[np.float64]
_BLOCK = 1 << 22


@dataclass(frozen=True)
class ClusterMoments:
    """Moments of the clusters.

    Attributes
    ----------
    means, variances : ndarray of shape (n_clusters, n_features), float64
    sizes : ndarray of shape (n_clusters,), int64
    """

    means: Array
    variances: Array
    sizes: npt.NDArray[np.int64]

    def gaps(self, g: int) -> Array:
        """Return by how many standard deviations cluster g lies above each cluster, (n_clusters, n_features).

        The deviation is the root of the mean variance of the two, so one that is narrow does not lend its narrowness
        to one that is wide. 0 where the means are equal, infinite where they differ and neither varies.
        """
        difference = self.means[g] - self.means
        spread = np.sqrt((self.variances[g] + self.variances) / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps: Array = np.where(difference == 0, 0.0, difference / spread)
        return gaps


def cluster_moments(X: Any, groups: npt.NDArray[np.integer[Any]], n_groups: int) -> ClusterMoments:
    """Return means and variances of the rows of each group, about the group's mean, in float64."""
    n_features = int(X.shape[1])
    sizes = np.bincount(groups, minlength=n_groups).astype(np.int64)
    means, variances = np.zeros((n_groups, n_features)), np.zeros((n_groups, n_features))
    for g in range(n_groups):
        rows = np.flatnonzero(groups == g)
        if hasattr(X, "tocsr"):
            part = X[rows].astype(np.float64)
            means[g] = np.asarray(part.sum(axis=0)).ravel() / len(rows)
            stored = np.bincount(part.indices, minlength=n_features)
            deviations = np.bincount(part.indices, (part.data - means[g, part.indices]) ** 2, n_features)
            variances[g] = (deviations + (len(rows) - stored) * means[g] ** 2) / len(rows)
            continue
        first = np.asarray(X[rows[0]], dtype=np.float64)
        parts = np.array_split(rows, max(1, len(rows) * n_features // _BLOCK))
        means[g] = first + sum((np.asarray(X[p], dtype=np.float64) - first).sum(axis=0) for p in parts) / len(rows)
        squares = sum(((np.asarray(X[p], dtype=np.float64) - means[g]) ** 2).sum(axis=0) for p in parts)
        variances[g] = squares / len(rows)
    return ClusterMoments(means, variances, sizes)
