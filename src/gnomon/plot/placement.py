"""Where names stand in a picture: near what they name, over nothing else, and never over each other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Crowd", "densest_members", "place_names"]

Floats = npt.NDArray[np.float64]

_DIRECTIONS = 24
_RINGS = (0.0, 0.35, 0.8, 1.4, 2.1, 3.0, 4.2, 5.8, 8.0, 11.0, 15.0)  # heights of a name, from its place to its rim
_COVERING = 7.0  # heights that a name moves rather than cover points of other classes only
_HIDING = 3.0  # or all of its own
_CROSSING = 5.0  # or let two leaders cross
_PASSING = 9.0  # or let a leader pass behind a name
_WORST = 13.0  # a name whose best place costs more is left out: long leaders across others say nothing
_TAKING = 4.0  # or cover what another name names
_BLOCK = 32  # places of a name that are looked at together
_SIDE = 96  # cells of the grid on which densities are estimated
_WIDTH = 3.5  # cells, standard deviation


class Crowd:
    """Where the points of each class lie in a picture, to know how much of them a name would cover.

    Parameters
    ----------
    places : ndarray of shape (n, 2)
    codes : ndarray of shape (n,), int
        Class of each point, -1 for none.
    bounds : ndarray of shape (4,)
        Left, lower, right and upper end of the picture.
    cell : float
        Side of a cell of the grid on which points are counted.
    """

    def __init__(self, places: Floats, codes: npt.NDArray[np.intp], bounds: Floats, cell: float) -> None:
        self._low, self._cell = bounds[:2], cell
        shape = np.maximum(np.ceil((bounds[2:] - bounds[:2]) / cell).astype(int), 1)
        self._shape = (int(shape[1]), int(shape[0]))
        at = np.floor((places - self._low) / cell)
        inside = np.isfinite(at).all(axis=1) & (at >= 0).all(axis=1) & (at < shape).all(axis=1)
        at, codes = at[inside].astype(np.intp), codes[inside]
        flat = at[:, 1] * shape[0] + at[:, 0]
        n_cells = int(shape[0] * shape[1])
        self._any = np.bincount(flat, minlength=n_cells)
        order = np.argsort(codes, kind="stable")
        self._cells, self._codes = flat[order], codes[order]
        self._n_cells = n_cells

    def cost(self, code: int, boxes: Floats) -> Floats:
        """Return what boxes (n, 4) cover, in heights of a name that it is worth to go elsewhere.

        Counted are the share of the box over cells where points of other classes are more than those of this one, and
        the share of the class that lies below the box.
        """
        start, stop = np.searchsorted(self._codes, [code, code + 1])
        own = np.bincount(self._cells[start:stop], minlength=self._n_cells)
        most = np.array([self._shape[1], self._shape[0]])
        first = np.clip(np.floor((boxes[:, :2] - self._low) / self._cell).astype(int), 0, most)
        last = np.clip(np.ceil((boxes[:, 2:] - self._low) / self._cell).astype(int), 0, most)
        (x0, y0), (x1, y1) = first.T, last.T

        def within(counts: npt.NDArray[Any]) -> Floats:
            image = np.pad(counts.reshape(self._shape).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
            return np.asarray(image[y1, x1] - image[y0, x1] - image[y1, x0] + image[y0, x0], dtype=np.float64)

        others = within(self._any > 2 * own) / np.maximum((x1 - x0) * (y1 - y0), 1)
        return np.asarray(_COVERING * others + _HIDING * within(own) / max(stop - start, 1))


def densest_members(Y: Floats, codes: npt.NDArray[np.intp], n_classes: int) -> npt.NDArray[np.intp]:
    """Return for each class the row of a point where the class is densest, -1 for a class without a finite point.

    The density is a histogram over the whole map, smoothed with a normal kernel of two cells; of the points in the
    densest cell the one nearest to its middle is taken, of equally near ones the first.

    Parameters
    ----------
    Y : ndarray of shape (n, 2)
    codes : ndarray of shape (n,), int
        Class of each point, -1 for none.
    n_classes : int

    Returns
    -------
    ndarray of shape (n_classes,), intp
    """
    from scipy.ndimage import gaussian_filter

    members = np.full(n_classes, -1, dtype=np.intp)
    known = np.flatnonzero(np.isfinite(Y).all(axis=1) & (codes >= 0))
    if not known.size:
        return members
    low = Y[known].min(axis=0)
    cell = max(float(np.ptp(Y[known], axis=0).max()) / (_SIDE - 1), 1e-300)
    at = np.floor((Y[known] - low) / cell)
    order = known[np.argsort(codes[known], kind="stable")]
    at = at[np.argsort(codes[known], kind="stable")].astype(np.intp)
    ends = np.searchsorted(codes[order], np.arange(n_classes + 1))
    for k, (start, stop) in enumerate(pairwise(ends)):
        if start == stop:
            continue
        cells = at[start:stop]
        corner, reach = cells.min(axis=0), np.ptp(cells, axis=0) + 1  # only the part of the grid that the class is in
        flat = (cells[:, 0] - corner[0]) * reach[1] + cells[:, 1] - corner[1]
        counts = np.bincount(flat, minlength=reach[0] * reach[1]).reshape(reach).astype(np.float64)
        density = gaussian_filter(np.pad(counts, 6), _WIDTH, truncate=3.0)[6:-6, 6:-6].ravel()[flat]
        densest = order[start:stop][density >= density.max() * (1.0 - 1e-12)]
        middle = low + (np.floor((Y[densest[0]] - low) / cell) + 0.5) * cell
        members[k] = densest[np.argmin(np.square(Y[densest] - middle).sum(axis=1))]
    return members


def place_names(
    anchors: Floats,
    sizes: Floats,
    bounds: Floats,
    *,
    covered: Callable[[int, Floats], Floats] | None = None,
    gap: float = 2.0,
) -> Floats:
    """Place names near what they name, so that no two overlap and none leaves the picture.

    Names are placed one after the other. Each tries places on rings about its anchor and takes the one with the least
    distance, in heights of the name, plus what it covers and what its leader meets; among equal ones the first. A place
    over another name is no place, and a name whose best place is a bad one is left out.

    Parameters
    ----------
    anchors : ndarray of shape (n_names, 2)
        What is named, the most important first; NaN for what has no place.
    sizes : ndarray of shape (n_names, 2)
        Width and height of each name.
    bounds : ndarray of shape (4,)
        Left, lower, right and upper end of the picture.
    covered : callable, default=None
        Takes the number of a name and boxes (n, 4) to what each covers, in heights that it is worth to go elsewhere.
    gap : float, default=2.0
        Room around each name.

    Returns
    -------
    ndarray of shape (n_names, 2)
        Middles; NaN where there is no good place.
    """
    middles = np.full(anchors.shape, np.nan)
    boxes, leaders = np.empty((0, 4)), np.empty((0, 4))
    room, points = bounds[2:] - bounds[:2], np.hstack([anchors, anchors])
    for k, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        if not np.isfinite(anchor).all() or (size > room).any():
            continue
        half = 0.5 * size
        tried, distance = _candidates(anchor, half, bounds)
        own = np.hstack([tried - half - gap, tried + half + gap])
        rims = np.clip(anchor, tried - half, tried + half)  # where a leader would end
        lines = np.hstack([np.broadcast_to(anchor, rims.shape), rims])
        cost = distance / size[1]
        if covered is not None:
            cost += covered(k, own)
        cost += _TAKING * (_overlap(own, points).sum(axis=1) - _overlap(own, points[k : k + 1])[:, 0])
        cost[_overlap(own, boxes).any(axis=1)] = np.inf
        best = _cheapest(cost, own, lines, boxes, leaders)
        if best is None:
            continue
        middles[k] = tried[best]
        boxes = np.vstack([boxes, own[best]])
        if distance[best] > 0.0:
            leaders = np.vstack([leaders, lines[best]])
    return middles


def _candidates(anchor: Floats, half: Floats, bounds: Floats) -> tuple[Floats, Floats]:
    """Return middles of a name inside the picture, and the distances of its rims from the anchor."""
    angles = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reach = np.minimum(half[0] / np.maximum(np.abs(ways[:, 0]), 1e-9), half[1] / np.maximum(np.abs(ways[:, 1]), 1e-9))
    lengths = reach[None, :] + 2.0 * half[1] * np.array(_RINGS)[:, None]
    tried = anchor + (lengths[..., None] * ways).reshape(-1, 2)
    tried = np.vstack([anchor, tried])
    tried = np.clip(tried, bounds[:2] + half, bounds[2:] - half)
    rims = np.clip(anchor, tried - half, tried + half)
    return tried, np.linalg.norm(rims - anchor, axis=1) + 0.15 * np.linalg.norm(tried - anchor, axis=1)


def _overlap(some: Floats, others: Floats) -> npt.NDArray[np.bool_]:
    """Return which boxes share room, of shape (n_some, n_others)."""
    (a, b, c, d), (e, f, g, h) = some.T[:, :, None], others.T[:, None]
    return np.asarray((a < g) & (e < c) & (b < h) & (f < d))


def _cheapest(cost: Floats, own: Floats, lines: Floats, boxes: Floats, leaders: Floats) -> int | None:
    """Return the place with the least cost, that of crossing leaders and passing names added, None if all are bad."""
    best, least = None, _WORST
    order = np.argsort(cost, kind="stable")
    for start in range(0, len(order), _BLOCK):  # what is added is not negative: dear places need not be looked at
        some = order[start : start + _BLOCK]
        if cost[some[0]] > least:
            break
        total = cost[some] + _CROSSING * _cross(lines[some], leaders).sum(axis=1)
        total += _PASSING * (_meet(leaders, own[some]).sum(axis=0) + _meet(lines[some], boxes).sum(axis=1))
        first = int(np.argmin(total))
        if total[first] < least:
            best, least = int(some[first]), float(total[first])
    return best


def _meet(lines: Floats, boxes: Floats) -> npt.NDArray[np.bool_]:
    """Return which lines pass through which boxes, of shape (n_lines, n_boxes)."""
    start = lines[:, None, :2]
    step = np.where(lines[:, None, 2:] == start, 1e-9, lines[:, None, 2:] - start)
    ends = np.stack([(boxes[None, :, :2] - start) / step, (boxes[None, :, 2:] - start) / step])
    enters, leaves = ends.min(axis=0).max(axis=2), ends.max(axis=0).min(axis=2)
    return np.asarray(np.maximum(enters, 0.0) < np.minimum(leaves, 1.0))


def _cross(some: Floats, others: Floats) -> npt.NDArray[np.bool_]:
    """Return which lines cross, of shape (n_some, n_others)."""

    def side(a: Floats, b: Floats, c: Floats) -> Floats:
        turn = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
        return np.asarray(np.sign(turn))

    a, b, c, d = some[:, None, :2], some[:, None, 2:], others[None, :, :2], others[None, :, 2:]
    return np.asarray((side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0))
