"""Single points placed among fixed ones, from a near start or wherever they fit best, and points moved to there.

`place_by_distances` lowers the stress itself by majorization in every step, from a start that is near; `MDS` and
`LandmarkMDS` place rows so. `place_points` is for losses of a bounded kernel, which saturate with the distance and have
many minima, as sketch-map's: a grid over the map is searched, then damped Gauss-Newton steps are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.objectives.pairs import compile_kernel

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["move_points", "place_by_distances", "place_points"]

Float64Array = npt.NDArray[np.float64]
_PER_AXIS = {1: 101, 2: 21, 3: 9}  # points of the grid; none in more dimensions
_ANCHORS = 200  # most anchors to begin from, besides the grid
_MARGIN = 0.1  # of the bounding box, by which the grid reaches beyond it
_STARTS, _MAX_ITER = 3, 50
_WORTH = 1e-3  # share of a point's own loss that a move must gain
_NOISE = 1e-10  # of the sum of weights: losses below it are rounding of float32, errors of 1e-5 squared

Float32Array = npt.NDArray[np.float32]


def place_by_distances(
    anchors: npt.ArrayLike,
    distances: npt.ArrayLike,
    start: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    max_iter: int = 300,
    tol: float = 1e-7,
) -> Float64Array:
    """Minimise the stress of single points, sum_j w_ij (delta_ij - |y_i - z_j|)^2, by majorization.

    Parameters
    ----------
    anchors : array-like of shape (n_anchors, n_components)
        Fixed points z.
    distances : array-like of shape (n_points, n_anchors)
        delta, >= 0.
    start : array-like of shape (n_points, n_components)
        Where the points begin; not changed.
    weights : array-like of shape (n_points, n_anchors) or None, default=None
        w, >= 0; None weighs all anchors 1. A point without a positive weight stays.
    max_iter : int >= 0, default=300
        Most steps of a point.
    tol : float >= 0, default=1e-7
        A point ends when a step is at most this share of the anchors' root mean square distance from their mean.

    Returns
    -------
    ndarray of shape (n_points, n_components), float64
        Each row depends on its distances, weights and start alone.
    """
    Y = np.array(start, dtype=np.float64, order="C")
    Z = np.ascontiguousarray(anchors, dtype=np.float64)
    given = np.empty((0, 0)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    spread = float(np.sqrt(np.square(Z - Z.mean(axis=0)).sum(axis=1).mean()))
    delta = np.ascontiguousarray(distances, dtype=np.float64)
    _core.place_by_distances(Y, Z, delta, given, max_iter, tol * spread, current_run().n_threads)
    return Y


@entrance("place_points")
def place_points(
    targets: npt.ArrayLike,
    anchors: npt.ArrayLike,
    kernel: OutputKernel,
    *,
    weights: npt.ArrayLike | None = None,
    own: npt.ArrayLike | None = None,
) -> tuple[Float32Array, npt.NDArray[np.float64]]:
    """Place points where sum_j w_j (k(|y - anchor_j|^2) - t_j)^2 is least, each by itself.

    The loss is taken at the points of a grid over the anchors' bounding box and at up to 200 anchors; the three best
    are improved by a few of Levenberg and Marquardt's steps, the best of them until it rests.

    Parameters
    ----------
    targets : array-like of shape (n_rows, n_anchors)
        t_j of each point; used in float32.
    anchors : array-like of shape (n_anchors, n_components)
        Points that stay where they are.
    kernel : OutputKernel
        k, a compiled one.
    weights : array-like of shape (n_anchors,) or None, default=None
        w_j >= 0; None weighs all alike.
    own : array-like of int, shape (n_rows,), or None, default=None
        An anchor that the point leaves out, -1 for none.

    Returns
    -------
    positions : ndarray of shape (n_rows, n_components), float32
        Each a function of its own targets alone.
    energies : ndarray of shape (n_rows,), float64
        The loss of each.

    Raises
    ------
    ValueError
        If the kernel is one in Python alone.
    """
    compiled = compile_kernel(kernel)
    if compiled is None:
        raise ValueError(message(f"kernel={kernel}", "a compiled one"))
    fixed = np.ascontiguousarray(anchors, dtype=np.float32)
    factors = np.ones(len(fixed)) if weights is None else np.asarray(weights)
    wanted = np.ascontiguousarray(targets, dtype=np.float32)
    left_out = np.full(len(wanted), -1) if own is None else np.asarray(own)
    positions, energies = _core.place_points(
        wanted,
        fixed,
        np.ascontiguousarray(factors, dtype=np.float32),
        _candidates(fixed),
        np.ascontiguousarray(left_out, dtype=np.int32),
        compiled,
        _STARTS,
        _MAX_ITER,
        current_run().n_threads,
    )
    return positions, energies


def move_points(
    targets: npt.ArrayLike, Y: npt.ArrayLike, kernel: OutputKernel, *, weights: npt.ArrayLike | None = None
) -> tuple[Float32Array, int]:
    """Move points of a map, one by one, to where their own part of the loss is less.

    Each point is placed anew among the others; those that gain most are moved first, and only if their part of the
    loss sum over i != j of w_i w_j (k_ij - t_ij)^2 still falls, so the whole loss falls with every move.

    Parameters
    ----------
    targets : array-like of shape (n_samples, n_samples)
        t_ij, symmetric.
    Y : array-like of shape (n_samples, n_components)
        Not changed.
    kernel : OutputKernel
        A compiled one.
    weights : array-like of shape (n_samples,) or None, default=None
        w_i >= 0; None weighs all alike.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components), float32
    n_moved : int
        Points moved.
    """
    points = np.array(Y, dtype=np.float32)
    wanted = np.ascontiguousarray(targets, dtype=np.float32)
    factors = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    places, energies = place_points(wanted, points, kernel, weights=factors, own=np.arange(len(points)))

    def own_loss(i: int, y: Float32Array) -> float:
        away = points.astype(np.float64) - y.astype(np.float64)
        errors = factors * np.square(kernel.value(np.square(away).sum(axis=1)) - wanted[i])
        return float(errors.sum() - errors[i])

    before = np.array([own_loss(i, points[i]) for i in range(len(points))])
    gains = before - energies
    least = _NOISE * float(factors.sum())
    n_moved = 0
    for i in np.argsort(-gains, kind="stable"):
        if gains[i] <= _WORTH * before[i] + least:
            continue
        now = own_loss(i, points[i])
        if own_loss(i, places[i]) < (1.0 - _WORTH) * now - least:
            points[i] = places[i]
            n_moved += 1
    return points, n_moved


def _candidates(anchors: Float32Array) -> Float32Array:
    """Return a grid over the anchors, in up to three dimensions, and some of the anchors."""
    step = -(-len(anchors) // _ANCHORS)
    some = anchors[::step]
    n_components = anchors.shape[1]
    if n_components not in _PER_AXIS:
        return np.ascontiguousarray(some)
    low, high = anchors.min(axis=0).astype(np.float64), anchors.max(axis=0).astype(np.float64)
    margin = _MARGIN * (high - low)
    axes = [np.linspace(a, b, _PER_AXIS[n_components]) for a, b in zip(low - margin, high + margin, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, n_components)
    return np.ascontiguousarray(np.concatenate([some, grid.astype(np.float32)]))
