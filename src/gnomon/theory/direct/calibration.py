"""The size of each component of a map and its radial profile, each found along a line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.optimize

from gnomon._entrance import entrance
from gnomon._validation import Integer, Rule, check_parameters
from gnomon.theory.direct.scale import Float64Array, scaled_map, umap_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.objectives import CrossEntropy

__all__ = ["calibrated_map", "with_profile"]

_RULES: dict[str, Rule] = {"n_rounds": Integer(low=0)}
_OF_SCALE = (-1.5, 1.5)  # logarithms of a component's factor that are looked at
_OF_PROFILE = (-1.5, 0.7)  # logarithms of the exponent of the radius
_FINE = 2e-2  # of either logarithm: the loss is flat there, its excess of the order of the square


@entrance("calibrated_map")
def calibrated_map(
    affinities: Affinities, kernel: OutputKernel, Y: npt.ArrayLike, *, n_rounds: int = 2
) -> Float64Array:
    """Return a map with the radial profile and the size of each component at which UMAP's loss is least.

    Points are moved along the rays from their centre, to r^p of their distance r, and components are multiplied each
    by a factor of its own. The loss of UMAP is no polynomial in p or the factors, so none has a closed form: each is
    found by a search along its line with the others held, p first and then one component after the other, and a round
    that starts again from there. A line takes 12 evaluations of the loss or so, a round n_components + 1 lines, and
    `scaled_map`, with which it begins, thirty. Angles stay as they are, but for the ratio of the components.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    Y : array-like of shape (n_samples, n_components)
    n_rounds : int >= 0, default=2
        0 is `scaled_map`.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
        Centred. Its loss is at most that of `scaled_map`.
    """
    n_rounds = check_parameters(_RULES, {"n_rounds": n_rounds})["n_rounds"]
    Z = scaled_map(affinities, kernel, Y)
    loss = umap_loss(affinities, kernel, Z.shape[1])
    components = np.eye(Z.shape[1], dtype=bool)
    for _ in range(n_rounds):
        Z = _best_along(loss, Z, lambda Y, logarithm: with_profile(Y, np.exp(logarithm)), _OF_PROFILE)
        for one in components:
            Z = _best_along(loss, Z, partial(_stretched, one), _OF_SCALE)
    return np.asarray(Z - Z.mean(axis=0))


def _stretched(components: npt.NDArray[np.bool_], Y: Float64Array, logarithm: float) -> Float64Array:
    return np.asarray(Y * np.where(components, np.exp(logarithm), 1.0))


def _best_along(
    loss: CrossEntropy,
    Y: Float64Array,
    moved: Callable[[Float64Array, float], Float64Array],
    bounds: tuple[float, float],
) -> Float64Array:
    """Return the map of least loss along a line of maps, or the one that is given if none is better."""

    def of(logarithm: float) -> float:
        return loss.loss(moved(Y, logarithm).astype(np.float32))

    found = scipy.optimize.minimize_scalar(of, bounds=bounds, method="bounded", options={"xatol": _FINE})
    return moved(Y, float(found.x)) if found.fun < loss.loss(Y.astype(np.float32)) else Y


def with_profile(Y: Float64Array, exponent: float) -> Float64Array:
    """Return a map whose points lie at r^exponent of their distance r from the origin, and is as large as before.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
    exponent : float > 0
        Below 1 the outskirts are drawn in and the middle is spread.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
        With the same root mean square of the distances.
    """
    radius = np.sqrt(np.square(Y).sum(axis=1))
    whole = np.sqrt(np.square(radius).mean())
    relative = np.maximum(radius / whole, 1e-12)
    Z = Y * (relative ** (exponent - 1.0))[:, None]
    return np.asarray(Z * (whole / np.sqrt(np.square(Z).sum(axis=1).mean())))
