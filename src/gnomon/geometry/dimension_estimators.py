"""Estimators of the intrinsic dimension from distances to neighbours.

Around a point of a d-dimensional set of even density, the numbers log(T_k / T_j) for the distances T_1 <= ... <= T_k to
its neighbours are those of k - 1 independent draws of an exponential distribution of rate d.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import inner, log, log1p
from gnomon.geometry.dimension_result import DimensionEstimate
from gnomon.linalg import stacked_eigen

__all__ = [
    "correlation",
    "extrapolated",
    "levina_bickel",
    "likelihoods",
    "local_likelihood",
    "local_shares",
    "log_ratio_sums",
    "mackay_ghahramani",
    "two_nn",
]

_GROUPS = 20  # of rows, left out in turn
_BLOCK = 200 * _GROUPS  # rows whose distances stay in the cache
_FEWEST_NUMBERS = 4  # of neighbours, through which a line is fitted
_CURVED = 0.3  # of the way to the limit: how far the line may lead astray, as a standard deviation
Float64Array = npt.NDArray[np.float64]


def log_ratio_sums(distances: npt.ArrayLike, k: int) -> tuple[Float64Array, Float64Array]:
    """Return sum_{j<k} log(T_k / T_j) of each row and the number of its terms.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_neighbors)
        Ascending in each row; zero and infinite ones are left out.
    k : int in [2, n_neighbors]

    Returns
    -------
    sums, counts : ndarray of shape (n_samples,), float64
        0 and 0 for a row without two positive distances.
    """
    nearest = np.asarray(distances, dtype=np.float64)[:, :k]
    usable = (nearest > 0.0) & np.isfinite(nearest)
    if nearest.size and usable.all():  # as almost always
        return log(nearest[:, -1:] / nearest).sum(axis=1), np.full(len(nearest), nearest.shape[1] - 1.0)
    farthest = np.where(usable, nearest, 0.0).max(axis=1, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(usable, log(farthest[:, None] / nearest), 0.0)
    return terms.sum(axis=1), np.maximum(usable.sum(axis=1) - 1.0, 0.0)


def _sums_of_each(distances: npt.ArrayLike, ks: range) -> Iterator[tuple[Float64Array, Float64Array]]:
    """Yield what `log_ratio_sums` returns of several numbers of neighbours, by the same logarithms."""
    nearest = np.asarray(distances, dtype=np.float64)[:, : ks[-1]]
    if not ((nearest > 0.0) & np.isfinite(nearest)).all() or nearest.shape[1] < ks[-1]:
        yield from (log_ratio_sums(distances, k) for k in ks)
        return
    nearest = np.ascontiguousarray(nearest.T)  # each number of neighbours in a row
    logs = log(nearest[-1] / nearest)
    before = np.cumsum(logs, axis=0)
    for k in ks:
        sums = np.maximum(before[k - 2] - (k - 1.0) * logs[k - 1], 0.0)
        sums[nearest[0] == nearest[k - 1]] = 0.0  # and no rounding
        yield sums, np.full(len(sums), k - 1.0)


def _interval(value: float, n_terms: float, confidence: float) -> DimensionEstimate:
    """Return the estimate of a rate from so many independent exponential draws, with its exact interval."""
    if not (n_terms >= 1.0 and math.isfinite(value) and value > 0.0):
        return DimensionEstimate(math.nan, math.nan, math.nan)
    tail = (1.0 - confidence) / 2.0
    low, high = (float(scipy.special.gammaincinv(n_terms, q)) / n_terms for q in (tail, 1.0 - tail))
    return DimensionEstimate(float(value), value * low, value * high)


def mackay_ghahramani(distances: npt.ArrayLike, ks: range, *, confidence: float = 0.95) -> DimensionEstimate:
    """Return the inverse of the mean of the rows' inverse dimensions, averaged over numbers of neighbours.

    The interval counts one row in k as independent, since neighbourhoods overlap.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_neighbors)
    ks : range
        Numbers of neighbours, each at least 2.
    confidence : float in (0, 1), default=0.95

    References
    ----------
    .. [1] MacKay & Ghahramani, "Comments on 'Maximum likelihood estimation of intrinsic dimension'", 2005.
    """
    return likelihoods(distances, ks, confidence=confidence)[0]


def likelihoods(
    distances: npt.ArrayLike, ks: range, *, confidence: float = 0.95
) -> tuple[DimensionEstimate, DimensionEstimate]:
    """Return what `mackay_ghahramani` and `levina_bickel` do, by the same logarithms; arguments are theirs."""
    found: tuple[list[float], list[float]] = ([], [])
    terms = [0.0, 0.0]
    for k, (sums, counts) in zip(ks, _sums_of_each(distances, ks), strict=True):
        if sums.sum() > 0.0:
            found[0].append(float(counts.sum() / sums.sum()))
            terms[0] = float(counts.sum()) / k
        usable = (counts >= 2.0) & (sums > 0.0)
        if usable.any():
            found[1].append(float(np.mean((counts[usable] - 1.0) / sums[usable])))
            terms[1] = float((counts[usable] - 1.0).sum()) / k
    of_all, of_each = (
        _interval(float(np.mean(values)) if values else math.nan, number, confidence)
        for values, number in zip(found, terms, strict=True)
    )
    return of_all, of_each


def extrapolated(distances: npt.ArrayLike, ks: range, *, confidence: float = 0.95) -> DimensionEstimate:
    """Return the dimension by maximum likelihood in the limit of neighbourhoods of radius 0.

    Curvature, borders and an uneven density change the inverse dimension found in k neighbours by a multiple of the
    mean squared distance to the k-th, to first order: a line through the inverse dimensions of several k leads to the
    limit. In ten dimensions, where the k-th neighbour is hardly farther than the first, that takes out most of a bias
    of a tenth and more.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_neighbors)
        Rows with a distance that is zero or infinite are left out.
    ks : range
        Numbers of neighbours, each at least 3, four at least; k counts with weight k - 1.
    confidence : float in (0, 1), default=0.95

    Returns
    -------
    DimensionEstimate
        NaN for fewer than 40 rows; `high` is infinite where the interval has no end. Of its half-width, on the scale of
        the inverse, one part is the error by leaving out twentieths of the rows, times the root of 2 because most pairs
        of neighbours are seen from both ends; the other, of three tenths of the way to the limit, allows for what the
        line leaves out. In simulations (500 and 2,000 rows of balls, spheres and Gaussians of 2 to 10 dimensions, 20
        neighbours) intervals of 95 % held the dimension in 95 %, in cubes of 3 to 10 dimensions in 72 to 90 %.
    """
    numbers = np.array(ks)
    nearest = np.asarray(distances, dtype=np.float64)[:, : numbers[-1]]
    usable = ((nearest > 0.0) & np.isfinite(nearest)).all(axis=1)
    nearest = nearest if usable.all() else nearest[usable]
    if len(nearest) < 2 * _GROUPS or len(numbers) < _FEWEST_NUMBERS:
        return DimensionEstimate(math.nan, math.nan, math.nan)
    terms = numbers - 1.0
    sums, squares = _sums_by_group(nearest, nearest.max(), numbers)
    sizes = np.bincount(np.arange(len(nearest)) % _GROUPS).astype(np.float64)[:, None]
    every = sums.sum(axis=0) / (sizes.sum() * terms)
    limit = _at_zero(squares.sum(axis=0) / sizes.sum(), every, terms)
    rest = sizes.sum() - sizes
    without = _at_zero((squares.sum(axis=0) - squares) / rest, (sums.sum(axis=0) - sums) / (rest * terms), terms)
    error = math.sqrt(2.0 * (_GROUPS - 1) / _GROUPS * float(np.square(without - without.mean()).sum()))
    way = float(every[len(every) // 2 :].mean() - limit)
    half = float(scipy.special.ndtri(0.5 + confidence / 2.0)) * math.hypot(error, _CURVED * way)
    inverse = float(limit)
    if not inverse > 0.0:
        return DimensionEstimate(math.nan, math.nan, math.nan)
    return DimensionEstimate(
        1.0 / inverse, 1.0 / (inverse + half), 1.0 / (inverse - half) if inverse > half else math.inf
    )


def _sums_by_group(
    nearest: Float64Array, unit: float, numbers: npt.NDArray[np.integer]
) -> tuple[Float64Array, Float64Array]:
    """Return sum_{j<k} log(T_k / T_j) and the square of T_k, for several k, summed over each group of rows.

    Of groups that take turns, both (groups, numbers of neighbours); distances are in a unit.
    """
    sums, squares = np.zeros((2, _GROUPS, len(numbers)))
    for begin in range(0, len(nearest), _BLOCK):
        lengths = nearest[begin : begin + _BLOCK] / unit
        logs = log(lengths)
        own = (numbers - 1.0) * logs[:, numbers - 1] - np.cumsum(logs, axis=1)[:, numbers - 2]
        for total, part in ((sums, own), (squares, np.square(lengths[:, numbers - 1]))):
            rounds = np.zeros((1 + -(-len(part) // _GROUPS), *total.shape))
            rounds[0] = total
            rounds[1:].reshape(-1, len(numbers))[: len(part)] = part
            rounds.sum(axis=0, out=total)
    return sums, squares


def _at_zero(x: Float64Array, y: Float64Array, weights: Float64Array) -> Float64Array:
    """Return where lines of weighted least squares through (x, y), along the last axis, meet x = 0."""
    shares = weights / weights.sum()
    x_mean, y_mean = (x * shares).sum(axis=-1), (y * shares).sum(axis=-1)
    from_mean = x - x_mean[..., None]
    slope = (shares * from_mean * y).sum(axis=-1) / np.maximum(
        (shares * from_mean**2).sum(axis=-1), np.finfo(float).tiny
    )
    return np.asarray(y_mean - slope * x_mean)


def levina_bickel(distances: npt.ArrayLike, ks: range, *, confidence: float = 0.95) -> DimensionEstimate:
    """Return the mean of the rows' dimensions (k - 2) / sum, averaged over numbers of neighbours.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_neighbors)
    ks : range
        Numbers of neighbours, each at least 3.
    confidence : float in (0, 1), default=0.95

    References
    ----------
    .. [1] Levina & Bickel, "Maximum likelihood estimation of intrinsic dimension", NeurIPS 17, 2004, with k - 2 in
       place of k - 1, which removes the bias.
    """
    return likelihoods(distances, ks, confidence=confidence)[1]


def local_likelihood(
    distances: npt.ArrayLike, k: int, *, confidence: float = 0.95
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the dimension around each row and the ends of its interval, exact for an even density.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_neighbors)
    k : int >= 3
    confidence : float in (0, 1), default=0.95

    Returns
    -------
    value, low, high : ndarray of shape (n_samples,), float64
        NaN where a row has fewer than three positive distances.
    """
    sums, counts = log_ratio_sums(distances, k)
    usable = (counts >= 2.0) & (sums > 0.0)
    tail = (1.0 - confidence) / 2.0
    terms, kinds = counts.astype(np.intp), np.arange(float(k))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(usable, (counts - 1.0) / sums, np.nan)
        ends = (scipy.special.gammaincinv(kinds, q)[terms] for q in (tail, 1.0 - tail))
        low, high = (np.where(usable, end / sums, np.nan) for end in ends)
    return value, low, high


def two_nn(distances: npt.ArrayLike, *, confidence: float = 0.95, fit: bool = False) -> DimensionEstimate:
    """Return the dimension from the ratio of the distances to the first two neighbours.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_neighbors >= 2)
        Rows whose first distance is 0 are left out.
    confidence : float in (0, 1), default=0.95
    fit : bool, default=False
        Fit a line through the origin to the 90 % smallest ratios, as the paper does, in place of the unbiased maximum
        likelihood; it has the interval of the latter.

    References
    ----------
    .. [1] Facco, d'Errico, Rodriguez & Laio, "Estimating the intrinsic dimension of datasets by a minimal neighborhood
       information", Scientific Reports 7, 2017.
    """
    nearest = np.asarray(distances, dtype=np.float64)[:, :2]
    usable = (nearest[:, 0] > 0.0) & np.isfinite(nearest[:, 1])
    logs = np.sort(log(nearest[usable, 1] / nearest[usable, 0]))
    n, total = logs.size, float(logs.sum())
    if n < 2 or not total > 0.0:
        return _interval(math.nan, 0.0, confidence)
    value = (n - 1) / total
    if fit:
        kept = np.arange(int(0.9 * n))
        heights = -log1p(-kept / n)
        value = inner(logs[kept], heights) / inner(logs[kept], logs[kept])
    return _interval(value, float(n), confidence)


def correlation(
    pair_distances: npt.ArrayLike, n_rows: int, *, share: float = 0.01, confidence: float = 0.95
) -> DimensionEstimate:
    """Return the growth of the number of pairs with their distance, by the maximum likelihood of Takens.

    Parameters
    ----------
    pair_distances : array-like of floats
        Distances of all pairs of some rows, in any order, each as often as the others; zeros count for nothing.
    n_rows : int
        Number of these rows; the interval counts as many independent pairs at most.
    share : float in (0, 1), default=0.01
        The nearest share of the pairs is looked at.
    confidence : float in (0, 1), default=0.95

    References
    ----------
    .. [1] Grassberger & Procaccia, "Measuring the strangeness of strange attractors", Physica D 9, 1983.
    .. [2] Takens, "On the numerical determination of the dimension of an attractor", 1985.
    """
    given = np.asarray(pair_distances)
    positive = given[given > 0.0]
    count = min(positive.size, max(10, math.ceil(share * positive.size)))
    if count < 2:
        return _interval(math.nan, 0.0, confidence)
    positive.partition(count - 1)
    nearest = np.sort(positive[:count]).astype(np.float64)
    total = float(log(nearest.max() / nearest).sum())
    return _interval((count - 1) / total if total > 0.0 else math.nan, float(min(count, n_rows)), confidence)


def local_shares(gram: Float64Array, *, variance_share: float = 0.9) -> npt.NDArray[np.int64]:
    """Return how many principal directions hold a share of the variance of each neighbourhood.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, k, k)
        Inner products of the centred neighbours of each row.
    variance_share : float in (0, 1), default=0.9

    Returns
    -------
    ndarray of shape (n_rows,), int64
        0 where all neighbours are equal.
    """
    values = np.maximum(stacked_eigen(gram)[0], 0.0)
    totals = values.sum(axis=1)
    reached = np.cumsum(values, axis=1) > variance_share * totals[:, None]
    return np.where(totals > 0.0, reached.argmax(axis=1) + 1, 0).astype(np.int64)
