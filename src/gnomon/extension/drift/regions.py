"""Where among the rows of a map more new rows come than by chance."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon.extension.drift.chance import chance_of_more
from gnomon.extension.drift.together import BothTables
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import cross_distances

__all__ = ["CROWDED_BY_CHANCE", "crowded_regions"]

CROWDED_BY_CHANCE = 0.0025
"""How often at most a region is said to hold more rows like the old ones than by chance."""
_MOST_CENTRES = 256
_COVER = 8  # regions of a size that a row lies in, about
_STEP = math.sqrt(2.0)  # between sizes

Float64Array = npt.NDArray[np.float64]
Region = tuple[Float64Array, int, int]


def crowded_regions(both: BothTables, Y_new: Float64Array) -> tuple[list[Region], Float64Array]:
    """Return regions about new rows, and how likely so many of the rows in any are new, the least likely first.

    About a new row the nearest others, old and new, are new as often as their share says, if all rows are of one
    distribution: whatever this is, given all rows, each choice of the new ones among them is as likely. Regions have
    several sizes, from what is needed to be beyond chance to half of all rows, each 1.4 times the one before. Of each
    size there are as many as cover all rows eight times, about at most 256 new rows.

    Parameters
    ----------
    both : BothTables
        In coordinates that were not learned from the old rows, to which new ones would lie otherwise.
    Y_new : ndarray of shape (n_new, n_components)
        Places of all new rows in the map.

    Returns
    -------
    list of (ndarray, int, int)
        Median place, new rows and old rows. None has its centre in one before it. Empty where new rows are so few that
        no region is beyond chance.
    ndarray of float64, in [0, 1]
        Chances of the rows about each centre by Fisher's test, times the regions of its size, times the sizes.
    """
    n_old, n_new = len(both.old), len(both.new)
    sizes = _sizes(n_old, n_new)
    if not sizes:
        return [], np.empty(0)
    centres = evenly_spaced(n_new, _count(sizes[0], n_old, n_new))
    rows = np.arange(len(centres))
    points = both.points
    distances = cross_distances(points[n_old + centres], points)
    distances[rows, n_old + centres] = np.inf
    reach = np.sort(distances, axis=1)[:, np.array(sizes) - 1]
    chances = np.full(reach.shape, np.inf)
    for j, size in enumerate(sizes):
        of_size = evenly_spaced(len(centres), _count(size, n_old, n_new))
        inside = distances[of_size] <= reach[of_size, j : j + 1]  # all that are as far as the last, old or new
        for at, old, new in zip(of_size, inside[:, :n_old].sum(axis=1), inside[:, n_old:].sum(axis=1), strict=True):
            chances[at, j] = chance_of_more(int(old), n_old, int(new), n_new - 1) * len(of_size) * len(sizes)
    best = chances.argmin(axis=1)
    least = np.minimum(chances[rows, best], 1.0)
    inside = distances <= reach[rows, best][:, None]
    inside[rows, n_old + centres] = True
    surplus = inside[:, n_old:].mean(axis=1) - inside[:, :n_old].mean(axis=1)
    regions, told, left = [], [], np.ones(len(centres), dtype=np.bool_)
    for one in np.lexsort((-surplus, least)):
        if left[one]:
            old, new = inside[one, :n_old], inside[one, n_old:]
            regions.append((np.median(Y_new[both.new[new]], axis=0), int(new.sum()), int(old.sum())))
            told.append(one)
            left &= ~new[centres]
    return regions, least[told]


def _sizes(n_old: int, n_new: int) -> list[int]:
    """Return of how many rows beside its centre regions are; none where too few are new to be beyond chance."""
    most = (n_old + n_new) // 2
    enough = math.log(CROWDED_BY_CHANCE / min(n_new, _MOST_CENTRES)) / math.log(n_new / (n_old + n_new))
    smallest = min(math.ceil(enough), most)
    if smallest >= n_new:
        return []
    return [round(smallest * _STEP**i) for i in range(1 + int(math.log(most / smallest) / math.log(_STEP)))]


def _count(size: int, n_old: int, n_new: int) -> int:
    """Return about how many new rows there are regions of a size."""
    return min(n_new, _MOST_CENTRES, math.ceil(_COVER * (n_old + n_new) / size))
