"""The questions one can ask of a map, and the rows they are about, named in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Instance, check_parameters, message, warn
from gnomon.data import check_labels
from gnomon.data.arrays import is_missing
from gnomon.data.dataset import require_name
from gnomon.data.labels import TO_CLASSES, are_names_of_rows, measured_labels, sort_into_classes
from gnomon.exceptions import DataWarning
from gnomon.geometry.check import row_mask
from gnomon.linalg.table import float_rows
from gnomon.maps.alike import told_of_units
from gnomon.maps.cautions import cautioned, of_order
from gnomon.maps.clustering import Clustering
from gnomon.maps.found import told_of_labels, told_of_selection
from gnomon.maps.order import FEATURES
from gnomon.maps.point_questions import PointQuestions
from gnomon.maps.seam import told_from
from gnomon.maps.twins import TwinQuestions
from gnomon.maps.verdicts import Verdicts
from gnomon.neighbors import VOTES, distinct_neighbors, find_representatives
from gnomon.neighbors.graph import ANSWER_NEIGHBORS

if TYPE_CHECKING:
    from gnomon.clusters import Clusters
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
        MeanImportance,
        Outliers,
        Repeats,
        Saliency,
        Suspects,
        Why,
    )
    from gnomon.explanations.importance import Apart
    from gnomon.neighbors import NeighborGraph
    from gnomon.neighbors.circles import Seams

__all__ = ["Questions"]

_MOST_CLUSTERED = 20_000  # rows among which clusters are looked for to say what tells them apart
_CONDITION = re.compile(r"^\s*(?P<name>.+?)\s*(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.*?)\s*$")
_QUOTED = re.compile(r"[^<>=]*[<>=]=?\s*(['\"])")  # up to the value
Mask = npt.NDArray[np.bool_]
_Answers = TypeVar("_Answers")

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _find_point(text: str, n_samples: int, point_names: npt.NDArray[Any] | None) -> int:
    """Return the row that has this name, else the row of this number."""
    if point_names is not None:
        rows = np.flatnonzero(point_names.astype(str) == str(text))
        if len(rows) > 1:
            fact = f"{len(rows)} points have it"
            raise ValueError(message(f"point {text!r}", "the name of one point", fact=fact))
        if len(rows):
            return int(rows[0])
    try:
        row = int(text)
    except ValueError:
        rule = "a row number" if point_names is None else "a row number or the name of a point"
        raise ValueError(message(f"point {text!r}", rule)) from None
    if not -n_samples <= row < n_samples:
        raise ValueError(message(f"point {row}", f"below n_samples={n_samples}"))
    return row % n_samples


def _select_rows(result: Questions, text: str) -> npt.NDArray[np.bool_]:
    """Return the rows of which all conditions of a text hold."""
    text = check_parameters({"text": Instance((str,), "a text")}, {"text": text})["text"]
    mask = np.ones(int(result.X.shape[0]), dtype=np.bool_)
    for condition in _conditions(text):
        found = _CONDITION.match(condition)
        if found is None:
            remedy = "Write it as in label=3, age>40 or rows=0:100."
            raise ValueError(message(f"{condition!r}", "a condition", remedy=remedy))
        name, sign, value = found["name"], found["sign"], _unquoted(found["value"])
        if name == "rows" and sign == "=":
            mask &= _listed_rows(value, len(mask))
        else:
            held = _compare(_column(result, name), sign, value, name, _feature_of(result, name))
            if (k := _cut_column(result, name)) is not None:
                given = _compare(np.asarray(result._checked().values[:, k]), sign, value, name)
                _warn_of_cut(result, k, condition, held, given)
            mask &= held
    if not mask.any():
        remedy = _told_from(result, text)
        raise ValueError(message(f"{text!r}", "such that one row at least fits", fact="none does", remedy=remedy))
    return mask


def _cut_column(result: Questions, name: str) -> int | None:
    """Return the number of a feature that has a period and is cut; None of others, and of labels and metadata."""
    seams = result._seams()
    if seams is None or name not in result.feature_names or name in ("label", result.label_name, *result.metadata):
        return None
    k = result.feature_names.index(name)
    return k if k in seams.moved else None


def _warn_of_cut(result: Questions, k: int, condition: str, held: Mask, given: Mask) -> None:
    """Warn if a condition on a feature that is cut holds for other rows by the numbers of the table as given."""
    seams = result._seams()
    if seams is not None and not np.array_equal(given, held):
        ends = f"from {seams.begins[k]:.4g} to {seams.begins[k] + seams.periods[k]:.4g}"
        warn(
            f"{condition.strip()!r} holds for {np.count_nonzero(held):,} rows, as answers and the page tell "
            f"{result.feature_names[k]!r}: {ends}. By the numbers of the table as given it holds for "
            f"{np.count_nonzero(given):,}; to have those pass a mask made of these numbers.",
            DataWarning,
        )


def _told_from(result: Questions, text: str) -> str:
    """Say from where those columns of a text are told that have a period and are cut; empty without any."""
    seams = result._seams()
    if seams is None:
        return ""
    asked = {found["name"] for one in _conditions(text) if (found := _CONDITION.match(one)) is not None}
    moved = [k for k in seams.moved if result.feature_names[k] in asked]
    return told_from(seams, np.array(moved), result.feature_names) if moved else ""


def _unquoted(value: str) -> str:
    """Return a value without the quotes around it."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _is_closed(condition: str) -> bool:
    """Return whether a condition ends with the quote that its value begins with."""
    quote = _QUOTED.match(condition)
    return quote is not None and condition[quote.end() :].rstrip().endswith(quote[1])


def _conditions(text: str) -> list[str]:
    """Split a text at " & ", but not where a value in quotes holds it."""
    found: list[str] = []
    parts = text.split(" & ")
    while parts:
        ends = [i for i in range(1, len(parts) + 1) if _is_closed(" & ".join(parts[:i]))]
        taken = ends[0] if ends else 1
        found.append(" & ".join(parts[:taken]))
        parts = parts[taken:]
    return found


def _listed_rows(value: str, n: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(n, dtype=np.bool_)
    for part in value.split(","):
        start, colon, stop = part.strip().partition(":")
        try:
            first = int(start or 0)
            last = int(stop or n) if colon else first + 1
        except ValueError:
            raise ValueError(message(f"rows={value}", "row numbers and ranges, such as 0:100,205")) from None
        if not 0 <= first < last <= n:
            raise ValueError(message(f"rows={part.strip()}", f"rows in [0, {n})"))
        mask[first:last] = True
    return mask


def _feature(result: Questions, name: str) -> npt.NDArray[Any]:
    column = result._unrolled().values[:, [result.feature_names.index(name)]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def _column(result: Questions, name: str) -> npt.NDArray[Any]:
    if result.labels is not None and name in ("label", result.label_name):
        return result.labels
    if name in result.metadata:
        return result.metadata[name]
    if name in result.feature_names:
        return _feature(result, name)
    available = [*(["label", result.label_name] if result.labels is not None else []), *result.metadata]
    require_name(name, list(dict.fromkeys([*available, *result.feature_names])), what="column")
    raise AssertionError(name)  # pragma: no cover


def _feature_of(result: Questions, name: str) -> str:
    """Return the one feature of numbers, ranks or dates that a column of texts became; empty without any."""
    kinds = ("written", "ordinal", "date")
    found = [rule.features[0] for rule in result.columns or () if rule.name == name and rule.kind in kinds]
    return found[0] if found and found[0] != name else ""


def _compare(column: npt.NDArray[Any], sign: str, value: str, name: str, feature: str = "") -> npt.NDArray[np.bool_]:
    if column.dtype.kind in "iufM":
        dates = column.dtype.kind == "M"
        try:
            number = np.datetime64(value) if dates else float(value)
        except ValueError:
            rule = "a comparison with a date, such as 2024-05-31" if dates else "a comparison with a number"
            raise ValueError(message(f"{name}{sign}{value}", rule)) from None
        return np.asarray(_SIGNS[sign](column if dates else column.astype(np.float64), number))
    if sign not in ("=", "!="):
        fact = f"{name} holds texts"
        remedy = f"Compare the numbers that they became: {feature}{sign}{value}." if feature else ""
        raise ValueError(message(f"{name}{sign}{value}", "a comparison by = or !=", fact=fact, remedy=remedy))
    texts = ["" if is_missing(one) else str(one) for one in column.tolist()]
    return np.asarray(_SIGNS[sign](np.array(texts, dtype=np.str_), value))


class Questions(PointQuestions, Verdicts, Clustering, TwinQuestions):
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
    _parted: tuple[Any, Any, tuple[Apart | None, Apart | None]] | None

    @entrance("find")
    def find(self, text: str) -> int:
        """Return the row number of a point from its name or its number.

        Parameters
        ----------
        text : str
            A name of `point_names`, or a row number, counted from 0.
        """
        return _find_point(text, int(self.X.shape[0]), self.point_names)

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
        return _select_rows(self, text)

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
        found = contrast(self._unrolled(), asked, others, feature_names=self.feature_names, groups=known, units=units)
        if not found.n_beyond_chance:
            return cautioned(self, found)
        inside = row_mask(asked, len(self.embedding), name="selection")
        outside = ~inside if others is None else row_mask(others, len(self.embedding), name="rest")
        told = told_of_selection(self, inside)  # type: ignore[arg-type]
        if units is not None:
            return cautioned(self, found, more=[told])
        return self._cautioned_of_units(found, [(inside, outside)], told)

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
        )
        named = [label for label, one in found.items() if not one.text.startswith(NOTHING_APART)]
        return self._cautioned_of_labels(found, named, by_rows=units is None)

    def _told_of_order(self) -> str:
        """Return what the order of the rows says against the answers of a page; empty if nothing."""
        return of_order(self)  # type: ignore[arg-type]

    def _told_of_labels(self) -> str:
        """Return that labels may have been found in the rows that they are told apart in; empty if nothing says so."""
        return told_of_labels(self)  # type: ignore[arg-type]

    def _cautioned_of_labels(self, found: _Answers, labels: list[Any], *, by_rows: bool) -> _Answers:
        """Return answers with the cautions of those labels that they set apart, by rows or by units."""
        if not labels or self.labels is None:
            return cautioned(self, found)
        told = self._told_of_labels()
        if not by_rows:
            return cautioned(self, found, more=[told])
        classes = sort_into_classes(self.labels)
        numbers = [classes.values.index(label) for label in labels]
        sides = [(classes.codes == g, (classes.codes >= 0) & (classes.codes != g)) for g in numbers]
        return self._cautioned_of_units(found, sides, told)

    def _cautioned_of_units(self, found: _Answers, sides: list[tuple[Mask, Mask]], told: str) -> _Answers:
        """Return an answer with which metadata or order may be of units between which chance was not judged.

        `told` says that groups may have been found in these rows.
        """
        return cautioned(self, found, FEATURES, by_units=True, more=[told, told_of_units(self.metadata, sides)])

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
            units = self.metadata[units] if units in self.metadata else _feature(self, units)
        return self._known_groups(groups), units

    @entrance("importance")
    def importance(
        self, rows: Any = None, *, explanation: Explanation | None = None, groups: Any = None
    ) -> MeanImportance:
        """Say which features move the points most, all or some of them. See `gnomon.mean_importance`.

        The rows may be a label or a condition, as for `contrast`.
        """
        from gnomon.explanations import mean_importance

        known = self._known_groups(groups) if explanation is None else groups
        found = mean_importance(explanation or self.explain(), self._rows_asked(rows), groups=known)
        found = cautioned(self, found)
        if explanation is not None:
            return found
        apart, islands = self._told_apart()
        return replace(found, apart=apart, islands=islands)

    def _told_apart(self) -> tuple[Apart | None, Apart | None]:
        """Return which features tell the labels of the map apart, or without labels its clusters; and its islands.

        None where there are no two groups, and for islands that the features named for labels or clusters tell apart;
        clusters of more than 20,000 rows are not looked for, only taken if known.
        """
        clusters = None if self.labels is not None or self._too_long() else self._clusters_shown()
        if self._parted is None or self._parted[0] is not self.labels or self._parted[1] is not clusters:
            apart, islands = self._find_apart(clusters), self._find_islands_apart()
            told = islands is not None and islands.adds_to(apart)
            self._parted = self.labels, clusters, (apart, islands if told else None)
        return self._parted[2]

    def _too_long(self) -> bool:
        """Say whether the map has too many rows for clusters to be looked for unasked."""
        return self._clusters is None and len(self.embedding) > _MOST_CLUSTERED

    def _find_apart(self, clusters: Clusters | None) -> Apart | None:
        """Return which features tell the labels apart, or some clusters."""
        from gnomon.explanations.importance import find_apart

        if self.labels is not None:
            if measured_labels(check_labels(self.labels, len(self.embedding))) is not None:
                return None
            return find_apart(self._unrolled().values, self.labels, self.feature_names, "labels", self._categories())
        if clusters is None or not clusters.levels:
            return None
        names = clusters.levels[clusters.default].names
        return find_apart(self._unrolled().values, names, self.feature_names, "clusters", self._categories())

    def _find_islands_apart(self) -> Apart | None:
        """Return which features tell the islands of a flat map apart; None if it has no two."""
        from gnomon.evaluation.islands import find_islands
        from gnomon.explanations.importance import find_apart

        if self.surface is not None:
            return None
        rows, island = find_islands(self.embedding)
        if not len(rows):
            return None
        return find_apart(self._unrolled().values[rows], island, self.feature_names, "islands", self._categories())

    def _categories(self) -> dict[str, slice]:
        """Return where the features of each category stand, of two values its only one."""
        from gnomon.data.columns import features_of

        rules = self.columns or []
        if sum(len(rule.features) for rule in rules) != len(self.feature_names):
            return {}
        return {rule.name: at for rule, at in features_of(rules).items() if rule.kind == "category"}

    @entrance("importance_by_label")
    def importance_by_label(
        self, *, explanation: Explanation | None = None, groups: Any = None
    ) -> AnswersByLabel[MeanImportance | None]:
        """Say for each label which features move its points most. See `gnomon.importance_by_label`."""
        from gnomon.explanations import importance_by_label

        known = self._known_groups(groups) if explanation is None else groups
        found = importance_by_label(explanation or self.explain(), self._known_labels(), groups=known)
        return cautioned(self, found)

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
        return [np.arange(columns.start, columns.stop) for columns in several]

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

    @entrance("suspects")
    def suspects(self, n_top: int = 20) -> Suspects:
        """List rows whose neighbours in the data vote for another label than theirs.

        By the first 15 of `neighbors`, in the metric of the map; where the points lie in the map does not matter. The
        neighbours vote with weights that fall with their distance, the row itself does not. A label of fewer than 16
        rows is judged by as many neighbours as other rows have it, and that of one row not at all. Rows that repeat
        each other, as two views of a picture do, say nothing of each other's label: where `explain` counts them once,
        15 distinct others are asked.

        Parameters
        ----------
        n_top : int >= 1, default=20
            Rows listed at most, the most doubtful first. `Suspects.scores` has a score for every row, as a column of
            `metadata` to colour the page by.

        Returns
        -------
        gnomon.explanations.Suspects

        Raises
        ------
        ValueError
            If the map has no labels, or they are measured and so no classes.
        """
        from gnomon.explanations.suspects import find_suspects

        labels, graph, values = self._known_labels(), self._nearest(), self._mapped().values
        labelled = sort_into_classes(labels).labelled
        stand = find_representatives(values, self._known_neighbors(), labelled, seed=0, by_chance=False)
        if stand is not None:
            graph = distinct_neighbors(values, graph, stand, graph.n_neighbors)
        found = find_suspects(graph, labels, n_top, point_names=self.point_names, representatives=stand)
        return cautioned(self, found, VOTES)

    @entrance("repeats")
    def repeats(self) -> Repeats:
        """List rows of the map that repeat each other: duplicates, and rows nearly equal.

        Rows equal in every value of `X`, and sets of two to ten rows so near each other, beside the next one, that one
        in twenty tables of rows that lie evenly has such a set (heavy-tailed tables have some more). Copies that differ
        about as much as other rows do are not found, as soon happens in few columns. Where a tenth of the rows could be
        spared, `explain` counts more sets, some of them by chance: there a set missed does more harm.

        Returns
        -------
        gnomon.explanations.Repeats
        """
        from gnomon.explanations.repeats import list_repeats
        from gnomon.neighbors import compute_neighbors, native_metric
        from gnomon.neighbors.repeats import REPEATS_NEIGHBORS

        values, graph = self._mapped().values, self._known_neighbors()
        wanted = min(REPEATS_NEIGHBORS, graph.n_samples - 1)
        if graph.n_neighbors < wanted and native_metric(graph.metric) is not None:
            graph = compute_neighbors(float_rows(values), wanted, metric=graph.metric)
        return list_repeats(self._checked().values, graph.nearest(REPEATS_NEIGHBORS), point_names=self.point_names)

    @entrance("outliers")
    def outliers(self, n_top: int = 20) -> Outliers:
        """List rows that lie far from the data: their density is low beside that of their neighbours.

        By the local outlier factor of the first 15 of `neighbors`, in the metric of the map. Rows at distance 0 of each
        other count as one, and all have its score; rows near them are compared with 15 rows that differ.

        Parameters
        ----------
        n_top : int >= 1, default=20
            Rows listed, the farthest out first. `Outliers.scores` has a score for every row.

        Returns
        -------
        gnomon.explanations.Outliers
        """
        from gnomon.explanations.outliers import find_outliers
        from gnomon.neighbors import native_metric

        graph = self._known_neighbors()
        distances = graph.metric == "precomputed"
        of_table = self.metric == graph.metric if distances else native_metric(graph.metric) is not None
        found = find_outliers(
            graph,
            n_top,
            n_neighbors=ANSWER_NEIGHBORS,
            X=self._mapped().values if of_table else None,
            point_names=self.point_names,
        )
        return cautioned(self, found)

    def _known_neighbors(self) -> NeighborGraph:
        graph = self.neighbors()
        if graph is None:
            raise ValueError(message("a map of 1 row", "one of 2 rows at least"))
        return graph

    def _nearest(self) -> NeighborGraph:
        return self._known_neighbors().nearest(ANSWER_NEIGHBORS)

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
