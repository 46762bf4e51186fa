"""`find_illusions`: classes that a map draws too large, too dense or too far, beside others."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import log
from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.data.labels import check_labels, sort_into_classes
from gnomon.evaluation.centers import between_centers
from gnomon.evaluation.densities import apart_balls
from gnomon.evaluation.judged_metrics import JudgedMetric, rows_with_direction, told_without
from gnomon.evaluation.map_verdicts import MapVerdicts
from gnomon.evaluation.paths import straight_distances
from gnomon.evaluation.verdict import Verdict
from gnomon.geometry.check import check_features, check_places, has_place
from gnomon.linalg import first_columns
from gnomon.neighbors.independence import PAIRS, of_independent_rows
from gnomon.neighbors.straight import straight_rows

__all__ = ["FEWEST_OF_CLASS", "adjusted_by_holm", "find_illusions"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_RULES: dict[str, Rule] = {
    "metric": JudgedMetric(),
    "least": Real(1.0, low_open=True),
    "alpha": Real(0.0, 0.5, low_open=True, high_open=True),
    "max_rows": Integer(60),
}
FEWEST_OF_CLASS = 20
"""A class of fewer rows in the map is left out."""
_MOST_CLASSES = 20
_K = (10, 5, 3)  # neighbours that density rests on; the most of which a class has enough rows with none in common
_ROUNDING = 1e-6  # of a factor: what one that is the same for all rows, in single precision, may vary by
_TOGETHER = "over all of these questions together, by Holm's method"


def adjusted_by_holm(p_values: npt.ArrayLike) -> Floats:
    """Return the least rates of any false rejection at which each is significant; NaN stays NaN and does not count.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6, 1979.
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(values), np.nan)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(np.isfinite(values))]
    steps = values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


@dataclass(frozen=True)
class _Factor:
    """The logarithm of what the map multiplies a ratio of the data by, with its error.

    A map that multiplies all distances alike has none: then the error is what rounding may add.
    """

    log: float
    variance: float
    freedom: float = math.inf

    @property
    def spread(self) -> float:
        """Standard error, at least that of rounding."""
        return max(math.sqrt(self.variance), _ROUNDING)

    def __sub__(self, other: _Factor) -> _Factor:
        """Return the difference from an independent one, by Welch and Satterthwaite."""
        variance = self.variance + other.variance
        parts = self.variance**2 / self.freedom + other.variance**2 / other.freedom
        return _Factor(self.log - other.log, variance, variance**2 / parts if parts > 0.0 else math.inf)

    @staticmethod
    def mean(factors: list[_Factor]) -> _Factor:
        """Return the mean of independent ones."""
        g = len(factors)
        variance = sum(one.variance for one in factors) / g**2
        parts = sum((one.variance / g**2) ** 2 / one.freedom for one in factors)
        return _Factor(sum(one.log for one in factors) / g, variance, variance**2 / parts if parts > 0.0 else math.inf)

    def beyond(self, limit: float) -> float:
        """Return the p-value of a factor whose logarithm is at most `limit` in size."""
        if not math.isfinite(self.log + self.variance):
            return math.nan
        tails = [-(abs(self.log) + side) / self.spread for side in (-limit, limit)]  # of one at the limit
        return float(sum(scipy.special.stdtr(max(1.0, self.freedom), tails)))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return both ends of it, each missed in alpha / 2."""
        wide = float(scipy.special.stdtrit(max(1.0, self.freedom), 1.0 - alpha / 2.0)) * self.spread
        return self.log - wide, self.log + wide


@dataclass(frozen=True)
class _Sides:
    """Distances of the same rows in data and map, and which rows each class has.

    Attributes
    ----------
    data, shown : ndarray of shape (m, m), float64
    members : list of ndarray
        Rows of each class.
    """

    data: Floats
    shown: Floats
    members: list[Rows]

    def width(self, a: int) -> _Factor:
        """Return by what the map multiplies the mean distance of rows of a class."""
        rows, n = self.members[a], len(self.members[a])
        means = [side[np.ix_(rows, rows)].sum(axis=1) / (n - 1) for side in (self.shown, self.data)]
        sizes = [float(one.mean()) for one in means]
        if min(sizes) <= 0.0:
            return _Factor(math.nan, math.nan)
        shares = 2.0 * (means[0] / sizes[0] - means[1] / sizes[1])  # Hoeffding's first projection of the logarithm
        return _Factor(math.log(sizes[0] / sizes[1]), float(np.var(shares, ddof=1)) / n, n - 1.0)

    def spacing(self, a: int, apart: Rows, radii: tuple[Floats, Floats]) -> _Factor:
        """Return by what the map multiplies the distance to the k-th neighbour, around rows with none in common."""
        rows = apart[np.isin(apart, self.members[a])]
        logs = log(radii[1][rows]) - log(radii[0][rows])
        if len(rows) < 3 or not np.isfinite(logs).all():
            return _Factor(math.nan, math.nan)
        return _Factor(float(logs.mean()), float(np.var(logs, ddof=1)) / len(rows), len(rows) - 1.0)

    def between(self, side: Floats, a: int, b: int) -> tuple[float, dict[int, Floats]]:
        """Return the square of the distance of the centres of two classes, and what each of their rows adds to it."""
        one, other = self.members[a], self.members[b]
        found, shares = between_centers(*(side[np.ix_(*pair)] for pair in ((one, other), (one, one), (other, other))))
        return found, dict(zip((a, b), shares, strict=True))

    def distance(self, a: int, near: int, far: int) -> tuple[_Factor, float, float]:
        """Return by what the map multiplies the ratio of two distances of a class, and the ratio in map and data."""
        logs, shares = [], {one: np.zeros(len(self.members[one])) for one in (a, near, far)}
        for sign, side in ((1.0, self.shown), (-1.0, self.data)):
            found = {to: self.between(side, a, to) for to in (near, far)}
            if min(square for square, _ in found.values()) <= 0.0:
                return _Factor(math.nan, math.nan), math.nan, math.nan
            logs.append(math.log(found[far][0] / found[near][0]) / 2.0)
            for weight, to in ((sign, far), (-sign, near)):
                for one, values in found[to][1].items():
                    shares[one] += weight * values / found[to][0] / 2.0
        variance = sum(float(np.var(one, ddof=1)) / len(one) for one in shares.values())
        freedom = min(len(one) for one in shares.values()) - 1.0
        return _Factor(logs[0] - logs[1], variance, freedom), math.exp(logs[0]), math.exp(logs[1])


@entrance("find_illusions", seeded=True)
@of_independent_rows(PAIRS)
def find_illusions(
    X: Any,
    Y: Any,
    labels: Any,
    *,
    metric: str = "euclidean",
    least: float = 1.5,
    alpha: float = 0.05,
    max_rows: int = 1500,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> MapVerdicts:
    """Find classes whose size, density or distance in a map, beside other classes, is other than in the data.

    A map may choose its unit, so only ratios are compared. Of each class three things are asked.

    - Is it as wide as it looks? By the mean distance of its rows from each other, in map and data, beside the mean of
      the other classes: t-SNE draws a group of four times the width as large as the others.
    - Is it as dense as it looks? By distances to the 10th neighbour, in map and data, beside the mean of the others; to
      the 5th or 3rd where a class is so small that fewer than three of its rows have no neighbours in common.
    - Is the class that looks farthest from it as much farther as it looks than the class that looks nearest? By
      distances between centres as those of `is_nearer`, in straight lines: the islands of a map lie far from each other
      or near for no reason.

    "No", the illusion, needs the map to be surely off by more than the factor `least`. All rows of both sides are the
    same, so that what a class is by itself takes no part. Classes may not be chosen by the map itself.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components)
        The map; rows of NaN are left out.
    labels : array-like of shape (n_samples,)
        A class for each row, at least two of 20 rows. Of more than 20 the largest are taken.
    metric : {"euclidean", "cosine", "correlation", "hellinger", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data, as for `are_apart`: of directions those of rows of unit length, without rows of zeros;
        columns with a period are circles and places of "haversine" points of a sphere.
    least : float > 1, default=1.5
        Factor up to which a ratio counts as what it looks.
    alpha : float in (0, 0.5), default=0.05
        How often any "no" may be answered where all ratios are off by no more than `least`.
    max_rows : int >= 60, default=1500
        Rows looked at: as many of each class, chosen at random. Time and memory grow with its square.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the rows.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    MapVerdicts
        Sizes, densities, then distances. The statistic of each is the logarithm of the factor by which the map draws
        the ratio too large; p-values are Holm's [1]_. `illusions` has those that are.

    Raises
    ------
    ValueError
        If X, Y and labels differ in rows, or fewer than two classes have 20 rows in the map.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6, 1979.
    .. [2] Wattenberg, Viegas & Johnson, "How to use t-SNE effectively", Distill, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import find_illusions
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> X[200:] = 4 * X[200:] + 50
    >>> Y = X.copy()
    >>> Y[:200] *= 4  # drawn as large as the other
    >>> [verdict.finding for verdict in find_illusions(X, Y, np.repeat(["a", "b"], 200)).illusions]
    ['drawn too large', 'drawn too small', 'drawn too thin', 'drawn too dense']
    """
    given = {"metric": metric, "least": least, "alpha": alpha, "max_rows": max_rows}
    checked = check_parameters({name: _RULES[name] for name in given}, given)
    values, _ = check_features(X, None)
    n, draw = int(values.shape[0]), np.random.default_rng(current_run().seed)
    places = check_places(Y, n)
    classes = sort_into_classes(check_labels(labels, n))
    codes = np.full(n, -1, dtype=np.int64)
    some = rows_with_direction(values, checked["metric"])
    codes[some] = np.where(has_place(places), classes.codes, -1)[some]
    counts = np.bincount(codes[codes >= 0], minlength=len(classes.names))
    taken = [
        int(code) for code in np.argsort(-counts, kind="stable")[:_MOST_CLASSES] if counts[code] >= FEWEST_OF_CLASS
    ]
    if len(taken) < 2:
        rule = f"of two classes at least, of {FEWEST_OF_CLASS} rows in the map"
        raise ValueError(message("labels", rule, fact=f"{len(taken)} is"))
    each = max(FEWEST_OF_CLASS, checked["max_rows"] // len(taken))
    chosen = [np.sort(draw.permutation(np.flatnonzero(codes == code))[:each]) for code in taken]
    rows = np.concatenate(chosen)
    ends = np.cumsum([0, *map(len, chosen)])
    sides = _Sides(
        straight_distances(straight_rows(values[rows], checked["metric"])),
        straight_distances(places[rows]),
        [np.arange(start, stop) for start, stop in itertools.pairwise(ends)],
    )
    names = [classes.names[code] for code in taken]
    rests = f"{len(rows):,} of {n:,} rows of {len(names)} classes" if len(rows) < n else f"{n:,} rows"
    rests += told_without(n - len(some))
    found = _ask(sides, names, draw, rests)
    limit = math.log(checked["least"])
    adjusted = adjusted_by_holm([factor.beyond(limit) for _, factor, _ in found])
    verdicts = [
        _answered(verdict, factor, words, float(p), limit, checked["alpha"])
        for (verdict, factor, words), p in zip(found, adjusted, strict=True)
    ]
    return MapVerdicts(verdicts, "Sizes, densities and distances in the map, beside the data", _TOGETHER)


Asked = tuple[Verdict, _Factor, tuple[str, str, str]]


def _ask(sides: _Sides, names: list[str], draw: np.random.Generator, rests: str) -> list[Asked]:
    """Return of each question a blank verdict, the factor it is about, and what too much, too little and right are."""
    widths = [sides.width(a) for a in range(len(names))]
    found: list[Asked] = []
    for kind, factors in (("wide", _beside_others(widths)), ("dense", _densities(sides, draw))):
        for a, name in enumerate(names):
            factor = factors[a]
            what = f"distances {'within' if kind == 'wide' else 'to neighbours in'} {name}"
            told = f"Beside other classes, the map multiplies {what}"
            words = ("drawn too large", "drawn too small") if kind == "wide" else ("drawn too thin", "drawn too dense")
            found.append((_blank(f"Is {name} as {kind} as it looks?", told, rests), factor, (*words, "as it looks")))
    if len(names) < 3:
        return found
    for a, name in enumerate(names):
        shown = {b: sides.between(sides.shown, a, b)[0] for b in range(len(names)) if b != a}
        near, far = min(shown, key=shown.__getitem__), max(shown, key=shown.__getitem__)
        factor, in_map, in_data = sides.distance(a, near, far)
        question = f"Seen from {name}, is {names[far]} as much farther than {names[near]} as it looks?"
        told = f"From centre to centre it is {in_data:.3g} times as far in the data and {in_map:.3g} times in the map, "
        told += "which multiplies it"
        found.append((_blank(question, told, rests), factor, ("looks too far", "looks too near", "as it looks")))
    return found


def _beside_others(factors: list[_Factor]) -> list[_Factor]:
    """Return each factor over the mean of the others that are known."""
    found = []
    for a, factor in enumerate(factors):
        others = [one for b, one in enumerate(factors) if b != a and math.isfinite(one.log)]
        found.append(factor - _Factor.mean(others) if others else _Factor(math.nan, math.nan))
    return found


def _densities(sides: _Sides, draw: np.random.Generator) -> list[_Factor]:
    """Return by what the map multiplies distances to neighbours in each class, over the mean of the others.

    Where a class has fewer than three rows with no neighbours in common its rows are taken before others, then fewer
    neighbours. What is known of other classes stays.
    """
    order = draw.permutation(len(sides.data))
    found = [_Factor(math.nan, math.nan)] * len(sides.members)
    for k in (_K[0], *_K):
        lacking = [rows for one, rows in zip(found, sides.members, strict=True) if not math.isfinite(one.log)]
        if not lacking:
            break
        first = np.isin(order, np.concatenate(lacking))
        apart, radii = _apart_rows(sides, np.concatenate([order[first], order[~first]]), k)
        spacings = [sides.spacing(a, apart, radii) for a in range(len(sides.members))]
        pairs = zip(found, _beside_others(spacings), strict=True)
        found = [one if math.isfinite(one.log) else new for one, new in pairs]
    return found


def _apart_rows(sides: _Sides, order: Rows, k: int) -> tuple[Rows, tuple[Floats, Floats]]:
    """Return rows whose k nearest in the data have none in common, and all radii in data and map."""
    near = first_columns(sides.data, k + 1)
    radii = tuple(np.partition(side, k, axis=1)[:, k] for side in (sides.data, sides.shown))
    order = order[np.minimum(radii[0], radii[1])[order] > 0.0]
    return np.sort(apart_balls(order, near, len(near))), (radii[0], radii[1])


def _blank(question: str, told: str, rests: str) -> Verdict:
    return Verdict(
        question=question,
        answer="cannot be told",
        finding="too few rows",
        sentence=told,
        in_map="yes",
        statistic=math.nan,
        unit="log of the factor that the map puts in",
        interval=(math.nan, math.nan),
        p_value=math.nan,
        null="",
        false_positive_rate=math.nan,
        rests_on=rests,
    )


def _answered(
    blank: Verdict, factor: _Factor, words: tuple[str, str, str], p_value: float, limit: float, alpha: float
) -> Verdict:
    """Return the verdict that a factor and its adjusted p-value give."""
    null = f"a factor of {math.exp(limit):.3g} at most"
    blank = replace(blank, null=null, false_positive_rate=alpha)
    if not math.isfinite(factor.log + factor.variance):
        return replace(blank, sentence="Too few rows, or no distance that the data could show.")
    low, high = factor.interval(alpha)
    if p_value <= alpha:
        answer, finding = "no", words[0] if factor.log > 0.0 else words[1]
    elif -limit <= low and high <= limit:
        answer, finding = "yes", words[2]
    else:
        answer, finding = "cannot be told", "no sure difference"
    size, least, most = (math.exp(min(one, 700.0)) for one in (factor.log, low, high))
    return replace(
        blank,
        answer=answer,
        finding=finding,
        sentence=f"{blank.sentence} by {size:.3g} [{least:.3g}, {most:.3g}]: {finding}.",
        statistic=factor.log,
        interval=(low, high),
        p_value=p_value,
    )
