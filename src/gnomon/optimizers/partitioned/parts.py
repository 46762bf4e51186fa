"""Rows by owner: where the parts of a map end, and the edges of one part with the far ends that it does not own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon.objectives.pairs import Edges
from gnomon.scale import Executor, RoundsWork, rounds_of

__all__ = ["ROWS", "OwnedEdges", "PartsRun", "Scratch", "part_bounds"]

ROWS = 64
"""Parts begin at multiples of it: rows that the kernels of sampled descent take together, and the bits of a word."""


def part_bounds(n_samples: int, n_parts: int) -> list[int]:
    """Return the first row of each part and the number of rows; parts are equal but for ROWS rows.

    There are fewer parts where some would have no rows.
    """
    groups = -(-n_samples // ROWS)
    n_parts = max(1, min(n_parts, groups))
    return [min(n_samples, ROWS * (groups * part // n_parts)) for part in range(n_parts + 1)]


@dataclass(frozen=True)
class OwnedEdges:
    """The edges of consecutive rows, by places: those of the own rows first, then those of the halo.

    Attributes
    ----------
    first, stop : int
        The rows are [first, stop).
    offsets : ndarray of shape (n_rows + n_halo + 1,), int64
        Rows of the halo have no edges here.
    columns : ndarray of shape (n_edges,), int32
    values : ndarray of shape (n_edges,), float32
    halo : ndarray of shape (n_halo,), int32
        Other rows at the ends of the edges: those after the own rows, and then those before them, ascending.
    """

    first: int
    stop: int
    offsets: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    halo: npt.NDArray[np.int32]

    @classmethod
    def of(cls, edges: Edges, first: int, stop: int, *, among_all: bool = False) -> OwnedEdges:
        """Take the edges of the rows [first, stop); with `among_all`, all other rows are the halo."""
        begin, end, n, n_rows = edges.offsets[first], edges.offsets[stop], len(edges.offsets) - 1, stop - first
        places = edges.columns[begin:end] - np.int32(first)
        places[places < 0] += np.int32(n)  # rows counted from the first one on
        outside = places >= n_rows
        far = np.arange(n_rows, n, dtype=np.int32) if among_all else np.unique(places[outside])
        places[outside] = n_rows + np.searchsorted(far, places[outside])
        halo = ((far.astype(np.int64) + first) % n).astype(np.int32)
        offsets = edges.offsets[first : stop + 1] - begin
        offsets = np.concatenate([offsets, np.full(len(halo), offsets[-1])])
        return cls(first, stop, offsets, places, edges.values[begin:end].copy(), halo)

    @property
    def n_rows(self) -> int:
        """Number of own rows."""
        return self.stop - self.first

    @cached_property
    def graph(self) -> _core.Graph:
        """The edges as the compiled kernels take them, checked once."""
        return _core.Graph(self.offsets, self.columns, self.values)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "graph"}


class Scratch:
    """Memory of a part that its steps use again: fresh pages of a system may cost more than what is written there.

    It stays where it was made.
    """

    def __init__(self) -> None:
        self._kept: dict[str, npt.NDArray[np.float32]] = {}

    def take(self, name: str, n_rows: int, n_components: int) -> npt.NDArray[np.float32]:
        """Return the array of a name, with what was written there last where it had as many rows or more."""
        kept = self._kept.get(name)
        if kept is None or len(kept) < n_rows or kept.shape[1] != n_components:
            kept = self._kept[name] = np.empty((n_rows, n_components), dtype=np.float32)
        return kept[:n_rows]

    def copy(self, name: str, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the array of a name, with these values."""
        kept = self.take(name, *values.shape)
        kept[...] = values
        return kept

    def __reduce__(self) -> tuple[type[Scratch], tuple[()]]:
        return Scratch, ()


class PartsRun:
    """The steps of one descent, done in parts.

    Parameters
    ----------
    work : RoundsWork
        Its states have the attributes that are named below, and ``n_bytes`` of the messages sent.
    bounds : list of int
        From `part_bounds`.
    executor : Executor
        Who does them.
    kind : type
        Of the state of a part.
    arrays, numbers : tuple of str
        Attributes of the state of a descent: those that have a row for each point, and those that all parts share.
    """

    def __init__(
        self,
        work: RoundsWork,
        bounds: list[int],
        executor: Executor,
        kind: type,
        arrays: tuple[str, ...],
        numbers: tuple[str, ...] = (),
    ) -> None:
        self.rounds = rounds_of(work, executor)
        self._ends = list(itertools.pairwise(bounds))
        self._kind, self._arrays, self._numbers = kind, arrays, numbers
        self._left: list[Any] = []
        self._state: tuple[Any, int] = (None, -1)  # the state that the parts were left with, and its iteration

    @property
    def n_bytes(self) -> int:
        """Bytes of all messages between parts so far."""
        return sum(part.n_bytes for part in self._left)

    def advance(self, state: Any, last: int) -> None:
        """Bring the state of a descent to an iteration, in place."""
        if self._state != (id(state), state.iteration):
            numbers = {name: getattr(state, name) for name in self._numbers}
            self._left = [
                self._kind(**{name: getattr(state, name)[first:stop].copy() for name in self._arrays}, **numbers)
                for first, stop in self._ends
            ]
        self._left = self.rounds.run(self._left, state.iteration, last)
        for part, (first, stop) in zip(self._left, self._ends, strict=True):
            for name in self._arrays:
                getattr(state, name)[first:stop] = getattr(part, name)
        for name in self._numbers:
            setattr(state, name, getattr(self._left[0], name))
        state.iteration = last
        self._state = (id(state), last)
