"""Which rows are in which cells and which look into them, in files that all workers map, or in memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.stored import RowBlock

__all__ = ["CellLists", "CellTask", "Kept", "lists_of_cells", "tasks_of_groups"]

Numbers = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Kept:
    """An array in memory, or in a file that every process maps for itself.

    Attributes
    ----------
    held : ndarray or Path
    """

    held: npt.NDArray[Any] | Path

    @classmethod
    def empty(cls, folder: Path | None, name: str, shape: tuple[int, ...], dtype: Any) -> Kept:
        """Make an array that is to be filled."""
        if folder is None:
            return cls(np.empty(shape, dtype=dtype))
        np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=dtype, shape=shape).flush()
        return cls(folder / f"{name}.npy")

    def open(self, *, write: bool = False) -> npt.NDArray[Any]:
        """Return the array, mapped if it is in a file."""
        if isinstance(self.held, np.ndarray):
            return self.held
        if not self.held.exists():
            remedy = "Choose a folder in a file system that all of them see, or leave the journal out."
            raise FileNotFoundError(message(f"folder {str(self.held.parent)!r}", "seen by all workers", remedy=remedy))
        mapped: npt.NDArray[Any] = np.load(self.held, mmap_mode="r+" if write else "r")
        return mapped


@dataclass(frozen=True)
class CellLists:
    """The members of each cell, and the rows that look into it.

    Attributes
    ----------
    members : Kept of shape (n_samples,), int32
        Rows sorted by (cell, row).
    places : Kept of shape (n_samples,), int32
        Where in `members` each row stands.
    askers : Kept of shape (n_samples n_probes,), int32
        Rows that look into a cell, sorted by (cell, row).
    member_offsets, asker_offsets : ndarray of shape (n_cells + 1,), int64
        Where each cell begins.
    """

    members: Kept
    places: Kept
    askers: Kept
    member_offsets: npt.NDArray[np.int64]
    asker_offsets: npt.NDArray[np.int64]

    def members_of(self, cells: Numbers) -> tuple[Numbers, Numbers]:
        """Return the members of some cells, one cell after the other, and the place of each one's cell among these."""
        return _of_cells(self.members.open(), self.member_offsets, cells)

    def askers_of(self, cells: Numbers) -> Numbers:
        """Return the rows that look into some cells, as often as they do, one cell after the other."""
        return _of_cells(self.askers.open(), self.asker_offsets, cells)[0]

    @property
    def n_pairs(self) -> float:
        """Pairs of a row and a member of a cell that it looks into."""
        return float(np.diff(self.member_offsets).astype(np.float64) @ np.diff(self.asker_offsets))


def _of_cells(rows: Numbers, offsets: npt.NDArray[np.int64], cells: Numbers) -> tuple[Numbers, Numbers]:
    parts = [np.asarray(rows[offsets[cell] : offsets[cell + 1]]) for cell in cells]
    return np.concatenate(parts), np.repeat(np.arange(len(cells)), [len(part) for part in parts])


def lists_of_cells(
    probes: Callable[[], Iterable[npt.NDArray[np.int32]]],
    shape: tuple[int, int],
    n_cells: int,
    folder: Path | None,
    name: str,
) -> CellLists:
    """Sort rows by their cells, block by block.

    Parameters
    ----------
    probes : callable
        Returns the cells of the rows of each block in order, (n_rows, n_probes), the nearest first; called twice.
    shape : (n_samples, n_probes)
    n_cells : int
    folder : Path or None
        Where files are written; None keeps the lists in memory.
    name : str
        With which the names of files begin.
    """
    homes, asked = np.zeros(n_cells, np.int64), np.zeros(n_cells, np.int64)
    for cells in probes():
        homes += np.bincount(cells[:, 0], minlength=n_cells)
        asked += np.bincount(cells.ravel(), minlength=n_cells)
    offsets = [np.concatenate([[0], np.cumsum(counts)]) for counts in (homes, asked)]
    sizes = {"members": shape[0], "places": shape[0], "askers": shape[0] * shape[1]}
    members, places, askers = (Kept.empty(folder, f"{name}-{key}", (size,), np.int32) for key, size in sizes.items())
    next_member, next_asker, start = offsets[0][:-1].copy(), offsets[1][:-1].copy(), 0
    for cells in probes():
        rows = np.arange(start, start + len(cells), dtype=np.int32)
        places.open(write=True)[rows] = _put(members, next_member, cells[:, :1], rows)
        _put(askers, next_asker, cells, rows)
        start += len(cells)
    return CellLists(members, places, askers, *offsets)


def _put(kept: Kept, free: npt.NDArray[np.int64], cells: npt.NDArray[np.int32], rows: Numbers) -> Numbers:
    """Append rows to their cells and move on what is free; return where they went, in the order of `cells`."""
    flat = cells.ravel()
    order = np.argsort(flat, kind="stable")
    counts = np.bincount(flat, minlength=len(free))
    begins = np.cumsum(counts) - counts
    places = np.empty(len(flat), dtype=np.int64)
    places[order] = (free - begins)[flat[order]] + np.arange(len(flat))
    kept.open(write=True)[places[order]] = rows[order // cells.shape[1]]
    free += counts
    return places


@dataclass(frozen=True)
class CellTask(RowBlock):
    """A few cells, or some members of one, and rows [start, stop) of those that look into them.

    Attributes
    ----------
    cells : ndarray, int64
        Ascending.
    members : (int, int)
        Which of their members, counted one cell after the other.
    """

    cells: npt.NDArray[np.int64]
    members: tuple[int, int]


def tasks_of_groups(
    lists: CellLists, groups: list[npt.NDArray[np.int64]], most_members: int, most_askers: int
) -> list[CellTask]:
    """Cut groups of cells into tasks of bounded numbers of members and of rows that look into them."""
    tasks: list[CellTask] = []
    n_members, n_askers = np.diff(lists.member_offsets), np.diff(lists.asker_offsets)
    n_samples = int(lists.member_offsets[-1])
    for cells in groups:
        count = int(n_askers[cells].sum())
        if count == 0 or n_members[cells].sum() == 0:
            continue
        cuts = [0, n_samples]
        if count > most_askers:
            rows = np.sort(lists.askers_of(cells))
            cuts = [0, *np.unique(rows[most_askers::most_askers]), n_samples]
        for first in range(0, int(n_members[cells].sum()), most_members):
            for start, stop in itertools.pairwise(cuts):
                part = first, first + most_members
                tasks.append(CellTask(len(tasks), int(start), int(stop), cells, part))
    return tasks
