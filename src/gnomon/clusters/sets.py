"""Places of sets: coordinates in which straight distances grow as those of sets do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon._run import current_run
from gnomon.linalg import symmetric_eigen
from gnomon.neighbors import cross_distances, draw_landmarks

__all__ = ["OF_SETS", "SetPlaces", "has_many_members"]

Floats = npt.NDArray[np.float64]

OF_SETS = ("jaccard", "dice", "sokalsneath")
"""Distances of sets that are squares of straight distances."""
_LANDMARKS = 1000
_BLOCK = 4096  # rows placed at a time
_MANY = 50.0  # columns, of equal variance, from which no step of a single one shows
_ROUNDING = 1e-9  # of the largest eigenvalue


def has_many_members(X: Any) -> bool:
    """Return whether sets differ in so many columns that no single one leaves a hole between those with and without.

    Counted are as many columns of equal variance as have the sum of the variances and of their squares.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        All but 0 is a member.
    """
    shares = np.asarray((X != 0).sum(axis=0), dtype=np.float64).reshape(-1) / max(1, X.shape[0])
    variances = shares * (1.0 - shares)
    squares = float(np.square(variances).sum())
    return bool(squares > 0.0 and float(variances.sum()) ** 2 / squares >= _MANY)


@dataclass(frozen=True, eq=False)
class SetPlaces:
    """Principal coordinates of sets.

    Similarities of sets, 1 less the distance, are inner products in a space of very many dimensions [1]_: distances
    are half the squared straight ones there. Rows are placed along the directions in which up to 1,000 of them spread
    most, those of the largest eigenvalues of their centred similarities [2]_.

    Parameters
    ----------
    landmarks : ndarray or CSR of shape (m, n_features)
    metric : str
    means : ndarray of shape (m,), float64
        Of the similarities of the landmarks to each.
    projection : ndarray of shape (m, n_components), float64

    References
    ----------
    .. [1] Gower & Legendre, "Metric and Euclidean properties of dissimilarity coefficients", Journal of Classification
       3, 1986.
    .. [2] Scholkopf, Smola & Muller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural Computation
       10, 1998.
    """

    landmarks: Any
    metric: str
    means: Floats
    projection: Floats

    @classmethod
    def of(cls, X: Any, metric: str, n_components: int) -> SetPlaces:
        """Find the directions of rows."""
        n = int(X.shape[0])
        landmarks = X[draw_landmarks(n, min(n, _LANDMARKS), seed=current_run().seed)]
        similar = 1.0 - cross_distances(landmarks, landmarks, metric=metric)
        means = similar.mean(axis=0)
        values, vectors = symmetric_eigen(similar - means - means[:, None] + means.mean(), n_components)
        kept = values[: vectors.shape[1]]
        known = kept > _ROUNDING * max(float(values[0]), _ROUNDING)
        return cls(landmarks, metric, means, vectors[:, known] / np.sqrt(kept[known]))

    def transform(self, X: Any) -> Floats:
        """Return the places of rows, of shape (n_rows, n_components)."""
        found = np.empty((int(X.shape[0]), self.projection.shape[1]))
        for begin in range(0, len(found), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            similar = 1.0 - cross_distances(X[some], self.landmarks, metric=self.metric)
            found[some] = product(similar - self.means, self.projection)  # whose columns sum to 0
        return found
