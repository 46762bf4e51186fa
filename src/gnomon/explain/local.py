"""The local linear map around one point: its axes, their standard errors, and the local scale of the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.explain.explanation import Explanation

__all__ = ["arrows_with_errors", "axes_error", "local_arrows", "local_deviation", "mean_of_blocks"]

Array = npt.NDArray[np.float64]


def local_deviation(explanation: Explanation, i: int) -> Array:
    """Return the weighted root mean square of x_j - x_i over the neighbours, one number for each feature."""
    jacobians = explanation._jacobians
    weights = jacobians.weights[i].astype(np.float64)
    squares = jacobians.displacements(explanation._X, i) ** 2
    deviation: Array = np.sqrt(weights @ squares / max(float(weights.sum()), np.finfo(float).tiny))
    return deviation


def local_arrows(explanation: Explanation, i: int) -> Array:
    """Return the displacement in the map per local standard deviation of every feature, (n_components, n_features)."""
    return explanation.axes(i) * local_deviation(explanation, i)


def arrows_with_errors(explanation: Explanation, i: int) -> tuple[Array, Array]:
    """Return the arrows of every feature and their standard errors, both (n_components, n_features)."""
    deviation = local_deviation(explanation, i)
    return explanation.axes(i) * deviation, axes_error(explanation, i) * deviation


def mean_of_blocks(sums: Array, sizes: npt.NDArray[np.integer[Any]]) -> tuple[Array, Array]:
    """Return the mean over all points, from the sums over blocks of them, and its standard error.

    The blocks, not the points, count as independent; NaN for a single block.
    """
    total = float(sizes.sum())
    mean = sums.sum(axis=0) / total
    if len(sums) < 2:
        return mean, np.full(len(mean), np.nan)
    misses = sums - sizes[:, None] * mean
    return mean, np.sqrt(len(sums) / (len(sums) - 1) * np.sum(misses**2, axis=0)) / total


def axes_error(explanation: Explanation, i: int) -> Array:
    """Return the standard errors of the axes of point i."""
    if hasattr(explanation, "axes_error"):
        found: Array = explanation.axes_error(i)
        return found
    jacobians = explanation._jacobians
    moves = explanation.places[jacobians.indices[i]] - explanation.places[i]
    used = (jacobians.weights[i] > 0) & np.isfinite(moves).all(axis=1)
    if not jacobians.mask[i]:
        return np.full((explanation.n_components, explanation.n_features), np.nan)
    steps, moves = jacobians.displacements(explanation._X, i)[used], moves[used]
    left, values, right = np.linalg.svd(steps, full_matrices=False)
    m = int(jacobians.dimension[i])
    left, values, right = left[:, :m], values[:m], right[:m]
    gain = values / (values**2 + explanation.ridge * float(np.mean(values**2)))
    hat = (left * (gain * values)) @ left.T
    misses = (moves - hat @ moves) / np.maximum(1.0 - np.diag(hat), 1e-3)[:, None]  # of each from the others
    solver = (right.T * gain) @ left.T  # axes.T = solver @ moves
    # The point's own place is no surer than its neighbours', and it enters every displacement alike.
    own = np.outer(solver.sum(axis=1) ** 2, np.mean(misses**2, axis=0))
    return np.asarray(np.sqrt(solver**2 @ misses**2 + own).T)
