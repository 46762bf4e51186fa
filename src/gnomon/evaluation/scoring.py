"""From data and a map to its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._random import RandomState, resolve_seed
from gnomon._threads import resolve_n_threads
from gnomon._validation import Either, Integer, Nothing, Rule, check_parameters, message
from gnomon.evaluation.anchors import AnchorScores, choose_anchors, score_anchors
from gnomon.evaluation.evaluation import Evaluation
from gnomon.evaluation.scores import (
    label_hits,
    nearest_in_map,
    rank_penalty_scale,
    shared_neighbors,
    spearman,
    trust_of_random_map,
)
from gnomon.geometry.check import check_features, check_places
from gnomon.neighbors import NeighborGraph, check_graph

__all__ = ["evaluate"]

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "n_anchors": Either(Integer(1), Nothing()),
    "n_triplets": Integer(1),
}
_LABEL_NEIGHBORS = 10
_TREE_COMPONENTS = 8  # a k-d tree is of use up to about this many components

Floats = npt.NDArray[np.float64]


def _check(X: Any, Y: Any, labels: Any, graph: NeighborGraph | None, n_neighbors: int) -> tuple[Any, Floats, Any]:
    """Return data, places and labels that fit each other."""
    values, _ = check_features(X, None, who="evaluate")
    n = int(values.shape[0])
    places = check_places(Y, n, who="evaluate")
    if labels is not None:
        labels = np.asarray(labels)
        if labels.shape != (n,):
            raise ValueError(message("evaluate", f"X with {n} rows and {len(labels)} labels", "of the same length"))
    if graph is not None:
        check_graph(graph, n, who="evaluate")
    if graph is not None and graph.n_neighbors < n_neighbors:
        raise ValueError(
            message(
                "evaluate",
                f"n_neighbors={n_neighbors}",
                f"at most the graph's n_neighbors={graph.n_neighbors}",
                remedy="Pass a graph with more neighbours or none.",
            )
        )
    placed = int(np.count_nonzero(np.isfinite(places[:, 0])))
    if not 2 * n_neighbors < placed:
        raise ValueError(
            message(
                "evaluate",
                f"n_neighbors={n_neighbors}",
                "below half the number of rows in the map",
                fact=f"{placed} rows",
                remedy=f"Use n_neighbors={max(1, (placed - 1) // 2)} or less." if placed > 2 else "",
            )
        )
    return values, places, labels


def _expected_of_random_map(n: int, k: int, labels: npt.NDArray[Any] | None) -> dict[str, float]:
    trust = trust_of_random_map(n, k)
    expected = {
        "trustworthiness": trust,
        "continuity": trust,
        "neighborhood_preservation": k / (n - 1),
        "shepard": 0.0,
        "triplet_accuracy": 0.5,
    }
    if labels is not None:
        # Close to guessing each label as often as it occurs; a majority vote does a little better.
        shares = np.unique(labels, return_counts=True)[1] / n
        expected["knn_accuracy"] = float(np.sum(shares**2))
    return expected


def _score_points(
    places: Floats,
    anchors: npt.NDArray[np.int64],
    found: AnchorScores,
    kept: npt.NDArray[np.int64],
    n_given: int,
    *,
    n_neighbors: int,
    n_triplets: int,
    labels: npt.NDArray[Any] | None,
    graph: NeighborGraph | None,
    n_threads: int,
) -> dict[str, Floats]:
    """Return the scores of single points over all rows given; `kept` are the rows that have a place."""
    n, k = len(kept), n_neighbors

    def spread(rows: npt.NDArray[Any], scores: npt.NDArray[Any]) -> Floats:
        full = np.full(n_given, np.nan)
        full[kept[rows]] = scores
        return full

    rows, nearest = anchors, found.nearest
    if len(anchors) < n and places.shape[1] <= _TREE_COMPONENTS and (graph is not None or labels is not None):
        rows, nearest = np.arange(n), nearest_in_map(places, nearest.shape[1], n_threads)
    if graph is None:
        preservation = spread(anchors, found.shared / k)
    else:
        mine = kept[rows]
        mask = None if graph.mask is None else graph.mask[mine, :k]
        preservation = spread(rows, shared_neighbors(graph.indices[mine, :k], kept[nearest[:, :k]], mask) / k)
    scale = rank_penalty_scale(n, k)
    per_point = {
        "trustworthiness": spread(anchors, 1.0 - scale * found.intruders),
        "continuity": spread(anchors, 1.0 - scale * found.extruders),
        "neighborhood_preservation": preservation,
        "triplet_accuracy": spread(anchors, found.agreeing / (2.0 * n_triplets)),
    }
    if labels is not None:
        per_point["knn_accuracy"] = spread(rows, label_hits(labels, rows, nearest[:, :_LABEL_NEIGHBORS]))
    return per_point


def evaluate(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 15,
    labels: Any = None,
    graph: NeighborGraph | None = None,
    metric: str = "euclidean",
    n_anchors: int | None = None,
    n_triplets: int = 100,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Evaluation:
    """Say how far to trust a map of the data, made anywhere, overall and point by point.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; square distances for ``metric="precomputed"``.
    Y : array-like of shape (n_samples, n_components)
        The map. Rows with NaN are left out and counted.
    n_neighbors : int >= 1, below n_samples / 2, default=15
        Size of the neighbourhoods, the row itself not counted.
    labels : array-like of shape (n_samples,), default=None
        Labels for `knn_accuracy`.
    graph : NeighborGraph of n_samples rows, default=None
        Neighbours in the data. With it `neighborhood_preservation` covers all rows, otherwise the anchors.
    metric : str, default="euclidean"
        Metric in the data: "euclidean", "cosine", "precomputed" or one of scikit-learn's. In the map it is Euclidean.
    n_anchors : int or None, default=None
        Rows whose ranks against all rows are found: all up to 5000 rows by default, else 2000 random ones.
    n_triplets : int >= 1, default=100
        Random triplets, and pairs for the Shepard score, of each anchor.
    random_state : int, Generator, RandomState or None, default=0
        Chooses anchors and triplets; the seed is stored in the result.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Evaluation
        With all rows as anchors, ``trustworthiness`` is that of scikit-learn. Equal distances are ranked by row
        number, so scores of data with many duplicates depend a little on the order of the rows.

    References
    ----------
    .. [1] Venna & Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN 2001.
    .. [2] Wang et al., "Understanding how dimension reduction tools work", JMLR 22, 2021 (triplets).
    """
    given = {"n_neighbors": n_neighbors, "n_anchors": n_anchors, "n_triplets": n_triplets}
    checked = check_parameters("evaluate", _RULES, given)
    k, n_triplets = checked["n_neighbors"], checked["n_triplets"]
    seed, n_threads = resolve_seed(random_state, who="evaluate"), resolve_n_threads(n_jobs, who="evaluate")
    values, places, labels = _check(X, Y, labels, graph, k)
    n_given = places.shape[0]
    kept = np.flatnonzero(np.isfinite(places[:, 0]))
    if len(kept) < n_given:
        values, places = values[kept], places[kept]
        values = values[:, kept] if metric == "precomputed" else values
        labels = None if labels is None else labels[kept]
    n = len(kept)
    anchors = choose_anchors(n, checked["n_anchors"], seed)
    found = score_anchors(
        values,
        places,
        anchors,
        metric=metric,
        n_neighbors=k,
        n_nearest=max(k, min(_LABEL_NEIGHBORS, n - 1)),
        n_triplets=n_triplets,
        seed=seed,
        n_threads=n_threads,
    )
    per_point = _score_points(
        places,
        anchors,
        found,
        kept,
        n_given,
        n_neighbors=k,
        n_triplets=n_triplets,
        labels=labels,
        graph=graph,
        n_threads=n_threads,
    )
    overall = {name: float(np.mean(scores[np.isfinite(scores)])) for name, scores in per_point.items()}
    return Evaluation(
        trustworthiness=overall["trustworthiness"],
        continuity=overall["continuity"],
        neighborhood_preservation=overall["neighborhood_preservation"],
        knn_accuracy=overall.get("knn_accuracy"),
        shepard=spearman(found.pairs_data, found.pairs_map),
        triplet_accuracy=overall["triplet_accuracy"],
        n_samples=n,
        n_neighbors=k,
        n_anchors=len(anchors),
        n_triplets=n_triplets,
        n_pairs=len(found.pairs_data),
        n_left_out=n_given - n,
        random_state=seed,
        random_map=_expected_of_random_map(n, k, labels),
        per_point=per_point,
    )
