"""Adam: steps of a size set by running averages of the gradient and of its square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, check_parameters
from gnomon.objectives import Objective
from gnomon.objectives.base import check_gradient
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.state import Points, State, Stopping

__all__ = ["Adam", "AdamState"]

_RULES: dict[str, Rule] = {
    "learning_rate": Real(low=0.0, low_open=True),
    "decay": Options("constant", "linear"),
    "beta1": Real(low=0.0, high=1.0, high_open=True),
    "beta2": Real(low=0.0, high=1.0, high_open=True),
    "epsilon": Real(low=0.0, low_open=True),
    "max_iter": Integer(low=0),
    "tol": Real(low=0.0),
    "n_iter_without_progress": Either(Nothing(), Integer(low=1)),
    "block": Integer(low=1),
}


@dataclass(kw_only=True)
class AdamState(State):
    """Where Adam stands.

    Attributes
    ----------
    first_moment, second_moment : ndarray of shape (n_samples, n_components)
        Averages of the gradient, with the sign of a force, and of its square.
    """

    first_moment: Points
    second_moment: Points


class Adam(Optimizer[AdamState, Objective]):
    """Descend by Adam, whose steps do not depend on the scale of the loss.

    With m and v the running averages of gradient and squared gradient, corrected for their start at 0,
    Y <- Y - learning_rate * m / (sqrt(v) + epsilon).

    Parameters
    ----------
    learning_rate : float > 0, default=1.0
        About the distance a coordinate moves in one iteration, in units of the embedding.
    decay : {"constant", "linear"}, default="constant"
        Whether the learning rate stays or falls linearly to 0 at max_iter, which then counts as convergence.
    beta1, beta2 : float in [0, 1), default=0.9 and 0.999
        Share of the two averages kept in an iteration.
    epsilon : float > 0, default=1e-7
        Gradients far below it move points less than the learning rate says.
    max_iter : int >= 0, default=500
        Iterations in all.
    tol : float >= 0, default=1e-5
        End when the norm of the gradient is at most this share of the largest seen (checked after each block).
    n_iter_without_progress : int >= 1 or None, default=300
        End when the loss has not fallen for so many iterations (checked likewise); None: never.
    block : int >= 1, default=50
        Iterations between evaluations of the loss, reports and stopping rules.

    References
    ----------
    .. [1] Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    """

    state_type: ClassVar[type[State]] = AdamState
    moves_points_alone = True
    follows_gradient = True
    remedy = 'Raise max_iter, or let the learning rate fall with decay="linear".'

    @entrance("Adam")
    def __init__(
        self,
        learning_rate: float = 1.0,
        *,
        decay: str = "constant",
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-7,
        max_iter: int = 500,
        tol: float = 1e-5,
        n_iter_without_progress: int | None = 300,
        block: int = 50,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        self.learning_rate: float = checked["learning_rate"]
        self.decay: str = checked["decay"]
        self.beta1: float = checked["beta1"]
        self.beta2: float = checked["beta2"]
        self.epsilon: float = checked["epsilon"]
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.n_iter_without_progress: int | None = checked["n_iter_without_progress"]
        self.block: int = checked["block"]

    @property
    def stopping(self) -> Stopping:
        """A small gradient or a loss that does not fall; a falling learning rate may still lower a loss that rests."""
        patience = None if self.has_schedule else self.n_iter_without_progress
        return Stopping(tol=self.tol, n_iter_without_progress=patience)

    @property
    def has_schedule(self) -> bool:
        """Whether the learning rate falls."""
        return self.decay == "linear"

    def start(self, objective: Objective, Y: Points) -> AdamState:
        """Begin without a memory."""
        return AdamState(embedding=Y, first_moment=np.zeros_like(Y), second_moment=np.zeros_like(Y))

    def step(self, objective: Objective, state: AdamState, limit: int) -> Step:
        """Do one iteration."""
        parameters = _core.AdamParameters(self._rate(state.iteration), self.beta1, self.beta2, self.epsilon)
        gradient = check_gradient(objective, objective.gradient(state.embedding), state.embedding)
        norms = _core.adam_step(
            state.embedding,
            gradient,
            state.first_moment,
            state.second_moment,
            parameters,
            state.iteration,
            current_run().n_threads,
        )
        state.iteration += 1
        return Step(*norms)

    def divergence(self, objective: Objective, state: AdamState) -> tuple[str, str]:
        """Return the learning rate of the last iteration and what to do."""
        rate = self._rate(state.iteration - 1)
        return f"learning_rate={rate:g}", "Lower learning_rate, or check the initial embedding."

    def _rate(self, iteration: int) -> float:
        return self.learning_rate * (1.0 - iteration / self.max_iter if self.has_schedule else 1.0)
