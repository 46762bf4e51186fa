"""Where a descent stands, when it may end, and what it returns."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr
from gnomon._validation import caller

__all__ = ["COMPARE", "IN_PROCESS", "UPHILL", "Points", "Solution", "State", "Stopping", "diverged"]

IN_PROCESS = "in this process"
COMPARE = "compare it with its gradient by gnomon.objectives.gradient_error."
UPHILL = f"The loss does not fall along minus the gradient at the start: {COMPARE}"
"""What to do where steps along minus the gradient do not lower a loss."""
_RISE = 0.1  # of the lowest loss: more is told
_CHANCE = 1.5  # of what evaluations of a loss at the same points differ by: the lowest of many is low by chance

Points = npt.NDArray[Any]
"""Points of an embedding, or a vector for each: (n_samples, n_components), row-major, float32 or float64 as the
objective's `dtype` says."""


@dataclass(kw_only=True)
class State:
    """All that a descent needs to go on; optimizers with a memory add it in subclasses.

    A running descent changes its own copy in place.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    iteration : int
        Iterations done.
    gradient_norm : float
        Norm of the last gradient seen; infinite before the first.
    largest_gradient_norm : float
        Largest norm of a gradient seen.
    best_loss : float
        Lowest loss seen since the stopping rules began to look.
    best_iteration : int
        When it was seen.
    anchors : ndarray of shape (n_terms, n_samples, n_components) or None
        The embeddings from which added terms were last estimated, None if none has been.
    """

    embedding: Points
    iteration: int = 0
    gradient_norm: float = math.inf
    largest_gradient_norm: float = 0.0
    best_loss: float = math.inf
    best_iteration: int = 0
    anchors: Points | None = None

    def copy(self) -> Self:
        """Return a state with arrays of its own."""
        other = copy(self)
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                setattr(other, one.name, value.copy())
        return other


@dataclass(frozen=True)
class Stopping:
    """Stopping rules, looked at after each block; a rule that is None never holds.

    Attributes
    ----------
    tol : float or None
        End when the norm of the gradient is at most this share of the largest seen.
    min_grad_norm : float or None
        End when the norm of the gradient is below it.
    n_iter_without_progress : int or None
        End when the loss has not fallen for so many iterations.
    first : int
        Iteration after which the rules begin to look.
    """

    tol: float | None = None
    min_grad_norm: float | None = None
    n_iter_without_progress: int | None = None
    first: int = 0

    def look(self, state: State, loss: float | None) -> str:
        """Bring the state's best loss up to date; return why to end, or "" to go on."""
        if state.iteration <= self.first:
            return ""
        if loss is not None and loss < state.best_loss:
            state.best_loss, state.best_iteration = loss, state.iteration
        norm, largest = state.gradient_norm, state.largest_gradient_norm
        if self.min_grad_norm is not None and norm < self.min_grad_norm:
            return f"The gradient's norm {norm:.2g} fell below min_grad_norm={self.min_grad_norm:g}."
        if self.tol is not None and norm <= self.tol * largest:
            return f"The gradient's norm {norm:.2g} fell to tol={self.tol:g} of its largest, {largest:.2g}."
        patience = self.n_iter_without_progress
        if patience is not None and loss is not None and state.iteration - state.best_iteration >= patience:
            return f"The loss has not fallen since iteration {state.best_iteration}."
        return ""

    def rise(
        self,
        state: State,
        loss: float | None,
        at_first: float = math.inf,
        *,
        downhill: bool = False,
        noise: float = 0.0,
    ) -> str:
        """Return by how much the loss is above the lowest seen, as a sentence; "" if by little or nobody waits for it.

        More than a tenth of it, and of 1, and than the loss differs by chance, `noise` from lowest to highest, is no
        noise of a descent that settles: steps are too long. Where no loss was as low as that of the start, `at_first`
        if it is known, no step may have been one downhill, unless it is known that the gradient leads there,
        `downhill`.
        """
        at_start = at_first < state.best_loss
        lowest = at_first if at_start else state.best_loss
        if self.n_iter_without_progress is None or loss is None or not math.isfinite(lowest):
            return ""
        if loss - lowest <= max(_RISE * max(abs(lowest), 1.0), _CHANCE * noise):
            return ""
        where = "at the start" if at_start else f"after iteration {state.best_iteration}"
        told = f"The loss rose from {lowest:.3g} {where} to {loss:.3g}."
        return f"{told} Of a loss of your own, {COMPARE}" if at_start and not downhill else told

    def unmet(self, state: State) -> str:
        """Return what did not come before the last iteration, as a clause; "" if nothing was waited for."""
        if self.tol is None or state.largest_gradient_norm == 0.0:
            return ""
        share = state.gradient_norm / state.largest_gradient_norm
        return f" before the gradient's norm fell to tol={self.tol:g} of its largest (it is {share:.2g} of it)"


@dataclass(frozen=True)
class Solution(ShortRepr):
    """The end of a descent.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        The points where the descent ended, in the number type of the objective; always finite.
    loss : list of (int, float)
        Iteration and loss, wherever this run evaluated the loss; the last entry is that of `embedding`. Empty if the
        optimizer was told not to evaluate it.
    converged : bool
        Whether the descent ended by its own rule: a schedule run to its end or a stopping rule that held. False if
        the caller asked it to end or max_iter came first.
    reason : str
        A sentence that says why it ended, and what to do if it did not converge.
    n_iter : int
        Iterations done in all, earlier runs that were resumed included.
    timings : dict of str to float
        Seconds by stage.
    state : State
        Pass it as `state` to the same optimizer to go on from here; the result is that of one run, bit for bit.
    where : str
        Where the steps were done: "in this process", or in how many parts by an executor; with the reason if there is
        an executor and it was not used.
    """

    embedding: Points
    loss: list[tuple[int, float]]
    converged: bool
    reason: str
    n_iter: int
    timings: dict[str, float] = field(default_factory=dict)
    state: Any = None
    where: str = IN_PROCESS


def diverged(iteration: int, setting: str, remedy: str) -> FloatingPointError:
    """Return the error for an embedding that has left the finite numbers.

    Parameters
    ----------
    iteration : int
        Where it happened, counted from 1.
    setting : str
        What decided the size of the step, such as ``"learning_rate=200"``; may be empty.
    remedy : str
        One sentence.
    """
    by = f" with {setting}" if setting else ""
    return FloatingPointError(
        f"{caller()}: the embedding must stay finite (it did not in iteration {iteration}{by}). {remedy}"
    )
