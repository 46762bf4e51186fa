"""What sets a selection of rows apart from the rest: one effect size and one ranking probability per feature.

Each number comes with its standard error, and the contrast with how well the features it names tell the groups apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._false_discoveries import adjusted_p_values
from gnomon._run import current_run
from gnomon._validation import Integer, Options, check_parameters, message
from gnomon.explanations.answer import AnswersByLabel
from gnomon.explanations.collinear import FeatureGroups, check_groups
from gnomon.explanations.contrast.errors import (
    FEW_ROWS,
    auc_errors,
    difference_intervals,
    effect_size_errors,
    intervals,
    rates_of_chance,
)
from gnomon.explanations.contrast.held_out import Repeats, held_out_auc
from gnomon.explanations.contrast.known import check_known, few_known
from gnomon.explanations.contrast.result import FALSE, Contrast
from gnomon.explanations.contrast.units import UnitSums, check_units
from gnomon.explanations.rows import classes_of
from gnomon.geometry.check import check_features, row_mask
from gnomon.linalg.table import RowTable, table_as_bytes
from gnomon.neighbors.independence import FEATURES, of_independent_rows

__all__ = ["cluster_profiles", "contrast", "group_contrasts"]

Array = npt.NDArray[np.float64]
_Pair = tuple[Array, Array]

_RULES = {"sort_by": Options("auc", "effect_size")}


def _order(auc: npt.NDArray[np.float64], effect: npt.NDArray[np.float64], sort_by: str) -> npt.NDArray[np.int64]:
    keys = [-np.abs(auc - 0.5), -np.abs(effect)]
    if sort_by == "effect_size":
        keys.reverse()
    order: npt.NDArray[np.int64] = np.lexsort((keys[1], keys[0]))
    return order


def group_contrasts(X: Any, groups: npt.NDArray[np.int32], n_groups: int) -> Any:
    """Return what `_core.group_contrasts` does, each (n_groups, n_features), in one pass over the columns."""
    if hasattr(X, "tocsc"):
        # In CSC form a column is a row of the transposed table.
        X = X.T
    return _core.group_contrasts(RowTable.of(X).core, np.ascontiguousarray(groups), n_groups, current_run().n_threads)


def _contrasts(
    X: Any,
    groups: npt.NDArray[np.int32],
    n_groups: int,
    names: list[str],
    sort_by: str,
    collinear: FeatureGroups | None = None,
    units: npt.NDArray[np.int64] | None = None,
) -> list[Contrast]:
    """Contrast every group of rows with all others; halves hold units, or else sets of repeated rows, whole.

    `units` holds the unit of each row, -1 for none; then chance is judged between these.
    """
    if collinear is not None and collinear.groups:
        joined = _contrasts(collinear.joined(X), groups, n_groups, collinear.explanation.feature_names, sort_by)
        _, mean, rest_mean, _, *moments = group_contrasts(X[:, collinear.representatives], groups, n_groups)
        sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
        own = []
        for g, one in enumerate(joined):
            means = mean[g, one.indices], rest_mean[g, one.indices]
            variances = moments[0][g, one.indices], moments[1][g, one.indices]
            told = _differences(means, variances, (int(sizes[g]), int(sizes.sum() - sizes[g])))
            own.append(
                collinear.label(
                    replace(
                        one,
                        mean_selected=means[0],
                        mean_rest=means[1],
                        difference=told.difference,
                        difference_low=told.low,
                        difference_high=told.high,
                    )
                )
            )
        return own
    auc, mean, rest_mean, effect, *moments = group_contrasts(X, groups, n_groups)

    def rank(part: Any, of: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        # A group of one row is in one half only; the kernel takes groups that have rows.
        present, compact = np.unique(of, return_inverse=True)
        part_auc, _, _, part_effect, *_ = group_contrasts(part, compact.astype(np.int32), len(present))
        orders = np.zeros((n_groups, len(names)), dtype=np.int64)
        orders[present] = [_order(a, e, sort_by) for a, e in zip(part_auc, part_effect, strict=True)]
        return orders

    repeats = Repeats.of(X, groups, n_groups) if units is None else None
    sets = units if repeats is None else repeats.sets
    fidelity = held_out_auc(X, groups, n_groups, rank, sets)
    between = None if units is None else UnitSums.of(X, groups, units)
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    found = []
    for g in range(n_groups):
        order = _order(auc[g], effect[g], sort_by)
        n_selected, n_rest = int(sizes[g]), int(sizes.sum() - sizes[g])
        variance, rest_variance, spread, rest_spread = (one[g, order] for one in moments)
        means, variances = (mean[g, order], rest_mean[g, order]), (variance, rest_variance)
        sizes_of_both = n_selected, n_rest
        if repeats is not None:
            sizes_of_both = repeats.distinct(groups == g), repeats.distinct((groups >= 0) & (groups != g))
        if between is None:
            spreads = spread, rest_spread
            rates, n_units = rates_of_chance(auc[g, order], sizes_of_both, spreads), None
        else:
            chances, n_units = between.chances(g)
            rates = np.ones(len(order)) if chances is None else adjusted_p_values(chances)[order]
        told = _differences(means, variances, sizes_of_both)
        if between is not None:
            told = _differences_of_units(between, g, order)
        found.append(
            Contrast(
                features=[names[f] for f in order],
                indices=order,
                effect=effect[g, order],
                error=effect_size_errors(effect[g, order], means, variances, sizes_of_both),
                fidelity=float(fidelity[g]),
                auc=auc[g, order],
                auc_error=auc_errors(auc[g, order], means, variances, (spread, rest_spread), sizes_of_both),
                false_discovery_rate=rates,
                mean_selected=means[0],
                mean_rest=means[1],
                n_selected=n_selected,
                n_rest=n_rest,
                n_beyond_chance=int(np.count_nonzero(rates <= FALSE)),
                n_units=n_units,
                n_repeats=n_selected + n_rest - sum(sizes_of_both),
                difference=told.difference,
                difference_low=told.low,
                difference_high=told.high,
            )
        )
    return found


class _Differences(NamedTuple):
    """Differences of the means of both sides, in units of the features, and the ends of their 95 % intervals."""

    difference: Array
    low: Array
    high: Array


def _differences(means: _Pair, variances: _Pair, sizes: tuple[int, int]) -> _Differences:
    """Return the differences of means of rows."""
    return _Differences(means[0] - means[1], *difference_intervals(means, variances, sizes))


def _differences_of_units(between: UnitSums, g: int, order: npt.NDArray[np.int64]) -> _Differences:
    """Return those of means of units, NaN where these are too few."""
    found, _ = between.differences(g)
    if found is None:
        unknown = np.full(len(order), np.nan)
        return _Differences(unknown, unknown, unknown)
    gaps, errors, freedom = found
    low, high = intervals(gaps, errors, freedom)
    return _Differences(gaps[order], low[order], high[order])


@entrance("contrast")
@of_independent_rows(FEATURES, by_units=True, when=lambda found: found.n_beyond_chance > 0)
def contrast(
    X: Any,
    selection: Any,
    rest: Any = None,
    *,
    feature_names: Any = None,
    sort_by: Literal["auc", "effect_size"] = "auc",
    groups: FeatureGroups | None = None,
    units: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Contrast:
    """Say what sets a selection of rows apart from the rest, feature by feature.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; sparse data stay sparse. Numbers count as they are: of angles ask `gnomon.Map.contrast`, which knows
        where they start again.
    selection : boolean mask of shape (n_samples,) or array of row numbers
        At least one row.
    rest : mask or row numbers, default=None
        The rows to compare with; all that are not selected by default. It must not share rows with the selection.
    feature_names : sequence of n_features str, default=None
        By default the columns of a data frame, else "feature 0" and so on.
    sort_by : {"auc", "effect_size"}, default="auc"
        The AUC depends on ranks alone and so is not swayed by outliers or scales.
    groups : FeatureGroups, default=None
        What `group_features` found in an explanation of the same rows: features that are collinear along the map are
        compared as one, by their score.
    units : array-like of shape (n_samples,), default=None
        What was drawn independently, such as the donor of each cell or the patient of each visit, where rows of one
        unit are alike. What sets the selection apart is then judged between units: by the means of those on either
        side, or of at least 3 with rows on both sides by the difference of their two means (others then take no part).
        With fewer than 3 on a side it cannot be told. Effects and AUC are those of the rows all the same, but nothing
        is named that units differ in the other way than their rows, and units are held out whole. None takes every row
        as independent, and each set of rows that repeat each other as one. Rows without a unit (None, NaN, empty) are
        in no mean. Not with `groups`.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Contrast
        A description of these rows: a selection made by looking at a map differs by construction, also where its
        caption finds features that are no chance for rows drawn at random.
    """
    check_parameters(_RULES, {"sort_by": sort_by})
    values, labels = check_features(X, feature_names)
    n = int(values.shape[0])
    inside = row_mask(selection, n, name="selection")
    if rest is None:
        outside = ~inside
        if not outside.any():
            raise ValueError(message(f"selection with all {n:,} rows", "smaller than the data"))
    else:
        outside = row_mask(rest, n, name="rest")
    shared = int(np.count_nonzero(inside & outside))
    if shared:
        raise ValueError(message(f"rest with {shared} selected rows", "apart from the selection"))
    sides = np.where(inside, 0, np.where(outside, 1, -1)).astype(np.int32)
    owners = check_units(units, n, groups)
    return _contrasts(table_as_bytes(values), sides, 2, labels, sort_by, check_groups(groups), owners)[0]


def _among_all(profile: Contrast, n_clusters: int) -> Contrast:
    """Return a contrast whose rates of false discoveries allow for those of other clusters; of two it is the same."""
    rates = np.minimum(profile.false_discovery_rate * (n_clusters if n_clusters > 2 else 1), 1.0)
    return replace(profile, false_discovery_rate=rates, n_beyond_chance=int(np.count_nonzero(rates <= FALSE)))


def _compared(known: Any, sides: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Return the features that a cluster, of side 1, is compared by with all other rows, of side 0."""
    few_others, few_own = few_known(known, sides, 2)
    next_to_none = few_others & (known[sides == 0].sum(axis=0) < FEW_ROWS)
    return np.flatnonzero(~(few_own | next_to_none))


@entrance("cluster_profiles")
@of_independent_rows(FEATURES, by_units=True, when=lambda found: any(one.n_beyond_chance for one in found.values()))
def cluster_profiles(
    X: Any,
    labels: Any,
    *,
    n_top: int | None = 10,
    feature_names: Any = None,
    sort_by: Literal["auc", "effect_size"] = "auc",
    groups: FeatureGroups | None = None,
    units: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> AnswersByLabel[Contrast]:
    """Contrast every cluster with all other rows, in one pass over the features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least two different ones. -1 is a cluster like any other. Rows whose label is
        None, NaN or an empty text are in no cluster and take no part.
    n_top : int >= 1 or None, default=10
        Features kept for each cluster; None for all.
    feature_names, sort_by, groups, n_jobs
        As in `contrast`.
    units : array-like of shape (n_samples,), default=None
        What was drawn independently, such as the donor of each cell, as in `contrast`: what sets a cluster apart is
        judged between these, as `contrast` of its rows and all others in clusters does. A cluster of which it cannot be
        told says so. None takes every row as independent. Not with `groups`.
    known : array-like of shape (n_samples, n_features), bool, default=None
        Which values were there before missing ones were filled in: a feature of which fewer than half of the rows of a
        cluster have one, as those that were not asked, or next to no other row, is left out of its table. Not with
        `groups`. None takes all.

    Returns
    -------
    AnswersByLabel
        A dict of label to Contrast in the order of the sorted labels; `print` shows tables. Rates of false discoveries
        are over all labels: of three and more their number times those of `contrast` (Bonferroni), so that of labels
        that say nothing of the features, however many, any is set apart in at most 5 % of tables.
    """
    checked = {"n_top": 1 if n_top is None else n_top, "sort_by": sort_by}
    check_parameters({**_RULES, "n_top": Integer(1)}, checked)
    values, feature_labels = check_features(X, feature_names)
    classes = classes_of(labels, int(values.shape[0]))
    codes = classes.codes.astype(np.int32)
    owners = check_units(units, len(codes), groups)
    table, collinear = table_as_bytes(values), check_groups(groups)
    contrasts = _contrasts(table, codes, len(classes), feature_labels, sort_by, collinear, owners)
    there = check_known(known, values.shape, groups=groups is not None)
    for g in range(len(classes) if there is not None else 0):
        sides = np.where(codes < 0, -1, codes == g).astype(np.int32)
        compared = _compared(there, sides)
        if 0 < len(compared) < len(feature_labels):
            named = [feature_labels[j] for j in compared]
            own = _contrasts(table_as_bytes(values[:, compared]), sides, 2, named, sort_by, None, owners)[1]
            contrasts[g] = replace(own, indices=compared[own.indices])
    contrasts = [_among_all(profile, len(classes)) for profile in contrasts]
    kept = contrasts if n_top is None else [profile.head(n_top) for profile in contrasts]
    return AnswersByLabel(zip(classes.values, kept, strict=True))
