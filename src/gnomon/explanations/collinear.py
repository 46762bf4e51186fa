"""Groups of features that rise and fall together everywhere along a map, explained as one feature each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._run import current_run
from gnomon._validation import Instance, Real, Rule, check_parameters, message
from gnomon.data.scaling import Scaling, reads_values
from gnomon.explanations.answer import GroupedAnswer, members_text
from gnomon.explanations.explanation import Explanation, explain_in_memory
from gnomon.linalg import inner, inner_products, product, symmetric_eigen
from gnomon.linalg.products import dense_product, sparse_product, sum_of_squares
from gnomon.linalg.table import RowTable, evenly_spaced, float_rows, table_as_bytes
from gnomon.neighbors import NeighborGraph, compute_neighbors, distinct_neighbors
from gnomon.neighbors.distances import nearest_among

__all__ = ["FeatureGroups", "check_groups", "find_groups", "group_features"]

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.floating]
Columns = npt.NDArray[np.int64]
_Grouped = TypeVar("_Grouped", bound=GroupedAnswer)
_RULES: dict[str, Rule] = {
    "explanation": Instance((Explanation,), "what gnomon.explain returns"),
    "threshold": Real(0.0, 1.0, low_open=True),
}
_NUMBERS = 1 << 24  # of the table of deviations, at most
_FEWEST = 256  # rows of it, at least
_ROUNDS = 5
_ROWS = 256  # that are added up at a time
_MULTIPLIED = 2048  # and rows whose products are
_SPARSE = 16.0  # products of full columns in the time of one of stored numbers
_SLACK = 1e-4  # below the threshold, of correlations that are then looked at in double
_TOGETHER = 4096  # columns correlated with all others at a time; a quarter of these, where there are more
_ASKED = 100  # rows whose neighbours among features are compared with those among groups
_STAYING = 0.98  # share of the neighbours that must stay, as many as an approximate search finds


@dataclass(frozen=True)
class FeatureGroups(Printed):
    """Features in groups, and the explanation of the map by one feature for each group.

    Attributes
    ----------
    explanation : Explanation
        Of the same map by the groups: a feature in no group stands for itself, a group is one feature, its score. All
        questions can be asked of it. Without groups it is the explanation that was grouped.
    members : list of ndarray of int64
        For each feature of `explanation` the columns of the data that it stands for, in their order.
    shares : list of ndarray of float64
        For each feature of `explanation` what its members have in it, summing to 1.
    weights : list of ndarray of float64
        For each feature of `explanation` the factors of its members, in units of the data, in its score.
    representatives : ndarray of int64
        For each feature of `explanation` the column most correlated with it.
    groups : dict of str to dict of str to float
        Name of each group of two features or more, such as "area + 2 alike" after the member most correlated with it,
        to its members by name, with their shares.
    threshold : float
        As given.
    """

    explanation: Explanation
    members: list[Columns]
    shares: list[Array]
    weights: list[Array]
    representatives: Columns
    groups: dict[str, dict[str, float]]
    threshold: float

    def __str__(self) -> str:
        n = sum(len(columns) for columns in self.members)
        if not self.groups:
            return f"{n} features, of which none are alike along the map"
        lines = [f"{name}: {members_text(members)}" for name, members in self.groups.items()]
        count = f"{len(lines)} {'group' if len(lines) == 1 else 'groups'}"
        return "\n".join([f"{n} features, of which {n - len(self.members) + len(lines)} are in {count}", *lines])

    def joined(self, X: Any) -> Any:
        """Return the columns of a table of the rows explained, each group as one column, its score.

        Parameters
        ----------
        X : ndarray or CSR of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR of shape (n_samples, explanation.n_features)
            Scores have no units; other columns are those of X.
        """
        if tuple(X.shape) != (self.explanation.n_samples, sum(len(columns) for columns in self.members)):
            rule = f"those of the {self.explanation.n_samples:,} rows explained"
            raise ValueError(message(f"groups of features for X of shape {tuple(X.shape)}", rule))
        at = np.array([f for f, columns in enumerate(self.members) if len(columns) > 1], dtype=np.int64)
        return _replaced(X, self.representatives, at, self.explanation._X[:, at])

    def label(self, answer: _Grouped) -> _Grouped:
        """Give an answer about `explanation` the columns of the data and the members of its groups."""
        named = {name: self.groups[name] for name in answer.features if name in self.groups}
        return replace(answer, indices=self.representatives[answer.indices], groups=named)


def check_groups(groups: Any) -> FeatureGroups | None:
    """Return what `group_features` gave, or None, else raise TypeError."""
    if groups is None or isinstance(groups, FeatureGroups):
        return groups
    raise TypeError(message(f"groups={groups!r:.60}", "None or what group_features returns"))


def find_groups(explanation: Explanation, groups: Any) -> FeatureGroups | None:
    """Return the groups that an argument `groups` names: none, those found by default, or those given."""
    if groups is None or isinstance(groups, FeatureGroups):
        return groups
    if isinstance(groups, str) and groups == "auto":
        return group_features(explanation)
    raise ValueError(message(f"groups={groups!r}", 'None, "auto" or what group_features returns'))


@entrance("group_features")
def group_features(explanation: Explanation, *, threshold: float = 0.9, keep_neighbors: bool = False) -> FeatureGroups:
    """Put features that are collinear along the map into groups, and explain the map by one feature for each group.

    A fit cannot tell collinear features apart: it shares out among them what they do together, and sixteen copies of a
    driver make the neighbourhoods narrow in its direction besides. A group moves as its members move together: its
    score is their leading principal component within neighbourhoods, each in units of its standard deviation there,
    of the mean variance of the members, and takes their place in the data when neighbours are found and the map is
    explained. The importance of the group is the length of that joint movement, not the sum of the members' shares.

    Parameters
    ----------
    explanation : Explanation
        Of the map.
    threshold : float in (0, 1], default=0.9
        Absolute correlation that every two members of a group have at least. It is that of their deviations from the
        means of neighbourhoods, over all rows: features that only differ between the same clusters are not collinear.
        Noise of its own weighs more in a narrow neighbourhood, that is among more rows: eight copies of a driver that
        correlate by 0.997 over all rows were one group of 400 rows, and none of 2,000. Of copies that are measured with
        noise, 0.3 to 0.5 joins what belongs together.
    keep_neighbors : bool, default=False
        Whether the neighbours stay those of the explanation, instead of being found among the features and groups: for
        features that have no part in who is near, such as words beside vectors of texts. So they do under metrics that
        read what values are, such as "periodic".

    Returns
    -------
    FeatureGroups

    Raises
    ------
    TypeError
        If `explanation` is not an Explanation in memory.

    Notes
    -----
    Neighbourhoods are found again with the groups as one feature each, until the groups stay the same: copies make
    neighbourhoods narrow, where noise hides what else goes along. Where 98 % of the neighbours would stay, which is as
    many as an approximate search finds, they are not found again. Groups come from hierarchical clustering with
    complete linkage, so that no chain of pairs joins features that are not correlated themselves. Within a group a
    member's share is the Shapley value of its part in the variance of the score [1]_: its weight times its covariance
    with the score, over the variance.

    References
    ----------
    .. [1] Colini-Baldeschi, Scarsini & Vaccari, "Variance allocation and Shapley value", 2018.
    """
    threshold = check_parameters(_RULES, {"explanation": explanation, "threshold": threshold})["threshold"]
    fits = explanation._jacobians  # those in the data, whichever the explanation rests on
    n_neighbors = int(fits.indices.shape[1])
    X, graph = explanation._fitted, explanation.distinct_graph.nearest(n_neighbors)
    parts: list[_Group] = []
    searched, begun = X, graph
    for _ in range(_ROUNDS):
        found = _find(_deviations(X, graph), threshold)
        if [one.columns.tolist() for one in found] == [one.columns.tolist() for one in parts]:
            break
        parts = found
        scores, lines = _scores(X, parts)
        kept = keep_neighbors or graph.metric == "precomputed" or reads_values(graph.metric)
        if kept or _stay(searched, scores, graph):
            break
        searched, graph = scores, compute_neighbors(scores, n_neighbors, metric=graph.metric)
        if explanation.n_repeats:
            graph = distinct_neighbors(scores, graph, explanation.representatives, n_neighbors)
    names, members = list(explanation.feature_names), _alone(explanation.n_features)
    shares, weights = [np.ones(1) for _ in names], [np.ones(1) for _ in names]
    if not parts:
        return FeatureGroups(explanation, members, shares, weights, np.arange(len(names)), {}, threshold)
    scale = explanation.scale
    for part in parts:
        names[part.place] = f"{explanation.feature_names[part.place]} + {len(part.columns) - 1} alike"
        members[part.place], shares[part.place] = part.columns, part.shares
        weights[part.place] = part.weights if scale is None else part.weights / scale.spread[part.columns]
    listed = lines.tolist()
    if scale is not None:
        scores, scale = _in_units(explanation._X, scores, lines, [part.place for part in parts], scale)
    grouped = explain_in_memory(
        scores,
        explanation.places,
        n_neighbors=n_neighbors,
        pooling=fits.pooling,
        graph=graph,
        feature_names=[names[f] for f in listed],
        scale=scale,
        n_jobs=explanation.n_jobs,
        representatives=explanation.representatives if explanation.n_repeats else None,
    )
    if explanation.n_repeats and graph is begun:
        grouped.graph = explanation.graph  # of all rows, as there
    return FeatureGroups(
        explanation=grouped,
        members=[members[f] for f in listed],
        shares=[shares[f] for f in listed],
        weights=[weights[f] for f in listed],
        representatives=lines,
        groups={
            names[part.place]: {
                explanation.feature_names[f]: float(s) for f, s in zip(part.columns, part.shares, strict=True)
            }
            for part in parts
        },
        threshold=threshold,
    )


def _replaced(X: Any, lines: Columns, at: Columns, columns: Any) -> Any:
    """Return some columns of a table, with others in the places `at` among them."""
    if hasattr(X, "tocsr"):
        order = lines.copy()
        order[at] = X.shape[1] + np.arange(len(at))
        return sp.csr_array(sp.csc_array(sp.hstack([X, columns]))[:, order])
    table = np.empty((len(X), len(lines)), dtype=np.result_type(X.dtype, np.float32))
    for begin in range(0, len(X), _ROWS):  # that stay in a cache: a fifth of the time of all rows at once
        rows = slice(begin, begin + _ROWS)
        table[rows] = np.take(X[rows], lines, axis=1)
        table[rows, at] = columns[rows]
    return table


def _in_units(X: Any, scores: Any, lines: Columns, places: list[int], scale: Scaling) -> tuple[Any, Scaling]:
    """Return scores of standardised features with single features in units of the data, and their scaling."""
    at = np.searchsorted(lines, np.array(places, dtype=np.int64))
    center, spread = scale.center[lines], scale.spread[lines]
    center[at], spread[at] = 0.0, 1.0
    return _replaced(X, lines, at, scores[:, at]), Scaling(scale.name, center, spread)


def _alone(n: int) -> list[Columns]:
    return [np.array([f], dtype=np.int64) for f in range(n)]


def _stay(X: Any, scores: Any, graph: NeighborGraph) -> bool:
    """Say whether nearly all neighbours in a table stay if features are put into groups, columns of `scores`.

    Of some rows the nearest among their neighbours and the neighbours of these are compared in both tables.
    """
    if graph.mask is not None:
        return False
    rows, k = evenly_spaced(graph.n_samples, _ASKED), graph.n_neighbors
    wide = np.full((len(rows), k + k * k), -1, dtype=np.int32)
    for at, i in enumerate(rows.tolist()):
        near = graph.indices[i]
        found = np.setdiff1d(np.append(near, graph.indices[near]), i)
        wide[at, : len(found)] = found
    before, after = (nearest_among(table, rows, wide, k, metric=graph.metric) for table in (X, scores))
    if before is None or after is None:
        return False
    staying = [np.isin(one, other).mean() for one, other in zip(after, before, strict=True)]
    return bool(np.mean(staying) >= _STAYING)


def _looked_at(n: int, d: int) -> Columns:
    """Return the rows whose deviations are looked at, of n with d features."""
    return evenly_spaced(n, max(_FEWEST, _NUMBERS // d))


def _deviations(X: Any, graph: NeighborGraph) -> Floats:
    """Return deviations of evenly spaced rows from the means of their neighbourhoods, (n_rows, n_features).

    In double, or of a table that float32 holds in float32.
    """
    rows, shape = _looked_at(*map(int, X.shape)), graph.indices.shape
    present = np.ones(shape, np.float32) if graph.mask is None else graph.mask.astype(np.float32)
    ones, order = np.ones((len(rows), shape[1])), np.arange(len(rows), dtype=np.int64)
    table = RowTable.of(table_as_bytes(X)).core
    n_threads = current_run().n_threads
    single = np.result_type(X.dtype, np.float32) == np.float32
    sums: Any = _core.expand_frames(table, graph.indices, present, rows, ones, order, single, n_threads)
    found: Floats = sums[:, 0]
    found /= -(1.0 + present[rows].sum(axis=1, dtype=np.float64))[:, None]  # the row itself is one of them
    return found


@dataclass(frozen=True)
class _Group:
    """Columns of the data, their weights in the score, their shares in it, and the column most correlated with it."""

    columns: Columns
    weights: Array
    shares: Array
    place: int


def _find(deviations: Floats, threshold: float) -> list[_Group]:
    """Return the groups and their scores; the deviations become those in units of their columns."""
    blocks = [slice(begin, begin + _ROWS) for begin in range(0, len(deviations), _ROWS)]
    squares = sum(np.square(deviations[rows], dtype=np.float64).sum(axis=0) for rows in blocks)
    scale = np.sqrt(squares / len(deviations))
    deviations /= np.where(scale > 0, scale, 1.0)
    stored: Any = _where_stored(deviations)
    sparse = stored is not None
    stored = stored if sparse else deviations
    del deviations  # all of which the sparse ones need not
    paired = _paired_where_stored(stored, threshold) if sparse else _paired(stored, threshold)
    correlation = _correlations(stored, paired)
    del stored
    groups: list[_Group] = []
    for places in _clusters(correlation, threshold):
        columns = paired[places]
        groups.append(_Group(columns, *_score(correlation[np.ix_(places, places)], scale[columns], columns)))
    return groups


def _clusters(correlation: Array, threshold: float) -> list[Columns]:
    """Return the groups of two columns or more, by complete linkage of their absolute correlations."""
    if len(correlation) < 2:
        return []
    from scipy.cluster.hierarchy import fcluster, linkage

    apart = np.concatenate([1.0 - np.minimum(np.abs(row[i + 1 :]), 1.0) for i, row in enumerate(correlation)])
    tree = linkage(apart, method="complete")
    labels = fcluster(tree, 1.0 - threshold + 1e-12, criterion="distance")
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return sorted((group for group in groups if len(group) > 1), key=lambda group: int(group[0]))


def _where_stored(standard: Floats) -> Any:
    """Return deviations of many columns as a CSR array, if most are 0 and products are faster so; None else."""
    n, d = standard.shape
    if d <= _TOGETHER:
        return None
    stored = np.count_nonzero(standard, axis=1).astype(np.float64)
    return sp.csr_array(standard, dtype=np.float64) if _SPARSE * inner(stored, stored) < float(n) * d * d else None


def _paired(standard: Floats, threshold: float) -> Columns:
    """Return the columns that another one is correlated with, by at least the threshold, and few others."""
    n, d = standard.shape
    paired = np.zeros(d, dtype=np.bool_)
    least = (threshold - _SLACK) * n
    step = d if d <= _TOGETHER else max(1, _TOGETHER // 4)
    for start in range(0, d, step):
        some = slice(start, start + step)
        if d <= _TOGETHER:
            products = inner_products(standard, np.float32)  # half the time; sums of it err by 1.6e-5 at most
        else:
            products = product(standard[:, some].T, standard[:, start:])
        close = np.abs(products, out=products) >= least
        del products  # before the next are made
        np.fill_diagonal(close, False)
        paired[some] |= close.any(axis=1)
        paired[start:] |= close.any(axis=0)
    return np.flatnonzero(paired)


def _paired_where_stored(standard: sp.csr_array, threshold: float) -> Columns:
    """Return what `_paired` does; products are written out where that is faster than to keep those that are not 0."""
    n, d = standard.shape
    least, step = (threshold - _SLACK) * n, _TOGETHER // 4
    written = float(np.square(np.diff(standard.indptr), dtype=np.float64).sum()) > float(d) * d / _SPARSE
    varying = np.unique(standard.indices)
    rows = standard[:, varying]
    turned, paired = sp.csr_array(rows.T), np.zeros(len(varying), dtype=np.bool_)
    for start in range(0, len(varying), step):
        some = turned[start : start + step]
        if written:
            full = dense_product(some, rows)
            close = np.abs(full, out=full) >= least
            del full  # before the next is made
            np.fill_diagonal(close[:, start:], False)
            paired[start : start + step] = close.any(axis=1)
        else:
            products = sp.coo_array(sparse_product(some, rows))
            close = (np.abs(products.data) >= least) & (products.row + start != products.col)
            paired[start + products.row[close]] = True
    return np.asarray(varying[paired], dtype=np.int64)


def _correlations(standard: Floats | sp.csr_array, columns: Columns) -> Array:
    """Return the correlations of some columns, summed in double."""
    if isinstance(standard, sp.csr_array):
        rows = standard[:, columns]
        return dense_product(rows.T, rows) / standard.shape[0]

    def part(begin: int) -> Array:
        some: Array = standard[begin : begin + _MULTIPLIED][:, columns].astype(np.float64, copy=False)
        return some

    found = sum_of_squares(part, len(standard), len(columns), step=_MULTIPLIED)
    found /= len(standard)
    return found


def _score(correlation: Array, scale: Array, columns: Columns) -> tuple[Array, Array, int]:
    """Return the weights of a group's members in its score, their shares, and the member most correlated with it."""
    along = symmetric_eigen(correlation, 1)[1][:, 0]
    with_score = product(correlation, along)
    best = int(np.argmax(np.round(np.abs(with_score), 6)))
    along *= np.sign(with_score[best])
    with_score = product(correlation, along)
    variance = inner(along, with_score)
    length = np.sqrt(np.mean(scale**2) / variance)
    return length * along / scale, along * with_score / variance, int(columns[best])


def _scores(X: Any, groups: list[_Group]) -> tuple[Any, Columns]:
    """Return the data with each group as one column, its score, and the column in whose place each one stands."""
    d = int(X.shape[1])
    kept = np.ones(d, dtype=np.bool_)
    for group in groups:
        kept[group.columns] = group.columns == group.place
    lines = np.flatnonzero(kept).astype(np.int64)
    if hasattr(X, "tocsr"):
        table = float_rows(X)
        weights, into = np.ones(d), np.arange(d)
        for group in groups:
            weights[group.columns], into[group.columns] = group.weights, group.place
        sums = sp.csr_array((weights, (np.arange(d), np.searchsorted(lines, into))), shape=(d, len(lines)))
        return sp.csr_array(sp.csr_array(table) @ sums).astype(table.dtype), lines
    if not groups:
        return X[:, lines], lines
    members, weights = (np.concatenate([getattr(group, name) for group in groups]) for name in ("columns", "weights"))
    begins = np.cumsum([0, *(len(group.columns) for group in groups[:-1])])
    scores = np.empty((len(X), len(groups)), dtype=np.result_type(X.dtype, np.float32))
    for begin in range(0, len(X), _ROWS):
        rows = slice(begin, begin + _ROWS)
        scores[rows] = np.add.reduceat(weights * X[rows][:, members], begins, axis=1)
    return _replaced(X, lines, np.searchsorted(lines, [group.place for group in groups]), scores), lines
