"""How much each feature matters over many points at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon._entrance import entrance
from gnomon._false_discoveries import are_discoveries
from gnomon._printed import Printed
from gnomon._validation import Boolean, check_parameters, message
from gnomon.data import check_labels
from gnomon.data.dataset import first_few
from gnomon.data.labels import sort_into_classes
from gnomon.explanations.answer import AnswersByLabel, Column, GroupedAnswer
from gnomon.explanations.collinear import find_groups
from gnomon.explanations.contrast.moments import shares_between
from gnomon.explanations.evenness import acts_evenly
from gnomon.explanations.mean_errors import error_of_mean
from gnomon.geometry.check import row_mask
from gnomon.neighbors.independence import ERRORS, of_independent_rows

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["Apart", "MeanImportance", "find_apart", "importance_by_label", "mean_importance"]

_NUMBERS = 1 << 22  # of the table of importances, held in double at a time
_LARGE = 0.14  # share of the variance between groups that is worth a name, Cohen's "large"
_FALSE = 0.05  # share of chance among the features that are found, on the mean
_NAMED = 6
_HOW_FAR = (
    "errors take neighbourhoods as given: of other rows means may differ twice as much; features that do nothing have "
    "shares too"
)
_OF_KIND = {"islands": "islands of the map"}
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Apart(Printed):
    """Which features tell groups of points apart.

    Attributes
    ----------
    kind : str
        What the groups are: "labels" or "clusters" of the data, or "islands" of the map.
    n_groups : int
    features : list of str
        Those of whose variance a seventh or more lies between the groups, beyond chance; the largest share first. A
        category is one, by the name of its column.
    share : ndarray of shape (n_features,), float64, in [0, 1]
        That share, less what chance gives on the mean.
    """

    kind: str
    n_groups: int
    features: list[str]
    share: Array

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        pairs = zip(self.features, self.share.tolist(), strict=True)
        told = [{"feature": name, "share": share} for name, share in pairs]
        return {"kind": self.kind, "n_groups": self.n_groups, "features": told, "text": str(self)}

    def adds_to(self, other: Apart | None) -> bool:
        """Say whether it names a feature, among those that are printed, which another one does not."""
        return other is None or not set(self.features[:_NAMED]) <= set(other.features)

    def __str__(self) -> str:
        return self.told()

    def told(self, *, judged: bool = False) -> str:
        """Say it in a sentence; `judged` says that verdicts on the gaps of the map stand above it."""
        groups = f"the {self.n_groups} {_OF_KIND.get(self.kind, self.kind)}"
        if not self.features:
            return f"no feature has {_LARGE:.0%} of its variance between {groups}"
        told = [f"{name!r} {share:.0%}" for name, share in zip(self.features[:_NAMED], self.share, strict=False)]
        more = len(self.features) - len(told)
        text = f"{', '.join(told)}{f' and {more} more' if more else ''}"
        where = " is judged above" if judged else ", verdicts() tells"
        asked = f"; whether the data have these gaps{where}" if self.kind == "islands" else ""
        return f"{groups} are told apart by {text} (share of variance between them{asked})"


def find_apart(
    X: Any, labels: Any, names: list[str], kind: str, categories: Mapping[str, slice] | None = None
) -> Apart | None:
    """Return which features tell groups of rows apart; None where there are not two groups, or most hold one row.

    `categories` gives the features of each category, one or several, which are named as one by its column.
    """
    classes = sort_into_classes(check_labels(labels, int(X.shape[0])))
    if not 2 <= len(classes) <= np.count_nonzero(classes.codes >= 0) // 2:
        return None
    first = np.ones(len(names), dtype=np.bool_)
    names = list(names)
    for name, features in (categories or {}).items():
        first[features.start + 1 : features.stop] = False
        names[features.start] = name
    starts = np.flatnonzero(first)
    names = [names[f] for f in starts]
    share, p = shares_between(X, classes.codes, len(classes), starts)
    chosen = np.flatnonzero(are_discoveries(p, _FALSE) & (share >= _LARGE))
    chosen = chosen[np.argsort(-share[chosen], kind="stable")]
    return Apart(kind, len(classes), [names[f] for f in chosen], share[chosen])


@dataclass(frozen=True, kw_only=True)
class MeanImportance(GroupedAnswer):
    """Features by how far they move points on average, each within its neighbourhood.

    What parts groups of points far from each other is another question, which `apart` answers: a feature that is the
    same all over a group moves no point of it.

    Attributes
    ----------
    effect : ndarray of shape (n_features,), float64
        Mean length of the feature's arrows, in units of the map per local standard deviation.
    error : ndarray of shape (n_features,), float64
        Standard error of the mean over draws of the rows, the map taken as given. Points near each other share
        neighbours, and each row moves all fits that it enters: it comes from all that single rows do to the mean
        (infinitesimal jackknife), of about 400 rows if there are more. Lengths are positive even for a feature that
        does nothing: the error says how the mean varies, not how far it lies from zero. The neighbourhoods, and how far
        a feature spreads in them, are taken as given too, so that it is too small: of 60 draws of 300 rows with three
        features that move the map the means differed 1.5 to 2 times as much, 2 to 2.6 times where two of these were
        collinear by 0.99, and the mean of all draws lay within 1.96 errors of 0.72 to 0.80 and of 0.58 to 0.65 of them.
    share : ndarray of shape (n_features,), float64
        Share of its mean length in the sum of those of all features. Many features that do nothing take much of it
        together, each little: compare features with each other by it, not the data with noise.
    n_points : int
        Points that have an explanation.
    fidelity : float in [0, 1]
        Mean local R2 of these points.
    weighted : bool
        Whether points count by their R2.
    groups : dict of str to dict of str to float, or None
        Members of groups of collinear features, with their shares; None if features were not grouped.
    apart : Apart or None
        Which features tell the labels or clusters of the map apart; None if that was not asked, as `Map.importance`
        does, or there are no groups.
    islands : Apart or None
        Which features tell the islands of the map apart, its parts with gaps between them, where these are not those
        that `apart` names; None else. Of at most 1,000 rows.
    evenly : list of str
        Features that act evenly, the surest first: places in the map tell how far they lie from their median but not to
        which side, as where a map goes by a square. An inverse fit, of features by places, sees nothing of them, so
        that their share means nothing; a forward fit may. Empty if the fit is forward, and of fewer than 200 points.
    """

    _question: ClassVar[str] = "importance"
    _per_feature: ClassVar[tuple[str, ...]] = ("share",)
    _facts: ClassVar[tuple[str, ...]] = ("n_points", "weighted")
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("mean importance", "effect", "error"),
        Column("share (%)", "percent"),
    )

    share: Array
    n_points: int
    weighted: bool
    apart: Apart | None = None
    islands: Apart | None = None
    evenly: list[str] = field(default_factory=list)

    @property
    def percent(self) -> Array:
        """The share in hundredths, rounded to a tenth."""
        return np.round(100 * self.share, 1)

    def headline(self) -> str:
        """Return what is said of all points together."""
        text = f"{self.n_points} points, mean R2 {self.fidelity:.2f}{', weighted by R2' if self.weighted else ''}"
        text += "; how far features move points within neighbourhoods, not what parts groups"
        told = [text, _HOW_FAR, *([self._told_evenly] if self.evenly else [])]
        told += [str(one) for one in (self.apart, self.islands) if one is not None]
        return self._with_caution("\n".join(told))

    @property
    def _told_evenly(self) -> str:
        it = "it does" if len(self.evenly) == 1 else "they do"
        return (
            f"may act evenly: {first_few(map(repr, self.evenly), _NAMED)} (high and low values lie in the same places, "
            f'so that features fitted by place miss what {it}; explain with fit="forward")'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the answer with plain Python values; "apart", "islands" and "evenly" only if there are any."""
        told = {"apart": self.apart, "islands": self.islands}
        document = super().to_dict() | {name: one.to_dict() for name, one in told.items() if one is not None}
        return document | ({"evenly": list(self.evenly)} if self.evenly else {})


@entrance("mean_importance")
@of_independent_rows(ERRORS)
def mean_importance(
    explanation: Explanation, rows: Any = None, *, weighted: bool = True, groups: Any = None
) -> MeanImportance:
    """Say which features move the points of a map, or of a part of it, most, each within its neighbourhood.

    Parameters
    ----------
    explanation : Explanation
        Of the map.
    rows : mask or row numbers, default=None
        The points; all by default.
    weighted : bool, default=True
        Whether points count by their R2, so that those about which little can be said count little. False gives
        ``Explanation.global_importance``, if `rows` is None.
    groups : None, "auto" or FeatureGroups, default=None
        "auto" takes features that are collinear along the map together, as `group_features` does by default, and gives
        each group the importance of its joint movement. None asks for each feature by itself.

    Returns
    -------
    MeanImportance
        All features, largest mean first. That of all points is computed once for an explanation.
    """
    grouped = find_groups(explanation, groups)
    if grouped is not None:
        return grouped.label(mean_importance(grouped.explanation, rows, weighted=weighted))
    weighted = check_parameters({"weighted": Boolean()}, {"weighted": weighted})["weighted"]
    if rows is None and weighted in explanation._means:
        return explanation._means[weighted]
    n = explanation.n_samples
    chosen = np.ones(n, dtype=bool) if rows is None else row_mask(rows, n, name="rows")
    known = np.flatnonzero(chosen & explanation.mask)
    if not len(known):
        fact = f"none of its {n} points has" if rows is None else f"none of {np.count_nonzero(chosen)} points has"
        rule = "one of which a point has an explanation" if rows is None else "points of which one has an explanation"
        remedy = "Points are explained by rows that differ: see explanation.mask, or give a table with more of them."
        raise ValueError(message("explanation" if rows is None else "rows", rule, fact=fact, remedy=remedy))
    found = replace(_mean_over(explanation, known, weighted), evenly=_evenly(explanation, known))
    if rows is None:
        explanation._means[weighted] = found
    return found


def _mean_over(explanation: Explanation, known: npt.NDArray[np.intp], weighted: bool) -> MeanImportance:
    trust = np.asarray(explanation.r2, dtype=np.float64)
    # Where the map is linear nowhere, weights of zero would leave nothing to average.
    weights = trust if weighted and trust[known].any() else np.ones(explanation.n_samples)
    mass = float(weights[known].sum())
    effect = np.zeros(explanation.n_features)
    step = max(1, _NUMBERS // explanation.n_features)
    for part in np.split(known, range(step, len(known), step)):
        effect += product(explanation.importance[part].astype(np.float64).T, weights[part])
    effect /= mass
    error = error_of_mean(explanation, known, weights[known] / mass, effect)
    order = np.argsort(-effect, kind="stable")
    total = float(effect.sum())
    return MeanImportance(
        features=[explanation.feature_names[f] for f in order],
        indices=order.astype(np.int64),
        effect=effect[order],
        error=error[order],
        fidelity=float(trust[known].mean()),
        share=effect[order] / total if total > 0 else np.zeros(len(order)),
        n_points=len(known),
        weighted=weighted,
    )


def _evenly(explanation: Explanation, known: npt.NDArray[np.intp]) -> list[str]:
    """Return the features that act evenly on some points, which only fits of features by place miss."""
    if explanation.direction == "forward":
        return []
    return [explanation.feature_names[f] for f in acts_evenly(explanation._X, explanation.places, known)]


@entrance("importance_by_label")
@of_independent_rows(ERRORS)
def importance_by_label(
    explanation: Explanation, labels: Any, *, weighted: bool = True, groups: Any = None
) -> AnswersByLabel[MeanImportance | None]:
    """Answer `mean_importance` for the points of each label.

    Parameters
    ----------
    explanation : Explanation
        Of the map.
    labels : array-like of shape (n_samples,)
        The label of each row; None, NaN or an empty text where it has none.
    weighted : bool, default=True
        As in `mean_importance`.
    groups : None, "auto" or FeatureGroups, default=None
        As in `mean_importance`; they are found once, in all points.

    Returns
    -------
    AnswersByLabel
        A dict of label to MeanImportance in the order of the sorted labels, None for a label none of whose points has
        an explanation; `print` shows tables.
    """
    classes = sort_into_classes(check_labels(labels, explanation.n_samples))
    grouped = find_groups(explanation, groups)
    answers: AnswersByLabel[MeanImportance | None] = AnswersByLabel()
    for code, label in enumerate(classes.values):
        rows = classes.codes == code
        known = bool((rows & explanation.mask).any())
        answers[label] = mean_importance(explanation, rows, weighted=weighted, groups=grouped) if known else None
    return answers
