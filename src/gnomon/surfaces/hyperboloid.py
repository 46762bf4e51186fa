"""The hyperbolic plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.surfaces.base import Floats, Surface, check_coordinates

__all__ = ["Hyperboloid"]

_FARTHEST = 16.0  # radii from the middle: farther out, float64 no longer tells near places of the disk apart
_REACH = 2.0  # radii, of the farthest point of a start
_RIM = float(np.tanh(0.5 * _FARTHEST))


@dataclass(frozen=True)
class Hyperboloid(Surface):
    """The hyperbolic plane, whose circles grow exponentially with their radius: maps of trees and hierarchies.

    Coordinates are those of the Poincare disk, inside the unit circle: angles are true, and lengths shrink to the rim
    by (1 - |u|^2) / 2. No point of a map lies farther than 16 radii from the middle.

    Parameters
    ----------
    radius : float > 0, default=1.0
        In units of the map, that of curvature: a smaller one is more strongly curved.

    References
    ----------
    .. [1] Nickel & Kiela, "Poincare embeddings for learning hierarchical representations", NeurIPS 2017.
    .. [2] Anderson, "Hyperbolic geometry", 2005, chapters 2 to 4.
    """

    name: ClassVar[str] = "hyperboloid"
    view: ClassVar[str] = "on the hyperbolic plane, seen as its Poincare disk"
    axes: ClassVar[tuple[str, str]] = ("disk x", "disk y")
    width: ClassVar[int] = 2

    def points(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places of the disk (n, 2) as they are, or raise ValueError."""
        found = check_coordinates(coordinates, self.axes)
        outside = np.flatnonzero(np.square(found).sum(axis=1) >= 1.0)
        if len(outside):
            x, y = found[outside[0]]
            raise ValueError(
                message("disk x and y", "inside the unit circle", fact=f"row {outside[0]} is {x:g}, {y:g}")
            )
        return found

    def coordinates(self, points: Floats) -> Floats:
        """Return places of the disk as they are."""
        return points

    def ambient(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places (x, y, z) with z^2 - x^2 - y^2 = radius^2 on the hyperboloid; x and y are umap-learn's."""
        disk = self.points(coordinates)
        squares = np.square(disk).sum(axis=1, keepdims=True)
        return np.asarray(self.radius * np.hstack([2.0 * disk, 1.0 + squares]) / (1.0 - squares))

    def drawn(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places in the Poincare disk (n, 2), as `picture`."""
        return self.points(coordinates)

    def read(self, drawn: npt.ArrayLike) -> Floats:
        """Return places of the disk, those on its rim or beyond as far out as points may lie."""
        return _inside(np.asarray(drawn, dtype=np.float64))

    @property
    def words(self) -> str:
        """How a map of the hyperbolic plane is shown."""
        return (
            f"The map lies on the hyperbolic plane of curvature radius {self.radius:.3g}, shown as its Poincare disk: "
            "directions are true, lengths, also of arrows, shrink to the rim by (1 - r^2) / 2 at r from the middle. "
            "Scores are of true distances."
        )

    def picture(self, coordinates: npt.ArrayLike) -> Floats:
        """Return the Poincare disk as it is."""
        return self.points(coordinates)

    def meet(self, here: Floats, there: Floats) -> tuple[Floats, Floats]:
        """Return squared distances, and the vectors at `here` that lead away from `there`."""
        x, y = np.moveaxis(there - here, -1, 0)
        gap = _gap(here)
        real = gap - (here[..., 0] * x + here[..., 1] * y)
        imaginary = here[..., 1] * x - here[..., 0] * y
        square = np.square(real) + np.square(imaginary)
        along = np.stack([x * real + y * imaginary, y * real - x * imaginary], axis=-1) / square[..., None]
        step = np.square(x) + np.square(y)
        distance = 2.0 * np.arcsinh(np.sqrt(step / (gap * _gap(there))))
        length = np.sqrt(np.square(along).sum(axis=-1))
        stretch = np.divide(distance, length, out=np.zeros_like(distance), where=length > 0.0)
        return np.square(self.radius * distance), (-self.radius * stretch)[..., None] * along

    def go(self, points: Floats, vectors: Floats) -> Floats:
        """Return where geodesics lead that leave points along vectors of their lengths."""
        along = vectors / self.radius
        length = np.sqrt(np.square(along).sum(axis=-1, keepdims=True))
        half = np.divide(np.tanh(0.5 * length), length, out=np.full_like(length, 0.5), where=length > 0.0)
        x, y = np.moveaxis(half * along, -1, 0)
        real = 1.0 + points[..., 0] * x + points[..., 1] * y
        imaginary = points[..., 0] * y - points[..., 1] * x
        to_x, to_y = points[..., 0] + x, points[..., 1] + y
        found = np.stack([to_x * real + to_y * imaginary, to_y * real - to_x * imaginary], axis=-1)
        return _inside(found / (np.square(real) + np.square(imaginary))[..., None])

    def tangent(self, points: Floats, vectors: Floats) -> Floats:
        """Return vectors as they are: all are along the surface."""
        return vectors

    def start(self, positions: npt.ArrayLike) -> Floats:
        """Return positions (n, 2) about their mean, the farthest `_REACH` radii from the middle."""
        found = np.array(positions, dtype=np.float64)
        found -= found.mean(axis=0)
        farthest = float(np.sqrt(np.square(found).sum(axis=1).max(initial=0.0)))
        unit = found / farthest if farthest > 0.0 else found
        return self.go(np.zeros_like(unit), _REACH * self.radius * unit)

    @classmethod
    def usual_radius(cls, n_samples: int) -> float:
        """Return 2, about where maps of trees keep most neighbours and bend as little as they need."""
        return 2.0

    def _in_plane(self, point: Floats, vectors: Floats) -> Floats:
        """Return vectors as they are."""
        return vectors


def _gap(disk: Floats) -> Floats:
    """Return 1 - |u|^2."""
    return np.asarray((1.0 - np.square(disk[..., 0])) - np.square(disk[..., 1]))


def _inside(disk: Floats) -> Floats:
    """Return places of the disk, those too far out on the rim that is allowed."""
    norm = np.sqrt(np.square(disk).sum(axis=-1, keepdims=True))
    return np.asarray(np.where(norm > _RIM, disk * (_RIM / np.maximum(norm, _RIM)), disk))
