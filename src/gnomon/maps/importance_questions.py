"""What one can ask of a map about which features move its points, and which tell its groups apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon.data import check_labels
from gnomon.data.labels import measured_labels
from gnomon.maps.cautions import cautioned
from gnomon.neighbors.independence import ERRORS

if TYPE_CHECKING:
    import numpy as np

    from gnomon.clusters import Clusters
    from gnomon.data import Table
    from gnomon.data.columns import ColumnRule
    from gnomon.explanations import AnswersByLabel, Explanation, MeanImportance
    from gnomon.explanations.importance import Apart
    from gnomon.surfaces import Surface

__all__ = ["ImportanceQuestions"]

_MOST_CLUSTERED = 20_000  # rows among which clusters are looked for to say what tells them apart


class ImportanceQuestions:
    """Features of `gnomon.Map` that move its points, and those that tell labels, clusters and islands apart."""

    embedding: npt.NDArray[np.float32]
    labels: npt.NDArray[Any] | None
    feature_names: list[str]
    columns: list[ColumnRule] | None
    surface: Surface | None
    explain: Callable[..., Explanation]
    _unrolled: Callable[[], Table]
    _bare_clusters: Clusters | None
    _clusters_shown: Callable[[], Clusters | None]
    _known_groups: Callable[[Any], Any]
    _known_labels: Callable[[], npt.NDArray[Any]]
    _rows_asked: Callable[[Any], Any]
    _parted: tuple[Any, Any, tuple[Apart | None, Apart | None]] | None

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
        found = cautioned(self, found, ERRORS)
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
        levels = None if clusters is None else clusters.levels
        if self._parted is None or self._parted[0] is not self.labels or self._parted[1] is not levels:
            apart, islands = self._find_apart(clusters), self._find_islands_apart()
            told = islands is not None and islands.adds_to(apart)
            self._parted = self.labels, levels, (apart, islands if told else None)
        return self._parted[2]

    def _too_long(self) -> bool:
        """Say whether the map has too many rows for clusters to be looked for unasked."""
        return self._bare_clusters is None and len(self.embedding) > _MOST_CLUSTERED

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
        return cautioned(self, found, ERRORS)
