"""Approximate Euclidean neighbours: rows look into the nearest of many cells, as many as the recall asked for needs.

A sample of rows with known neighbours tells beforehand how many cells must be searched and how many candidates kept,
and afterwards what share of the neighbours was found.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._progress import Reporter
from gnomon.neighbors.basis import principal_basis
from gnomon.neighbors.euclidean import Distances, Indices, Points, n_candidates

__all__ = ["Approximation", "approximate_search"]

_log = logging.getLogger("gnomon.neighbors")

_PROJECT_ABOVE = 128  # features; above, candidates are sought in the leading principal directions
_PROJECTED = 96
_BASIS_FLOATS = 2**22  # size of the sample of rows that gives the directions
_SAMPLE = 200  # rows whose true neighbours are known
_KMEANS_ROWS = 48  # rows for each cell from which the centres are learned
_KMEANS_ROUNDS = 4
_BLOCKS = 16  # parts of the join between which progress is reported

# Costs in nanoseconds on one core, measured at v4; only their ratios matter.
_NS_PRODUCT = 0.025  # one coordinate of one pair in a tile
_NS_PAIR = 0.25  # selection, for each pair
_NS_DIFFERENCE = 0.06  # one coordinate of one candidate in the ranking


@dataclass(frozen=True)
class Approximation:
    """The neighbours found and the share of the true ones among them, measured on a sample."""

    indices: Indices
    distances: Distances
    recall: float


@dataclass(frozen=True)
class _Plan:
    """How many cells each row looks into, and how many candidates it keeps."""

    n_probes: int
    n_candidates: int


@dataclass(frozen=True)
class _Sample:
    """Some rows and their true neighbours."""

    rows: npt.NDArray[np.int32]
    indices: Indices
    distances: Distances

    def recall(self, distances: Distances) -> float:
        """Return the share of neighbours as near as the true ones; equal distances are equally good."""
        return float((distances[self.rows] <= self.distances[:, -1:]).mean())


def approximate_search(
    points: Points, n_neighbors: int, *, target_recall: float, seed: int, reporter: Reporter | None = None
) -> Approximation | None:
    """Find most of the neighbours of every row.

    Parameters
    ----------
    points : Points of n_samples rows
    n_neighbors : int in [1, n_samples - 1]
    target_recall : float in [0, 1]
        Held on the sample.
    seed : int
    reporter : Reporter, default=None

    Returns
    -------
    Approximation or None
        None if comparing all pairs costs less.
    """
    n, n_features = points.X.shape
    if target_recall >= 1.0:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n, min(n, _SAMPLE), replace=False)).astype(np.int32)
    sample = _Sample(rows, *points.scan(points.X[rows], rows, n_neighbors))
    coordinates = _coordinates(points, rng)
    centers = _centers(coordinates, round(n ** (2 / 3) / 6.5) + 1, rng, points.n_threads)
    aim = target_recall + 0.1 * (1 - target_recall)
    plan = _plan(sample, coordinates, centers, n_neighbors, aim, points)
    while plan is not None:
        found = _join(points, coordinates, centers, plan, n_neighbors, reporter)
        recall = sample.recall(found[1])
        _log.debug("%s of %d cells: recall %.4f", plan, len(centers), recall)
        if recall >= target_recall:
            return Approximation(*found, recall)
        plan = replace(plan, n_probes=math.ceil(1.5 * plan.n_probes))
        if plan.n_probes > len(centers) or _cost(plan, points.X.shape, coordinates, centers) > _cost_of_all(
            points.X.shape
        ):
            return None
    return None


def _coordinates(points: Points, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Return the rows in the space in which candidates are sought."""
    n, n_features = points.X.shape
    if n_features <= _PROJECT_ABOVE:
        return points.centered()
    n_rows = min(n, max(4 * _PROJECTED, _BASIS_FLOATS // n_features))
    some = points.X[np.arange(n_rows) * n // n_rows]
    basis = principal_basis(points.centered(some), min(_PROJECTED, n_rows), seed=int(rng.integers(2**31)))
    return _core.project_rows(points.X, points.mean, points.scale, basis, points.n_threads)


def _centers(
    coordinates: npt.NDArray[np.float32], n_cells: int, rng: np.random.Generator, n_threads: int
) -> npt.NDArray[np.float32]:
    """Learn the cells' centres by a few rounds of k-means on a sample; an empty cell keeps its centre."""
    n = len(coordinates)
    n_rows = min(n, n_cells * _KMEANS_ROWS)
    some = coordinates[np.arange(n_rows) * n // n_rows]
    centers = some[rng.choice(n_rows, n_cells, replace=False)]
    for _ in range(_KMEANS_ROUNDS):
        cells = _core.nearest_rows(centers, some, 1, n_threads)[0][:, 0]
        order = np.argsort(cells, kind="stable")
        filled, begins = np.unique(cells[order], return_index=True)
        sums = np.add.reduceat(some[order], begins, axis=0, dtype=np.float64)
        centers[filled] = sums / np.diff(np.append(begins, n_rows))[:, None]
    return centers


def _plan(
    sample: _Sample,
    coordinates: npt.NDArray[np.float32],
    centers: npt.NDArray[np.float32],
    n_neighbors: int,
    aim: float,
    points: Points,
) -> _Plan | None:
    """Return the cheapest plan that finds the sample's neighbours; None if comparing all pairs costs less.

    A neighbour is found if its own cell is among those searched and if fewer than n_candidates rows are nearer in the
    space of candidates.
    """
    n = len(coordinates)
    queries = coordinates[sample.rows]
    by_distance = _core.nearest_rows(centers, queries, len(centers), points.n_threads)[0]
    cell_ranks = np.empty_like(by_distance)
    np.put_along_axis(cell_ranks, by_distance, np.arange(len(centers), dtype=np.int32)[None, :], axis=1)
    homes = _core.nearest_rows(centers, coordinates[sample.indices.ravel()], 1, points.n_threads)[0]
    cell_rank = np.take_along_axis(cell_ranks, homes.reshape(sample.indices.shape), axis=1)

    least = n_candidates(n_neighbors, n - 1)
    if coordinates.shape[1] == points.X.shape[1]:
        widths, row_rank = [least], np.zeros_like(cell_rank)
    else:
        most = min(n - 1, 6 * n_neighbors + 30)
        widths = sorted({*range(least, most, max(4, n_neighbors // 4)), most})
        row_rank = _row_ranks(sample, coordinates, most, points.n_threads)
    best, lowest = None, _cost_of_all(points.X.shape)
    for width in widths:
        needed = np.sort(np.where(row_rank < width, cell_rank, len(centers)), axis=None)
        n_probes = int(needed[math.ceil(aim * needed.size) - 1]) + 1 if aim > 0 else 1
        plan = _Plan(n_probes, width)
        cost = _cost(plan, points.X.shape, coordinates, centers)
        if n_probes <= len(centers) and cost < lowest:
            best, lowest = plan, cost
    return best


def _row_ranks(
    sample: _Sample, coordinates: npt.NDArray[np.float32], most: int, n_threads: int
) -> npt.NDArray[np.int32]:
    """Return how many rows lie nearer than each true neighbour in the space of candidates; `most` if as many or more."""
    near = _core.nearest_rows(coordinates, coordinates[sample.rows], most + 1, n_threads)[0]
    ranks = np.full(sample.indices.shape, most, dtype=np.int32)
    for i, row in enumerate(sample.rows):
        others = near[i][near[i] != row][:most]
        order = np.argsort(others)
        place = np.minimum(np.searchsorted(others, sample.indices[i], sorter=order), len(others) - 1)
        hit = others[order[place]] == sample.indices[i]
        ranks[i, hit] = order[place[hit]]
    return ranks


def _cost(
    plan: _Plan, shape: tuple[int, ...], coordinates: npt.NDArray[np.float32], centers: npt.NDArray[np.float32]
) -> float:
    """Estimate the nanoseconds that a plan takes on one core."""
    n, n_features = shape
    pairs = n * (len(centers) + plan.n_probes * n / len(centers))
    return pairs * (_NS_PAIR + _NS_PRODUCT * coordinates.shape[1]) + n * plan.n_candidates * n_features * _NS_DIFFERENCE


def _cost_of_all(shape: tuple[int, ...]) -> float:
    """Estimate the nanoseconds that comparing all pairs takes on one core."""
    n, n_features = shape
    return 0.5 * n * n * (_NS_PAIR + _NS_PRODUCT * n_features)


def _join(
    points: Points,
    coordinates: npt.NDArray[np.float32],
    centers: npt.NDArray[np.float32],
    plan: _Plan,
    n_neighbors: int,
    reporter: Reporter | None,
) -> tuple[Indices, Distances]:
    """Search as planned and rank the candidates by their distances in full."""
    n, n_cells = len(coordinates), len(centers)
    probes = _core.nearest_rows(centers, coordinates, plan.n_probes, points.n_threads)[0]
    order = np.argsort(probes[:, 0], kind="stable").astype(np.int32)
    offsets = np.zeros(n_cells + 1, dtype=np.int64)
    np.cumsum(np.bincount(probes[:, 0], minlength=n_cells), out=offsets[1:])
    candidates = np.empty((n, plan.n_candidates), dtype=np.int32)
    join = _core.CellJoin(coordinates, probes, order, offsets, points.n_threads)
    bounds = np.linspace(0, n_cells, _BLOCKS + 1).astype(int)
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        join.run(int(first), int(last), candidates)
        if reporter is not None:
            reporter.update(int(offsets[last]), n)
    del join
    indices, distances = points.rank(candidates, n_neighbors, order=order)
    short = np.flatnonzero(indices[:, -1] < 0).astype(np.int32)
    if len(short):  # rows in cells with few members
        indices[short], distances[short] = points.scan(points.X[short], short, n_neighbors)
    return indices, distances
