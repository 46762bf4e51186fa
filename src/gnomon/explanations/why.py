"""The answer for one point: its most important features, with their arrows and how far to believe them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.explanations.answer import Column, GroupedAnswer
from gnomon.explanations.fidelity import push_fidelity
from gnomon.explanations.local import lengths_with_errors, longest_arrows
from gnomon.explanations.rows import dense_rows_of, find_row

if TYPE_CHECKING:
    from gnomon.explanations.collinear import FeatureGroups
    from gnomon.explanations.explanation import Explanation

__all__ = ["LOW_R2", "Why", "why"]

LOW_R2 = 0.3
"""Below this R2 an explanation says of itself that it should be read with care."""

_CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Why(GroupedAnswer):
    """The features that move one point most.

    Attributes
    ----------
    index : int
        Row number of the point.
    features : list of str
        Names, most important first.
    indices : ndarray of shape (n_top,), int64
        Their column numbers.
    effect : ndarray of shape (n_top,), float64
        Importance: length of the arrow, in units of the map.
    error : ndarray of shape (n_top,), float64
        Standard error of the length.
    values : ndarray of shape (n_top,), float64
        Their values at the point; NaN for one that was missing and filled in, as `Map.why` knows.
    ranks : ndarray of shape (n_top,), float64, in [0, 1]
        Share of all rows with a lower value, ties counted half: 0.5 is typical. NaN where the value is.
    arrows : ndarray of shape (n_top, n_components), float32
        Displacement in the map per one local standard deviation of the feature.
    arrow_errors : ndarray of shape (n_top, n_components), float64
        Standard errors of the arrows.
    significant : ndarray of shape (n_top,), bool
        Whether the arrow differs from zero at 95 % confidence, each feature taken alone.
    place : ndarray of shape (n_components,), float64
        Where the point lies in the map.
    fidelity, r2 : float in [0, 1], or NaN
        Share of the neighbours' displacements that the fit to the others predicts; NaN where nothing can be said.
    push_r2 : float in [0, 1], or NaN
        Share of the steps in the map from the point to its neighbours that `Explanation.foretell` foretells: how far to
        believe where it says that the point goes if its row is changed.
    fit_r2 : float at most 1, or NaN
        Share that the fit itself accounts for; higher, and no measure of trust.
    fit : str
        Which fit the arrows are of, and the scores that chose it; see `Explanation.describe_fit`.
    groups : dict of str to dict of str to float, or None
        Members of groups of collinear features, with their shares; the value of a group is its score. None if features
        were not grouped.
    """

    _question: ClassVar[str] = "why"
    _per_feature: ClassVar[tuple[str, ...]] = (
        "importance",
        "values",
        "ranks",
        "arrows",
        "arrow_errors",
        "significant",
    )
    _facts: ClassVar[tuple[str, ...]] = ("index", "r2", "push_r2", "fit_r2", "fit", "place")
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("value", "values", blank="missing", of_features=True),
        Column("rank", "ranks", blank=""),
        Column("importance", "effect", "error"),
        Column("arrow", "arrows"),
        Column("significant", "significant"),
    )

    index: int
    values: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.float64]
    arrows: npt.NDArray[np.float32]
    arrow_errors: npt.NDArray[np.float64]
    significant: npt.NDArray[np.bool_]
    place: npt.NDArray[np.float64]
    push_r2: float
    fit_r2: float
    fit: str

    @property
    def r2(self) -> float:
        """Another name of the fidelity."""
        return self.fidelity

    @property
    def importance(self) -> npt.NDArray[np.float64]:
        """Another name of the effect."""
        return self.effect

    @property
    def defined(self) -> bool:
        """Whether anything can be said about the point."""
        return bool(np.isfinite(self.fidelity))

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values."""
        document = super().to_dict()
        for record in document["features"]:
            record["value"], record["rank"] = record.pop("values"), record.pop("ranks")
            record["arrow"], record["arrow_error"] = record.pop("arrows"), record.pop("arrow_errors")
        return document

    def headline(self) -> str:
        """Return what is said of the point as a whole."""
        text = f"point {self.index}: R2 {self.fidelity:.2f}, of pushes {self.push_r2:.2f}, {self.fit}"
        if self.fidelity < LOW_R2:
            text += "; the map is hardly linear here: read the arrows with care"
        return text

    def __str__(self) -> str:
        if not self.defined:
            return f"point {self.index}: nothing can be said (no place, or fewer than two distinct neighbours)"
        return super().__str__()


@entrance("why")
def why(explanation: Explanation, i: int, n_top: int = 5, *, groups: FeatureGroups | None = None) -> Why:
    """Say which features move a point: their arrows with standard errors, and where its values lie among all.

    Parameters
    ----------
    explanation : Explanation
        Of the map.
    i : int
        Row number; negative ones count from the end.
    n_top : int >= 1, default=5
        Features listed.
    groups : FeatureGroups, default=None
        What `group_features` found in the explanation: features that are collinear along the map are listed as one,
        whose arrow is the joint movement of the members. None asks for each feature by itself.

    Returns
    -------
    Why
    """
    from scipy.special import chdtri

    if groups is not None:
        if not hasattr(groups, "representatives"):
            raise TypeError(message(f"groups={groups!r}", "None or what group_features returns"))
        return groups.label(why(groups.explanation, i, n_top))
    n_top = check_parameters({"n_top": Integer(1)}, {"n_top": n_top})["n_top"]
    i = find_row(i, explanation.n_samples)
    top, arrows, errors = longest_arrows(explanation, i, n_top)
    lengths, spread = lengths_with_errors(arrows, errors)
    with np.errstate(invalid="ignore", divide="ignore"):
        wald = np.sum((arrows / errors) ** 2, axis=0)
    columns = dense_rows_of(explanation._X, np.arange(explanation.n_samples), top)
    values = columns[i]
    ranks = (np.mean(columns < values, axis=0) + np.mean(columns <= values, axis=0)) / 2
    return Why(
        index=i,
        features=[explanation.feature_names[f] for f in top],
        indices=top.astype(np.int64),
        effect=lengths,
        error=spread,
        fidelity=float(explanation.r2[i]),
        values=values,
        ranks=ranks,
        arrows=arrows.T.astype(np.float32),
        arrow_errors=errors.T,
        significant=np.nan_to_num(wald, nan=0.0) > chdtri(len(arrows), 1.0 - _CONFIDENCE),
        place=np.array(explanation.places[i]),
        push_r2=float(push_fidelity(explanation, i)[1][0]),
        fit_r2=float(explanation.fit_r2[i]),
        fit=explanation.describe_fit(),
    )
