"""Whether density falls between two groups of rows on every path from one to the other, however the rows bend."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon.evaluation.gaps.falls import FEWEST_ROWS, fall_between
from gnomon.evaluation.gaps.planted import planted_falls
from gnomon.evaluation.gaps.saddles import Landscape

__all__ = ["falls_on_every_path"]

Floats = npt.NDArray[np.float64]

_MOST = 500  # rows, of more so many are looked at
_N_PLANTED = 59
_CHANCE = 0.1  # of tables of that gap alone that show as deep a fall


def falls_on_every_path(rows: Floats, is_second: npt.NDArray[np.bool_], fall: float) -> bool:
    """Return whether the logarithm of density surely falls by more than `fall` between two groups, on every path.

    A sheet that bends through many dimensions leaves the line between two of its parts empty, and so a direction that
    tells them apart best shows few rows between them, though none is missing on the sheet. So the way from group to
    group is sought along which density falls least, as for `gnomon.evaluation.are_apart`. What it falls there is held
    against tables of two normal clouds with as many rows and, locally, as many dimensions, between which the logarithm
    falls by `fall`: it must be as deep as in 90 % of them. In many dimensions these show no fall at all, and then none
    is asked for.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features), float64
        Of both groups. Of more than 500 as many are looked at.
    is_second : ndarray of shape (n,), bool
        Which are in the second group; the others are in the first.
    fall : float > 0

    Returns
    -------
    bool
        True, too, where a group has fewer than the 30 rows of a density.
    """
    if len(rows) > _MOST:
        chosen = np.arange(_MOST) * len(rows) // _MOST
        rows, is_second = rows[chosen], is_second[chosen]
    sizes = int(np.count_nonzero(~is_second)), int(np.count_nonzero(is_second))
    if min(sizes) < FEWEST_ROWS:
        return True
    landscape = Landscape.of(rows)
    found = fall_between(landscape, ~is_second, is_second, limit=fall).value
    planted = planted_falls(sizes, round(landscape.dimension), fall, False, _N_PLANTED, current_run().seed)
    return bool(found >= np.quantile(planted, 1.0 - _CHANCE))
