"""Clusters of the data behind a map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon.maps.representation import with_directions
from gnomon.maps.weights import cautioned

if TYPE_CHECKING:
    from gnomon.clusters import Clusters
    from gnomon.data import Table
    from gnomon.data.representation import Representation

__all__ = ["Clustering"]


class Clustering:
    """Clusters of the data of `gnomon.Map`, standardised or in the coordinates that it was made in."""

    metric: str
    parameters: dict[str, Any]
    feature_names: list[str]
    image_shape: tuple[int, ...] | None
    labels: Any
    embedding: npt.NDArray[np.float32]
    n_jobs: int | None
    _unrolled: Callable[[], Table]
    representation: Representation | None
    _mapped: Callable[[], Table]
    _clusters: Clusters | None

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
            Named by the features of the map; of pictures by nine regions.
        """
        if options:
            return self._find_clusters(**options)
        if self._clusters is None:
            self._clusters = self._find_clusters()
        return self._clusters

    def _find_clusters(self, **options: Any) -> Clusters:
        from gnomon.clusters import find_clusters

        regions = self.image_shape is not None and min(self.image_shape[:2]) >= 3
        given: dict[str, Any] = {
            "features": self._unrolled(),
            "feature_names": self.feature_names,
            "image_shape": self.image_shape if regions else None,
            "metric": self.metric,
            "n_jobs": self.n_jobs,
        }
        given.update(options)
        table = with_directions(self._mapped(), self.representation, given["metric"])
        found = replace(find_clusters(table, **given), of_components=self.representation is not None)
        return cautioned(found, self.parameters, field="counting")

    def _clusters_shown(self) -> Clusters | None:
        """Return the clusters for a report or a page: of a map without labels and with rows enough."""
        from gnomon.clusters import FEWEST_ROWS

        return self.clusters() if self.labels is None and len(self.embedding) >= FEWEST_ROWS else None
