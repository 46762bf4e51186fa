"""find_clusters: clusters at nested levels from neighbours in the data, checked in rows held out and named."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run, running
from gnomon._validation import Either, Integer, Nothing, Real, Rule, check_parameters, message, warn
from gnomon.clusters.along import rows_beyond_gaps
from gnomon.clusters.halves import Halves, PlacedHalves
from gnomon.clusters.levels import default_level, nested_levels, shaken_means
from gnomon.clusters.naming import name_level
from gnomon.clusters.result import Cluster, Clusters, Level
from gnomon.clusters.splits import Group, Split, shown_splits
from gnomon.clusters.steps import without_levels
from gnomon.clusters.tree import DensityTree
from gnomon.clusters.votes import Assigned, assign, rows_apart, without_tails
from gnomon.data import Table, check_table
from gnomon.evaluation.gaps.sentences import MANY_COLUMNS
from gnomon.evaluation.judged_metrics import rows_with_direction
from gnomon.exceptions import DataWarning
from gnomon.explanations import Caption
from gnomon.explanations.contrast.known import check_known
from gnomon.explanations.interpretable import read_features
from gnomon.geometry.check import check_features
from gnomon.methods import UMAP
from gnomon.neighbors import succession_of_rows, untold_zeros
from gnomon.neighbors.circles import find_seams
from gnomon.neighbors.column_halves import (
    HiddenDirections,
    HidingColumns,
    find_hidden_directions,
    find_hiding_columns,
)

__all__ = ["FEWEST_ROWS", "find_clusters"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

FEWEST_ROWS = 60
"""A table of fewer rows is too small to be parted and checked."""
_N_NEIGHBORS = 15
_FEWEST_NEIGHBORS = 5
_SHARE_OF_ROWS = 0.1  # neighbours of a row, of those learned: groups of few rows then hang together by themselves
_SMALLEST, _SMALL = 12, 20  # rows of a peak at least, in tables of up to 120 rows and from 200 rows on
_DIMENSIONS = 5  # of the neighbour embedding whose density is looked at
_PASSES = 200
_SHOWN = 2.0  # times the rows of the smallest peak: a group of so many that lies apart is shown in nearly all tables
_FEW = 2  # times the learned rows of the smallest peak: a group of fewer may be too small to be shown a cluster
_RULES: dict[str, Rule] = {
    "alpha": Real(0.0, 0.5, low_open=True, high_open=True),
    "min_size": Either(Integer(_SMALLEST), Nothing()),
    "n_phrases": Integer(1),
}


@entrance("find_clusters", seeded=True)
def find_clusters(
    X: Any,
    *,
    features: Any = None,
    feature_names: Any = None,
    image_shape: tuple[int, ...] | None = None,
    known: npt.ArrayLike | None = None,
    metric: str = "euclidean",
    min_size: int | None = None,
    alpha: float = 0.05,
    n_phrases: int = 3,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Clusters:
    """Find clusters of the rows at nested levels, and name them by features; claim none that cannot be shown.

    Half of the rows, chosen at random, are learned from; the others are held out. The learned rows are embedded in five
    dimensions by UMAP, which keeps neighbours and lets groups of them draw together, and the density there is taken
    apart into peaks as HDBSCAN does. Each split between two groups of peaks that are neighbours in the data is then
    checked in the rows held out, in principal components of the data and not in any embedding: if the rows do not thin
    out there, to 60 % of the sparser side at least and more than chance lets them, it is undone. So it is if they do
    not between the halves, or the 30 %, of both sides that lie nearest to each other; and where the two groups join
    around a bend, along rows that lie more than two fifths as densely as those inside (two thirds, where rows are too
    few to see more, if the p-value is above 0.001; there density must also fall on every path from group to group, as
    deep as in nine of ten tables of two normal clouds of as many rows and dimensions between which it falls to two
    fifths). What remains are the clusters of the finest level; coarser levels join those whose means are nearest, if
    means of other rows would join the same. A learned row stays in its group, and every other row goes where most of
    its 15 nearest learned rows are: those whose squared distance exceeds most narrowly what their own noise makes it,
    so that rows of less noise than others do not outvote them in many columns.

    Names are those of `gnomon.cluster_captions`, each cluster against its siblings: the clusters within the same
    cluster of the next coarser level. They too come from rows held out, and name only features whose difference is no
    chance, at a rate of false discoveries of `alpha`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data, standardised if their units differ; `Map.clusters` takes them as they were mapped.
    features : array-like, sparse matrix or frame of shape (n_samples, n_described), mapping or texts, default=None
        Name the clusters by these instead: words, genes, or values in units of their own. A text for each row becomes
        its words; a mapping of columns, and a data frame with columns that are no numbers, become features as by
        `gnomon.encode_features`.
    feature_names : sequence of str, default=None
        By default the columns of a data frame, else "feature 0" and so on. Not of words and mappings.
    image_shape : tuple of int, default=None
        (height, width[, channels]) if the features are pixels: names speak of nine regions.
    known : array-like of shape (n_samples, n_described), bool, default=None
        Which values of what names the clusters were there before missing ones were filled in: clusters are not named by
        features of which fewer than half of their rows have one, as `gnomon.cluster_captions` says. Not with
        image_shape. None takes all.
    metric : str, default="euclidean"
        Distances between rows, as for `gnomon.neighbors.compute_neighbors`. Splits are checked in straight distances:
        under "cosine" those of rows of length 1, under "correlation" of centred rows of length 1, under "hellinger" of
        roots of shares; of columns with a period, cut where they hold fewest rows; under "jaccard", "dice" and
        "sokalsneath" in principal coordinates of the sets, where many columns differ; else of the columns as given.
    min_size : int >= 12 or None, default=None
        Fewest rows of a peak, of repeated ones one counted. None takes the root of half of them, and at least a tenth
        of them from 12 to 20.
    alpha : float in (0, 0.5), default=0.05
        How often any cluster may be claimed where the data are one cloud without bends, see Notes.
    n_phrases : int >= 1, default=3
        Features of a name at most.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the halves, the seed of the embedding, and the noise of values that lie in steps.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Clusters
        Without levels if no split could be shown. Rows are in no cluster, -1, where fewer than half of their votes
        agree, or if they lie farther from these than the outer fence of the rows of the cluster: the third quartile of
        the logarithm of that distance and three times the range of the middle half. Nor are rows that lie with a few
        others apart from every cluster, too few to be shown one (`Clusters.apart`); these are told where there is no
        cluster, too, and there also if a gap along one direction parts them, which distances hide in many columns.

    Raises
    ------
    ValueError
        If X has fewer than 60 rows or values that are not finite, or features are of other rows.

    Warns
    -----
    DataWarning
        If rows repeat others; or if clusters are found in rows that are alike where they follow each other.

    Notes
    -----
    The p-value of a split holds for data of any log-concave density, and of any other whose projections have one peak:
    the held-out rows know nothing of the split they check. `alpha` is shared by all splits of the tree, and those that
    are not yet shown take over the share of those that are, as in Holm's method.
    Rows must therefore be independent, and those that were copied or measured several times are not: of one normal
    cloud of 200 rows, each five times, clusters would be claimed in 12 of 20 tables. Where a tenth of the rows at least
    could be spared, as they lie in sets of two to ten far nearer to each other than to other rows, one row of each set
    is learned from or held out, a `DataWarning` says so, and that is 0 of 20. Not seen are sets of more rows, those
    that overlap as they differ about as much within as between, and those of a single column: of 100 rows ten times
    with noise of 20 %, 10 of 20. Where you know the sets, pass one row of each or their means.
    Nor are rows of a time series independent, such as frames of a trajectory: of 1,000 that follow each other in one
    well clusters are claimed in half of the tables if they are alike over 30 rows in 20 columns. Where rows that follow
    each other are alike, `Clusters.caution` and a `DataWarning` say so, and which to keep. Rows of a table sorted by a
    few classes are not alike in this sense. In a table that was shuffled it cannot be seen.
    Nor does it hold by the cosine in principal components of rows of few large values, such as activations of sparse
    autoencoders, which lie by their strongest column.
    For curved sheets and threads there is no such guarantee: a bend is seen where neighbourhoods are narrower than half
    the distance of the groups on its sides, or rows between their nearest parts are as many as in them; and where two
    groups lie along one thread, the rows along it must show a gap, at a p-value of 0.001. Of 80 tables
    of counts along a path of development without a gap clusters are claimed in 3. Where the rows are truly fewer along
    a path, its parts are clusters: `Clusters.continuum` names those that may be stages of a continuum.
    Clusters that no plane parts, such as rings around each other, are not claimed; ask `gnomon.evaluation.are_apart`.
    Counts and rounded values lie in steps, and between two of them there are no rows in one cloud either. So where the
    values of a feature have two rows each on average, each value is first spread evenly half-way to the next ones, by
    chance, and a split must hold even so. Groups that a single step parts, as yes and no of one feature, are then none.
    Of more than 40,000 rows, 20,000 are learned from and 20,000 held out; the rows of the
    table then find 0.995 of their nearest learned rows at least, and of fewer rows all. Then, by metrics other than
    "euclidean", "cosine", "correlation" and "hellinger", and by correlations of sparse rows, the nearest vote, whatever
    their noise.

    References
    ----------
    .. [1] McInnes & Healy, "Accelerated hierarchical density based clustering", ICDM workshops 2017.
    .. [2] Campello, Moulavi & Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.
    .. [3] Gao, Bien & Witten, "Selective inference for hierarchical clustering", JASA 119, 2024 (why clusters must not
       be tested by the rows that they were found in).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon import find_clusters
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> X[:200, 3] += 12
    >>> sorted(find_clusters(X).level().names[[0, 300]].tolist())
    ['high feature 3', 'low feature 3']
    """
    given = {"alpha": alpha, "min_size": min_size, "n_phrases": n_phrases}
    checked = check_parameters(_RULES, given, list(given))
    if metric == "precomputed":
        remedy = "Pass a table, such as the coordinates of a map of the distances by MDS."
        raise ValueError(message("metric='precomputed'", "a metric between rows of features", remedy=remedy))
    table = check_table(X, accept_sparse=True)
    n = int(table.values.shape[0])
    if n < FEWEST_ROWS:
        raise ValueError(message(f"X with {n:,} rows", f"of at least {FEWEST_ROWS} rows"))
    given_features = table if features is None else features
    # A table that was checked, as a map gives, is taken as it is.
    read = check_features if isinstance(given_features, Table) else read_features
    described, names = read(given_features, feature_names)
    if int(described.shape[0]) != n:
        raise ValueError(message(f"features with {described.shape[0]:,} rows", f"of n_samples={n} rows"))
    there = check_known(known, described.shape, groups=image_shape is not None)
    seams = find_seams(described, metric) if features is None else None
    if seams is not None:
        described = seams.apply(described)
    ground = PlacedHalves.of(table.values, metric)
    fewest = checked["min_size"] or _fewest_rows(ground.n_counted)
    groups, splits, n_splits = _learn(table.values, ground, metric, fewest, checked["alpha"])
    halves, learned = ground.halves, ground.learned
    found = {
        "alpha": checked["alpha"],
        "n_splits": n_splits,
        "n_columns": int(table.values.shape[1]),
        "metric": metric,
        "smallest": math.ceil(_SHOWN * fewest * n / ground.n_counted),
        "n_held_out": len(halves.held_out),
        "n_repeats": ground.n_repeats,
        "succession": None if ground.n_repeats else succession_of_rows(table.values, metric),
    }
    few = _FEW * _fewest_learned(ground, fewest)
    if not splits:
        directed = rows_with_direction(table.values, metric)  # of rows of zeros it means nothing to lie apart
        lonely = directed[:0]
        if groups:
            with untold_zeros():
                one = rows_apart(table.values, halves.learned, groups, metric, Assigned.of_one(n), few)
                lonely = without_tails(table.values, halves.learned, directed[one[directed]], metric)
        if metric == "euclidean" and isinstance(table.values, np.ndarray) and not ground.n_repeats:
            lonely = np.union1d(lonely, rows_beyond_gaps(table.values, found["smallest"]))
        nobody = np.full(n, -1, dtype=np.int64)
        hidden = _hidden(table.values, metric)
        return Clusters((), -1, nobody, np.full(n, np.nan), apart=lonely, hidden=hidden, **found)
    assigned = assign(table.values, halves.learned, groups, metric)
    apart = rows_apart(table.values, halves.learned, groups, metric, assigned, few)
    assigned = replace(assigned, apart=apart)
    naming: dict[str, Any] = {"alpha": checked["alpha"], "n_phrases": checked["n_phrases"], "feature_names": names}
    naming |= {"image_shape": image_shape, "known": None if there is None else there[halves.held_out]}
    levels = _make_levels(described, halves, groups, splits, learned, assigned, naming)
    default = default_level([len(level) for level in levels])
    nearest, margin = assigned.best(levels[default].of_group)
    clusters = Clusters(
        tuple(level.level for level in levels), default, nearest, margin, apart=np.flatnonzero(apart), **found
    )
    if clusters.caution:
        warn(clusters.caution, DataWarning)
    return clusters


def _hidden(X: Any, metric: str) -> HidingColumns | HiddenDirections | None:
    """Return what may hide groups from distances; None where nothing is known to."""
    if metric != "euclidean":
        return None
    return find_hiding_columns(X) or (find_hidden_directions(X) if X.shape[1] >= MANY_COLUMNS else None)


def _learn(
    X: Any, ground: PlacedHalves, metric: str, min_size: int, alpha: float
) -> tuple[list[Group], list[Split], int]:
    """Return groups of the learned rows, the splits that hold, and how many were looked at."""
    halves = ground.halves
    n_learned = len(halves.learned)
    if ground.n_repeats and n_learned + len(halves.held_out) < FEWEST_ROWS:
        return [], [], 0
    with running(warned=[]):  # that rows are equal, or their graph falls apart, is no news here
        estimator = UMAP(
            n_neighbors=min(max(_FEWEST_NEIGHBORS, min(_N_NEIGHBORS, int(_SHARE_OF_ROWS * n_learned))), n_learned - 1),
            n_components=_DIMENSIONS,
            min_dist=0.0,
            max_iter=_PASSES,
            metric=metric,
            random_state=current_run().seed,
        )
        rows = X[halves.learned]
        rows = without_levels(rows, current_run().seed) if metric == "euclidean" else rows
        points = estimator.fit_transform(rows).astype(np.float64)
    tree = DensityTree.of(points, ground.learned, _fewest_learned(ground, min_size))
    groups, splits = shown_splits(tree, ground.learned, ground.held_out, alpha=alpha)
    return groups, splits, len(tree.splits())


def _fewest_rows(n: int) -> int:
    """Return how many rows a peak has at least, unless that is given."""
    return max(_SMALLEST, min(_SMALL, n // 10), round(math.sqrt(n / 2)))


def _fewest_learned(ground: PlacedHalves, min_size: int) -> int:
    """Return how many learned rows a peak has at least."""
    return max(2, math.ceil(min_size * len(ground.halves.learned) / ground.n_counted))


@dataclass(frozen=True)
class _MadeLevel:
    """A level, and which of its clusters each group is in."""

    level: Level
    of_group: Labels

    def __len__(self) -> int:
        return len(self.level)


def _make_levels(
    described: Any,
    halves: Halves,
    groups: list[Group],
    splits: list[Split],
    learned: Floats,
    assigned: Assigned,
    told: dict[str, Any],
) -> list[_MadeLevel]:
    """Return the levels with their clusters named, the coarsest first."""
    means = np.stack([learned[group.rows].mean(axis=0) for group in groups])
    offsets = [np.sum((learned[group.rows] - mean) ** 2, axis=1) for group, mean in zip(groups, means, strict=True)]
    spread = math.sqrt(float(np.mean(np.concatenate(offsets))))
    held_out = described[halves.held_out]
    made: list[_MadeLevel] = []
    for joined, persistence in nested_levels(means, spread, shaken_means(learned[group.rows] for group in groups)):
        of_group = _largest_first(joined, assigned)
        labels = assigned.labels(of_group)
        n_clusters = int(of_group.max()) + 1
        before = made[-1] if made else None
        parents = [None if before is None else int(before.of_group[of_group == k][0]) for k in range(n_clusters)]
        coarser = [] if before is None else [(one.name, one.caption) for one in before.level.clusters]
        named = name_level(held_out, labels[halves.held_out], parents, coarser, **told)
        clusters = [
            _cluster(k, *named[k], labels, parents[k], [groups[g] for g in np.flatnonzero(of_group == k)], splits)
            for k in range(n_clusters)
        ]
        made.append(_MadeLevel(Level(tuple(clusters), labels, persistence), of_group))
    return made


def _largest_first(joined: Labels, assigned: Assigned) -> Labels:
    """Return clusters numbered by the rows that they get, the largest first."""
    labels = assigned.labels(joined)
    sizes = np.bincount(labels[labels >= 0], minlength=int(joined.max()) + 1)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    found: Labels = rank[joined]
    return found


def _cluster(
    number: int,
    name: str,
    caption: Caption | None,
    labels: Labels,
    parent: int | None,
    groups: list[Group],
    splits: list[Split],
) -> Cluster:
    """Put together what is known of a cluster: by the splits between its groups and others."""
    leaves = frozenset().union(*(group.leaves for group in groups))
    borders = [split for split in splits if (split.sides[0] <= leaves) != (split.sides[1] <= leaves)]
    peak = min(group.start for group in groups)
    return Cluster(
        number=number,
        name=name,
        size=int(np.count_nonzero(labels == number)),
        parent=parent,
        caption=caption,
        p_value=max(split.p_value for split in borders),
        share=max(split.share for split in borders),
        persistence=math.log(min(split.start for split in borders) / peak),
    )
