"""How the distances of pairs in the map follow those in the data: correlations, stresses, the Shepard diagram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import isotonic_levels
from gnomon.evaluation.intervals import Estimate, Sampling
from gnomon.evaluation.ranks import AnchorRanks
from gnomon.evaluation.scores import spearman
from gnomon.linalg.table import evenly_spaced

__all__ = [
    "ShepardDiagram",
    "non_metric_stress",
    "of_pairs",
    "optimal_scale",
    "pearson",
    "raw_stress",
    "scale_optimal_stress",
    "shepard_diagram",
    "stresses_of_random_map",
]

Floats = npt.NDArray[np.float64]

_GROUPS = 20
_SHOWN = 5000  # pairs of a Shepard diagram
_MOST_LEVELS = 200


def _parts(moments: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    x, y, xx, yy, xy = (moments[..., column] for column in range(5))
    return x, y, xx, yy, xy


def pearson(moments: Floats, counts: Floats) -> Floats:
    """Return Pearson's correlation of distances from sums of x, y, x^2, y^2, x y over `counts` pairs."""
    x, y, xx, yy, xy = _parts(moments)
    covariance, x_variance, y_variance = xy - x * y / counts, xx - x * x / counts, yy - y * y / counts
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = covariance / np.sqrt(x_variance * y_variance)
    return value


def raw_stress(moments: Floats) -> Floats:
    """Return sqrt(sum (x - y)^2 / sum x^2); it depends on the scale of the map."""
    _, _, xx, yy, xy = _parts(moments)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = np.sqrt(np.maximum(xx - 2.0 * xy + yy, 0.0) / xx)
    return value


def scale_optimal_stress(moments: Floats) -> Floats:
    """Return the raw stress of the map at its best scale, sqrt(1 - (sum x y)^2 / (sum x^2 sum y^2))."""
    _, _, xx, yy, xy = _parts(moments)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = np.sqrt(np.maximum(1.0 - xy * xy / (xx * yy), 0.0))
    return value


def optimal_scale(moments: Floats) -> float:
    """Return what the map is to be multiplied by for the least raw stress."""
    _, _, _, yy, xy = _parts(moments.sum(axis=0))
    return float(xy / yy) if yy > 0 else float("nan")


def non_metric_stress(x: Floats, y: Floats) -> float:
    """Return Kruskal's stress-1 of distances y in the map about their best increasing function of x."""
    total = float(np.sum(y * y))
    return float(np.sqrt(np.sum((y - _increasing(x, y)[1]) ** 2) / total)) if total > 0 else float("nan")


def _increasing(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return what an increasing function of x fits best to y: at the distinct x, ascending, and at every pair."""
    distinct, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(inverse.ravel(), weights=y) / counts
    levels = isotonic_levels(means, counts)
    return np.column_stack([distinct, levels]), levels[inverse.ravel()]


def stresses_of_random_map(moments: Floats, n_pairs: float) -> dict[str, float]:
    """Return the stresses of distances that have nothing to do with those in the data but are spread as they are."""
    x, y, xx, yy, _ = (float(one) / n_pairs for one in _parts(moments.sum(axis=0)))
    if not (xx > 0 and yy > 0):
        return {}
    return {
        "raw_stress": float(np.sqrt(max(xx - 2.0 * x * y + yy, 0.0) / xx)),
        "stress": float(np.sqrt(max(1.0 - (x * y) ** 2 / (xx * yy), 0.0))),
        "non_metric_stress": float(np.sqrt(max(1.0 - y * y / yy, 0.0))),
    }


def of_pairs(ranks: AnchorRanks, sampling: Sampling, seed: int) -> dict[str, Estimate]:
    """Estimate Spearman's correlation and the non-metric stress from the pairs that are kept."""
    found = {}
    x, y = ranks.pairs_data, ranks.pairs_map
    for name, measure in (("shepard", spearman), ("non_metric_stress", non_metric_stress)):
        value = measure(x, y)
        if ranks.all_pairs:
            found[name] = Estimate(value)
            continue
        groups = _groups(ranks, seed)
        drawn = sampling if sampling.unseen > 0.0 else Sampling(2**62, len(x), sampling.confidence)
        found[name] = drawn.of_groups(value, [measure(x[group], y[group]) for group in groups])
    return found


def _groups(ranks: AnchorRanks, seed: int) -> list[npt.NDArray[np.int64]]:
    """Split the pairs at random: those of an anchor stay together, unless every row is an anchor."""
    m = len(ranks.anchors)
    pairs = np.arange(len(ranks.pairs_data)).reshape(m, -1)
    if m == ranks.n_samples:
        pairs = pairs.T
    order = np.argsort(_core.random_keys(seed, len(pairs)), kind="stable")
    return [pairs[part].ravel() for part in np.array_split(order, min(_GROUPS, len(pairs)))]


@dataclass(frozen=True)
class ShepardDiagram:
    """Distances of some pairs of rows in the data and in the map.

    Attributes
    ----------
    data, map : ndarray of shape (n_pairs,), float64
        At most 5000 pairs, in units of the data and of the map.
    levels : ndarray of shape (n_levels, 2), float64
        Distances in the data, ascending, and what the best increasing function makes of them, from all pairs kept.
    scale : float
        What the map is to be multiplied by for the least stress.
    """

    data: Floats
    map: Floats
    levels: Floats
    scale: float


def shepard_diagram(ranks: AnchorRanks, seed: int) -> ShepardDiagram:
    """Choose pairs at random for a picture, with the curve through all that are kept."""
    x, y = ranks.pairs_data, ranks.pairs_map
    shown = np.sort(np.argsort(_core.random_keys(seed, len(x)), kind="stable")[:_SHOWN])
    levels = _increasing(x, y)[0]
    some = evenly_spaced(len(levels), _MOST_LEVELS)
    return ShepardDiagram(x[shown], y[shown], levels[some], optimal_scale(ranks.moments))
