"""Sets of rows so near each other, for how far others are, as rows that were measured or copied several times."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, log
from gnomon.linalg import connected_components, dense_rows, find_categories, most_likely_levels
from gnomon.neighbors.compute import compute_neighbors
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.row_search import query_neighbors

__all__ = [
    "REPEATS_NEIGHBORS",
    "alike_by_chance",
    "find_repeats",
    "may_hide_repeats",
    "near_copies",
    "near_sets",
    "repeats_of_graph",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

_REPEATED = 0.1  # of the rows repeat others at least, else none are taken for repeated
REPEATS_NEIGHBORS = 20
"""Neighbours that tell of sets of ten."""
_MOST = 10  # rows of a set: fewer than a cluster must have
_FEWEST_NEIGHBORS = 6
_SURE, _LIKELY = (0.02, 1.5), (0.2, 1.2)
"""Chance that rows that lie evenly have so wide a step at a given neighbour, and the least step, from the farthest of a
set to the next row, where dimensions are many and chance allows none: the first says of a table that rows are repeated,
and the second finds more of them once that is said."""
_FEW, _OF_CLASS = 20, 3.5
"""Fewer sets, of so many rows each, may as well be small classes."""
_FAR = 10.0  # step that tells sets of copies from classes: these are apart by a few times their width
_SINGLE = 0.05
"""Chance that any row of a table that lies evenly has so wide a step, at any neighbour: says so of a set, however few
there are."""
_HIDDEN = 0.05  # of the rows with a step behind half of their neighbours, at least
_BY_CHANCE = 0.25  # of the repeats: as many pairs of equal rows where columns go their own ways, and all may be chance
_LOOKED_AT = 1000  # rows of a large table, which say whether the others are looked at too
_STREAM = 0x7270


def repeats_of_graph(graph: NeighborGraph) -> tuple[Rows, Rows]:
    """Return which rows remain if one stays of each set of rows that were measured several times.

    A set is of two to ten rows near each other, with a step to the next one that is wide for chance: of rows that lie
    evenly in d dimensions the distance to neighbour j + 1 is at least c times that to neighbour j with the chance
    c^(-d j). d is that of the farther half of the neighbours. Of several wide steps of a row that of the least chance
    counts: two sets may happen to lie near each other. Rows are taken for repeated if a tenth of them could be spared,
    of sets whose rows all have the others, and no row besides, before a step of a chance of 0.02. Of normal, even,
    heavy-tailed and curved tables of independent rows those are 4 in 100 at most. Then sets are the rows that have each
    other before such a step, and of the rest those before one of a chance of 0.2.

    Fewer than twenty sets of four rows and more look the same as so many small classes, of which rows are no copies.
    They are taken for repeated only where a tenth of the rows could be spared of sets with a step of ten times and
    more, as narrow as no class is.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Six neighbours at least, else nothing can be told; 20 are enough for sets of ten.

    Returns
    -------
    kept : ndarray of shape (n_kept,), intp
        The first row of each set, and the rows in none, ascending: all rows where none are taken for repeated.
    inverse : ndarray of shape (n_samples,), intp
        Position in `kept` of the row that stands for each.
    """
    distances = np.asarray(graph.distances, dtype=np.float64)
    n = len(distances)
    first = np.arange(n)
    sets, spared = _sure_sets(graph, distances, _SURE[1])
    told = np.sum(spared) >= _REPEATED * n
    if told and _as_classes(spared[spared > 0] + 1):
        told = np.sum(_sure_sets(graph, distances, _FAR)[1]) >= _REPEATED * n
    if told:
        first = _first_of(sets)
        alone = np.bincount(first, minlength=n)[first] == 1  # all others have their set
        likely = np.where(alone, _nearer(distances, *_LIKELY), 0)
        first = np.where(alone, _first_of(_mutual(graph, likely)), first)
    kept = np.flatnonzero(first == np.arange(n))
    return kept, np.searchsorted(kept, first)


def _sure_sets(graph: NeighborGraph, distances: Floats, least: float) -> tuple[Rows, Rows]:
    """Return numbers of the sets before sure steps, and how many rows could be spared of each that has no row besides.

    Those are sets of two to ten rows that all have the others, and no row besides, before a step.
    """
    near = _nearer(distances, _SURE[0], least)
    sets = _mutual(graph, near)
    sizes = np.bincount(sets)
    closed = np.ones(len(sizes), dtype=np.bool_)
    closed[sets[near != sizes[sets] - 1]] = False  # a row has more neighbours before its step, or fewer
    return sets, sizes[closed] - 1


def _as_classes(sizes: Rows) -> bool:
    """Say whether sets may as well be small classes: few of them, half of which have several rows."""
    return len(sizes) < _FEW and float(np.median(sizes)) >= _OF_CLASS


def near_sets(graph: NeighborGraph) -> Rows:
    """Return numbers of the sets of rows that are near each other beyond doubt, however few they are.

    Steps are as those of `repeats_of_graph`, and so wide that in one of twenty tables of rows that lie evenly any row
    has one, of chances that halve from neighbour to neighbour. They lead as far as rows of the table commonly have to
    that neighbour: rows far out may be near each other for how far all others are, and have nothing else in common. The
    rows of a set have each other, and are ten at most. Sets whose rows are farther apart, as copies with much noise,
    are not found.

    Of 200 draws each of 300 rows of one column and 1,000 of two and three, even, normal, log-normal, t(3) and Cauchy,
    5 at most had such a set, and of 20 each of 1,000 rows of 20 columns none.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Six neighbours at least, else no set is found.

    Returns
    -------
    ndarray of shape (n_samples,), intp
        The first row of the set of each row, its own number where it is in none.
    """
    distances = np.asarray(graph.distances, dtype=np.float64)
    return _first_of(_mutual(graph, _nearer(distances, _SINGLE / len(distances), _SURE[1], _Usual.of(distances))))


def near_copies(graph: NeighborGraph, indices: npt.NDArray[Any], distances: npt.NDArray[Any]) -> Rows:
    """Return of which row of a table each new row is a copy, or nearly, beyond doubt as `near_sets` has it.

    Each new row is judged alone: whether it and its nearest row of the table have each other.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Of the table.
    indices, distances : ndarray of shape (n_new, n_neighbors)
        The nearest rows of the table of each new row, ascending, as many as in the graph.

    Returns
    -------
    ndarray of shape (n_new,), intp
        Numbers of rows of the table, -1 for none.
    """
    own = np.asarray(graph.distances, dtype=np.float64)
    usual = _Usual.of(own)
    chance = _SINGLE / max(len(own), len(distances))
    nearest, away = indices[:, 0], np.asarray(distances, dtype=np.float64)
    found = np.full(len(nearest), -1, dtype=np.intp)
    asked = np.flatnonzero(_nearer(away, chance, _SURE[1], usual))
    beside = np.sort(np.column_stack([own[nearest[asked], :-1], away[asked, 0]]), axis=1)
    reach = _nearer(beside, chance, _SURE[1], usual)
    has = (reach > 0) & (beside[np.arange(len(asked)), np.maximum(reach - 1, 0)] >= away[asked, 0])
    found[asked[has]] = nearest[asked[has]]
    return found


def may_hide_repeats(graph: NeighborGraph) -> bool:
    """Say whether a graph of few neighbours might hide sets larger than `repeats_of_graph` finds in it.

    It does where a share of the rows has a step, or a distance of zero, where half of its neighbours end or farther.
    """
    half = max(graph.n_neighbors // 2, 1)
    farther = np.asarray(graph.distances[:, half - 1 : _MOST], dtype=np.float64)
    step = (farther[:, 1:] >= _SURE[1] * farther[:, :-1]) & np.isfinite(farther[:, 1:])
    return bool(np.mean(step.any(axis=1) | (farther[:, 0] == 0.0)) >= _HIDDEN)


def find_repeats(points: Any, *, metric: str = "euclidean", seed: int) -> tuple[Rows, Rows]:
    """Return which points remain if one stays of each set of points that were measured several times.

    All points of a large table are looked at only if some of them have neighbours so near.

    Parameters
    ----------
    points : ndarray or CSR matrix of shape (n_samples, n_features)
        Finite numbers, float32 or float64.
    metric : str, default="euclidean"
        In which they are near.
    seed : int
        Draws the rows of a large table that are looked at first.

    Returns
    -------
    kept, inverse : ndarray, intp
        As of `repeats_of_graph`, with 20 neighbours.
    """
    n = int(points.shape[0])
    k = min(REPEATS_NEIGHBORS, n - 1)
    if n > 2 * _LOOKED_AT:
        some = np.sort(np.random.default_rng((seed, _STREAM)).choice(n, _LOOKED_AT, replace=False))
        distances = query_neighbors(points, points[some], k + 1, metric=metric)[1][:, 1:]
        if np.count_nonzero(_nearer(np.asarray(distances, dtype=np.float64), *_SURE)) < _REPEATED * _LOOKED_AT:
            return np.arange(n), np.arange(n)
    return repeats_of_graph(compute_neighbors(points, k, metric=metric, seed=seed))


def alike_by_chance(X: Any, n_repeats: int) -> bool:
    """Say whether rows of a table may repeat each other since its columns have few values, as answers to a survey do.

    Such rows are independent all the same. Of columns that go their own ways a pair of rows is equal with the product
    of the shares of pairs that are equal in each column. The indicators of a category are one column.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_repeats : int
        How many repeat others.

    Returns
    -------
    bool
    """
    columns = X.tocsc() if hasattr(X, "tocsr") else X
    alone = [np.array([j]) for j in range(int(X.shape[1]))]
    least = _BY_CHANCE * n_repeats
    if _are_pairs_equal(columns, alone, least):
        return True
    categories = find_categories([columns])
    within = {int(j) for category in categories for j in category}
    joined = categories + [one for one in alone if int(one[0]) not in within]
    return bool(categories) and _are_pairs_equal(columns, joined, least)


def _are_pairs_equal(columns: Any, units: list[Rows], least: float) -> bool:
    """Say whether so many pairs of rows are equal by chance, of units of columns that go their own ways."""
    n = int(columns.shape[0])
    pairs = 0.5 * n * (n - 1.0)
    for unit in units:
        if pairs < least:
            return False
        values = dense_rows(columns[:, unit])
        levels = values.astype(np.float64) if len(unit) == 1 else most_likely_levels(values).astype(np.float64)
        counts = np.unique(levels, return_counts=True)[1].astype(np.float64)
        pairs *= float((counts * (counts - 1.0)).sum()) / (n * (n - 1.0))
    return pairs >= least


def _mutual(graph: NeighborGraph, near: Rows) -> Rows:
    """Return numbers of the sets of rows that have each other among so many neighbours, also through others."""
    n = len(near)
    starts = np.repeat(np.arange(n), near)
    ends = graph.indices[np.arange(graph.n_neighbors) < near[:, None]]
    links = scipy.sparse.csr_array((np.ones(len(starts), dtype=np.float32), (starts, ends)), shape=(n, n))
    return connected_components(links.minimum(links.T)).astype(np.intp)


def _first_of(sets: Rows) -> Rows:
    """Return the first row of the set of each row, itself where the set has more than ten."""
    _, first, sizes = np.unique(sets, return_index=True, return_counts=True)
    return np.where(sizes[sets] <= _MOST, first[sets], np.arange(len(sets)))


def _dimension(distances: Floats) -> float | None:
    """Return the dimension of the farther half of the neighbours of rows; None if it cannot be told."""
    k = distances.shape[1]
    half = k // 2
    if k < _FEWEST_NEIGHBORS:
        return None
    known = (distances[:, half - 1] > 0.0) & np.isfinite(distances[:, k - 1])
    if not known.any():
        return None
    grown = float(log(distances[known, k - 1] / distances[known, half - 1]).mean())
    return float(np.sum(1.0 / np.arange(half, k))) / grown if grown > 0.0 else None


class _Usual(NamedTuple):
    """What is usual in a table: its dimension, and how far rows have to the second neighbour, the third and so on."""

    dimension: float | None
    reach: Floats

    @classmethod
    def of(cls, distances: Floats) -> _Usual:
        """Return that of the neighbours of all rows of a table.

        All reaches follow from that to the last neighbour that counts, which lies beyond the copies of a row.
        """
        most, dimension = _most(distances), _dimension(distances)
        if dimension is None:
            return cls(None, np.full(most, np.inf))
        ranks = np.arange(2, most + 2) / (most + 1)
        return cls(dimension, np.median(distances[:, most]) * exp(log(ranks) / dimension))


def _most(distances: Floats) -> int:
    """Return at how many of the neighbours of rows a step may be."""
    return int(min(_MOST, distances.shape[1] // 2)) - 1


def _nearer(distances: Floats, chance: float, least: float, usual: _Usual | None = None) -> Rows:
    """Return how many neighbours of each row lie before a step too wide for chance, the least likely of several.

    0 where there is none, or it cannot be told. With what is `usual` in the table, the chance is that of a step at any
    neighbour, and steps lead that far.
    """
    n, k = distances.shape
    dimension = _dimension(distances) if usual is None else usual.dimension
    if dimension is None or k < _FEWEST_NEIGHBORS:
        return np.zeros(n, dtype=np.intp)
    most = _most(distances)
    numbers = np.arange(1, most + 1)
    halved = 0.0 if usual is None else numbers * math.log(2.0)
    rise = np.minimum((halved - math.log(chance)) / (dimension * numbers), 80.0)  # products of distances stay finite
    steps = np.maximum(least, exp(rise))
    farther = distances[:, 1 : most + 1]
    wide = (farther >= steps * distances[:, :most]) & (farther > 0.0) & np.isfinite(farther)
    if usual is not None:
        wide &= steps * distances[:, :most] <= usual.reach
    with np.errstate(divide="ignore"):
        grown_by = np.divide(farther, distances[:, :most], out=np.ones_like(farther), where=wide)
    unlikely = (numbers * log(grown_by)).argmax(axis=1)
    return np.where(wide.any(axis=1), numbers[unlikely], 0)
