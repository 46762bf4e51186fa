"""By how much density falls between two groups of rows, judged where it falls least between parts of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.saddles import N_NEIGHBORS, Landscape

__all__ = ["FEWEST_ROWS", "Fall", "fall_between"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FEWEST_ROWS = 2 * N_NEIGHBORS
"""A group of fewer rows has no density of its own to speak of."""
_ROUNDING = 1e-9  # of a fall: smaller ones are none, as between groups of equal rows
_CORE = 4  # the densest rows of a group, one in so many, are its core
_PEAK = 10  # one in so many rows of the core is above the peak
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
        Rows of each group in clouds of the other, where the fall parts clouds.
    """

    value: float
    n_least: int
    a: Mask
    b: Mask
    strays: tuple[int, int] = (0, 0)


def fall_between(landscape: Landscape, a: Mask, b: Mask, *, island: bool = False, limit: float) -> Fall:
    """Return the fall between two groups, or the least one between parts of both if that of the groups exceeds `limit`.

    A group may lie in several clouds. The peaks of both are then those of their densest ones, and what else they hold
    in common is not seen. So a fall of more than `limit` is held against the clouds that falls as deep part: where a
    cloud has an eighth of the smaller group's rows, and 30, of both, its rows alone are judged, until no cloud has. The
    fall of parts is below that of the groups, since none as deep lies within their cloud.
    """
    found = _fall(landscape, a, b, island)
    enough = max(FEWEST_ROWS, -(-min(int(np.count_nonzero(a)), int(np.count_nonzero(b))) // _PART))
    while found.value >= limit:
        inner = [
            _fall(landscape, a & cloud, b & cloud, island)
            for cloud in _clouds(landscape, found.value)
            if min(np.count_nonzero(a & cloud), np.count_nonzero(b & cloud)) >= enough
        ]
        least = min(inner, key=lambda one: one.value, default=found)
        if least.value >= found.value:
            break
        found = least
    return found if found.value < limit else replace(found, strays=_strays(_clouds(landscape, found.value), a, b))


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
