"""Gradient descent in parts: attraction by the halo's places, repulsion through one mesh, or two, for all.

An iteration takes four rounds. Each part spreads its charges on the mesh of the whole map and sends places to the parts
whose halo they are in; one part adds the meshes in the order of the parts and convolves; each part reads its forces
from the potential, and its part of the normaliser; each moves its rows, and says how far they reach. Without a
normaliser, as of UMAP, whose points have charges of two kinds with a mesh each, the last two are one. A mesh does not
grow with the number of rows. Sums over parts are rounded by part, so the number of parts is a function of the number
of rows alone: results do not depend on who works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon.objectives.pairs import Edges, compile_kernel
from gnomon.objectives.terms import edge_force
from gnomon.optimizers.partitioned.parts import OwnedEdges, Scratch
from gnomon.scale import RoundOf, RoundsWork, Sent, Source

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["MeshPart", "MeshParts", "MeshSpec", "Phase", "n_mesh_parts"]

Points = npt.NDArray[np.float32]
Charges = tuple[npt.NDArray[np.float32], ...]

_FEWEST, _ROWS = 8, 1 << 20  # parts, and rows of one where there are more
_LARGEST = 1e18  # coordinate that a mesh takes, as in particle_mesh.cpp
_ARRAYS = ("embedding", "velocity", "gains")


def n_mesh_parts(n_samples: int) -> int:
    """Return in how many parts a map of so many rows is laid out: 8, or one for each 1,048,576 rows."""
    return max(_FEWEST, -(-n_samples // _ROWS))


class Phase(NamedTuple):
    """What an iteration of a descent is like.

    Attributes
    ----------
    exaggeration : float
        Factor of the attraction.
    learning_rate, momentum : float
    coarsening : float
        Factor of the mesh's spacing.
    """

    exaggeration: float
    learning_rate: float
    momentum: float
    coarsening: float


@dataclass(frozen=True)
class MeshSpec:
    """What the iterations are like; see `gnomon.optimizers.GradientDescent` and `gnomon.objectives.terms.AllPairs`.

    Attributes
    ----------
    kernel : OutputKernel
        With a compiled form.
    law : str
        Of the repulsion.
    spacing : float
        Of the mesh, relative.
    scale, strength : float
        Of the sum over edges and of that over all pairs.
    normalized : bool
        Whether the latter is the logarithm of a sum.
    phases : tuple of Phase
        Early exaggeration, each iteration after it while it falls, what comes then, and the end.
    early_iter : int
        Iterations of the first; velocity and gains start afresh after them.
    settles_from : int
        Iteration with which the end begins.
    max_step_norm : float
        0 for no limit.
    gains, centered : bool
    """

    kernel: OutputKernel
    law: str
    spacing: float
    scale: float
    strength: float
    normalized: bool
    phases: tuple[Phase, ...]
    early_iter: int
    settles_from: int
    max_step_norm: float
    gains: bool
    centered: bool

    def phase(self, iteration: int) -> Phase:
        """Return what an iteration is like."""
        if iteration >= self.settles_from:
            return self.phases[-1]
        return self.phases[min(max(iteration - self.early_iter + 1, 0), len(self.phases) - 2)]


class _Reach(NamedTuple):
    """What the parts say of themselves after they moved, and its sum over them.

    Attributes
    ----------
    sums : ndarray of shape (n_components + 2,), float64
        Sums of the coordinates, of the squares of the gradient and of those of the step.
    extent : ndarray of shape (2, n_components), float32
        Least and largest coordinates.
    """

    sums: npt.NDArray[np.float64]
    extent: Points

    @classmethod
    def of(cls, Y: Points, scratch: Scratch, norms: tuple[float, float] = (0.0, 0.0)) -> _Reach:
        columns = scratch.copy("columns", Y.T)  # sums along memory, which are vectorised
        sums = np.append(columns.sum(axis=1, dtype=np.float64), np.square(norms))
        return cls(sums, np.stack([columns.min(axis=1), columns.max(axis=1)]))

    @classmethod
    def joined(cls, parts: Sequence[_Reach]) -> _Reach:
        sums = parts[0].sums.copy()
        for part in parts[1:]:
            sums += part.sums
        low, high = (np.stack([part.extent[end] for part in parts]) for end in (0, 1))
        return cls(sums, np.stack([low.min(axis=0), high.max(axis=0)]))


@dataclass(frozen=True)
class MeshPart:
    """Where a part stands.

    Attributes
    ----------
    embedding, velocity, gains : ndarray of shape (n_rows, n_components), float32
    gradient_norm, largest_gradient_norm, step_norm : float
        Of the whole map, as in `gnomon.optimizers.State`.
    extent, places, repulsion : ndarray or None
        Within an iteration: the extent of the whole map, the own places and those of the halo, the forces read from
        the mesh.
    n_bytes : int
        Of the messages sent so far.
    """

    embedding: Points
    velocity: Points
    gains: Points
    gradient_norm: float
    largest_gradient_norm: float
    step_norm: float = 0.0
    extent: Points | None = None
    places: Points | None = None
    repulsion: Points | None = None
    n_bytes: int = 0


@dataclass(frozen=True)
class _Owned:
    """The edges of a part, and which of its rows are in the halo of each other part, by their own places.

    `charges` are those of the rows, of no kind, one or two, and `totals` their sums over the whole map. `pull` is what
    the gradients at the rows are divided by, if they are.

    The part that convolves, the first, sends its places with the potential: they are read with it.
    """

    number: int
    edges: OwnedEdges
    wanted: dict[int, npt.NDArray[np.int64]]
    charges: Charges
    totals: tuple[float, float]
    pull: Points | None
    spec: MeshSpec
    scratch: Scratch = field(default_factory=Scratch)
    meshes: dict[float, _core.ParticleMesh] = field(default_factory=dict)

    def mesh(self, phase: Phase) -> _core.ParticleMesh:
        """Return the mesh of a phase, which remembers the transform of its kernel."""
        spacing = phase.coarsening * self.spec.spacing
        if spacing not in self.meshes:
            kernel = compile_kernel(self.spec.kernel)
            assert kernel is not None
            self.meshes[spacing] = _core.ParticleMesh(kernel, spacing, self.spec.law)
        return self.meshes[spacing]

    @property
    def kinds(self) -> tuple[Points, Points | None]:
        """The charges as a mesh takes them: of the first kind, empty for 1, and of the second, if any."""
        first, second = (*self.charges, None, None)[:2]
        return np.empty(0, dtype=np.float32) if first is None else first, second

    def places_for_others(self, state: MeshPart) -> dict[str, Points]:
        """Return messages with the places that other parts need: they have read those of the iteration before."""
        messages = {}
        for other, rows in self.wanted.items():
            to = messages[f"to {other}"] = self.scratch.take(f"to {other}", len(rows), state.embedding.shape[1])
            np.take(state.embedding, rows, axis=0, out=to, mode="clip")  # which writes there at once
        return messages

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "meshes": {}}


class MeshParts(RoundsWork):
    """The descent of all parts.

    Parameters
    ----------
    spec : MeshSpec
    bounds : list of int
        From `part_bounds`.
    edges : Edges or None
        Of the whole map; None on a worker.
    charges : tuple of ndarray of shape (n_samples,), default=()
        Of the points, none, one kind or two, as `AllPairs.charges`.
    pull : ndarray of shape (n_samples,) or None, default=None
        What the gradients are divided by.
    """

    def __init__(
        self,
        spec: MeshSpec,
        bounds: list[int],
        edges: Edges | None,
        charges: Charges = (),
        pull: Points | None = None,
    ) -> None:
        self.spec, self.bounds, self.n_parts = spec, bounds, len(bounds) - 1
        self._edges, self._charges, self._pull = edges, charges, pull

    @property
    def on_worker(self) -> MeshParts:
        """The same without the edges."""
        return MeshParts(self.spec, self.bounds, None)

    @cached_property
    def _owned(self) -> list[OwnedEdges]:
        assert self._edges is not None
        return [OwnedEdges.of(self._edges, *self.bounds[part : part + 2]) for part in range(self.n_parts)]

    def part(self, number: int) -> _Owned:
        """Return the edges of a part, and what it sends to others."""
        first, stop = self.bounds[number : number + 2]
        wanted = {
            other: halo[(halo >= first) & (halo < stop)].astype(np.int64) - first
            for other, halo in enumerate(edges.halo for edges in self._owned)
            if other != number
        }
        charges = tuple(one[first:stop].copy() for one in self._charges)
        pull = None if self._pull is None else self._pull[first:stop].copy()
        return _Owned(number, self._owned[number], wanted, charges, self._totals, pull, self.spec)

    @cached_property
    def _totals(self) -> tuple[float, float]:
        """The sums of the charges of each kind, of one that is not told apart the number of points."""
        sums = [float(one.sum(dtype=np.float64)) for one in self._charges] or [float(self.bounds[-1])]
        first, second = (*sums, 0.0)[:2]
        return first, second

    @property
    def _turns(self) -> int:
        """Rounds of an iteration."""
        return 4 if self.spec.normalized else 3

    def rounds(self, first: int, last: int) -> Sequence[Mapping[int, Sequence[Source]]]:
        """Say how far the parts reach; spread, convolve, read and move in each iteration; center the last move."""
        parts = range(self.n_parts)
        reach: Mapping[int, Sequence[Source]] = {reader: [(part, "reach") for part in parts] for reader in parts}
        convolve: Mapping[int, Sequence[Source]] = {0: [(part, "charges") for part in parts]}
        read: Mapping[int, Sequence[Source]] = {
            part: [(0, "potential"), *((other, f"to {part}") for other in [*parts[part + 1 :], *parts[:part]])]
            for part in parts
        }
        move: Mapping[int, Sequence[Source]] = {reader: [(part, "total") for part in parts] for reader in parts}
        turns = [reach, convolve, read, move][: self._turns]
        return [dict.fromkeys(parts, ()), *(turns * (last - first)), reach]

    def step(self, held: _Owned, state: MeshPart, read: Sequence[Any], run: RoundOf) -> Sent:
        """Do what the round is for; within a run the state is in the scratch of the part."""
        if run.number == 0:
            arrays: dict[str, Any] = {name: held.scratch.copy(name, getattr(state, name)) for name in _ARRAYS}
            state = replace(state, **arrays)
            return Sent(state, {"reach": _Reach.of(state.embedding, held.scratch)})
        iteration, turn = divmod(run.number - 1, self._turns)
        iteration += run.first
        if turn == 0:
            state = self._centered(state, _Reach.joined(read), moved=iteration > run.first)
            if iteration < run.last:
                return self._spread(held, state, iteration)
            left: dict[str, Any] = {name: getattr(state, name).copy() for name in _ARRAYS}
            return Sent(replace(state, extent=None, **left))
        if turn == 1:
            return self._convolved(held, state, read, iteration)
        if turn == 2:
            state, total = self._read(held, state, read, iteration)
            return Sent(state, {"total": total}) if self.spec.normalized else self._moved(held, state, 1.0, iteration)
        return self._moved(held, state, float(sum(read)), iteration)

    def _centered(self, state: MeshPart, reach: _Reach, *, moved: bool) -> MeshPart:
        """Move the mean to the origin after a step; the extent moves along."""
        state = replace(state, extent=reach.extent)
        if not moved:
            return state
        norm, step_norm = np.sqrt(reach.sums[-2:])
        largest = max(state.largest_gradient_norm, float(norm))
        state = replace(state, gradient_norm=float(norm), largest_gradient_norm=largest, step_norm=float(step_norm))
        if not self.spec.centered:
            return state
        mean = (reach.sums[:-2] / self.bounds[-1]).astype(np.float32)
        state.embedding[...] -= mean
        return replace(state, extent=reach.extent - mean)

    def _spread(self, held: _Owned, state: MeshPart, iteration: int) -> Sent:
        assert state.extent is not None
        messages = held.places_for_others(state) if held.number else {}
        messages["charges"] = np.empty((0, 0), np.float32)
        if np.all(np.abs(state.extent) < _LARGEST):
            mesh, (charges, others) = held.mesh(self.spec.phase(iteration)), held.kinds
            threads = current_run().n_threads
            messages["charges"] = mesh.charges(state.embedding, state.extent, charges, threads, others)
        return _counted(state, messages)

    def _convolved(self, held: _Owned, state: MeshPart, read: Sequence[Points], iteration: int) -> Sent:
        """Add up the charges in the order of the parts."""
        total = read[0].copy()
        for one in read[1:]:
            total += one
        if total.size:
            assert state.extent is not None
            total = held.mesh(self.spec.phase(iteration)).potential(total, state.extent, current_run().n_threads)
        return _counted(state, {"potential": total, **held.places_for_others(state)})

    def _read(self, held: _Owned, state: MeshPart, read: Sequence[Any], iteration: int) -> tuple[MeshPart, float]:
        """Return the state with the forces of the mesh, and the part of the sum over all pairs."""
        Y, potential = state.embedding, read[0]
        places = held.scratch.take("places", len(Y) + sum(map(len, read[1:])), Y.shape[1])
        np.concatenate([Y, *read[1:]], out=places)
        if potential.size:
            assert state.extent is not None
            mesh, (charges, others) = held.mesh(self.spec.phase(iteration)), held.kinds
            threads = current_run().n_threads
            force, total = mesh.forces(Y, state.extent, potential, held.totals, charges, threads, others)
        else:
            force, total = np.full_like(Y, np.nan), float("nan")
        return replace(state, places=places, repulsion=force), total

    def _moved(self, held: _Owned, state: MeshPart, total: float, iteration: int) -> Sent:
        """Return the state after a step, before it is centered; total: the normaliser."""
        spec, phase, threads = self.spec, self.spec.phase(iteration), current_run().n_threads
        Y, velocity, gains = state.embedding, state.velocity, state.gains
        if iteration == spec.early_iter:
            velocity.fill(0.0)
            gains.fill(1.0)
        gradient = self._gradient(held, state, total, phase.exaggeration)
        parameters = _core.MomentumParameters(
            phase.learning_rate, phase.momentum, spec.max_step_norm, spec.gains, False
        )
        norms = _core.momentum_step(Y, gradient, velocity, gains, parameters, threads, held.pull)
        return Sent(replace(state, places=None, repulsion=None), {"reach": _Reach.of(Y, held.scratch, norms)})

    def _gradient(self, held: _Owned, state: MeshPart, total: float, exaggeration: float) -> Points:
        """Return the gradient at the own rows, in the order of sums of `PairObjective.gradient`."""
        assert state.repulsion is not None
        assert state.places is not None
        kernel, force = compile_kernel(self.spec.kernel), state.repulsion
        assert kernel is not None
        with np.errstate(all="ignore"):
            force *= np.float32(4.0 * self.spec.strength / total if total else 0.0)
        if exaggeration != 1.0:
            force *= np.float32(1.0 / exaggeration)
        force = edge_force(held.edges.graph, state.places, kernel, "log", self.spec.scale, force)
        force *= np.float32(-exaggeration)
        return force


def _counted(state: MeshPart, messages: dict[str, Any]) -> Sent:
    """Count the bytes of messages, each once."""
    return Sent(replace(state, n_bytes=state.n_bytes + sum(one.nbytes for one in messages.values())), messages)
