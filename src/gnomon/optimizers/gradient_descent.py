"""Gradient descent with momentum: with gains as t-SNE began, or with the steps of a preconditioner, as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Real, Rule, check_parameters
from gnomon.objectives import CrossEntropy, KLDivergence, Objective, SharedLoss, added_terms
from gnomon.objectives.base import check_gradient
from gnomon.objectives.terms import AllPairs, EdgePairs
from gnomon.objectives.terms.base import named
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.growth import GrowingMesh
from gnomon.optimizers.loop import can_exaggerate, coarsened, exaggerated
from gnomon.optimizers.partitioned import MeshPart, MeshParts, MeshSpec, PartsRun, Phase, n_mesh_parts, part_bounds
from gnomon.optimizers.state import IN_PROCESS, Points, State, Stopping
from gnomon.scale import current_executor

__all__ = ["DescentState", "GradientDescent"]

_ANNEALED: dict[str, Any] = {
    "early_momentum": 0.95,
    "momentum": "auto",
    "gains": False,
    "preconditioned": True,
    "max_iter": 250,
    "early_exaggeration_iter": 50,
    "annealing_iter": 100,
    "settling_iter": 25,
    "coarsening": 2.0,
}
_WITH_ADDED = 0.5  # of the learning rate where added terms may be stiffer than the attractions
_SLOWEST, _POINTS = 0.01, 10.0  # of "auto": 1 - momentum, or so many over the number of points
_LEAST_RATE = 50.0  # without a preconditioner: few points are slow to unfold
_SETTLING = 0.8  # momentum of the last iterations
_POSITIVE = Real(low=0.0, low_open=True)
_RULES: dict[str, Rule] = {
    "learning_rate": Either(Options("auto"), _POSITIVE),
    "early_momentum": Real(low=0.0, high=1.0, high_open=True),
    "momentum": Either(Options("auto"), Real(low=0.0, high=1.0, high_open=True)),
    "gains": Boolean(),
    "max_iter": Integer(low=0),
    "early_exaggeration": _POSITIVE,
    "early_exaggeration_iter": Integer(low=0),
    "annealing_iter": Integer(low=0),
    "settling_iter": Integer(low=0),
    "coarsening": Real(low=1.0),
    "preconditioned": Boolean(),
    "max_step_norm": Either(Nothing(), _POSITIVE),
    "centered": Boolean(),
    "min_grad_norm": Real(low=0.0),
    "n_iter_without_progress": Integer(low=1),
    "block": Integer(low=1),
}


@dataclass(kw_only=True)
class DescentState(State):
    """Where a descent with momentum stands.

    Attributes
    ----------
    velocity, gains : ndarray of shape (n_samples, n_components)
    step_norm : float
        Norm of the last step.
    """

    velocity: Points
    gains: Points
    step_norm: float = 0.0


class GradientDescent(Optimizer[DescentState, Objective]):
    """Descend the gradient with momentum and a gain for each coordinate (delta-bar-delta), or a preconditioner.

    velocity <- momentum * velocity - learning_rate * gain * gradient; a gain grows by 0.2 while the velocity goes
    downhill, else shrinks to 0.8 of itself, not below 0.01. `GradientDescent.annealed` is t-SNE's descent.

    Parameters
    ----------
    learning_rate : "auto" or float > 0, default="auto"
        Step for the true gradient of the loss. "auto" suits losses whose pull on a point is of order 1 / n_samples:
        max(n_samples / (4 * exaggeration), 50), with the exaggeration of the moment (after the early stage the
        objective's `attraction_weight`, 1 without one); not the 50 where the objective's `stiffness_apart` is above 1,
        as with the Gaussian kernel, of which few points fly apart at that rate.
        openTSNE's learning rates, meant for a gradient without the factor 4, are four times these. An objective may
        say what its pull is, `mean_attraction`, which takes the place of 1 / n_samples. With a preconditioner it is
        n_samples / (e * min(e, 2)) of an exaggeration e: with points close together, as they are while e >= 2, half
        that of e = 1 is the largest that does not oscillate; later they are farther apart, and attract less. Where
        terms are added to the loss that do not say how stiff they are, it is half of that. A number is, with a
        preconditioner, the step at the end, and as much shorter under early exaggeration as that of "auto" is.
    early_momentum : float in [0, 1), default=0.8
        During early exaggeration.
    momentum : float in [0, 1) or "auto", default=0.8
        After it. "auto" is 0.99, less for fewer than 1000 points: 1 - 10 / n_samples, at least 0.8. The fewer the
        points, the sooner they are where they belong, and a map that swings past it comes back slowly.
    gains : bool, default=True
        Adapt a gain for each coordinate.
    max_iter : int >= 0, default=750
        Iterations in all, early exaggeration included.
    early_exaggeration : float > 0, default=12.0
        Factor on the attraction, or on what the objective exaggerates instead, at first; objectives without an
        `exaggeration` are not affected.
    early_exaggeration_iter : int >= 0, default=250
        Iterations it lasts; velocity and gains start afresh when it ends. A max_iter that ends in it, or in
        `annealing_iter`, leaves a map that is not one of the loss: methods warn of it.
    annealing_iter : int >= 0, default=0
        Iterations after them in which the factor falls to 1: what it is more than 1 goes with the fourth power of the
        share of them that is left.
    settling_iter : int >= 0, default=0
        Iterations at the end, after the annealing, in which the momentum is 0.8 at most: points that a stronger one
        keeps swinging come to rest.
    coarsening : float >= 1, default=1.0
        Factor on the spacing of a mesh by which the objective interpolates repulsion, until points settle: what is left
        of the forces is far larger than the errors of a coarse mesh until then. Without `settling_iter` it is 1.
    preconditioned : bool, default=False
        Divide the gradient at each point by the weight of its attractions, relative to their mean, where the objective
        knows it (`pull` of `gnomon.objectives.KLDivergence`): points of many or strong neighbours take shorter steps,
        so that the others can take longer ones. Springs and other added terms that know their `stiffness` count too. It
        is a Jacobi preconditioner; norms of the gradient are those after it.
    max_step_norm : float > 0 or None, default=5.0
        No point moves farther in one iteration.
    centered : bool, default=True
        Move the mean to the origin in each iteration, for losses that do not change when all points move together;
        not where an added term changes, one with `fixes_place`.
    min_grad_norm : float >= 0, default=1e-7
        End when the norm of the gradient is below it (checked after each block, not while exaggeration is early or
        falls).
    n_iter_without_progress : int >= 1, default=300
        End when the loss has not fallen for so many iterations (checked likewise).
    block : int >= 1, default=50
        Iterations between evaluations of the loss, reports and stopping rules.

    References
    ----------
    .. [1] Jacobs, "Increased rates of convergence through learning rate adaptation", Neural Networks 1, 1988.
    .. [2] Belkina et al., "Automated optimized parameters for t-SNE improve visualization and analysis of large
       datasets", Nature Communications 10, 2019 (the learning rate).
    .. [3] Polyak, "Some methods of speeding up the convergence of iteration methods", USSR Computational Mathematics
       and Mathematical Physics 4, 1964 (momentum; with it and no gains, steps are stable up to 2 (1 + momentum) over
       the largest curvature).
    """

    state_type: ClassVar[type[State]] = DescentState
    moves_points_alone = True
    follows_gradient = True
    has_schedule = True
    parts: PartsRun | None = None  # who does the iterations, where not this process

    @entrance("GradientDescent")
    def __init__(
        self,
        learning_rate: float | Literal["auto"] = "auto",
        *,
        early_momentum: float = 0.8,
        momentum: float | Literal["auto"] = 0.8,
        gains: bool = True,
        max_iter: int = 750,
        early_exaggeration: float = 12.0,
        early_exaggeration_iter: int = 250,
        annealing_iter: int = 0,
        settling_iter: int = 0,
        coarsening: float = 1.0,
        preconditioned: bool = False,
        max_step_norm: float | None = 5.0,
        centered: bool = True,
        min_grad_norm: float = 1e-7,
        n_iter_without_progress: int = 300,
        block: int = 50,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        self.learning_rate: float | str = checked["learning_rate"]
        self.early_momentum: float = checked["early_momentum"]
        self.momentum: float | str = checked["momentum"]
        self.gains: bool = checked["gains"]
        self.max_iter: int = checked["max_iter"]
        self.early_exaggeration: float = checked["early_exaggeration"]
        self.early_exaggeration_iter: int = checked["early_exaggeration_iter"]
        self.annealing_iter: int = checked["annealing_iter"]
        self.settling_iter: int = checked["settling_iter"]
        self.coarsening: float = checked["coarsening"]
        self.preconditioned: bool = checked["preconditioned"]
        self.max_step_norm: float | None = checked["max_step_norm"]
        self.centered: bool = checked["centered"]
        self.min_grad_norm: float = checked["min_grad_norm"]
        self.n_iter_without_progress: int = checked["n_iter_without_progress"]
        self.block: int = checked["block"]

    @classmethod
    def annealed(cls, **parameters: Any) -> Self:
        """Return t-SNE's descent: strong momentum, a preconditioner, and exaggeration that falls slowly.

        Parameters
        ----------
        **parameters
            Of `GradientDescent`. Those not given are preconditioned=True, gains=False, early_momentum=0.95,
            momentum="auto", max_iter=250, early_exaggeration_iter=50, annealing_iter=100,
            settling_iter=25 and coarsening=2.

        Returns
        -------
        GradientDescent

        Raises
        ------
        ValueError, TypeError
            As the constructor.
        """
        return cls(**{**_ANNEALED, **parameters})

    def resolve_learning_rate(
        self,
        n_samples: int,
        exaggeration: float = 1.0,
        mean_attraction: float | None = None,
        least: float = _LEAST_RATE,
        usual: float | None = None,
    ) -> float:
        """Return the learning rate used for n_samples points under an exaggeration; `usual` is that of the end."""
        if self.learning_rate != "auto":
            slowing = _slowing(exaggeration) / _slowing(usual or exaggeration) if self.preconditioned else 1.0
            return float(self.learning_rate) / slowing
        if mean_attraction is not None:
            return 1.0 / (4.0 * exaggeration * mean_attraction)
        if self.preconditioned:
            return n_samples / _slowing(exaggeration)
        return max(n_samples / (4.0 * exaggeration), least)

    def resolve_momentum(self, n_samples: int) -> float:
        """Return the momentum used for n_samples points after early exaggeration."""
        if self.momentum != "auto":
            return float(self.momentum)
        return max(1.0 - max(_SLOWEST, _POINTS / max(n_samples, 1)), _SETTLING)

    @property
    def stopping(self) -> Stopping:
        """Rules that look when exaggeration is no longer early."""
        return Stopping(
            min_grad_norm=self.min_grad_norm,
            n_iter_without_progress=self.n_iter_without_progress,
            first=self._last_early,
        )

    def start(self, objective: Objective, Y: Points) -> DescentState:
        """Begin at rest."""
        return DescentState(embedding=Y, velocity=np.zeros_like(Y), gains=np.ones_like(Y))

    def in_parts(self, objective: Objective, n_components: int) -> tuple[Self, str]:
        """Return this optimizer with its iterations done by the executor of the run, where the repulsion has a mesh.

        Sums over the parts are rounded by part; else the iterations are the same. The loss is evaluated here.
        """
        reason = _why_whole(objective, n_components)
        if reason or not isinstance(objective, KLDivergence | CrossEntropy):
            return self, f"{IN_PROCESS}: {reason}"
        executor, twin, n = current_executor(), copy(self), objective.n_samples
        (attraction,), (repulsion,) = objective.attractions, objective.repulsions
        assert isinstance(attraction, EdgePairs)
        assert isinstance(repulsion, AllPairs)
        changing = range(self.early_exaggeration_iter - 1, self._last_early)
        phases = [self._phase(objective, iteration) for iteration in (*changing, self._settles_from - 1, self.max_iter)]
        spec = MeshSpec(
            objective.kernel,
            named(repulsion.law),
            repulsion.spacing,
            attraction.scale,
            repulsion.scale,
            repulsion.link == "log",
            tuple(phase._replace(exaggeration=objective.exaggeration * phase.exaggeration) for phase in phases),
            self.early_exaggeration_iter,
            self._settles_from,
            self.max_step_norm or 0.0,
            self.gains,
            self.centered,
        )
        bounds = part_bounds(n, n_mesh_parts(n))
        arrays, numbers = ("embedding", "velocity", "gains"), ("gradient_norm", "largest_gradient_norm", "step_norm")
        divisor = self._divisor(objective)
        pull = None if divisor is None else np.asarray(divisor, dtype=np.float32)
        work = MeshParts(spec, bounds, attraction.edges, repulsion.charges, pull)
        twin.parts = PartsRun(work, bounds, executor, MeshPart, arrays, numbers)
        twin.takes_blocks = True
        return twin, f"in {len(bounds) - 1} parts by {type(executor).__name__}"

    def block_end(self, iteration: int) -> int:
        """Return where the block of an iteration ends; early exaggeration ends one too."""
        end = super().block_end(iteration)
        return min(end, self.early_exaggeration_iter) if self._is_early(iteration) else end

    def stage(self, iteration: int) -> str:
        """Return "early_exaggeration" or "descent"."""
        return "early_exaggeration" if self._is_early(iteration) else "descent"

    def costs(self, objective: Objective, state: DescentState) -> Sequence[tuple[int, float]]:
        """Return what iterations cost relative to the first: those of t-SNE more where the mesh is large and fine.

        Its maps grow until most of an iteration is the mesh; the maps of other losses stay small beside it.
        """
        loss = objective.base if isinstance(objective, SharedLoss) else objective
        if not isinstance(loss, KLDivergence) or not self.settling_iter:
            return super().costs(objective, state)
        n_components = int(state.embedding.shape[-1])
        if n_components > 2 or loss.evaluation_for(n_components) != "interpolated":
            return super().costs(objective, state)
        (attraction,), (repulsion,) = loss.attractions, loss.repulsions
        assert isinstance(attraction, EdgePairs)
        assert isinstance(repulsion, AllPairs)
        work = loss.n_samples, attraction.matrix.nnz, len(added_terms(objective).terms)
        grows = self._last_early + (not self.annealing_iter)  # a map stands still where exaggeration ends at once
        mesh = GrowingMesh(*work, repulsion.spacing, self.coarsening, grows, max(self._settles_from, grows))
        return mesh.costs(state.embedding, state.velocity, state.iteration)

    def step(self, objective: Objective, state: DescentState, limit: int) -> Step:
        """Do one iteration; in parts, all to `limit`."""
        if self.parts is not None:
            self.parts.advance(state, limit)
            return Step(state.gradient_norm, state.step_norm)
        if state.iteration == self.early_exaggeration_iter:
            state.velocity.fill(0.0)
            state.gains.fill(1.0)
        phase, divisor = self._phase(objective, state.iteration), self._divisor(objective)
        with exaggerated(objective, phase.exaggeration), coarsened(objective, phase.coarsening):
            gradient = check_gradient(objective, objective.gradient(state.embedding), state.embedding)
        if divisor is not None:
            divisor = divisor.astype(gradient.dtype, copy=False)
        parameters = _core.MomentumParameters(
            phase.learning_rate,
            phase.momentum,
            self.max_step_norm or 0.0,
            self.gains,
            self.centered and not added_terms(objective).fixes_place,
        )
        norms = _core.momentum_step(
            state.embedding, gradient, state.velocity, state.gains, parameters, current_run().n_threads, divisor
        )
        state.iteration += 1
        return Step(*norms)

    def divergence(self, objective: Objective, state: DescentState) -> tuple[str, str]:
        """Return the learning rate of the last iteration and what to do."""
        rate = self._phase(objective, state.iteration - 1).learning_rate
        return f"learning_rate={rate:g}", "Lower learning_rate, or check the initial embedding."

    def last_exaggeration(self, objective: Objective) -> float:
        """Return the factor by which the last iteration exaggerates an objective; 1 where it does not."""
        return self._phase(objective, self.max_iter - 1).exaggeration

    @property
    def _last_early(self) -> int:
        """Iteration from which on exaggeration is no longer early."""
        return self.early_exaggeration_iter + self.annealing_iter

    @property
    def _settles_from(self) -> int:
        """Iteration from which on points come to rest."""
        return max(self.max_iter - self.settling_iter, self._last_early)

    def _is_early(self, iteration: int) -> bool:
        return iteration < self.early_exaggeration_iter

    def _phase(self, objective: Objective, iteration: int) -> Phase:
        """Return what an iteration is like."""
        early, left = self._is_early(iteration), 1.0
        if not early:
            left = max(self._last_early - 1 - iteration, 0) / max(self.annealing_iter, 1)
        exaggerates = can_exaggerate(objective)
        factor = 1.0 + (self.early_exaggeration - 1.0) * (left * left) * (left * left) if exaggerates else 1.0
        usual = float(getattr(objective, "attraction_weight", 1.0))
        rate = self.resolve_learning_rate(
            objective.n_samples,
            factor * usual,
            getattr(objective, "mean_attraction", None),
            _LEAST_RATE if float(getattr(objective, "stiffness_apart", 1.0)) == 1.0 else 0.0,
            usual,
        )
        added = added_terms(objective)
        if self.preconditioned and self.learning_rate == "auto" and added.terms and added.stiffness is None:
            rate *= _WITH_ADDED
        momentum = self.early_momentum if early else self.resolve_momentum(objective.n_samples)
        if iteration >= self._settles_from:
            momentum = min(momentum, _SETTLING)
        settles = iteration >= self._settles_from or not self.settling_iter
        return Phase(factor, rate, momentum, 1.0 if settles else self.coarsening)

    def _divisor(self, objective: Objective) -> npt.NDArray[np.floating] | None:
        """Return what the gradient at each point is divided by: its pull, or else the rows that it stands for.

        The rate suits one row, not the sum of them.
        """
        pull: npt.NDArray[np.floating] | None = getattr(objective, "pull", None) if self.preconditioned else None
        if pull is None:
            return getattr(objective, "masses", None)
        springs = added_terms(objective).stiffness
        if springs is None:
            return pull
        return np.asarray(pull + (objective.n_samples / 2.0) * springs, dtype=pull.dtype)


def _slowing(exaggeration: float) -> float:
    """Return by how much shorter than without exaggeration the steps of a preconditioner have to be."""
    return exaggeration * min(exaggeration, 2.0)


def _why_whole(objective: Objective, n_components: int) -> str:
    """Return why the iterations of an objective are not done in parts; empty if they are."""
    own = type(objective) in (KLDivergence, CrossEntropy)  # what derives from them may have sums of its own
    if not own or not isinstance(objective, KLDivergence | CrossEntropy):
        return f"the sums of {type(objective).__name__} are not done in parts"
    if objective.evaluation_for(n_components) != "interpolated" or n_components > 2:
        return f"the repulsion is evaluated as {objective.evaluation_for(n_components)!r}, and not by a mesh"
    if objective.added.terms:
        return f"{type(objective.added.terms[0]).__name__} is a term of the whole map"
    return ""
