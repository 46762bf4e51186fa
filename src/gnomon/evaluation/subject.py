"""What is to be judged: a map with the data, labels and neighbours of its rows, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.data import check_labels, find_duplicate_rows
from gnomon.data.labels import Classes, measured_labels, sort_into_classes
from gnomon.data.stored import StoredTable
from gnomon.evaluation.scores import label_hits, label_residuals
from gnomon.exceptions import DataWarning
from gnomon.geometry.check import check_features, check_places, has_place
from gnomon.neighbors import NeighborGraph, find_representatives, one_of_each_set, read_graph
from gnomon.neighbors.graph import ANSWER_NEIGHBORS

__all__ = ["LABEL_NEIGHBORS", "Subject", "Truth"]

LABEL_NEIGHBORS = 10
"""Neighbours in the map that vote for a row's label."""

Floats = npt.NDArray[np.float64]

_FEWEST_PLACES = 0.5  # of the rows that differ: with fewer places ties are told


@dataclass(frozen=True)
class Truth:
    """What labels say of rows: classes, measured values, or neither if there are fewer than two different ones.

    Attributes
    ----------
    classes : Classes or None
    values : ndarray of shape (n,), float64, or None
    representatives : ndarray of shape (n,), intp, or None
        The row that stands for each where rows repeat others in the data: a row is not told its label by its copies,
        and each set of copies has one vote. None where none do.
    """

    classes: Classes | None = None
    values: Floats | None = None
    representatives: npt.NDArray[np.intp] | None = None

    @classmethod
    def of(cls, labels: npt.NDArray[Any] | None) -> Self:
        """Sort labels into classes, or take them as numbers, as `check_labels` returned them."""
        if labels is None:
            return cls()
        values = measured_labels(labels)
        if values is not None:
            return cls(values=values)
        classes = sort_into_classes(labels)
        return cls(classes if len(classes) > 1 else None)

    def __bool__(self) -> bool:
        return self.classes is not None or self.values is not None

    def among_distinct(self, X: Any, graph: NeighborGraph | None, metric: str) -> Self:
        """Find the rows that repeat others in the data, unless columns of few values make rows equal by chance."""
        if metric == "precomputed":
            return self
        if self.classes is not None:
            labelled = self.classes.labelled
        elif self.values is not None:
            labelled = np.isfinite(self.values)
        else:
            return self
        stand = find_representatives(X, graph, labelled, seed=0, metric=metric, by_chance=False)
        return replace(self, representatives=stand)

    @property
    def n_repeats(self) -> int:
        """How many rows repeat others, 0 where that was not looked for."""
        stand = self.representatives
        return 0 if stand is None else int(np.count_nonzero(stand != np.arange(len(stand))))

    def n_asked(self, count: int = LABEL_NEIGHBORS) -> int:
        """Return among how many nearest rows of each row so many are that have a vote on its label."""
        most = 1 if self.representatives is None else int(np.bincount(self.representatives).max())
        return count * most + most - 1

    def voters(self, rows: npt.NDArray[Any], nearest: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
        """Return the first nearest rows that have a vote on the label of each row, at most so many, -1 for others."""
        nearest = nearest[:, : self.n_asked(count)]
        if self.representatives is None:
            return nearest
        near, first = one_of_each_set(nearest, self.representatives, self.representatives[rows])
        return np.where(first & (np.cumsum(first, axis=1) <= count), near, -1)

    def score(self, rows: npt.NDArray[Any], nearest: npt.NDArray[Any]) -> dict[str, Floats]:
        """Return how well the nearest rows in the map tell the label of each row, by the name of the score.

        Of `n_asked` nearest rows the first `LABEL_NEIGHBORS` distinct ones have a vote.
        """
        nearest = self.voters(rows, nearest, LABEL_NEIGHBORS)
        if self.classes is not None:
            return {"knn_accuracy": label_hits(self.classes.codes, len(self.classes), rows, nearest)}
        if self.values is not None:
            return {"knn_error": np.abs(label_residuals(self.values, rows, nearest))}
        return {}

    def explained(self, errors: Floats) -> float | None:
        """Return the share of the variance of measured labels that the neighbours tell."""
        scored = np.isfinite(errors)
        if self.values is None or not scored.any():
            return None
        values = self.values[scored]
        total = float(np.sum((values - values.mean()) ** 2))
        return 1.0 - float(np.sum(errors[scored] ** 2)) / total if total > 0 else None

    def expected_of_random_map(self, n_neighbors: int) -> dict[str, float]:
        """Return what a map that knows nothing of the labels is expected to get, by the name of the score."""
        if self.classes is not None:
            # Close to guessing each label as often as it occurs; a majority vote does a little better.
            codes = self.classes.codes[self.classes.labelled]
            shares = np.bincount(codes) / len(codes)
            return {"knn_accuracy": float(np.sum(shares**2))}
        # The mean of k random values has the variance of the values over k.
        return {} if self.values is None else {"knn_r2": -1.0 / n_neighbors}


@dataclass(frozen=True)
class Subject:
    """The rows that have a place in the map.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, n_features), or (n, n) of distances, or StoredTable of all rows given
    Y : ndarray of shape (n, n_components), float64
    truth : Truth
        What their labels say.
    n_neighbors : int, below n / 2
        Size of the neighbourhoods.
    kept : ndarray of shape (n,), int64
        Their numbers among the rows given.
    n_given : int
    graph : NeighborGraph or None
        Of the rows given.
    """

    X: Any
    Y: Floats
    truth: Truth
    n_neighbors: int
    kept: npt.NDArray[np.int64]
    n_given: int
    graph: NeighborGraph | None

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        labels: Any,
        graph: Any,
        n_neighbors: int | None,
        metric: str,
        stored: StoredTable | None = None,
    ) -> Self:
        """Check what was given; rows without a place in the map are left out. `stored` takes the place of X."""
        values: Any = check_features(X, None)[0] if stored is None else stored
        n = int(values.shape[0])
        places = check_places(Y, n)
        if labels is not None:
            labels = check_labels(labels, n)
        graph = None if graph is None else read_graph(graph, n)
        if metric == "precomputed" and values.shape[1] != n:
            rule = "square, of the distances of all rows"
            raise ValueError(message(f"X of shape {values.shape}", rule, fact="metric='precomputed'"))
        kept = np.flatnonzero(has_place(places)).astype(np.int64)
        n_neighbors = _check_n_neighbors(n_neighbors, len(kept), graph)
        if len(kept) < n:
            places = places[kept]
            values = values[kept] if stored is None else stored
            values = values[:, kept] if metric == "precomputed" else values
            labels = None if labels is None else labels[kept]
        if stored is None:
            _tell_of_ties(values, places)
        truth = Truth.of(labels)
        if stored is None:
            truth = truth.among_distinct(values, graph if len(kept) == n else None, metric)
        return cls(values, places, truth, n_neighbors, kept, n, graph)


def _tell_of_ties(X: Any, Y: Floats) -> None:
    """Warn where rows that differ share places, so that the order of the table decides who is nearer."""
    n_places = len(find_duplicate_rows(Y)[0])
    if n_places < _FEWEST_PLACES * len(Y) and n_places < _FEWEST_PLACES * len(find_duplicate_rows(X)[0]):
        places = "one place" if n_places == 1 else f"{n_places:,} places"
        warn(
            f"all {len(Y):,} rows lie at {places} of the map: of rows equally far the first in the table counts "
            "as nearer, and scores change with the order of the rows",
            DataWarning,
        )


def _check_n_neighbors(n_neighbors: int | None, placed: int, graph: NeighborGraph | None) -> int:
    if n_neighbors is None:
        n_neighbors = max(1, min(ANSWER_NEIGHBORS, (placed - 1) // 2))
    if graph is not None and graph.n_neighbors < n_neighbors:
        raise ValueError(
            message(
                f"n_neighbors={n_neighbors}",
                f"at most the graph's n_neighbors={graph.n_neighbors}",
                remedy="Pass a graph with more neighbours or none.",
            )
        )
    if not 2 * n_neighbors < placed:
        raise ValueError(
            message(
                f"n_neighbors={n_neighbors}",
                "below half the number of rows in the map",
                fact=f"{placed} rows",
                remedy=f"Use n_neighbors={max(1, (placed - 1) // 2)} or less." if placed > 2 else "",
            )
        )
    return n_neighbors
