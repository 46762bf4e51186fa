"""Where a map truly takes a surface: the judge of explanations on data whose drivers are known."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.known_drivers.manifolds import DrivenManifold
from gnomon._validation import message

__all__ = ["KnownMap"]

_NEIGHBORS = 40
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class KnownMap:
    """A map of a `DrivenManifold` as a function of the true coordinates on the surface.

    Places are smoothed over the rows that are nearest on the surface: a linear fit in the true coordinates, which
    knows neither the noise of the features nor the explanation under test.

    Parameters
    ----------
    manifold : DrivenManifold
        The rows and where they lie on the surface.
    Y : ndarray of shape (n_samples, n_components)
        The map of its rows.
    n_neighbors : int, default=40
        Rows of each fit.
    """

    def __init__(self, manifold: DrivenManifold, Y: npt.ArrayLike, *, n_neighbors: int = _NEIGHBORS) -> None:
        self.manifold = manifold
        self.Y = np.asarray(Y, dtype=np.float64)
        if len(self.Y) != len(manifold.X):
            fact = f"{len(manifold.X)} rows and a map with {len(self.Y)}"
            raise ValueError(message("KnownMap", f"manifold with {fact}", "of the same length"))
        self.n_neighbors = n_neighbors
        # Regions of one piece share their coordinates only if the coordinates go on from one to the next.
        joined = manifold.name == "ribbon"
        self._group_of_region = np.zeros_like(manifold.regions) if joined else manifold.regions
        self._joined = joined

    def _fit(self, u: Floats, regions: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Return place and derivative of the map at points of the surface, (m, d) and (m, d, 2)."""
        from scipy.spatial import cKDTree

        manifold, d = self.manifold, self.Y.shape[1]
        places, slopes = np.full((len(u), d), np.nan), np.full((len(u), d, 2), np.nan)
        metric = manifold.metric()
        for group in np.unique(regions[regions >= 0]) if not self._joined else [0]:
            rows = np.flatnonzero(manifold.regions >= 0 if self._joined else manifold.regions == group)
            wanted = np.flatnonzero(regions >= 0 if self._joined else regions == group)
            frame = np.linalg.cholesky(metric[rows].mean(axis=0))
            tree = cKDTree(manifold.u[rows] @ frame)
            near = rows[tree.query(u[wanted] @ frame, k=min(self.n_neighbors, len(rows)))[1]]
            U, T = manifold.u[near] - u[wanted][:, None], self.Y[near]
            mean_u, mean_t = U.mean(axis=1, keepdims=True), T.mean(axis=1, keepdims=True)
            U, T = U - mean_u, T - mean_t
            rise = np.linalg.solve(np.swapaxes(U, 1, 2) @ U, np.swapaxes(U, 1, 2) @ T)
            slopes[wanted] = np.swapaxes(rise, 1, 2)
            places[wanted] = (mean_t - mean_u @ rise)[:, 0]
        return places, slopes

    @cached_property
    def derivative(self) -> Floats:
        """dY/du at each row, (n_samples, n_components, 2); NaN off the surface."""
        return self._fit(self.manifold.u, self.manifold.regions)[1]

    def arrows(self) -> Floats:
        """Return where each row truly moves in the map per unit of each feature, (n_samples, n_features, n_components).

        The row moves on the surface, by a unit step in the feature projected on the tangent space.
        """
        found: Floats = np.einsum("iab,ifb->ifa", self.derivative, self.manifold.directions())
        return found

    def place(self, points: Floats) -> Floats:
        """Return places of points of the surface, given as (m, 3): two coordinates and the number of the region."""
        return self._fit(points[:, :2], points[:, 2].astype(np.int32))[0]

    def pushes(self, rows: Ints, features: Ints, length: float) -> tuple[Floats, Floats, Floats]:
        """Return points before and after a push along the surface, for `place`, and the push in the data.

        Parameters
        ----------
        rows, features : ndarray of shape (m,)
        length : float
            Of the push, in units of the data.

        Returns
        -------
        before, after : ndarray of shape (m, 3)
        step : ndarray of shape (m, n_features)
            What the push adds to the rows.
        """
        X, u = self.manifold.push(rows, features, length)
        regions = self.manifold.regions[rows][:, None].astype(np.float64)
        before = np.hstack([self.manifold.u[rows], regions])
        return before, np.hstack([u, regions]), X - self.manifold.X[rows]
