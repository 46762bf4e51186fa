"""Standard errors of effect sizes and of ranking probabilities, and how likely chance is to give such."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon._false_discoveries import adjusted_p_values, normal_deviations, normal_p_values

__all__ = [
    "FEW_ROWS",
    "are_few",
    "auc_errors",
    "difference_intervals",
    "effect_size_errors",
    "intervals",
    "rank_p_values",
    "rates_of_chance",
]

Array = npt.NDArray[np.float64]

FEW_ROWS = 5
"""Fewer rows on a side tell nothing of how much it varies; chance is then judged by ranks, exactly."""

_ROUNDING = 1e-12  # of an AUC, and of a share of rows
_CONFIDENCE = 0.95
_DIGITS = 9  # of a quantile of Student's, whose last bits depend on the processor
_LENT = 4.0  # rows, by which the variance of the other side counts for that of one


def effect_size_errors(
    effect: Array,
    means: tuple[Array, Array],
    variances: tuple[Array, Array],
    sizes: tuple[int, int],
    *,
    by_rows: bool = True,
) -> Array:
    """Return the standard errors of differences of means in deviations, of two sides that may vary differently.

    The difference of the means and the deviation it is divided by both vary from sample to sample: the first by
    ``(s1^2 / n1 + s2^2 / n2) / s^2``, the second, for normal features, by ``d^2 var(s^2) / (4 s^4)``. Where the
    variances are equal this is Hedges & Olkin's ``(n1 + n2) / (n1 n2) + d^2 / (2 (n1 + n2))`` up to terms of relative
    order 1 / n.

    Few rows often vary less than what they were drawn from, and not at all in what is rare. In the error of the
    difference a side therefore varies at least as the mean of its own variance and the other side's, which counts as
    one of four rows [3]_. Of a feature of zeros and ones it varies at least as with one of each added [4]_; there the
    share of ones tells the variance too, and the error follows from those of both shares.

    Parameters
    ----------
    effect : ndarray of shape (n_features,), float64
    means : pair of ndarray of shape (n_features,), float64
        Of both sides.
    variances : pair of ndarray of shape (n_features,), float64
        Of both sides, with n - 1 as divisor; NaN of a single row, which is taken to vary as the other side.
    sizes : pair of int
    by_rows : bool, default=True
        Whether s^2 is the variance within sides over all rows (Cohen's d), or the mean of the two variances.

    Returns
    -------
    ndarray of shape (n_features,), float64
        NaN where the effect is infinite, 0 for a constant feature.

    References
    ----------
    .. [1] Bonett, "Confidence intervals for standardized linear contrasts of means", Psychological Methods 13, 2008.
    .. [2] Hedges & Olkin, "Statistical methods for meta-analysis", 1985, chapter 5.
    .. [3] Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
       experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004 (moderated variances).
    .. [4] Agresti & Caffo, "Simple and effective confidence intervals for proportions and differences of proportions
       result from adding two successes and two failures", The American Statistician 54, 2000.
    """
    given = _known(variances)
    _, exponents = np.frexp(np.maximum(*given))
    sides = [np.ldexp(one, -exponents) for one in given]  # only their ratios count, whose squares stay in range
    freedom = [max(size - 1, 0) for size in sizes]
    total = max(sum(freedom), 1)
    shares = [one / total if by_rows else 0.5 for one in freedom]
    square = shares[0] * sides[0] + shares[1] * sides[1]
    of_square = sum(2.0 * (w * v) ** 2 / max(f, 1) for w, v, f in zip(shares, sides, freedom, strict=True))
    finite = np.where(np.isfinite(effect), effect, np.nan)
    binary, added = _of_shares(means, given, sizes)
    moved = [1.0 - 2.0 * (one * size + 1.0) / (size + 2.0) for one, size in zip(means, sizes, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        of_means = sum(one / size for one, size in zip(_at_least(sides, sizes), sizes, strict=True))
        variance = of_means / square + finite**2 * of_square / (4.0 * square**2)
        within = shares[0] * given[0] + shares[1] * given[1]
        slopes = [
            way - finite * w * m / (2.0 * np.sqrt(within)) for way, w, m in zip((1, -1), shares, moved, strict=True)
        ]
        of_shares = sum(slope**2 * one / size for slope, one, size in zip(slopes, added, sizes, strict=True)) / within
    variance = np.where(binary, of_shares, variance)
    return np.where(effect == 0, np.sqrt(np.where(square > 0, variance, 0.0)), np.sqrt(variance))


def difference_intervals(
    means: tuple[Array, Array], variances: tuple[Array, Array], sizes: tuple[int, int]
) -> tuple[Array, Array]:
    """Return the ends of 95 % intervals of differences of means, in units of the features.

    Each side varies at least as `effect_size_errors` says, and the degrees of freedom are Welch's. Differences of
    shares, of features of zeros and ones, lie around that with one of each added to both sides (Agresti and Caffo).

    Parameters
    ----------
    means, variances, sizes : as for `effect_size_errors`

    Returns
    -------
    low, high : ndarray of shape (n_features,), float64
        Equal for a constant feature.
    """
    given = _known(variances)
    binary, added = _of_shares(means, given, sizes)
    raised = _at_least(given, sizes)
    constant = (given[0] == 0) & (given[1] == 0) & (means[0] == means[1])
    sides = [np.where(constant, 0.0, np.where(binary, one, other)) for one, other in zip(added, raised, strict=True)]
    of_means = [one / size for one, size in zip(sides, sizes, strict=True)]
    whole = of_means[0] + of_means[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = zip(of_means, sizes, strict=True)
        freedom = 1.0 / sum((one / whole) ** 2 / max(size - 1, 1) for one, size in parts)
    shares = [(one * size + 1.0) / (size + 2.0) for one, size in zip(means, sizes, strict=True)]
    center = np.where(binary & ~constant, shares[0] - shares[1], means[0] - means[1])
    low, high = intervals(center, np.sqrt(whole), np.where(binary | ~np.isfinite(freedom), np.inf, freedom))
    return np.where(binary, np.maximum(low, -1.0), low), np.where(binary, np.minimum(high, 1.0), high)


def intervals(differences: Array, errors: Array, freedom: Array | float) -> tuple[Array, Array]:
    """Return the ends of 95 % intervals of differences, by quantiles of Student's distribution."""
    from scipy.special import stdtrit

    half = np.round(np.abs(stdtrit(freedom, (1.0 - _CONFIDENCE) / 2.0)), _DIGITS) * errors
    return differences - half, differences + half


def _known(variances: tuple[Array, Array]) -> list[Array]:
    """Return the variances of both sides, that of a single row as the other's."""
    return [np.where(np.isnan(one), other, one) for one, other in (variances, variances[::-1])]


def _at_least(sides: list[Array], sizes: tuple[int, int]) -> list[Array]:
    """Return variances of two sides, none smaller than its mean with the other side's, which counts as a few rows."""
    freedom = [max(size - 1, 0) for size in sizes]
    pairs = zip(sides, sides[::-1], freedom, strict=True)
    return [np.maximum(one, (f * one + _LENT * other) / (f + _LENT)) for one, other, f in pairs]


def _of_shares(
    means: tuple[Array, Array], sides: list[Array], sizes: tuple[int, int]
) -> tuple[npt.NDArray[np.bool_], list[Array]]:
    """Return which features are zeros and ones, and the variance of each side with one of each added, if larger."""
    binary = np.ones(len(means[0]), dtype=np.bool_)
    added = []
    for mean, one, size in zip(means, sides, sizes, strict=True):
        of_ends = mean * (1.0 - mean)  # of all numbers from 0 to 1 with this mean, the ends vary most
        as_counted = one * (size - 1) / size if size > 1 else 0.0
        binary &= (mean >= 0.0) & (mean <= 1.0) & (np.abs(as_counted - of_ends) <= _ROUNDING)
        share = (mean * size + 1.0) / (size + 2.0)
        added.append(np.maximum(share * (1.0 - share) * size / (size + 2.0), one))
    return binary, added


def auc_errors(
    auc: Array,
    means: tuple[Array, Array],
    variances: tuple[Array, Array],
    spreads: tuple[Array, Array],
    sizes: tuple[int, int],
) -> Array:
    """Return the standard errors of ranking probabilities, whatever the distributions.

    A side varies at least as `effect_size_errors` says. Of zeros and ones the probability is half the difference of
    their shares, and so is its error.

    Parameters
    ----------
    auc : ndarray of shape (n_features,), float64
    means, variances : pair of ndarray of shape (n_features,), float64
        Of the features on both sides, as in `effect_size_errors`.
    spreads : pair of ndarray of shape (n_features,), float64
        Variance, over the rows of each side, of the share of the other side that a row lies above (of the second side:
        that lies above it). NaN of a single row: it is then that of exponential features [2]_.
    sizes : pair of int

    Returns
    -------
    ndarray of shape (n_features,), float64
        0 where the sides do not overlap, and for a constant feature.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
       characteristic curves: a nonparametric approach", Biometrics 44, 1988.
    .. [2] Hanley & McNeil, "The meaning and use of the area under a ROC curve", Radiology 143, 1982.
    """
    of_one = (auc / (2.0 - auc) - auc**2, 2.0 * auc**2 / (1.0 + auc) - auc**2)
    known = [np.where(np.isnan(one), single, one) for one, single in zip(spreads, of_one, strict=True)]
    sides = _at_least([np.maximum(one, 0.0) for one in known], sizes)
    binary, added = _of_shares(means, _known(variances), sizes)
    sides = [np.where(binary, of_ends / 4.0, one) for of_ends, one in zip(added, sides, strict=True)]
    variance = sides[0] / sizes[0] + sides[1] / sizes[1]
    return np.where((auc > 0) & (auc < 1), np.sqrt(variance), 0.0)


def are_few(sizes: tuple[int, int]) -> bool:
    """Return whether a side has so few rows, two to four, that `rank_p_values` are exact."""
    return 1 < min(sizes) < FEW_ROWS


def rank_p_values(auc: Array, sizes: tuple[int, int], spreads: tuple[Array, Array] | None = None) -> Array:
    """Return how likely chance gives ranking probabilities as far from 0.5.

    By the test of Mann and Whitney [1]_, and where it is less sure by that of Brunner and Munzel [2]_: the first holds
    for two sides that are alike, the second for sides of which neither is mostly higher but that may vary differently,
    as it goes by how each of them does. Alone it finds chance wherever the few rows of a side happen to vary little.
    Exact where a side has two to four rows, whose variance tells nothing, and then by the first alone. Ties are not
    taken into account in the first, so it finds too few features of few different values, and never too many.

    Parameters
    ----------
    auc : ndarray of any shape, float64
    sizes : pair of int
    spreads : pair of ndarray of the same shape, float64, or None
        As for `auc_errors`; None for the first test alone.

    Returns
    -------
    ndarray of the same shape, float64
        Of both directions.

    References
    ----------
    .. [1] Mann & Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
       Ann. Math. Stat. 18, 1947.
    .. [2] Brunner & Munzel, "The nonparametric Behrens-Fisher problem: asymptotic theory and a small-sample
       approximation", Biometrical Journal 42, 2000.
    """
    if not are_few(sizes):
        deviation = np.sqrt((sum(sizes) + 1) / (12.0 * sizes[0] * sizes[1]))
        alike = normal_p_values(np.abs(auc - 0.5) / deviation)
        return alike if spreads is None or min(sizes) < FEW_ROWS else np.maximum(alike, _unlike(auc, sizes, spreads))
    few, many = sorted(sizes)
    pairs = few * many
    short = np.ceil((0.5 - np.abs(auc - 0.5)) * pairs - _ROUNDING * pairs).astype(np.int64)  # of all pairs one way
    tail = _tail(few, many)
    return np.minimum(2.0 * tail[np.minimum(short, len(tail) - 1)], 1.0)


def _unlike(auc: Array, sizes: tuple[int, int], spreads: tuple[Array, Array]) -> Array:
    """Return the p-values of Brunner and Munzel; 0 where the sides do not overlap, 1 where all values are equal."""
    of_sides = [np.maximum(one, 0.0) / size for one, size in zip(spreads, sizes, strict=True)]
    variance = of_sides[0] + of_sides[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(auc - 0.5) / np.sqrt(variance)
        degrees = variance**2 / sum(one**2 / (size - 1) for one, size in zip(of_sides, sizes, strict=True))
    varies = variance > _ROUNDING**2
    found = normal_p_values(normal_deviations(np.where(varies, ratio, 0.0), np.where(varies, degrees, 1.0)))
    return np.where(varies, found, np.where(auc == 0.5, 1.0, 0.0))


@lru_cache(maxsize=64)
def _tail(few: int, many: int) -> Array:
    """Return how likely at most so many pairs of a row on either side are in one order, up to half of them.

    The coefficients of the Gaussian binomial count the orders of all rows by such pairs: whole numbers, which float64
    holds exactly for few rows against tens of thousands.
    """
    counts = np.zeros(few * many // 2 + 1)
    counts[0] = 1.0
    for i in range(1, few + 1):
        counts[many + i :] -= counts[: max(len(counts) - many - i, 0)].copy()
        for start in range(min(i, len(counts))):
            counts[start::i] = np.cumsum(counts[start::i])
    n_orders = 1.0
    for i in range(1, few + 1):
        n_orders = n_orders * (many + i) / i
    return np.cumsum(counts) / n_orders


def rates_of_chance(auc: Array, sizes: tuple[int, int], spreads: tuple[Array, Array]) -> Array:
    """Return the least rates of false discoveries at which features are found, by `rank_p_values`.

    Parameters
    ----------
    auc : ndarray of shape (n_features,), float64
    sizes : pair of int
    spreads : pair of ndarray of shape (n_features,), float64

    Returns
    -------
    ndarray of shape (n_features,), float64
    """
    return adjusted_p_values(rank_p_values(auc, sizes, spreads))
