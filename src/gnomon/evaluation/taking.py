"""Each measure of a scorecard, taken of one map: what is shared between them is found once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import log
from gnomon._cached import cached_property
from gnomon._run import running
from gnomon.evaluation import classes, pairs, steadiness, topology
from gnomon.evaluation.anchors import DistanceRows, choose_anchors
from gnomon.evaluation.intervals import Estimate, Sampling
from gnomon.evaluation.ranks import (
    AnchorRanks,
    coranking_curve,
    local_and_global,
    local_size,
    neighborhood_sizes,
    random_rank_errors,
    rank_anchors,
)
from gnomon.evaluation.scores import TREE_COMPONENTS, nearest_in_map, shared_neighbors, trust_of_random_map
from gnomon.evaluation.subject import LABEL_NEIGHBORS, Subject
from gnomon.exceptions import MissingDependencyError
from gnomon.geometry import IntrinsicDimension, intrinsic_dimension, local_jacobians
from gnomon.neighbors import VOTES, NeighborGraph, among_rows, asks_equality, succession_of_rows
from gnomon.neighbors.images import metric_wraps

__all__ = ["Taken", "Taking"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_OF_DIMENSION = {"intrinsic_dimension", "dimension_ratio"}
_OF_LABELS = {"knn_accuracy", "knn_r2", "neighborhood_hit", "silhouette", "distance_consistency"}
_ANCHORS = 2000  # of more than 5000 rows
_WIDE = 20  # neighbours that dimensions and linear fits are found from
_MANY = 2**62  # of what is drawn from without end
_WALKED_ROWS = 2000
_JOINED_ROWS, _LOOPED_ROWS, _SAMPLES = 1000, 300, 5
_STREAM_ROWS = 0x726F
_SHUFFLED_ROWS = 500


@dataclass(frozen=True)
class Taken:
    """A measure as it was taken, as `Score` tells it."""

    estimate: Estimate
    chance: float | None
    n_rows: int
    n_pairs: int | None
    exact: bool
    by_row: Floats | None = None


class Taking:
    """Takes measures of one map.

    Parameters
    ----------
    subject : Subject
    metric : str
    graph : NeighborGraph or None
        Of all rows given.
    n_anchors, n_pairs : int or None
    confidence : float
    seed : int

    Attributes
    ----------
    anchors : ndarray, int64
        Rows whose ranks against all rows are found.
    sampling : Sampling
        How the anchors were drawn.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        metric: str,
        graph: NeighborGraph | None,
        n_anchors: int | None,
        n_pairs: int | None,
        confidence: float,
        seed: int,
    ) -> None:
        self.subject, self.metric, self.graph, self.seed = subject, metric, graph, seed
        self.n, self.k = len(subject.kept), subject.n_neighbors
        self.anchors = choose_anchors(self.n, n_anchors, seed, of_many=_ANCHORS)
        self.sampling = Sampling(self.n, len(self.anchors), confidence)
        self._n_pairs = n_pairs

    @cached_property
    def ranks(self) -> AnchorRanks:
        """Ranks of all rows as seen from the anchors: most of the work, for the measures that ask for them."""
        return rank_anchors(
            self.subject.X,
            self.subject.Y,
            self.anchors,
            metric=self.metric,
            sizes=neighborhood_sizes(self.n, self.k),
            n_nearest=min(self.n - 1, max(self.k, _WIDE)),
            n_pairs=self._n_pairs,
            seed=self.seed,
        )

    @property
    def has_ranked(self) -> bool:
        """Whether a measure that was taken asked for the ranks."""
        return "ranks" in vars(self)

    def take(self, name: str) -> Taken | str:
        """Return a measure, or why it cannot be taken."""
        measures: dict[str, Callable[[], Taken | str]] = {
            "auc_rnx": lambda: self._mean(self.ranks.auc, 0.0),
            "topographic_product": lambda: self._mean(self.ranks.topographic(self.k), None),
            "steadiness": lambda: self._steadiness("steadiness"),
            "cohesiveness": lambda: self._steadiness("cohesiveness"),
            "topology_h0": lambda: self._topology(topology.joining_agreement, _JOINED_ROWS, 0.0),
            "topology_h1": lambda: self._topology(topology.loop_agreement, _LOOPED_ROWS, None),
            "intrinsic_dimension": lambda: self._of_dimension(lambda dimension: dimension),
            "dimension_ratio": lambda: self._of_dimension(lambda dimension: self.subject.Y.shape[1] / dimension),
            "q_global": lambda: self._q_over(1, self.local_size, self.n - 1),
            "shepard": lambda: self._of_pairs("shepard", 0.0),
            "pearson": lambda: self._of_moments(lambda m: pairs.pearson(m, self._counts(m)), 0.0),
            "stress": lambda: self._of_moments(pairs.scale_optimal_stress, self._random_stress.get("stress")),
            "raw_stress": lambda: self._of_moments(pairs.raw_stress, self._random_stress.get("raw_stress")),
            "non_metric_stress": lambda: self._of_pairs(
                "non_metric_stress", self._random_stress.get("non_metric_stress")
            ),
            "random_triplets": self._triplets,
            "centroid_triplets": self._centroid_triplets,
            "trustworthiness": lambda: self._at_k(self.ranks.trust(), trust_of_random_map(self.n, self.k)),
            "continuity": lambda: self._at_k(self.ranks.continuity(), trust_of_random_map(self.n, self.k)),
            "neighborhood_preservation": self._preservation,
            "q_local": lambda: self._q_over(0, 1, self.local_size),
            "mrre_false": lambda: self._at_k(self.ranks.mrre()[0], random_rank_errors(self.n, self.k)),
            "mrre_missing": lambda: self._at_k(self.ranks.mrre()[1], random_rank_errors(self.n, self.k)),
            "local_radius_correlation": self._radii,
            "knn_accuracy": self._accuracy,
            "knn_r2": self._r2_of_labels,
            "neighborhood_hit": self._hits,
            "silhouette": self._silhouette,
            "distance_consistency": self._consistency,
            "local_r2": self._local_r2,
        }
        return measures[name]()

    def curves(self) -> dict[str, Any]:
        """Return the fields of `Curves`."""
        false, missing = self.ranks.mrre()
        found = {
            "q_nx": self.ranks.kept(),
            "r_nx": self.ranks.beyond_chance(),
            "trustworthiness": self.ranks.trust(),
            "continuity": self.ranks.continuity(),
            "mrre_false": false,
            "mrre_missing": missing,
        }
        half_widths = {}
        for name, values in found.items():
            ends = [self.sampling.mean(column).interval or (0.0, 0.0) for column in values.T]
            half_widths[name] = np.array([0.5 * (high - low) for low, high in ends])
        means = {name: values.mean(axis=0) for name, values in found.items()}
        return {"sizes": self.ranks.sizes, **means, "half_widths": half_widths}

    def shepard(self) -> pairs.ShepardDiagram:
        """Return the Shepard diagram."""
        return pairs.shepard_diagram(self.ranks, self.seed)

    @cached_property
    def local_size(self) -> int:
        """Size up to which neighbourhoods are local."""
        return int(local_size(coranking_curve(self.ranks.coranked.sum(axis=0))))

    def _mean(self, values: Floats, chance: float | None) -> Taken:
        """Return the mean of a value of each anchor."""
        known = int(np.count_nonzero(np.isfinite(values)))
        return Taken(self.sampling.mean(values), chance, known, None, self.sampling.unseen <= 0.0, values)

    def _at_k(self, values: Floats, chance: float) -> Taken:
        return self._mean(values[:, self.ranks.at(self.k)], chance)

    def _q_over(self, part: int, first: int, last: int) -> Taken:
        """Return the mean of Q_NX over local or global sizes; each resample finds anew where they part."""
        estimate = self.sampling.of_resampled(
            lambda counts: local_and_global(counts)[..., part], self.ranks.coranked, self.seed
        )
        chance = (first + last) / (2.0 * (self.n - 1))
        return Taken(estimate, chance, len(self.anchors), None, self.sampling.unseen <= 0.0)

    @cached_property
    def _n_moments(self) -> int:
        return len(self.anchors) * (self.n - 1)

    def _counts(self, moments: Floats) -> Floats:
        """Return the pairs that sums of moments are of: all, or those of all anchors but one."""
        left_out = 0 if moments.ndim == 1 else self.n - 1
        return np.full(moments.shape[:-1], float(self._n_moments - left_out))

    @cached_property
    def _random_stress(self) -> dict[str, float]:
        return pairs.stresses_of_random_map(self.ranks.moments, self._n_moments)

    def _of_moments(self, statistic: Callable[[Floats], Floats], chance: float | None) -> Taken:
        estimate = self.sampling.of_sums(statistic, self.ranks.moments)
        exact = self.sampling.unseen <= 0.0
        return Taken(estimate, chance, len(self.anchors), self._n_moments // (2 if exact else 1), exact)

    @cached_property
    def _pair_estimates(self) -> dict[str, Estimate]:
        return pairs.of_pairs(self.ranks, self.sampling, self.seed)

    def _of_pairs(self, name: str, chance: float | None) -> Taken:
        ranks = self.ranks
        return Taken(self._pair_estimates[name], chance, len(self.anchors), len(ranks.pairs_data), ranks.all_pairs)

    def _triplets(self) -> Taken:
        taken = self._mean(self.ranks.triplets(), 0.5)
        n_triplets = len(self.anchors) * (self.n - 1) * (self.n - 2) // 2
        return replace(taken, n_pairs=n_triplets)

    def _centroid_triplets(self) -> Taken | str:
        if self._codes is None:
            return self._no_classes()
        if self.metric == "precomputed":
            return "distances alone tell no centroids"
        codes, rows = self._codes
        count = int(codes.max()) + 1
        if count < 3:
            return "it needs three classes"
        places = classes.centroids(self._places, codes)
        some = np.arange(len(rows))
        around = metric_wraps(self.metric, int(self.subject.X.shape[1]))
        if around or asks_equality(self.metric):  # a mean of angles, of sets or of categories is none
            some = self._of_each_class(codes)
            mine = self.subject.X[rows[some]]
            apart = classes.centroid_distances(mine, codes[some], self.metric, squared=around)
            found = self._rank_all(apart, places, 1, "precomputed")
        else:
            found = self._rank_all(classes.centroids(self.subject.X[rows], codes), places, 1)
        n_triplets = count * (count - 1) * (count - 2) // 2
        return Taken(Estimate(float(found.triplets().mean())), 0.5, len(some), n_triplets, len(some) == len(rows))

    def _of_each_class(self, codes: Ints) -> Ints:
        """Return ascending numbers of labelled rows: all, or about as many as anchors, as many of each class."""
        if self.sampling.unseen <= 0.0:
            return np.arange(len(codes))
        count = int(codes.max()) + 1
        drawn = np.argsort(_core.random_keys(self.seed, len(codes)), kind="stable")
        by_class = drawn[np.argsort(codes[drawn], kind="stable")]
        sizes = np.bincount(codes)
        turn = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.sort(by_class[turn < -(-len(self.anchors) // count)]).astype(np.int64)

    def _rank_all(self, X: Any, Y: Floats, n_nearest: int, metric: str | None = None) -> AnchorRanks:
        """Rank some rows by themselves."""
        everyone = np.arange(len(Y), dtype=np.int64)
        one = np.ones(1, dtype=np.int64)
        return rank_anchors(
            X, Y, everyone, metric=metric or self.metric, sizes=one, n_nearest=n_nearest, n_pairs=1, seed=self.seed
        )

    def _preservation(self) -> Taken:
        graph, chance = self.graph, self.k / (self.n - 1)
        if graph is None or self.subject.Y.shape[1] > TREE_COMPONENTS:
            return self._at_k(self.ranks.kept(), chance)
        kept = self.subject.kept
        mask = None if graph.mask is None else graph.mask[kept, : self.k]
        nearest = kept[nearest_in_map(self.subject.Y, self.k)]
        shares = shared_neighbors(graph.indices[kept, : self.k], nearest, mask) / self.k
        return Taken(Estimate(float(shares.mean())), chance, self.n, None, graph.recall == 1.0, shares)

    def _radii(self) -> Taken:
        squares = [
            np.square(radii[:, : self.k, side]).mean(axis=1)
            for side, radii in enumerate((self.ranks.data_radii, self.ranks.map_radii))
        ]
        known = (squares[0] > 0) & (squares[1] > 0)
        estimate = self.sampling.of_correlation(*(log(one[known]) for one in squares))
        return Taken(estimate, 0.0, int(known.sum()), None, self.sampling.unseen <= 0.0)

    def _of_dimension(self, make: Callable[[float], float]) -> Taken | str:
        if self.n < 4:
            return "it needs four rows"
        found = self._dimension
        if not (found.value > 0 and math.isfinite(found.low)):
            return "the neighbours tell no dimension"
        value, *ends = (make(one) for one in (found.value, found.low, found.high))
        return Taken(Estimate(value, (min(ends), max(ends))), None, self.n, None, False)

    @cached_property
    def _dimension(self) -> IntrinsicDimension:
        """The dimension of the data; what is said of its noise belongs to `intrinsic_dimension` itself."""
        with running(warned=[]):
            return intrinsic_dimension(
                self.subject.X, metric=self.metric, confidence=self.sampling.confidence, random_state=self.seed
            )

    def caution_of_order(self, names: Collection[str]) -> str:
        """Return what the order of the rows says against measures of their dimension and labels; empty if nothing."""
        told = []
        if _OF_DIMENSION & {*names}:
            told.append("neighbours are those of one way through the data, and the dimension is not that of the data")
        if _OF_LABELS & {*names}:
            told.append(VOTES)
        order = succession_of_rows(self.subject.X, self.metric) if told else None
        return "" if order is None else order.told(", and ".join(told))

    def _rows(self, size: int, number: int) -> Ints:
        """Return ascending row numbers, drawn at random."""
        generator = np.random.default_rng((self.seed, _STREAM_ROWS, number))
        return np.sort(generator.choice(self.n, size, replace=False)).astype(np.int64)

    def _among(self, rows: Ints) -> tuple[Any, Floats]:
        """Return data and places of some rows by themselves."""
        return among_rows(self.subject.X, rows, self.metric), self.subject.Y[rows]

    @cached_property
    def _shared(self) -> tuple[steadiness.SharedNeighbors, steadiness.SharedNeighbors]:
        size = min(self.n, _WALKED_ROWS)
        values, places = self._among(np.arange(self.n) if size == self.n else self._rows(size, 0))
        found = self._rank_all(values, places, math.isqrt(size))
        return (
            steadiness.SharedNeighbors.of(found.nearest_in_data),
            steadiness.SharedNeighbors.of(found.nearest_in_map),
        )

    def _steadiness(self, name: str) -> Taken:
        in_data, in_map = self._shared
        sums = steadiness.distortions(name, in_data, in_map, self.seed)
        estimate = Sampling(_MANY, len(sums), self.sampling.confidence).of_sums(steadiness.score_of, sums)
        return Taken(estimate, None, len(in_data.indices), None, False)

    def _topology(self, agreement: Callable[[Floats, Floats], float], size: int, chance: float | None) -> Taken | str:
        exact = self.n <= size
        samples = [np.arange(self.n)] if exact else [self._rows(size, 1 + number) for number in range(_SAMPLES)]
        values = []
        for rows in samples:
            data, places = self._among(rows)
            sides = [_distances(data, self.metric), _distances(places, "euclidean")]
            if not all(one.max() > 0 for one in sides):
                return "all rows lie at one place"
            try:
                values.append(agreement(*sides))
            except MissingDependencyError:
                return 'it needs the package gudhi: pip install "gnomon[topology]"'
        drawn = Sampling(_MANY, len(values), self.sampling.confidence)
        estimate = Estimate(values[0]) if exact else drawn.mean(np.array(values))
        return Taken(estimate, chance, len(samples[0]), None, exact)

    def _no_classes(self) -> str:
        measured = self.subject.truth.values is not None
        return "the labels are measured and so no classes" if measured else "there are no labels of two classes"

    @cached_property
    def _codes(self) -> tuple[Ints, Ints] | None:
        """Classes of the rows that have a label, and which rows these are."""
        found = self.subject.truth.classes
        if found is None:
            return None
        rows = np.flatnonzero(found.labelled)
        return found.codes[rows], rows

    @property
    def _places(self) -> Floats:
        """Places of the rows that have a label."""
        assert self._codes is not None
        return self.subject.Y[self._codes[1]]

    @cached_property
    def _nearest(self) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Rows, all of them where a tree finds their neighbours in the map, and these neighbours."""
        if len(self.anchors) == self.n or self.subject.Y.shape[1] > TREE_COMPONENTS:
            return self.anchors, self.ranks.nearest_in_map
        count = min(self.n - 1, max(self.k, LABEL_NEIGHBORS))
        return np.arange(self.n), nearest_in_map(self.subject.Y, count)

    def _of_labels(self, values: Floats, chance: float) -> Taken:
        drawn = Sampling(self.n, len(values), self.sampling.confidence)
        known = int(np.count_nonzero(np.isfinite(values)))
        return Taken(drawn.mean(values), chance, known, None, drawn.unseen <= 0.0)

    def _votes(self) -> dict[str, Floats]:
        rows, nearest = self._voters(LABEL_NEIGHBORS)
        return self.subject.truth.score(rows, nearest)

    def _voters(self, count: int) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Return rows, and so many of the nearest in the map that at least `count` of each have a vote on its label."""
        (rows, nearest), truth = self._nearest, self.subject.truth
        if truth.n_repeats:
            nearest = nearest_in_map(self.subject.Y, min(self.n - 1, truth.n_asked(count)))[rows]
        return rows, nearest

    def _accuracy(self) -> Taken | str:
        if self._codes is None:
            return self._no_classes()
        chance = self.subject.truth.expected_of_random_map(LABEL_NEIGHBORS)["knn_accuracy"]
        return self._of_labels(self._votes()["knn_accuracy"], chance)

    def _r2_of_labels(self) -> Taken | str:
        values = self.subject.truth.values
        if values is None:
            return "there are no measured labels"
        rows, errors = self._nearest[0], self._votes()["knn_error"]
        known = np.isfinite(errors)
        own, missed = values[rows][known], errors[known] ** 2
        own = own - own.mean()  # sums of squares far from zero would lose their digits
        drawn = Sampling(self.n, len(rows), self.sampling.confidence)

        def r2(sums: Floats) -> Floats:
            count, total, square, error = (sums[..., column] for column in range(4))
            share: Floats = 1.0 - error / (square - total * total / count)
            return share

        estimate = drawn.of_sums(r2, np.column_stack([np.ones(len(own)), own, own * own, missed]))
        chance = self.subject.truth.expected_of_random_map(min(LABEL_NEIGHBORS, self.n - 1))["knn_r2"]
        return Taken(estimate, chance, len(own), None, drawn.unseen <= 0.0)

    def _hits(self) -> Taken | str:
        truth, found = self.subject.truth, self.subject.truth.classes
        if found is None:
            return self._no_classes()
        rows, nearest = self._voters(self.k)
        hits = classes.neighborhood_hits(found.codes, rows, truth.voters(rows, nearest, self.k))
        stand = truth.representatives
        distinct = found.codes if stand is None else found.codes[np.unique(stand)]
        return self._of_labels(hits, classes.hit_of_random_map(distinct))

    def _shuffled(self, codes: Ints) -> Ints:
        return codes[np.argsort(_core.random_keys(self.seed, len(codes)), kind="stable")]

    def _silhouette(self) -> Taken | str:
        if self._codes is None:
            return self._no_classes()
        codes, labelled = self._codes
        rows = np.flatnonzero(np.isin(labelled, self.anchors))
        if not len(rows):
            return "no anchor has a label"
        drawn = Sampling(len(labelled), len(rows), self.sampling.confidence)
        values = classes.silhouette(self._places, codes, rows)
        some = rows[:: max(1, len(rows) // _SHUFFLED_ROWS)]
        chance = float(classes.silhouette(self._places, self._shuffled(codes), some).mean())
        return Taken(drawn.mean(values), chance, len(rows), None, drawn.unseen <= 0.0)

    def _consistency(self) -> Taken | str:
        if self._codes is None:
            return self._no_classes()
        codes = self._codes[0]
        value = float(classes.distance_consistency(self._places, codes).mean())
        chance = float(classes.distance_consistency(self._places, self._shuffled(codes)).mean())
        return Taken(Estimate(value), chance, len(codes), None, True)

    def _local_r2(self) -> Taken | str:
        if self.metric == "precomputed":
            return "distances alone tell no features"
        nearest = self.ranks.nearest_in_data[:, :_WIDE]
        count = nearest.shape[1]
        # Only the anchors are looked at; the lists of other rows just have to be lists.
        indices = (np.arange(self.n)[:, None] + np.arange(1, count + 1)) % self.n
        indices[self.anchors] = nearest
        graph = NeighborGraph(indices.astype(np.int32), np.zeros(indices.shape, dtype=np.float32))
        fits = local_jacobians(self.subject.X, self.subject.Y, graph, rows=self.anchors)
        shares = np.clip(np.where(fits.mask, fits.predicted_r2, np.nan).astype(np.float64), 0.0, 1.0)
        if not np.isfinite(shares).any():
            return "no row has neighbours that differ"
        return self._mean(shares, 0.0)


def _distances(X: Any, metric: str) -> Floats:
    """Return the distances of all rows of a small table."""
    rows = DistanceRows(X, metric, 1, np.arange(X.shape[0], dtype=np.int64))
    found = np.concatenate([block for _, block in rows]).astype(np.float64)
    if rows.squared:
        found = rows.unit * np.sqrt(np.maximum(found, 0.0))
    np.fill_diagonal(found, 0.0)
    return np.maximum(found, 0.0)
