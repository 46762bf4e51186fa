"""Methods that look for the neighbours of each row, or are given them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon import extension, neighbors
from gnomon._run import current_run
from gnomon._validation import Rule, message, warn
from gnomon.exceptions import NeighborsWarning
from gnomon.methods.rows import RowEmbedder

if TYPE_CHECKING:
    from gnomon.data import Table

__all__ = ["GraphEmbedder"]


class _Neighbors:
    """Neighbours, read later, or none: None, or a tuple of nothing but None, as umap-learn has it by default."""

    text = "neighbours or None"

    def check(self, value: object) -> Any:
        """Return the neighbours as they are, or None."""
        return None if isinstance(value, tuple) and value and all(one is None for one in value) else value


@dataclass(eq=False, repr=False)
class GraphEmbedder(RowEmbedder):
    """A method of the neighbours of each row, which it finds or is given as `precomputed_knn`.

    Neighbours that are given are those of the fit alone: X and the metric start the map and place new rows. Rows that
    are equal in X share their neighbours, as they share a position.
    """

    _: KW_ONLY
    precomputed_knn: Any = None

    _common_rules: ClassVar[dict[str, Rule]] = {
        **RowEmbedder._common_rules,
        "precomputed_knn": _Neighbors(),
    }

    def _distinct_rows(
        self, values: Any, parameters: dict[str, Any], *, counted: bool
    ) -> tuple[Any, npt.NDArray[np.intp] | None]:
        given = parameters["precomputed_knn"]
        if given is not None:
            found = neighbors.read_neighbors(given, int(values.shape[0]), "precomputed_knn")
            given = found.in_metric(values, parameters["metric"], self.metric_params)
        rows, copies = super()._distinct_rows(values, parameters, counted=counted)
        parameters["precomputed_knn"] = given if given is None or copies is None else given.of_distinct_rows(copies)
        return rows, copies

    def _rows_present(self, given: Table, present: npt.NDArray[np.intp], parameters: dict[str, Any]) -> Table:
        if parameters["precomputed_knn"] is not None:
            remedy = "Leave the rows out, and search without them."
            fact = f"{int(given.values.shape[0]) - len(present)} rows of weight 0"
            raise ValueError(message("precomputed_knn", "of rows that all take part", fact=fact, remedy=remedy))
        return super()._rows_present(given, present, parameters)

    def _n_kept(self, n_neighbors: int, n_samples: int) -> int:
        """Return how many neighbours a search for so many holds, those that others ask for included."""
        return n_neighbors if self._shared is None else max(n_neighbors, min(self._shared.n_neighbors, n_samples - 1))

    def _durations(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> dict[str, float]:
        found = super()._durations(n_samples, n_features, parameters)
        wanted = self._n_compared(parameters, n_samples)
        if not found or not wanted:
            return found
        given = parameters["metric"] == "precomputed" or parameters["precomputed_knn"] is not None
        kept, shared = self._n_kept(wanted, n_samples), parameters["n_shared"]
        if given:
            seconds = 0.0
        elif shared is None:
            params = parameters.get("metric_params")
            metric = neighbors.metric_name(parameters["metric"], params) or "euclidean"
            seconds = neighbors.search_seconds(n_samples, n_features, kept, metric=metric)
        else:
            n_columns = parameters["n_columns"]
            seconds = neighbors.sparse_search_seconds(n_samples, n_features, shared, kept, n_columns=n_columns)
        return {"neighbors": seconds, **found}

    def _find_neighbors(self, X: Any, wanted: int, parameters: dict[str, Any]) -> neighbors.NeighborGraph:
        """Return the graph of the wanted number of neighbours, found or given, or of as many as there are."""
        given: neighbors.GivenNeighbors | None = parameters["precomputed_knn"]
        if given is None:
            return super()._find_neighbors(X, wanted, parameters)
        found, least = given.n_neighbors, self._fewest_neighbors(parameters, wanted)
        if found < least:
            what, rule = f"precomputed_knn of {found} neighbours", f"of at least {least}, which other parameters need"
            remedy = f"Search more, at best {wanted}."
            if "perplexity" in parameters:
                remedy += f" Or lower perplexity, to {max(1.01, found / 3):.3g} or so."
            raise ValueError(message(what, rule, remedy=remedy))
        if found < wanted:
            text = f"{wanted} neighbours were asked for and precomputed_knn has {found}; {found} are used."
            warn(text, NeighborsWarning)
        current_run().reporter.begin("neighbors", int(X.shape[0]))
        parameters["precomputed_knn"] = given.forgotten()  # the graph holds what is needed
        if self._shared is None:
            return given.graph(wanted)
        self._shared.graph = given.graph(max(wanted, self._shared.n_neighbors))
        return self._shared.graph.nearest(wanted)

    def _tell_far(self, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.floating]) -> None:
        """Tell of new rows, whose neighbours these are, that are out of range of the fitted ones."""
        graph = self.graph_
        if graph.mask is None and indices.shape[1] == graph.n_neighbors:
            if self._kept.novelty is None:
                self._kept.novelty = extension.Novelty.learn(graph.indices, graph.distances, metric=graph.metric)
            known = self._kept.novelty
            away = (distances[:, 0] > 0.0) & np.isfinite(distances).all(axis=1)  # else it is a fitted row
            extension.tell_of_far(known, known.score(indices, distances), graph.n_neighbors, away=away)

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        """Return the number of neighbours, of those wanted, without which other parameters have no meaning."""
        return 1
