"""Standard errors of effect sizes and of ranking probabilities, and how likely chance is to give such."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon._false_discoveries import adjusted_p_values, normal_p_values

__all__ = ["FEW_ROWS", "are_few", "auc_errors", "effect_size_errors", "rank_p_values", "rates_of_chance"]

Array = npt.NDArray[np.float64]

FEW_ROWS = 5
"""Fewer rows on a side tell nothing of how much it varies; chance is then judged by ranks, exactly."""

_ROUNDING = 1e-12  # of an AUC


def effect_size_errors(
    effect: Array, variances: tuple[Array, Array], sizes: tuple[int, int], *, by_rows: bool = True
) -> Array:
    """Return the standard errors of differences of means in deviations, of two sides that may vary differently.

    The difference of the means and the deviation it is divided by both vary from sample to sample: the first by
    ``(s1^2 / n1 + s2^2 / n2) / s^2``, the second, for normal features, by ``d^2 var(s^2) / (4 s^4)``. Where the
    variances are equal this is Hedges & Olkin's ``(n1 + n2) / (n1 n2) + d^2 / (2 (n1 + n2))`` up to terms of relative
    order 1 / n.

    Parameters
    ----------
    effect : ndarray of shape (n_features,), float64
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
    """
    sides = [np.where(np.isnan(one), other, one) for one, other in (variances, variances[::-1])]
    _, exponents = np.frexp(np.maximum(*sides))
    sides = [np.ldexp(one, -exponents) for one in sides]  # only their ratios count, whose squares stay in range
    freedom = [max(size - 1, 0) for size in sizes]
    total = max(sum(freedom), 1)
    shares = [one / total if by_rows else 0.5 for one in freedom]
    square = shares[0] * sides[0] + shares[1] * sides[1]
    of_means = sides[0] / sizes[0] + sides[1] / sizes[1]
    of_square = sum(2.0 * (w * v) ** 2 / max(f, 1) for w, v, f in zip(shares, sides, freedom, strict=True))
    finite = np.where(np.isfinite(effect), effect, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = of_means / square + finite**2 * of_square / (4.0 * square**2)
    return np.where(effect == 0, np.sqrt(np.where(square > 0, variance, 0.0)), np.sqrt(variance))


def auc_errors(auc: Array, spreads: tuple[Array, Array], sizes: tuple[int, int]) -> Array:
    """Return the standard errors of ranking probabilities, whatever the distributions.

    Parameters
    ----------
    auc : ndarray of shape (n_features,), float64
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
    sides = [np.where(np.isnan(one), single, one) for one, single in zip(spreads, of_one, strict=True)]
    variance = np.maximum(sides[0], 0.0) / sizes[0] + np.maximum(sides[1], 0.0) / sizes[1]
    return np.where((auc > 0) & (auc < 1), np.sqrt(variance), 0.0)


def are_few(sizes: tuple[int, int]) -> bool:
    """Return whether a side has so few rows, two to four, that `rank_p_values` are exact."""
    return 1 < min(sizes) < FEW_ROWS


def rank_p_values(auc: Array, sizes: tuple[int, int]) -> Array:
    """Return how likely chance gives ranking probabilities as far from 0.5, by the test of Mann and Whitney [1]_.

    Exact where a side has two to four rows, else by a normal distribution. Ties are not taken into account, so the
    test finds too few features of few different values, and never too many: with the errors of `auc_errors` it finds
    chance wherever the few rows of a side happen to vary little.

    Parameters
    ----------
    auc : ndarray of any shape, float64
    sizes : pair of int

    Returns
    -------
    ndarray of the same shape, float64
        Of both directions.

    References
    ----------
    .. [1] Mann & Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
       Ann. Math. Stat. 18, 1947.
    """
    if not are_few(sizes):
        deviation = np.sqrt((sum(sizes) + 1) / (12.0 * sizes[0] * sizes[1]))
        return normal_p_values(np.abs(auc - 0.5) / deviation)
    few, many = sorted(sizes)
    pairs = few * many
    short = np.ceil((0.5 - np.abs(auc - 0.5)) * pairs - _ROUNDING * pairs).astype(np.int64)  # of all pairs one way
    tail = _tail(few, many)
    return np.minimum(2.0 * tail[np.minimum(short, len(tail) - 1)], 1.0)


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


def rates_of_chance(auc: Array, sizes: tuple[int, int]) -> Array:
    """Return the least rates of false discoveries at which features are found, by `rank_p_values`.

    Parameters
    ----------
    auc : ndarray of shape (n_features,), float64
    sizes : pair of int

    Returns
    -------
    ndarray of shape (n_features,), float64
    """
    return adjusted_p_values(rank_p_values(auc, sizes))
