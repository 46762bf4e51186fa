"""`evaluate`: the scores of a map, beside those of a random map, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Either, Instance, Integer, Nothing, Rule, check_parameters
from gnomon.data.stored import StoredTable, as_stored
from gnomon.evaluation.anchors import AnchorScores, choose_anchors, rests_on, score_anchors
from gnomon.evaluation.blocks import score_anchors_by_blocks
from gnomon.evaluation.centers import drawn_unlike
from gnomon.evaluation.estimated_ranks import TrustEstimate
from gnomon.evaluation.layout import Layout, places_of
from gnomon.evaluation.scores import (
    TREE_COMPONENTS,
    rank_penalty_scale,
    shared_neighbors,
    spearman,
    trust_of_random_map,
)
from gnomon.evaluation.subject import LABEL_NEIGHBORS, Subject, Truth
from gnomon.neighbors import VOTES, NeighborGraph, succession_of_rows
from gnomon.surfaces import Surface

__all__ = ["Evaluation", "evaluate", "evaluate_with_trust"]

_RULES: dict[str, Rule] = {
    "n_neighbors": Either(Integer(1), Nothing()),
    "n_anchors": Either(Integer(1), Nothing()),
    "n_triplets": Integer(1),
    "surface": Either(Instance((Surface,), "a gnomon.surfaces.Surface"), Nothing()),
}
_N_TRIPLETS = 100

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation(Printed):
    """Scores of a map; 1 is best for each of them.

    Attributes
    ----------
    trustworthiness : float
        Whether near in the map means near in the data (scikit-learn's definition), averaged over the anchors.
    continuity : float
        Whether near in the data means near in the map: trustworthiness with both sides swapped.
    neighborhood_preservation : float in [0, 1]
        Mean share of a row's nearest neighbours in the data that are among its nearest in the map.
    knn_accuracy : float in [0, 1], or None
        Share of rows whose 10 nearest rows in the map vote for the row's own label. Rows without a label are not scored
        and have no vote. Nor have rows that repeat the row in the data, and other sets of such rows have one vote each
        (see `n_repeats`). None without labels of at least two classes.
    knn_r2 : float <= 1, or None
        Share of the variance of measured labels that the mean of the 10 nearest rows in the map foretells; below 0 if
        it foretells less than the mean of all. None where labels are classes.
    shepard : float in [-1, 1]
        Rank correlation of the distances in the data and in the map.
    triplet_accuracy : float in [0, 1]
        Share of random triplets (i, j, l) for which j and l have the same order of distance from i on both sides;
        a tie on one side counts half.
    n_samples, n_neighbors, n_anchors, n_triplets, n_pairs : int
        Rows in the map, neighbours of each row, rows whose ranks against all rows were found, triplets of each
        anchor, pairs of the Shepard score.
    n_left_out : int
        Rows without a place in the map (NaN); they take no part.
    random_state : int
        Seed that chose anchors and triplets.
    random_map : dict of str to float
        What a map that knows nothing of the data is expected to get.
    per_point : dict of str to ndarray of shape (rows given,), float64
        "trustworthiness", "continuity", "triplet_accuracy" of the anchors, "neighborhood_preservation",
        "knn_accuracy" (0 or 1) or "knn_error" (by how much the mean of the neighbours misses a measured label, in its
        units) of all rows where possible; NaN elsewhere.
    n_repeats : int, default=0
        Rows that repeat others in the data, as copies and repeated measurements do: one of each set has a vote in
        `knn_accuracy` and `knn_r2`, and none on rows of its own set. 0 without labels, of distances, of tables read in
        blocks, and where columns have so few values that rows are equal by chance.
    group_distances : float >= 1 or None, default=None
        How much longer the map draws one distance between classes than another that is as long in the data; 1 for a map
        to scale. Distances are those between centres, of the 20 largest classes with 5 rows at least, without the
        squares that so few rows add by chance; of twenty pairs and more one in twenty at each end does not count. None
        without three classes, where fewer than two pairs are apart, in other metrics than those of
        `gnomon.evaluation.find_illusions`, on a surface, and of tables read in blocks.
    caution : str, default=""
        What the order of the rows says against `knn_accuracy` and `knn_r2`, but of a table read in blocks; and of a
        map what the scores leave out, such as weights of rows that made it. Empty if nothing.
    """

    trustworthiness: float
    continuity: float
    neighborhood_preservation: float
    knn_accuracy: float | None
    knn_r2: float | None
    shepard: float
    triplet_accuracy: float
    n_samples: int
    n_neighbors: int
    n_anchors: int
    n_triplets: int
    n_pairs: int
    n_left_out: int
    random_state: int
    random_map: dict[str, float]
    per_point: dict[str, npt.NDArray[np.float64]] = field(repr=False)
    n_repeats: int = 0
    group_distances: float | None = None
    caution: str = ""

    def scores(self) -> dict[str, float]:
        """Return the overall scores by name; knn_accuracy only if there are classes, knn_r2 for measured labels."""
        names = ["trustworthiness", "continuity", "neighborhood_preservation", "knn_accuracy", "knn_r2", "shepard"]
        names.append("triplet_accuracy")
        return {name: float(value) for name in names if (value := getattr(self, name)) is not None}

    def errors(self) -> dict[str, float]:
        """Return the standard errors of the scores that are means over a sample of the rows, the anchors, by name.

        Empty where all rows are anchors, and without the Shepard score, which is no mean.
        """
        found = {}
        for name in ("trustworthiness", "continuity", "neighborhood_preservation", "triplet_accuracy"):
            values = self.per_point[name][np.isfinite(self.per_point[name])]
            m = len(values)
            if 1 < m < self.n_samples:
                found[name] = float(np.std(values, ddof=1) * np.sqrt((1.0 - m / self.n_samples) / m))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the scores of single points, with plain Python values."""
        counts = ["n_samples", "n_neighbors", "n_anchors", "n_triplets", "n_pairs", "n_left_out", "n_repeats"]
        counts.append("random_state")
        facts = {name: getattr(self, name) for name in counts}
        told: dict[str, Any] = {"caution": self.caution} if self.caution else {}
        if self.group_distances is not None:
            told["group_distances"] = self.group_distances
        return {**self.scores(), **facts, "random_map": dict(self.random_map), "errors": self.errors(), **told}

    def summary(self) -> str:
        """Return the scores beside those of a random map, and what they rest on."""
        errors = self.errors()
        lines = [f"{'':26}{'map':>7}{'random map':>13}" + (f"{'standard error':>17}" if errors else "")]
        for name, value in self.scores().items():
            error = f"{errors[name]:17.4f}" if name in errors else ""
            lines.append(f"{name.replace('_', ' '):26}{value:7.3f}{self.random_map[name]:13.3f}{error}")
        if self.n_repeats:
            lines.append(
                f"{self.n_repeats:,} rows repeat others, or nearly: each set has one vote, none on its own labels"
            )
        lines += rests_on(self, f"{self.n_pairs} pairs; {self.n_anchors * self.n_triplets} triplets")
        lines += [self.caution] if self.caution else []
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


def _expected_of_random_map(n: int, k: int, truth: Truth) -> dict[str, float]:
    trust = trust_of_random_map(n, k)
    return {
        "trustworthiness": trust,
        "continuity": trust,
        "neighborhood_preservation": k / (n - 1),
        "shepard": 0.0,
        "triplet_accuracy": 0.5,
        **truth.expected_of_random_map(min(LABEL_NEIGHBORS, n - 1)),
    }


def _score_points(
    layout: Layout,
    anchors: npt.NDArray[np.int64],
    found: AnchorScores,
    kept: npt.NDArray[np.int64],
    n_given: int,
    *,
    n_neighbors: int,
    n_triplets: int,
    truth: Truth,
    graph: NeighborGraph | None,
) -> dict[str, Floats]:
    """Return the scores of single points over all rows given; `kept` are the rows that have a place."""
    n, k = len(kept), n_neighbors

    def spread(rows: npt.NDArray[Any], scores: npt.NDArray[Any]) -> Floats:
        full = np.full(n_given, np.nan)
        full[kept[rows]] = scores
        return full

    rows, nearest = anchors, found.nearest
    if len(anchors) < n and layout.n_components <= TREE_COMPONENTS and (graph is not None or truth):
        rows, nearest = np.arange(n), layout.nearest(nearest.shape[1])
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
    per_point |= {name: spread(rows, scores) for name, scores in truth.score(rows, nearest).items()}
    return per_point


@entrance("evaluate", seeded=True)
def evaluate(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int | None = None,
    labels: Any = None,
    graph: Any = None,
    metric: str = "euclidean",
    surface: Surface | None = None,
    n_anchors: int | None = None,
    n_triplets: int = _N_TRIPLETS,
    random_state: RandomState = 0,
    executor: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Say how far to trust a map of the data, made anywhere, overall and point by point.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; square distances for ``metric="precomputed"``. A table that is read in blocks (`gnomon.data.stored`, a
        memory map of NumPy) is ranked block by block, by Euclidean or cosine distances, and gets the same scores but
        for near ties; with all rows as anchors it is read into memory.
    Y : array-like of shape (n_samples, n_components)
        The map. Rows with NaN are left out and counted.
    n_neighbors : int >= 1, below n_samples / 2, or None, default=None
        Size of the neighbourhoods, the row itself not counted. None takes 15, and of fewer than 31 rows in the map the
        most that is allowed; the result says how many.
    labels : array-like of shape (n_samples,), default=None
        Classes for `knn_accuracy`, or dates, fractions of more than twelve distinct values, or whole numbers such as
        ages for `knn_r2`: many of few rows each, or close to each other, that do not count from 0 or 1. None, NaN or an
        empty text where a row has no label.
    graph : NeighborGraph of n_samples rows, tuple, sparse matrix or None, default=None
        Neighbours in the data, also in the forms of `precomputed_knn` of `UMAP`. With it `neighborhood_preservation`
        covers all rows, otherwise the anchors.
    metric : str, default="euclidean"
        Metric in the data: "precomputed" or as for `gnomon.neighbors.compute_neighbors`. In the map it is Euclidean
        unless it lies on a surface.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on, as the ``surface_`` of a method; Y then holds its two coordinates, and distances in the
        map are those along it. None for flat space.
    n_anchors : int >= 1 or None, default=None
        Rows whose ranks against all rows are found: all up to 5000 rows by default, else 1000 random ones.
    n_triplets : int >= 1, default=100
        Random triplets, and pairs for the Shepard score, of each anchor.
    random_state : int, Generator, RandomState or None, default=0
        Chooses anchors and triplets; the seed is stored in the result.
    executor : Executor, distributed.Client, str or None, default=None
        Who works on a table that is read in blocks; None is who works in the run around the call.
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
    given = {"n_neighbors": n_neighbors, "n_anchors": n_anchors, "n_triplets": n_triplets, "surface": surface}
    checked = check_parameters(_RULES, given)
    subject = Subject.of(X, Y, labels, graph, checked["n_neighbors"], metric, as_stored(X))
    found = _judge(subject, metric, surface, checked["n_anchors"], checked["n_triplets"])
    if (found.knn_accuracy is None and found.knn_r2 is None) or isinstance(subject.X, StoredTable):
        return found
    order = succession_of_rows(subject.X, metric)
    return found if order is None else replace(found, caution=order.told(VOTES))


@entrance("evaluate", seeded=True)
def evaluate_with_trust(
    X: Any,
    Y: Any,
    trust: TrustEstimate,
    *,
    labels: Any,
    graph: Any,
    metric: str,
    surface: Surface | None,
    random_state: RandomState,
    n_jobs: int | None,
) -> Evaluation:
    """Evaluate a map of a table in memory as `evaluate` does, and let `trust` count from the same distances.

    Unless all rows are anchors, whose ranks are exact: then it is not asked.
    """
    subject = Subject.of(X, Y, labels, graph, None, metric)
    return _judge(subject, metric, surface, None, _N_TRIPLETS, trust)


def _judge(
    subject: Subject,
    metric: str,
    surface: Surface | None,
    n_anchors: int | None,
    n_triplets: int,
    trust: TrustEstimate | None = None,
) -> Evaluation:
    """Score a map by the ranks of all rows from the anchors."""
    seed = current_run().seed
    values, truth, k = subject.X, subject.truth, subject.n_neighbors
    kept, n_given, n = subject.kept, subject.n_given, len(subject.kept)
    layout = places_of(subject.Y, surface) if trust is None else trust.layout
    anchors = choose_anchors(n, n_anchors, seed)
    asked: dict[str, Any] = {
        "metric": metric,
        "n_neighbors": k,
        "n_nearest": max(k, min(truth.n_asked(), n - 1)),
        "n_triplets": n_triplets,
        "seed": seed,
    }
    if isinstance(values, StoredTable) and len(anchors) < n:
        found = score_anchors_by_blocks(values, kept, layout, anchors, **asked)
    else:
        in_memory = values.take(kept) if isinstance(values, StoredTable) else values
        found = score_anchors(in_memory, layout, anchors, watcher=trust if len(anchors) < n else None, **asked)
    per_point = _score_points(
        layout, anchors, found, kept, n_given, n_neighbors=k, n_triplets=n_triplets, truth=truth, graph=subject.graph
    )
    overall = {name: float(np.mean(scores[np.isfinite(scores)])) for name, scores in per_point.items()}
    return Evaluation(
        trustworthiness=overall["trustworthiness"],
        continuity=overall["continuity"],
        neighborhood_preservation=overall["neighborhood_preservation"],
        knn_accuracy=overall.get("knn_accuracy"),
        knn_r2=truth.explained(per_point["knn_error"][kept]) if "knn_error" in per_point else None,
        shepard=spearman(found.pairs_data, found.pairs_map),
        triplet_accuracy=overall["triplet_accuracy"],
        n_samples=n,
        n_neighbors=k,
        n_anchors=len(anchors),
        n_triplets=n_triplets,
        n_pairs=len(found.pairs_data),
        n_left_out=n_given - n,
        random_state=seed,
        random_map=_expected_of_random_map(n, k, truth),
        per_point=per_point,
        n_repeats=truth.n_repeats,
        group_distances=_between_groups(subject, metric, seed) if surface is None else None,
    )


def _between_groups(subject: Subject, metric: str, seed: int) -> float | None:
    classes = subject.truth.classes
    if classes is None or isinstance(subject.X, StoredTable):
        return None
    return drawn_unlike(subject.X, subject.Y, classes, metric, seed)
