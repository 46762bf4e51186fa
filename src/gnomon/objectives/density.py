"""How well a map keeps the density around each point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.objectives.pair_force import pair_force

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["DensityCorrelation", "log_radii"]

Float64Array = npt.NDArray[np.float64]

_SMALLEST = 1e-8  # added to a mean squared distance before its logarithm, as in the paper's program


def log_radii(weights: sp.csr_array, squared_distances: npt.ArrayLike) -> Float64Array:
    """Return log(1e-8 + sum_j w_ij d_ij^2 / sum_j w_ij) for each point.

    Parameters
    ----------
    weights : csr_array of shape (n_samples, n_samples)
        w, not negative, every row with an entry.
    squared_distances : array-like of shape (n_edges,)
        d_ij^2 of the stored entries, in their order.
    """
    n = weights.shape[0]
    rows = np.repeat(np.arange(n), np.diff(weights.indptr))
    values = np.asarray(weights.data, dtype=np.float64)
    sums = np.bincount(rows, weights=values, minlength=n)
    moments = np.bincount(rows, weights=values * np.asarray(squared_distances, dtype=np.float64), minlength=n)
    return np.asarray(np.log(_SMALLEST + moments / sums))


class DensityCorrelation:
    """Minus the correlation of log radii in the map with those in the data, in float64.

    With original log radii R_i, map log radii r_i whose weights are the similarities on the graph's edges, and R
    standardised,

        loss = -cov(R, r) / sqrt(var(r) + shift).

    Parameters
    ----------
    affinities : Affinities
        Memberships; their edges are those of both radii.
    squared_distances : array-like of shape (n_edges,)
        Squared distances of the data along the stored edges.
    kernel : OutputKernel
        Similarity in the map.
    variance_shift : float >= 0, default=0.1
        Keeps the slope finite where all radii are alike.

    References
    ----------
    .. [1] Narayan, Berger & Cho, "Assessing single-cell transcriptomic variability through density-preserving data
       visualization", Nature Biotechnology 39, 2021.
    """

    dtype = np.float64
    evaluation = "exact"

    def __init__(
        self,
        affinities: Affinities,
        squared_distances: npt.ArrayLike,
        kernel: OutputKernel,
        *,
        variance_shift: float = 0.1,
    ) -> None:
        matrix = sp.csr_array(affinities.matrix)
        if np.any(np.diff(matrix.indptr) == 0):
            raise ValueError(message("DensityCorrelation", "affinities", "an edge for every point"))
        self.kernel = kernel
        self.variance_shift = variance_shift
        self.radii = log_radii(matrix, squared_distances)
        self._edges = matrix.tocoo()
        spread = self.radii.std()
        self._standard = (self.radii - self.radii.mean()) / (spread if spread > 0 else 1.0)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.radii)

    def map_radii(self, Y: npt.ArrayLike) -> Float64Array:
        """Return the log radii of a map of shape (n_samples, n_components)."""
        moments, sums, *_ = self._moments(np.asarray(Y, dtype=np.float64))
        return np.asarray(np.log(_SMALLEST + moments / sums))

    def loss(self, Y: npt.ArrayLike) -> float:
        """Return minus the correlation."""
        r = self.map_radii(Y)
        return -float(np.mean(self._standard * (r - r.mean())) / np.sqrt(r.var() + self.variance_shift))

    def gradient(self, Y: npt.ArrayLike) -> Float64Array:
        """Return the gradient of minus the correlation."""
        points = np.asarray(Y, dtype=np.float64)
        moments, sums, s, k, slope = self._moments(points)
        r = np.log(_SMALLEST + moments / sums)
        deviation = np.sqrt(r.var() + self.variance_shift)
        covariance = np.mean(self._standard * (r - r.mean()))
        by_radius = (self._standard / deviation - covariance * (r - r.mean()) / deviation**3) / self.n_samples
        i, j = self._edges.row, self._edges.col
        by_distance = ((k + s * slope) / sums[i] - moments[i] * slope / sums[i] ** 2) / np.exp(r)[i]
        n = self.n_samples
        directed = sp.csr_array((by_radius[i] * by_distance, (i, j)), shape=(n, n))
        return -2.0 * pair_force(directed + directed.T, points)

    def _moments(self, Y: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return sums of k s and of k over each row's edges, and s, k and dk/ds of the edges."""
        i, j, n = self._edges.row, self._edges.col, self.n_samples
        s = np.square(Y[i] - Y[j]).sum(axis=1)
        k, slope = self.kernel.value(s), self.kernel.derivative(s)
        moments = np.bincount(i, weights=k * s, minlength=n)
        sums = np.bincount(i, weights=k, minlength=n)
        return moments.astype(np.float64), sums.astype(np.float64), s, k, slope
