"""The answer to what would have to change in a row for its point to lie elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon.explanations.answer import Answer, Column
from gnomon.explanations.why import LOW_R2

__all__ = ["Counterfactual"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Counterfactual(Answer):
    """Features by how much they carry a point to a region of the map, and which of them are needed to get there.

    Attributes
    ----------
    index : int
        Row number of the point.
    effect : ndarray of shape (n_features,), float64
        Contribution: displacement by the change of the feature, along the line from the start to the landing place, in
        units of the map. The local linear maps are added up along the way; the contributions sum to what they
        foretell of the whole change. NaN if the changed row has no place.
    error : ndarray of shape (n_features,), float64
        Standard error of the contribution, at most: the errors of the local maps on the way, taken as one.
    change : ndarray of shape (n_features,), float64
        Change in units of the feature.
    change_sd : ndarray of shape (n_features,), float64
        The same change in standard deviations of the feature over all rows.
    spread : ndarray of shape (n_features,), float64
        Standard deviation of `change_sd` over the first places in the target on the ways to other rows of it; NaN if
        only one way arrives.
    local_change : ndarray of shape (n_features,), float64
        In local standard deviations around the point; NaN where the feature changes but does not vary there.
    needed : ndarray of shape (n_features,), bool
        Whether the feature is of the smallest set found whose change alone brings the row into the target, by the map
        itself. None is if the target is not reached.
    values : ndarray of shape (n_features,), float64
        Values before the change.
    row, needed_row : ndarray of shape (n_total_features,), float64
        The changed row, and the row with only the needed features changed, all features in the order of the data.
    reached : bool
        Whether the changed row, placed by the map itself, lands in the target: most of its nearest points there are of
        the target, and they are near.
    n_needed : int or None
        Number of features needed; None if the target is not reached.
    n_changed : int
        Number of features that differ in the changed row.
    start, landed : ndarray of shape (n_components,)
        Place of the point, and of the changed row.
    distance : float
        From there to the nearest point of the target, in units of the map; 0 if reached.
    label : object or None
        The label of most points near the landing place.
    novelty, needed_novelty : float or None
        How unlike the data the two changed rows are, in the terms of the given function.
    route : {"means", "fading", "rows"}
        Whether the way leads along local means of the data, the row keeping what sets it apart from its neighbours or
        losing it on the way, or through rows. The first of these that arrives is taken.
    share : float in (0, 1]
        Part of the way that the change goes.
    n_ways : int
        Ways that arrive, of those tried.
    fidelity : float in [0, 1]
        How far the local linear maps along the way foretell where the changed row lands: one minus the squared length
        of the miss over that of the displacement, 0 if negative. Where it is low the way crosses a tear of the map, and
        contributions mean little; what is needed was tried and holds.
    cosine, ratio : float
        Cosine between foretold and true displacement; ratio of their lengths.
    """

    _question: ClassVar[str] = "counterfactual"
    _per_feature: ClassVar[tuple[str, ...]] = (
        "contribution",
        "change",
        "change_sd",
        "spread",
        "local_change",
        "values",
        "needed",
    )
    _facts: ClassVar[tuple[str, ...]] = (
        "index",
        "reached",
        "n_needed",
        "n_changed",
        "start",
        "landed",
        "distance",
        "label",
        "novelty",
        "needed_novelty",
        "route",
        "share",
        "n_ways",
        "cosine",
        "ratio",
    )
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("needed", "needed"),
        Column("contribution", "effect", "error"),
        Column("from", "values"),
        Column("by", "change"),
        Column("by (SD)", "change_sd"),
    )

    index: int
    change: Array
    change_sd: Array
    spread: Array
    local_change: Array
    needed: npt.NDArray[np.bool_]
    values: Array
    row: Array = field(repr=False)
    needed_row: Array = field(repr=False)
    reached: bool
    n_needed: int | None
    n_changed: int
    start: Array
    landed: Array
    distance: float
    label: Any
    novelty: float | None
    needed_novelty: float | None
    route: str
    share: float
    n_ways: int
    cosine: float
    ratio: float

    @property
    def contribution(self) -> Array:
        """Another name of the effect."""
        return self.effect

    def headline(self) -> str:
        """Return where the changed row lands, what it takes, and how far contributions may be believed."""
        place = "(" + ", ".join(f"{x:.3g}" for x in self.landed) + ")"
        text = f"point {self.index}, changed, lands at {place}"
        text += ", in the target" if self.reached else f", not in the target but {self.distance:.3g} away from it"
        if self.label is not None:
            text += f", among points of label {self.label}"
        if self.novelty is not None:
            text += f", novelty {self.novelty:.2f}"
        if self.n_needed is not None:
            text += f"\nof {self.n_changed} features that change {self.n_needed} are enough"
            text += "" if self.needed_novelty is None else f", novelty {self.needed_novelty:.2f}"
        text += f"; the local linear maps foretell {self.fidelity:.0%} of the way"
        if not self.fidelity >= LOW_R2:
            text += ": contributions mean little" + (", what is needed holds" if self.reached else "")
        return text
