"""Descent with sampled repulsion: the optimizer of UMAP."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeGuard

import numpy as np
import numpy.typing as npt

from gnomon import _core, scale
from gnomon._arithmetic import exp, log
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import SEED, Boolean, Either, Integer, Options, Real, Rule, check_parameters, message
from gnomon.objectives.added import AddedTerms, added_terms
from gnomon.objectives.pairs import Edges
from gnomon.objectives.terms import Draws
from gnomon.optimizers.base import Optimizer, Step, Valued
from gnomon.optimizers.state import IN_PROCESS, Points, State

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel
    from gnomon.optimizers.partitioned import PartsRun

__all__ = [
    "FLAT_DRAWS",
    "CompiledEpochs",
    "SampledDescent",
    "SampledObjective",
    "SampledState",
    "flat_epochs",
    "flat_steps",
    "usual_epochs",
]

_RULES: dict[str, Rule] = {
    "max_iter": Either(Options("auto"), Integer(low=0)),
    "learning_rate": Real(low=0.0, low_open=True),
    "decay": Options("linear", "quadratic"),
    "early_exaggeration": Either(Options("auto"), Real(low=1.0)),
    "isotropic": Boolean(),
    "block": Integer(low=1),
    "track_loss": Boolean(),
    "n_draws": Integer(low=1),
    "seed": SEED,
}
_DECAY1, _DECAY2, _TINY = 0.5, 0.9, 1e-7  # memories of Adam, as in sampled_descent.cpp
FLAT_DRAWS = 32  # points drawn for each point of UMAP's maps in flat space in an epoch
_MANY = 400  # epochs from which large steps, which sort the groups, leave time for small ones
_ON_A_LINE = 30.0  # early exaggeration of maps of one component
_EARLY = 0.3  # share of the epochs in which it falls to 1
_SMALL = 10_000  # points up to which "auto" runs 500 epochs, as in umap-learn


def usual_epochs(n_samples: int) -> int:
    """Return the number of epochs that "auto" stands for."""
    return 500 if n_samples <= _SMALL else 200


def flat_epochs(n_samples: int) -> int:
    """Return the number of epochs of UMAP's maps in flat space, which None stands for.

    With those of umap-learn, 200 above 10,000 points, maps of 70,000 pictures keep 1.5 % more of the loss than its own.
    """
    return max(usual_epochs(n_samples), 300)


def flat_steps(n_epochs: int) -> dict[str, Any]:
    """Return learning rate and decay of UMAP's maps in flat space, which "auto" stands for."""
    if n_epochs < _MANY:
        return {"learning_rate": 2.0, "decay": "linear"}
    return {"learning_rate": 4.0, "decay": "quadratic"}


class SampledObjective(Valued, Protocol):
    """An objective whose force can be estimated from a few pairs: any `PairObjective`."""

    @property
    def largest_pair(self) -> float:
        """The unit of its forces, about the largest weight of a pair."""
        ...

    def sampled_force(self, Y: Points, draws: Draws) -> Points:
        """Return an unbiased estimate of minus the gradient, or raise ValueError if there is none."""
        ...


class CompiledEpochs(SampledObjective, Protocol):
    """An objective whose epochs compiled code runs, such as `CrossEntropy` with a compiled kernel."""

    @property
    def has_compiled_epochs(self) -> bool:
        """Whether it does."""
        ...

    @property
    def edges(self) -> Edges:
        """The affinities."""
        ...

    @property
    def sampling_weights(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights of the points pushed and of the points drawn; no weights count as 1."""
        ...

    @property
    def zoom(self) -> npt.NDArray[np.float32] | None:
        """Roots of the inverse units of length of the points; None for 1."""
        ...

    @property
    def kernel(self) -> OutputKernel:
        """The output kernel."""
        ...

    @property
    def compiled_kernel(self) -> _core.OutputKernel:
        """Its compiled form."""
        ...

    @property
    def sampling(self) -> _core.SamplingParameters:
        """How an epoch is sampled."""
        ...

    def sampling_at(self, exaggeration: float) -> _core.SamplingParameters:
        """Return the same where attractions count so many times as much against the repulsions."""
        ...

    @property
    def added(self) -> AddedTerms:
        """Further terms, whose forces join those of each epoch."""
        ...

    def unsampled_force(self, Y: Points) -> Points | None:
        """Return the force of all pairs and the acting terms; None where that would take too long."""
        ...


@dataclass(kw_only=True)
class SampledState(State):
    """Where a sampled descent stands; its iterations are epochs.

    Attributes
    ----------
    first_moment, second_moment : ndarray of shape (n_samples, n_components), float32
        Adam's averages of the force and of its square.
    """

    first_moment: Points
    second_moment: Points


class SampledDescent(Optimizer[SampledState, SampledObjective]):
    """Descend by epochs in which each point feels its edges and some points drawn at random.

    Any loss that is a sum over pairs can be sampled: edges, all pairs, pairs with targets, of any law and kernel, those
    of one's own included. Of the losses by name these are "cross_entropy", "stated_cross_entropy", "frobenius" unless
    centred, "linear_attraction" and "reconstruction". "kl" and "conditional_kl" cannot: the logarithm of a sum over all
    pairs has no unbiased estimate from a few of them; nor can centred similarities and ordinal stress, in which pairs
    depend on whole rows, or on all others; "info_nce" draws for itself, with any other optimizer.

    An edge that umap-learn would visit in a share of the epochs is felt in every epoch with that share as its weight,
    and the draws are weighted to the same mean, so an epoch has umap-learn's mean force with less noise. Where edges
    are compiled, a point of more than sixteen feels a whole multiple of sixteen in each epoch: up to fifteen take
    turns with as many others and then count twice. All points move at once, from the positions of the last epoch, by
    Adam with short memories (0.5, 0.9) [2]_: plain steps of this size, all at once, would overshoot. Random draws
    depend on seed, epoch and point alone. Forces of added terms join those of the edges before the step, so the balance
    of the two is that of the loss.

    Terms that are `unsampled` act in epochs without a sample: there each point feels all others, by the tree, and no
    force is cut, so that the descent ends at an optimum of the loss as stated. A map of more than three
    components has no tree and is sampled to the end.

    In one dimension points that repel cannot pass each other: a map that begins with all of its repulsion stays as
    knotted as the start. So the repulsion of such maps grows in the first three tenths of the epochs
    (`early_exaggeration`), while points still pass through each other.

    `CrossEntropy` says itself what it draws and how strongly that repels, and cuts each component of a pair's force to
    4. Of other losses the mean force of an epoch is minus the gradient of the loss as stated, nothing is cut, and the
    partners of a point that has targets are drawn half at random, half in proportion to the targets.

    Parameters
    ----------
    max_iter : "auto" or int >= 0, default="auto"
        Epochs; "auto" is 500 up to 10000 points, else 200.
    learning_rate : float > 0, default=1.0
        Step of the first epoch, in units of the embedding; falls to 0.
    decay : {"linear", "quadratic"}, default="linear"
        How: in proportion to the epochs left or to their square. Quadratic, a larger first step lets groups pass each
        other and the noise of the draws still has the epochs to die out.
    early_exaggeration : "auto" or float >= 1, default="auto"
        How many times as much attractions count against the repulsions at first, where epochs are compiled; other
        losses are not affected. It falls to 1 by equal factors over the first three tenths of the epochs, and at once
        where terms that are `unsampled` begin to act. "auto" is 30 for maps of one component and 1 for others.
    isotropic : bool, default=False
        Whether no axis of the map is preferred, so that rotating the start rotates the result, up to rounding: Adam's
        average of squares is the mean over a point's components, and the limit of a pair's force bounds its length.
        Otherwise both are each component's own, as in umap-learn and uwot.
    block : int >= 1, default=10
        Epochs between reports.
    track_loss : bool, default=False
        Evaluate the loss after each block: all pairs of points, which takes longer than the epochs from a few thousand
        points on.
    n_draws : int >= 1, default=16
        Points drawn for each point in an epoch; not for `CrossEntropy`, which has its own number.
    seed : int in [0, 2**63), default=0
        Decides the draws, likewise.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018.
    .. [2] Melville, "uwot: the uniform manifold approximation and projection method in R" (batch mode).
    """

    unit = "epoch"
    evaluation = "sampled"
    dtypes = (np.float32,)
    state_type: ClassVar[type[State]] = SampledState
    moves_points_alone = True
    has_schedule = True
    parts: PartsRun | None = None  # who does the epochs, where not this process

    @entrance("SampledDescent")
    def __init__(
        self,
        max_iter: int | Literal["auto"] = "auto",
        *,
        learning_rate: float = 1.0,
        decay: str = "linear",
        early_exaggeration: float | Literal["auto"] = "auto",
        isotropic: bool = False,
        block: int = 10,
        track_loss: bool = False,
        n_draws: int = 16,
        seed: int = 0,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        self.max_iter: int | str = checked["max_iter"]
        self.learning_rate: float = checked["learning_rate"]
        self.decay: str = checked["decay"]
        self.early_exaggeration: float | str = checked["early_exaggeration"]
        self.isotropic: bool = checked["isotropic"]
        self.block: int = checked["block"]
        self.track_loss: bool = checked["track_loss"]
        self.n_draws: int = checked["n_draws"]
        self.seed: int = checked["seed"]

    def resolve_max_iter(self, n_samples: int) -> int:
        """Return the number of epochs for n_samples points."""
        return usual_epochs(n_samples) if self.max_iter == "auto" else int(self.max_iter)

    def resolve_early_exaggeration(self, n_components: int) -> float:
        """Return the exaggeration of the first epoch of a map of n_components dimensions."""
        if self.early_exaggeration == "auto":
            return _ON_A_LINE if n_components == 1 else 1.0
        return float(self.early_exaggeration)

    @entrance("SampledDescent")
    def start(self, objective: SampledObjective, Y: Points) -> SampledState:
        """Begin without a memory, on an objective that can be sampled."""
        if not hasattr(objective, "sampled_force"):
            what, rule = f"objective={type(objective).__name__}", "a sum over pairs that can be sampled"
            raise ValueError(message(what, rule, remedy="Use a PairObjective, or another optimizer."))
        return SampledState(embedding=Y, first_moment=np.zeros_like(Y), second_moment=np.zeros_like(Y))

    def in_parts(self, objective: SampledObjective, n_components: int) -> tuple[Self, str]:
        """Return this optimizer with its epochs done by the executor of the run; the bytes are the same."""
        reason = _why_whole(objective)
        if not reason and self.resolve_early_exaggeration(n_components) > 1.0:
            reason = "the repulsion grows at first"
        if reason or not _is_compiled(objective):
            return self, f"{IN_PROCESS}: {reason}"
        from gnomon.optimizers.partitioned import PartsRun, SampledPart, SampledParts, SampledSpec, part_bounds

        executor, twin = scale.current_executor(), copy(self)
        u, _ = objective.sampling_weights
        max_iter = max(self.resolve_max_iter(objective.n_samples), 1)
        spec = SampledSpec(
            objective.kernel,
            objective.sampling,
            self.learning_rate,
            max_iter,
            self.isotropic,
            self.decay == "quadratic",
        )
        bounds = part_bounds(objective.n_samples, executor.n_workers)
        work, arrays = SampledParts(spec, bounds, objective.edges, u), ("embedding", "first_moment", "second_moment")
        twin.parts = PartsRun(work, bounds, executor, SampledPart, arrays)
        twin.takes_blocks = True
        return twin, f"in {len(bounds) - 1} parts by {type(executor).__name__}"

    def costs(self, objective: SampledObjective, state: SampledState) -> Sequence[tuple[int, float]]:
        """Return what epochs cost relative to the first: more where added terms act."""
        return added_terms(objective).costs(self.resolve_max_iter(objective.n_samples))

    def does_blocks_of(self, objective: SampledObjective) -> bool:
        """Say so where compiled epochs take their samples themselves and nothing else changes."""
        return self.takes_blocks or bool(getattr(objective, "takes_samples_alone", False))

    def stage(self, iteration: int) -> str:
        """Return "epochs"."""
        return "epochs"

    def step(self, objective: SampledObjective, state: SampledState, limit: int) -> Step:
        """Run all epochs to `limit` at once, or one if they are not compiled, terms were added or exaggeration falls.

        Forces of added terms are those of one epoch.
        """
        if self.parts is not None:
            self.parts.advance(state, limit)
            return Step()
        max_iter = max(self.resolve_max_iter(objective.n_samples), 1)
        if not _is_compiled(objective):
            draws = Draws(objective.n_samples, self.n_draws, self.seed, state.iteration)
            force = objective.sampled_force(state.embedding, draws)
            self._move(state, np.float32(1.0 / objective.largest_pair) * force, max_iter)
            return Step()
        schedule = _core.SampledSchedule(self.learning_rate, max_iter, self.isotropic, self.decay == "quadratic")
        added, end = np.empty((0, state.embedding.shape[1]), dtype=np.float32), limit
        sampling, exaggeration = objective.sampling, self._exaggeration(state, max_iter)
        if exaggeration > 1.0:
            sampling, end = objective.sampling_at(exaggeration), state.iteration + 1
        if objective.added.acting:
            end = state.iteration + 1
            whole = objective.unsampled_force(state.embedding) if objective.added.unsampled else None
            if whole is not None:
                self._move(state, np.float32(objective.sampling.edge_scale) * whole, max_iter, objective.zoom)
                return Step()
            added = objective.added.force(state.embedding, objective.sampling.edge_scale)
        _core.sampled_epochs(
            objective.edges.graph,
            *objective.sampling_weights,
            objective.compiled_kernel,
            sampling,
            schedule,
            state.iteration,
            end,
            state.embedding,
            state.first_moment,
            state.second_moment,
            added,
            current_run().n_threads,
            objective.zoom,
        )
        state.iteration = end
        return Step()

    def _exaggeration(self, state: SampledState, max_iter: int) -> float:
        """Return how many times as much attractions count in the epoch to come."""
        left = 1.0 - state.iteration / (_EARLY * max_iter)
        at_first = self.resolve_early_exaggeration(state.embedding.shape[1])
        return float(exp(left * log(at_first))) if left > 0.0 and at_first > 1.0 else 1.0

    def _move(
        self, state: SampledState, force: Points, max_iter: int, zoom: npt.NDArray[np.float32] | None = None
    ) -> None:
        """Move all points along a force, as a sampled epoch would."""
        t, unit = state.iteration, np.float32(1.0) if zoom is None else 1.0 / np.square(zoom)[:, None]
        force = unit * force
        rate = self.learning_rate * (1.0 - t / max_iter) ** (2 if self.decay == "quadratic" else 1)
        rate *= math.sqrt(1.0 - _DECAY2 ** (t + 1)) / (1.0 - _DECAY1 ** (t + 1))
        squares = np.square(force)
        if self.isotropic:
            squares = np.broadcast_to(squares.mean(axis=1, keepdims=True), squares.shape)
        state.first_moment += np.float32(1.0 - _DECAY1) * (force - state.first_moment)
        state.second_moment += np.float32(1.0 - _DECAY2) * (squares - state.second_moment)
        move = np.float32(rate) * state.first_moment / (np.sqrt(state.second_moment) + np.float32(_TINY))
        state.embedding += unit * move
        state.iteration = t + 1

    def divergence(self, objective: SampledObjective, state: SampledState) -> tuple[str, str]:
        """Return the learning rate and what to do."""
        return f"learning_rate={self.learning_rate:g}", "Lower learning_rate, or check the initial embedding."


def _is_compiled(objective: Any) -> TypeGuard[CompiledEpochs]:
    return bool(getattr(objective, "has_compiled_epochs", False))


def _why_whole(objective: Any) -> str:
    """Return why the epochs of an objective are not done in parts; empty if they are."""
    if not _is_compiled(objective):
        return f"the epochs of {type(objective).__name__} are not compiled"
    if objective.zoom is not None:
        return "points have units of their own"
    if objective.added.terms:
        return f"{type(objective.added.terms[0]).__name__} is a term of the whole map"
    if len(objective.sampling_weights[1]):
        return "points are drawn with unequal weights"
    return ""
