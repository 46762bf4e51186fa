"""How many cells must be searched and how many candidates kept, as a sample of rows tells beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.neighbors.euclidean import SELECTION, Distances, Indices, n_candidates
from gnomon.neighbors.samples import Draw, Sample
from gnomon.neighbors.searched import SearchedRows

__all__ = ["Effort", "Looked", "Plan", "find_plan", "first_probes", "pays"]

_WIDER = 3  # cells of the wide search of sampled rows, for each that a search of their neighbours takes
_PROXY_TIMES, _PROXY_MORE = 30, 100  # candidates for each neighbour, and beside these, where a proxy proposes them

# Costs in nanoseconds on one core, measured at v4; only their ratios matter.
_NS_PRODUCT = 0.025  # one coordinate of one pair in a tile
_NS_PAIR = SELECTION * _NS_PRODUCT
_NS_DIFFERENCE = 0.06  # one coordinate of one candidate in the ranking
_NS_KEPT, _NS_FETCHED, _NS_READ, _ROUNDED = 7.0, 36.0, 0.008, 0.4
"""A candidate that is kept until nearer ones are found; one that is ranked, which lies anywhere in memory, and each of
its coordinates; and the share of the time in which rows that are rounded are compared. They count for the time that is
left, not where plans are compared. Fitted to nine searches of MNIST, single cells and drawn rows, 20,000 to 70,000 of
50 and 784 columns with 15 and 90 neighbours: 59 to 87 % was the join, 53 to 86 % by this."""

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Plan:
    """How many cells each row looks into, and how many candidates it keeps."""

    n_probes: int
    n_candidates: int


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

    def joined_share(self, plan: Plan, n_kept: int) -> float:
        """Estimate which share of the time of a search, its plan made, passes before candidates are ranked.

        Parameters
        ----------
        plan : Plan
        n_kept : int
            Candidates that the join keeps of each row.
        """
        n_pairs = max(plan.n_probes * self.n_samples / self.n_cells, n_kept)
        compared = self.of_pairs(n_pairs) * (_ROUNDED if self.projected else 1.0)
        join = compared + _NS_KEPT * n_kept * (1.0 + math.log(n_pairs / n_kept))  # the n-th pair is kept with k / n
        return join / (join + n_kept * (_NS_FETCHED + _NS_READ * self.rank_width))

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
        if not self.by_proxy and not self.projected:
            return n_candidates(n_neighbors, self.n_samples - 1)
        times, more = (_PROXY_TIMES, _PROXY_MORE) if self.by_proxy else (6, 30)
        return min(self.n_samples - 1, times * n_neighbors + more)


def pays(table: SearchedRows, n_drawn: int, n_neighbors: int) -> bool:
    """Return whether what a search by a proxy takes at least is less than half of comparing each row with all.

    That is to make the proxy, to rank its candidates for the rows drawn, by which the search is planned, and then the
    fewest candidates of each row; most plans take more of these.

    Parameters
    ----------
    table : SearchedRows
    n_drawn, n_neighbors : int
    """
    n = table.n_samples
    wide = min(n - 1, _PROXY_TIMES * n_neighbors + _PROXY_MORE)
    ranked = float(n_drawn) * wide + float(n) * n_candidates(n_neighbors, n - 1)
    least = _NS_PRODUCT * table.proxy_cost + _NS_DIFFERENCE * table.rank_width * ranked
    return not table.proxy_cost or 2.0 * least < float(n) ** 2 * (_NS_PAIR + _NS_PRODUCT * table.exact_width)


@dataclass(frozen=True)
class Looked:
    """What a wide search of sampled rows finds, and how far they must look for it.

    Attributes
    ----------
    distances : ndarray of shape (2 n_rows, n_found), float32
        Ascending.
    cell_rank : ndarray of shape (n_rows, n_found), int32
        Of the rows that choose: how many cells are nearer to a row than that of the one found; at least as many as it
        looked into if none was.
    row_rank : ndarray of shape (n_rows, n_found), int32, or None
        How many rows lie nearer in the space of candidates. None where distances there are those in full.
    """

    distances: Distances
    cell_rank: Ranks
    row_rank: Ranks | None

    @classmethod
    def of(
        cls,
        draw: Draw,
        found: tuple[Indices, Distances],
        homes: Indices,
        probes: Indices,
        near: Indices | None,
        n_candidates: int,
    ) -> Self:
        """Rank what was found of the rows drawn.

        Parameters
        ----------
        draw : Draw
        found : (indices, distances) of shape (2 n_rows, n_found)
            The neighbours of the rows drawn, without themselves; -1 stands for none.
        homes : ndarray of shape (n_samples,), int32
            The cell of each row.
        probes : ndarray of shape (n_rows or more, n_probes), int32
            The nearest cells of the rows drawn, the nearest first.
        near : ndarray of shape (n_rows or more, n_near), int32, or None
            The nearest rows in the space of candidates; None where distances there are those in full.
        n_candidates : int
            How many of them are kept.
        """
        (indices, distances), some = found, slice(draw.size)  # rows that choose
        cell_rank = cell_ranks(probes[some], np.where(indices >= 0, homes[indices], -1)[some])
        if near is None:
            return cls(distances, cell_rank, None)
        return cls(distances, cell_rank, ranks_among(draw.rows[some], indices[some], near, n_candidates))


def first_probes(
    centres: npt.NDArray[np.float32],
    queries: npt.NDArray[np.float32],
    others: npt.NDArray[np.float32],
    target_recall: float,
) -> int:
    """Return into how many cells some rows must look for a share of known neighbours.

    Parameters
    ----------
    centres : ndarray of shape (n_cells, n_coordinates), float32
    queries : ndarray of shape (n_queries, n_coordinates), float32
    others : ndarray of shape (n_queries n_others, n_coordinates), float32
        The neighbours of one query after the other.
    target_recall : float in [0, 1]
    """
    n_threads = current_run().n_threads
    probes = _core.nearest_rows(centres, queries, len(centres), n_threads)[0]
    homes = _core.nearest_rows(centres, others, 1, n_threads)[0].reshape(len(queries), -1)
    needed = np.sort(cell_ranks(probes, homes), axis=None)
    return int(needed[max(0, math.ceil(target_recall * needed.size) - 1)]) + 1


def cell_ranks(probes: Indices, homes: Indices) -> Ranks:
    """Return how many cells are nearer to each query than that of each of its others; if it probes it not, how many.

    Parameters
    ----------
    probes : ndarray of shape (n_queries, n_probes), int32
        The nearest cells, the nearest first.
    homes : ndarray of shape (n_queries, n_others), int32
        The cells of others; -1 stands for none.
    """
    order = np.argsort(probes, axis=1, kind="stable")
    ranks = np.full(homes.shape, probes.shape[1], dtype=np.int32)
    for row, (by_number, cells, wanted) in enumerate(zip(order, probes, homes, strict=True)):
        place = np.minimum(np.searchsorted(cells, wanted, sorter=by_number), len(cells) - 1)
        rank = by_number[place]
        ranks[row] = np.where(cells[rank] == wanted, rank, len(cells))
    return ranks


def find_plan(
    look: Callable[[Plan], Looked],
    draw: Draw,
    true: Distances,
    first: int,
    n_neighbors: int,
    target_recall: float,
    effort: Effort,
) -> tuple[Plan | None, tuple[Sample, Sample]]:
    """Return the cheapest plan whose recall is above the target by the error of its estimate, and both samples.

    Parameters
    ----------
    look : callable
        From the plan of a wide search to what it finds for the rows drawn.
    draw : Draw
    true : ndarray of shape (2 n_compared, n_found), float32
        Distances of the nearest rows of those that are compared with all.
    first : int
        Cells into which rows must look, about.
    n_neighbors : int
    target_recall : float in [0, 1]
    effort : Effort

    Returns
    -------
    Plan or None
        None if comparing all pairs costs less.
    tuple of Sample
        That which chose, and that which is to judge.
    """
    least = n_candidates(n_neighbors, effort.n_samples - 1)
    most = max(effort.most_candidates(n_neighbors), n_candidates(true.shape[1], effort.n_samples - 1))
    while True:
        n_probes = min(effort.n_cells, _WIDER * first)
        looked = look(Plan(n_probes, most))
        samples = draw.samples(looked.distances, true)
        plan = _cheapest(samples[0], looked, n_probes, n_neighbors, target_recall, effort)
        if plan is not None or n_probes == effort.n_cells or not effort.affords(Plan(n_probes, least)):
            return plan, samples
        first *= 2


def _cheapest(
    sample: Sample, looked: Looked, most_probes: int, n_neighbors: int, target_recall: float, effort: Effort
) -> Plan | None:
    least = n_candidates(n_neighbors, effort.n_samples - 1)
    cell_rank, row_rank = looked.cell_rank[:, :n_neighbors], looked.row_rank
    widths = [least]
    if row_rank is not None:
        row_rank, most = row_rank[:, :n_neighbors], effort.most_candidates(n_neighbors)
        widths = sorted({*range(least, most, max(4, n_neighbors // 4)), most})
    best, lowest = None, effort.of_all()
    for width in widths:
        kept = np.ones(cell_rank.shape, dtype=np.bool_) if row_rank is None else row_rank < width
        enough = sample.recall_by_probes(cell_rank, kept, most_probes).limit >= target_recall
        plan = Plan(int(enough.argmax()) + 1, width)
        if enough.any() and effort.of_plan(plan) < lowest:
            best, lowest = plan, effort.of_plan(plan)
    return best


def ranks_among(rows: Indices, indices: Indices, near: Indices, most: int) -> Ranks:
    """Return the place of each neighbour among the rows that are nearest in the space of candidates.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), int32
    indices : ndarray of shape (n_rows, n_neighbors), int32
        Their neighbours; -1 stands for none.
    near : ndarray of shape (n_rows, n_near), int32
        Row numbers, the nearest first; a row itself may be among them.
    most : int
        The place of those that are not there.
    """
    ranks = np.full(indices.shape, most, dtype=np.int32)
    for i, row in enumerate(rows):
        others = near[i][(near[i] != row) & (near[i] >= 0)][:most]
        if len(others):
            order = np.argsort(others)
            place = np.minimum(np.searchsorted(others, indices[i], sorter=order), len(others) - 1)
            hit = others[order[place]] == indices[i]
            ranks[i, hit] = order[place[hit]]
    return ranks
