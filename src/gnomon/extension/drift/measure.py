"""What is compared of new rows and those of a map: novelty, neighbours kept, columns, regions, groups and copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data import find_duplicate_rows
from gnomon.extension.atlas.forward import MetricRange, Novelty, levels_among
from gnomon.extension.atlas.lifts import lift_of
from gnomon.extension.blank import blank_rows, known_columns
from gnomon.extension.drift.chance import chance_of_fewer, chance_of_shift, largest_shift
from gnomon.extension.drift.columns import Masks, UnknownShift, measure_columns, measure_missing
from gnomon.extension.drift.copies import find_copies
from gnomon.extension.drift.judgement import MOST_LOST, OUTSIDE
from gnomon.extension.drift.places import count_shared, majorities, nearest_in_map
from gnomon.extension.drift.regions import crowded_regions
from gnomon.extension.drift.result import Drift
from gnomon.extension.drift.series import measure_series
from gnomon.extension.drift.shares import differs_by_shares, like_shares
from gnomon.extension.drift.together import BothTables
from gnomon.extension.drift.unseen import rows_of_new_kind, rows_together
from gnomon.extension.held_out import Unlikeness
from gnomon.linalg.table import evenly_spaced, float_rows
from gnomon.neighbors import RowSearch, Succession, compute_neighbors

__all__ = ["measure_drift"]

_SAMPLE = 2000  # old rows whose neighbours are compared


def measure_drift(
    X: Any,
    Y: npt.NDArray[Any],
    X_new: Any,
    Y_new: npt.NDArray[Any],
    *,
    labels: npt.NDArray[Any] | None = None,
    n_neighbors: int = 15,
    metric: str = "euclidean",
    unlikeness: Unlikeness | None = None,
    features: tuple[Any, Any] | None = None,
    column_names: Sequence[str] = (),
    missing: Masks | None = None,
    missing_names: Sequence[str] = (),
    unknown: UnknownShift | None = None,
    orders: tuple[Succession | None, Succession | None] = (None, None),
    n_together: int = 0,
    without: Sequence[int] = (),
) -> Drift:
    """Compare new rows and their places with the rows of a map.

    Frames of a time series lie beside those before and after, and new ones beside none of these. So where rows are a
    series all are counted, and those are judged that are as far apart as the likeness reaches.

    Parameters
    ----------
    X, X_new : ndarray or CSR of shape (n_old, n_features) and (n_new, n_features)
        At least one new row.
    Y, Y_new : ndarray of shape (n_old, n_components) and (n_new, n_components)
        Their places; old rows with NaN have none and take no part.
    labels : ndarray of shape (n_old,), default=None
    n_neighbors : int >= 1, default=15
    metric : str, default="euclidean"
        Nearest rows are those by which `AffineAtlas.novelty` measures under this metric.
    unlikeness : Unlikeness, default=None
        Of the new rows, if X are coordinates that were learned from the old ones; None compares them with the old rows
        by X.
    features : tuple of two tables of n_old and n_new rows, default=None
        Whose columns are compared, if X are coordinates that were learned from the old ones; None compares those of X.
    column_names : sequence of str, default=()
        Names of these columns; numbers are told where there are none.
    missing : tuple of ndarray of shape (n_old, n_columns) and (n_new, n_columns), bool, default=None
        Which of their values were missing and filled in; None for none.
    missing_names : sequence of str, default=()
        The names of the columns as they came, such as that of a category which became several columns.
    unknown : UnknownShift, default=None
        Categories of the new rows that the map does not know.
    orders : tuple of (Succession or None, Succession or None), default=(None, None)
        What `gnomon.neighbors.succession_of_rows` says of X and of X_new.
    n_together : int >= 0, default=0
        Principal components of the columns of old and new rows together in which a kind of rows is looked for that the
        old ones lack: where X are components that were learned from these. 0 looks for none there.
    without : sequence of int, default=()
        Columns that are not compared one by one, nor in their mean, such as times, which go on.

    Returns
    -------
    Drift
    """
    if any(orders):
        measure = partial(
            measure_drift,
            n_neighbors=n_neighbors,
            metric=metric,
            column_names=column_names,
            missing_names=missing_names,
            unknown=unknown,
            n_together=n_together,
            without=without,
        )
        return measure_series(
            orders,
            measure,
            (X, Y, X_new, Y_new),
            {"labels": labels, "unlikeness": unlikeness, "features": features, "missing": missing},
        )
    placed = np.flatnonzero(np.isfinite(np.asarray(Y)).all(axis=1))
    if len(placed) < len(Y):
        X, Y, labels = X[placed], Y[placed], None if labels is None else labels[placed]
        features = None if features is None else (features[0][placed], features[1])
        missing = None if missing is None else (missing[0][placed], missing[1])
    old, new = (X, X_new) if features is None else features
    blank = blank_rows(new, known_columns(old, metric))
    told_of = np.setdiff1d(np.arange(int(new.shape[0])), blank)
    if len(blank):
        X_new, Y_new = X_new[told_of], np.asarray(Y_new)[told_of]
        features = None if features is None else (old, new[told_of])
        missing = None if missing is None else (missing[0], missing[1][told_of])
        unlikeness = None if unlikeness is None else unlikeness.of(told_of)
    if not len(told_of):
        return _of_blank_rows(blank, len(placed), metric)
    lift = lift_of(metric, X)
    X, X_new = lift.points(X), lift.points(X_new)
    n = int(X.shape[0])
    k = min(n_neighbors, n - 1)
    near_by = "euclidean" if MetricRange.of(X, metric, k, lift) is None else metric
    graph = compute_neighbors(X, k, metric=near_by)
    search = RowSearch.of(X, k, metric=near_by)
    indices, distances = search.find(X_new)
    novelty, scores = None, np.empty(0)
    if unlikeness is None:
        n_drawn = _effective_number(X, graph.distances)
        novelty = Novelty.learn(graph.indices, graph.distances, metric=near_by)
        scores = novelty.score(indices, distances)
        unlikeness = Unlikeness(*levels_among(novelty.scores, scores), novelty.far(scores), n)
    else:
        n_drawn = float(unlikeness.n_compared)
    level, shift = unlikeness.novelty, unlikeness.shift()
    some = evenly_spaced(n, _SAMPLE)
    kept = count_shared(indices, nearest_in_map(Y, np.asarray(Y_new), None, k))
    kept_of_old = count_shared(graph.indices[some], nearest_in_map(Y, np.asarray(Y)[some], some, k))
    n_new = int(X_new.shape[0])
    old, new = (X, X_new) if features is None else features
    same_columns = missing is not None and missing[0].shape[1] == old.shape[1]  # to which a metric may add some
    filled = missing if same_columns else None
    both = BothTables(old, new, n_together)
    regions, region_p_values = crowded_regions(both, np.asarray(Y_new, dtype=np.float64))
    unusual = np.flatnonzero(level > OUTSIDE)
    group = rows_together(old, new, unusual, level[unusual])
    if n_together:
        group = max(group, rows_of_new_kind(both), key=len)
    copies = find_copies(old, new, graph, indices, distances)
    drift = Drift(
        n_old=n,
        n_new=n_new,
        n_compared=unlikeness.n_compared,
        novelty=level,
        unusual=float(np.mean(level > OUTSIDE)),
        out_of_range=float(np.mean(unlikeness.is_far)),
        shift=shift,
        shift_by_chance=largest_shift(n_drawn, n_new),
        preserved_new=float(kept.mean()) / k,
        preserved_old=float(kept_of_old.mean()) / k,
        lost_by_chance=chance_of_fewer(kept_of_old, n_new, float(kept.sum()) + n_new * MOST_LOST * k),
        n_neighbors=k,
        regions=regions,
        region_p_values=region_p_values,
        labels=majorities(labels, indices),
        shift_p_value=chance_of_shift(shift, n_drawn, n_new),
        columns=measure_columns(old, new, missing=filled, without=without),
        column_names=column_names,
        missing=None if missing is None else measure_missing(missing),
        missing_names=missing_names or column_names,
        group=told_of[group],
        unknown=unknown,
        copies=np.stack([told_of[copies.pairs[:, 0]], placed[copies.pairs[:, 1]]], axis=1),
        n_equal=copies.n_equal,
        n_repeated=copies.n_repeated,
        copies_p_value=copies.p_value,
        labels_of_group=majorities(labels, indices[group]),
        blank=blank,
        metric=metric,
    )
    if not drift.labels or not (drift.differs or drift.slight):
        return drift
    weights = like_shares(labels, graph.indices, indices)
    scored = None if novelty is None else (novelty.score_fitted(graph.indices, graph.distances), scores)
    return replace(drift, by_shares=differs_by_shares(drift, weights, (old, new), scored, filled, without))


def _of_blank_rows(blank: npt.NDArray[np.int64], n_old: int, metric: str) -> Drift:
    """Return what is said where all new rows say nothing."""
    none, unknown = np.empty(0), float("nan")
    return Drift(
        n_old=n_old,
        n_new=0,
        n_compared=n_old,
        novelty=none,
        unusual=0.0,
        out_of_range=0.0,
        shift=0.0,
        shift_by_chance=1.0,
        preserved_new=unknown,
        preserved_old=unknown,
        lost_by_chance=1.0,
        n_neighbors=0,
        regions=[],
        labels={},
        blank=blank,
        metric=metric,
    )


def _effective_number(X: Any, distances: npt.NDArray[Any]) -> float:
    """Return as how many rows of independent novelty rows count: equal ones have one novelty."""
    n = len(distances)
    if not (distances[:, 0] == 0.0).any():
        return float(n)
    counts = np.bincount(find_duplicate_rows(float_rows(X))[1]).astype(np.float64)
    return n**2 / float((counts**2).sum())
