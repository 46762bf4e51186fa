"""How far new rows lie from those of a map, on the scale of the map's own rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["FAR", "Novelty"]

Float64Array = npt.NDArray[np.float64]

FAR = 1.5
"""A row is out of range if its score exceeds the largest one of the fitted rows by this factor."""


@dataclass(frozen=True)
class Novelty:
    """Scores of rows: their distance to their nearest fitted rows over the usual distance there.

    Attributes
    ----------
    widths : ndarray of shape (n_samples,), float64
        Mean distance of each fitted row to its nearest others.
    scores : ndarray of shape (n_samples,), float64
        Ascending: what each fitted row would get among the others. About 1 in the midst of the data.
    """

    widths: Float64Array
    scores: Float64Array

    @classmethod
    def learn(cls, indices: npt.NDArray[Any], distances: npt.NDArray[Any]) -> Self:
        """Take the scale of the fitted rows from their neighbours, both of shape (n_samples, n_neighbors)."""
        widths = distances.mean(axis=1, dtype=np.float64)
        scores = _over(widths, widths[indices].mean(axis=1))
        return cls(widths, np.sort(scores))

    def score(self, indices: npt.NDArray[Any], distances: npt.NDArray[Any]) -> Float64Array:
        """Return the scores of rows with these nearest fitted rows, both of shape (n_rows, n_neighbors).

        Their mean distance over the mean of the nearest rows' own mean distances; infinite where these are 0 and the
        row is not.
        """
        return _over(distances.mean(axis=1, dtype=np.float64), self.widths[indices].mean(axis=1))

    def level(self, scores: Float64Array) -> Float64Array:
        """Return the share of the fitted rows whose score is lower, in [0, 1]."""
        found: Float64Array = np.searchsorted(self.scores, scores, side="left") / len(self.scores)
        return found

    def far(self, scores: Float64Array) -> npt.NDArray[np.bool_]:
        """Return which rows are out of range: beyond 1.5 times the largest score of the fitted rows."""
        beyond: npt.NDArray[np.bool_] = scores > FAR * self.scores[-1]
        return beyond


def _over(distance: Float64Array, width: Float64Array) -> Float64Array:
    return np.where(distance > 0.0, distance / np.where(width > 0.0, width, 1.0), 0.0) * np.where(
        (width > 0.0) | (distance == 0.0), 1.0, np.inf
    )
