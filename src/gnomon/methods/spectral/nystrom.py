"""The extension of eigenmaps of a neighbour graph to new rows, by Nystroem's formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities import EdgeWeights

__all__ = ["EigenmapExtension"]

_MOST = 2.0  # how far the extension may carry a row beyond the mean of its neighbours
Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EigenmapExtension:
    """What places new rows.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features)
        The distinct rows fitted, or their distances.
    positions : ndarray of shape (n_samples, n_components), float64
    rule : EdgeWeights
        How a distance becomes a weight.
    factors : ndarray of shape (n_samples,), float64
        degree^-alpha of each row.
    alpha : float
    labels : ndarray of shape (n_samples,), int32
        The component with which a row was mapped.
    eigenvalues : ndarray of shape (n_graph_components, n_components), float64
        0 for components that lie at random.
    centres : ndarray of shape (n_graph_components, n_components), float64
        Where the origin of each component's own map lies.
    normalized : bool
        Whether the eigenvalues are of the normalised Laplacian.
    """

    rows: Any
    positions: Float64Array
    rule: EdgeWeights
    factors: Float64Array
    alpha: float
    labels: npt.NDArray[np.int32]
    eigenvalues: Float64Array
    centres: Float64Array
    normalized: bool

    def place(self, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32]) -> Float64Array:
        """Return the positions of rows with these nearest fitted rows, both of shape (n_rows, n_neighbors)."""
        weights = self.rule.of_new_rows(indices, distances)
        degrees = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        weights = weights * self.factors[indices] * np.power(degrees, -self.alpha)
        degrees = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        labels = self.labels[indices]
        centres = self.centres[labels]
        shares = self.eigenvalues[labels] / (1.0 if self.normalized else degrees[:, :, None])
        stretch = 1.0 / np.maximum(1.0 - shares, 1.0 / _MOST)
        targets = centres + stretch * (self.positions[indices] - centres)
        return np.asarray(np.einsum("ij,ijk->ik", weights / degrees, targets))
