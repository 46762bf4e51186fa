"""Questions about gaps: are two groups apart, is an island real, are two groups one continuum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import check_parameters, message
from gnomon.evaluation.gaps.falls import BRIDGE
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.groups import RULES, check_groups, check_names
from gnomon.evaluation.verdict import Verdict
from gnomon.geometry.check import check_features

__all__ = ["are_apart", "is_continuum", "is_real"]


@entrance("are_apart", seeded=True)
def are_apart(
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    *,
    metric: str = "euclidean",
    bridge: float = BRIDGE,
    alpha: float = 0.05,
    max_rows: int = 1000,
    n_nulls: int = 99,
    names: tuple[str, str] = ("A", "B"),
    columns: Any = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Verdict:
    """Say whether two groups of rows, chosen in a map or otherwise, are apart in the data.

    They are apart if every path from the core of one to that of the other, by steps from row to row, crosses a place
    whose density is below `bridge` times that of the sparser core. Straight lines play no part: rings around each other
    are apart. The map only chooses the question.

    A group may hold several clouds, as the rest of a map does beside an island. Where as many rows of one as an eighth
    of the smaller group, and at least 15, lie in clouds of the other, these clouds decide, and the sentence says which
    shares of the groups they hold. Fewer rows, more than a fiftieth of a group, are told beside a gap. Groups whose
    clouds are all apart are, in whatever order these join; the fall told is that between the two that come nearest.

    The p-value compares the fall of density with the deepest one anywhere in tables without gaps, between any parts of
    as many rows: normal clouds with the covariance of the data, and tables of even density in as many dimensions as
    the data have locally; the larger p-value counts. So it holds for groups chosen by eye, whatever the
    choice. The interval is that of the fall as 15 neighbours tell it among as many rows. It is none of the density at a
    place, nor of a barrier of free energy, which it may miss on either side; see Notes.

    "No" is answered where a gap would have been seen. Either rows of both groups lie between them along the line that
    tells them apart best, and more of them than in tables of the same rows with a planted gap, whose line must tell;
    and neighbours tell the two hardly better than the line, by at most 0.1 of pairs in order. Or gaps planted between
    normal clouds of as many rows, in as many dimensions as the data have locally, show a deeper dip. Both hold but for
    `alpha` of tables. Else it cannot be told, and the interval has no upper end. Nor can it where hardly any row lies
    at one place along that line: a gap there is too narrow for densities of neighbours.

    And rows must be counted at the border, as near to a group as to all other rows: surely more of them, and of both
    sides, than `bridge` of those that lie beside it. So no is not answered where surely fewer do, and fewer than
    `bridge`, by 15, 8, 5 or 3 neighbours, as between thin rings or where groups meet without mixing in a place far
    denser than the rest of them. Nor where rows thin out there as between two clusters.

    "Yes" is answered by counts too, where 15 neighbours reach over a gap: by 5 neighbours surely fewer rows than
    `bridge` lie at the border, and the fall that these tell is deeper than any in tables without gaps, by twice the
    p-value. Then fall and interval are those of the counts.

    Tables that are mostly of columns of up to 12 values, such as answers to a questionnaire, are judged by the
    principal components that these columns share, each by the quantiles of a normal cloud that is cut to the same
    values. Groups that mostly differ in something else in these columns cannot be told.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map: what it alone would say is told beside the verdict, and has no part in it.
    a, b : array-like
        Row numbers, or masks of shape (n_samples,), without common rows. A group of fewer than 30 rows cannot be told.
    metric : {"euclidean", "cosine", "correlation", "hellinger", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data: of directions those of rows of length 1, centred under "correlation", roots of shares
        under "hellinger". Rows of zeros have no direction and are left out under the cosine and "hellinger". Columns
        with a period, such as "periodic(360)", are circles as long as the period, and places of "haversine" points of a
        sphere, whose chords are the distances: so there is no seam.
    bridge : float in (0, 1), default=0.25
        From which share of the sparser core's density on two groups count as joined.
    alpha : float in (0, 0.5), default=0.05
        How often "yes" may be answered where there is no gap.
    max_rows : int >= 60, default=1000
        Rows looked at: a random sample of more. Time and memory grow with its square.
    n_nulls : int >= 19, default=99
        Tables without gaps, of each of both kinds. No p-value is below 1 / (n_nulls + 1).
    names : tuple of two str, default=("A", "B")
        What the groups are called in the answer.
    columns : mapping of str to numbers of features, default=None
        The features of each column of the table by its name, such as all indicators of a category. Where up to three of
        them make a gap, the answer names them: each helps to tell its sides apart, and without them there is none.
        Features of none count by themselves, as all do for None; {} names none. Only under "euclidean". Where no gap
        can be told, columns are named that tell the groups apart by themselves, a value on each side, as labels would
        that were left in the table.
    random_state : int, Generator, RandomState or None, default=0
        Chooses sample and tables.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Verdict
        Its statistic is the fall of log density, and `unit` says by what it is told. `finding` is "two groups", "a
        continuum with a dip", "one group", or what keeps it from being told; then `told_apart` says how well a line
        tells held-out rows of the two apart, which is another question. Rows are taken as independent; `caution` says
        so where those that follow each other in the table are alike, as frames of a trajectory are.

    Raises
    ------
    ValueError
        If X, Y and the groups differ in rows, a row is in both groups, or `names` are not two.

    Notes
    -----
    The statistic is the logarithm of the distances to the 15th neighbour at the saddle over those at the lower peak,
    times one dimension for both, less the median fall of the tables without gaps. The interval has the width of the
    falls of these tables, or of the noise of one density where that is more.

    That is not the fall of the density itself. Where few rows lie between, 15 neighbours reach over to both sides, and
    what chance makes deepest anywhere is taken off: both make the figure too low. Columns of noise make it too high:
    near the peaks neighbours lie in all columns, at the saddle, where they are farther, in fewer, but the dimension of
    the whole table counts for both. For a rotor of 1,000 rows, in cosine and sine, whose barrier is 4 kT the statistic
    is 2.4, with three columns of noise of 0.1 beside them 5.2, and hardly any interval holds 4. What is held is the
    median of the statistic of such tables: each end missed it in 0 to 5 of 40 draws of eleven kinds of tables (rotors,
    and two normal clouds in 2 to 10 columns).

    References
    ----------
    .. [1] Chazal, Guibas, Oudot & Skraba, "Persistence-based clustering in Riemannian manifolds", J. ACM 60, 2013.
    .. [2] Campello, Moulavi & Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import are_apart
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:100, 0] += 12
    >>> are_apart(X, None, range(100), range(100, 200), n_nulls=19).answer
    'yes'
    """
    one, other = check_names(names, 2)
    options = {"metric": metric, "bridge": bridge, "alpha": alpha, "max_rows": max_rows, "n_nulls": n_nulls}
    checked, ground = _prepare(X, Y, columns, options)
    first, second = check_groups(ground.n_given, a=a, b=b)
    return ground.judge(first, second, (one, other), island=False, bridge=checked["bridge"], alpha=checked["alpha"])


@entrance("is_real", seeded=True)
def is_real(
    X: Any,
    Y: Any,
    island: Any,
    *,
    metric: str = "euclidean",
    bridge: float = BRIDGE,
    alpha: float = 0.05,
    max_rows: int = 1000,
    n_nulls: int = 99,
    name: str = "the island",
    columns: Any = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Verdict:
    """Say whether an island of a map is a group of its own in the data: apart from all other rows.

    It is judged as `are_apart` judges two groups; the other is whatever comes nearest of the rest. Of an island of 30
    rows and more, of which a random sample of `max_rows` would hold fewer, the rows looked at are its own and the
    nearest to it, all of these: what joins it with others is among them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map, for what it alone would say.
    island : array-like
        Row numbers, or a mask of shape (n_samples,); not all rows.
    metric : {"euclidean", "cosine", "correlation", "hellinger", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data: of directions those of rows of length 1, centred under "correlation", roots of shares
        under "hellinger". Rows of zeros have no direction and are left out under the cosine and "hellinger". Columns
        with a period, such as "periodic(360)", are circles as long as the period, and places of "haversine" points of a
        sphere, whose chords are the distances: so there is no seam.
    bridge : float in (0, 1), default=0.25
        From which share of the sparser core's density on it counts as joined.
    alpha : float in (0, 0.5), default=0.05
        How often "yes" may be answered where there is no gap.
    max_rows : int >= 60, default=1000
        Rows looked at: a random sample of more.
    n_nulls : int >= 19, default=99
        Tables without gaps, of each of both kinds.
    name : str, default="the island"
        What the island is called in the answer.
    columns : mapping of str to numbers of features, default=None
        The features of each column of the table by its name, such as all indicators of a category. Where up to three of
        them make a gap, the answer names them: each helps to tell its sides apart, and without them there is none.
        Features of none count by themselves, as all do for None; {} names none. Only under "euclidean".
    random_state : int, Generator, RandomState or None, default=0
        Chooses sample and tables.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If X, Y and the island differ in rows, or the island holds all rows.
    """
    options = {"metric": metric, "bridge": bridge, "alpha": alpha, "max_rows": max_rows, "n_nulls": n_nulls}
    (mask,) = check_groups(int(check_features(X, None)[0].shape[0]), island=island)
    if mask.all():
        raise ValueError(message("island with all rows", "a part of the rows"))
    checked, ground = _prepare(X, Y, columns, options, mask)
    return ground.judge(mask, ~mask, (name, "the rest"), island=True, bridge=checked["bridge"], alpha=checked["alpha"])


@entrance("is_continuum", seeded=True)
def is_continuum(X: Any, Y: Any, a: Any, b: Any, *, names: tuple[str, str] = ("A", "B"), **options: Any) -> Verdict:
    """Say whether two groups of rows are parts of one continuum, or two groups.

    The same judgement as `are_apart`, asked the other way: "yes" where the data go on from one to the other, evenly
    ("one group") or through a thinner place ("a continuum with a dip"), "no" where there is a gap ("two groups").

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map, for what it alone would say.
    a, b : array-like
        Row numbers, or masks of shape (n_samples,), without common rows.
    names : tuple of two str, default=("A", "B")
        What the groups are called in the answer.
    **options
        Further arguments of `are_apart`. Its `alpha` is how often "no" may be answered where there is no gap.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If X, Y and the groups differ in rows, a row is in both groups, or `names` are not two.
    """
    one, other = check_names(names, 2)
    found = are_apart(X, Y, a, b, names=(one, other), **options)
    turned = {"yes": "no", "no": "yes"}
    return replace(
        found,
        question=f"Are {one} and {other} one continuum?",
        answer=turned.get(found.answer, found.answer),
        in_map=None if found.in_map is None else turned[found.in_map],
    )


def _prepare(
    X: Any, Y: Any, columns: Any, options: dict[str, Any], around: Any = None
) -> tuple[dict[str, Any], Ground]:
    """Check what is common to the questions; `around` is a group that a sample may hold too few rows of."""
    checked = check_parameters({name: RULES[name] for name in options}, options)
    size = {name: checked[name] for name in ("metric", "max_rows", "n_nulls")}
    return checked, Ground.of(X, Y, seed=current_run().seed, ordered=True, columns=columns, around=around, **size)
