"""By how much density falls between two groups of rows, judged where it falls least between parts of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.gaps.saddles import N_NEIGHBORS, Landscape

__all__ = ["BRIDGE", "FEWEST_ROWS", "Fall", "fall_between"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

BRIDGE = 0.25
"""Density between two groups, over that of the sparser, from which they are joined where nobody says another."""
FEWEST_ROWS = 2 * N_NEIGHBORS
"""A group of fewer rows has no density of its own to speak of."""
_ROUNDING = 1e-9  # of a fall: smaller ones are none, as between groups of equal rows
_CORE = 4  # the densest rows of a group, one in so many, are its core
_PEAK = 10  # one in so many rows of the core is above the peak
_FEWEST_SHARED = 5  # rows of both groups in a cloud that is judged
_PART = 8  # of the smaller group's rows one in so many make a part that counts: as many as half its core


@dataclass(frozen=True)
class Fall:
    """The fall of density between two groups.

    Attributes
    ----------
    value : float >= 0
        Of the logarithm of density, from the lower peak to the saddle.
    n_least : int
        The rows that each side of the saddle holds at least.
    a, b : ndarray of shape (n,), bool
        The parts of the groups between which it is: the whole groups, but where parts of both lie in one cloud.
    strays : tuple of two int
        Rows of each group in clouds of the other, where the fall parts clouds and none as deep parts the two in these.
    """

    value: float
    n_least: int
    a: Mask
    b: Mask
    strays: tuple[int, int] = (0, 0)


def fall_between(landscape: Landscape, a: Mask, b: Mask, *, island: bool = False, limit: float) -> Fall:
    """Return the fall between two groups, or the least one between parts of both where they lie in several clouds.

    The peaks of such groups are those of their densest clouds, and what else they hold in common is not seen. So a fall
    of more than `limit` is held against the clouds that falls as deep part: where as many rows as an eighth of the
    smaller group, and 15, lie in clouds of which the other group has a larger share, these clouds alone are judged,
    until fewer do. The fall of parts is below that of the groups, since none as deep lies within their cloud.

    Nor is a fall seen where clouds of one group join those of the other before enough of either are joined. So one of
    less than `limit` is held against the clouds that falls of `limit` part: see `_of_pure_clouds`.
    """
    found = _fall(landscape, a, b, island)
    enough = max(N_NEIGHBORS, -(-min(int(np.count_nonzero(a)), int(np.count_nonzero(b))) // _PART))
    while found.value >= limit:
        clouds = _clouds(landscape, found.value)
        if max(_strays(clouds, a, b)) < enough:
            break
        shared = [min(int(np.count_nonzero(rows & cloud)) for rows in (a, b)) for cloud in clouds]
        fewest = max(_FEWEST_SHARED, max(shared) // 2)
        inner = [
            _fall(landscape, a & cloud, b & cloud, island)
            for cloud, count in zip(clouds, shared, strict=True)
            if count >= fewest
        ]
        least = min(inner, key=lambda one: one.value, default=found)
        if least.value >= found.value:
            break
        found = least
    if found.value < limit:
        found = _of_pure_clouds(landscape, found, island, limit, enough)
    if found.value < limit:
        return found
    return replace(found, strays=_strays(_joining_clouds(landscape, a, b, island, limit), a, b))


def _of_pure_clouds(landscape: Landscape, whole: Fall, island: bool, limit: float, enough: int) -> Fall:
    """Return the least fall between a cloud of one group and one of the other, if falls of `limit` part the groups.

    They do if fewer than `enough` rows of either lie in clouds of the other, and half of the rows of each in clouds
    where they are more. Else the fall is that of the whole groups.
    """
    a, b = whole.a, whole.b
    parts: tuple[list[Mask], list[Mask]] = [], []
    clouds = _clouds(landscape, limit)
    if max(_strays(clouds, a, b)) >= enough:
        return whole
    for cloud in clouds:
        n_a, n_b = int(np.count_nonzero(a & cloud)), int(np.count_nonzero(b & cloud))
        if max(n_a, n_b) >= N_NEIGHBORS:
            parts[int(n_b > n_a)].append((b if n_b > n_a else a) & cloud)
    held = [sum(int(np.count_nonzero(part)) for part in of_group) for of_group in parts]
    if 2 * held[0] < np.count_nonzero(a) or 2 * held[1] < np.count_nonzero(b):
        return whole
    least = min((_fall(landscape, one, other, island) for one, other in product(*parts)), key=lambda one: one.value)
    return max(whole, least, key=lambda one: one.value)


def _joining_clouds(landscape: Landscape, a: Mask, b: Mask, island: bool, limit: float) -> list[Mask]:
    """Return the clouds that falls of `limit` part and within which none as deep parts the rows of two groups.

    A cloud also holds parts of too few rows for a cloud of their own, however deep density falls around them.
    """
    clouds = [cloud for cloud in _clouds(landscape, limit) if (a & cloud).any() and (b & cloud).any()]
    return [cloud for cloud in clouds if _fall(landscape, a & cloud, b & cloud, island).value < limit]


def _clouds(landscape: Landscape, fall: float) -> list[Mask]:
    """Return the parts within which no fall is as deep; all rows where none is."""
    codes = landscape.islands(fall, FEWEST_ROWS)
    return [codes == code for code in range(codes.max() + 1)] or [np.ones(len(codes), dtype=np.bool_)]


def _strays(clouds: list[Mask], a: Mask, b: Mask) -> tuple[int, int]:
    """Return how many rows of each of two groups lie in clouds that hold a larger share of the other."""
    strays = [0, 0]
    for cloud in clouds:
        counts = [int(np.count_nonzero(rows & cloud)) for rows in (a, b)]
        shares = [count / np.count_nonzero(rows) for count, rows in zip(counts, (a, b), strict=True)]
        strays[int(shares[0] > shares[1])] += counts[int(shares[0] > shares[1])]
    return strays[0], strays[1]


def _core(rows: Mask, radii: Floats) -> tuple[Mask, float]:
    """Return the densest quarter of some rows, and the radius of its peak."""
    numbers = np.flatnonzero(rows)
    dense = numbers[np.argsort(radii[numbers], kind="stable")[: -(-len(numbers) // _CORE)]]
    core = np.zeros(len(rows), dtype=np.bool_)
    core[dense] = True
    return core, float(radii[dense[len(dense) // _PEAK]])


def _fall(landscape: Landscape, a: Mask, b: Mask, island: bool) -> Fall:
    """Return the fall between the cores of two groups; of an island that to any of the other rows.

    The peak of a group is the density that a tenth of its core exceeds, which chance lifts less than the largest.
    """
    core_a, peak_a = _core(a, landscape.radii)
    enough_a = (int(np.count_nonzero(core_a)) + 1) // 2
    if island:
        core_b, peak_b = b, 0.0
        enough_b = min(enough_a, max(1, int(np.count_nonzero(b)) // (2 * _CORE)))
    else:
        core_b, peak_b = _core(b, landscape.radii)
        enough_b = (int(np.count_nonzero(core_b)) + 1) // 2
    fall = landscape.between(core_a, core_b, (enough_a, enough_b), (peak_a, peak_b))
    return Fall(fall if fall > _ROUNDING else 0.0, min(enough_a, enough_b), a, b)
