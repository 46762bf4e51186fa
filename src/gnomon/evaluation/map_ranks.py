"""Neighbours and ranks in a map from a few of its rows, without the distances of all rows from each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon._threads import in_order
from gnomon.evaluation.layout import Layout
from gnomon.evaluation.scores import TREE_COMPONENTS

__all__ = ["MapRanks"]

_LEAF = 64  # rows of a leaf: to count many rows few leaves are better, to find few rows many
_MORE = 4  # rows looked at beyond those asked for, to see ties
_NEAR = 1e-9  # relative difference of distances that may be equal but for rounding

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class MapRanks:
    """Which rows of a map are nearest to some, and how many are nearer than others; equal distances by row number.

    A k-d tree answers; where distances are equal, or too nearly so, or the map has no tree, all rows are looked at.

    Parameters
    ----------
    layout : Layout
        The map.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        places = self._layout.flat
        return None if places is None or places.shape[1] > TREE_COMPONENTS else cKDTree(places, leafsize=_LEAF)

    def squares(self, row: int) -> Floats:
        """Return the squared distances of all rows from one, (n_samples,)."""
        places = next(self._layout.seen_from(np.array([row])))[2]
        return _squares(places, places[row])

    def between(self, rows: Ints, others: Ints) -> Floats:
        """Return the squared distances from rows (m,) to others (m, k), as `squares` gives them."""
        places = self._layout.flat
        if places is None:
            return np.stack([self.squares(int(row))[near] for row, near in zip(rows, others, strict=True)])
        return _squares(places[others], places[rows][:, None])

    def nearest(self, rows: Ints, count: int) -> Ints:
        """Return the nearest rows of some, themselves not counted, (m, count)."""
        found = np.empty((len(rows), count), np.int64)
        n, open_rows = self._layout.n_samples, np.arange(len(rows))
        if self._tree is not None and count + 1 + _MORE <= n:
            asked, width = self._tree.data[rows], count + 1 + _MORE
            seen = np.sort(self._tree.query(asked, k=width, workers=current_run().n_threads)[1], axis=1)
            away = self.between(rows, seen)
            away[seen == rows[:, None]] = np.inf
            order = np.argsort(away, axis=1, kind="stable")[:, : width - 1]
            found[:] = np.take_along_axis(seen, order, axis=1)[:, :count]
            away = np.take_along_axis(away, order, axis=1)
            # What lies beyond those seen may be as near as the farthest of these, but not nearer.
            open_rows = np.flatnonzero(~(away[:, count - 1] < away[:, -1] * (1.0 - _NEAR)))

        def scan(at: int) -> Ints:
            squares = self.squares(int(rows[at]))
            squares[rows[at]] = np.inf
            within = np.flatnonzero(squares <= np.partition(squares, count - 1)[count - 1])
            nearest: Ints = within[np.argsort(squares[within], kind="stable")[:count]]
            return nearest

        if len(open_rows):
            found[open_rows] = list(in_order(scan, open_rows.tolist()))
        return found

    def ranks(self, rows: Ints, others: Ints) -> Ints:
        """Return the ranks of others (m, k) seen from rows (m,): 1 is the nearest."""
        found = np.empty(others.shape, np.int64)
        open_rows = np.arange(len(rows))
        if self._tree is not None:
            radii = np.sqrt(self.between(rows, others))
            places = np.broadcast_to(self._tree.data[rows][:, None], (*others.shape, self._tree.m))
            inner, outer = (
                self._tree.query_ball_point(places, radii * factor, return_length=True, workers=current_run().n_threads)
                for factor in (1.0 - _NEAR, 1.0 + _NEAR)
            )
            found[:] = inner  # the row itself among them
            open_rows = np.flatnonzero((outer - inner != 1).any(axis=1))

        def scan(at: int) -> Ints:
            row, near = int(rows[at]), others[at]
            squares = self.squares(row)
            squares[row] = np.inf
            limits = squares[near]
            before = [
                np.count_nonzero(squares < limit) + np.count_nonzero(squares[:other] == limit)
                for limit, other in zip(limits, near, strict=True)
            ]
            return np.array(before, np.int64) + 1

        if len(open_rows):
            found[open_rows] = list(in_order(scan, open_rows.tolist()))
        return found


def _squares(places: Floats, origin: Floats) -> Floats:
    """Return squared distances, summed over the components in their order."""
    total = np.zeros(np.broadcast_shapes(places.shape, origin.shape)[:-1])
    for component in range(places.shape[-1]):
        gap = places[..., component] - origin[..., component]
        total += gap * gap
    return total
