"""Neighbours among parts of a table that does not fit: what is found in each, and how it is joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon._validation import unsaid
from gnomon.exceptions import DataWarning
from gnomon.linalg import largest_deviation
from gnomon.neighbors.cells import Space, group
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values, scale_for
from gnomon.neighbors.graph import without_own
from gnomon.neighbors.metrics import NativeMetric
from gnomon.neighbors.searched import SearchedRows

__all__ = ["Found", "NearestLists", "PartMetric", "cell_groups", "nearest_centres", "search_cells"]

Found = tuple[Indices, Distances]
"""Row numbers and lengths of shape (n_rows, k), ascending by (length, index); -1 and inf where there are fewer."""

_JOINED = 2**15  # rows whose lists are joined at a time
_NOBODY = -2  # matches neither a row nor the lack of one


@dataclass(frozen=True)
class PartMetric:
    """How rows of all parts of a table are compared, alike in each.

    Attributes
    ----------
    native : NativeMetric
    frame : Points or None
        Of no rows, the centre and scale of points whose distances are Euclidean; None where rows are compared by a
        kernel of the metric.
    """

    native: NativeMetric
    frame: Points | None = None

    def framed(self, largest: float) -> PartMetric:
        """Return the metric with the scale for the largest deviation from the centre in any part."""
        assert self.frame is not None
        return PartMetric(self.native, Points(self.frame.X, self.frame.mean, scale_for(largest, self.frame.X.dtype)))

    def centred_at(self, rows: Any) -> PartMetric:
        """Return the metric with the mean of some rows as the centre, where it has one."""
        prepared = self.prepared(rows)
        if not isinstance(self.native.searched(prepared[:1]), Points):
            return self
        mean = (prepared * (1.0 / len(prepared))).sum(axis=0, dtype=np.float64)  # as Points.of does
        return PartMetric(self.native, Points(prepared[:0], mean, 1.0))

    def largest(self, rows: Any, first: int) -> float:
        """Return the largest deviation of a part from the centre, and say of refused rows where they are.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features) or csr_array
        first : int
            Number of the first of them in the table.
        """
        try:
            prepared = self.native.rows(rows)
        except ValueError as error:
            raise ValueError(f"{error} Rows are counted from row {first:,} of the table.") from error
        return 0.0 if self.frame is None else largest_deviation(prepared, self.frame.mean)

    def searched(self, rows: Any) -> SearchedRows:
        """Make rows of a part ready."""
        prepared = self.prepared(rows)
        if self.frame is None:
            return self.native.searched(prepared)
        return Points(prepared, self.frame.mean, self.frame.scale)

    def prepared(self, rows: Any) -> Any:
        """Return rows as the search takes them."""
        with unsaid(DataWarning):  # `largest` has said it
            return self.native.rows(rows)

    def within(self, rows: Any, k: int) -> Found:
        """Return for each row of a part its nearest others."""
        part = self.searched(rows)
        if isinstance(part, Points):
            return part.squares_within(k)
        n = part.n_samples
        found = part.nearest(self.prepared(rows), min(k + 1, n))
        return _filled(without_own(*found, np.arange(n)), k)

    def across(self, rows: Any, others: Any, k: int) -> tuple[Found, Found]:
        """Return for each row of a part the nearest of another part, and the reverse."""
        first, second = self.searched(rows), self.searched(others)
        if isinstance(first, Points) and isinstance(second, Points):
            return first.squares_across(second, k)
        there = second.nearest(self.prepared(rows), min(k, second.n_samples))
        back = first.nearest(self.prepared(others), min(k, first.n_samples))
        return _filled(there, k), _filled(back, k)

    def nearest(self, rows: Any, queries: Any, k: int) -> Found:
        """Return the nearest rows of a part for queries, by distances before `native.distances`."""
        part = self.searched(rows)
        return _filled(part.nearest(self.prepared(queries), min(k, part.n_samples)), k)

    def coordinates(self, space: Space, rows: Any) -> npt.NDArray[np.float32]:
        """Return where rows lie among the cells."""
        assert self.frame is not None
        return space.coordinates_of(self.frame, self.prepared(rows))

    def lengths(self, found: Distances) -> Distances:
        """Turn squares of scaled coordinates into distances in place, where they are such."""
        if self.frame is None:
            return found
        for start in range(0, len(found), _JOINED):
            some = found[start : start + _JOINED]
            some[:] = np.sqrt(some.astype(np.float64)) / self.frame.scale
        return found


def _filled(found: Found, k: int) -> Found:
    missing = k - found[0].shape[1]
    if missing <= 0:
        return found
    wide = ((0, 0), (0, missing))
    return np.pad(found[0], wide, constant_values=-1), np.pad(found[1], wide, constant_values=np.inf)


class NearestLists:
    """The nearest found so far of each row, from parts that have no row in common.

    What is left does not depend on the order in which parts are joined.

    Parameters
    ----------
    n_rows, k : int
    """

    def __init__(self, n_rows: int, k: int) -> None:
        self.indices: Indices = np.full((n_rows, k), -1, dtype=np.int32)
        self.lengths: Distances = np.full((n_rows, k), np.inf, dtype=np.float32)

    def join(self, rows: npt.NDArray[np.integer] | slice, found: Found) -> None:
        """Join what some rows found in a part, each of them once."""
        k = self.indices.shape[1]
        numbers = np.arange(len(self.indices))[rows] if isinstance(rows, slice) else rows
        for start in range(0, len(numbers), _JOINED):
            some, part = numbers[start : start + _JOINED], slice(start, start + _JOINED)
            keys = np.concatenate(
                [_keys(self.indices[some], self.lengths[some]), _keys(found[0][part], found[1][part])], axis=1
            )
            keys.sort(axis=1)
            self.indices[some], self.lengths[some] = _from_keys(keys[:, :k])

    def finish(self, metric: PartMetric) -> Found:
        """Return indices and distances before `native.distances`, ascending by (distance, index)."""
        metric.lengths(self.lengths)
        for start in range(0, len(self.indices), _JOINED):
            some = slice(start, start + _JOINED)
            keys = _keys(self.indices[some], self.lengths[some])
            keys.sort(axis=1)
            self.indices[some], self.lengths[some] = _from_keys(keys)
        return self.indices, self.lengths


def _keys(indices: Indices, lengths: Distances) -> npt.NDArray[np.uint64]:
    """Return numbers that ascend by (length, index): bits of floats that are not negative ascend as they do."""
    keys = np.ascontiguousarray(lengths).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.ascontiguousarray(indices).view(np.uint32)
    return keys


def _from_keys(keys: npt.NDArray[np.uint64]) -> Found:
    lengths = (keys >> np.uint64(32)).astype(np.uint32).view(np.float32)
    return keys.astype(np.uint32).view(np.int32), lengths


def cell_groups(
    centres: npt.NDArray[np.float32], counts: npt.NDArray[np.int64], most: int
) -> list[npt.NDArray[np.int64]]:
    """Gather cells that lie near each other into groups of at most so many rows, or of one cell.

    Parameters
    ----------
    centres : ndarray of shape (n_cells, n_coordinates), float32
    counts : ndarray of shape (n_cells,), int64
        Members of each cell.
    most : int

    Returns
    -------
    list of ndarray
        Numbers of cells, ascending in each group: halves of halves along the coordinate in which centres differ most.
    """
    groups, waiting = [], [np.arange(len(centres))]
    while waiting:
        cells = waiting.pop()
        total = np.cumsum(counts[cells])
        if len(cells) == 1 or total[-1] <= most:
            groups.append(cells)
            continue
        axis = int(centres[cells].var(axis=0, dtype=np.float64).argmax())
        cells = cells[np.argsort(centres[cells, axis], kind="stable")]
        total = np.cumsum(counts[cells])
        half = int(np.clip(np.searchsorted(total, total[-1] / 2), 1, len(cells) - 1))
        waiting += [np.sort(cells[half:]), np.sort(cells[:half])]
    return groups


def nearest_centres(centres: npt.NDArray[np.float32], coordinates: npt.NDArray[np.float32], count: int) -> Indices:
    """Return the nearest cells of rows, the nearest first."""
    return _core.nearest_rows(centres, coordinates, count, current_run().n_threads)[0]


def search_cells(
    metric: PartMetric,
    space: Space,
    cells: npt.NDArray[np.integer],
    base: tuple[Values, npt.NDArray[np.integer], npt.NDArray[np.integer]],
    queries: tuple[Values, npt.NDArray[np.integer], npt.NDArray[np.integer]],
    k: int,
    n_candidates: int,
) -> Found:
    """Find the nearest members of a few cells for the rows that look into them.

    Parameters
    ----------
    metric : PartMetric
        With a frame.
    space : Space
    cells : ndarray of shape (n_cells,), int
        Their numbers, ascending.
    base : rows, numbers of shape (n_base,) and places in `cells` of shape (n_base,)
        The members, by ascending number in the table.
    queries : rows, numbers of shape (n_queries,) and counts of shape (n_queries,)
        Those who look, and into how many of these cells: the nearest ones.
    k : int >= 1
    n_candidates : int
        Of each query, compared accurately.

    Returns
    -------
    Found
        Numbers in the table, none its own; scaled squares.
    """
    n_threads = current_run().n_threads
    points = metric.searched(base[0])
    assert isinstance(points, Points)
    prepared = metric.prepared(queries[0])
    nobodys = len(cells)  # a cell without members
    own_cells = base[2].astype(np.int32)
    members = group(own_cells, nobodys + 1)
    join = _core.CellJoin(space.coordinates_of(points), own_cells[:, None], *members, n_threads)
    coordinates = space.coordinates_of(points, prepared)
    probes = nearest_centres(space.centres[cells], coordinates, int(queries[2].max()))
    probes[np.arange(probes.shape[1]) >= queries[2][:, None]] = nobodys
    order, offsets = group(probes[:, 0], nobodys + 1)
    width = min(n_candidates + 1, len(base[1]))  # itself is among them, at home
    candidates = join.find(coordinates, probes, order, offsets, width, n_threads)
    del join
    wanted = min(k + 1, width)
    indices, squares = points.rank(candidates, wanted, prepared, order=order, squared=True)
    place = np.minimum(np.searchsorted(base[1], queries[1]), len(base[1]) - 1)
    own = np.where(base[1][place] == queries[1], place, _NOBODY)
    found = _filled((indices, squares), k + 1)
    indices, squares = without_own(*found, own)
    return np.where(indices >= 0, base[1][indices], -1).astype(np.int32), squares
