"""Epochs of sampled descent in parts: each owner moves its rows, given the places of the rows that they feel.

The rows drawn are a function of seed, epoch and row, so an owner knows what it will draw before it knows where that
lies. It asks for it an epoch ahead: a bit for each row. A message answers with the places of the rows asked for, in
their order, and asks for those of the next epoch. A part that draws most rows takes the places of all, unasked. Every
row is moved as in `gnomon._core.sampled_epochs` of the whole
map, from the same places in the same order of sums, so the bytes are the same for any number of parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.objectives.pairs import Edges, compile_kernel
from gnomon.optimizers.partitioned.parts import ROWS, OwnedEdges, Scratch
from gnomon.scale import RoundOf, RoundsWork, Sent

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["SampledPart", "SampledParts", "SampledSpec"]

Words = npt.NDArray[np.uint64]
Points = npt.NDArray[np.float32]

_MOMENTS = ("first_moment", "second_moment")
_SHARING = 16  # consecutive rows that share their draws
_MOST = 0.75  # share of all rows, expected to be drawn by a part, above which it takes the places of all


@dataclass(frozen=True)
class SampledSpec:
    """What an epoch is like.

    Attributes
    ----------
    kernel : OutputKernel
        With a compiled form.
    sampling : _core.SamplingParameters
    learning_rate : float
        Of the first epoch; falls to 0 at max_epochs.
    max_epochs : int
    isotropic : bool
    quadratic : bool
        Whether it falls as the square of the epochs left. See `gnomon.optimizers.SampledDescent`.
    """

    kernel: OutputKernel
    sampling: _core.SamplingParameters
    learning_rate: float
    max_epochs: int
    isotropic: bool
    quadratic: bool = False


@dataclass(frozen=True)
class SampledPart:
    """Where a part stands.

    Attributes
    ----------
    embedding, first_moment, second_moment : ndarray of shape (n_rows, n_components), float32
    known, after : ndarray of shape (n_words,), uint64, or None
        The rows whose places the next epoch takes, and those of the epoch after it, where not of all rows; None
        between runs of rounds.
    n_bytes : int
        Of the messages sent so far.
    """

    embedding: Points
    first_moment: Points
    second_moment: Points
    known: Words | None = None
    after: Words | None = None
    n_bytes: int = 0


@dataclass(frozen=True)
class _Owned:
    edges: OwnedEdges
    u: npt.NDArray[np.float32]
    always: Words  # the rows whose places every epoch takes: the own ones and the halo
    scratch: Scratch = field(default_factory=Scratch)


class SampledParts(RoundsWork):
    """The epochs of all parts.

    Parameters
    ----------
    spec : SampledSpec
    bounds : list of int
        From `part_bounds`.
    edges : Edges or None
        Of the whole map; None on a worker.
    u : ndarray of shape (n_samples,), float32, or None
        Weights of the repulsion of each point, likewise.
    """

    def __init__(
        self, spec: SampledSpec, bounds: list[int], edges: Edges | None, u: npt.NDArray[np.float32] | None
    ) -> None:
        self.spec, self.bounds, self.n_parts = spec, bounds, len(bounds) - 1
        self._edges, self._u = edges, u

    @property
    def on_worker(self) -> SampledParts:
        """The same without the edges."""
        return SampledParts(self.spec, self.bounds, None, None)

    def part(self, number: int) -> _Owned:
        """Return the edges and weights of a part."""
        assert self._edges is not None
        assert self._u is not None
        first, stop = self.bounds[number : number + 2]
        edges = OwnedEdges.of(self._edges, first, stop, among_all=self._takes_all(number))
        always = np.zeros(self.bounds[-1], dtype=bool)
        always[first:stop] = True
        always[edges.halo] = True
        return _Owned(edges, self._u[first:stop].copy(), _words(always))

    def rounds(self, first: int, last: int) -> Sequence[Mapping[int, Sequence[tuple[int, str]]]]:
        """Ask; answer; and then an epoch in each round."""
        parts = range(self.n_parts)
        others = {part: [(other, f"to {part}") for other in self._others(part)] for part in parts}
        return [dict.fromkeys(parts, ()), others, *[others] * (last - first)]

    def step(self, held: _Owned, state: SampledPart, read: Sequence[Any], run: RoundOf) -> Sent:
        """Ask, answer, or move the own rows by one epoch.

        Within a run the state is in the scratch of the part. The places of two epochs are kept there: those of the
        epoch before the last have been read by all who were sent them, for they have sent what came of them.
        """
        own = self.bounds.index(held.edges.first)
        others = self._others(own)
        epoch = run.first + run.number - 2  # the one that is run, if any
        if run.number == 0:
            moments: dict[str, Any] = {name: held.scratch.copy(name, getattr(state, name)) for name in _MOMENTS}
            state = replace(state, known=self._wanted(held, own, run.first), **moments)
            return self._sent(state, others, [self._of(state.known, part) for part in others])
        if run.number == 1:
            wishes = read
        else:
            wishes = [wish for _, wish in read]
            state = self._moved(held, state, [places for places, _ in read], epoch)
        if epoch + 1 == run.last:
            left: dict[str, Any] = {name: getattr(state, name).copy() for name in ("embedding", *_MOMENTS)}
            return Sent(replace(state, known=None, after=None, **left))
        after = self._wanted(held, own, epoch + 2) if epoch + 2 < run.last else None
        answers = [
            (self._places(state.embedding, wish, part), self._of(after, part))
            for part, wish in zip(others, wishes, strict=True)
        ]
        return self._sent(replace(state, after=after), others, answers)

    def _moved(self, held: _Owned, state: SampledPart, places: list[Points], epoch: int) -> SampledPart:
        """Return the state after an epoch, for which the other parts sent these places."""
        spec, kernel = self.spec, compile_kernel(self.spec.kernel)
        assert kernel is not None
        n_rows, d = state.embedding.shape
        here = held.scratch.take("here", n_rows + sum(map(len, places)), d)
        np.concatenate([state.embedding, *places], out=here)
        Y = held.scratch.take(f"embedding {epoch % 2}", n_rows, d)
        _core.sampled_epoch_of(
            held.edges.first,
            held.edges.graph,
            held.u,
            held.edges.halo,
            kernel,
            spec.sampling,
            _core.SampledSchedule(spec.learning_rate, spec.max_epochs, spec.isotropic, spec.quadratic),
            epoch,
            self.bounds[-1],
            held.always if state.known is None else state.known,
            here,
            Y,
            state.first_moment,
            state.second_moment,
            current_run().n_threads,
        )
        return replace(state, embedding=Y, known=state.after)

    def _others(self, part: int) -> list[int]:
        """Return the other parts in the order in which their places are taken: those after it, and those before it."""
        return [*range(part + 1, self.n_parts), *range(part)]

    def _takes_all(self, part: int) -> bool:
        """Say whether a part draws so many rows that it takes the places of all."""
        first, stop = self.bounds[part : part + 2]
        n_draws = self.spec.sampling.n_draws * math.ceil((stop - first) / _SHARING)
        return -math.expm1(-n_draws / self.bounds[-1]) > _MOST

    def _wanted(self, held: _Owned, own: int, epoch: int) -> Words | None:
        """Return the rows whose places a part takes in an epoch: its own, its halo, those it draws; None for all."""
        if self._takes_all(own):
            return None
        words = held.always.copy()
        first, stop, n = held.edges.first, held.edges.stop, self.bounds[-1]
        _core.mark_draws(self.spec.sampling, epoch, first, stop, n, words, current_run().n_threads)
        return words

    def _places(self, Y: Points, wish: Words | None, part: int) -> Points:
        """Return the own places that another part takes."""
        if self._takes_all(part):
            return Y
        assert wish is not None
        return _core.take_marked(wish, Y, current_run().n_threads)

    def _of(self, words: Words | None, part: int) -> Words | None:
        """Return the bits of the rows of a part, if any are asked for."""
        return None if words is None else words[self.bounds[part] // ROWS : -(-self.bounds[part + 1] // ROWS)].copy()

    def _sent(self, state: SampledPart, others: list[int], messages: list[Any]) -> Sent:
        """Name the messages and count their bytes."""
        arrays = [one for message in messages for one in (message if isinstance(message, tuple) else (message,))]
        n_bytes = state.n_bytes + sum(one.nbytes for one in arrays if one is not None)
        return Sent(
            replace(state, n_bytes=n_bytes), {f"to {part}": one for part, one in zip(others, messages, strict=True)}
        )


def _words(marked: npt.NDArray[np.bool_]) -> Words:
    """Return a set of rows as the kernels take it: bit i % 64 of word i // 64 for row i."""
    packed = np.zeros(8 * -(-len(marked) // ROWS), dtype=np.uint8)
    packed[: -(-len(marked) // 8)] = np.packbits(marked, bitorder="little")
    return packed.view("<u8").astype(np.uint64)
