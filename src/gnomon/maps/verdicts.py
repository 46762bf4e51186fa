"""Questions about groups of points of a map that the map cannot answer by itself, judged in the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.geometry.check import has_place, row_mask
from gnomon.maps.cautions import cautioned
from gnomon.maps.confounded import told_of_confounded_sides
from gnomon.maps.matching import refuse_other_order
from gnomon.maps.named_rows import rows_without_value
from gnomon.maps.order import order_of_rows
from gnomon.maps.representation import with_directions
from gnomon.maps.votes import told_of_votes
from gnomon.neighbors.independence import NULLS, PAIRS

if TYPE_CHECKING:
    from gnomon.clusters import Clusters
    from gnomon.data import Table
    from gnomon.data.representation import Representation
    from gnomon.evaluation import MapVerdicts, NullScores, Verdict
    from gnomon.maps.result import Map

__all__ = ["Verdicts", "islands_beside", "shown_verdicts", "verdict_lines", "verdicts_of_page"]

_MOST_TOLD = 3  # illusions
_OF_AMOUNTS = ("braycurtis", "ruzicka")


class Verdicts:
    """Verdicts on groups of points of `gnomon.Map`.

    A group is a label of the map, a condition such as "age>40" as `Map.select` takes it, row numbers, or a mask. Rows
    are compared as the map was made of them: standardised, or as their representation, if it was. Under "cosine"
    principal components are judged as they are before they are centred: directions about a mean part what lies on
    either side of it, however many rows lie between.
    """

    embedding: npt.NDArray[np.float32]
    labels: npt.NDArray[Any] | None
    label_name: str
    point_names: npt.NDArray[Any] | None
    metric: str
    n_jobs: int | None
    parameters: dict[str, Any]
    select: Callable[[str], npt.NDArray[np.bool_]]
    representation: Representation | None
    feature_names: list[str]
    _mapped: Callable[[], Table]
    _categories: Callable[[], dict[str, slice]]
    _gaps: MapVerdicts | None
    _illusions: MapVerdicts | None

    @entrance("are_apart")
    def are_apart(self, a: Any, b: Any, **options: Any) -> Verdict:
        """Say whether two groups are apart in the data. See `gnomon.evaluation.are_apart`, which takes the options."""
        from gnomon.evaluation import are_apart

        given = {"columns": self._columns_judged(), **self._told(options, a, b)}
        groups = self._groups_of(a, b)
        return self._advised(are_apart(*self._judged(), *groups, **given), *groups)

    @entrance("is_continuum")
    def is_continuum(self, a: Any, b: Any, **options: Any) -> Verdict:
        """Say whether two groups are one continuum in the data. See `gnomon.evaluation.is_continuum`."""
        from gnomon.evaluation import is_continuum

        given = {"columns": self._columns_judged(), **self._told(options, a, b)}
        return self._advised(is_continuum(*self._judged(), *self._groups_of(a, b), **given))

    @entrance("is_real")
    def is_real(self, island: Any, **options: Any) -> Verdict:
        """Say whether an island is a group of its own in the data. See `gnomon.evaluation.is_real`."""
        from gnomon.evaluation import is_real

        name = str(island) if _is_name(island) else "the island"
        given = {"name": name, "columns": self._columns_judged(), **self._in_metric(options)}
        groups = self._groups_of(island)
        return self._advised(is_real(*self._judged(), *groups, **given), *groups)

    @entrance("is_denser")
    def is_denser(self, a: Any, b: Any, **options: Any) -> Verdict:
        """Say whether one group is denser than another in the data. See `gnomon.evaluation.is_denser`."""
        from gnomon.evaluation import is_denser

        given = {"n_jobs": self.n_jobs, **self._told(options, a, b)}
        return self._of_pairs(is_denser(*self._judged(), *self._groups_of(a, b), **given))

    @entrance("is_nearer")
    def is_nearer(self, a: Any, b: Any, c: Any, **options: Any) -> Verdict:
        """Say whether one group is nearer to a second than to a third. See `gnomon.evaluation.is_nearer`."""
        from gnomon.evaluation import is_nearer

        return self._of_pairs(is_nearer(*self._judged(), *self._groups_of(a, b, c), **self._told(options, a, b, c)))

    @entrance("verdicts")
    def verdicts(self, **options: Any) -> MapVerdicts:
        """Judge the gaps that the map shows: between its nearest classes, and around its islands.

        Without options they are judged once.

        Parameters
        ----------
        **options
            Arguments of `gnomon.evaluation.judge_gaps`, such as ``n_pairs``, ``n_islands`` and ``max_rows``. Labels
            that are measured, such as ages, are no classes.

        Returns
        -------
        gnomon.evaluation.MapVerdicts
        """
        if options:
            return self._judge_gaps(**options)
        if self._gaps is None:
            self._gaps = self._judge_gaps()
        return self._gaps

    def _judge_gaps(self, **options: Any) -> MapVerdicts:
        from gnomon.evaluation import judge_gaps
        from gnomon.evaluation.gaps.sentences import ORDER_TELLS

        own: dict[str, Any] = {"labels": self._labels_of_classes(), "columns": self._columns_judged()}
        given = {**own, **self._in_metric(options)}
        found = judge_gaps(*self._judged(), **given)
        return cautioned(self, replace(found, verdicts=[self._of_coordinates(one) for one in found]), ORDER_TELLS)

    @entrance("illusions")
    def illusions(self, **options: Any) -> MapVerdicts:
        """Say whether sizes, densities and distances of classes in the map are those of the data.

        Without options they are judged once.

        Parameters
        ----------
        **options
            Arguments of `gnomon.evaluation.find_illusions`, such as ``least``.

        Returns
        -------
        gnomon.evaluation.MapVerdicts
            Its ``illusions`` are those that are not.

        Raises
        ------
        ValueError
            If the map has fewer than two classes of 20 rows.
        """
        if options:
            return self._find_illusions(**options)
        if self._illusions is None:
            self._illusions = self._find_illusions()
        return self._illusions

    def _find_illusions(self, **options: Any) -> MapVerdicts:
        from gnomon.evaluation import find_illusions

        labels = self._labels_of_classes()
        if labels is None:
            raise ValueError(message("a map", "with classes as labels", remedy="Pass labels to gnomon.map."))
        return cautioned(self, find_illusions(*self._judged(), labels, **self._in_metric(options)), PAIRS)

    @entrance("null_scores")
    def null_scores(self, **options: Any) -> NullScores:
        """Compare the scores of the map with those of maps of structureless tables, made by its own method.

        Parameters
        ----------
        **options
            Arguments of `gnomon.evaluation.null_scores`, such as ``kind`` and ``n_nulls``: as many maps are made.

        Returns
        -------
        gnomon.evaluation.NullScores

        Raises
        ------
        ValueError
            If the method of the map is not known, or a target, weights of rows, given distances or a surface made it.
        """
        from gnomon.maps.again import null_scores

        found = null_scores(self, options)  # type: ignore[arg-type]
        return cautioned(self, found, NULLS)

    def _labels_of_classes(self) -> npt.NDArray[Any] | None:
        return None if self.labels is None or measured_labels(self.labels) is not None else self.labels

    def _judged(self) -> tuple[Table, npt.NDArray[np.float32]]:
        """Return table and map; whether rows are in order is then known to what judges them within this call."""
        order_of_rows(self)  # type: ignore[arg-type]
        return with_directions(self._mapped(), self.representation, self.metric), self.embedding

    def _columns_judged(self) -> dict[str, Any]:
        """Return the features of each column that was mapped; none of a representation, whose columns have no names."""
        if self.representation is not None:
            return {}
        own = {name: slice(at, at + 1) for at, name in enumerate(self.feature_names)}
        several = self._categories()
        within = {f for at in several.values() for f in range(at.start, at.stop)}
        return {**{name: at for name, at in own.items() if at.start not in within}, **several}

    def _of_pairs(self, found: Verdict) -> Verdict:
        """Return a verdict on independent rows, which does not say so itself, with what the map knows of it."""
        return cautioned(self, self._of_coordinates(found), PAIRS)

    def _advised(self, found: Verdict, *groups: Any) -> Verdict:
        """Return a verdict with what the map knows of it: coordinates that were judged, and weights that were not.

        Of groups that are apart, from each other or one from all other rows, also which metadata go with them, and
        whether labels are told by rows of the same unit.
        """
        told: list[str] = []
        if groups and found.answer == "yes":
            inside, *others = (row_mask(one, len(self.embedding), name="group") for one in groups)
            told = [told_of_confounded_sides(self, inside, others[0] if others else ~inside)]  # type: ignore[arg-type]
            told += [told_of_votes(self)]  # type: ignore[arg-type]
        return cautioned(self, self._of_coordinates(found), joined=True, more=told)

    def _of_coordinates(self, found: Verdict) -> Verdict:
        """Return a verdict that advises fewer coordinates where those of a representation were judged."""
        from gnomon.evaluation.gaps.sentences import components_advice

        known = self.representation
        if known is None:
            return found
        advice = f"ask about fewer coordinates than these {known.n_coordinates} ({known.name})"
        told = components_advice(int(self._judged()[0].values.shape[1]), self.metric)
        return replace(found, sentence=found.sentence.replace(told, advice)) if told else found

    def _told(self, options: dict[str, Any], *groups: Any) -> dict[str, Any]:
        """Add to options what the map knows: its metric, and what the groups are called."""
        letters = "ABC"
        names = tuple(str(one) if _is_name(one) else letters[i] for i, one in enumerate(groups))
        return {"names": names, **self._in_metric(options)}

    def _in_metric(self, options: dict[str, Any]) -> dict[str, Any]:
        """Add to options the metric of the map, if they name none; refuse one in which nothing can be judged."""
        from gnomon.neighbors.straight import STRAIGHT, has_straight_rows

        if "metric" not in options and not has_straight_rows(self.metric):
            fact = f"the metric of this map is {self.metric!r}"
            rule = f"of a map by one of the metrics {', '.join(map(repr, STRAIGHT))}"
            instead = (
                "metric='hellinger' to judge by the roots of each row's shares"
                if self.metric in _OF_AMOUNTS
                else "metric='euclidean' to judge by straight distances of the columns"
            )
            remedy = f"Ask a map that is made by one of these, or in Python pass {instead}."
            raise ValueError(message("a verdict", rule, fact=fact, remedy=remedy))
        return {"metric": self.metric, **options}

    def _groups_of(self, *groups: Any) -> list[Any]:
        """Return masks of labels and conditions; row numbers and masks as they are."""
        return [self._rows_named(one) if _is_name(one) else one for one in groups]

    def _rows_asked(self, rows: Any) -> Any:
        """Return a mask of a label or condition that is a text; row numbers, one or several, and masks as they are."""
        refuse_other_order(None, self.point_names, rows=rows)
        return self._rows_named(rows) if isinstance(rows, str) else rows

    def _rows_without_value(self, name: str) -> tuple[npt.NDArray[np.bool_], list[str]]:
        """Return rows of which it is not known whether they are of a label or condition, and the columns they lack."""
        if self.labels is not None:
            classes = sort_into_classes(self.labels)
            if name in classes.names:
                return ~classes.labelled, [self.label_name]
        return rows_without_value(self, name)  # type: ignore[arg-type]

    def _rows_named(self, name: Any) -> npt.NDArray[np.bool_]:
        """Return the rows of a label, else of a condition."""
        if self.labels is not None:
            classes = sort_into_classes(self.labels)
            if str(name) in classes.names:
                return np.asarray(classes.codes == classes.names.index(str(name)))
        if isinstance(name, str) and any(sign in name for sign in "=<>"):
            return self.select(name)
        remedy = "Pass a label, a condition such as 'label=3', row numbers or a mask."
        raise ValueError(message(f"group {name!r}", "a label of the map", remedy=remedy))


def _is_name(group: Any) -> bool:
    return np.ndim(group) == 0


def shown_verdicts(result: Map) -> tuple[MapVerdicts, MapVerdicts | None] | None:
    """Return what the data say of the gaps that a map shows, and of sizes and distances of its classes if it has any.

    None where they cannot be judged: of maps of fewer than 60 rows, on surfaces, or in metrics that are no straight
    distances of rows, however these are laid (`gnomon.neighbors.straight`).
    """
    from gnomon.evaluation.illusions import FEWEST_OF_CLASS

    if not _can_be_judged(result):
        return None
    placed = has_place(result.embedding)
    gaps, labels = result.verdicts(), result._labels_of_classes()
    if labels is None:
        return gaps, None
    codes = sort_into_classes(labels).codes[placed]
    large = np.bincount(codes[codes >= 0]) >= FEWEST_OF_CLASS
    return gaps, result.illusions() if np.count_nonzero(large) >= 2 else None


def _can_be_judged(result: Map) -> bool:
    from gnomon.evaluation.gaps.falls import FEWEST_ROWS
    from gnomon.neighbors.straight import has_straight_rows

    if np.count_nonzero(has_place(result.embedding)) < 2 * FEWEST_ROWS:
        return False
    return result.surface is None and has_straight_rows(result.metric)


def verdicts_of_page(result: Map) -> None:
    """Judge what a page shows, see `shown_verdicts`, and score its points while its clusters are found."""
    if _can_be_judged(result):
        with result._clusters_beside():
            shown_verdicts(result)
            result.point_scores()


def islands_beside(result: Map, clusters: Clusters) -> str:
    """Say why clusters are shown where islands of the map are not said to be groups; empty if there is no such case."""
    from gnomon.evaluation.gaps.falls import BRIDGE

    found = shown_verdicts(result) if clusters.levels else None
    if found is None or all(one.answer == "yes" for one in found[0]):
        return ""
    return (
        "Clusters have surely fewer rows between each and the nearest one than a single cloud has. Islands of the map "
        f"are compared with all other rows, and are groups only where density surely falls below {100 * BRIDGE:g} % "
        "of the sparser side's: not every cluster is such an island."
    )


def verdict_lines(result: Map) -> list[str]:
    """Return what the data say of the gaps, sizes and distances that a map shows, a line each; none if not judged."""
    found = shown_verdicts(result)
    if found is None:
        return []
    gaps, drawn = found
    lines = gaps.summary().splitlines()
    if drawn is None:
        return lines
    told = drawn.worst
    count = f"{len(told)} are" if len(told) > 1 else "1 is" if told else "none is"
    n_open = sum(one.answer == "cannot be told" for one in drawn)
    unknown = f", and {n_open} cannot be told" if n_open else ""
    such = (", such as" if len(told) > _MOST_TOLD else "") + (":" if told else ".")
    lines.append(
        f"Of {len(drawn)} sizes, densities and distances of classes, {count} surely other in the data than in the "
        f"map{unknown}{such}"
    )
    return lines + [one.line for one in told[:_MOST_TOLD]]
