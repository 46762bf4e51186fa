"""The intrinsic dimension from the growth of neighbourhoods over all scales, compared with that on spheres.

On a sphere of d dimensions whose pairs of rows have the mean squared distance 1, the share of rows within distance r is
the incomplete beta function I_x(d/2, d/2) of x = r^2 / 2. Its inverse logarithmic slope y(r) = d log r / d log share is
1/d for small r and larger beyond. Borders and uneven density add deviations of order r, curvature of order r^2; noise
of length s, spread over many dimensions, turns r^2 into r^2 + 2 s^2 and the slope into y (1 - 2 s^2 / (r^2 + 2 s^2)).

Far neighbours alone do not tell a sphere from a product of fewer circles: each circle fills two straight directions. So
products of circles and Gaussian directions stand beside spheres, as many circles as the set fills more directions
than it has dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, geometric, inner, log, log1p, product
from gnomon.geometry.dimension_result import NOISY, DimensionEstimate

__all__ = [
    "GROWS_OVER",
    "Growth",
    "circles_slope",
    "growth_beyond_noise",
    "linear_dimension",
    "log_slopes",
    "mean_of_squares",
    "neighborhood_growth",
    "sphere_slope",
]

Float64Array = npt.NDArray[np.float64]

GROWS_OVER = 256
"""Nearest rows at most over which neighbourhoods grow."""

_FEWEST_ROWS = 40
_ROWS = 256  # of a matrix, looked at together
_FEWEST_SCALES = 3
_GRID = geometric(0.4, 400.0, 121)  # dimensions that are tried
_WITHOUT_END = 300.0  # an end of an interval above that says only that there is none
_MOST_FILLED = 0.95  # of the sphere's x: the slope has a pole at 1
_STEEPEST = 1e3  # in units of 1/d: the far side of the sphere, where nothing is left to grow
_TINY = 1e-290  # at such shares the slope is 1/d
_N_NOISES = 20
_LEAST_FALL = 2.0  # times fewer dimensions beyond noise than within it
_MOST_RISE = 4.0  # of slopes, to the power of the dimension, from so many neighbours to twice as many
_MOST_NOISE = 0.98  # share of a squared distance
_NOISE_TO_SCALE = 0.5  # most that noise may be of the largest squared distance looked at
_NOISE_ALONE, _NOISE_MIXED = 0.2, 0.4  # standard deviation of the slope that noise leaves, times its share, in 1/d
_COVARIANCE_FACTOR, _SHRINKAGE = 1.4, 0.3
_LEAST_DEVIATION = 0.02  # of a slope: finite neighbourhoods, ties
_EVEN_SCALES = 3  # at which slopes tell whether rows are set out evenly
_SURE, _LESS = 4.0, 0.9  # standard errors by which slopes are below this share of the least of independent rows
_SHELLS = math.sqrt(2.0 / 12.0) / math.log(2.0)  # of two ends, evenly distributed, of a slope over a factor of two
_BORDER = 0.4  # mean deviation of order r: borders and uneven density raise the slope
_UNTOLD = 30.0  # standard deviation, in 1/d, of slopes beyond the scales that a shape speaks of
# How sets differ from the sphere: curvature relative to its own, standard deviations of the deviations of order r, of
# order r^2, of order r^2 anew at each scale, share of the scales it speaks of, and prior weight. Beyond it other
# clusters or sheets may begin; where it is less than 1 it is also the unit of distances. Curvature 0: products of
# circles and Gaussian directions in place of the sphere. The data choose among them.
_SHAPES = (
    (1.0, 0.3, 0.3, 0.05, 1.0, 0.25),
    (1.0, 0.3, 0.3, 0.5, 1.0, 0.2),
    (1.0, 0.3, 0.3, 3.0, 1.0, 0.15),
    (1.0, 1.0, 1.0, 0.5, 1.0, 0.1),
    (1.0, 1.0, 1.0, 3.0, 1.0, 0.1),
    (2.5, 0.3, 0.3, 0.2, 1.0, 0.1),
    (2.5, 1.0, 1.0, 1.0, 1.0, 0.03),
    (6.0, 0.3, 0.3, 0.2, 1.0, 0.05),
    (6.0, 1.0, 1.0, 1.0, 1.0, 0.02),
    (0.7, 0.3, 0.3, 0.5, 0.6, 0.02),
    (0.7, 0.3, 0.3, 0.5, 0.4, 0.02),
    (0.0, 0.3, 0.3, 0.2, 1.0, 0.25),
    (0.0, 0.1, 0.1, 0.05, 1.0, 0.25),
)
_TILTS = geometric(0.05, 1e5, 181)  # saddle points at which products of circles are summed
_UNMODELLED = 0.06  # standard deviation of the logarithm of the dimension: sets that none of these is like
_BLUR = exp(-0.5 * np.square(log(_GRID[:, None] / _GRID) / _UNMODELLED))
_BLUR /= _BLUR.sum(axis=0)


class Growth(NamedTuple):
    """What the growth of neighbourhoods tells.

    Attributes
    ----------
    estimate : DimensionEstimate
        Median and interval of the posterior; NaN where the data allow none.
    noise : float
        Root mean square length of what is taken for noise, as a share of the distance of rows from their mean; the
        median of the posterior.
    resolution : float
        Root mean square distance to the first neighbour, as a share of that of all pairs.
    """

    estimate: DimensionEstimate
    noise: float
    resolution: float


def log_slopes(distances: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return log(T_2k / T_k) / (psi(2k) - psi(k)) for k = 1, 2, 4, ... and T_k T_2k for each row.

    Their mean is 1/d where the density is even, since log(T_2k / T_k) is the sum of k exponential draws.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_neighbors >= 2)
        Positive, ascending in each row.

    Returns
    -------
    slopes, squares : ndarray of shape (n_samples, floor(log2 n_neighbors)), float64

    References
    ----------
    .. [1] Denti, Doimo, Laio & Mira, "The generalized ratios intrinsic dimension estimator", Scientific Reports 12,
       2022.
    """
    k = 2 ** np.arange(int(math.log2(distances.shape[1])))
    near, far = distances[:, k - 1], distances[:, 2 * k - 1]
    return log(far / near) / (scipy.special.digamma(2 * k) - scipy.special.digamma(k)), near * far


def sphere_slope(squares: npt.ArrayLike, dimension: npt.ArrayLike) -> Float64Array:
    """Return d log r / d log(share of rows within r) on a sphere.

    Parameters
    ----------
    squares : array-like
        r^2 in units of the mean squared distance of pairs; from 1.9 on, almost all of the sphere, taken as 1.9.
    dimension : array-like
        Broadcast with `squares`.

    Returns
    -------
    ndarray of float64
        I_x(a, a) B(a, a) / (2 x^a (1 - x)^(a - 1)) with a = d/2 and x = r^2 / 2, at most 1000/d; 1/d at 0.
    """
    x = np.clip(np.asarray(squares, dtype=np.float64) / 2.0, 1e-12, _MOST_FILLED)
    half = np.asarray(dimension, dtype=np.float64) / 2.0
    share = scipy.special.betainc(half, half, x)
    density = exp(half * log(x) + (half - 1.0) * log1p(-x) - scipy.special.betaln(half, half))
    slope = np.where(share > _TINY, share * half / np.maximum(density, _TINY), 1.0)
    return np.minimum(slope, _STEEPEST) * 0.5 / half


def circles_slope(squares: Float64Array, dimensions: Float64Array, linear: float) -> Float64Array:
    """Return d log r / d log(share of rows within r) on products of circles and straight directions.

    A set of d dimensions that fills L straight ones is taken for L - d circles (none to d) and as many straight
    directions as are left, all as wide. By the saddle point of the squared distance, whose cumulant generating function
    is log(exp(-t) I_0(t)) for a circle and -(log(1 + t / 2) + t / (2 + t)) / 2 for a Gaussian direction, seen from a
    row one standard deviation away from the middle.

    Parameters
    ----------
    squares : ndarray of shape (..., 1 or n_dimensions, n)
        r^2 in units of the mean squared distance of pairs.
    dimensions : ndarray of shape (n_dimensions,)
        d, above 0.
    linear : float
        L.

    Returns
    -------
    ndarray of shape (..., n_dimensions, n), float64
        1/d at 0; beyond the mean squared distance as there.

    References
    ----------
    .. [1] Lugannani & Rice, "Saddle point approximation for the distribution of the sum of independent random
       variables", Advances in Applied Probability 12, 1980.
    """
    t = _TILTS[:, None]
    circles = np.clip(linear - dimensions, 0.0, dimensions)
    straight = dimensions - circles
    turn = scipy.special.i1e(t) / scipy.special.i0e(t)
    near = 1.0 / (1.0 + 0.5 * t)
    sums = circles * (1.0 - turn) + straight * 0.25 * near * (1.0 + near)
    variances = circles * (1.0 - turn / t - turn**2) + straight * near**2 * (0.125 + 0.25 * near)
    exponents = circles * log(scipy.special.i0e(t)) + straight * (0.5 * log(near) - 0.25 * t * near) + t * sums
    far = np.sqrt(-2.0 * exponents)
    tail = (
        math.sqrt(0.5 * math.pi) * scipy.special.erfcx(far / math.sqrt(2.0))
        + 1.0 / (t * np.sqrt(variances))
        - 1.0 / far
    )
    logs = log(2.0 * sums / (circles + dimensions))
    slopes = 0.5 * np.gradient(logs, axis=0) / np.gradient(exponents + log(tail), axis=0)
    wanted = log(np.broadcast_to(squares, np.broadcast_shapes(squares.shape, (len(dimensions), 1))))
    found = [np.interp(wanted[..., j, :], logs[::-1, j], slopes[::-1, j]) for j in range(len(dimensions))]
    return np.stack(found, axis=-2)


def mean_of_squares(distances: npt.NDArray[np.floating]) -> float:
    """Return the mean squared distance of all pairs of rows, a row with itself included.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
    """
    return sum(float(one.sum()) for one in _squares(distances)) / distances.size


def _squares(distances: npt.NDArray[np.floating]) -> Iterator[Float64Array]:
    """Return squared distances of some rows at a time, in double."""
    return (np.square(distances[at : at + _ROWS], dtype=np.float64) for at in range(0, len(distances), _ROWS))


def linear_dimension(distances: npt.NDArray[np.floating]) -> float:
    """Return how many straight directions a set fills: (sum of variances)^2 / sum of their squares, from distances.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Of all pairs of rows.

    Returns
    -------
    float
        Of principal variances, those of the doubly centred distances, freed of the share that n rows alone make; NaN
        where all rows are equal.
    """
    n, mean = len(distances), mean_of_squares(distances)
    parts, square = [], 0.0
    for squared in _squares(distances):
        squared -= mean  # so that the sums below lose nothing
        parts.append(squared.mean(axis=1))
        square += inner(squared, squared)
    means = np.concatenate(parts)
    # Of the inner products -1/2 (s_ij - m_i - m_j), with m the means of s: their trace, and the sum of their squares.
    total = float(np.sum(means) + 0.5 * n * mean)
    squares = 0.25 * (square - 2.0 * n * inner(means, means))
    rest = squares / total**2 - 1.0 / n if total > 0.0 else 0.0
    return 1.0 / rest if rest > 0.0 else math.nan


def neighborhood_growth(
    near: Float64Array,
    among: Float64Array,
    mean_square: float,
    groups: npt.NDArray[np.intp],
    *,
    linear: float = math.nan,
    directions: float = math.inf,
    confidence: float,
) -> Growth:
    """Return the dimension whose spheres, with noise and deviations, explain the slopes at all scales.

    The posterior over dimensions (uniform in the logarithm, 0.4 to 400) sums over lengths of noise (none with prior
    probability 1/2) and over kinds of deviations, and is widened by 6 % for sets of no such kind; slopes are Gaussian
    with the covariance found by leaving out groups of rows that lie together, and the uncertainty of deviations and
    noise.

    Parameters
    ----------
    near : ndarray of shape (n_rows, k), float64
        Distances of a sample of rows to their nearest among all, ascending; k may be 0.
    among : ndarray of shape (n_rows, l), float64
        Distances to the nearest within the sample, ascending.
    mean_square : float
        Mean squared distance of pairs.
    groups : ndarray of shape (n_rows,), intp
        Number of the group of neighbouring rows that each belongs to.
    linear : float, default=nan
        Number of straight directions that the set fills, see `linear_dimension`; NaN where it is not known.
    directions : float, default=inf
        Number of directions in which rows differ at all. Where the nearest rows are more alike in distance than
        independent rows are in so many dimensions, rows are set out evenly, as on a grid: there is no noise then, and
        slopes are told as well only as the shells of a lattice let them, see `_of_shells`.
    confidence : float in (0, 1)

    Returns
    -------
    Growth
        NaN for fewer than 40 rows or three scales. An end of the interval above 300 is infinite.
    """
    nothing = Growth(DimensionEstimate(math.nan, math.nan, math.nan), math.nan, math.nan)
    parts = [part[:, :GROWS_OVER] for part in (near, among[:, : len(among) // 4]) if part.shape[1] >= 2]
    if not parts:
        return nothing
    usable = np.logical_and.reduce([_told(part) for part in parts])
    parts = [part[usable] / math.sqrt(mean_square) for part in parts] if mean_square > 0.0 else []
    if usable.sum() < _FEWEST_ROWS or not parts:
        return nothing
    slopes, squares = (np.concatenate(two, axis=1) for two in zip(*map(log_slopes, parts), strict=True))
    if slopes.shape[1] < _FEWEST_SCALES or not slopes.any():
        return nothing
    y, r2 = slopes.mean(axis=0), squares.mean(axis=0)
    covariance = _covariance(slopes, groups[usable])
    if _is_even(y, covariance, directions):
        noises, uneven = np.zeros(1), _of_shells([part.shape[1] for part in parts])
    else:
        noises = np.append(0.0, geometric(0.01 * r2[0], _NOISE_TO_SCALE * r2.max(), _N_NOISES))
        uneven = np.zeros((len(y), len(_GRID)))
    weights = _posterior(y, covariance, r2, noises, linear, uneven)
    shares = np.cumsum(product(_BLUR, weights.sum(axis=1)))
    low, value, high = np.interp([0.5 - confidence / 2.0, 0.5, 0.5 + confidence / 2.0], shares, _GRID)
    if not value < _WITHOUT_END:
        return nothing
    estimate = DimensionEstimate(float(value), float(low), float(high) if high < _WITHOUT_END else math.inf)
    noise = math.sqrt(noises[np.searchsorted(np.cumsum(weights.sum(axis=0)), 0.5)])
    return Growth(estimate, noise, float(np.sqrt(np.square(parts[0][:, 0]).mean())))


def growth_beyond_noise(
    growth: Growth,
    among: Float64Array,
    few: Float64Array,
    mean_square: float,
    groups: npt.NDArray[np.intp],
    *,
    linear: float = math.nan,
    confidence: float,
) -> Growth | None:
    """Return what rows farther apart tell where the nearest lie within noise; None where they do not.

    With more rows the nearest come to lie within the noise, where the set has the dimensions of the noise and nothing
    else is seen. Among fewer rows neighbours are farther: if noise is found there, and surely less than half as many
    dimensions beyond it, what was found among all rows is the noise. But not where a slope rises by more than noise
    lets it: twice as many neighbours are at most 4^(1/d) times as far in squares, and so is the slope that noise
    leaves; it surges over a gap between clusters. Where the slope of the largest neighbourhoods speaks against fewer
    dimensions, nothing else is computed.

    Parameters
    ----------
    growth : Growth
        What all rows tell.
    among : ndarray of shape (n_rows, k), float64
        Distances of the rows to their nearest, ascending.
    few : ndarray of shape (n_rows, l >= 2), float64
        Those to their nearest among a few.
    mean_square, groups, linear, confidence
        As for `neighborhood_growth`, the groups of these rows.

    Returns
    -------
    Growth or None
    """
    apart, near = few[_told(few)], among[_told(among)]
    if min(len(apart), len(near)) < _FEWEST_ROWS or not growth.estimate.value > 0.0:
        return None
    farthest = float(log_slopes(apart)[0][:, -1].mean())
    if farthest * growth.estimate.value < _LEAST_FALL:
        return None
    nothing = np.empty((len(few), 0))
    found = neighborhood_growth(nothing, few, mean_square, groups, linear=linear, confidence=confidence)
    if found.noise <= NOISY or not found.estimate.high * _LEAST_FALL < growth.estimate.value:
        return None
    slopes = log_slopes(near)[0].mean(axis=0)
    is_gap = bool((slopes[1:] > _MOST_RISE ** (1.0 / found.estimate.value) * slopes[:-1]).any())
    return None if is_gap else found


def _told(distances: Float64Array) -> npt.NDArray[np.bool_]:
    """Return which rows have distances all of which have a logarithm."""
    return np.asarray(((distances > 0.0) & np.isfinite(distances)).all(axis=1))


def _covariance(slopes: Float64Array, groups: npt.NDArray[np.intp]) -> Float64Array:
    """Return the covariance of mean slopes by leaving out groups in turn, shrunk to its diagonal."""
    sizes = np.bincount(groups)
    sums = np.stack([slopes[groups == g].sum(axis=0) for g in np.flatnonzero(sizes)])
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return np.diag(slopes.var(axis=0) / len(slopes))
    rest = (len(slopes) - sizes)[:, None]
    moved = (sums.sum(axis=0) - sums) / rest - slopes.mean(axis=0)
    found = _COVARIANCE_FACTOR * product((moved * (rest / len(slopes))).T, moved)
    return np.asarray((1.0 - _SHRINKAGE) * found + _SHRINKAGE * np.diag(np.diag(found)))


def _is_even(y: Float64Array, covariance: Float64Array, directions: float) -> bool:
    """Return whether the nearest are more alike in distance than independent rows are in so many dimensions.

    Independent rows have slopes of 1 / directions at least, however much noise there is.
    """
    first = slice(0, _EVEN_SCALES)
    most = y[first] + _SURE * np.sqrt(np.diag(covariance)[first])
    return bool((most * directions < _LESS).any()) if math.isfinite(directions) else False


def _of_shells(columns: list[int]) -> Float64Array:
    """Return the standard deviations of slopes at each scale and dimension of the grid that shells of a lattice make.

    Squared distances on a lattice of step 1 are whole numbers m. The rows within make shells, of d / (2 m) of the rows
    within on average; with the rows within, k = V m^(d/2), V the volume of the unit ball, that is
    d / 2 (V / k)^(2/d). How many rows are within is known up to a share of the shell, evenly distributed, at both ends
    of a slope, each at most all of it.
    """
    half = 0.5 * _GRID
    volume = half * math.log(math.pi) - scipy.special.gammaln(half + 1.0)
    scales = np.concatenate([2.0 ** np.arange(int(math.log2(one))) for one in columns])[:, None]
    shells = half * exp((volume - log(scales)) / half)
    return np.asarray(np.minimum(_SHELLS * shells, 1.0) / _GRID)


def _posterior(
    y: Float64Array,
    covariance: Float64Array,
    r2: Float64Array,
    noises: Float64Array,
    linear: float,
    uneven: Float64Array,
) -> Float64Array:
    """Return the probabilities of each dimension of the grid with each noise; they sum to 1.

    `uneven` holds standard deviations of the slopes at each scale and dimension beside those of the shapes.
    """
    shares = np.minimum(noises / r2[:, None], _MOST_NOISE)[:, None, :]  # scales, dimensions, noises
    r2 = r2[:, None, None] * (1.0 - shares)
    prior = log(np.append(0.5, np.full(len(noises) - 1, 0.5 / max(len(noises) - 1, 1))))
    logs = []
    ideals: dict[tuple[float, float], tuple[Float64Array, Float64Array]] = {}  # what shapes of one curvature share
    for curvature, border, quadratic, rough, spoken, weight in _SHAPES:
        folded = curvature == 0.0
        if folded and not math.isfinite(linear):
            continue
        last = max(_FEWEST_SCALES, math.ceil(spoken * len(y)))
        if (curvature, spoken) not in ideals:
            x2 = (1.0 if folded else curvature**2) * r2 / (1.0 if spoken == 1.0 else r2[last - 1, 0, 0])
            whole = circles_slope(x2, _GRID, linear) if folded else sphere_slope(x2, _GRID[:, None])
            ideals[curvature, spoken] = x2, whole
        x2, whole = ideals[curvature, spoken]
        plain = whole * (1.0 - shares)
        first, second = border * plain * np.sqrt(x2), quadratic * plain * x2
        alone = (
            (whole * shares * (_NOISE_ALONE + _NOISE_MIXED * (1.0 - shares))) ** 2
            + (_LEAST_DEVIATION * plain) ** 2
            + (rough * plain * x2) ** 2
            + np.square(uneven)[:, :, None]
        )
        alone[last:] += np.square(_UNTOLD / _GRID[:, None])
        total = covariance[:, :, None, None] + first[:, None] * first + second[:, None] * second
        total[np.arange(len(y)), np.arange(len(y))] += alone
        residual = y[:, None, None] - plain * (1.0 + (0.0 if folded else _BORDER) * np.sqrt(x2))
        logs.append(math.log(weight) + prior + _log_densities(total, residual))
    weights = exp(np.stack(logs) - np.max(logs)).sum(axis=0)
    return np.asarray(weights / weights.sum())


def _log_densities(covariances: Float64Array, residuals: Float64Array) -> Float64Array:
    """Return the logarithms, but for a constant, of Gaussian densities; the first axes are those of the matrices.

    Cholesky factors of many small matrices at once.
    """
    factor, white = np.zeros_like(covariances), np.zeros_like(residuals)
    logs = np.zeros(residuals.shape[1:])
    for j in range(len(residuals)):
        row = factor[j, :j]
        pivot = np.sqrt(covariances[j, j] - np.square(row).sum(axis=0))
        factor[j + 1 :, j] = (covariances[j + 1 :, j] - (factor[j + 1 :, :j] * row).sum(axis=1)) / pivot
        white[j] = (residuals[j] - (row * white[:j]).sum(axis=0)) / pivot
        logs -= log(pivot) + 0.5 * np.square(white[j])
    return logs
