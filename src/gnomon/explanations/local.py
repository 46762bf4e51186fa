"""The local linear map around one point: its axes, their standard errors, and the local scale of the features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.geometry.expansion import expand_axes_of_rows, expand_deviations

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = [
    "along",
    "arrows_with_errors",
    "each_local_arrows",
    "lengths_with_errors",
    "local_arrows",
    "local_deviation",
    "longest_arrows",
]

Array = npt.NDArray[np.float64]
_TOGETHER = 32  # rows whose fits are averaged in one go


def along(direction: Array, arrows: Array) -> Array:
    """Return how far arrows (n_components, n_features) lead in a direction of the map, (n_features,)."""
    found: Array = np.sum(direction[:, None] * arrows, axis=0)
    return found


def local_deviation(explanation: Explanation, i: int) -> Array:
    """Return the local standard deviation of each feature at point i, one number each, in units of the feature.

    It is that of the arrows: averaged over the point and its neighbours if the explanation averages fits, that of the
    neighbours in the map if the fit is inverse.
    """
    if explanation._inverse is not None:
        deviation: Array = explanation._inverse.deviation(explanation._fitted, i)
    else:
        deviation = expand_deviations(explanation._fitted, explanation._jacobians, np.array([i], np.int64))[0]
    if explanation.scale is not None:
        deviation = explanation.scale.in_units(deviation)
    return deviation


def local_arrows(explanation: Explanation, i: int) -> Array:
    """Return the displacement in the map per local standard deviation of every feature, (n_components, n_features)."""
    return explanation.axes(i) * local_deviation(explanation, i)


def each_local_arrows(explanation: Explanation, rows: npt.NDArray[Any]) -> Iterator[Array]:
    """Yield the `local_arrows` of many rows; fast where rows that follow each other lie near each other."""
    if explanation._inverse is not None:
        yield from explanation._inverse.each_arrows(explanation._fitted, rows)
        return
    jacobians = explanation._jacobians
    for start in range(0, len(rows), _TOGETHER):
        block = np.asarray(rows[start : start + _TOGETHER], dtype=np.int64)
        deviations = expand_deviations(explanation._fitted, jacobians, block)
        yield from expand_axes_of_rows(explanation._fitted, jacobians, block) * deviations[:, None]


def arrows_with_errors(explanation: Explanation, i: int) -> tuple[Array, Array]:
    """Return the arrows of every feature and their standard errors, both (n_components, n_features)."""
    deviation = local_deviation(explanation, i)
    return explanation.axes(i) * deviation, explanation.axes_error(i) * deviation


def longest_arrows(explanation: Explanation, i: int, n_top: int) -> tuple[npt.NDArray[np.intp], Array, Array]:
    """Return the features with the longest arrows, these arrows and their errors, both (n_components, n_top)."""
    deviation = local_deviation(explanation, i)
    arrows = explanation.axes(i) * deviation
    top = np.argsort(-np.linalg.norm(arrows, axis=0), kind="stable")[:n_top]
    return top, arrows[:, top], explanation.axes_error(i, top) * deviation[top]


def lengths_with_errors(arrows: Array, errors: Array) -> tuple[Array, Array]:
    """Return the lengths of arrows (n_components, n_features) and their standard errors, both (n_features,).

    The error of an arrow of length zero is that of a direction in the middle between those of the map.
    """
    lengths = np.linalg.norm(arrows, axis=0)
    toward = np.divide(arrows, lengths, out=np.full_like(arrows, 1.0 / np.sqrt(len(arrows))), where=lengths > 0)
    return lengths, np.sqrt(np.sum((toward * errors) ** 2, axis=0))
