"""Captions that tell clusters from each other, by the mean and the spread of every feature in every cluster."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Either, Integer, Nothing, Real, Rule, check_parameters, message
from gnomon.explanations.answer import AnswersByLabel, Column, GroupedAnswer
from gnomon.explanations.collinear import FeatureGroups, check_groups
from gnomon.explanations.contrast.errors import effect_size_errors, rates_of_chance
from gnomon.explanations.contrast.few_rows import FewRows
from gnomon.explanations.contrast.groups import group_contrasts
from gnomon.explanations.contrast.held_out import Repeats
from gnomon.explanations.contrast.known import check_known, few_known
from gnomon.explanations.contrast.moments import ClusterMoments, cluster_moments, with_shares
from gnomon.explanations.contrast.regions import region_means
from gnomon.explanations.contrast.result import NOTHING_APART
from gnomon.explanations.contrast.units import FEWEST_UNITS, UnitSums, check_units, told_of_too_few
from gnomon.explanations.rows import classes_of
from gnomon.geometry.check import check_features
from gnomon.neighbors.independence import FEATURES, of_independent_rows

__all__ = ["Caption", "cluster_captions"]

Array = npt.NDArray[np.float64]
_LARGE = 0.8  # Cohen's "large" difference, in standard deviations
_MEDIUM = 0.5  # Cohen's "medium" one: of a second choice, and of what a phrase tells besides
_NOTICEABLE = 0.3  # below this two clusters are not told apart at all
_RULES: dict[str, Rule] = {
    "n_phrases": Integer(1),
    "alpha": Either(Real(0.0, 1.0, low_open=True, high_open=True), Nothing()),
}
_SMALL = 0.25  # of the largest cluster that another phrase is about: a phrase about smaller ones does not lead
_CEILING = 3.0  # a difference beyond this separates no better
_TOGETHER = " against all others together"  # the end of a caption that is true of no single other cluster
_UNTOLD = 3  # clusters that a printed caption lists as those from which it does not tell


class _Least(NamedTuple):
    """How large a difference by what a cluster has must be to be told instead of what it lacks."""

    share: float  # of that by what it lacks
    ceiling: float  # of that by what it lacks, in standard deviations
    floor: float


_OF_SEVERAL = _Least(0.5, np.inf, _MEDIUM)  # where a name would list what the cluster lacks, or not tell it
_OF_ONE = _Least(2 / 3, _CEILING, _LARGE)  # where one lack tells it from all: an AUC of 0.92 instead of 0.98


@dataclass(frozen=True, kw_only=True)
class Caption(GroupedAnswer):
    """What tells a cluster from the other clusters, in a few words.

    ``str`` gives the words, and behind them the clusters from which they do not tell it: "low price (not told from B)".

    Attributes
    ----------
    label : object
        The cluster.
    text : str
        The caption.
    effect : ndarray of shape (n_phrases,), float64
        For each feature named: the smallest difference of means, in standard deviations of the two clusters, from the
        clusters that this feature sets it apart from; negative for "low".
    error : ndarray of shape (n_phrases,), float64
        Its standard error, for clusters that may vary differently (Bonett).
    against : list of list
        For each feature named: those clusters; none where no feature tells the cluster from a single other, and those
        that differ from all others together, by 0.8, are named. A feature is named for clusters from which it differs
        by 0.8 standard deviations, or 0.5 of a second choice; a cluster for which none was is listed with the feature
        that differs most from it, by 0.5 or more.
    unseparated : list
        Clusters from which no feature named sets it apart by 0.5 standard deviations or more.
    fidelity : float in [0, 1]
        Share of the other clusters from which a feature named sets it apart by such a difference.
    n_units : int or None
        Units, such as donors, with rows in the cluster; None where rows are taken as independent.
    untold : list
        Clusters, among `unseparated`, with too few units to tell what sets this one apart from them: fewer than 3 on a
        side and on both.
    """

    _question: ClassVar[str] = "caption"
    _per_feature: ClassVar[tuple[str, ...]] = ("against",)
    _facts: ClassVar[tuple[str, ...]] = ("label", "text", "unseparated")
    _columns: ClassVar[tuple[Column, ...]] = (Column("gap (SD)", "effect", "error"), Column("apart from", "against"))

    label: Any
    text: str
    against: list[list[Any]]
    unseparated: list[Any]
    n_units: int | None = None
    untold: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.text}{self._untold()}"

    def _untold(self) -> str:
        """Return from which clusters the words do not tell, but for the one that they end with; empty if none."""
        left = [h for h in self.unseparated if not self.text.endswith((f" like {h}", f" than {h}"))]
        if not len(self) or not left or _TOGETHER in self.text:
            return ""
        more = len(left) - _UNTOLD
        listed = left if more <= 1 else left[:_UNTOLD]
        names = ", ".join(map(str, listed))
        return f" (not told from {names})" if listed is left else f" (not told from {names} and {more} others)"

    def to_dict(self) -> dict[str, Any]:
        """Return the caption with plain Python values; "n_units" and "untold" only if units were given."""
        units = {} if self.n_units is None else {"n_units": self.n_units, "untold": self.untold}
        return {**super().to_dict(), **units}


@entrance("cluster_captions")
@of_independent_rows(FEATURES, by_units=True, when=lambda found: any(len(one) for one in found.values()))
def cluster_captions(
    X: Any,
    labels: Any,
    *,
    n_phrases: int = 3,
    feature_names: Any = None,
    image_shape: tuple[int, ...] | None = None,
    groups: FeatureGroups | None = None,
    units: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    alpha: float | None = 0.05,
) -> AnswersByLabel[Caption]:
    """Name each cluster by what tells it from the other clusters: "high CD3D, low LYZ".

    Where `cluster_profiles` compares a cluster with all other rows at once, a caption must set it apart from each
    other cluster. Phrases are chosen one after the other; each is the feature that sets the cluster apart, by
    at least 0.8 standard deviations of the two, from the most clusters that the phrases before it do not. Clusters of
    less than a tenth of the mean size decide only where no other is left: they may take a further phrase; and phrases
    that tell only from clusters of less than a quarter of the size of others that a phrase is about come last. "High"
    is said only of a mean above the mean of all clusters but these, "low" only below, "medium" only where clusters lie
    on both sides and no high or low sets it apart from as many. Of a feature of two values, such as a yes or no, "high"
    is said only where most rows of the cluster have the higher one, and "low" only where most have not; where no such
    phrase is left, the share is told: "27% have CD3D". What a cluster is high in goes before what it is low in: before
    one phrase that tells it from all others if it says two thirds as much at least, of the first three standard
    deviations, and before several if it says half as much. If two captions come out the same although the data of the
    two clusters differ, each says how it differs from the other. A cluster that no feature tells from a single other is
    named by what `contrast` finds: "high CD3D against all others together".

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least two different ones. Rows whose label is None, NaN or an empty text take no
        part.
    n_phrases : int >= 1, default=3
        Phrases of a caption at most.
    feature_names : sequence of n_features str, default=None
        By default the columns of a data frame, else "feature 0" and so on.
    image_shape : tuple of int, default=None
        (height, width[, channels]) if the features are pixels: captions then speak of nine regions of the picture,
        such as "bright top left, dark centre".
    groups : FeatureGroups, default=None
        What `group_features` found in an explanation of the same rows: features that are collinear along the map are
        named as one, "high area + 2 alike". Not with image_shape.
    units : array-like of shape (n_samples,), default=None
        What was drawn independently, such as the donor of each cell, as in `contrast`: name only features whose
        differences are no chance between these, by Student's test of their means: of at least 3 with rows in both of
        two clusters by the difference of their two means, else of those with rows in one. From a cluster with fewer it
        cannot be told. Gaps are those of the rows all the same. None takes every row as independent. Not with `groups`
        nor alpha=None.
    known : array-like of shape (n_samples, n_features), bool, default=None
        Which values were there before missing ones were filled in: a cluster of which fewer than half of the rows have
        one of a feature, as those that were not asked, is neither named by it nor told by it from others. Not with
        `groups` nor image_shape. None takes all.
    alpha : float in (0, 1) or None, default=0.05
        Name only features whose differences are no chance, between rows that do not repeat others: at this rate of
        false discoveries [2]_, which clusters share by two (of ten clusters each has a fifth of it), among all features
        and other clusters, by Welch's test [1]_ and Student's, of which the larger p-value counts; between two to four
        rows and 20 or more by their ranks, as `contrast` does, of at most 1,000 rows. It holds for clusters that were
        not found in these rows, also of few rows, skewed numbers and yes or no; of two clusters of eight rows each and
        50 features of yes or no one was named by chance in 14 % of tables. None does not test.

    Returns
    -------
    AnswersByLabel
        A dict of label to Caption in the order of the sorted labels; `print` shows the texts, and with `units` a line
        that says between how many chance was judged. Like every description of
        clusters that were chosen by looking at these rows, no test.

    References
    ----------
    .. [1] Welch, "The generalization of Student's problem when several different population variances are involved",
       Biometrika 34, 1947.
    .. [2] Benjamini & Hochberg, "Controlling the false discovery rate", JRSS B 57, 1995.
    """
    checked = check_parameters(_RULES, {"n_phrases": n_phrases, "alpha": alpha}, ["n_phrases", "alpha"])
    n_phrases = checked["n_phrases"]
    values, names = check_features(X, feature_names)
    given = values
    words = ("high", "low", "medium")
    owners = check_units(units, int(values.shape[0]), groups)
    if owners is not None and checked["alpha"] is None:
        raise ValueError(message("alpha=None", "a rate where units are given, between which chance is judged"))
    collinear = check_groups(groups)
    if collinear is not None and image_shape is not None:
        raise ValueError(message("groups of features with image_shape", "left out", remedy="Pass one of the two."))
    if collinear is not None and collinear.groups:
        values, names = collinear.joined(values), collinear.explanation.feature_names
    if image_shape is not None:
        values, names = region_means(values, image_shape)
        words = ("bright", "dark", "grey")
    classes = classes_of(labels, int(values.shape[0]))
    there = check_known(known, values.shape, groups=groups is not None or image_shape is not None)
    rate = checked["alpha"] if checked["alpha"] is None else checked["alpha"] * min(1.0, 2.0 / len(classes))
    moments = cluster_moments(values, classes.codes, len(classes), rate)
    if owners is not None:
        moments = replace(moments, units=UnitSums.of(values, classes.codes, owners))
    elif moments.alpha is not None:
        moments = _of_distinct_rows(moments, given, values, classes.codes)
    moments = with_shares(moments, values, np.flatnonzero(classes.codes >= 0))
    if there is not None:
        moments = replace(moments, unknown=few_known(there, classes.codes, len(classes)))
    listed = classes.values
    captions = [_caption(g, moments, listed, names, words, n_phrases) for g in range(len(classes))]
    if moments.units is None and checked["alpha"] is not None:
        captions = _against_all(captions, values, classes.codes, moments, names, words, n_phrases, checked["alpha"])
    told = _told_apart(captions, moments, listed, names)
    answers = AnswersByLabel(zip(listed, told if collinear is None else map(collinear.label, told), strict=True))
    if moments.units is not None:
        answers.caution = _told_of_units(moments.units, captions)
    return answers


def _of_distinct_rows(
    moments: ClusterMoments, given: Any, values: Any, codes: npt.NDArray[np.integer[Any]]
) -> ClusterMoments:
    """Let chance be judged between rows that do not repeat others, as copies and views of one image do."""
    n_classes = len(moments.sizes)
    repeats = Repeats.of(given, codes.astype(np.int32), n_classes)
    if repeats is None:
        return replace(moments, few=FewRows.of(values, codes, n_classes))
    distinct = np.array([repeats.distinct(codes == g) for g in range(n_classes)], dtype=np.int64)
    return replace(moments, distinct=distinct, few=FewRows.of(values, repeats.without(codes), n_classes))


def _told_of_units(units: UnitSums, captions: list[Caption]) -> str:
    """Say between how many units chance is judged, and how many pairs of clusters have too few of them."""
    text = f"Chance is judged between units, {len(np.unique(units.owners))} in all"
    n_untold, n_pairs = sum(len(one.untold) for one in captions) // 2, len(captions) * (len(captions) - 1) // 2
    if n_untold:
        text += f", which are too few for {n_untold} of {n_pairs} pairs of labels: each side needs {FEWEST_UNITS}"
    return f"{text}."


def _caption(
    g: int, moments: ClusterMoments, labels: list[Any], names: list[str], words: tuple[str, str, str], n_phrases: int
) -> Caption:
    gaps = moments.gaps(g)  # (n_clusters, n_features), of g over each other
    large = moments.are_large(g)
    among = large.copy()
    among[g] = True
    side = moments.sides(g, among)
    ahead = np.where(side > 0, gaps, np.where(side < 0, -gaps, 0.0))  # a product would make NaN of infinite times 0
    agreed = np.maximum(ahead, 0.0)  # only differences in the direction that the word will state
    inner = (gaps >= _LARGE).any(axis=0) & (gaps <= -_LARGE).any(axis=0) & ~moments.has_two_values()
    of_few = moments.says_of_few(g, side)
    medium = np.where(inner, np.abs(gaps), 0.0)  # both directions, where others lie on both sides

    def word(f: int) -> str:
        if of_few[f]:
            return moments.share_told(g, f, words[0], only=bool(side[f] < 0))
        return words[0] if side[f] > 0 else words[1]

    left = np.arange(len(labels)) != g
    chosen: list[int] = []
    said: list[str] = []
    against: list[npt.NDArray[np.intp]] = []
    while left.any() and len(chosen) < n_phrases:
        plain, between = (_best_feature(one, left, large) for one in (np.where(of_few, 0.0, agreed), medium))
        (count, f, rows), middle = (between, True) if between[0] > plain[0] else (plain, False)
        if count == 0:
            count, f, rows = _best_feature(agreed, left, large)  # true of few rows, but nothing true of most is left
        if count == 0:
            break
        chosen.append(f)
        against.append(rows)
        said.append(words[2] if middle else word(f))
        left[rows] = False
    n_said = len(chosen) + int(np.count_nonzero(left))
    lows = all(word == words[1] for word in said) and (bool(chosen) or n_said > 1)
    told, least = (np.where(of_few, 0.0, agreed), _OF_ONE) if n_said == 1 else (agreed, _OF_SEVERAL)
    second = _second_choice(chosen, against, left, large, told, side, n_phrases, least) if lows else None
    ahead_of = [np.abs(gaps[:, f]) if one == words[2] else agreed[:, f] for f, one in zip(chosen, said, strict=True)]
    against, left = _with_smaller(against, left, ahead_of)
    if second and (np.count_nonzero(second[2]), len(second[0])) <= (np.count_nonzero(left), len(chosen) or n_phrases):
        chosen, against, left = second
        said = [word(f) for f in chosen]
    order = _leading_first(against, moments.sizes)
    chosen, said, against = [chosen[k] for k in order], [said[k] for k in order], [against[k] for k in order]
    smallest = [rows[np.argmin(np.abs(gaps[rows, f]))] for f, rows in zip(chosen, against, strict=True)]
    effect = np.array([gaps[h, f] for f, h in zip(chosen, smallest, strict=True)])
    errors = [moments.gap_error(e, g, int(h), f) for e, f, h in zip(effect.tolist(), chosen, smallest, strict=True)]
    phrases = [f"{word} {names[f]}" for word, f in zip(said, chosen, strict=True)]
    units, untold, nothing = moments.units, moments.untold(g), NOTHING_APART
    if units is not None and len(untold) == len(labels) - 1:
        nothing = told_of_too_few(max((units.n_units(g, h) for h in untold), key=lambda of: (min(of), max(of))))
    return Caption(
        features=[names[f] for f in chosen],
        indices=np.array(chosen, dtype=np.int64),
        effect=effect,
        error=np.array(errors),
        fidelity=1.0 - float(np.count_nonzero(left)) / (len(labels) - 1),
        label=labels[g],
        text=", ".join(phrases) or nothing,
        against=[[labels[h] for h in rows] for rows in against],
        unseparated=[labels[h] for h in np.flatnonzero(left)],
        n_units=None if units is None else int(np.count_nonzero(units.groups == g)),
        untold=[labels[h] for h in untold],
    )


def _against_all(
    captions: list[Caption],
    X: Any,
    groups: npt.NDArray[np.integer[Any]],
    moments: ClusterMoments,
    names: list[str],
    words: tuple[str, str, str],
    n_phrases: int,
    alpha: float,
) -> list[Caption]:
    """Name clusters that no feature tells from a single other by what `contrast` finds against all others together."""
    bare = [g for g, caption in enumerate(captions) if not len(caption)]
    if not bare or len(captions) == 2:
        return captions
    named = list(captions)
    contrasts = group_contrasts(X, groups.astype(np.int32), len(captions))
    auc, mean, rest_mean, effects, variances, rest_variances, spread, rest_spread = contrasts
    for g in bare:
        sizes = int(moments.counted[g]), int(moments.counted.sum() - moments.counted[g])
        side, effect = np.sign(auc[g] - 0.5), effects[g]
        found = (rates_of_chance(auc[g], sizes, (spread[g], rest_spread[g])) <= alpha) & (side * effect >= _LARGE)
        if moments.unknown is not None:
            found &= ~moments.unknown.any(axis=0)
        order = np.lexsort((-np.abs(effect), -np.abs(auc[g] - 0.5)))
        chosen = order[found[order]][:n_phrases]
        if len(chosen):
            of_few = moments.says_of_few(g, side)
            told = [
                moments.share_told(g, f, words[0], only=bool(side[f] < 0)) if of_few[f] else words[int(side[f] < 0)]
                for f in chosen
            ]
            phrases = ", ".join(f"{word} {names[f]}" for word, f in zip(told, chosen, strict=True))
            means, sides = (
                (one[g, chosen], rest[g, chosen]) for one, rest in ((mean, rest_mean), (variances, rest_variances))
            )
            named[g] = replace(
                captions[g],
                features=[names[f] for f in chosen],
                indices=chosen.astype(np.int64),
                effect=effect[chosen],
                error=effect_size_errors(effect[chosen], means, sides, sizes),
                text=f"{phrases}{_TOGETHER}",
                against=[[] for _ in chosen],
            )
    return named


def _second_choice(
    lows: list[int],
    against: list[npt.NDArray[np.intp]],
    left: npt.NDArray[np.bool_],
    large: npt.NDArray[np.bool_],
    agreed: Array,
    side: Array,
    n_phrases: int,
    of_low: _Least,
) -> tuple[list[int], list[npt.NDArray[np.intp]], npt.NDArray[np.bool_]]:
    """Return features that a cluster is high in before those that it is low in, whom each sets apart, and whom none.

    Weaker differences do, but not of a smaller share of what a low one says than `of_low` has.
    """
    told = np.zeros(len(left))
    for f, rows in zip(lows, against, strict=True):
        told[rows] = agreed[rows, f]
    untold = left | (told > 0.0)
    chosen: list[int] = []
    whom: list[npt.NDArray[np.intp]] = []
    high = np.maximum(np.minimum(told, of_low.ceiling) * of_low.share, of_low.floor)
    least = high[:, None], np.where(told > 0.0, _LARGE, _MEDIUM)[:, None]
    for gaps, enough in zip((np.where(side > 0, agreed, 0.0), agreed), least, strict=True):
        while untold.any() and len(chosen) < n_phrases:
            count, f, rows = _best_feature(gaps, untold, large, enough)
            if count == 0:
                break
            chosen.append(f)
            whom.append(rows)
            untold[rows] = False
    whom, untold = _with_smaller(whom, untold, [agreed[:, f] for f in chosen])
    return chosen, whom, untold


def _leading_first(against: list[npt.NDArray[np.intp]], sizes: npt.NDArray[np.int64]) -> list[int]:
    """Return the order of phrases in which those that tell only from small clusters come last."""
    largest = np.array([sizes[rows].max() for rows in against])
    order: list[int] = np.argsort(largest < _SMALL * largest.max(initial=0), kind="stable").tolist()
    return order


def _with_smaller(
    against: list[npt.NDArray[np.intp]], left: npt.NDArray[np.bool_], ahead: list[Array]
) -> tuple[list[npt.NDArray[np.intp]], npt.NDArray[np.bool_]]:
    """Return whom features set apart that were chosen by large differences, also by smaller ones, and whom none does.

    Parameters
    ----------
    against : list of ndarray of int
        The clusters for which each feature was chosen.
    left : ndarray of shape (n_clusters,), bool
        Those for which none was.
    ahead : list of ndarray of shape (n_clusters,), float64
        By how many standard deviations what is said of each feature is true against every cluster.
    """
    if not against:
        return against, left
    gaps = np.where(left, np.stack(ahead), 0.0)
    most = np.where(gaps.max(axis=0) >= _MEDIUM, gaps.argmax(axis=0), -1)
    return [np.union1d(rows, np.flatnonzero(most == k)) for k, rows in enumerate(against)], left & (most < 0)


def _best_feature(
    gaps: Array,
    left: npt.NDArray[np.bool_],
    large: npt.NDArray[np.bool_] | None = None,
    least: Array | float = _LARGE,
) -> tuple[float, int, npt.NDArray[np.intp]]:
    """Return for how much the best feature counts, the feature, and which of the clusters left it sets apart.

    It counts for the `large` clusters that it sets apart, and where no feature does any of these for the tiny ones,
    which together are less than a single large one. None takes all for large.
    """
    wide = np.where(left[:, None] & (gaps >= least), gaps, 0.0)
    judged, weight = wide if large is None else wide[large], 1.0
    if not judged.any():
        judged, weight = wide, 1.0 / len(left)
    counts = np.count_nonzero(judged, axis=0)
    f = int(np.lexsort((-judged.sum(axis=0), -np.minimum(judged, _CEILING).sum(axis=0), -counts))[0])
    return weight * int(counts[f]), f, np.flatnonzero(wide[:, f])


def _told_apart(captions: list[Caption], moments: ClusterMoments, labels: list[Any], names: list[str]) -> list[Caption]:
    """Add to captions that are the same how each cluster differs from the one of that name it differs from most."""
    texts = [caption.text for caption in captions]
    told = []
    for g, caption in enumerate(captions):
        twins = [h for h, text in enumerate(texts) if text == caption.text and h != g]
        twins = sorted({*twins} - {*moments.untold(g)})
        if twins:
            gaps = moments.gaps(g)[twins]
            twin, f = (int(at) for at in np.unravel_index(np.argmax(np.abs(gaps)), gaps.shape))
            if abs(gaps[twin, f]) >= _NOTICEABLE:
                phrase = f"{'more' if gaps[twin, f] > 0 else 'less'} {names[f]} than {labels[twins[twin]]}"
            else:
                phrase = f"like {labels[twins[twin]]}"
            before = f"{caption.text}, " if len(caption) or phrase.startswith("like ") else ""
            caption = replace(caption, text=f"{before}{phrase}")
        told.append(caption)
    return told
