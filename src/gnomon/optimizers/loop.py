"""The one loop of all optimizers: blocks of steps, evaluations, reports, stopping rules, resumption.

It checks where a descent may start, and lets an objective change while it is descended.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon._run import current_run
from gnomon._validation import caller, message, warn
from gnomon.exceptions import ConvergenceWarning
from gnomon.objectives.added import added_terms
from gnomon.optimizers.checkpoints import Checkpoints
from gnomon.optimizers.downhill import LEAST_FALL, fall_downhill, level_of
from gnomon.optimizers.outlook import Outlook
from gnomon.optimizers.state import COMPARE, Points, Solution, State, Stopping, diverged

if TYPE_CHECKING:
    from gnomon.optimizers.base import Optimizer, Valued

__all__ = [
    "DescentRun",
    "Exaggerable",
    "Scheduled",
    "can_exaggerate",
    "coarsened",
    "exaggerated",
    "first_state",
    "minimize",
    "schedule_of",
]

_TRIALS = 6  # of a gradient against its loss: at the start and after the first blocks, until the loss can tell

StateT = TypeVar("StateT", bound=State)
ObjectiveT = TypeVar("ObjectiveT", bound="Valued")


def _resolve_dtype(objective: object, allowed: Sequence[type]) -> np.dtype[np.floating]:
    """Return the number type of an objective, float32 if it names none."""
    dtype = np.dtype(getattr(objective, "dtype", np.float32))
    if dtype not in [np.dtype(one) for one in allowed]:
        names = " or ".join(np.dtype(one).name for one in allowed)
        raise ValueError(message(f"the objective's dtype={dtype}", names))
    return dtype


def _check_start(Y0: npt.ArrayLike, n_samples: int, *, dtype: npt.DTypeLike = np.float32) -> Points:
    """Return a new row-major copy of Y0, or raise ValueError if shape or values cannot be started from."""
    start = np.array(Y0, dtype=dtype, order="C", copy=True)
    if start.ndim != 2 or start.shape[0] != n_samples or start.shape[1] < 1:
        rule = f"of shape (n_samples={n_samples}, n_components)"
        raise ValueError(message(f"Y0 of shape {start.shape}", rule))
    bad = np.flatnonzero(~np.isfinite(start).all(axis=1))
    if bad.size:
        raise ValueError(message("Y0", "finite", fact=f"{bad.size:,} rows are not, the first is row {bad[0]}"))
    return start


def _check_state(state: object, kind: type[State], n_samples: int, *, dtype: npt.DTypeLike) -> None:
    """Raise TypeError or ValueError if a descent of n_samples points cannot go on from a state."""
    remedy = f"Pass the state of a Solution of {caller()}."
    if not isinstance(state, kind):
        what = f"state of type {type(state).__name__}"
        raise TypeError(message(what, f"a {kind.__name__}", remedy=remedy))
    if len(state.embedding) != n_samples or state.embedding.dtype != dtype:
        what = f"state of {len(state.embedding):,} points in {state.embedding.dtype}"
        raise ValueError(message(what, f"of n_samples={n_samples} in {np.dtype(dtype)}", remedy=remedy))


@runtime_checkable
class Scheduled(Protocol):
    """An objective that changes from iteration to iteration, such as one with phases.

    What `at` sets must depend on its arguments alone, so that a descent can be resumed anywhere. Stopping rules rest:
    the schedule is run to its end.
    """

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the form of one iteration, counted from 0, of max_iter; called before each."""
        ...


def schedule_of(objective: object) -> Scheduled | None:
    """Return the objective if it changes from iteration to iteration, else None.

    One that does so only in some of its forms says which by an attribute `scheduled`.
    """
    return objective if isinstance(objective, Scheduled) and getattr(objective, "scheduled", True) else None


def _estimate(objective: object, state: State, *, now: bool) -> None:
    """Bring what added terms estimate from the embedding to where the state says.

    Parameters
    ----------
    objective : Scheduled
        After its `at`.
    state : State
        Its `anchors` are the embeddings of the estimates.
    now : bool
        Whether estimates that are due are made from the present embedding.
    """
    state.anchors = added_terms(objective).estimate(state.embedding, state.anchors, anew=now)


@runtime_checkable
class Exaggerable(Protocol):
    """An objective whose attraction can be multiplied for a while.

    Attributes
    ----------
    exaggeration : float
        Factor of the attraction.
    """

    exaggeration: float


def can_exaggerate(objective: object) -> TypeGuard[Exaggerable]:
    """Say whether an objective is `Exaggerable`, for which isinstance takes as long as an iteration of few points."""
    return hasattr(objective, "exaggeration")


@contextmanager
def exaggerated(objective: object, factor: float) -> Iterator[None]:
    """Multiply the exaggeration of an objective that has one inside the block."""
    if factor == 1.0 or not can_exaggerate(objective):
        yield
        return
    before = objective.exaggeration
    objective.exaggeration = before * factor
    try:
        yield
    finally:
        objective.exaggeration = before


@contextmanager
def coarsened(objective: object, factor: float) -> Iterator[None]:
    """Multiply the spacing of the meshes, if any, by which an objective interpolates repulsions, inside the block."""
    terms = [term for term in getattr(objective, "repulsions", ()) if factor != 1.0 and hasattr(term, "coarsening")]
    for term in terms:
        term.coarsening *= factor
    try:
        yield
    finally:
        for term in terms:
            term.coarsening /= factor


def minimize(
    optimizer: Optimizer[StateT, ObjectiveT],
    objective: ObjectiveT,
    Y0: npt.ArrayLike,
    *,
    reporter: Reporter | None = None,
    state: StateT | None = None,
    stop_after: int | None = None,
) -> Solution:
    """Descend an objective from Y0 by the steps of an optimizer; see `Optimizer.minimize`.

    Stopping rules look only where a block ends by itself, so that a run which was cut by `stop_after` and resumed sees
    what one run sees.

    Parameters
    ----------
    optimizer : Optimizer
        How to step, and for how long at most.
    objective : Objective
        What is lowered.
    Y0 : array-like of shape (n_samples, n_components)
        Where to start; not changed.
    reporter : Reporter or None, default=None
        Told about progress after each block; may ask to end.
    state : State or None, default=None
        Of a run that is to go on; Y0 is not used then.
    stop_after : int or None, default=None
        Iteration after which to stop although the run is not over.

    Returns
    -------
    Solution
        Its ``state`` takes the run further.
    """
    reporter = Reporter() if reporter is None else reporter
    going_on = state is not None
    state = first_state(optimizer, objective, Y0, state)
    run = DescentRun(optimizer, objective)
    if not going_on:
        run.see_start(state)
    checkpoints = Checkpoints(None if going_on else current_run().journal, optimizer, state, run.max_iter)
    state = checkpoints.latest(state)
    reporter.expect(state.iteration, optimizer.costs(objective, state))
    last = run.max_iter if stop_after is None else min(stop_after, run.max_iter)
    outlook = Outlook(run.max_iter)
    reason, converged = "", False
    while state.iteration < last and not reason:
        end = min(optimizer.block_end(state.iteration), run.max_iter)
        reason = run.advance(state, min(end, last))
        loss = run.evaluate(state)
        if not reason and state.iteration == end:
            reason = run.stopping.look(state, loss)
        converged = bool(reason)
        if not reason:  # else a run that goes on would not see it
            checkpoints.keep(state)
        reporter.reckon(optimizer.costs(objective, state))
        at_most, expected = outlook.look(state.iteration, excess=run.excess(state), over=bool(reason))
        if reporter.update(
            state.iteration, run.max_iter, loss=loss, embedding=state.embedding, at_most=at_most, end=expected
        ):
            reason = reason or f"The callback asked to end after {optimizer.unit} {state.iteration} of {run.max_iter}."
    if not run.history:  # no iteration was left to do
        run.evaluate(state)
    rose = run.uphill or run.failed or (run.rose(state) if converged or not reason else "")
    if rose and not run.uphill:  # else it has been told
        warn(rose, ConvergenceWarning)
    if rose:
        converged, reason = False, rose
    elif not reason:
        converged, reason = run.out_of_iterations(state)
    return Solution(state.embedding, run.history, converged, reason, state.iteration, run.timings, state)


def first_state(
    optimizer: Optimizer[StateT, ObjectiveT], objective: ObjectiveT, Y0: npt.ArrayLike, state: StateT | None = None
) -> StateT:
    """Return the state a descent begins with: at a checked start, or a copy of the state of another that goes on."""
    dtype = _resolve_dtype(objective, optimizer.dtypes)
    if state is None:
        return optimizer.start(objective, _check_start(Y0, objective.n_samples, dtype=dtype))
    _check_state(state, optimizer.state_type, objective.n_samples, dtype=dtype)
    return state.copy()


class DescentRun(Generic[StateT, ObjectiveT]):
    """One descent of an objective by an optimizer: what is done to a state, and what was seen and how long it took."""

    def __init__(self, optimizer: Optimizer[StateT, ObjectiveT], objective: ObjectiveT) -> None:
        self.optimizer, self.objective = optimizer, objective
        self.schedule, self.added = schedule_of(objective), added_terms(objective)
        if self.added.held and not optimizer.moves_points_alone:
            remedy = "Use a finite weight, or an optimizer such as GradientDescent."
            rule = "one that moves each point by itself, where points are held at positions"
            raise ValueError(message(f"optimizer={type(optimizer).__name__}", rule, remedy=remedy))
        self.single = (self.schedule is not None and not optimizer.does_blocks_of(objective)) or self.added.held
        self.stopping = optimizer.stopping if self.schedule is None else Stopping()  # a schedule is run to its end
        self.max_iter = optimizer.resolve_max_iter(objective.n_samples)
        self.history: list[tuple[int, float]] = []
        self.timings: dict[str, float] = {}
        self.failed = self.uphill = ""
        self._first_loss = math.inf
        self._trials = 0
        self._downhill = False  # as far as is known

    def see_start(self, state: StateT) -> None:
        """Keep the loss of the start, of an objective that is not ours, if a rule will ask whether it fell.

        Ours may rise from a good start, such as a map of another loss; their gradients are known to be right. Those of
        others, and of sums with terms of others, are compared with the loss.
        """
        if not self.optimizer.track_loss:
            return
        ours = _is_ours(self.objective)
        if not ours and self.stopping.n_iter_without_progress is not None:
            with self._timed("loss"):
                self._first_loss = float(self.objective.loss(state.embedding))
        parts = (
            *getattr(self.objective, "attractions", ()),
            *getattr(self.objective, "repulsions", ()),
            *self.added.terms,
        )
        if self.optimizer.follows_gradient and not (ours and all(_is_ours(part) for part in parts)):
            self._trials = _TRIALS
            if self.schedule is None:
                self._look_downhill(state)

    def _look_downhill(self, state: StateT) -> None:
        """Warn if the loss rises along minus its gradient, as long as that is not known."""
        self._trials -= 1
        with self._timed("loss"):
            share = fall_downhill(self.objective, state.embedding)  # type: ignore[arg-type]
        if share <= -LEAST_FALL:
            where = "at the start" if state.iteration == 0 else f"after {self.optimizer.unit} {state.iteration}"
            self.uphill = f"The loss does not fall along minus the gradient {where}: {COMPARE}"
            warn(self.uphill, ConvergenceWarning)
        self._downhill = share >= LEAST_FALL
        if self.uphill or self._downhill:
            self._trials = 0

    def advance(self, state: StateT, limit: int) -> str:
        """Bring the state to iteration `limit`, or to where the optimizer cannot go further and says why.

        What it says is `failed` too where the descent has not converged.
        """
        finished = ""
        with self._timed(self.optimizer.stage(state.iteration)):
            while state.iteration < limit and not finished:
                if self.schedule is not None:
                    self.schedule.at(state.iteration, self.max_iter)
                    _estimate(self.objective, state, now=True)
                step = self.optimizer.step(self.objective, state, state.iteration + 1 if self.single else limit)
                if not math.isfinite(step.gradient_norm + step.step_norm):
                    raise self._divergence(state)
                self.added.hold(state.embedding)
                state.gradient_norm = step.gradient_norm
                state.largest_gradient_norm = max(state.largest_gradient_norm, step.gradient_norm)
                self.failed = step.failed
                finished = step.finished or step.failed
            if not np.isfinite(state.embedding).all():
                raise self._divergence(state)
        return finished

    def evaluate(self, state: StateT) -> float | None:
        """Add the loss to the history and return it, or None if the optimizer does not want it."""
        if not self.optimizer.track_loss:
            return None
        if self.schedule is not None:  # where a run was resumed and nothing was left to do, its form is another
            self.schedule.at(max(state.iteration - 1, 0), self.max_iter)
            _estimate(self.objective, state, now=False)
        with self._timed("loss"):
            loss = self.objective.loss(state.embedding)
        if not math.isfinite(loss):  # points so far apart that no similarity is left
            raise self._divergence(state)
        if not self.history or self.history[-1][0] != state.iteration:
            self.history.append((state.iteration, loss))
        if self._trials:
            self._look_downhill(state)
        return loss

    def rose(self, state: StateT) -> str:
        """Return that the loss rose, and what to do; "" if it did not."""
        last = self.history[-1][1] if self.history else None
        looked = math.isfinite(state.best_loss) or not can_exaggerate(self.objective)  # exaggeration may raise a loss
        first = self._first_loss if looked else math.inf
        told = self.stopping.rise(state, last, first, downhill=self._downhill)
        if told:  # unless chance has drawn it
            level, noise = level_of(self.objective, state.embedding)
            told = self.stopping.rise(state, level, first, downhill=self._downhill, noise=noise)
        return f"{told} {self.optimizer.divergence(self.objective, state)[1]}" if told else ""

    def excess(self, state: StateT) -> float | None:
        """Return how many times its tolerance the quantity is by which this run ends; None if it ends by none."""
        return self.optimizer.excess(state) if self.schedule is None else None

    def out_of_iterations(self, state: StateT) -> tuple[bool, str]:
        """Return whether reaching the last iteration is convergence, and the sentence for it."""
        reached = f"{self.optimizer.unit.capitalize()} {state.iteration} of {self.max_iter} was reached"
        if state.iteration < self.max_iter:
            return False, f"{reached}, as stop_after asked. Pass the state on to resume."
        if self.optimizer.has_schedule or self.schedule is not None:
            return True, f"{reached}."
        return False, f"{reached}{self.stopping.unmet(state)}. {self.optimizer.remedy}"

    def _divergence(self, state: StateT) -> FloatingPointError:
        return diverged(state.iteration, *self.optimizer.divergence(self.objective, state))

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - began


def _is_ours(part: object) -> bool:
    return type(part).__module__.partition(".")[0] == __name__.partition(".")[0]
