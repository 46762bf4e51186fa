"""A map as its scores look at it: places whose straight distances have the order of those in the map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.scores import nearest_in_map
from gnomon.linalg import first_columns
from gnomon.surfaces import Sphere, Surface

__all__ = ["Layout", "places_of"]

Floats = npt.NDArray[np.float64]

_ROWS = 256  # of distances at a time
_BLOCK = 4096  # rows whose distances to a few others stay in the cache


class Layout(ABC):
    """The places of n_samples rows."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def n_components(self) -> int:
        """Dimension of the map."""

    @property
    def flat(self) -> Floats | None:
        """Places that are the same for whoever looks, (n_samples, d); None if there are none."""
        return None

    @abstractmethod
    def seen_from(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, Floats]]:
        """Yield parts rows[first:last], and places (n_samples, d) whose distances from these have the map's order."""

    @abstractmethod
    def nearest(self, count: int) -> npt.NDArray[np.int32]:
        """Return the `count` nearest rows of every row, itself not counted."""

    @abstractmethod
    def pair_distances(self, others: npt.NDArray[np.int32]) -> Floats:
        """Return the distances from each row to a few others, (n_samples, n_others), in the order of the map."""


@dataclass(frozen=True)
class _Flat(Layout):
    """Places in flat space, the same for whoever looks."""

    places: Floats
    _nearest: dict[int, npt.NDArray[np.int32]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.places)

    @property
    def n_components(self) -> int:
        """Dimension of the map."""
        return int(self.places.shape[1])

    @property
    def flat(self) -> Floats:
        """The places."""
        return self.places

    def seen_from(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, Floats]]:
        """Yield all rows, and the places."""
        yield 0, len(rows), self.places

    def nearest(self, count: int) -> npt.NDArray[np.int32]:
        """Return the `count` nearest rows of every row, itself not counted; found once."""
        if count not in self._nearest:
            self._nearest[count] = nearest_in_map(self.places, count)
        return self._nearest[count]

    def pair_distances(self, others: npt.NDArray[np.int32]) -> Floats:
        """Return the straight distances from each row to a few others."""
        coordinates = np.ascontiguousarray(self.places.T)
        away = np.empty(others.shape)
        for begin in range(0, len(others), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            columns = np.ascontiguousarray(others[part].T)
            first, *rest = ((places[columns] - places[part]) ** 2 for places in coordinates)
            away[part] = np.sqrt(sum(rest, first)).T
        return away


@dataclass(frozen=True)
class _Curved(Layout):
    """Coordinates on a surface that no flat space holds: each row sees the others in its own tangent plane."""

    coordinates: Floats
    surface: Surface

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.coordinates)

    @property
    def n_components(self) -> int:
        """Dimension of the map."""
        return int(self.coordinates.shape[1])

    def seen_from(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, Floats]]:
        """Yield the rows one by one, and where each sees the others."""
        for place, row in enumerate(rows):
            yield place, place + 1, self.surface.displacements(self.coordinates, self.coordinates[row])

    def nearest(self, count: int) -> npt.NDArray[np.int32]:
        """Return the `count` nearest rows of every row, itself not counted."""
        found = np.empty((self.n_samples, count), dtype=np.int32)
        for first in range(0, self.n_samples, _ROWS):
            rows = np.arange(first, min(first + _ROWS, self.n_samples))
            distances = self.surface.distances(self.coordinates[rows], self.coordinates)
            distances[rows - first, rows] = np.inf
            found[rows] = first_columns(distances, count)
        return found

    def pair_distances(self, others: npt.NDArray[np.int32]) -> Floats:
        """Return the distances along the surface from each row to a few others."""
        seen = [
            self.surface.displacements(self.coordinates[near], self.coordinates[i]) for i, near in enumerate(others)
        ]
        return np.asarray(np.linalg.norm(np.stack(seen), axis=2))


def places_of(places: Floats, surface: Surface | None) -> Layout:
    """Return a map as its scores look at it.

    Parameters
    ----------
    places : ndarray of shape (n_samples, n_components), float64
        Coordinates on the surface, or places in flat space; finite.
    surface : Surface or None
        What the map lies on. Straight ways through a sphere have the order of those along it.
    """
    if surface is None:
        return _Flat(places)
    return _Flat(surface.ambient(places)) if isinstance(surface, Sphere) else _Curved(places, surface)
