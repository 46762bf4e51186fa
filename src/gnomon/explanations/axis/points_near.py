"""The points of a map near a drawn line, and where along the line each of them lies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length, product
from gnomon._printed import ShortRepr
from gnomon._validation import Real, check_parameters, message
from gnomon.geometry.check import has_place
from gnomon.linalg.table import evenly_spaced

__all__ = ["PointsNear", "check_path", "find_points_near", "path_through"]

Array = npt.NDArray[np.float64]

_NEIGHBORS = 15  # of a place on the line, which set the width
_PLACES = 64  # on the line, where density is measured
_MIN_ROWS = 10
_STRAY = 0.025  # of the rows, at either end of what they cover, and one more; as `static/questions/line.js` has it


@dataclass(frozen=True)
class PointsNear(ShortRepr):
    """Points near a line.

    Attributes
    ----------
    path : ndarray of shape (n_vertices, n_components)
        The line.
    width : float
        Largest distance of a point from the line, in units of the map.
    length : float
        Of the line, in units of the map.
    rows : ndarray of shape (n,), int64
        Row numbers of the points, in the order of the data.
    t : ndarray of shape (n,), float64, in [0, length]
        How far along the line each lies.
    tangents : ndarray of shape (n, n_components), float64
        Direction of the line there, of length one.
    covered : tuple of two float
        From where to where along the line the points lie, but for single stray ones.
    """

    path: Array
    width: float
    length: float
    rows: npt.NDArray[np.int64]
    t: Array
    tangents: Array
    covered: tuple[float, float]


def check_path(path: Any, n_components: int) -> Array:
    """Return the vertices of a line without immediate repetitions."""
    vertices = np.asarray(path, dtype=np.float64)
    if vertices.ndim != 2 or vertices.shape[1] != n_components or not np.isfinite(vertices).all():
        raise ValueError(
            message(f"path of shape {vertices.shape}", f"finite places of {n_components} coordinates each")
        )
    moved: npt.NDArray[np.bool_] = np.append(True, np.any(np.diff(vertices, axis=0) != 0, axis=1))
    vertices = np.asarray(vertices[moved])
    if len(vertices) < 2:
        raise ValueError(message(f"path of {len(vertices)} different places", "of at least two"))
    return vertices


def path_through(places: Array, direction: Any, center: Array) -> Array:
    """Return the straight line through `center` that spans the middle nine tenths of `places` along `direction`."""
    given = np.asarray(direction, dtype=np.float64)
    if given.shape != center.shape or not np.isfinite(given).all() or not given.any():
        raise ValueError(message(f"direction={direction!r}", f"{len(center)} finite numbers, not all zero"))
    unit = given / length(given)
    along = product(places[has_place(places)] - center, unit)
    low, high = np.percentile(along, [5.0, 95.0])
    if not high > low:
        raise ValueError(message("at", "a region that extends along the direction"))
    line: Array = np.stack([center + low * unit, center + high * unit])
    return line


def _default_width(path: Array, places: Array) -> float:
    """Return twice the median distance of places on the line to their 15th nearest point.

    Of a line through empty space, whose points would be those of a strip wider than it is long, half its length, but no
    less than the same median at points of the map.
    """
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    arc = np.append(0.0, np.cumsum(steps))
    at = np.linspace(0.0, arc[-1], _PLACES)
    spots = np.stack([np.interp(at, arc, column) for column in path.T], axis=1)
    known = places[has_place(places)]
    width, half = _twice_median(spots, known), 0.5 * float(arc[-1])
    if width <= half:
        return width
    return min(width, max(half, _twice_median(known[evenly_spaced(len(known), _PLACES)], known)))


def _twice_median(spots: Array, known: Array) -> float:
    """Return twice the median distance of some places to their 15th nearest point."""
    k = min(_NEIGHBORS, len(known)) - 1
    radii = [np.sqrt(np.partition(((known - spot) ** 2).sum(axis=1), k)[k]) for spot in spots]
    return 2.0 * float(np.median(radii))


def _covered(t: Array, whole: float) -> tuple[float, float]:
    """Return from where to where along a line of length `whole` the points at `t` lie.

    One point and a fortieth of all are left out at either side, and the stretch is drawn out again by twice what as
    many more take: points that lie densely up to the end of the line then cover it to the end, and a point that
    stands far from the others covers nothing.
    """
    ordered, k = np.sort(t), 1 + int(np.ceil(_STRAY * len(t)))
    low = 3.0 * ordered[k - 1] - 2.0 * ordered[2 * k - 1]
    high = 3.0 * ordered[-k] - 2.0 * ordered[-2 * k]
    start = max(low, ordered[0]) if low > 0.0 else 0.0
    end = min(high, ordered[-1]) if high < whole else whole
    return float(start), float(end)


def find_points_near(places: Array, path: Array, width: float | None) -> PointsNear:
    """Return the points within `width` of a line; its ends are cut square.

    Parameters
    ----------
    places : ndarray of shape (n_samples, n_components)
        The map; NaN where a row has no place.
    path : ndarray of shape (n_vertices, n_components)
        As `check_path` returns it.
    width : float > 0 or None
        None takes twice the median, over 64 places on the line, of the distance to the 15th nearest point; of a line
        through empty space less, see `_default_width`.
    """
    if width is None:
        width = _default_width(path, places)
    else:
        width = check_parameters({"width": Real(0.0, low_open=True)}, {"width": width})["width"]
    n = len(places)
    nearest, t, tangents = np.full(n, np.inf), np.zeros(n), np.zeros(places.shape)
    beyond = np.zeros(n, dtype=np.bool_)  # beside an end of the line
    arc, last = 0.0, len(path) - 2
    for number, (start, end) in enumerate(pairwise(path)):
        size = length(end - start)
        unit = (end - start) / size
        along = product(places - start, unit)
        # Beyond the ends of the line there is nothing; at its bends the nearest vertex counts.
        outside = (along < 0) & (number == 0) | (along > size) & (number == last)
        part = np.clip(along, 0.0, size)
        distance = np.linalg.norm(places - start - part[:, None] * unit, axis=1)
        beyond |= outside & (distance <= width)
        distance[outside | np.isnan(distance)] = np.inf
        closer = distance < nearest
        nearest[closer], t[closer], tangents[closer] = distance[closer], arc + part[closer], unit
        arc += size
    rows = np.flatnonzero(nearest <= width)
    if len(rows) < _MIN_ROWS or np.ptp(t[rows]) == 0:
        fact, remedy = f"{len(rows)} lie within width={width:.3g} of it", "Draw it through the points"
        beyond[rows] = False
        if beyond.any():
            fact, remedy = f"{fact}, and {beyond.sum()} beyond its ends", f"{remedy} or longer"
        else:
            remedy += " or pass a larger width"
        raise ValueError(message("path", f"near at least {_MIN_ROWS} points", fact=fact, remedy=f"{remedy}."))
    return PointsNear(path, float(width), arc, rows, t[rows], tangents[rows], _covered(t[rows], arc))
