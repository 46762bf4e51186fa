"""The questions one can ask of a map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data.dataset import listed, require_name
from gnomon.data.labels import TO_CLASSES, are_names_of_rows, measured_labels, sort_into_classes
from gnomon.geometry.check import row_mask
from gnomon.maps.alike import SidesOfClasses, told_of_units
from gnomon.maps.cautions import cautioned, of_neighbors, of_order
from gnomon.maps.clustering import Clustering
from gnomon.maps.confounded import told_of_confounded_labels, told_of_confounded_sides, told_of_each_label
from gnomon.maps.depth import told_of_unlike_sums
from gnomon.maps.found import told_of_labels, told_of_selection
from gnomon.maps.importance_questions import ImportanceQuestions
from gnomon.maps.named_rows import feature_values, find_point, select_rows
from gnomon.maps.point_questions import PointQuestions
from gnomon.maps.row_questions import RowQuestions
from gnomon.maps.twins import TwinQuestions
from gnomon.maps.unasked import compared_features, known_values, told_of_unnamed
from gnomon.maps.verdicts import Verdicts
from gnomon.neighbors.independence import FEATURES

if TYPE_CHECKING:
    from gnomon.completion import Completion
    from gnomon.data import Representation, Table
    from gnomon.data.columns import ColumnRule
    from gnomon.data.scaling import Scaling
    from gnomon.explanations import (
        AnswersByLabel,
        Axis,
        Caption,
        Contrast,
        Counterfactual,
        Explanation,
        FeatureGroups,
        Saliency,
        Why,
    )
    from gnomon.neighbors import NeighborGraph
    from gnomon.neighbors.circles import Seams

__all__ = ["Questions"]

Mask = npt.NDArray[np.bool_]
_Answers = TypeVar("_Answers")


class Questions(PointQuestions, RowQuestions, ImportanceQuestions, Verdicts, Clustering, TwinQuestions):
    """What `gnomon.Map` can be asked; each answer is a table with effects, errors and a fidelity.

    Answers are in terms of the features of the map; ask ``Map.with_features(...)`` in terms of others, such as words.
    `explanation`, from ``Map.explain(features=...)``, does so for one question.
    """

    X: Any
    embedding: npt.NDArray[np.float32]
    labels: npt.NDArray[Any] | None
    label_name: str
    feature_names: list[str]
    image_shape: tuple[int, ...] | None
    metadata: dict[str, npt.NDArray[Any]]
    completion: Completion | None
    columns: list[ColumnRule] | None
    point_names: npt.NDArray[Any] | None
    metric: str
    parameters: dict[str, Any]
    scale: Scaling | None
    representation: Representation | None
    n_jobs: int | None
    explain: Callable[..., Explanation]
    transform: Callable[[Any], npt.NDArray[Any]]
    neighbors: Callable[[], NeighborGraph | None]
    _seams: Callable[[], Seams | None]
    _checked: Callable[[], Table]
    _unrolled: Callable[[], Table]
    _mapped: Callable[[], Any]
    novelty: Callable[[Any], npt.NDArray[np.float64]]
    _groups: FeatureGroups | None

    @entrance("find")
    def find(self, text: str) -> int:
        """Return the row number of a point from its name or its number.

        Parameters
        ----------
        text : str
            A name of `point_names`, or a row number, counted from 0.
        """
        return find_point(text, int(self.X.shape[0]), self.point_names)

    @entrance("select")
    def select(self, text: str) -> npt.NDArray[np.bool_]:
        """Return a mask of rows from a text such as "label=3", "batch=b1", "age>40" or "rows=0:100,205".

        Parameters
        ----------
        text : str
            NAME=VALUE, NAME!=VALUE, or for numbers NAME<VALUE, NAME>VALUE and with =; NAME is that of the labels
            ("label" always is), of a column of metadata, or of a feature. "rows=" lists row numbers and ranges. Several
            conditions, all of which must hold, are joined with " & ". A value that holds " & "
            is in quotes, such as ``dept='A & B'``. A feature that has a period under the metric of the map is compared
            by its values as answers and the page tell them, from where it is cut; the notes of the map say from where,
            and a warning how many rows fit by the numbers as given, if others do.
        """
        return select_rows(self, text)

    @entrance("why")
    def why(self, i: int | str, n_top: int = 5, *, explanation: Explanation | None = None, groups: Any = None) -> Why:
        """Say which features move a point, a row number or a name as for `find`. See `gnomon.why`.

        With groups="auto" groups are found, as for `importance`.
        Values that were missing and filled in are NaN in the answer, and printed as missing.
        """
        from gnomon.explanations.collinear import find_groups
        from gnomon.explanations.why import why

        own = explanation is None
        known = self._known_groups(groups) if explanation is None else find_groups(explanation, groups)
        answer = why(explanation or self.explain(), self._point_asked(i), n_top, groups=known)
        if not own or self.completion is None or answer.groups is not None:
            return answer
        filled = self.completion.missing[answer.index, answer.indices]
        return replace(
            answer, values=np.where(filled, np.nan, answer.values), ranks=np.where(filled, np.nan, answer.ranks)
        )

    @entrance("axis")
    def axis(self, path: Any = None, *, explanation: Explanation | None = None, **options: Any) -> Axis:
        """Say what changes along a line drawn through the map. See `gnomon.axis`; `at` may be a label or condition."""
        from gnomon.explanations.axis import axis

        if "at" in options:
            options["at"] = self._rows_asked(options["at"])
        found = axis(explanation or self.explain(), path, **options)
        return cautioned(self, found, FEATURES if found.beyond_chance.any() else "")

    @entrance("contrast")
    def contrast(
        self,
        selection: npt.ArrayLike,
        rest: npt.ArrayLike | None = None,
        *,
        groups: Any = None,
        units: npt.ArrayLike | str | None = None,
    ) -> Contrast:
        """Say which features set a selection apart. See `gnomon.contrast`.

        Features are left out of which next to no row of a side had a value before missing ones were filled in, and
        those are named of which most values of a side were filled in; `caution` says which. With `groups` none is
        left out.

        Parameters
        ----------
        selection : array-like or str
            Row numbers, a mask of shape (n_samples,), or as text a label or a condition as for `select`.
        rest : array-like, str or None, default=None
            Rows to compare with; None takes all others.
        groups : None, "auto" or FeatureGroups, default=None
            "auto" compares the features of each of `feature_groups` as one.
        units : array-like of shape (n_samples,), str or None, default=None
            What was drawn independently, such as the donor of each cell, or the name of the metadata that say so: what
            sets the selection apart is judged between these. None takes every row as independent.
        """
        from gnomon.explanations.contrast import contrast

        known, units = self._groups_and_units(groups, units)
        asked, others = self._rows_asked(selection), self._rows_asked(rest)
        inside = row_mask(asked, len(self.embedding), name="selection")
        outside = ~inside if others is None else row_mask(others, len(self.embedding), name="rest")
        unsided = ""
        if others is None and isinstance(selection, str):
            lacking, columns = self._rows_without_value(selection)
            known_sides = inside & ~lacking, outside & ~lacking
            if lacking.any() and known_sides[0].any() and known_sides[1].any():
                asked, others = inside, outside = known_sides
                n = int(lacking.sum())
                unsided = f"{n:,} {'row' if n == 1 else 'rows'} without {listed(columns)} are on neither side."
        kept, unasked = compared_features(self.completion, self.feature_names, inside, outside)
        if kept is None or known is not None:
            table, names, kept = self._unrolled(), self.feature_names, None
        else:
            table = replace(self._unrolled(), values=self._unrolled().values[:, kept], feature_names=None)
            names = [self.feature_names[j] for j in kept]
        found = contrast(table, asked, others, feature_names=names, groups=known, units=units)
        if kept is not None:
            found = replace(found, indices=kept[found.indices])
        if not found.n_beyond_chance:
            return cautioned(self, found, more=[unsided, unasked])
        if self.metric == "hellinger":
            unsided = f"{unsided} {told_of_unlike_sums(self._unrolled().values, inside, outside)}".strip()
        told = [unsided, unasked, told_of_selection(self, inside), told_of_confounded_sides(self, inside, outside)]  # type: ignore[arg-type]
        if units is not None:
            return cautioned(self, found, more=told)
        return cautioned(self, found, FEATURES, by_units=True, more=[*told, self._told_of_units([(inside, outside)])])

    @entrance("captions")
    def captions(
        self, n_phrases: int = 3, *, groups: Any = None, units: npt.ArrayLike | str | None = None
    ) -> AnswersByLabel[Caption]:
        """Name each label by what tells it from the other labels. See `gnomon.cluster_captions`.

        groups="auto" names the features of each of `feature_groups` as one; of pictures captions name regions. `units`
        are as for `contrast`: only features are named whose differences are no chance between these.
        """
        from gnomon.explanations import cluster_captions
        from gnomon.explanations.contrast.result import NOTHING_APART

        labels = self._known_labels()
        # A picture of fewer than three rows or columns has no nine regions to speak of.
        regions = self.image_shape is not None and min(self.image_shape[:2]) >= 3
        known, units = self._groups_and_units(None if regions and units is None else groups, units)
        found = cluster_captions(
            self._unrolled(),
            labels,
            n_phrases=n_phrases,
            feature_names=self.feature_names,
            image_shape=self.image_shape if regions else None,
            groups=known,
            units=units,
            known=None
            if regions or known is not None
            else known_values(self.completion, self._unrolled().values.shape),
        )
        named = [label for label, one in found.items() if not one.text.startswith(NOTHING_APART)]
        unnamed = "" if regions or known is not None else self._told_of_unnamed()
        return self._cautioned_of_labels(found, named, by_rows=units is None, more=unnamed)

    def _told_of_unnamed(self) -> str:
        """Return which features do not describe which labels, as most of their rows lack them; empty if none."""
        return told_of_unnamed(self.completion, self.labels, self.feature_names)

    def _told_of_neighbors(self) -> str:
        """Return what is known against neighbours on the map and in the data; empty if nothing."""
        return of_neighbors(self)  # type: ignore[arg-type]

    def _told_of_order(self) -> str:
        """Return what the order of the rows says against the answers of a page; empty if nothing."""
        return of_order(self)  # type: ignore[arg-type]

    def _told_of_labels(self) -> str:
        """Return that labels may have been found in the rows that they are told apart in; empty if nothing says so."""
        return told_of_labels(self)  # type: ignore[arg-type]

    def _told_of_confounded_labels(self) -> str:
        """Return which metadata go with the labels, so that what tells these apart may be theirs; empty if none do."""
        return told_of_confounded_labels(self)  # type: ignore[arg-type]

    def _told_of_each_label(self) -> dict[str, str]:
        """Return for each label, by name, which metadata go with it against all other rows, where some do."""
        return told_of_each_label(self)  # type: ignore[arg-type]

    def _told_of_units(self, sides: list[tuple[Mask, Mask]] | SidesOfClasses) -> str:
        """Return which metadata may be of units of the rows on two sides that features set apart; empty if none."""
        from gnomon.data.columns import columns_of_features

        metadata = {name: column for name, column in self.metadata.items() if name != self.label_name}
        table = self._unrolled()
        rules = self.columns or ()
        known = sum(len(rule.features) for rule in rules) == table.n_features  # else explained by other features
        whose = columns_of_features(table.n_features, table.feature_names, rules if known else None)
        return told_of_units(metadata, sides, (table.values, whose))

    def _told_of_units_of_labels(self, labels: list[Any]) -> str:
        """Return the same of each of some labels and all others."""
        if not labels:
            return ""
        classes = sort_into_classes(self.labels)
        return self._told_of_units(SidesOfClasses(classes.codes, [classes.values.index(label) for label in labels]))

    def _cautioned_of_labels(self, found: _Answers, labels: list[Any], *, by_rows: bool, more: str = "") -> _Answers:
        """Return answers with the cautions of those labels that they set apart, by rows or by units."""
        if not labels or self.labels is None:
            return cautioned(self, found, more=[more])
        told = [more, self._told_of_labels(), self._told_of_confounded_labels()]
        if not by_rows:
            return cautioned(self, found, more=told)
        return cautioned(self, found, FEATURES, by_units=True, more=[*told, self._told_of_units_of_labels(labels)])

    @entrance("feature_groups", keeps_name=True)
    def feature_groups(self) -> FeatureGroups:
        """Put features that are collinear along the map into groups; computed once. See `gnomon.group_features`."""
        if self._groups is None:
            from gnomon.explanations import group_features

            self._groups = group_features(self.explain(), keep_neighbors=self._has_other_features)
        return self._groups

    @property
    def _has_other_features(self) -> bool:
        """Whether the features are others than those mapped, by `with_features`: standardised, and the data are not."""
        return self.scale is not None and self.representation is not None and not self.representation.has_formula

    def _known_groups(self, groups: Any) -> Any:
        """Return the groups that an argument names; "auto" are those of the map."""
        return self.feature_groups() if isinstance(groups, str) and groups == "auto" else groups

    def _groups_and_units(self, groups: Any, units: Any) -> tuple[Any, Any]:
        """Return the groups of features that an argument names, and the unit of each row.

        A text names metadata, or a feature, as rows that repeat the columns of fewer owners have.
        """
        from gnomon.explanations.contrast.units import refuse_groups

        refuse_groups(groups, units)  # before the map is explained to find the groups
        if isinstance(units, str):
            require_name(units, [*self.metadata, *self.feature_names], what="units")
            units = self.metadata[units] if units in self.metadata else feature_values(self, units)
        return self._known_groups(groups), units

    @entrance("saliency")
    def saliency(self, of: Any, *, toward: Any = None, direction: Any = None) -> Saliency:
        """Say which pixels move a point or a selection, as a picture. See `gnomon.saliency`.

        `of` and `toward` may be a label or a condition, as for `contrast`.
        """
        from gnomon.explanations.saliency import saliency

        if self.image_shape is None:
            remedy = "Make the map with image_shape=(height, width)."
            raise ValueError(message("a map", "one whose features are pixels", remedy=remedy))
        of, toward = self._rows_asked(of), self._rows_asked(toward)
        return saliency(self.explain(), of, image_shape=self.image_shape, toward=toward, direction=direction)

    def plot_saliency(self, path: Any, found: Saliency, of: Any) -> None:
        """Write an answer of `saliency` as a figure, with the outline of the point's picture or the mean picture.

        Parameters
        ----------
        path : str or path-like
            File to write; its suffix may be any that matplotlib writes.
        found : Saliency
        of : int, mask, row numbers or str
            What was asked about.
        """
        from gnomon.plot import save_saliency

        of = self._rows_asked(of)
        rows = self.X[[of]] if np.ndim(of) == 0 else self.X[np.asarray(of)]
        picture = np.asarray(rows.mean(axis=0), dtype=np.float64).reshape(found.image_shape)
        save_saliency(path, found.image, picture=picture, title=found.headline())

    def _indicators(self) -> list[npt.NDArray[np.int64]]:
        """Return the numbers of the features that each column of categories, or of yes and no, has become."""
        from gnomon.data.columns import features_of

        taken = features_of(self.columns or ())
        if not taken or sum(columns.stop - columns.start for columns in taken.values()) != self.X.shape[1]:
            return []
        several = [columns for rule, columns in taken.items() if rule.is_truth or rule.kind == "category"]
        each = [j for rule, at in taken.items() if rule.kind == "answers" for j in range(at.start, at.stop)]
        return [*(np.arange(at.start, at.stop) for at in several), *(np.array([j]) for j in each)]

    @entrance("counterfactual")
    def counterfactual(
        self, i: int | str, target: Any = None, *, transform: Callable[[Any], Any] | None = None, **options: Any
    ) -> Counterfactual:
        """Say what would have to change in a row for its point to lie elsewhere. See `gnomon.counterfactual`.

        Parameters
        ----------
        i : int or str
            Row number of the point, or its name as for `find`.
        target : label, condition, mask or row numbers, default=None
            Where it should lie; or give ``position=(x, y)``.
        transform : callable, default=None
            Places changed rows; None takes ``transform`` of this map, and ``novelty`` of it for how unlike the data
            the changed row is.
        **options
            Further arguments of `gnomon.counterfactual`.
        """
        from gnomon.explanations.counterfactual import counterfactual
        from gnomon.extension import hearing_far

        options.setdefault("labels", self.labels)
        if transform is None:
            options.setdefault("novelty", self.novelty)
        options.setdefault("categories", self._indicators())
        point, target = self._point_asked(i), self._rows_asked(target)
        explanation, placed = self.explain(), transform or self.transform
        with hearing_far():  # rows that are only tried may lie out of range; the novelty of the answer is told
            return counterfactual(explanation, point, transform=placed, target=target, **options)

    def _known_labels(self) -> npt.NDArray[Any]:
        if self.labels is None:
            raise ValueError(message("a map", "one with labels", remedy="Make it with labels=..."))
        if measured_labels(self.labels) is not None:
            fact = "its labels are dates or measured numbers"
            remedy = f"{TO_CLASSES} Numbers of classes pass as texts."
            raise ValueError(message("a map", "one whose labels are classes", fact=fact, remedy=remedy))
        if are_names_of_rows(self.labels):
            fact, remedy = "all its labels are different", "Pass names of rows as point_names=..."
            raise ValueError(message("a map", "one whose labels are classes", fact=fact, remedy=remedy))
        return self.labels
