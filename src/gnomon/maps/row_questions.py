"""What one can ask of a map about rows that stand out: doubtful labels, rows that repeat each other, outliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data.labels import sort_into_classes
from gnomon.linalg.table import float_rows
from gnomon.maps.cautions import cautioned
from gnomon.maps.votes import told_of_votes
from gnomon.neighbors import VOTES, distinct_neighbors, find_representatives
from gnomon.neighbors.graph import ANSWER_NEIGHBORS

if TYPE_CHECKING:
    from gnomon.data import Table
    from gnomon.explanations import OffDirections, Outliers, Repeats, Suspects
    from gnomon.neighbors import NeighborGraph

__all__ = ["RowQuestions"]

_OF_NUMBERS = (
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "correlation",
)  # metrics of columns that can go together


class RowQuestions:
    """Rows of `gnomon.Map` that stand out among their neighbours in the data."""

    metric: str
    feature_names: list[str]
    point_names: npt.NDArray[Any] | None
    neighbors: Callable[[], NeighborGraph | None]
    _checked: Callable[[], Table]
    _mapped: Callable[[], Any]
    _standardised: Callable[[], Table]
    _as_scaled: Callable[[Any], Any]
    _known_labels: Callable[[], npt.NDArray[Any]]

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
        return cautioned(self, found, VOTES, more=[told_of_votes(self)])  # type: ignore[arg-type]

    @entrance("repeats")
    def repeats(self) -> Repeats:
        """List rows of the map that repeat each other: duplicates, and rows nearly equal.

        Rows equal in every value of `X`, and sets of two to ten rows so near each other, beside the next one, that one
        in twenty tables of rows that lie evenly has such a set, and so in most columns: a few giant ones make no rows
        alike (few columns whose tails are heavier than Cauchy's may). Copies that differ about as much as other rows do
        are not found, as soon happens in few columns. Where a tenth of the rows could be spared, `explain` counts more
        sets, some of them by chance: there a set missed does more harm.

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
        """List rows that lie far from the data: by their neighbours, and by how columns go together.

        By the local outlier factor of the first 15 of `neighbors`, in the metric of the map: their density is low
        beside that of their neighbours. Rows at distance 0 of each other count as one, and all have its score; rows
        near them are compared with 15 rows that differ.

        Rows that are odd alike are neighbours of each other and have no low density, and a few odd values of many
        hardly change distances. So `Outliers.off_directions` tells which rows lie off the directions in which the
        columns go together (Q, the squared prediction error), or far out within them (Hotelling's T squared), or have
        unusual values in many columns that are the same in nine rows of ten, and by which columns. It is of `X`,
        standardised if the map was made so; None for sparse tables, for distances that were given, and for metrics that
        read values otherwise than as numbers.

        Parameters
        ----------
        n_top : int >= 1, default=20
            Rows listed, the farthest out first. `Outliers.scores` has a score for every row. Rows off the directions
            are all listed.

        Returns
        -------
        gnomon.explanations.Outliers
        """
        from gnomon.explanations.off_directions import find_off_directions

        values, off = self._of_numbers(), None
        if values is not None:
            off = find_off_directions(values, self._nearest(), self.feature_names, point_names=self.point_names)
        return cautioned(self, replace(self._thin_rows(n_top), off_directions=off))

    def _of_numbers(self) -> npt.NDArray[Any] | None:
        """Return the features, standardised if the map was made so; None where they are no dense table of numbers.

        Under the cosine metric rows are of length one.
        """
        from gnomon.neighbors.metrics import metric_name

        values = self._standardised().values
        if not isinstance(values, np.ndarray) or metric_name(self.metric) not in _OF_NUMBERS:
            return None
        return self._without_lengths(values)

    def _without_lengths(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return rows of length one, where the metric of the map looks at no length; else as they are."""
        from gnomon.neighbors.straight import straight_rows

        if self.metric != "cosine":
            return values
        rows: npt.NDArray[Any] = straight_rows(values, self.metric, dtype=values.dtype)
        return rows

    def _new_off_directions(self, rows: Any) -> OffDirections | None:
        """Return which of new rows lie off the directions of those of the map; None where these have none."""
        from gnomon.explanations.off_directions import find_new_off_directions

        values = self._of_numbers()
        if values is None:
            return None
        return find_new_off_directions(values, self._without_lengths(self._as_scaled(rows)), self.feature_names)

    def _thin_rows(self, n_top: int) -> Outliers:
        """Return outliers by their neighbours alone."""
        from gnomon.explanations.outliers import find_outliers
        from gnomon.neighbors import native_metric

        graph = self._known_neighbors()
        distances = graph.metric == "precomputed"
        of_table = self.metric == graph.metric if distances else native_metric(graph.metric) is not None
        return find_outliers(
            graph,
            n_top,
            n_neighbors=ANSWER_NEIGHBORS,
            X=self._mapped().values if of_table else None,
            point_names=self.point_names,
        )

    def _known_neighbors(self) -> NeighborGraph:
        graph = self.neighbors()
        if graph is None:
            raise ValueError(message("a map of 1 row", "one of 2 rows at least"))
        return graph

    def _nearest(self) -> NeighborGraph:
        return self._known_neighbors().nearest(ANSWER_NEIGHBORS)
