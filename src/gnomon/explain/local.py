"""The local linear map around one point: its axes, their standard errors, and the local scale of the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.explain.explanation import Explanation

__all__ = ["arrows_with_errors", "local_arrows", "local_deviation", "mean_of_blocks"]

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
    return explanation.axes(i) * deviation, explanation.axes_error(i) * deviation


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
