"""Means and variances of every feature in every cluster, and which of their differences may be chance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._false_discoveries import are_discoveries, normal_deviations, normal_p_values
from gnomon._threads import in_order
from gnomon.explanations.contrast.errors import effect_size_errors
from gnomon.explanations.contrast.few_rows import FewRows
from gnomon.explanations.contrast.sums import BLOCK, sum_deviations
from gnomon.explanations.contrast.units import FEWEST_UNITS, UnitSums

__all__ = ["ClusterMoments", "cluster_moments", "shares_between", "with_shares"]

Array = npt.NDArray[np.float64]

_FIRST = 200  # rows that tell of most features that they have more than two values
_ROUNDING = 1e-9  # of a variance, in squares of the width of its feature
_TINY = 0.1  # of the mean size of the clusters: smaller ones do not decide which feature leads


@dataclass(frozen=True)
class ClusterMoments:
    """Moments of the clusters.

    Attributes
    ----------
    means, variances : ndarray of shape (n_clusters, n_features), float64
    sizes : ndarray of shape (n_clusters,), int64
    alpha : float or None
        Rate of false discoveries among differences; None takes all.
    units : UnitSums or None, default=None
        What chance is judged between; None takes rows as independent.
    distinct : ndarray of shape (n_clusters,), int64, or None, default=None
        Rows of each cluster between which chance is judged, where others repeat these; None takes `sizes`.
    few : FewRows or None, default=None
        Clusters of few rows, if any, which are judged by their ranks.
    shares : ndarray of shape (n_clusters, n_features), float64, or None
        Share of the rows that have the higher value of a feature of two values, NaN of others; None if not asked.
    from_zero : ndarray of shape (n_features,), bool, or None
        Whether the lower of two values is 0, so that rows have the feature or have it not.
    unknown : ndarray of shape (n_clusters, n_features), bool, or None
        Of which features too few rows of a cluster have a value to compare it.
    """

    means: Array
    variances: Array
    sizes: npt.NDArray[np.int64]

    alpha: float | None
    units: UnitSums | None = None
    distinct: npt.NDArray[np.int64] | None = None
    few: FewRows | None = None
    shares: Array | None = None
    from_zero: npt.NDArray[np.bool_] | None = None
    unknown: npt.NDArray[np.bool_] | None = None

    @property
    def counted(self) -> npt.NDArray[np.int64]:
        """Rows of each cluster that are no repeats of others."""
        return self.sizes if self.distinct is None else self.distinct

    def are_large(self, g: int) -> npt.NDArray[np.bool_]:
        """Return which other clusters have a tenth of the mean size of all; all others if none has."""
        others = np.arange(len(self.sizes)) != g
        large: npt.NDArray[np.bool_] = others & (self.sizes >= _TINY * self.sizes.mean())
        return large if large.any() else others

    def says_of_few(self, g: int, side: Array) -> npt.NDArray[np.bool_]:
        """Return the features of two values of which "high" or "low" would be untrue of most rows of a cluster."""
        if self.shares is None:
            return np.zeros(len(side), dtype=np.bool_)
        share = self.shares[g]
        untrue: npt.NDArray[np.bool_] = np.where(side > 0, share <= 0.5, share >= 0.5)  # never of NaN
        return untrue

    def share_told(self, g: int, f: int, high: str, *, only: bool) -> str:
        """Say how many rows of a cluster have a feature of two values, or have its higher one; its name follows."""
        assert self.shares is not None
        assert self.from_zero is not None
        return f"{'only ' if only else ''}{self.shares[g, f]:.0%} {'have' if self.from_zero[f] else high}"

    def has_two_values(self) -> npt.NDArray[np.bool_]:
        """Return which features have two values."""
        return np.zeros(self.means.shape[1], dtype=np.bool_) if self.shares is None else ~np.isnan(self.shares[0])

    def gaps(self, g: int) -> Array:
        """Return by how many standard deviations cluster g lies above each cluster, (n_clusters, n_features).

        The deviation is the root of the mean variance of the two, so one that is narrow does not lend its narrowness
        to one that is wide. 0 where the means are equal or their difference may be chance, infinite where they differ
        and neither varies; 0 too where fewer than half of the rows of one have a value.
        """
        difference = self.means[g] - self.means
        spread = np.sqrt((self.variances[g] + self.variances) / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps: Array = np.where(difference == 0, 0.0, difference / spread)
        if self.unknown is not None:
            gaps[self.unknown | self.unknown[g]] = 0.0
        return gaps if self.alpha is None else np.where(self._is_no_chance(g, difference, self.alpha), gaps, 0.0)

    def sides(self, g: int, among: npt.NDArray[np.bool_]) -> Array:
        """Return on which side of the mean of some clusters that have values each feature of cluster g lies."""
        means = self.means[among]
        if self.unknown is None:
            return np.asarray(np.sign(self.means[g] - means.mean(axis=0)))
        have = ~self.unknown[among]
        total = np.where(have, means, 0.0).sum(axis=0)
        return np.asarray(
            np.where(have.any(axis=0), np.sign(self.means[g] - total / np.maximum(have.sum(axis=0), 1)), 0.0)
        )

    def gap_error(self, gap: float, g: int, h: int, f: int) -> float:
        """Return the standard error of a gap between two clusters in one feature; NaN where that is infinite."""
        sizes = int(self.counted[g]), int(self.counted[h])
        with np.errstate(divide="ignore", invalid="ignore"):
            own, other = (
                self.variances[[c], f] * (size / np.float64(size - 1)) for c, size in zip((g, h), sizes, strict=True)
            )
        means = self.means[[g], f], self.means[[h], f]
        return float(effect_size_errors(np.array([gap]), means, (own, other), sizes, by_rows=False)[0])

    def untold(self, g: int) -> list[int]:
        """Return the clusters with too few units to tell what sets cluster g apart from them."""
        if self.units is None:
            return []
        return [h for h in range(len(self.sizes)) if h != g and min(self.units.n_units(g, h)) < FEWEST_UNITS]

    def _is_no_chance(self, g: int, difference: Array, alpha: float) -> npt.NDArray[np.bool_]:
        """Return which differences of means are found at a rate of false discoveries."""
        if self.units is None:
            tested, p_values = self._chances_of_rows(g, difference)
            for h in range(len(self.sizes)):
                if h != g and self.few is not None and self.few.judge(g, h):
                    chances, by_ranks = self.few.chances(g, h)
                    p_values[np.count_nonzero(tested[:h])] = np.where(by_ranks == np.sign(difference[h]), chances, 1.0)
        else:
            judged = [None if h == g else self.units.chances(g, h)[0] for h in range(len(self.sizes))]
            tested = np.array([one is not None for one in judged])
            p_values = np.array([one for one in judged if one is not None])
        found = np.zeros(difference.shape, dtype=np.bool_)
        if tested.any():
            found[tested] = are_discoveries(p_values, alpha)
        return found

    def _chances_of_rows(self, g: int, difference: Array) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return which clusters can be tested, and the p-values of these by Welch's test and Student's.

        Welch's alone finds chance where the few rows of a cluster happen to vary little, such as eight times yes of
        seven in ten, and Student's where a small cluster varies more than the other.
        """
        sizes = self.counted
        freedom = np.maximum(sizes - 1, 1)[:, None]
        squares = self.variances / freedom  # squared errors of the means
        both, fourth = squares[g] + squares, squares**2 / freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(difference == 0, 0.0, np.abs(difference) / np.sqrt(both))
            degrees = np.where(both > 0, both**2 / (fourth[g] + fourth), 1.0)
        total = sizes * self.variances.T
        common = np.maximum(sizes[g] + sizes - 2, 1)
        pooled = ((total[:, [g]] + total) / common * (1.0 / sizes[g] + 1.0 / sizes)).T
        with np.errstate(divide="ignore", invalid="ignore"):
            alike = np.where(difference == 0, 0.0, np.abs(difference) / np.sqrt(pooled))
        tested = (sizes >= 2) & (sizes[g] >= 2) & (np.arange(len(sizes)) != g)
        if not tested.any():
            return tested, np.zeros((0, difference.shape[1]))
        welch = normal_deviations(ratio, degrees)
        student = normal_deviations(alike, common[:, None].astype(np.float64))
        return tested, normal_p_values(np.fmin(welch, student)[tested])


def cluster_moments(X: Any, groups: npt.NDArray[np.integer[Any]], n_groups: int, alpha: float | None) -> ClusterMoments:
    """Return means and variances of the rows of each group (-1 for none), about the group's mean, in float64."""
    n_features = int(X.shape[1])
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups).astype(np.int64)

    def moments(g: int) -> tuple[Array, Array]:
        rows = np.flatnonzero(groups == g)
        if hasattr(X, "tocsr"):
            part = X[rows].astype(np.float64)
            mean = np.asarray(part.sum(axis=0)).ravel() / len(rows)
            stored = np.bincount(part.indices, minlength=n_features)
            deviations = np.bincount(part.indices, (part.data - mean[part.indices]) ** 2, n_features)
            return mean, (deviations + (len(rows) - stored) * mean**2) / len(rows)
        first = np.asarray(X[rows[0]], dtype=np.float64)
        parts = np.array_split(rows, max(1, len(rows) * n_features // BLOCK))
        none = np.zeros(n_features)
        mean = first + sum((sum_deviations(X, part, first) for part in parts), none) / len(rows)
        return mean, sum((sum_deviations(X, part, mean, squared=True) for part in parts), none) / len(rows)

    means, variances = (np.stack(one) for one in zip(*in_order(moments, range(n_groups)), strict=True))
    return ClusterMoments(means, variances, sizes, alpha)


def with_shares(moments: ClusterMoments, X: Any, rows: npt.NDArray[np.intp]) -> ClusterMoments:
    """Add which features have two values in some rows, and how many rows of each cluster have the higher one.

    Of a sparse table, those whose lower value is 0.
    """
    low, high, known = (_two_stored if hasattr(X, "tocsr") else _two_dense)(X, rows)
    width = np.where(known, high - low, 1.0)
    shares = (moments.means - low) / width
    # Of all tables with these ends and this mean, the one of the ends alone varies most (Bhatia & Davis).
    missed = np.abs(shares * (1.0 - shares) - moments.variances / width**2).max(axis=0)
    known = known & (missed < _ROUNDING)
    return replace(moments, shares=np.where(known, shares, np.nan), from_zero=known & (low == 0.0))


def _two_stored(X: Any, rows: npt.NDArray[np.intp]) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return 0, the mean of what is stored, and where that is positive."""
    part, n_features = X[rows], int(X.shape[1])
    n_stored = np.bincount(part.indices, minlength=n_features)
    high = np.bincount(part.indices, part.data, n_features) / np.maximum(n_stored, 1)
    return np.zeros(n_features), high, high > 0.0


def _two_dense(X: Any, rows: npt.NDArray[np.intp]) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return the least and the largest value of each feature, and whether the first rows have only two values."""
    first = np.asarray(X[rows[:_FIRST]], dtype=np.float64)
    low, high = first.min(axis=0), first.max(axis=0)
    maybe = np.flatnonzero(((first == low) | (first == high)).all(axis=0))
    step = max(1, BLOCK // max(1, int(X.shape[1])))
    for start in range(0, len(rows) if len(maybe) else 0, step):
        values = np.asarray(X[rows[start : start + step]][:, maybe], dtype=np.float64)
        low[maybe] = np.minimum(low[maybe], values.min(axis=0))
        high[maybe] = np.maximum(high[maybe], values.max(axis=0))
    known = np.zeros(len(low), dtype=np.bool_)
    known[maybe] = high[maybe] > low[maybe]
    return low, high, known


def shares_between(
    X: Any, groups: npt.NDArray[np.integer[Any]], n_groups: int, starts: npt.NDArray[np.intp] | None = None
) -> tuple[Array, Array]:
    """Return the share of the variance of each feature that lies between groups of rows, and its p-value by chance.

    Features that one column has become, such as the indicators of a category, may be asked about as one: by the sums
    of their squares [2]_, and by the least of their p-values times their number.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    groups : ndarray of shape (n_samples,), int
        Number of the group of each row, -1 for none; each group has rows.
    n_groups : int >= 2
    starts : ndarray of shape (n_units,), int, default=None
        The first feature of each unit of features that are one, 0 first; None takes each by itself.

    Returns
    -------
    share : ndarray of shape (n_units,), float64, in [0, 1]
        Less what chance gives on the mean (epsilon squared [1]_); 0 of a constant feature.
    p : ndarray of shape (n_units,), float64
        Of the analysis of variance.

    References
    ----------
    .. [1] Kelley, "An unbiased correlation ratio measure", PNAS 21, 1935.
    .. [2] Light & Margolin, "An analysis of variance for categorical data", JASA 66, 1971.
    """
    from scipy.special import fdtrc

    moments = cluster_moments(X, groups, n_groups, None)
    n, sizes = int(moments.sizes.sum()), moments.sizes[:, None]
    mean = (sizes * moments.means).sum(axis=0) / n
    between = (sizes * (moments.means - mean) ** 2).sum(axis=0)
    within = (sizes * moments.variances).sum(axis=0)
    freedom = n - n_groups
    starts = np.arange(len(mean)) if starts is None else starts
    if freedom < 1:
        return np.zeros(len(starts)), np.ones(len(starts))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(between + within > 0.0, (between / (n_groups - 1)) / (within / freedom), 0.0)
    p = np.where(np.isinf(ratio), 0.0, fdtrc(n_groups - 1, freedom, ratio))
    n_joined = np.diff(np.append(starts, len(mean)))
    within, total = np.add.reduceat(within, starts), np.add.reduceat(between + within, starts)
    share = np.zeros(len(starts))
    varies = total > 0.0
    share[varies] = 1.0 - (within[varies] / freedom) / (total[varies] / (n - 1))
    return np.maximum(share, 0.0), np.minimum(n_joined * np.minimum.reduceat(p, starts), 1.0)
