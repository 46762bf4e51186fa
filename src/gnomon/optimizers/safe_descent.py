"""Plain gradient steps, of a size for which the loss provably falls or is seen to fall."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.objectives.base import check_gradient
from gnomon.optimizers.base import Optimizer, Step, Valued
from gnomon.optimizers.state import Points, State, Stopping

__all__ = ["BABYLONIAN_RATE", "Differentiable", "SafeDescent", "SafeObjective", "SafeState"]

BABYLONIAN_RATE = 0.125
"""Factor of the gradient of a strain in the preconditioned step Y + 1/2 (T Yc - Yc Yc'Yc) (Yc'Yc)^-1."""

_RULES: dict[str, Rule] = {
    "learning_rate": Either(Options("safe"), Real(low=0.0)),
    "backtracking": Boolean(),
    "preconditioned": Boolean(),
    "max_iter": Integer(low=0),
    "tol": Either(Nothing(), Real(low=0.0)),
    "min_grad_norm": Either(Nothing(), Real(low=0.0)),
    "n_iter_without_progress": Either(Nothing(), Integer(low=1)),
    "block": Integer(low=1),
}
_SUFFICIENT = 1e-4  # share of the fall that the gradient promises which a step must keep (Armijo)


class Differentiable(Valued, Protocol):
    """A loss with a gradient."""

    def gradient(self, Y: Points) -> Points:
        """Return the gradient of the loss."""
        ...


@runtime_checkable
class SafeObjective(Protocol):
    """An objective that knows a step for which the loss falls in every iteration."""

    def safe_step(self, Y0: Points) -> float:
        """Return a factor on the gradient that is safe at Y0 and on the whole way down from there."""
        ...


@runtime_checkable
class Preconditioned(Protocol):
    """An objective that knows a better direction than the gradient."""

    def precondition(self, gradient: Points, Y: Points) -> Points:
        """Return what to step along instead of the gradient at Y."""
        ...


@dataclass(kw_only=True)
class SafeState(State):
    """Where a safe descent stands.

    Attributes
    ----------
    largest_step, last_step : float
        Factor on the gradient: the one given or provided, and the one that was last used.
    """

    largest_step: float
    last_step: float


class SafeDescent(Optimizer[SafeState, Differentiable]):
    """Descend by Y <- Y - step * gradient, or along a preconditioned gradient.

    Parameters
    ----------
    learning_rate : "safe" or float >= 0, default="safe"
        The step. "safe" asks the objective: ``objective.safe_step(Y0)`` is a step for which the loss is proven to
        fall in every iteration.
    backtracking : bool, default=False
        Halve the step until the loss falls; the next iteration begins with twice the step that was taken, but not
        with more than learning_rate. Costs two evaluations of the loss in an iteration or more.
    preconditioned : bool, default=False
        Step along ``objective.precondition(gradient, Y)`` instead of the gradient; the proof of the safe step does not
        hold then.
    max_iter : int >= 0, default=5000
        Iterations in all.
    tol : float >= 0 or None, default=1e-6
        End when the norm of the gradient is at most this share of the largest seen (checked after each block).
    min_grad_norm : float >= 0 or None, default=None
        End where the norm of the gradient is at most this (checked in each iteration).
    n_iter_without_progress : int >= 1 or None, default=300
        End when the loss has not fallen for so many iterations (checked after each block).
    block : int >= 1, default=50
        Iterations between evaluations of the loss, reports and stopping rules.
    """

    state_type: ClassVar[type[State]] = SafeState
    uses_blas = True
    follows_gradient = True
    remedy = "Raise max_iter, or use LBFGS, which takes far fewer iterations."

    @entrance("SafeDescent")
    def __init__(
        self,
        learning_rate: float | Literal["safe"] = "safe",
        *,
        backtracking: bool = False,
        preconditioned: bool = False,
        max_iter: int = 5000,
        tol: float | None = 1e-6,
        min_grad_norm: float | None = None,
        n_iter_without_progress: int | None = 300,
        block: int = 50,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        self.learning_rate: float | str = checked["learning_rate"]
        self.backtracking: bool = checked["backtracking"]
        self.preconditioned: bool = checked["preconditioned"]
        self.max_iter: int = checked["max_iter"]
        self.tol: float | None = checked["tol"]
        self.min_grad_norm: float | None = checked["min_grad_norm"]
        self.n_iter_without_progress: int | None = checked["n_iter_without_progress"]
        self.block: int = checked["block"]

    @property
    def stopping(self) -> Stopping:
        """A small gradient or a loss that does not fall."""
        return Stopping(tol=self.tol, n_iter_without_progress=self.n_iter_without_progress)

    @entrance("SafeDescent")
    def start(self, objective: Differentiable, Y: Points) -> SafeState:
        """Settle the step."""
        if self.preconditioned and not isinstance(objective, Preconditioned):
            fact = f"{type(objective).__name__} has no precondition"
            raise ValueError(message("preconditioned=True", "False here", fact=fact))
        if self.learning_rate != "safe":
            step = float(self.learning_rate)
        elif isinstance(objective, SafeObjective):
            step = float(objective.safe_step(Y))
        else:
            raise ValueError(
                message(
                    "learning_rate='safe'",
                    "a number here",
                    fact=f"{type(objective).__name__} has no safe_step",
                    remedy="Pass a number, with backtracking=True if it may be too large.",
                )
            )
        return SafeState(embedding=Y, largest_step=step, last_step=step)

    def step(self, objective: Differentiable, state: SafeState, limit: int) -> Step:
        """Do one iteration."""
        Y = state.embedding
        gradient: Points = check_gradient(objective, objective.gradient(Y), Y)
        norm = math.sqrt(np.square(gradient, dtype=np.float64).sum())
        if self.min_grad_norm is not None and norm <= self.min_grad_norm:
            rule = f"min_grad_norm={self.min_grad_norm:.3g}"
            return Step(norm, 0.0, f"The gradient's norm fell to {rule} in iteration {state.iteration}.")
        finished = ""
        with np.errstate(over="ignore", invalid="ignore"):  # the loop looks for what is not finite
            if self.backtracking and math.isfinite(norm):
                finished = self._backtrack(objective, state, gradient, norm)
            else:
                Y -= Y.dtype.type(state.last_step) * self._direction(objective, gradient, Y)
        if finished:
            return self.no_fall(objective, state, norm, finished)
        state.iteration += 1
        return Step(norm, state.last_step * norm)

    def excess(self, state: SafeState) -> float | None:
        """Return how many times the gradient's norm is that at which the descent ends."""
        if self.min_grad_norm:
            return state.gradient_norm / self.min_grad_norm
        return super().excess(state)

    def _direction(self, objective: Differentiable, gradient: Points, Y: Points) -> Points:
        if not self.preconditioned or not np.isfinite(gradient).all():
            return gradient
        assert isinstance(objective, Preconditioned)  # start asked for it
        return objective.precondition(gradient, Y)

    def divergence(self, objective: Differentiable, state: SafeState) -> tuple[str, str]:
        """Return the step and what to do."""
        remedy = "Lower learning_rate, or use backtracking=True."
        if self.backtracking or self.learning_rate == "safe":
            remedy = "Check the objective's loss and gradient, and the initial embedding."
        return f"learning_rate={state.last_step:g}", remedy

    def _backtrack(self, objective: Differentiable, state: SafeState, gradient: Points, norm: float) -> str:
        """Take the longest step tried for which the loss falls; return why there is none, or ""."""
        Y, loss = state.embedding, objective.loss(state.embedding)
        noise = float(np.finfo(Y.dtype).eps)
        step = min(state.largest_step, 2.0 * state.last_step)
        while True:
            trial: Points = Y - Y.dtype.type(step) * gradient
            if objective.loss(trial) <= loss - _SUFFICIENT * step * norm**2:  # False for nan
                state.embedding, state.last_step = trial, step
                return ""
            if not step * norm**2 > noise * abs(loss):
                return (
                    f"No step along the gradient lowers the loss by more than {Y.dtype} can tell "
                    f"({noise:.1g} of it); the gradient's norm is {norm:.2g}."
                )
            step /= 2.0
