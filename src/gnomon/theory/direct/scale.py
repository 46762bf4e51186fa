"""The scale at which a map has the least loss of UMAP: the one number that every direct map is fitted by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.optimize

from gnomon._entrance import entrance, part
from gnomon._validation import message
from gnomon.objectives import CrossEntropy
from gnomon.theory.effective_loss import EVERY_PAIR

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["Float64Array", "at_best_scale", "scaled_map", "umap_loss"]

Float64Array = npt.NDArray[np.float64]

_STEPS = np.linspace(-3.0, 4.0, 15)  # logarithms of the scale that are tried first, in units of the kernel's width
_FINE = 1e-2  # of the logarithm: the loss is flat there, its excess of the order of the square


@part("umap_loss")
def umap_loss(affinities: Affinities, kernel: OutputKernel, n_components: int = 2) -> CrossEntropy:
    """Return the loss that UMAP's sampling lowers, summed over all pairs.

    Parameters
    ----------
    affinities : Affinities
        Memberships, ``UMAP.affinities_``.
    kernel : OutputKernel
        ``UMAP.kernel_``.
    n_components : int >= 1, default=2
        Dimension of the maps whose loss is asked for. Beyond 5,000 points pairs are summed on a mesh in one and two
        dimensions, through a tree in three.

    Returns
    -------
    CrossEntropy
        Each point draws five others for each unit of its memberships.
    """
    evaluation = "exact"
    if affinities.n_samples > EVERY_PAIR:
        evaluation = {1: "interpolated", 2: "interpolated", 3: "tree"}.get(n_components, "exact")
    return CrossEntropy(affinities, kernel, evaluation=evaluation)


@entrance("scaled_map")
def scaled_map(affinities: Affinities, kernel: OutputKernel, Y: npt.ArrayLike) -> Float64Array:
    """Return the multiple of a map at which UMAP's loss is least, centred.

    The loss along the ray t Y is evaluated at fifteen t and once more between the best and its neighbours: some thirty
    evaluations of the loss, O(n^2) up to 5,000 points, O(n) beyond.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    Y : array-like of shape (n_samples, n_components)

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64

    Raises
    ------
    ValueError
        If the map has another number of points, values that are not finite, or all points in one place.
    """
    given = np.asarray(Y, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != affinities.n_samples:
        rule = f"of shape ({affinities.n_samples}, n_components), a row for each point of the affinities"
        raise ValueError(message("Y", rule, fact=f"{given.shape}"))
    if not np.isfinite(given).all() or not np.ptp(given, axis=0).any():
        raise ValueError(message("Y", "finite, with points in different places"))
    return at_best_scale(umap_loss(affinities, kernel, given.shape[1]), given)


def at_best_scale(loss: CrossEntropy, Y: Any) -> Float64Array:
    """Return what `scaled_map` does, by a loss that is at hand.

    Parameters
    ----------
    loss : CrossEntropy
    Y : ndarray of shape (n_samples, n_components)

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    unit = np.asarray(Y, dtype=np.float64) - np.mean(Y, axis=0, dtype=np.float64)
    unit /= np.sqrt(np.square(unit).mean())

    def of(logarithm: float) -> float:
        return loss.loss((np.exp(logarithm) * unit).astype(np.float32))

    first = [of(step) for step in _STEPS]
    best = int(np.argmin(first))
    ends = _STEPS[max(best - 1, 0)], _STEPS[min(best + 1, len(_STEPS) - 1)]
    found = scipy.optimize.minimize_scalar(of, bounds=ends, method="bounded", options={"xatol": _FINE})
    logarithm = float(found.x) if found.fun < first[best] else float(_STEPS[best])
    return np.asarray(np.exp(logarithm) * unit)
