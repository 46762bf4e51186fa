"""Clusters of the data behind a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._memory import available_memory
from gnomon._run import running
from gnomon._threads import beside, resolve_n_threads
from gnomon._validation import pass_on
from gnomon.maps.beside import columns_beside
from gnomon.maps.cautions import cautioned
from gnomon.maps.costs import answer_takes, sparse_columns
from gnomon.maps.order import order_of_rows
from gnomon.maps.representation import with_directions
from gnomon.maps.unasked import known_values
from gnomon.maps.wrapped import told_of_cut

if TYPE_CHECKING:
    from gnomon.clusters import Clusters
    from gnomon.completion import Completion
    from gnomon.data import Table
    from gnomon.data.representation import Representation
    from gnomon.data.scaling import Scaling

__all__ = ["Clustering"]


class Clustering:
    """Clusters of the data of `gnomon.Map`, standardised or in the coordinates that it was made in."""

    metric: str
    parameters: dict[str, Any]
    feature_names: list[str]
    image_shape: tuple[int, ...] | None
    labels: Any
    label_name: str
    metadata: dict[str, npt.NDArray[Any]]
    notes: list[str]
    embedding: npt.NDArray[np.float32]
    X: Any
    n_jobs: int | None
    _unrolled: Callable[[], Table]
    representation: Representation | None
    _mapped: Callable[[], Table]
    completion: Completion | None
    scale: Scaling | None
    _clusters: Clusters | None
    _bare_clusters: Clusters | None
    _too_long: Callable[[], bool]

    @entrance("clusters")
    def clusters(self, **options: Any) -> Clusters:
        """Find clusters of the data at nested levels, and name them by features. See `gnomon.find_clusters`.

        They are found in the data, not in the map, and do not depend on where its points lie. Without options they are
        found once.

        Parameters
        ----------
        **options
            Of `gnomon.find_clusters`, such as ``min_size``, ``alpha`` and ``random_state``.

        Returns
        -------
        Clusters
            Named by the features of the map; of pictures by nine regions. `Clusters.told` says which columns of
            `metadata` they tell, such as the batch of each row; not of those that became features.
        """
        if options:
            return self._with_columns_told(self._find_clusters(**options))
        if self._clusters is None:
            if self._bare_clusters is None:
                self._bare_clusters = self._find_clusters()
            self._clusters = self._with_columns_told(self._bare_clusters)
        return self._clusters

    def _with_columns_told(self, found: Clusters) -> Clusters:
        """Return clusters with the metadata that they tell."""
        from gnomon.clusters.agreeing import columns_told

        told = columns_told(found.labels, columns_beside(self)) if found.levels else ""  # type: ignore[arg-type]
        return replace(found, told=told)

    def _find_clusters(self, **options: Any) -> Clusters:
        from gnomon.clusters import find_clusters

        regions = self.image_shape is not None and min(self.image_shape[:2]) >= 3
        given: dict[str, Any] = {
            "features": self._unrolled(),
            "feature_names": self.feature_names,
            "image_shape": self.image_shape if regions else None,
            "known": None if regions else known_values(self.completion, self._unrolled().values.shape),
            "metric": self.metric,
            "n_jobs": self.n_jobs,
        }
        given.update(options)
        if "known" not in options and {"features", "image_shape"} & {*options}:
            given["known"] = None  # of other features
        order_of_rows(self)  # type: ignore[arg-type]
        table = with_directions(self._mapped(), self.representation, given["metric"])
        found = find_clusters(table, **given)
        of_components, standardised = self.representation is not None, self.scale is not None
        found = replace(found, of_components=of_components, standardised=standardised)
        cut = told_of_cut(self.notes) if found.levels else ""
        return cautioned(self, found, field="counting", joined=bool(found.levels), more=[cut])

    @contextmanager
    def _clusters_beside(self) -> Iterator[None]:
        """Find the clusters that a page shows on a thread beside what a block asks of the map, and tell the block.

        They share no more than the table and what the order of its rows says. Where memory is bounded or short they
        are found when they are asked for, as both at a time take more.
        """
        with running(n_threads=resolve_n_threads(self.n_jobs)) as run:
            alone = run.n_threads == 1 or math.isfinite(run.memory)
            if alone or self._clusters is not None or not self._has_clusters() or self._is_short_of_memory():
                yield
                return
            self._unrolled()
            order_of_rows(self)  # type: ignore[arg-type]
            with beside(self._clusters_shown) as found:
                yield
                found()

    def _is_short_of_memory(self) -> bool:
        """Return whether there is less free memory than a page and all that it shows take together."""
        entries = self.X.size if isinstance(self.X, np.ndarray) else self.X.nnz
        shape = len(self.embedding), entries / len(self.embedding)
        columns = sparse_columns(self.X)
        needed = sum(answer_takes(name, *shape, columns)[0] for name in ("explanation", "evaluation", "page"))
        return needed > available_memory()

    def _has_clusters(self) -> bool:
        """Return whether clusters are shown: of a map without labels and with rows enough."""
        if self.labels is not None:
            return False
        from gnomon.clusters import FEWEST_ROWS

        return len(self.embedding) >= FEWEST_ROWS

    def _clusters_shown(self) -> Clusters | None:
        """Return the clusters for a report or a page, None where none are shown.

        That their rows are in order is not warned of: reports and pages say so.
        """
        return self._clusters_unwarned() if self._has_clusters() else None

    def _told_beside_labels(self) -> str:
        """Say which columns beside a map with labels its clusters tell, and the labels do not; empty if none.

        They are looked for only where there are such columns of classes, among at most 20,000 rows or if known.
        """
        from gnomon.clusters import FEWEST_ROWS
        from gnomon.clusters.agreeing import classes_of_column, columns_told

        n = len(self.embedding)
        if self.labels is None or not self.metadata or n < FEWEST_ROWS or self._too_long():
            return ""
        beside_data = columns_beside(self)  # type: ignore[arg-type]
        columns = {name: one for name, one in beside_data.items() if classes_of_column(one, n) is not None}
        found = self._clusters_unwarned() if columns else None
        if found is None or not found.levels:
            return ""
        known = classes_of_column(self.labels, n)
        return columns_told(found.labels, columns, known=known, known_name=self.label_name)

    def _clusters_unwarned(self) -> Clusters:
        with running(warned=[]) as run:
            found = self.clusters()
        told = replace(found, counting="").caution
        for text, category in run.warned or []:
            if not told or not text.endswith(told):
                pass_on(text, category)
        return found
