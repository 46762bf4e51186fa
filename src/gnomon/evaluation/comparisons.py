"""Verdicts that compare groups: is one denser than another, is one nearer to a second than to a third."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, log, row_distances
from gnomon._entrance import entrance
from gnomon._false_discoveries import normal_p_values
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Options, check_parameters
from gnomon.evaluation.centers import between_centers
from gnomon.evaluation.densities import (
    FEWEST_BALLS,
    ROUNDING,
    Densities,
    apart_balls,
    compare_equal_shares,
    dimension_of_groups,
    neighbors_of,
    some_rows,
)
from gnomon.evaluation.groups import RULES, check_groups, check_names
from gnomon.evaluation.judged_metrics import rows_with_direction, told_without
from gnomon.evaluation.paths import path_lengths
from gnomon.evaluation.scores import nearest_in_map
from gnomon.evaluation.sparse_distances import SparseProducts
from gnomon.evaluation.verdict import Verdict
from gnomon.geometry.check import check_features, check_places, has_place
from gnomon.neighbors import compute_neighbors
from gnomon.neighbors.independence import PAIRS, of_independent_rows
from gnomon.neighbors.straight import straight_rows

__all__ = ["is_denser", "is_nearer"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

Blocks = tuple[list[Floats], list[Floats]]

_RULES = {**RULES, "n_neighbors": Integer(5), "max_rows": Integer(20), "along": Options("both", "lines", "data")}
_ALONG = {"lines": "in straight lines", "data": "along the data"}
_PATH_ROWS = 400  # of each group, and of all others, that paths go over
_FEWEST_ROWS = 10


def _answer(low: float, high: float) -> str:
    """Return the answer that an interval gives: an answer if it is on one side of 0."""
    return "yes" if low > 0.0 else "no" if high < 0.0 else "cannot be told"


@entrance("is_denser", seeded=True)
@of_independent_rows(PAIRS)
def is_denser(
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    *,
    metric: str = "euclidean",
    n_neighbors: int = 10,
    alpha: float = 0.05,
    max_rows: int = 5000,
    names: tuple[str, str] = ("A", "B"),
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Verdict:
    """Say whether rows lie more densely in one group than in another: more rows to a volume of the data.

    Around rows of each group, so chosen that their neighbourhoods have no row in common, the distance r to the k-th
    neighbour is measured. The logarithm of the density ratio is d times the difference of the means of log r, d the
    intrinsic dimension; Welch's t-test compares the means. Around one place the volume r^d has a gamma distribution of
    shape k [1]_, so that log r is close to normal. d is that of `gnomon.intrinsic_dimension`, of 500 rows of each group
    at most, and the interval of the ratio allows for that of d, which has no upper end if both groups have fewer than
    40 rows.

    Of a group of few rows more lie near its border, where part of a neighbourhood is empty, so that it seems less
    dense. If one group has 1.25 times as many rows as the other or more, it is therefore also looked at among as many
    times more neighbours, an equal share of it, and an answer is given only if both ways give it. See Notes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map, for what it alone would say.
    a, b : array-like
        Row numbers, or masks of shape (n_samples,), without common rows. Each must have room for 3 neighbourhoods.
    metric : {"euclidean", "cosine", "correlation", "hellinger", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data: of directions those of rows of length 1, centred under "correlation", roots of shares
        under "hellinger". Rows of zeros have no direction and are left out under the cosine and "hellinger". Columns
        with a period, such as "periodic(360)", are circles as long as the period, and places of "haversine" points of a
        sphere, whose chords are the distances: so there is no seam.
    n_neighbors : int in [5, n_samples - 1], default=10
        k, the row itself not counted.
    alpha : float in (0, 0.5), default=0.05
        How often an answer other than "cannot be told" may be given to groups of one density.
    max_rows : int >= 20, default=5000
        Rows whose neighbours, among all rows, are looked for: those of a table of as many rows; of a larger one those
        of both groups, a random sample of half as many rows of each. Equal shares are looked for around 2500 rows.
    names : tuple of two str, default=("A", "B")
        What the groups are called in the answer.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the neighbourhoods.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Verdict
        Its statistic is the logarithm of the density of `a` over that of `b`, by the k-th neighbours of both.

    Raises
    ------
    ValueError
        If X, Y and the groups differ in rows, a row is in both groups, or `names` are not two.

    Notes
    -----
    Of two evenly filled cubes of one density, of 200 and 2,000 rows in five and in eight dimensions, 100 and 1,000 in
    five, 200 and 1,000 in three, none of 40 draws each had an answer; by the 10th neighbours alone 46 %, 30 %, 20 % and
    11 % would. Of a normal cloud and another twice as wide, of 300 rows each in 5, 10 and 20 columns, the interval of
    95 % held the ratio in 40 of 40 draws each: it is wide, as the error of the dimension counts as often as neighbours
    are farther. Unlike numbers cost power: of two normal clouds as wide, of 200 and 1,000 rows in five columns, the
    denser one was told in 6 of 40 draws. Groups of as many rows whose shapes differ, such as a ball and a thin sheet,
    differ by their borders too, and nothing is done about that.

    References
    ----------
    .. [1] Loftsgaarden & Quesenberry, "A nonparametric estimate of a multivariate density function", Ann. Math. Stat.
       36, 1965.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import is_denser
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> X[:200] = 5 * X[:200] + 50
    >>> is_denser(X, None, range(200, 400), range(200)).answer
    'yes'
    """
    one, other = check_names(names, 2)
    given = {"metric": metric, "n_neighbors": n_neighbors, "alpha": alpha, "max_rows": max_rows}
    checked = check_parameters({name: _RULES[name] for name in given}, given)
    values, _ = check_features(X, None)
    k, alpha = checked["n_neighbors"], checked["alpha"]
    values, Y, (first, second), n_zero = _with_direction(values, Y, checked["metric"], a=a, b=b)
    n = int(values.shape[0])
    draw = np.random.default_rng(current_run().seed)
    if n <= checked["max_rows"]:
        graph = compute_neighbors(values, k, metric=checked["metric"])
        rows, indices, found = np.arange(n), np.asarray(graph.indices), graph.distances
    else:
        rows = np.sort(np.concatenate([some_rows(mask, checked["max_rows"] // 2, draw) for mask in (first, second)]))
        indices, found = neighbors_of(values, rows, k, checked["metric"])
    distances = np.asarray(found, dtype=np.float64)
    near = np.column_stack([rows, indices])
    balls = [apart_balls(draw.permutation(np.flatnonzero(mask[rows])), near, n) for mask in (first, second)]
    balls = [chosen[distances[chosen, -1] > 0.0] for chosen in balls]
    sizes = [len(chosen) for chosen in balls]
    blank = Verdict(
        question=f"Is {one} denser than {other}?",
        answer="cannot be told",
        finding="too few rows",
        sentence=f"{one} or {other} has no room for {FEWEST_BALLS} neighbourhoods of {k} rows: more rows would tell.",
        in_map=_denser_in_map(Y, n, k, first, second),
        statistic=math.nan,
        unit="log of the ratio of densities",
        interval=(math.nan, math.nan),
        p_value=math.nan,
        null="groups of one density",
        false_positive_rate=alpha,
        rests_on=f"{sizes[0]} and {sizes[1]} neighbourhoods of {k} rows without common rows{told_without(n_zero)}",
    )
    if min(sizes) < FEWEST_BALLS:
        return blank
    dimension = dimension_of_groups(values, (first, second), checked["metric"], distances, alpha, draw)
    logs = [log(distances[chosen, -1]) for chosen in balls]
    alike = Densities.of(logs[0], logs[1])
    shares = compare_equal_shares(values, (first, second), logs, checked["metric"], k, draw)
    ways = [alike] if shares is None else [alike, shares]
    ends = [way.interval(dimension, alpha) for way in ways]
    interval = min(low for low, _ in ends), max(high for _, high in ends)
    answer, sure = _answer(*interval), _answer(*ends[0]) != "cannot be told"
    statistic = dimension.value * alike.closer
    ratio, least, most = (float(exp(one)) for one in (statistic, *interval))
    sentence = (
        f"Neighbours in {other} lie {math.exp(alike.closer):.3g} times as far from each other as in {one}"
        if sure
        else f"Neighbours lie about as far from each other in {one} as in {other}, as far as so many rows tell"
    ) + (
        f"; in {_with_ends(dimension.value, dimension.low, dimension.high, '.2g')} dimensions that is a ratio of "
        f"densities of {_with_ends(ratio, least, most, '.3g')}."
    )
    if sure and answer == "cannot be told":
        sentence += " Among neighbours that are equal shares of the groups, which borders leave alike, it is not sure."
    return replace(
        blank,
        answer=answer,
        finding={"yes": f"{one} is denser", "no": f"{other} is denser"}.get(answer, "no sure difference"),
        sentence=sentence,
        statistic=statistic,
        interval=interval,
        p_value=max(way.p_value(dimension) for way in ways),
    )


def _with_direction(values: Any, Y: Any, metric: str, **groups: Any) -> tuple[Any, Any, list[Mask], int]:
    """Return table, places and masks of groups without rows that have no direction, and how many these are."""
    masks, n = check_groups(int(values.shape[0]), **groups), int(values.shape[0])
    rows = rows_with_direction(values, metric)
    if len(rows) == n:
        return values, Y, masks, 0
    places = None if Y is None else check_places(Y, n)[rows]
    return values[rows], places, [mask[rows] for mask in masks], n - len(rows)


def _with_ends(value: float, low: float, high: float, digits: str) -> str:
    return f"{value:{digits}} [{low:{digits}}, {high:{digits}}]"


def _denser_in_map(Y: Any, n: int, k: int, a: Mask, b: Mask) -> str | None:
    """Return whether rows of `a` lie closer in the map."""
    if Y is None:
        return None
    places = check_places(Y, n)
    placed = has_place(places)
    places, a, b = places[placed], a[placed], b[placed]
    if len(places) <= k or not a.any() or not b.any():
        return None
    far = np.linalg.norm(places[nearest_in_map(places, k)[:, -1]] - places, axis=1)
    return "yes" if np.median(far[a]) < np.median(far[b]) else "no"


@entrance("is_nearer", seeded=True)
@of_independent_rows(PAIRS)
def is_nearer(
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    c: Any,
    *,
    metric: str = "euclidean",
    along: str = "both",
    alpha: float = 0.05,
    max_rows: int = 1000,
    names: tuple[str, str, str] = ("A", "B", "C"),
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Verdict:
    """Say whether one group is nearer to a second than to a third, in the data.

    The distance of two groups is that of their centres, in units of the data: its square is the mean square of the
    distances across them, less half the mean squares within each, an energy distance of squares [1]_. In straight lines
    that is the distance of the means, without what so few rows add to it by chance. So a wide group is neither far nor
    near for being wide, and groups around one centre, such as a disc and a ring, are at no distance. The interval is
    that of the normal limit of these means over pairs [2]_, with the variance that rows of all three groups bring.

    Distances are those of straight lines, or of the shortest paths from row to near row [3]_. The two differ where the
    data are curved: two turns of a roll are near by straight lines and far along it. Maps by neighbours follow paths.
    Each step of a path goes the way of the noise too, which makes paths longer than what they follow.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map, for what it alone would say.
    a, b, c : array-like
        Row numbers, or masks of shape (n_samples,), without common rows, of at least 10 rows.
    metric : {"euclidean", "cosine", "correlation", "hellinger", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data, as for `are_apart`: of directions those of rows of unit length, without rows of zeros,
        which have none; columns with a period are circles as long as the period, and places of "haversine" points of a
        sphere, whose chords are the distances: so there is no seam.
    along : {"both", "lines", "data"}, default="both"
        Which distances count: those of straight lines, those of paths along the data, or both: then figures and answer
        are those of straight lines, but where paths say surely the opposite it "cannot be told" and the sentence names
        both. Paths go over 400 rows of each group and 400 others at most, by steps to one of 10 neighbours; with the
        cosine metric, and others of directions, their steps are those of rows of unit length.
    alpha : float in (0, 0.5), default=0.05
        How often an answer other than "cannot be told" may be given where both are as far.
    max_rows : int >= 20, default=1000
        Rows looked at of each group: a random sample of more.
    names : tuple of three str, default=("A", "B", "C")
        What the groups are called in the answer.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the samples.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Verdict
        Its statistic is how much farther `c` is from `a` than `b` is, in units of the distances.

    Raises
    ------
    ValueError
        If X, Y and the groups differ in rows, a row is in two groups, or `names` are not three.

    References
    ----------
    .. [1] Székely & Rizzo, "Energy statistics: a class of statistics based on distances", J. Stat. Plan. Inference 143,
       2013.
    .. [2] Hoeffding, "A class of statistics with asymptotically normal distribution", Ann. Math. Stat. 19, 1948.
    .. [3] Tenenbaum, de Silva & Langford, "A global geometric framework for nonlinear dimensionality reduction",
       Science 290, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import is_nearer
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[100:200, 0] += 5
    >>> X[200:, 0] += 30
    >>> is_nearer(X, None, range(100), range(100, 200), range(200, 300)).answer
    'yes'
    """
    one, near, far = check_names(names, 3)
    given = {"metric": metric, "alpha": alpha, "max_rows": max_rows, "along": along}
    checked = check_parameters({name: _RULES[name] for name in given}, given)
    values, _ = check_features(X, None)
    values, Y, masks, n_zero = _with_direction(values, Y, checked["metric"], a=a, b=b, c=c)
    n, alpha = int(values.shape[0]), checked["alpha"]
    draw = np.random.default_rng(current_run().seed)
    rows = [np.flatnonzero(mask) for mask in masks]
    rows = [np.sort(draw.choice(one, min(len(one), checked["max_rows"]), replace=False)) for one in rows]
    most = _PATH_ROWS if checked["along"] == "data" else n
    looked_at = [min(len(chosen), most) for chosen in rows]
    blank = Verdict(
        question=f"Is {one} nearer to {near} than to {far}?",
        answer="cannot be told",
        finding="too few rows",
        sentence=f"A group has fewer than {_FEWEST_ROWS} rows: more would tell.",
        in_map=_nearer_in_map(Y, n, rows),
        statistic=math.nan,
        unit=f"difference of the distances {_ALONG.get(checked['along'], _ALONG['lines'])}",
        interval=(math.nan, math.nan),
        p_value=math.nan,
        null=f"{near} and {far} equally far from {one}",
        false_positive_rate=alpha,
        rests_on=f"{looked_at[0]}, {looked_at[1]} and {looked_at[2]} rows, all pairs of them{told_without(n_zero)}",
    )
    if min(len(chosen) for chosen in rows) < _FEWEST_ROWS:
        return blank
    ways: dict[str, tuple[tuple[float, float], float]] = {}
    if checked["along"] != "data":
        groups = [values[chosen].astype(np.float64) for chosen in rows]
        ways["lines"] = _difference(_straight(groups, checked["metric"]))
    if checked["along"] != "lines":
        ways["data"] = _difference(_along_data(values, rows, checked["metric"], draw))
    quantile = float(-scipy.special.ndtri(alpha / 2.0))
    ends = {
        way: (far - near - quantile * spread, far - near + quantile * spread)
        for way, ((near, far), spread) in ways.items()
    }
    answers = {way: _answer(*interval) for way, interval in ends.items()}
    way, (distances, spread) = next(iter(ways.items()))
    statistic = distances[1] - distances[0]
    finding = {"yes": f"{one} is nearer to {near}", "no": f"{one} is nearer to {far}"}.get(answers[way])
    answer = answers[way]
    agree = (
        len(ways) > 1 and len(set(answers.values())) == 1
    )  # then the lengths of paths, with noise in each step, are left
    said = [f"{to[0]:.3g} to {near}, {to[1]:.3g} to {far} {_ALONG[way]}" for way, (to, _) in ways.items()]
    told = said[0] if agree else " and ".join(said)
    sentence = f"From the centre of {one} it is {told}, in units of the data."
    if set(answers.values()) == {"yes", "no"}:
        answer, finding = "cannot be told", "straight lines and paths along the data disagree"
        sentence += " Name the distance that you mean: along='lines' or along='data'."
    elif answer == "cannot be told":
        sentence += " The difference is within what so many rows tell."
    elif agree:
        sentence += " Paths along the data have the same order."
    return replace(
        blank,
        answer=answer,
        finding=finding or "no sure difference",
        sentence=sentence,
        statistic=statistic,
        interval=ends[way],
        p_value=float(normal_p_values(abs(statistic) / spread)),
    )


def _straight(groups: list[Any], metric: Any) -> Blocks:
    """Return the distances of the first group to the two others, and those within all three.

    Sparse rows are not written out but under angles and correlations.
    """
    if not isinstance(groups[0], np.ndarray) and metric in ("euclidean", "cosine"):
        return _of_products(groups, metric)

    groups = [straight_rows(group, metric) for group in groups]
    if not isinstance(groups[0], np.ndarray):
        return _of_products(groups, "euclidean")
    pairs = [row_distances(groups[0], group) for group in groups[1:]]
    return pairs, [row_distances(one, one) for one in groups]


def _of_products(groups: list[Any], metric: str) -> Blocks:
    """Return the same of sparse rows."""
    ends = np.cumsum([0, *(group.shape[0] for group in groups)])
    parts = [slice(start, stop) for start, stop in itertools.pairwise(ends)]
    products = SparseProducts(scipy.sparse.vstack(groups, format="csr"), metric, np.float64)

    def between(one: slice, wanted: list[slice]) -> list[Floats]:
        found = products(np.arange(one.start, one.stop))
        if metric == "cosine":
            found *= 2.0  # the square of the chord
        np.sqrt(np.maximum(found, 0.0, out=found), out=found)
        np.fill_diagonal(found[:, one], 0.0)
        return [found[:, other].copy() for other in wanted]

    own, *pairs = between(parts[0], parts)
    return pairs, [own, *(between(part, [part])[0] for part in parts[1:])]


def _along_data(values: Any, rows: list[npt.NDArray[np.int64]], metric: str, draw: np.random.Generator) -> Blocks:
    """Return the same along paths through some rows of each group and some of all other rows."""
    few = [np.sort(draw.choice(one, min(len(one), _PATH_ROWS), replace=False)) for one in rows]
    rest = np.setdiff1d(np.arange(values.shape[0]), np.concatenate(few))
    rest = np.sort(draw.choice(rest, min(len(rest), _PATH_ROWS), replace=False))
    lengths = path_lengths(straight_rows(values[np.concatenate([*few, rest])], metric))
    ends = np.cumsum([0, *map(len, few)])
    parts = [slice(start, stop) for start, stop in itertools.pairwise(ends)]
    return [lengths[parts[0], part] for part in parts[1:]], [lengths[part, part] for part in parts]


def _difference(blocks: Blocks) -> tuple[tuple[float, float], float]:
    """Return how far the centres of the two other groups are from that of the first, and the error of the difference.

    The difference of the squares is normal in the limit, with the variance that rows of all three bring; it is divided
    by the sum of the distances. The error is at least what rounding may add.
    """
    pairs, own = blocks
    (nearer, of_near), (farther, of_far) = (
        between_centers(pair, own[0], mine) for pair, mine in zip(pairs, own[1:], strict=True)
    )
    shares = [of_far[0] - of_near[0], of_near[1], of_far[1]]  # the first group's own width cancels
    variance = sum(float(np.var(share, ddof=1)) / len(share) for share in shares)
    near, far = (math.sqrt(max(square, 0.0)) for square in (nearer, farther))
    # Centres at one place are as far as chance leads, whose square is of the size of the error.
    size = max(near + far, variance**0.25)
    least = ROUNDING * max(math.sqrt(float(np.square(pair).mean())) for pair in pairs)
    error = math.sqrt(variance) / size if size > 0.0 else 0.0
    return (near, far), max(error, least or float(np.finfo(np.float64).tiny))


def _nearer_in_map(Y: Any, n: int, rows: list[npt.NDArray[np.int64]]) -> str | None:
    """Return which group is nearer in the map, by the same distance."""
    if Y is None:
        return None
    places = check_places(Y, n)
    placed = [one[np.isfinite(places[one, 0])] for one in rows]
    if min(len(one) for one in placed) < 2:
        return None
    (near, far), _ = _difference(_straight([places[one] for one in placed], "euclidean"))
    return "yes" if near < far else "no"
