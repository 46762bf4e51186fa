"""Approximate Euclidean neighbours: rows look into the nearest of many cells, as many as the recall asked for needs.

A sample of rows with known neighbours tells beforehand how many cells must be searched and how many candidates kept,
and afterwards what share of the neighbours was found.
"""

from __future__ import annotations

import itertools
import logging
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._costs import Cost
from gnomon._progress import Reporter
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values, lead_with, n_candidates
from gnomon.neighbors.graph import without_own
from gnomon.neighbors.searched import SearchedRows

__all__ = [
    "Approximation",
    "Plan",
    "Sample",
    "Space",
    "aim_for",
    "approximate_search",
    "basis_memory",
    "cells_memory",
    "group",
    "make_plan",
    "n_cells",
    "raised",
]

_log = logging.getLogger("gnomon.neighbors")

_PROJECT_ABOVE = 128  # features; above, candidates are sought in the leading principal directions
_PROJECTED = 96
_BASIS_FLOATS = 2**22  # size of the sample of rows that gives the directions
_SAMPLE = 200  # rows whose true neighbours are known
_KMEANS_ROWS = 48  # rows for each cell from which the centres are learned
_KMEANS_ROUNDS = 4
_PROXY_TIMES, _PROXY_MORE = 30, 100  # candidates for each neighbour, and beside these, where a proxy proposes them
_TYPICAL_TIMES = 3  # candidates kept for each neighbour of a projected table, of which a plan takes one to six
_SAMPLED = Cost(fixed=2e6, sample=4.0)  # bytes of the rows that give the centre, and of what is always there
_CELL_ROW = 150.0  # bytes of a row's probes and place in its cell
_BLOCKS = 16  # parts of the join between which progress is reported

# Costs in nanoseconds on one core, measured at v4; only their ratios matter.
_NS_PRODUCT = 0.025  # one coordinate of one pair in a tile
_NS_PAIR = 0.25  # selection, for each pair
_NS_DIFFERENCE = 0.06  # one coordinate of one candidate in the ranking
_BASIS_EXTRA = 16  # further directions iterated along, which speeds up convergence of those wanted
_BASIS_ROUNDS = 3


@dataclass(frozen=True)
class Approximation:
    """The neighbours found and the share of the true ones among them, measured on a sample."""

    indices: Indices
    distances: Distances
    recall: float


@dataclass(frozen=True)
class Plan:
    """How many cells each row looks into, and how many candidates it keeps."""

    n_probes: int
    n_candidates: int


@dataclass(frozen=True)
class Sample:
    """Some rows and their true neighbours."""

    rows: npt.NDArray[np.int32]
    indices: Indices
    distances: Distances

    @classmethod
    def of(cls, table: SearchedRows, n_neighbors: int, rng: np.random.Generator) -> Sample:
        """Draw the rows and find their neighbours among all rows."""
        n = table.n_samples
        rows = np.sort(rng.choice(n, min(n, _SAMPLE), replace=False)).astype(np.int32)
        indices, distances = table.nearest(table.take(rows), n_neighbors + 1)
        return cls(rows, *without_own(indices, distances, rows))

    def nearest(self, n_neighbors: int) -> Sample:
        """Return the same rows with the first n_neighbors of their neighbours."""
        return Sample(self.rows, self.indices[:, :n_neighbors], self.distances[:, :n_neighbors])

    def recall(self, distances: Distances) -> float:
        """Return the share of neighbours as near as the true ones; equal distances are equally good."""
        return float((distances[self.rows] <= self.distances[:, -1:]).mean())

    def recall_of(self, indices: Indices, distances: Distances) -> float:
        """Return the same where the sample's rows were sought alone and find themselves among one neighbour more."""
        others = without_own(indices, distances, self.rows)[1]
        return float((others <= self.distances[:, -1:]).mean())


def approximate_search(
    table: SearchedRows,
    n_neighbors: int,
    *,
    target_recall: float,
    seed: int,
    keep: int = 0,
    reporter: Reporter | None = None,
) -> Approximation | None:
    """Find most of the neighbours of every row.

    Parameters
    ----------
    table : SearchedRows of n_samples rows
    n_neighbors : int in [1, n_samples - 1]
    target_recall : float in [0, 1]
        Held on the sample for n_neighbors.
    seed : int
    keep : int, default=0
        Return up to so many neighbours where the candidates hold them. The search is planned for n_neighbors all the
        same, and the first n_neighbors of each row are those found without.
    reporter : Reporter, default=None

    Returns
    -------
    Approximation or None
        None if comparing all pairs costs less.
    """
    if target_recall >= 1.0:
        return None
    rng = np.random.default_rng(seed)
    wide = Sample.of(table, min(max(n_neighbors, keep), table.n_samples - 1), rng)
    sample = wide.nearest(n_neighbors)
    space = Space.of(table.proxy, rng)
    coordinates, centres = space.coordinates, space.centres
    most = _cost_of_all(table)
    aim = aim_for(target_recall, table)
    plan = make_plan(sample, coordinates, centres, n_neighbors, aim, table)
    while plan is not None:
        indices, distances = _join(table, coordinates, centres, plan, n_neighbors, keep, reporter)
        recall = sample.recall(distances[:, :n_neighbors])
        _log.debug("%s of %d cells: recall %.4f", plan, len(centres), recall)
        if recall >= target_recall:
            return Approximation(indices, distances, wide.nearest(distances.shape[1]).recall(distances))
        plan = raised(plan, table)
        if plan.n_probes > len(centres) or _cost(plan, table, coordinates, centres) > most:
            return None
    return None


def cells_memory(n_samples: int, n_features: float, n_neighbors: int) -> float:
    """Return the bytes that an approximate search takes at its peak, its result included.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.
    n_neighbors : int in [1, n_samples - 1]
        Neighbours of each row, those to be kept included.

    Returns
    -------
    float
    """
    projected = n_features > _PROJECT_ABOVE
    width = _PROJECTED if projected else n_features
    basis = basis_memory(n_samples, n_features)
    kept = (_TYPICAL_TIMES * n_neighbors + 30) if projected else n_candidates(n_neighbors, n_samples - 1)
    join = 4.0 * kept + 8.0 * n_neighbors + _CELL_ROW  # candidates, what is found, probes
    compared = 4.0 * n_samples * n_features  # all rows centred, for the neighbours of the sample
    return max(compared, n_samples * 4.0 * width + max(basis, n_samples * join)) + _SAMPLED.of(n_samples, n_features)


def basis_memory(n_samples: int, n_features: float) -> float:
    """Return the bytes of the sample that gives the directions in which many features are searched, and of it centred.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.

    Returns
    -------
    float
    """
    return 8.0 * min(n_samples * n_features, _BASIS_FLOATS) if n_features > _PROJECT_ABOVE else 0.0


def n_cells(n_samples: int) -> int:
    """Return how many cells balance the search for a row's cells and the search in them."""
    return 1 + math.floor(math.cbrt(n_samples) ** 2 / 6.5)


@dataclass(frozen=True)
class Space:
    """Where candidates are sought: all features, or the leading principal directions of many; and its cells.

    Attributes
    ----------
    coordinates : ndarray of shape (n_samples, n_coordinates), float32
    basis : ndarray of shape (n_coordinates, n_features), float32, or None
        None where all features are kept.
    centres : ndarray of shape (n_cells, n_coordinates), float32
    """

    coordinates: npt.NDArray[np.float32]
    basis: npt.NDArray[np.float32] | None
    centres: npt.NDArray[np.float32]

    @classmethod
    def of(cls, points: Points, rng: np.random.Generator) -> Space:
        """Choose the space for a table and learn its cells."""
        basis = _basis(points, rng)
        coordinates = _coordinates(points, basis)
        return cls(coordinates, basis, _centres(coordinates, n_cells(len(points.X)), rng))

    def coordinates_of(self, points: Points, X: Values) -> npt.NDArray[np.float32]:
        """Return the coordinates of rows, each a function of the row alone."""
        return _coordinates(points, self.basis, X)


def aim_for(target_recall: float, table: SearchedRows) -> float:
    """Return the recall that is planned for, above the one wanted: a little, or more where a proxy is searched."""
    return target_recall + (0.1 if table.proxy is table else 0.5) * (1 - target_recall)


def _basis(points: Points, rng: np.random.Generator) -> npt.NDArray[np.float32] | None:
    n, n_features = points.X.shape
    if n_features <= _PROJECT_ABOVE:
        return None
    n_rows = min(n, max(4 * _PROJECTED, _BASIS_FLOATS // n_features))
    some = points.X[np.arange(n_rows) * n // n_rows]
    return _principal_basis(points.centred(some), min(_PROJECTED, n_rows), seed=int(rng.integers(2**31)))


def _coordinates(
    points: Points, basis: npt.NDArray[np.float32] | None, X: Values | None = None
) -> npt.NDArray[np.float32]:
    if basis is None:
        return points.centred(X)
    return _core.project_rows(points.X if X is None else X, points.mean, points.scale, basis, current_run().n_threads)


def _centres(coordinates: npt.NDArray[np.float32], count: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Learn the cells' centres by a few rounds of k-means on a sample; an empty cell keeps its centre."""
    n = len(coordinates)
    n_rows = min(n, count * _KMEANS_ROWS)
    some = coordinates[np.arange(n_rows) * n // n_rows]
    centres = some[rng.choice(n_rows, count, replace=False)]
    for _ in range(_KMEANS_ROUNDS):
        cells = _core.nearest_rows(centres, some, 1, current_run().n_threads)[0][:, 0]
        order = np.argsort(cells, kind="stable")
        filled, begins = np.unique(cells[order], return_index=True)
        sums = np.add.reduceat(some[order], begins, axis=0, dtype=np.float64)
        centres[filled] = sums / np.diff(np.append(begins, n_rows))[:, None]
    return centres


def make_plan(
    sample: Sample,
    coordinates: npt.NDArray[np.float32],
    centres: npt.NDArray[np.float32],
    n_neighbors: int,
    aim: float,
    table: SearchedRows,
) -> Plan | None:
    """Return the cheapest plan that finds the sample's neighbours; None if comparing all pairs costs less.

    A neighbour is found if its own cell is among those searched and if fewer than n_candidates rows are nearer in the
    space of candidates.
    """
    n = len(coordinates)
    queries = coordinates[sample.rows]
    by_distance = _core.nearest_rows(centres, queries, len(centres), current_run().n_threads)[0]
    cell_ranks = np.empty_like(by_distance)
    np.put_along_axis(cell_ranks, by_distance, np.arange(len(centres), dtype=np.int32)[None, :], axis=1)
    homes = _core.nearest_rows(centres, coordinates[sample.indices.ravel()], 1, current_run().n_threads)[0]
    cell_rank = np.take_along_axis(cell_ranks, homes.reshape(sample.indices.shape), axis=1)

    least = n_candidates(n_neighbors, n - 1)
    if table.proxy is table and coordinates.shape[1] == table.proxy.X.shape[1]:
        widths, row_rank = [least], np.zeros_like(cell_rank)
    else:
        times, more = (6, 30) if table.proxy is table else (_PROXY_TIMES, _PROXY_MORE)
        most = min(n - 1, times * n_neighbors + more)
        widths = sorted({*range(least, most, max(4, n_neighbors // 4)), most})
        row_rank = _row_ranks(sample, coordinates, most)
    best, lowest = None, _cost_of_all(table)
    for width in widths:
        needed = np.sort(np.where(row_rank < width, cell_rank, len(centres)), axis=None)
        n_probes = int(needed[math.ceil(aim * needed.size) - 1]) + 1 if aim > 0 else 1
        plan = Plan(n_probes, width)
        cost = _cost(plan, table, coordinates, centres)
        if n_probes <= len(centres) and cost < lowest:
            best, lowest = plan, cost
    return best


def raised(plan: Plan, table: SearchedRows) -> Plan:
    """Return a plan that finds more: of more cells, and of more candidates where these are found by a proxy."""
    width = plan.n_candidates if table.proxy is table else min(table.n_samples - 1, math.ceil(1.5 * plan.n_candidates))
    return Plan(math.ceil(1.5 * plan.n_probes), width)


def _row_ranks(sample: Sample, coordinates: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.int32]:
    """Return how many rows lie nearer than each true neighbour in the space of candidates, counted up to `most`."""
    near = _core.nearest_rows(coordinates, coordinates[sample.rows], most + 1, current_run().n_threads)[0]
    ranks = np.full(sample.indices.shape, most, dtype=np.int32)
    for i, row in enumerate(sample.rows):
        others = near[i][near[i] != row][:most]
        order = np.argsort(others)
        place = np.minimum(np.searchsorted(others, sample.indices[i], sorter=order), len(others) - 1)
        hit = others[order[place]] == sample.indices[i]
        ranks[i, hit] = order[place[hit]]
    return ranks


def _cost(
    plan: Plan, table: SearchedRows, coordinates: npt.NDArray[np.float32], centres: npt.NDArray[np.float32]
) -> float:
    """Estimate the nanoseconds that a plan takes on one core."""
    n = table.n_samples
    pairs = n * (len(centres) + plan.n_probes * n / len(centres))
    search = pairs * (_NS_PAIR + _NS_PRODUCT * coordinates.shape[1])
    return float(search + n * plan.n_candidates * table.rank_width * _NS_DIFFERENCE)


def _cost_of_all(table: SearchedRows) -> float:
    """Estimate the nanoseconds that comparing all pairs takes on one core."""
    n = table.n_samples
    return 0.5 * n * n * (_NS_PAIR + _NS_PRODUCT * table.exact_width)


def group(cells: npt.NDArray[np.int32], count: int) -> tuple[Indices, npt.NDArray[np.int64]]:
    """Return rows sorted by their cell and where each of `count` cells begins."""
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells, minlength=count), out=offsets[1:])
    return np.argsort(cells, kind="stable").astype(np.int32), offsets


def _join(
    table: SearchedRows,
    coordinates: npt.NDArray[np.float32],
    centres: npt.NDArray[np.float32],
    plan: Plan,
    n_neighbors: int,
    keep: int,
    reporter: Reporter | None,
) -> tuple[Indices, Distances]:
    """Search as planned and rank the candidates by their distances in full; return up to `keep` of them."""
    n, count = len(coordinates), len(centres)
    probes = _core.nearest_rows(centres, coordinates, plan.n_probes, current_run().n_threads)[0]
    order, offsets = group(probes[:, 0], count)
    candidates = np.empty((n, plan.n_candidates), dtype=np.int32)
    join = _core.CellJoin(coordinates, probes, order, offsets, current_run().n_threads)
    bounds = np.linspace(0, count, _BLOCKS + 1).astype(int)
    for first, last in itertools.pairwise(bounds):
        join.run(int(first), int(last), candidates)
        if reporter is not None:
            reporter.update(int(offsets[last]), n)
    del join
    first = table.rank(candidates, n_neighbors, order=order)
    short = np.flatnonzero(first[0][:, -1] < 0).astype(np.int32)
    _fill(table, short, first)  # rows in cells with few members
    most = min(keep, plan.n_candidates)
    if most <= n_neighbors:
        return first
    more = table.rank(candidates, most, order=order)
    _fill(table, short, more)
    indices, distances = lead_with(first, more)
    full = int(np.count_nonzero((indices >= 0).all(axis=0)))
    return np.ascontiguousarray(indices[:, :full]), np.ascontiguousarray(distances[:, :full])


def _fill(table: SearchedRows, rows: Indices, found: tuple[Indices, Distances]) -> None:
    """Compare some rows with all others, in place."""
    if len(rows):
        found[0][rows], found[1][rows] = table.scan(table.take(rows), rows, found[0].shape[1])


def _principal_basis(sample: npt.NDArray[np.float32], n_components: int, *, seed: int) -> npt.NDArray[np.float32]:
    """Approximate the leading principal directions by subspace iteration.

    The basis only proposes candidates for neighbours, so that nearly best directions serve as well as the best, and no
    matrix of shape (n_features, n_features) is needed.

    Parameters
    ----------
    sample : ndarray of shape (n_rows, n_features), float32
        Centred rows.
    n_components : int in [1, n_features]
    seed : int

    Returns
    -------
    ndarray of shape (n_components, n_features), float32
        Orthonormal rows. Equal bits for any number of threads.
    """
    n_features = sample.shape[1]
    width = min(n_components + _BASIS_EXTRA, n_features)
    start = np.random.default_rng(seed).standard_normal((n_features, width), dtype=np.float32)
    with single_threaded_blas():
        directions = np.linalg.qr(start)[0]
        for _ in range(_BASIS_ROUNDS):
            directions = np.linalg.qr(sample.T @ (sample @ directions))[0]
        coordinates = sample @ directions
        rotation = np.linalg.eigh(coordinates.T @ coordinates)[1][:, ::-1]
        basis = directions @ rotation[:, :n_components]
    return np.ascontiguousarray(basis.T, dtype=np.float32)
