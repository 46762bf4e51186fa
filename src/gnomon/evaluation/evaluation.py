"""The scores of a map, beside those of a random map, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Evaluation"]


@dataclass(frozen=True)
class Evaluation:
    """Scores of a map; 1 is best for each of them.

    Attributes
    ----------
    trustworthiness : float
        Whether near in the map means near in the data (scikit-learn's definition), averaged over the anchors.
    continuity : float
        Whether near in the data means near in the map: trustworthiness with both sides swapped.
    neighborhood_preservation : float in [0, 1]
        Mean share of a row's nearest neighbours in the data that are among its nearest in the map.
    knn_accuracy : float in [0, 1], or None
        Share of rows whose 10 nearest rows in the map vote for the row's own label; None without labels.
    shepard : float in [-1, 1]
        Rank correlation of the distances in the data and in the map.
    triplet_accuracy : float in [0, 1]
        Share of random triplets (i, j, l) for which j and l have the same order of distance from i on both sides;
        a tie on one side counts half.
    n_samples, n_neighbors, n_anchors, n_triplets, n_pairs : int
        Rows in the map, neighbours of each row, rows whose ranks against all rows were found, triplets of each
        anchor, pairs of the Shepard score.
    n_left_out : int
        Rows without a place in the map (NaN); they take no part.
    random_state : int
        Seed that chose anchors and triplets.
    random_map : dict of str to float
        What a map that knows nothing of the data is expected to get.
    per_point : dict of str to ndarray of shape (rows given,), float64
        "trustworthiness", "continuity", "triplet_accuracy" of the anchors, "neighborhood_preservation" and
        "knn_accuracy" (0 or 1) of all rows where possible; NaN elsewhere.
    """

    trustworthiness: float
    continuity: float
    neighborhood_preservation: float
    knn_accuracy: float | None
    shepard: float
    triplet_accuracy: float
    n_samples: int
    n_neighbors: int
    n_anchors: int
    n_triplets: int
    n_pairs: int
    n_left_out: int
    random_state: int
    random_map: dict[str, float]
    per_point: dict[str, npt.NDArray[np.float64]] = field(repr=False)

    def scores(self) -> dict[str, float]:
        """Return the overall scores by name; knn_accuracy only if there are labels."""
        names = ["trustworthiness", "continuity", "neighborhood_preservation", "knn_accuracy", "shepard"]
        names.append("triplet_accuracy")
        return {name: float(value) for name in names if (value := getattr(self, name)) is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the scores of single points, with plain Python values."""
        counts = ["n_samples", "n_neighbors", "n_anchors", "n_triplets", "n_pairs", "n_left_out", "random_state"]
        return {**self.scores(), **{name: getattr(self, name) for name in counts}, "random_map": dict(self.random_map)}

    def summary(self) -> str:
        """Return the scores beside those of a random map, and what they rest on."""
        lines = [f"{'':26}{'map':>7}{'random map':>13}"]
        for name, value in self.scores().items():
            lines.append(f"{name.replace('_', ' '):26}{value:7.3f}{self.random_map[name]:13.3f}")
        anchors = "all rows" if self.n_anchors == self.n_samples else f"{self.n_anchors} of {self.n_samples} rows"
        lines.append(
            f"{self.n_neighbors} neighbours; ranks of {anchors}; {self.n_pairs} pairs; "
            f"{self.n_anchors * self.n_triplets} triplets; random_state={self.random_state}"
        )
        if self.n_left_out:
            lines.append(f"{self.n_left_out} rows have no place in the map and are left out")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()
