"""Approximate Euclidean neighbours: rows look into the nearest of many cells, as many as the recall asked for needs.

A sample of rows tells beforehand how many cells must be searched and how many candidates kept, and another afterwards
what share of the neighbours was found.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._costs import Cost
from gnomon._progress import Reporter
from gnomon._run import current_run
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.principal.components import project_rows
from gnomon.linalg.products import sum_of_squares
from gnomon.neighbors.cell_plans import Effort, Looked, Plan, find_plan, first_probes, pays
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values, lead_with, n_candidates
from gnomon.neighbors.graph import without_own
from gnomon.neighbors.samples import Draw, Sample
from gnomon.neighbors.searched import SearchedRows

__all__ = [
    "PROJECT_ABOVE",
    "Approximation",
    "Space",
    "Start",
    "approximate_search",
    "basis_memory",
    "cells_memory",
    "group",
    "n_cells",
    "n_coordinates",
    "search_until_found",
]

PROJECT_ABOVE = 128
"""Features above which candidates are sought in the leading principal directions."""

_log = logging.getLogger("gnomon.neighbors")

_PROJECTED = 96
_BASIS_FLOATS = 2**22  # size of the sample of rows that gives the directions
_KMEANS_ROWS = 48  # rows for each cell from which the centres are learned
_KMEANS_ROUNDS = 4
_TYPICAL_TIMES = 3  # candidates kept for each neighbour of a projected table, of which a plan takes one to six
_SAMPLED = Cost(fixed=2e6, sample=8.0)  # bytes of the rows that give the centre, and of what is always there
_ROUNDED_MORE = 8  # candidates kept beside those of a plan, so that rounding rarely loses one of them
_CELL_ROW = 330.0  # bytes of a row's probes and place in its cell
_BLOCKS = 16  # parts of the join between which progress is reported
_FIRST = 4  # times so many parts as large as the first, which touches all of what the join writes to
_BASIS_ROUNDS = 5
_BASIS_BLOCK = 1024  # rows of the sample that a thread takes at a time


@dataclass(frozen=True)
class Approximation:
    """The neighbours found and the share of the true ones among them, measured on a sample, with its standard error."""

    indices: Indices
    distances: Distances
    recall: float = 1.0
    recall_error: float = 0.0


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
        What the true recall for n_neighbors reaches with a probability of about 95%.
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
    width = min(max(n_neighbors, keep), table.n_samples - 1)
    start = Start.of(table, n_neighbors, width, target_recall, seed)
    if start is None:
        return None
    n_cells = len(start.space.centres)
    cells = _Cells.of(table, start.coordinates, start.space, min(n_cells, start.first + start.first // 2 + 1))
    plan, samples = start.find_plan(cells.probes[:, 0], cells.join)

    def search(plan: Plan) -> tuple[Indices, Distances]:
        return cells.searched(plan, n_neighbors, keep, reporter)

    return search_until_found(search, plan, samples, n_neighbors, target_recall, start.effort)


def search_until_found(
    search: Callable[[Plan], tuple[Indices, Distances]],
    plan: Plan | None,
    samples: tuple[Sample, Sample],
    n_neighbors: int,
    target_recall: float,
    effort: Effort,
) -> Approximation | None:
    """Search by plans of more and more cells until the recall is reached.

    Parameters
    ----------
    search : callable
        Returns the neighbours that a plan finds, `n_neighbors` or more of each row.
    plan : Plan or None
        The first.
    samples : tuple of Sample
        That by which it is seen whether the recall is reached, and that by which it is reported.
    n_neighbors : int
    target_recall : float
    effort : Effort
        Says which plans cost less than comparing all pairs.

    Returns
    -------
    Approximation or None
        None if comparing all pairs costs less.
    """
    choosing, judging = samples
    while plan is not None:
        indices, distances = search(plan)
        reached = choosing.recall(distances[choosing.rows, :n_neighbors]).value
        recall = judging.recall(distances[judging.rows])
        text = "%s of %d cells: recall %.4f where it was planned, %.4f with standard error %.4f elsewhere"
        _log.debug(text, plan, effort.n_cells, reached, recall.value, recall.error)
        if reached >= target_recall:
            return Approximation(indices, distances, float(recall.value), float(recall.error))
        plan = effort.raised(plan)
        if not effort.affords(plan):
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
    projected = n_features > PROJECT_ABOVE
    width = n_coordinates(n_features)
    basis = basis_memory(n_samples, n_features)
    kept = (_TYPICAL_TIMES * n_neighbors + 30) if projected else n_candidates(n_neighbors, n_samples - 1)
    join = 4.0 * kept + 8.0 * n_neighbors + _CELL_ROW  # candidates, what is found, probes
    return n_samples * 4.0 * width + max(basis, n_samples * join) + _SAMPLED.of(n_samples, n_features)


def n_coordinates(n_features: float) -> float:
    """Return by how many numbers of each row candidates are sought.

    Parameters
    ----------
    n_features : float

    Returns
    -------
    float
    """
    return float(_PROJECTED) if n_features > PROJECT_ABOVE else n_features


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
    return 8.0 * min(n_samples * n_features, _BASIS_FLOATS) if n_features > PROJECT_ABOVE else 0.0


def n_cells(n_samples: int) -> int:
    """Return how many cells balance the search for a row's cells and the search in them."""
    return 1 + math.floor(math.cbrt(n_samples) ** 2 / 6.5)


@dataclass(frozen=True)
class Space:
    """Where candidates are sought: all features, or the leading principal directions of many; and its cells.

    Attributes
    ----------
    basis : ndarray of shape (n_coordinates, n_features), float32, or None
        None where all features are kept.
    centres : ndarray of shape (n_cells, n_coordinates), float32
    """

    basis: npt.NDArray[np.float32] | None
    centres: npt.NDArray[np.float32]

    @classmethod
    def of(cls, points: Points, rng: np.random.Generator) -> tuple[Self, npt.NDArray[np.float32]]:
        """Choose the space for a table and learn its cells; return it and the coordinates of all rows."""
        basis = _basis(points, points.n_samples, points.take, rng)
        coordinates = _coordinates(points, basis, None)
        some = coordinates[_learners(points.n_samples)]
        return cls(basis, _centres(some, n_cells(points.n_samples), rng)), coordinates

    @classmethod
    def learned(
        cls,
        points: Points,
        n_samples: int,
        take: Callable[[npt.NDArray[np.int64]], Values],
        rng: np.random.Generator,
    ) -> Self:
        """Choose the space for a table and learn its cells, from rows that are taken evenly.

        Parameters
        ----------
        points : Points
            Centre and scale; its rows are not looked at.
        n_samples : int
            Of the table.
        take : callable
            From row numbers to rows.
        rng : Generator
        """
        basis = _basis(points, n_samples, take, rng)
        some = take(_learners(n_samples))
        return cls(basis, _centres(_coordinates(points, basis, some), n_cells(n_samples), rng))

    @property
    def rounded(self) -> bool:
        """Whether rows are rounded in cells: where few of many candidates are kept, by their distances in full."""
        return self.basis is not None

    def width(self, n_candidates: int, n_others: int) -> int:
        """Return how many rows a search in memory takes from cells for so many candidates."""
        return min(n_others, n_candidates + _ROUNDED_MORE) if self.rounded else n_candidates

    def coordinates_of(self, points: Points, X: Values | None = None) -> npt.NDArray[np.float32]:
        """Return the coordinates of the points, or of rows given, each a function of the row alone."""
        return _coordinates(points, self.basis, X)


def _learners(n: int) -> npt.NDArray[np.int64]:
    """Return the rows of which cells are learned."""
    return _evenly(n, n_cells(n) * _KMEANS_ROWS)


def _evenly(n: int, wanted: int) -> npt.NDArray[np.int64]:
    n_rows = min(n, wanted)
    return np.arange(n_rows) * n // n_rows


def _basis(
    points: Points, n: int, take: Callable[[npt.NDArray[np.int64]], Values], rng: np.random.Generator
) -> npt.NDArray[np.float32] | None:
    n_features = points.X.shape[1]
    if n_features <= PROJECT_ABOVE:
        return None
    some = take(_evenly(n, max(4 * _PROJECTED, _BASIS_FLOATS // n_features)))
    return _principal_basis(points.centred(some), min(_PROJECTED, len(some)), seed=int(rng.integers(2**31)))


def _coordinates(points: Points, basis: npt.NDArray[np.float32] | None, X: Values | None) -> npt.NDArray[np.float32]:
    if basis is None:
        return points.centred(X)
    return _core.project_rows(points.X if X is None else X, points.mean, points.scale, basis, current_run().n_threads)


def _centres(some: npt.NDArray[np.float32], count: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Learn the cells' centres by a few rounds of k-means on a sample; an empty cell keeps its centre."""
    n_rows = len(some)
    centres = some[rng.choice(n_rows, count, replace=False)]
    for _ in range(_KMEANS_ROUNDS):
        cells = _core.nearest_rows(centres, some, 1, current_run().n_threads)[0][:, 0]
        order = np.argsort(cells, kind="stable")
        filled, begins = np.unique(cells[order], return_index=True)
        sums = np.add.reduceat(some[order], begins, axis=0, dtype=np.float64)
        centres[filled] = sums / np.diff(np.append(begins, n_rows))[:, None]
    return centres


def group(cells: npt.NDArray[np.int32], count: int) -> tuple[Indices, npt.NDArray[np.int64]]:
    """Return rows sorted by their cell and where each of `count` cells begins."""
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells, minlength=count), out=offsets[1:])
    return np.argsort(cells, kind="stable").astype(np.int32), offsets


@dataclass(frozen=True)
class Start:
    """What is known of a table before its cells are searched.

    Attributes
    ----------
    table : SearchedRows
    n_neighbors : int
    target_recall : float
    space : Space
    coordinates : ndarray of shape (n_samples, n_coordinates), float32
    effort : Effort
    draw : Draw
    true : ndarray of shape (2 n_compared, n_found), float32
        Distances of the nearest rows of some rows drawn.
    first : int
        Into how many cells rows must look, about.
    """

    table: SearchedRows
    n_neighbors: int
    target_recall: float
    space: Space
    coordinates: npt.NDArray[np.float32]
    effort: Effort
    draw: Draw
    true: Distances
    first: int

    @classmethod
    def of(cls, table: SearchedRows, n_neighbors: int, width: int, target_recall: float, seed: int) -> Self | None:
        """Learn the cells and draw rows, of which `width` neighbours are sought; None if all pairs cost less."""
        rng = np.random.default_rng(seed)
        draw = Draw.of(table.n_samples, rng)
        if not pays(table, len(draw.rows), n_neighbors):
            return None
        rows, m = draw.compared, draw.n_compared
        indices, true = without_own(*table.nearest(table.take(rows), width + 1), rows)
        space, coordinates = Space.of(table.proxy, rng)
        effort = Effort.of(table, coordinates.shape[1], len(space.centres))
        nearest = coordinates[indices[:m, :n_neighbors].ravel()]
        first = first_probes(space.centres, coordinates[rows[:m]], nearest, target_recall)
        if not effort.affords(Plan(first, n_candidates(n_neighbors, table.n_samples - 1))):
            return None
        return cls(table, n_neighbors, target_recall, space, coordinates, effort, draw, true, first)

    def find_plan(
        self, homes: npt.NDArray[np.int32], join: _core.CellJoin
    ) -> tuple[Plan | None, tuple[Sample, Sample]]:
        """Return what `cell_plans.find_plan` does, given the cell of each row and the table packed by cells."""

        def look(plan: Plan) -> Looked:
            return self._look(homes, join, plan)

        return find_plan(look, self.draw, self.true, self.first, self.n_neighbors, self.target_recall, self.effort)

    def _look(self, homes: npt.NDArray[np.int32], join: _core.CellJoin, plan: Plan) -> Looked:
        """Search for the rows drawn as new rows are searched for."""
        table, rows, n_threads = self.table, self.draw.rows, current_run().n_threads
        coordinates = self.coordinates[rows]
        probes = _core.nearest_rows(self.space.centres, coordinates, plan.n_probes, n_threads)[0]
        order, offsets = group(probes[:, 0], len(self.space.centres))
        width = self.space.width(plan.n_candidates, table.n_samples - 1) + 1
        candidates = join.find(coordinates, probes, order, offsets, width, n_threads)
        found = table.rank(candidates, self.true.shape[1] + 1, table.take(rows), order=order)
        near = None if table.proxy is table and self.space.basis is None else candidates
        return Looked.of(self.draw, without_own(*found, rows), homes, probes, near, plan.n_candidates)


@dataclass(frozen=True)
class _Cells:
    """A table sorted by cells, and the cells into which its rows look.

    Attributes
    ----------
    table : SearchedRows
    coordinates : ndarray of shape (n_samples, n_coordinates), float32
    space : Space
    probes : ndarray of shape (n_samples, n_probes), int32
        The nearest cells of each row, its own first.
    order, offsets : ndarray
        What `group` returns.
    join : CellJoin
    """

    table: SearchedRows
    coordinates: npt.NDArray[np.float32]
    space: Space
    probes: Indices
    order: Indices
    offsets: npt.NDArray[np.int64]
    join: _core.CellJoin

    @classmethod
    def of(cls, table: SearchedRows, coordinates: npt.NDArray[np.float32], space: Space, n_probes: int) -> Self:
        n_threads = current_run().n_threads
        probes = _core.nearest_rows(space.centres, coordinates, n_probes, n_threads)[0]
        order, offsets = group(probes[:, 0], len(space.centres))
        join = _core.CellJoin(coordinates, probes, order, offsets, n_threads, space.rounded)
        return cls(table, coordinates, space, probes, order, offsets, join)

    def searched(self, plan: Plan, n_neighbors: int, keep: int, reporter: Reporter | None) -> tuple[Indices, Distances]:
        """Search as planned and rank the candidates by their distances in full; return up to `keep` of them."""
        if plan.n_probes > self.probes.shape[1]:
            wider = _Cells.of(self.table, self.coordinates, self.space, plan.n_probes)
            return wider.searched(plan, n_neighbors, keep, reporter)
        table, order, n = self.table, self.order, len(self.probes)
        candidates = np.empty((n, self.space.width(plan.n_candidates, n - 1)), dtype=np.int32)
        count = len(self.space.centres)
        first, bounds = max(count // (_FIRST * _BLOCKS), 1), np.linspace(0, count, _BLOCKS + 1).astype(int)
        effort = Effort.of(table, self.coordinates.shape[1], count)
        joined = effort.joined_share(plan, candidates.shape[1])
        self.join.run(0, first, plan.n_probes, candidates)
        if reporter is not None:  # what came before says nothing of the rows
            reporter.expect(int(joined * self.offsets[first]))
        for begin, end in itertools.pairwise(np.unique(np.maximum(bounds, first))):
            self.join.run(int(begin), int(end), plan.n_probes, candidates)
            if reporter is not None:
                reporter.update(max(int(joined * self.offsets[end]), 1), n)
        most = max(n_neighbors, min(keep, plan.n_candidates))
        found = table.rank_leading(candidates, n_neighbors, most, order)
        short = np.flatnonzero(found[0][:, n_neighbors - 1] < 0).astype(np.int32)
        if len(short):  # rows in cells with few members
            nearest, more = (table.scan(table.take(short), short, k) for k in (n_neighbors, most))
            found[0][short], found[1][short] = lead_with(nearest, more)
        if reporter is not None:
            reporter.update(n, n)
        indices, distances = found
        full = int(np.count_nonzero((indices >= 0).all(axis=0)))
        return np.ascontiguousarray(indices[:, :full]), np.ascontiguousarray(distances[:, :full])


def _principal_basis(sample: npt.NDArray[np.float32], n_components: int, *, seed: int) -> npt.NDArray[np.float32]:
    """Approximate the leading principal directions by subspace iteration.

    The basis only proposes candidates for neighbours, so that nearly best directions serve as well as the best.
    Products and orthonormalisation are gnomon's own: those of BLAS and LAPACK differ in their last bits from processor
    to processor, and iteration makes the differences grow.

    Parameters
    ----------
    sample : ndarray of shape (n_rows, n_features), float32
        Centred rows.
    n_components : int in [1, min(n_rows, n_features)]
    seed : int

    Returns
    -------
    ndarray of shape (n_components, n_features), float32
        Orthonormal rows. Equal bits for any number of threads, on every processor.
    """
    tall = sample.shape[0] >= sample.shape[1]
    shorter = sample if tall else np.ascontiguousarray(sample.T)
    length, side = shorter.shape
    step = _BASIS_BLOCK
    scatter = sum_of_squares(lambda begin: shorter[begin : begin + step], length, side, step=step)
    start = np.random.default_rng(seed).standard_normal((side, n_components), dtype=np.float32)
    directions = orthonormalised(start.astype(np.float64))
    for _ in range(_BASIS_ROUNDS):
        directions = orthonormalised(project_rows(scatter, np.zeros(side), directions.T))
    if not tall:
        directions = orthonormalised(project_rows(shorter, np.zeros(side), directions.T).astype(np.float64))
    return np.ascontiguousarray(directions.T, dtype=np.float32)
