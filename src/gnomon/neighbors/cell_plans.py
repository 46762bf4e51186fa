"""How many cells must be searched and how many candidates kept, as rows with known neighbours tell beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.neighbors.euclidean import Distances, Indices, n_candidates
from gnomon.neighbors.graph import without_own
from gnomon.neighbors.searched import SearchedRows

__all__ = [
    "Effort",
    "Plan",
    "Sample",
    "aim_for",
    "cell_ranks",
    "choose_plan",
    "make_plan",
    "ranks_among",
    "sample_rows",
]

_SAMPLE = 200  # rows whose true neighbours are known
_PROXY_TIMES, _PROXY_MORE = 30, 100  # candidates for each neighbour, and beside these, where a proxy proposes them

# Costs in nanoseconds on one core, measured at v4; only their ratios matter.
_NS_PRODUCT = 0.025  # one coordinate of one pair in a tile
_NS_PAIR = 0.25  # selection, for each pair
_NS_DIFFERENCE = 0.06  # one coordinate of one candidate in the ranking

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Plan:
    """How many cells each row looks into, and how many candidates it keeps."""

    n_probes: int
    n_candidates: int


def sample_rows(n_samples: int, rng: np.random.Generator) -> Indices:
    """Draw the rows whose true neighbours are to be known, ascending."""
    return np.sort(rng.choice(n_samples, min(n_samples, _SAMPLE), replace=False)).astype(np.int32)


@dataclass(frozen=True)
class Sample:
    """Some rows and their true neighbours."""

    rows: npt.NDArray[np.int32]
    indices: Indices
    distances: Distances

    @classmethod
    def of(cls, table: SearchedRows, n_neighbors: int, rng: np.random.Generator) -> Self:
        """Draw the rows and find their neighbours among all rows."""
        rows = sample_rows(table.n_samples, rng)
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


@dataclass(frozen=True)
class Effort:
    """What a search takes, as a function of its plan.

    Attributes
    ----------
    n_samples, n_cells, n_coordinates : int
        Rows, cells and the coordinates that candidates are sought by.
    exact_width, rank_width : float
        Those of `SearchedRows`.
    by_proxy : bool
        Whether candidates come from points that only follow the metric.
    projected : bool
        Whether these have fewer coordinates than there are features.
    """

    n_samples: int
    n_cells: int
    n_coordinates: int
    exact_width: float
    rank_width: float
    by_proxy: bool
    projected: bool

    @classmethod
    def of(cls, table: SearchedRows, n_coordinates: int, n_cells: int) -> Self:
        """Return that of a table."""
        projected = n_coordinates != table.proxy.X.shape[1]
        widths = table.exact_width, table.rank_width
        return cls(table.n_samples, n_cells, n_coordinates, *widths, table.proxy is not table, projected)

    def of_all(self) -> float:
        """Estimate the nanoseconds that comparing all pairs takes on one core."""
        return 0.5 * self.n_samples**2 * (_NS_PAIR + _NS_PRODUCT * self.exact_width)

    def of_pairs(self, n_pairs: float) -> float:
        """Estimate the nanoseconds that so many pairs take in the space of candidates."""
        return n_pairs * (_NS_PAIR + _NS_PRODUCT * self.n_coordinates)

    def of_plan(self, plan: Plan) -> float:
        """Estimate the nanoseconds that a plan takes on one core."""
        pairs = self.n_samples * (self.n_cells + plan.n_probes * self.n_samples / self.n_cells)
        return float(self.of_pairs(pairs) + self.n_samples * plan.n_candidates * self.rank_width * _NS_DIFFERENCE)

    def affords(self, plan: Plan) -> bool:
        """Return whether there are cells enough, and comparing all pairs costs no less."""
        return plan.n_probes <= self.n_cells and self.of_plan(plan) <= self.of_all()

    def raised(self, plan: Plan) -> Plan:
        """Return a plan that finds more: of more cells, and of more candidates where these are found by a proxy."""
        width = plan.n_candidates
        if self.by_proxy:
            width = min(self.n_samples - 1, math.ceil(1.5 * width))
        return Plan(math.ceil(1.5 * plan.n_probes), width)

    def most_candidates(self, n_neighbors: int) -> int:
        """Return how many candidates a plan may ask for."""
        times, more = (_PROXY_TIMES, _PROXY_MORE) if self.by_proxy else (6, 30)
        return min(self.n_samples - 1, times * n_neighbors + more)


def aim_for(target_recall: float, by_proxy: bool) -> float:
    """Return the recall that is planned for, above the one wanted: a little, or more where a proxy is searched."""
    return target_recall + (0.5 if by_proxy else 0.1) * (1 - target_recall)


def make_plan(
    sample: Sample,
    coordinates: npt.NDArray[np.float32],
    centres: npt.NDArray[np.float32],
    n_neighbors: int,
    aim: float,
    effort: Effort,
) -> Plan | None:
    """Return the cheapest plan that finds the sample's neighbours; None if comparing all pairs costs less.

    A neighbour is found if its own cell is among those searched and if fewer than n_candidates rows are nearer in the
    space of candidates.
    """
    others = coordinates[sample.indices.ravel()]
    cell_rank = cell_ranks(centres, coordinates[sample.rows], others).reshape(sample.indices.shape)
    return choose_plan(cell_rank, lambda most: _row_ranks(sample, coordinates, most), n_neighbors, aim, effort)


def cell_ranks(
    centres: npt.NDArray[np.float32], queries: npt.NDArray[np.float32], others: npt.NDArray[np.float32]
) -> Ranks:
    """Return how many cells are nearer to each query than that of each of its others.

    Parameters
    ----------
    centres : ndarray of shape (n_cells, n_coordinates), float32
    queries : ndarray of shape (n_queries, n_coordinates), float32
    others : ndarray of shape (n_queries n_others, n_coordinates), float32
        Those of one query after the other.

    Returns
    -------
    ndarray of shape (n_queries, n_others), int32
    """
    by_distance = _core.nearest_rows(centres, queries, len(centres), current_run().n_threads)[0]
    ranks = np.empty_like(by_distance)
    np.put_along_axis(ranks, by_distance, np.arange(len(centres), dtype=np.int32)[None, :], axis=1)
    homes = _core.nearest_rows(centres, others, 1, current_run().n_threads)[0]
    return np.take_along_axis(ranks, homes.reshape(len(queries), -1), axis=1)


def choose_plan(
    cell_rank: Ranks, row_ranks: Callable[[int], Ranks], n_neighbors: int, aim: float, effort: Effort
) -> Plan | None:
    """Return the cheapest plan that finds a share `aim` of known neighbours; None if comparing all pairs costs less.

    Parameters
    ----------
    cell_rank : ndarray of shape (n_rows, n_neighbors), int32
        What `cell_ranks` returns.
    row_ranks : callable
        From a number to how many rows lie nearer than each neighbour in the space of candidates, counted up to it.
    """
    least = n_candidates(n_neighbors, effort.n_samples - 1)
    if not effort.by_proxy and not effort.projected:
        widths, row_rank = [least], np.zeros_like(cell_rank)
    else:
        most = effort.most_candidates(n_neighbors)
        widths = sorted({*range(least, most, max(4, n_neighbors // 4)), most})
        row_rank = row_ranks(most)
    best, lowest = None, effort.of_all()
    for width in widths:
        needed = np.sort(np.where(row_rank < width, cell_rank, effort.n_cells), axis=None)
        n_probes = int(needed[math.ceil(aim * needed.size) - 1]) + 1 if aim > 0 else 1
        plan = Plan(n_probes, width)
        cost = effort.of_plan(plan)
        if n_probes <= effort.n_cells and cost < lowest:
            best, lowest = plan, cost
    return best


def _row_ranks(sample: Sample, coordinates: npt.NDArray[np.float32], most: int) -> Ranks:
    """Return how many rows lie nearer than each true neighbour in the space of candidates, counted up to `most`."""
    near = _core.nearest_rows(coordinates, coordinates[sample.rows], most + 1, current_run().n_threads)[0]
    return ranks_among(sample, near, most)


def ranks_among(sample: Sample, near: Indices, most: int) -> Ranks:
    """Return the place of each true neighbour among the rows that are nearest in the space of candidates.

    Parameters
    ----------
    sample : Sample of n_rows rows
    near : ndarray of shape (n_rows, n_near), int32
        Row numbers, the nearest first; a row itself may be among them.
    most : int
        The place of those that are not there.
    """
    ranks = np.full(sample.indices.shape, most, dtype=np.int32)
    for i, row in enumerate(sample.rows):
        others = near[i][near[i] != row][:most]
        order = np.argsort(others)
        place = np.minimum(np.searchsorted(others, sample.indices[i], sorter=order), len(others) - 1)
        hit = others[order[place]] == sample.indices[i]
        ranks[i, hit] = order[place[hit]]
    return ranks
