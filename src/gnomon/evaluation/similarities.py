"""Six measures of how alike two embeddings are, and what each gives for unrelated ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.pair_distances import distance_correlation, rank_correlation
from gnomon.evaluation.positions import Positions
from gnomon.evaluation.scores import shared_neighbors

__all__ = ["ALL_PAIRS", "MEASURES", "Settings", "correct_for_chance"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """What the measures need to know beside the embeddings; without permutations some chance levels are NaN."""

    n_neighbors: int
    n_permutations: int
    seed: int
    n_threads: int


Measure = Callable[[Positions, Positions, Settings], tuple[float, float]]
"""Returns the similarity and its chance level, both in [0, 1]."""


def correct_for_chance(value: float, chance: float) -> float:
    """Return (value - chance) / (1 - chance), 0 if that is negative: 1 stays 1, and chance becomes 0."""
    return max(0.0, (value - chance) / (1.0 - chance)) if chance < 1.0 else 0.0


def _aligned_share(a: Floats, b: Floats) -> float:
    """Return the share of the variance of one that the other explains after the best rotation and scaling."""
    singular_values: Floats = np.asarray(np.linalg.svd(a.T @ b, compute_uv=False))
    return min(float(singular_values.sum()) ** 2, 1.0)


def _procrustes(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    value = _aligned_share(a.values, b.values)
    if settings.n_permutations == 0:
        return value, np.nan
    # No closed form is known for the mean of a nuclear norm over permutations. Shuffling the other side is shuffling
    # this one by the inverse: both are taken, so that the chance level is symmetric.
    rng = np.random.default_rng(settings.seed)
    shuffled = []
    for _ in range(settings.n_permutations):
        order = rng.permutation(a.n_samples)
        shuffled += [_aligned_share(a.values[order], b.values), _aligned_share(a.values, b.values[order])]
    return value, sum(shuffled) / len(shuffled)


def _cka(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    gram_norms = float(np.linalg.norm(a.values.T @ a.values)) * float(np.linalg.norm(b.values.T @ b.values))
    value = float(np.linalg.norm(a.values.T @ b.values)) ** 2 / gram_norms
    # Exact mean over permutations: rows of centred Gram matrices sum to zero, and their traces are 1 here.
    return min(value, 1.0), min(1.0 / ((a.n_samples - 1) * gram_norms), 1.0)


def _distance_correlation(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    return distance_correlation(a.values, b.values, n_threads=settings.n_threads)


def _spearman(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    # Over all permutations the mean of Spearman's correlation is exactly zero.
    return (1.0 + rank_correlation(a.values, b.values, n_threads=settings.n_threads)) / 2.0, 0.5


def _shared(a: Positions, b: Positions, k: int) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = shared_neighbors(a.nearest(k), b.nearest(k), None).astype(np.int64)
    return counts


def _knn(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    k = settings.n_neighbors
    return float(np.mean(_shared(a, b, k))) / k, k / (a.n_samples - 1)


def _jaccard(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    from scipy.stats import hypergeom

    k = settings.n_neighbors
    shared = _shared(a, b, k)
    # Of unrelated rows the number of shared neighbours is hypergeometric.
    possible = np.arange(k + 1)
    odds = hypergeom(a.n_samples - 1, k, k).pmf(possible)
    return float(np.mean(shared / (2 * k - shared))), float(np.sum(odds * possible / (2 * k - possible)))


MEASURES: dict[str, Measure] = {
    "procrustes": _procrustes,
    "cka": _cka,
    "distance_correlation": _distance_correlation,
    "knn": _knn,
    "jaccard": _jaccard,
    "spearman": _spearman,
}
ALL_PAIRS = ("distance_correlation", "spearman")
"""Measures that take time quadratic in the number of rows."""
