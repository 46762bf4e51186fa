"""Whether rows lie along one thread, however it winds, and whether they thin out along it between two groups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import length, squared_lengths
from gnomon.clusters.thinning import Thinning
from gnomon.linalg import connected_components, symmetric_eigen
from gnomon.neighbors import compute_neighbors

__all__ = ["thinning_along_thread"]

Floats = npt.NDArray[np.float64]

_FEWEST = 24  # rows
_MOST = 800  # rows, of more so many are looked at
_N_NEIGHBORS = (8, 12, 16)  # an edge of the graph leads to each, of the fewest in which groups hang together
_OF_BOTH = 0.1  # share of either group that does, at least
_SQUARES = np.array([(2.2, 7.0), (4.5, 16.0), (8.0, 30.0)])  # around 4, 9 and 16 times the first eigenvalue
_RISE = 2.0  # of the fifth eigenvalue over the third at least, 25/9 in a thread, little above 1 in clouds
_LAGS = (1, 3, 6, 12)  # steps over which it is looked how far apart rows are across the border
_LONGEST = 48  # steps of which the usual distance is told
_WINDOWS = 6  # such distances of a side at least


def thinning_along_thread(
    rows: Floats, is_second: npt.NDArray[np.bool_], is_held_out: npt.NDArray[np.bool_]
) -> Thinning | None:
    """Judge two groups of rows by their distances along the thread that they lie on; None if they lie on none.

    A path's normalised Laplacian has eigenvalues as 1, 4, 9, 16, 25, ..., and its first vector the order of the rows;
    sheets, clouds, and groups apart have others. In that order places of independent rows are as far apart over m
    steps as a sum of m exponential draws. So the distance of the rows m apart across the border of the groups is told
    in steps, those over which rows within the groups are usually as far apart, and the steps are compared with the
    gamma distribution, for four m. As distances within and across are of the same thread, neither its bends nor noise
    make a gap.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features), float64
        Of both groups, those that they were found in and those held out.
    is_second : ndarray of shape (n,), bool
        Which are in the second group; the others are in the first.
    is_held_out : ndarray of shape (n,), bool
        Which had no part in finding the groups: all tell the order, these alone how far rows are apart in it.

    Returns
    -------
    Thinning or None
        None for fewer than 24 rows, too, and where of more than 800 rows all looked at are of one group.
    """
    if len(rows) > _MOST:
        chosen = np.arange(_MOST) * len(rows) // _MOST
        rows, is_second, is_held_out = rows[chosen], is_second[chosen], is_held_out[chosen]
    order = _order(rows, is_second) if is_second.any() and not is_second.all() else None
    if order is None:
        return None
    n = len(order)
    before = np.concatenate([[0], np.cumsum(is_second[order])])  # of the second group, before each place
    agreed = np.abs(2.0 * before - np.arange(n + 1) + (n - 2.0 * before[-1]) / 2.0)
    border = int(np.count_nonzero(is_held_out[order[: int(agreed.argmax())]]))
    rows = rows[order[is_held_out[order]]]
    sizes = border, len(rows) - border
    found = Thinning(1.0, 1.0, sizes)
    chords = _usual_chords((rows[:border], rows[border:]))
    for lag in _LAGS:
        first = border - (lag + 1) // 2
        if min(sizes) <= lag or first < 0 or first + lag >= len(rows):
            break
        steps = float(np.interp(length(rows[first + lag] - rows[first]), chords, np.arange(len(chords))))
        p_value = min(1.0, len(_LAGS) * float(scipy.special.gammaincc(lag, steps)))
        if p_value < found.p_value:
            found = Thinning(p_value, lag / steps, sizes)
    return found


def _usual_chords(sides: tuple[Floats, Floats]) -> Floats:
    """Return the usual distance of rows 0, 1, 2, ... steps apart in the order, within the side where it is larger."""
    found = [0.0]
    for lag in range(1, _LONGEST + 1):
        apart = [np.sqrt(squared_lengths(side[lag:] - side[:-lag])) for side in sides if len(side) >= lag + _WINDOWS]
        if not apart:
            break
        found.append(max(found[-1], *(float(np.median(one)) for one in apart)))
    return np.array(found)


def _order(rows: Floats, is_second: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp] | None:
    """Return the rows of two groups that hang together in their order along a thread, None if they are on none.

    By chance rows may be few where the groups meet: then more neighbours are joined.
    """
    for k in _N_NEIGHBORS:
        if len(rows) < max(_FEWEST, k + 1):
            break
        near = compute_neighbors(rows, k, method="exact").indices
        joined = np.zeros((len(rows), len(rows)))
        joined[np.repeat(np.arange(len(rows)), k), near.ravel()] = 1.0
        joined = np.maximum(joined, joined.T)
        component = connected_components(scipy.sparse.csr_array(joined))
        counts = np.stack([np.bincount(component, weights=side) / side.sum() for side in (~is_second, is_second)])
        held = counts.min(axis=0)  # share of either group in each component
        if held.max() >= _OF_BOTH:
            together = np.flatnonzero(component == held.argmax())
            order = _order_on_thread(joined[np.ix_(together, together)])
            if order is not None:
                return together[order]
    return None


def _order_on_thread(joined: Floats) -> npt.NDArray[np.intp] | None:
    """Return the order of rows along the thread that a connected graph is, None if it is none."""
    if len(joined) < _FEWEST:
        return None
    roots = np.sqrt(joined.sum(axis=1))
    values, vectors = symmetric_eigen(joined / roots / roots[:, None], 2)
    first, *others = (1.0 - values[1:6]).tolist()
    if not first > 0.0:
        return None
    times = np.array(others) / first
    near = (times[:3] >= _SQUARES[:, 0]) & (times[:3] <= _SQUARES[:, 1])
    if not (near.all() and times[3] >= _RISE * times[1]):
        return None
    return np.argsort(vectors[:, 1] / roots, kind="stable")
