"""Neighbours cell by cell: rows look into the nearest of many cells, which are searched a few at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon.data.stored import ArrayTable, RowBlock, StoredTable
from gnomon.neighbors import without_own
from gnomon.neighbors.cell_plans import Effort, Looked, Plan, find_plan, first_probes
from gnomon.neighbors.cells import Approximation, Space, search_until_found
from gnomon.neighbors.euclidean import Points, n_candidates
from gnomon.neighbors.parts import Found, NearestLists, PartMetric, cell_groups, nearest_centres, search_cells
from gnomon.neighbors.samples import Draw
from gnomon.scale.cell_lists import CellLists, CellTask, Kept, lists_of_cells, tasks_of_groups
from gnomon.scale.executor import LocalExecutor
from gnomon.scale.journal import Journal
from gnomon.scale.parts import PartedTable

__all__ = ["search_by_cells"]

_HELD = 1e9  # bytes; rows of an array up to this are taken where they are
_LEAST_MEMBERS, _LEAST_ASKERS = 1024, 8192  # of a task
_FILLED = 4096  # rows compared with all others at a time
_VISITS = 4.0  # groups of cells that a row looks into, about, in each of which candidates are ranked

Arrays = dict[str, npt.NDArray[Any]]


def search_by_cells(
    parted: PartedTable, n_neighbors: int, target_recall: float, seed: int, *, keep: int = 0
) -> Approximation | None:
    """Find most of the neighbours of every row.

    Parameters
    ----------
    parted : PartedTable
        Of dense rows whose distances are Euclidean.
    n_neighbors : int in [1, n_samples - 1]
    target_recall : float in [0, 1)
        What the true recall reaches with a probability of about 95%.
    seed : int
    keep : int, default=0
        Return up to so many neighbours, as `gnomon.neighbors.cells.approximate_search` does.

    Returns
    -------
    Approximation or None
        None if comparing all pairs costs less.

    Notes
    -----
    Cells, samples and the numbers of cells searched are those of a search in memory with this seed.
    """
    with ExitStack() as stack:
        journal = parted.journal
        if journal.folder is None and isinstance(parted.executor, LocalExecutor):
            journal = Journal(stack.enter_context(tempfile.TemporaryDirectory(prefix="gnomon-")), {})
        return _Search(parted, n_neighbors, max(n_neighbors, keep), journal).found(target_recall, seed)


@dataclass(frozen=True)
class _Search:
    """A search for the neighbours of every row.

    Attributes
    ----------
    parted : PartedTable
    k, keep : int
        Neighbours that the search is planned for, and how many are returned where the candidates hold them.
    journal : Journal
        That of the table, or one in a folder that is removed at the end.
    """

    parted: PartedTable
    k: int
    keep: int
    journal: Journal

    def found(self, target_recall: float, seed: int) -> Approximation | None:
        """Search with more and more cells until the recall is reached."""
        parted, table, rng = self.parted, self.parted.table, np.random.default_rng(seed)
        draw = Draw.of(table.n_samples, rng)
        near = parted.nearest(f"sample-{self.keep}", draw.compared, self.keep + 1)
        known = without_own(*near, draw.compared)
        frame = parted.metric.frame
        assert frame is not None
        space = Space.learned(frame, table.n_samples, lambda some: parted.metric.prepared(table.take(some)), rng)
        width = frame.X.shape[1]
        projected = space.basis is not None
        effort = Effort(table.n_samples, len(space.centres), space.centres.shape[1], width, width, False, projected)
        some, nearest = draw.compared[: draw.n_compared], known[0][: draw.n_compared, : self.k].ravel()
        queries, others = (parted.metric.coordinates(space, table.take(rows)) for rows in (some, nearest))
        first = first_probes(space.centres, queries, others, target_recall)
        if not effort.affords(Plan(first, n_candidates(self.k, table.n_samples - 1))):
            return None
        plan, samples = find_plan(
            lambda plan: self._looked(space, draw, plan), draw, known[1], first, self.k, target_recall, effort
        )
        return search_until_found(
            lambda plan: self._searched(space, plan, effort), plan, samples, self.k, target_recall, effort
        )

    def _looked(self, space: Space, draw: Draw, plan: Plan) -> Looked:
        """Search for the rows drawn as for new rows, in the members that each block has of the cells."""
        parted, table, rows = self.parted, self.parted.table, draw.rows
        queries = table.take(rows)
        lists = NearestLists(len(rows), self.keep)
        homes = np.empty(table.n_samples, dtype=np.int32)
        needed = 5.0 * parted.block_bytes
        given = space, queries, rows, self.keep, plan
        for block, found in zip(
            table.blocks(),
            parted.run(f"wide-{plan.n_probes}-of-{self.keep}", _look_in_block, table.blocks(), *given, needed=needed),
            strict=True,
        ):
            homes[block.start : block.stop] = found["homes"]
            lists.join(slice(None), (found["indices"], found["lengths"]))
        coordinates = parted.metric.coordinates(space, queries)[: draw.size]  # of rows that choose
        probes = nearest_centres(space.centres, coordinates, plan.n_probes)
        near = None if space.basis is None else self._near(space, coordinates, plan.n_candidates)
        return Looked.of(draw, lists.finish(parted.metric), homes, probes, near, plan.n_candidates)

    def _near(self, space: Space, coordinates: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.int32]:
        """Return the rows nearest to some coordinates in the space of candidates, one of which may be their own."""
        parted, projected = self.parted, NearestLists(len(coordinates), most + 1)
        stage, needed = f"projected-{most}", 3.0 * parted.block_bytes
        blocks = parted.table.blocks()
        for found in parted.run(stage, _nearest_projected, blocks, space, coordinates, most + 1, needed=needed):
            projected.join(slice(None), (found["indices"], found["lengths"]))
        return projected.indices

    def _searched(self, space: Space, plan: Plan, effort: Effort) -> Found:
        """Search the cells of a plan, group by group."""
        parted, table = self.parted, self.parted.table
        name = f"cells-{plan.n_probes}"
        lists = self._lists(space, plan.n_probes, name)
        ranked = _VISITS * effort.of_plan(plan) - _VISITS * effort.of_plan(Plan(plan.n_probes, 0))
        seconds = 1e-9 * (effort.of_pairs(lists.n_pairs + table.n_samples * effort.n_cells) + ranked)
        parted.require_hours(seconds, f"{lists.n_pairs:.2g} pairs of rows in cells")
        rows = self._rows(lists, name)
        block = len(table.blocks()[0])
        most_members, most_askers = max(_LEAST_MEMBERS, block // 2), max(_LEAST_ASKERS, 4 * block)
        groups = cell_groups(space.centres, np.diff(lists.member_offsets), most_members)
        tasks = tasks_of_groups(lists, groups, most_members, most_askers)
        needed = most_members * 16.0 * table.n_features
        most = max(self.k, min(self.keep, plan.n_candidates))
        needed += most_askers * (8.0 * table.n_features + 4.0 * plan.n_candidates + 24.0 * most + 16.0)
        nearest = NearestLists(table.n_samples, most)
        given = rows, lists, space, most, plan.n_candidates
        stage = f"{name}-of-{most}"
        for task, found in zip(tasks, parted.run(stage, _search_task, tasks, *given, needed=needed), strict=True):
            nearest.join(found["rows"], (found["indices"], found["lengths"]))
            current_run().reporter.update(table.n_samples * (task.number + 1) // len(tasks), table.n_samples)
        indices, distances = nearest.finish(parted.metric)
        self._fill(indices, distances, stage)
        full = int(np.count_nonzero((indices >= 0).all(axis=0)))
        return np.ascontiguousarray(indices[:, :full]), np.ascontiguousarray(distances[:, :full])

    def _lists(self, space: Space, n_probes: int, name: str) -> CellLists:
        """Sort rows by cells, or take what an earlier run has sorted."""
        parted, table, folder = self.parted, self.parted.table, self.journal.folder
        needed = 4.0 * parted.block_bytes
        stage = f"{name}-probes"

        def probes() -> Iterable[npt.NDArray[np.int32]]:
            given = space, n_probes
            found = parted.run(stage, _cells_of, table.blocks(), *given, needed=needed, journal=self.journal)
            return (one["cells"] for one in found)

        shape, n_cells = (table.n_samples, n_probes), len(space.centres)
        if folder is None:
            held = list(probes())
            return lists_of_cells(lambda: held, shape, n_cells, None, name)

        def sort() -> Arrays:
            made = lists_of_cells(probes, shape, n_cells, folder, name)
            return {"members": made.member_offsets, "askers": made.asker_offsets}

        offsets = self.journal.stage(f"{name}-lists", sort)
        members, places, askers = (Kept(folder / f"{name}-{part}.npy") for part in ("members", "places", "askers"))
        return CellLists(members, places, askers, offsets["members"], offsets["askers"])

    def _rows(self, lists: CellLists, name: str) -> StoredTable | None:
        """Sort the rows of a table on disk by cells; None if they are taken where they are."""
        parted, table, folder = self.parted, self.parted.table, self.journal.folder
        if folder is None or (isinstance(table, ArrayTable) and table.n_bytes <= _HELD):
            return None
        path = folder / f"{name}-rows.npy"
        rows = Kept(path) if path.exists() else Kept.empty(folder, f"{name}-rows", table.shape, table.dtype)
        needed = 3.0 * parted.block_bytes
        given = rows, lists.places
        for _ in parted.run(f"{name}-rows", _sort_rows, table.blocks(), *given, needed=needed, journal=self.journal):
            pass
        return ArrayTable(rows.open(), name=table.name)

    def _fill(self, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32], stage: str) -> None:
        """Compare rows whose cells have too few members with all others, in place."""
        short = np.flatnonzero(indices[:, self.k - 1] < 0)
        for start in range(0, len(short), _FILLED):
            rows = short[start : start + _FILLED]
            near = self.parted.nearest(f"{stage}-short-{start}", rows, indices.shape[1] + 1)
            indices[rows], distances[rows] = without_own(*near, rows)


def _look_in_block(
    block: RowBlock,
    given: tuple[StoredTable, PartMetric],
    asked: tuple[Space, Any, npt.NDArray[np.int32], int, Plan],
) -> Arrays:
    (table, metric), (space, queries, rows, k, plan) = given, asked
    members: Any = table.read(block.start, block.stop)
    numbers = np.arange(block.start, block.stop)
    homes = nearest_centres(space.centres, metric.coordinates(space, members), 1)[:, 0]
    asking = queries, rows, np.full(len(rows), plan.n_probes)
    cells = np.arange(len(space.centres))
    found = search_cells(metric, space, cells, (members, numbers, homes), asking, k, plan.n_candidates)
    return {"homes": homes, "indices": found[0], "lengths": found[1]}


def _nearest_projected(
    block: RowBlock, given: tuple[StoredTable, PartMetric], asked: tuple[Space, npt.NDArray[np.float32], int]
) -> Arrays:
    (table, metric), (space, queries, k) = given, asked
    coordinates = metric.coordinates(space, table.read(block.start, block.stop))
    width = coordinates.shape[1]
    points = Points(coordinates, np.zeros(width), 1.0)
    indices, lengths = points.nearest(queries, min(k, len(coordinates)))
    missing = ((0, 0), (0, k - indices.shape[1]))
    return {
        "indices": np.pad(indices + np.int32(block.start), missing, constant_values=-1),
        "lengths": np.pad(lengths, missing, constant_values=np.inf),
    }


def _cells_of(block: RowBlock, given: tuple[StoredTable, PartMetric], asked: tuple[Space, int]) -> Arrays:
    (table, metric), (space, count) = given, asked
    coordinates = metric.coordinates(space, table.read(block.start, block.stop))
    return {"cells": nearest_centres(space.centres, coordinates, count)}


def _sort_rows(block: RowBlock, given: tuple[StoredTable, PartMetric], asked: tuple[Kept, Kept]) -> Arrays:
    (table, _), (rows, places) = given, asked
    here = slice(block.start, block.stop)
    written = rows.open(write=True)
    written[places.open()[here]] = table.read(block.start, block.stop)
    if isinstance(written, np.memmap):
        written.flush()
    return {"rows": np.array([block.start, block.stop])}


def _search_task(
    task: CellTask,
    given: tuple[StoredTable, PartMetric],
    asked: tuple[StoredTable | None, CellLists, Space, int, int],
) -> Arrays:
    (table, metric), (sorted_rows, lists, space, k, n_candidates) = given, asked

    def taken(numbers: npt.NDArray[np.integer]) -> Any:
        return table.take(numbers) if sorted_rows is None else sorted_rows.take(lists.places.open()[numbers])

    members, homes = (part[task.members[0] : task.members[1]] for part in lists.members_of(task.cells))
    order = np.argsort(members)
    members, homes = members[order], homes[order]
    askers = lists.askers_of(task.cells)
    askers = askers[(askers >= task.start) & (askers < task.stop)]
    rows, counts = np.unique(askers, return_counts=True)
    base = taken(members), members, homes
    queries = taken(rows), rows, counts
    indices, lengths = search_cells(metric, space, task.cells, base, queries, k, n_candidates)
    return {"rows": rows, "indices": indices, "lengths": lengths}
