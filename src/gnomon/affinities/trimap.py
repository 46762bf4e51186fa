"""Triplets (i, j, k) of which i should stay nearer to j than to k, as TriMap samples and weighs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log1p, power
from gnomon._entrance import part
from gnomon._validation import SEED, Integer, Real, Rule, check_parameters, message
from gnomon.affinities.candidates import local_scales, nearest_by_scale, random_others, scaled_squares
from gnomon.neighbors import pair_distances
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["Triplets", "trimap_triplets"]

_RULES: dict[str, Rule] = {
    "n_inliers": Integer(1),
    "n_outliers": Integer(0),
    "n_random": Integer(0),
    "temperature": Real(0.0),
    "seed": SEED,
}
_OUTLIER_STREAM, _RANDOM_STREAM = 0x6F7574, 0x726E64  # "out", of which each inlier has one further on; "rnd"
_RANDOM_WEIGHT = 0.1  # of a random triplet, which says little, against one of a neighbour

Measure = Callable[[npt.NDArray[np.int32]], npt.NDArray[np.float64]]
"""Scaled squared distances from every row to others (n_samples, n_others)."""


@dataclass(frozen=True)
class Triplets:
    """Triplets around every point, in one pattern.

    Triplet t of point i is (i, others[i, closer[t]], others[i, farther[t]]), of weight weights[i, t].

    Attributes
    ----------
    others : ndarray of shape (n_samples, n_others), int32
        First the inliers, then the outliers of each inlier, then random points.
    closer, farther : ndarray of shape (n_triplets,), int32
        Columns of `others`.
    weights : ndarray of shape (n_samples, n_triplets), float32
        Not negative; 0 where a point has no such triplet.
    """

    others: npt.NDArray[np.int32]
    closer: npt.NDArray[np.int32]
    farther: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.others.shape[0])

    def to_array(self) -> npt.NDArray[np.int32]:
        """Return all triplets as rows (i, j, k), those of point 0 first."""
        owner = np.broadcast_to(np.arange(self.n_samples, dtype=np.int32)[:, None], self.weights.shape)
        stacked = np.stack([owner, self.others[:, self.closer], self.others[:, self.farther]], axis=2)
        return np.ascontiguousarray(stacked.reshape(-1, 3))


@part("trimap_triplets")
def trimap_triplets(
    X: Any,
    graph: NeighborGraph,
    *,
    n_inliers: int = 12,
    n_outliers: int = 4,
    n_random: int = 3,
    temperature: float = 0.5,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Triplets:
    """Sample and weigh triplets as TriMap does.

    With scaled squares u_ij = d_ij^2 / (sigma_i sigma_j), sigma being the mean distance to the fourth to sixth
    neighbour, a point's inliers are the neighbours of smallest u. Each is joined with random outliers, which are no
    inliers; random triplets take two random points, the nearer by u first. The raw weight is u_ik - u_ij, a tenth of
    it for random triplets. The lowest of all is subtracted from each and the result w compressed to
    ((1 + w)^(1 - t) - 1) / (1 - t), t being the temperature.

    Parameters
    ----------
    X : ndarray or CSR matrix of n_samples rows
        What the graph was made of.
    graph : NeighborGraph of n_samples rows
        The authors take 50 neighbours more than `n_inliers`.
    n_inliers : int in [1, graph.n_neighbors], default=12
        Inliers of each point.
    n_outliers : int >= 0, default=4
        Outliers for each inlier; fewer where there are not so many points that are no inliers.
    n_random : int >= 0, default=3
        Random triplets of each point; fewer where there are not twice as many other points.
    temperature : float >= 0, default=0.5
        0 keeps the weights linear, 1 takes log(1 + w); more compresses further.
    metric : str or callable, default="euclidean"
        Of the graph.
    metric_params : mapping or None, default=None
        Further arguments of the metric.
    seed : int in [0, 2**63), default=0
        Decides the random points.

    Returns
    -------
    Triplets

    References
    ----------
    .. [1] Amid & Warmuth, "TriMap: large-scale dimensionality reduction using triplets", arXiv:1910.00204, 2019.
    """
    given = {name: value for name, value in locals().items() if name in _RULES}
    values = check_parameters(_RULES, given)
    n_inliers, seed = values["n_inliers"], values["seed"]
    if n_inliers > graph.n_neighbors:
        raise ValueError(message(f"n_inliers={n_inliers}", f"at most {graph.n_neighbors}, those of the graph"))
    scales = local_scales(graph)
    inliers, squares = nearest_by_scale(graph, n_inliers, scales)

    def measure(others: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        found = pair_distances(X, others, metric=metric, metric_params=metric_params)
        return scaled_squares(found, others, scales)

    n_outliers = min(values["n_outliers"], graph.n_samples - 1 - n_inliers)
    outliers = [
        random_others(inliers, n_outliers, seed=seed, stream=_OUTLIER_STREAM + rank) for rank in range(n_inliers)
    ]
    others, far = [inliers, *outliers], [measure(drawn) for drawn in outliers]
    gaps = [np.concatenate(far, axis=1) - np.repeat(squares, n_outliers, axis=1)]
    n_random = min(values["n_random"], (graph.n_samples - 1) // 2)
    random, random_gaps = _random_pairs(graph.n_samples, n_random, measure, seed)
    pattern = _pattern(n_inliers, n_outliers, n_random)
    weights = _tempered(np.concatenate([*gaps, random_gaps], axis=1), values["temperature"])
    return Triplets(np.ascontiguousarray(np.concatenate([*others, random], axis=1)), *pattern, weights)


def _random_pairs(
    n_samples: int, count: int, measure: Measure, seed: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return pairs of random points, the nearer first (n_samples, 2 count), and how much farther the second is."""
    nobody = np.empty((n_samples, 0), dtype=np.int32)
    drawn = random_others(nobody, 2 * count, seed=seed, stream=_RANDOM_STREAM)
    squares = measure(drawn).reshape(n_samples, count, 2)
    order = np.argsort(squares, axis=2, kind="stable")
    pairs = np.take_along_axis(drawn.reshape(n_samples, count, 2), order, axis=2)
    ordered = np.take_along_axis(squares, order, axis=2)
    with np.errstate(invalid="ignore"):  # inf - inf where neither distance is known: no triplet
        gaps = _RANDOM_WEIGHT * (ordered[:, :, 1] - ordered[:, :, 0])
    return pairs.reshape(n_samples, 2 * count), gaps


def _pattern(n_inliers: int, n_outliers: int, n_random: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the places of the closer and of the farther point of each triplet in a row's list of others."""
    n_far = n_inliers * n_outliers
    random = n_inliers + n_far + 2 * np.arange(n_random)
    closer = np.concatenate([np.repeat(np.arange(n_inliers), n_outliers), random])
    farther = np.concatenate([n_inliers + np.arange(n_far), random + 1])
    return closer.astype(np.int32), farther.astype(np.int32)


def _tempered(gaps: npt.NDArray[np.float64], temperature: float) -> npt.NDArray[np.float32]:
    """Compress what the gaps exceed the lowest one by; nan and -inf are no triplets, inf counts as the largest."""
    finite = np.isfinite(gaps)
    if not finite.any():
        return np.zeros(gaps.shape, dtype=np.float32)
    low, high = float(gaps[finite].min()), float(gaps[finite].max())
    excess = np.clip(np.nan_to_num(gaps, nan=low, posinf=high, neginf=low) - low, 0.0, None)
    if temperature == 1.0:
        weights = log1p(excess)
    else:
        weights = (power(1.0 + excess, 1.0 - temperature) - 1.0) / (1.0 - temperature)
    return np.asarray(np.where(np.isnan(gaps) | np.isneginf(gaps), 0.0, weights), dtype=np.float32)
