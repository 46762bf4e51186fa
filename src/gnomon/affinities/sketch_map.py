"""What the histogram of distances says about the parameters of sketch-map."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._printed import ShortRepr
from gnomon._validation import SEED, Integer, Rule, check_parameters, message
from gnomon.linalg import uniform_matrix
from gnomon.neighbors import cross_distances

__all__ = ["SketchMapAdvice", "sketch_map_advice"]

_STREAM = 241
_BINS = 100
_NARROW, _CROWDED = 10, 0.2  # one of the first bins with such a share of the pairs is looked at through narrower ones
_LOWEST = 0.05  # quantile of the distances below which sigma is not put, where the histogram falls from 0 on
_FEWEST = 20  # smallest distances that tell the dimension
_LARGEST_DIMENSION = 100.0
_RULES: dict[str, Rule] = {"n_components": Integer(1), "max_rows": Integer(2), "seed": SEED}

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SketchMapAdvice(ShortRepr):
    """Parameters of sketch-map and the histogram they were read from.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,), float64
        Edges of the bins, in units of the distances; the last bin may end before the largest distance.
    counts : ndarray of shape (n_bins,), int64
        Pairs in each bin.
    mode : float
        The most frequent distance, of the smoothed histogram; where islands lie far apart, the most frequent within.
    sigma : float
        Where the histogram has fallen to half of its height below the mode, or the 5% quantile if that is larger:
        distances below are those of neighbours, those above are kept as "far".
    dimension : float
        Of the data at small distances, where the number of pairs grows as R^D; at most 100. A lower bound where D is
        large and rows are few.
    high : (float, float)
        A and B, the exponents of the sigmoid of the data's distances.
    low : (float, float)
        a and b, those of the map's distances.
    reasons : str
        Where each number comes from.
    """

    edges: Float64Array
    counts: npt.NDArray[np.int64]
    mode: float
    sigma: float
    dimension: float
    high: tuple[float, float]
    low: tuple[float, float]
    reasons: str


@part("sketch_map_advice")
def sketch_map_advice(
    X: Any,
    *,
    n_components: int = 2,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    max_rows: int = 1000,
    seed: int = 0,
) -> SketchMapAdvice:
    """Read parameters of sketch-map from the histogram of distances.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        With metric="precomputed" the distances, a dense matrix of shape (n_samples, n_samples).
    n_components : int >= 1, default=2
        Dimension d of the map.
    metric, metric_params : as for `gnomon.neighbors.cross_distances`
        Or "precomputed".
    max_rows : int >= 2, default=1000
        Rows drawn; the distances among them are looked at.
    seed : int >= 0, default=0
        Of the draw.

    Returns
    -------
    SketchMapAdvice
        ``sigma`` just below the mode; A the dimension D of the data, between 2 and 12; a = A d / D, between 1 and 3, so
        that as many points find room within a radius of the map as lie within its counterpart in the data; B = 6 and
        b = 3. Rules of thumb: look at the histogram.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Demonstrating the transferability and the descriptive power of sketch-map",
       Journal of Chemical Theory and Computation 9, 2013, section 2.
    """
    checked = check_parameters(_RULES, {"n_components": n_components, "max_rows": max_rows, "seed": seed})
    n = int(X.shape[0])
    rows = np.arange(n)
    if n > checked["max_rows"]:
        keys = uniform_matrix(checked["seed"], _STREAM, (n, 1)).ravel()
        rows = np.sort(np.argsort(keys, kind="stable")[: checked["max_rows"]])
    if isinstance(metric, str) and metric == "precomputed":
        between = np.asarray(X[np.ix_(rows, rows)], dtype=np.float64)
    else:
        some = X[rows]
        between = cross_distances(some, some, metric=metric, metric_params=metric_params)
    distances = between[np.triu_indices(len(rows), 1)]
    return _read(distances[distances > 0.0], checked["n_components"])


def _read(distances: Float64Array, n_components: int) -> SketchMapAdvice:
    largest = float(distances.max(initial=0.0)) or 1.0
    if not math.isfinite(largest):
        remedy = "Pass it in a larger unit, such as X * 1e-100."
        raise ValueError(message("X", "of finite distances", fact="the largest is infinite", remedy=remedy))
    counts, edges = _histogram(distances / largest)  # bins of huge or tiny distances are bins all the same
    smooth = np.convolve(np.pad(counts, 2, mode="edge"), np.array([1, 2, 3, 2, 1]) / 9.0, mode="valid")
    centres = (edges[1:] + edges[:-1]) / 2.0
    peak = int(smooth.argmax())
    below = np.flatnonzero(smooth[: peak + 1] <= smooth[peak] / 2.0)
    sigma = float(centres[below[-1] if below.size else 0])
    sigma = max(sigma, float(np.quantile(distances / largest, _LOWEST))) if distances.size else 1.0
    dimension = _dimension(distances / largest)
    A = float(np.clip(round(dimension), 2, 12))
    a = round(float(np.clip(A * n_components / dimension, 1.0, 3.0)), 1)
    mode, sigma = float(centres[peak]) * largest, sigma * largest
    reasons = (
        f"The most frequent distance is {mode:.4g}; sigma={sigma:.4g}, where the histogram falls to half its height "
        "below it, or the 5% quantile. "
        f"The number of small distances grows as R^{dimension:.3g}: A={A:g}, at least 2 and at most 12, and "
        f"a = A d / D = {a:g}, at least 1 and at most 3, for a map of d={n_components} dimensions. "
        "B=6 and b=3 are customary."
    )
    return SketchMapAdvice(edges * largest, counts, mode, sigma, dimension, (A, 6.0), (a, 3.0), reasons)


def _histogram(distances: Float64Array) -> tuple[npt.NDArray[np.int64], Float64Array]:
    """Return counts and edges, the bins made narrower while one of the first ten holds a fifth of the pairs."""
    upper = 1.0
    while True:
        counts, edges = np.histogram(distances, bins=_BINS, range=(0.0, upper))
        if counts[:_NARROW].max() <= _CROWDED * len(distances) or upper < 1e-100:
            return counts.astype(np.int64), edges
        upper *= 2.0 * _NARROW / _BINS


def _dimension(distances: Float64Array) -> float:
    """Return Takens' estimate from the nearest hundredth of pairs: 1 / mean log(largest of them / R).

    Of few rows six for each are taken, so that a lattice does not show its least distance alone.
    """
    n_rows = math.isqrt(2 * len(distances))
    count = min(len(distances), max(_FEWEST, len(distances) // 100, 3 * n_rows))
    if count < 2:
        return 1.0
    nearest = np.partition(distances, count - 1)[:count]
    spread = float(np.mean(np.log(nearest.max() / nearest)))
    return float(np.clip(1.0 / max(spread, 1e-12), 1.0, _LARGEST_DIMENSION))
