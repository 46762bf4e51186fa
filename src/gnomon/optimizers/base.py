"""What an optimizer is: a rule for one step, which the one loop repeats; and several objectives one after another."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Constructed
from gnomon._progress import Reporter
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon.optimizers.downhill import hidden_by_chance
from gnomon.optimizers.loop import minimize
from gnomon.optimizers.state import IN_PROCESS, Points, Solution, State, Stopping

__all__ = ["IN_PARTS_FROM", "Optimizer", "Step", "Valued", "minimize_in_stages"]

IN_PARTS_FROM = 200_000
"""Points from which the executor of a run does the steps. Messages take some milliseconds an iteration, however few the
points are; one thread moves so many points in about 30 ms."""


class Valued(Protocol):
    """The least an objective is: a loss of n_samples points. Most optimizers ask for its gradient as well."""

    @property
    def n_samples(self) -> int:
        """Number of points."""
        ...

    def loss(self, Y: Any) -> float:
        """Return the loss."""
        ...


StateT = TypeVar("StateT", bound=State)
ObjectiveT = TypeVar("ObjectiveT", bound=Valued, contravariant=True)


class Step(NamedTuple):
    """What a step tells the loop.

    Attributes
    ----------
    gradient_norm : float
        Norm of the last gradient, for the stopping rules; 0 if the rule has none. Not finite: the descent diverged.
    step_norm : float
        Norm of the last step, likewise.
    finished : str
        A sentence if the rule cannot go further, so that the descent has converged; else "".
    failed : str
        A sentence if it cannot although the descent has not converged, which is warned of; else "".
    """

    gradient_norm: float = 0.0
    step_norm: float = 0.0
    finished: str = ""
    failed: str = ""


class Optimizer(Constructed, ABC, Generic[StateT, ObjectiveT]):
    """A rule for one step; the loop asks for steps, evaluates, reports, stops and resumes.

    A subclass stores its parameters with `max_iter` and `block`, and gives `start`, `step` and whatever of the other
    methods differs. It must keep everything that changes in its state, so that a run can be resumed.
    """

    unit: ClassVar[str] = "iteration"
    dtypes: ClassVar[tuple[type, ...]] = (np.float32, np.float64)
    state_type: ClassVar[type[State]]
    moves_points_alone: ClassVar[bool] = False  # a step moves each point by its own force and memory alone
    follows_gradient: ClassVar[bool] = False  # steps go along the gradient of the objective, in flat space
    takes_blocks: bool = False  # a step may do many iterations of a schedule
    uses_blas: ClassVar[bool] = False  # steps may be matrix products: BLAS is kept to one thread once for all of them
    remedy: ClassVar[str] = "Raise max_iter."  # where max_iter came before convergence

    max_iter: Any
    block: int
    track_loss: bool = True

    @abstractmethod
    def start(self, objective: ObjectiveT, Y: Points) -> StateT:
        """Return the state before the first iteration, at Y, which it may keep."""

    @abstractmethod
    def step(self, objective: ObjectiveT, state: StateT, limit: int) -> Step:
        """Do at least one iteration, none after `limit`, in place: the state's arrays and its `iteration`.

        Where calls end must not change the result. A step with `finished` may have done no iteration.
        """

    @property
    def stopping(self) -> Stopping:
        """When to end before max_iter."""
        return Stopping()

    @property
    def has_schedule(self) -> bool:
        """Whether max_iter ends a schedule of the steps, so that reaching it is convergence."""
        return False

    def resolve_max_iter(self, n_samples: int) -> int:
        """Return the number of iterations for n_samples points."""
        return int(self.max_iter)

    def stage(self, iteration: int) -> str:
        """Return the stage that an iteration belongs to, by which timings are kept."""
        return "descent"

    def costs(self, objective: ObjectiveT, state: StateT) -> Sequence[tuple[int, float]]:
        """Return what iterations cost relative to the first, for the time that is left: see `Reporter.expect`.

        Unless a subclass knows more it is what the objective says of its own schedule, `costs(max_iter)`.
        """
        told: Callable[[int], Sequence[tuple[int, float]]] | None = getattr(objective, "costs", None)
        return () if told is None else told(self.resolve_max_iter(objective.n_samples))

    def excess(self, state: StateT) -> float | None:
        """Return how many times its tolerance the quantity is by whose fall a descent ends; None if it ends by none.

        Infinite before it is known. The time that is left is foreseen by it, see `Outlook`.
        """
        tol, largest = self.stopping.tol, state.largest_gradient_norm
        if not tol:
            return None
        return state.gradient_norm / (tol * largest) if largest > 0.0 else math.inf

    def does_blocks_of(self, objective: ObjectiveT) -> bool:
        """Say whether a step may do many iterations although the objective has a schedule."""
        return self.takes_blocks

    def block_end(self, iteration: int) -> int:
        """Return where the block of an iteration ends: at multiples of `block`, wherever a run was resumed."""
        return (iteration // self.block + 1) * self.block

    def no_fall(self, objective: ObjectiveT, state: StateT, gradient_norm: float, reason: str) -> Step:
        """Return the step where none lowers the loss: an end for that reason, or failed where noise hides the fall."""
        share = gradient_norm / max(state.largest_gradient_norm, gradient_norm) if gradient_norm else 0.0
        hidden = hidden_by_chance(objective, state.embedding, share)
        return Step(gradient_norm, failed=hidden) if hidden else Step(gradient_norm, finished=reason)

    def in_parts(self, objective: ObjectiveT, n_components: int) -> tuple[Self, str]:
        """Return this optimizer such that the executor of the run does its steps, and where they are done.

        One that cannot be done in parts, or not for this objective, is returned as it is, with the reason.
        """
        return self, f"{IN_PROCESS}: {type(self).__name__} is not done in parts"

    def divergence(self, objective: ObjectiveT, state: StateT) -> tuple[str, str]:
        """Return what decided the size of the last step, such as "learning_rate=200", and a remedy."""
        return "", "Check the objective's gradient and the initial embedding."

    @entrance()
    def minimize(
        self,
        objective: ObjectiveT,
        Y0: npt.ArrayLike,
        *,
        reporter: Reporter | None = None,
        state: StateT | None = None,
        stop_after: int | None = None,
    ) -> Solution:
        """Descend from Y0.

        Parameters
        ----------
        objective : Objective
            What to minimise.
        Y0 : array-like of shape (n_samples, n_components)
            Where to start; not changed.
        reporter : Reporter, default=None
            Told after each block; may ask to end.
        state : State, default=None
            Go on from the state of an earlier Solution of this optimizer; Y0 is not used then.
        stop_after : int, default=None
            End when so many iterations have been done in all, to be resumed later.

        Returns
        -------
        Solution

        Raises
        ------
        FloatingPointError
            If the embedding leaves the finite numbers.
        """
        optimizer, where = self, IN_PROCESS
        if current_run().executor is not None and objective.n_samples < IN_PARTS_FROM:
            where = f"{IN_PROCESS}: messages would take longer below {IN_PARTS_FROM:,} points"
        elif current_run().executor is not None:
            optimizer, where = self.in_parts(objective, np.shape(Y0 if state is None else state.embedding)[-1])
        with single_threaded_blas() if self.uses_blas else nullcontext():
            found = minimize(optimizer, objective, Y0, reporter=reporter, state=state, stop_after=stop_after)
        return replace(found, where=where)


def minimize_in_stages(
    stages: Sequence[tuple[Callable[[], Any], Optimizer[Any, Any]]],
    Y0: npt.ArrayLike,
    *,
    reporter: Reporter | None = None,
    n_iter: int = 0,
) -> Solution:
    """Descend one objective after another.

    Parameters
    ----------
    stages : sequence of (make, optimizer), one at least
        `make()` returns the objective that the optimizer descends; it is let go before the next is made.
    Y0 : array-like of shape (n_samples, n_components)
        Where to start.
    reporter : Reporter, default=None
        Told about each stage; a wish to end early ends the running one.
    n_iter : int, default=0
        Iterations done before, to be counted.

    Returns
    -------
    Solution
        That of the last stage, with the iterations and the timings of all.
    """
    Y, timings = Y0, dict[str, float]()
    for make, optimizer in stages:
        solution = optimizer.minimize(make(), Y, reporter=reporter)
        Y, n_iter = solution.embedding, n_iter + solution.n_iter
        for name, seconds in solution.timings.items():
            timings[name] = timings.get(name, 0.0) + seconds
    return replace(solution, n_iter=n_iter, timings=timings)
