"""Where a map truly takes a surface: the judge of explanations on data whose drivers are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.known_drivers.manifolds import DrivenManifold
from gnomon._validation import message

__all__ = ["KnownMap"]

_NEIGHBORS = (40, 80, 160, 320)
_CERTAIN = 3.0  # standard errors
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Fits:
    """Linear fits of the map in the true coordinates at m points of the surface; NaN off the surface.

    Attributes
    ----------
    places : ndarray of shape (m, d)
    slopes : ndarray of shape (m, d, 2)
        dY/du.
    spread : ndarray of shape (m, 2, 2)
        Inverse of the sum of squares of the coordinates.
    scatter : ndarray of shape (m, d, d)
        Covariance of the residuals: that of slopes is this times `spread`.
    leverage : ndarray of shape (m,)
        How far a row that lies at the point draws the place there to itself.
    """

    places: Floats
    slopes: Floats
    spread: Floats
    scatter: Floats
    leverage: Floats


class KnownMap:
    """A map of a `DrivenManifold` as a function of the true coordinates on the surface.

    Places are smoothed over the rows that are nearest on the surface: a linear fit in the true coordinates, which
    knows neither the noise of the features nor the explanation under test. A map of noisy rows places them by their
    noise too, so the fits are made over the number of rows that best predicts the place of each row from the others.

    Parameters
    ----------
    manifold : DrivenManifold
        The rows and where they lie on the surface.
    Y : ndarray of shape (n_samples, n_components)
        The map of its rows.
    n_neighbors : int, default=None
        Rows of each fit; chosen among 40, 80, 160 and 320 by default.
    """

    def __init__(self, manifold: DrivenManifold, Y: npt.ArrayLike, *, n_neighbors: int | None = None) -> None:
        self.manifold = manifold
        self.Y = np.asarray(Y, dtype=np.float64)
        if len(self.Y) != len(manifold.X):
            fact = f"{len(manifold.X)} rows and a map with {len(self.Y)}"
            raise ValueError(message("KnownMap", f"manifold with {fact}", "of the same length"))
        # Regions of one piece share their coordinates only if the coordinates go on from one to the next.
        self._joined = manifold.name == "ribbon"
        self.n_neighbors = n_neighbors or min(_NEIGHBORS, key=self._left_out)

    def _left_out(self, n_neighbors: int) -> float:
        """Return the mean square by which fits to the others miss the places of the rows."""
        on = self.manifold.on_surface
        fits = self._fit(self.manifold.u[on], self.manifold.regions[on], n_neighbors)
        return float(np.mean(((self.Y[on] - fits.places) / (1.0 - fits.leverage)[:, None]) ** 2))

    def _fit(self, u: Floats, regions: npt.NDArray[np.int32], n_neighbors: int) -> _Fits:
        from scipy.spatial import cKDTree

        manifold, d, m = self.manifold, self.Y.shape[1], len(u)
        shapes = [(m, d), (m, d, 2), (m, 2, 2), (m, d, d), (m,)]
        places, slopes, spread, scatter, leverage = (np.full(shape, np.nan) for shape in shapes)
        metric = manifold.metric()
        for group in np.unique(regions[regions >= 0]) if not self._joined else [0]:
            rows = np.flatnonzero(manifold.regions >= 0 if self._joined else manifold.regions == group)
            wanted = np.flatnonzero(regions >= 0 if self._joined else regions == group)
            frame = np.linalg.cholesky(metric[rows].mean(axis=0))
            tree = cKDTree(manifold.u[rows] @ frame)
            k = min(n_neighbors, len(rows))
            near = rows[tree.query(u[wanted] @ frame, k=k)[1]]
            U, T = manifold.u[near] - u[wanted][:, None], self.Y[near]
            mean_u, mean_t = U.mean(axis=1, keepdims=True), T.mean(axis=1, keepdims=True)
            U, T = U - mean_u, T - mean_t
            inverse = np.linalg.inv(np.swapaxes(U, 1, 2) @ U)
            rise = inverse @ np.swapaxes(U, 1, 2) @ T
            rest = T - U @ rise
            slopes[wanted] = np.swapaxes(rise, 1, 2)
            places[wanted] = (mean_t - mean_u @ rise)[:, 0]
            spread[wanted] = inverse
            scatter[wanted] = np.swapaxes(rest, 1, 2) @ rest / (k - 3)
            leverage[wanted] = 1.0 / k + (mean_u @ inverse @ np.swapaxes(mean_u, 1, 2))[:, 0, 0]
        return _Fits(places, slopes, spread, scatter, leverage)

    @cached_property
    def _fits(self) -> _Fits:
        return self._fit(self.manifold.u, self.manifold.regions, self.n_neighbors)

    @cached_property
    def derivative(self) -> Floats:
        """dY/du at each row, (n_samples, n_components, 2); NaN off the surface."""
        return self._fits.slopes

    def arrows(self) -> Floats:
        """Return where each row truly moves in the map per unit of each feature, (n_samples, n_features, n_components).

        The row moves on the surface, by a unit step in the feature projected on the tangent space.
        """
        found: Floats = np.einsum("iab,ifb->ifa", self.derivative, self.manifold.directions())
        return found

    def determined(self) -> npt.NDArray[np.bool_]:
        """Say which of the true `arrows` are known: longer than three standard errors, (n_samples, n_features).

        Of the others the map itself does not tell to which side they point.
        """
        fits, directions = self._fits, self.manifold.directions()
        square = np.einsum("ifa,iab,ifb->if", directions, fits.spread, directions)
        precision = np.linalg.pinv(np.nan_to_num(fits.scatter), rcond=1e-12, hermitian=True)
        arrows = self.arrows()
        wald = np.einsum("ifa,iab,ifb->if", arrows, precision, arrows)
        known: npt.NDArray[np.bool_] = wald > _CERTAIN**2 * square
        return known

    def place(self, points: Floats) -> Floats:
        """Return places of points of the surface, given as (m, 3): two coordinates and the number of the region."""
        return self._fit(points[:, :2], points[:, 2].astype(np.int32), self.n_neighbors).places

    def inside(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Say which points of the surface, given as for `place`, lie between rows: beyond them the map is a guess."""
        u, found = self.manifold.u, np.zeros(len(points), dtype=bool)
        for group in np.unique(points[:, 2]):
            rows = self.manifold.regions >= 0 if self._joined else self.manifold.regions == group
            between = (u[rows].min(axis=0) <= points[:, :2]) & (points[:, :2] <= u[rows].max(axis=0))
            found |= between.all(axis=1) & (points[:, 2] == group)
        return found

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
