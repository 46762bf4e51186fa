"""Points whose images lie nearest to given points of a kernel's feature space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas

__all__ = ["fixed_point_preimages"]

Float64Array = npt.NDArray[np.float64]
OfSquares = Callable[[Float64Array], Float64Array]

_HALVINGS = 6
_ENDED = 1e-9  # a step of this share of the scale changes nothing


def fixed_point_preimages(
    value: OfSquares,
    slope: OfSquares,
    rows: Float64Array,
    weights: Float64Array,
    start: Float64Array,
    *,
    max_iter: int = 100,
) -> Float64Array:
    """Find z that maximizes sum_j w_j k(|z - x_j|^2), for a kernel of distances with k = 1 at 0.

    It is the point whose image is nearest to sum_j w_j phi(x_j). The fixed point is the mean of the rows weighted by
    w_j k'; a step that would lower the sum, as negative weights make possible, is halved.

    Parameters
    ----------
    value, slope : callable
        k and dk/ds of squared distances s; `value` may overwrite them.
    rows : ndarray of shape (n, n_features)
        x_j.
    weights : ndarray of shape (n_points, n)
        w_j of each point that is sought.
    start : ndarray of shape (n_points, n_features)
        First guesses.
    max_iter : int, default=100
        Most steps.

    Returns
    -------
    ndarray of shape (n_points, n_features)
        Where the sum no longer grows; each a function of its own weights and start.

    References
    ----------
    .. [1] Mika et al., "Kernel PCA and de-noising in feature spaces", NeurIPS 1998, equation 10.
    """
    z = np.array(start, dtype=np.float64)
    sizes = np.einsum("ij,ij->i", rows, rows)
    scale = float(np.sqrt(sizes.max(initial=0.0))) or 1.0

    def squared(points: Float64Array) -> Float64Array:
        found: Float64Array = np.einsum("ij,ij->i", points, points)[:, None] + sizes - 2.0 * (points @ rows.T)
        return np.maximum(found, 0.0)

    def height(points: Float64Array, some: npt.NDArray[np.intp]) -> Float64Array:
        return np.asarray(np.einsum("ij,ij->i", weights[some], value(squared(points))), dtype=np.float64)

    with single_threaded_blas():
        active = np.arange(len(z))
        heights = height(z, active)
        for _ in range(max_iter):
            if not active.size:
                break
            pulls = weights[active] * -slope(squared(z[active]))
            totals = pulls.sum(axis=1)
            sound = np.abs(totals) > 1e-12 * np.abs(pulls).sum(axis=1)
            steps = (pulls @ rows) / np.where(sound, totals, 1.0)[:, None] - z[active]
            steps[~sound] = 0.0
            moved = _climb(z, heights, active, steps, height)
            active = active[moved & (np.sqrt(np.einsum("ij,ij->i", steps, steps)) > _ENDED * scale)]
    return z


def _climb(
    z: Float64Array,
    heights: Float64Array,
    active: npt.NDArray[np.intp],
    steps: Float64Array,
    height: Callable[[Float64Array, npt.NDArray[np.intp]], Float64Array],
) -> npt.NDArray[np.bool_]:
    """Move the active points by the longest of their steps, halved again and again, that climbs; say which moved."""
    moved = np.zeros(active.size, dtype=bool)
    share = 1.0
    for _ in range(_HALVINGS):
        left = np.flatnonzero(~moved)
        if not left.size:
            break
        some = active[left]
        tried = z[some] + share * steps[left]
        reached = height(tried, some)
        better = reached > heights[some]
        z[some[better]], heights[some[better]] = tried[better], reached[better]
        moved[left[better]] = True
        share /= 2.0
    return moved
