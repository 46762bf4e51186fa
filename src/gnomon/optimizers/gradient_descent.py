"""Gradient descent with momentum and gains: the optimizer of t-SNE."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._progress import Reporter
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Real, Rule, check_parameters
from gnomon.objectives import Objective
from gnomon.optimizers.solution import Solution, diverged
from gnomon.optimizers.start import check_start, read_only

__all__ = ["DescentState", "GradientDescent"]

_POSITIVE = Real(low=0.0, low_open=True)
_RULES: dict[str, Rule] = {
    "learning_rate": Either(Options("auto"), _POSITIVE),
    "early_momentum": Real(low=0.0, high=1.0, high_open=True),
    "momentum": Real(low=0.0, high=1.0, high_open=True),
    "gains": Boolean(),
    "max_iter": Integer(low=0),
    "early_exaggeration": _POSITIVE,
    "early_exaggeration_iter": Integer(low=0),
    "max_step_norm": Either(Nothing(), _POSITIVE),
    "min_grad_norm": Real(low=0.0),
    "n_iter_without_progress": Integer(low=1),
    "block": Integer(low=1),
}


@runtime_checkable
class _Exaggerable(Protocol):
    exaggeration: float


@dataclass(frozen=True)
class DescentState:
    """Where a descent stands.

    Attributes
    ----------
    embedding, velocity, gains : ndarray of shape (n_samples, n_components), float32
    iteration : int
        Iterations done.
    best_loss : float
        Lowest loss seen since early exaggeration ended, at iteration `best_iteration`.
    """

    embedding: npt.NDArray[np.float32]
    velocity: npt.NDArray[np.float32]
    gains: npt.NDArray[np.float32]
    iteration: int = 0
    best_loss: float = math.inf
    best_iteration: int = 0


class GradientDescent:
    """Descend the gradient with momentum and a gain for each coordinate (delta-bar-delta).

    velocity <- momentum * velocity - learning_rate * gain * gradient; a gain grows by 0.2 while the velocity goes
    downhill, else shrinks to 0.8 of itself, not below 0.01. The mean stays at the origin.

    Parameters
    ----------
    learning_rate : "auto" or float > 0, default="auto"
        Step for the true gradient of the loss. "auto" suits losses whose pull on a point is of order 1 / n_samples:
        max(n_samples / (4 * exaggeration), 50), with the exaggeration of the moment (1 after the early stage).
        openTSNE's learning rates, meant for a gradient without the factor 4, are four times these.
    early_momentum, momentum : float in [0, 1), default=0.8
        During early exaggeration and after it.
    gains : bool, default=True
        Adapt a gain for each coordinate.
    max_iter : int >= 0, default=750
        Iterations in all, early exaggeration included.
    early_exaggeration : float > 0, default=12.0
        Factor on the attraction at first, for objectives that have an `exaggeration`; others are not affected.
    early_exaggeration_iter : int >= 0, default=250
        Iterations it lasts; velocity and gains start afresh when it ends.
    max_step_norm : float > 0 or None, default=5.0
        No point moves farther in one iteration.
    min_grad_norm : float >= 0, default=1e-7
        End when the norm of the gradient is below it (checked after each block, not during early exaggeration).
    n_iter_without_progress : int >= 1, default=300
        End when the loss has not fallen for so many iterations (checked likewise).
    block : int >= 1, default=50
        Iterations between evaluations of the loss, reports and stopping rules.

    References
    ----------
    .. [1] Jacobs, "Increased rates of convergence through learning rate adaptation", Neural Networks 1, 1988.
    .. [2] Belkina et al., "Automated optimized parameters for t-SNE improve visualization and analysis of large
       datasets", Nature Communications 10, 2019 (the learning rate).
    """

    def __init__(
        self,
        learning_rate: float | Literal["auto"] = "auto",
        *,
        early_momentum: float = 0.8,
        momentum: float = 0.8,
        gains: bool = True,
        max_iter: int = 750,
        early_exaggeration: float = 12.0,
        early_exaggeration_iter: int = 250,
        max_step_norm: float | None = 5.0,
        min_grad_norm: float = 1e-7,
        n_iter_without_progress: int = 300,
        block: int = 50,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters("GradientDescent", _RULES, given)
        self.learning_rate: float | str = checked["learning_rate"]
        self.early_momentum: float = checked["early_momentum"]
        self.momentum: float = checked["momentum"]
        self.gains: bool = checked["gains"]
        self.max_iter: int = checked["max_iter"]
        self.early_exaggeration: float = checked["early_exaggeration"]
        self.early_exaggeration_iter: int = checked["early_exaggeration_iter"]
        self.max_step_norm: float | None = checked["max_step_norm"]
        self.min_grad_norm: float = checked["min_grad_norm"]
        self.n_iter_without_progress: int = checked["n_iter_without_progress"]
        self.block: int = checked["block"]

    def resolve_learning_rate(self, n_samples: int, exaggeration: float = 1.0) -> float:
        """Return the learning rate used for n_samples points under an exaggeration."""
        if self.learning_rate == "auto":
            return max(n_samples / (4.0 * exaggeration), 50.0)
        return float(self.learning_rate)

    def minimize(
        self,
        objective: Objective,
        Y0: npt.ArrayLike,
        *,
        reporter: Reporter | None = None,
        state: DescentState | None = None,
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
        state : DescentState, default=None
            Go on from the state of an earlier Solution; Y0 is not used then.
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
        reporter = Reporter() if reporter is None else reporter
        if state is None:
            start = check_start(Y0, objective.n_samples, who="GradientDescent")
            state = DescentState(start, np.zeros_like(start), np.ones_like(start))
        state = replace(
            state, embedding=state.embedding.copy(), velocity=state.velocity.copy(), gains=state.gains.copy()
        )
        last = self.max_iter if stop_after is None else min(stop_after, self.max_iter)
        history: list[tuple[int, float]] = []
        timings = {"early_exaggeration": 0.0, "descent": 0.0, "loss": 0.0}
        reason = ""
        while state.iteration < last and not reason:
            end = min(self._block_end(state.iteration), last)
            began = time.perf_counter()
            early = state.iteration < self.early_exaggeration_iter
            norm = self._descend(objective, state, end)
            timings["early_exaggeration" if early else "descent"] += time.perf_counter() - began
            began = time.perf_counter()
            loss = objective.loss(state.embedding)
            timings["loss"] += time.perf_counter() - began
            history.append((end, loss))
            state = replace(state, iteration=end)
            if end > self.early_exaggeration_iter:
                if loss < state.best_loss:
                    state = replace(state, best_loss=loss, best_iteration=end)
                reason = self._stopping_rule(state, norm)
            if reporter.update(end, self.max_iter, loss=loss, embedding=read_only(state.embedding)):
                reason = reason or f"The callback asked to end after iteration {end} of {self.max_iter}."
                return Solution(state.embedding, history, False, reason, end, timings, state)
        converged = bool(reason) or state.iteration >= self.max_iter
        if not reason:
            reason = f"Iteration {state.iteration} of {self.max_iter} was reached."
        return Solution(state.embedding, history, converged, reason, state.iteration, timings, state)

    def _block_end(self, iteration: int) -> int:
        """Blocks end at multiples of `block` and where early exaggeration ends, wherever a run was resumed."""
        end = (iteration // self.block + 1) * self.block
        if iteration < self.early_exaggeration_iter:
            end = min(end, self.early_exaggeration_iter)
        return end

    def _descend(self, objective: Objective, state: DescentState, end: int) -> float:
        """Move the state's arrays to iteration `end`, within one stage; return the last norm of the gradient."""
        early = state.iteration < self.early_exaggeration_iter
        exaggeration = self.early_exaggeration if early and isinstance(objective, _Exaggerable) else 1.0
        if state.iteration == self.early_exaggeration_iter:
            state.velocity.fill(0.0)
            state.gains.fill(1.0)
        rate = self.resolve_learning_rate(objective.n_samples, exaggeration)
        momentum = self.early_momentum if early else self.momentum
        parameters = _core.MomentumParameters(rate, momentum, self.max_step_norm or 0.0, self.gains, True)
        norm = math.inf
        before = objective.exaggeration if isinstance(objective, _Exaggerable) else 1.0
        try:
            if isinstance(objective, _Exaggerable):
                objective.exaggeration = before * exaggeration
            for iteration in range(state.iteration, end):
                gradient = objective.gradient(state.embedding)
                norm, step = _core.momentum_step(
                    state.embedding, gradient, state.velocity, state.gains, parameters, objective.n_threads
                )
                if not (math.isfinite(norm) and math.isfinite(step)):
                    raise diverged("GradientDescent", iteration + 1, rate)
        finally:
            if isinstance(objective, _Exaggerable):
                objective.exaggeration = before
        return norm

    def _stopping_rule(self, state: DescentState, norm: float) -> str:
        if norm < self.min_grad_norm:
            return f"The gradient's norm {norm:.2g} fell below min_grad_norm={self.min_grad_norm:g}."
        if state.iteration - state.best_iteration >= self.n_iter_without_progress:
            return f"The loss has not fallen since iteration {state.best_iteration}."
        return ""
