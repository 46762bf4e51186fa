"""What a curved surface is: coordinates, points, distances, directions and steps, in float64.

Maps are given in two *coordinates*. Sums and descents hold *points*, which have no seam: unit vectors of space on the
sphere, places of the Poincare disk on the hyperboloid. A *vector* at a point is a direction of true length in the units
of the map: tangent in space on the sphere, with two components along the axes of the disk on the hyperboloid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Real, check_parameters, message

__all__ = ["Floats", "Surface", "check_coordinates"]

Floats = npt.NDArray[np.float64]

_ROWS = 512  # of distances at a time


@dataclass(frozen=True)
class Surface(ABC):
    """A surface of constant curvature, 1 / radius^2 or minus that.

    Attributes
    ----------
    radius : float > 0
        In units of the map, those of min_dist and spread.
    """

    radius: float = 1.0

    name: ClassVar[str]
    view: ClassVar[str]
    """Where a map of the surface is shown, in a few words."""
    axes: ClassVar[tuple[str, str]]
    """What the two coordinates are."""
    width: ClassVar[int]
    """Numbers of a point and of a vector."""

    @entrance()
    def __post_init__(self) -> None:
        check_parameters({"radius": Real(0.0, low_open=True)}, {"radius": self.radius})

    @abstractmethod
    def points(self, coordinates: npt.ArrayLike) -> Floats:
        """Return the points (n, width) of coordinates (n, 2), or raise ValueError."""

    @abstractmethod
    def coordinates(self, points: Floats) -> Floats:
        """Return the coordinates (n, 2) of points (n, width)."""

    @abstractmethod
    def ambient(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places in space (n, 3) of coordinates (n, 2), in units of the map."""

    @abstractmethod
    def drawn(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places where a map of the surface is shown and explained: space (n, 3), or a plane (n, 2)."""

    @abstractmethod
    def read(self, drawn: npt.ArrayLike) -> Floats:
        """Return the coordinates (n, 2) of places where a map is shown, NaN where these are."""

    @property
    @abstractmethod
    def words(self) -> str:
        """How a map of the surface is shown, a sentence for its reader."""

    @abstractmethod
    def picture(self, coordinates: npt.ArrayLike) -> Floats:
        """Return places (n, 2) in a picture of the whole surface in the plane."""

    @abstractmethod
    def meet(self, here: Floats, there: Floats) -> tuple[Floats, Floats]:
        """Return squared distances (...) of points (..., width), and the vectors at `here` that lead away from `there`.

        The vector is as long as the distance; it is zero where the points are equal, or opposite on the sphere.
        """

    @abstractmethod
    def go(self, points: Floats, vectors: Floats) -> Floats:
        """Return where geodesics lead that leave points (..., width) along vectors of their lengths."""

    @abstractmethod
    def tangent(self, points: Floats, vectors: Floats) -> Floats:
        """Return the part of vectors (..., width) that is along the surface."""

    @abstractmethod
    def start(self, positions: npt.ArrayLike) -> Floats:
        """Return points (n, width) to start from, made of positions (n, width) of a start in flat space."""

    @classmethod
    @abstractmethod
    def usual_radius(cls, n_samples: int) -> float:
        """Return a radius that suits maps of so many points, in units of their spread."""

    @entrance()
    def distances(self, coordinates: npt.ArrayLike, others: npt.ArrayLike | None = None) -> Floats:
        """Return the lengths of the shortest ways along the surface.

        Parameters
        ----------
        coordinates : array-like of shape (n, 2)
            As ``embedding_``.
        others : array-like of shape (m, 2) or None, default=None
            None takes the same.

        Returns
        -------
        ndarray of shape (n, m), float64
            In units of the map.
        """
        left = self.points(coordinates)
        right = left if others is None else self.points(others)
        found = np.empty((len(left), len(right)))
        for first in range(0, len(left), _ROWS):
            rows = slice(first, first + _ROWS)
            found[rows] = np.sqrt(self.meet(left[rows, None], right)[0])
        return found

    @entrance()
    def displacements(self, coordinates: npt.ArrayLike, base: npt.ArrayLike) -> Floats:
        """Return where points are seen from one of them: straight ahead of it, as far as they are along the surface.

        Parameters
        ----------
        coordinates : array-like of shape (n, 2)
            As ``embedding_``.
        base : array-like of shape (2,)
            The point that looks.

        Returns
        -------
        ndarray of shape (n, 2), float64
            In units of the map, in the plane that touches the surface at the base (normal coordinates): distances from
            the base, and directions there, are true.
        """
        here = self.points(np.asarray(base, dtype=np.float64)[None])
        return self._in_plane(here[0], -self.meet(np.broadcast_to(here, (1, self.width)), self.points(coordinates))[1])

    @abstractmethod
    def _in_plane(self, point: Floats, vectors: Floats) -> Floats:
        """Return vectors (n, width) at a point in two orthonormal components."""


def check_coordinates(coordinates: npt.ArrayLike, axes: tuple[str, str]) -> Floats:
    """Return coordinates as float64 of shape (n, 2), or raise ValueError."""
    found = np.array(coordinates, dtype=np.float64, order="C")
    if found.ndim != 2 or found.shape[1] != 2:
        rule = f"of two columns, {axes[0]} and {axes[1]}"
        raise ValueError(message(f"coordinates of shape {found.shape}", rule))
    return found
