"""New rows placed on a curved surface, each where its own part of the map's loss is least."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon.extension.placement.placement import EXACT_UP_TO, RowPlacement
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives import RowLoss, repulsion_on_surface
from gnomon.surfaces import Sphere, Surface

__all__ = ["SurfacePlacement"]

Floats = npt.NDArray[np.float64]

_STARTS = 15  # nearest rows whose places are tried as a start
_MAX_ITER = 60
_TOLERANCE = 1e-5  # in units of the map, of a step at which a row rests
_DECREASE = 1e-4  # Armijo's share of the linear decrease
_LONGEST = 0.5  # of a first step, in units of the map
_ROWS = 512  # placed at a time


@dataclass
class SurfacePlacement(RowPlacement):
    """How a fitted map on a surface places new rows.

    The loss of a row is taken at the places of its nearest 15 fitted rows; from the best of these it is lowered along
    geodesics, by steps that are halved until they lower it. Above 4096 points, 4096 of them, taken evenly, stand for
    all in the repulsion.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, 2), float64
        Coordinates of the fitted rows.
    surface : Surface
        What they lie on.
    rows, n_neighbors, affinities, loss, metric, metric_params, seed : as in `RowPlacement`
        The loss is one attraction and one repulsion that is a plain sum.
    """

    Y: npt.NDArray[np.floating]
    surface: Surface = field(default_factory=Sphere)

    def ready(self) -> SurfacePlacement:
        """Make the search if it is not there; returns itself."""
        loss, self.loss = self.loss, None  # the field is of flat maps
        try:
            super().ready()
        finally:
            self.loss = loss
        return self

    @cached_property
    def _points(self) -> Floats:
        return self.surface.points(self.Y)

    @cached_property
    def _sources(self) -> tuple[Floats, RowLoss]:
        """The points that push, and the loss with their charges."""
        assert self.loss is not None
        (push,), n = self.loss.repulsions, len(self.Y)
        if n <= EXACT_UP_TO:
            return self._points, self.loss
        some = np.arange(EXACT_UP_TO) * n // EXACT_UP_TO
        charges = np.ones(n) if push.charges is None else push.charges
        return np.ascontiguousarray(self._points[some]), replace(
            self.loss, repulsions=(replace(push, charges=charges[some] * (charges.sum() / charges[some].sum())),)
        )

    def __getstate__(self) -> dict[str, object]:
        """Leave out what can be made again."""
        return {key: value for key, value in super().__getstate__().items() if key not in ("_points", "_sources")}

    def _positions(
        self, X_new: object, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.floating]:
        assert self.affinities is not None
        weights = self.affinities(self.rows, X_new, indices, distances).astype(np.float64)
        parts = [
            self._descend(indices[first : first + _ROWS], weights[first : first + _ROWS])
            for first in range(0, len(indices), _ROWS)
        ]
        return self.surface.coordinates(np.concatenate(parts))

    def _descend(self, indices: npt.NDArray[np.int32], weights: Floats) -> Floats:
        """Return points of some rows."""
        near = self._points[indices]
        trials = [self._loss(near[:, column], near, weights) for column in range(min(_STARTS, near.shape[1]))]
        best = np.argmin([losses for losses, _ in trials], axis=0)
        every = np.arange(len(near))
        points = near[every, best]
        losses = np.array([losses for losses, _ in trials])[best, every]
        slopes = np.array([slopes for _, slopes in trials])[best, every]
        sizes = _LONGEST / np.maximum(_lengths(slopes), 1e-12)
        active = _lengths(slopes) > 0.0
        for _ in range(_MAX_ITER):
            rows = np.flatnonzero(active)
            if not len(rows):
                break
            tried = self.surface.go(points[rows], -sizes[rows, None] * slopes[rows])
            found, gradients = self._loss(tried, near[rows], weights[rows])
            lower = found <= losses[rows] - _DECREASE * sizes[rows] * np.square(slopes[rows]).sum(axis=1)
            gained = rows[lower]
            points[gained], losses[gained], slopes[gained] = tried[lower], found[lower], gradients[lower]
            sizes[gained] *= 2.0
            sizes[rows[~lower]] *= 0.25
            active[rows] = sizes[rows] * _lengths(slopes[rows]) > _TOLERANCE
        return np.asarray(points)

    def _loss(self, points: Floats, near: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return the losses of rows at points (m, width) with neighbours (m, k, width), and their gradients."""
        assert self.loss is not None
        (pull,) = self.loss.attractions
        squared, away = self.surface.meet(points[:, None], near)
        energies, slopes = evaluate_law(pull.law, pull.kernel, squared)
        sources, loss = self._sources
        losses, gradients = repulsion_on_surface(self.surface, loss, points, sources)
        losses = losses + pull.scale * (weights * energies).sum(axis=1)
        gradients = gradients + 2.0 * pull.scale * ((weights * slopes)[:, :, None] * away).sum(axis=1)
        return losses, gradients


def _lengths(vectors: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=1)))
