"""Whether rows that were held out thin out between two groups that were found without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import length, product, squared_lengths
from gnomon.linalg.within import variation_within

__all__ = ["Thinning", "thinning"]

Floats = npt.NDArray[np.float64]

_WINDOWS = (
    (0.5, 0.3, 0.15, 1 / 3),
    (0.5, 0.25, 0.25, 1 / 6),
    (0.375, 0.125, 0.125, 1 / 6),
    (0.5, 0.125, 0.125, 1 / 6),
    (0.625, 0.125, 0.125, 1 / 6),
)
"""Of each window between the groups its place and half width, in units of the distance of their medians, half the width
of those at the medians, and its share of the chance of an error."""
_INSIDE = 0.95  # share of a group's rows that the tube around both holds
_FEWEST = 5  # held-out rows of a side
_ROWS = 1024  # looked at together, so that they stay in a cache


@dataclass(frozen=True)
class Thinning:
    """How far rows thin out between two groups.

    Attributes
    ----------
    p_value : float
        How often rows of one cloud, wherever its groups were drawn, thin out as much.
    share : float
        Density between the groups over that at the sparser of the two.
    n_rows : tuple of two int
        Held-out rows of both sides that were looked at.
    """

    p_value: float
    share: float
    n_rows: tuple[int, int]


def thinning(a: Floats, b: Floats, others: Floats, held_out: Floats) -> Thinning:
    """Judge two groups by rows that had no part in finding them.

    Both are seen along the direction that tells them apart best (Fisher's discriminant, with the covariance shrunk
    towards a multiple of the identity by n_features / n_rows). Held-out rows count that lie in the tube around the line
    from mean to mean, and on this side of the planes midway between that line and the means of other groups. That
    region is convex. The density of any cloud of one peak that is log-concave, such as a normal or an even one, has one
    peak too when it is cut to a convex region and projected [1]_: then the density at a place between two others is not
    below that of both, and so is the mean density of a window between them, however wide. So the count in a window
    between the groups is compared with those in windows at the medians of both sides, by the binomial distribution with
    the shares of their widths; the larger p-value counts, the least of five windows over their weights [2]_. The first
    is twice as wide as those at the medians: of few rows far apart it says most.

    Parameters
    ----------
    a, b : ndarray of shape (n_rows, n_features)
        The groups.
    others : ndarray of shape (n_others, n_features)
        Means of other groups.
    held_out : ndarray of shape (n_held_out, n_features)

    Returns
    -------
    Thinning

    References
    ----------
    .. [1] Saumard & Wellner, "Log-concavity and strong log-concavity: a review", Statistics Surveys 8, 2014.
    .. [2] Genovese, Roeder & Wasserman, "False discovery control with p-value weighting", Biometrika 93, 2006.
    """
    whiten = _whitening(a, b)
    first, second = product(np.stack([group.mean(axis=0) for group in (a, b)]), whiten)
    middle, step = (first + second) / 2, second - first
    gap = length(step)
    if not gap > 0.0:
        return Thinning(1.0, 1.0, (0, 0))
    line = step / gap

    def seen(rows: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        for begin in range(0, len(rows), _ROWS):
            places = product(rows[begin : begin + _ROWS], whiten)
            places -= middle
            along = product(places, line)
            yield places, along, np.sqrt(np.maximum(squared_lengths(places) - along**2, 0.0))

    asides = [np.concatenate([aside for _, _, aside in seen(group)]) for group in (a, b)]
    width = max(float(np.quantile(aside, _INSIDE)) for aside in asides)
    normals, bounds = np.empty((0, len(line))), np.empty(0)
    if len(others):
        means = product(others, whiten) - middle
        nearest = np.clip(product(means, line), -gap / 2, gap / 2)[:, None] * line
        normals = means - nearest
        bounds = np.sum(normals * (means + nearest) / 2, axis=1)
    inside = []
    for places, along, aside in seen(held_out):
        near = aside <= width
        inside.append(along[near][np.all(product(places[near], normals.T) <= bounds, axis=1)])
    along = np.concatenate(inside)
    left, right = along[along < 0], along[along >= 0]
    sizes = len(left), len(right)
    if min(sizes) < _FEWEST:
        return Thinning(1.0, 1.0, sizes)
    low, high = float(np.median(left)), float(np.median(right))
    return _least(along, low, high, sizes)


def _whitening(a: Floats, b: Floats) -> Floats:
    """Return directions, in columns, along which rows within both groups vary alike, by 1, and independently."""
    variances, axes = variation_within(a, b)
    return axes / np.sqrt(variances)


def _least(along: Floats, low: float, high: float, sizes: tuple[int, int]) -> Thinning:
    """Return the window between two peaks in which there are too few rows most surely."""
    p_value, share = 1.0, 1.0
    for place, half, beside, weight in _WINDOWS:
        between, *peaks = (
            int(np.count_nonzero(np.abs(along - center) <= width * (high - low)))
            for center, width in ((low + place * (high - low), half), (low, beside), (high, beside))
        )
        chance = half / (half + beside)
        found = max(float(scipy.special.bdtr(between, between + peak, chance)) for peak in peaks) / weight
        if found < p_value:
            p_value, share = found, between * beside / (max(min(peaks), 1) * half)
    return Thinning(p_value, share, sizes)
