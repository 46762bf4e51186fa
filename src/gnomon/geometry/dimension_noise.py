"""Which principal components stand above noise that fills all directions of the columns.

White noise adds the same variance to every direction: principal variances fall to a floor, far below those of the set,
and what lies in the floor has nothing to do with where a row lies above it. Rows that are neighbours in the components
above then differ in the rest as much as any two rows do; what folds or curves with the set does not.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon.linalg import inner_products, symmetric_eigen

__all__ = ["AboveNoise", "components_above_noise", "is_seen_above"]

Float64Array = npt.NDArray[np.float64]

_MOST_COLUMNS = 512
_FEWEST_PER_COLUMN = 2  # rows, for principal variances that are those of the set
_GAP = 8.0  # variance of the last component above the floor, over the first within it
_FEWEST_FILLED = 4.0  # directions of the floor, by the participation ratio of its variances
_MOST_NOISE = 0.25  # share of the variance
_ROUNDING = 1e-11  # of the largest variance
_REACH = 2.0  # least squared distance of neighbours, over the noise in it
_APART = 0.85  # least squared difference of neighbours within the floor, over that of any two rows


class AboveNoise(NamedTuple):
    """Rows in the principal components above noise.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_components), float64
        Scores, in units of the table.
    noise : float
        Length of the noise, as large in a component above as in one below, as a share of the root mean square distance
        of rows from their mean.
    above, below : float
        Mean squared difference that noise makes of two rows in the components above and in those below.
    """

    rows: Float64Array
    noise: float
    above: float
    below: float


def components_above_noise(rows: Any) -> AboveNoise | None:
    """Return rows in the components that stand above a floor of variances; None where there is no floor.

    The floor begins where principal variances fall most, by a factor of 8 at least. It has a quarter of the variance at
    most and fills four directions or more, by the participation ratio of its variances.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n_rows, n_columns)
        At least twice as many rows as columns, of which 512 at most.

    Returns
    -------
    AboveNoise or None
    """
    n, p = rows.shape
    if p > _MOST_COLUMNS or n < _FEWEST_PER_COLUMN * p:
        return None
    some = np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)
    unit = float(np.abs(some).max(initial=0.0))
    if not unit > 0.0:
        return None
    some /= unit  # squares of any unit stay in range
    some -= some.mean(axis=0)
    products = inner_products(np.ascontiguousarray(some))
    values, _ = symmetric_eigen(products, 0)
    values = values[values > _ROUNDING * values[0]]
    if values.size < 1 + _FEWEST_FILLED:
        return None
    k = int(np.argmax(values[:-1] / values[1:])) + 1
    floor, total = float(values[k:].sum()), float(values.sum())
    if values[k - 1] < _GAP * values[k] or floor > _MOST_NOISE * total:
        return None
    if floor**2 < _FEWEST_FILLED * float(np.square(values[k:]).sum()):
        return None
    each, n_below = floor / (values.size - k), values.size - k
    scores = unit * product(some, symmetric_eigen(products, k)[1])
    pair = 2.0 * each / (n - 1) * unit * unit
    if not math.isfinite(pair):
        return None
    return AboveNoise(scores, math.sqrt(each * values.size / total), k * pair, n_below * pair)


def is_seen_above(
    above: AboveNoise, apart: npt.NDArray[np.floating], distances: npt.NDArray[np.floating], reached: float
) -> bool:
    """Return whether the set is seen in the components above, and nothing of it below.

    Two rows that are neighbours above differ below as much as any two do; where the set folds or curves into the
    directions below, or these are as coarse as clusters, they differ less. And neighbourhoods above reach beyond the
    noise: within a cluster as wide in the components above as in those below they do not.

    Parameters
    ----------
    above : AboveNoise
    apart, distances : ndarray of shape (n_rows, n_rows)
        Distances of rows in the components above, and in all directions.
    reached : float
        Mean squared distance to the last neighbour looked at in the middle of the scales.
    """
    apart = apart.copy()
    np.fill_diagonal(apart, np.inf)
    nearest = apart.argmin(axis=1)
    each = np.arange(len(apart))
    below = np.square(distances[each, nearest], dtype=np.float64) - np.square(apart[each, nearest], dtype=np.float64)
    return bool(below.mean() >= _APART * above.below and reached >= _REACH * above.above)
