"""The sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.surfaces.base import Floats, Surface, check_coordinates

__all__ = ["Sphere"]

_TURNS = 8  # of Newton's method for Mollweide's angle
_SLACK = 1e-6  # beyond a pole: rounding of float32


@dataclass(frozen=True)
class Sphere(Surface):
    """A sphere: maps of directions, of what is cyclic in two ways, and of what closes on itself.

    Coordinates are longitude and latitude in radians, in [-pi, pi] and [-pi/2, pi/2].

    Parameters
    ----------
    radius : float > 0, default=1.0
        In units of the map: the farthest points are pi times as far apart.

    References
    ----------
    .. [1] Snyder, "Map projections: a working manual", US Geological Survey 1395, 1987 (Mollweide, p. 249).
    """

    name: ClassVar[str] = "sphere"
    view: ClassVar[str] = "on a sphere, seen in space"
    axes: ClassVar[tuple[str, str]] = ("longitude", "latitude")
    width: ClassVar[int] = 3

    def points(self, coordinates: npt.ArrayLike) -> Floats:
        """Return unit vectors of space (n, 3) of longitudes and latitudes, or raise ValueError."""
        found = check_coordinates(coordinates, self.axes)
        beyond = np.flatnonzero(np.abs(found[:, 1]) > np.pi / 2 + _SLACK)
        if len(beyond):
            rule = "at most pi/2 = 1.571 in size, in radians"
            raise ValueError(message("latitude", rule, fact=f"row {beyond[0]} has {found[beyond[0], 1]:g}"))
        longitude, latitude = found.T
        across = np.cos(latitude)
        return np.stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)], axis=1)

    def coordinates(self, points: Floats) -> Floats:
        """Return longitude and latitude of points of space (n, 3) by their directions."""
        x, y, z = np.asarray(points, dtype=np.float64).T
        return np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=1)

    def ambient(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places in space (n, 3), `radius` from the origin: nearest neighbours there are those on the sphere."""
        return self.radius * self.points(coordinates)

    def drawn(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places in space (n, 3), as `ambient`."""
        return self.ambient(coordinates)

    def read(self, drawn: npt.ArrayLike) -> Floats:
        """Return longitude and latitude of the directions of places in space."""
        return self.coordinates(np.asarray(drawn, dtype=np.float64))

    @property
    def words(self) -> str:
        """How a map of the sphere is shown."""
        return (
            f"The map lies on a sphere of radius {self.radius:.3g}, shown in space: near on the sphere is near there, "
            "and arrows and regions are in space. A figure shows its two halves."
        )

    def picture(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places (n, 2) in Mollweide's picture, an ellipse twice as wide as high that keeps areas.

        Its half axes are 2 sqrt(2) and sqrt(2) radii; left and right rim are the same half circle.
        """
        longitude, latitude = self.coordinates(self.points(coordinates)).T
        angle, wanted = latitude.copy(), np.pi * np.sin(latitude)
        for _ in range(_TURNS):
            slope = 2.0 + 2.0 * np.cos(2.0 * angle)
            angle -= (2.0 * angle + np.sin(2.0 * angle) - wanted) / np.maximum(slope, 1e-9)
            angle = np.clip(angle, -np.pi / 2, np.pi / 2)
        scale = np.sqrt(2.0) * self.radius
        return np.stack([2.0 / np.pi * scale * longitude * np.cos(angle), scale * np.sin(angle)], axis=1)

    def meet(self, here: Floats, there: Floats) -> tuple[Floats, Floats]:
        """Return squared distances, and the vectors at `here` that lead away from `there`."""
        step = there - here
        chord = np.square(step).sum(axis=-1)
        other = np.square(there + here).sum(axis=-1)
        angle = 2.0 * np.arctan2(np.sqrt(chord), np.sqrt(other))
        sine = 0.5 * np.sqrt(chord * other)
        stretch = np.divide(angle, sine, out=np.zeros_like(angle), where=sine > 0.0)
        along = step + 0.5 * chord[..., None] * here
        return np.square(self.radius * angle), (-self.radius * stretch)[..., None] * along

    def go(self, points: Floats, vectors: Floats) -> Floats:
        """Return where great circles lead that leave points along vectors of their lengths."""
        along = self.tangent(points, vectors) / self.radius
        angle = np.sqrt(np.square(along).sum(axis=-1, keepdims=True))
        found = np.cos(angle) * points + np.sinc(angle / np.pi) * along
        return np.asarray(found / np.sqrt(np.square(found).sum(axis=-1, keepdims=True)))

    def tangent(self, points: Floats, vectors: Floats) -> Floats:
        """Return the part of vectors of space that is along the sphere."""
        return np.asarray(vectors - (vectors * points).sum(axis=-1, keepdims=True) * points)

    def start(self, positions: npt.ArrayLike) -> Floats:
        """Return the directions of positions (n, 3) from their mean, in units of the spread along each axis."""
        found = np.array(positions, dtype=np.float64)
        found -= found.mean(axis=0)
        spread = found.std(axis=0)
        found /= np.where(spread > 0.0, spread, 1.0)
        length = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
        found[length[:, 0] == 0.0] = [0.0, 0.0, 1.0]
        return np.asarray(found / np.where(length > 0.0, length, 1.0))

    @classmethod
    def usual_radius(cls, n_samples: int) -> float:
        """Return log10(n) - 1, 1.5 at least: about where the loss of points all over a sphere is least."""
        return max(1.5, math.log10(max(n_samples, 1)) - 1.0)

    def _in_plane(self, point: Floats, vectors: Floats) -> Floats:
        """Return vectors in components to the east and to the north; at a pole, along its meridian of longitude 0."""
        longitude, latitude = self.coordinates(point[None])[0]
        east = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
        north = np.array(
            [-np.sin(latitude) * np.cos(longitude), -np.sin(latitude) * np.sin(longitude), np.cos(latitude)]
        )
        return np.asarray(vectors @ np.stack([east, north], axis=1))
