"""The game whose equilibrium is the minimum of a convex function, played by two learners.

Classical methods of convex minimisation are such games; each reproduces the method's own iterates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Either, Instance, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.linalg import inner
from gnomon.objectives.base import check_gradient
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.fenchel.domains import Domain, WholeSpace
from gnomon.optimizers.fenchel.players import (
    FTL,
    OMD,
    BestRespPlus,
    ConjugateLosses,
    LinearLosses,
    OMDPlus,
    OptimisticFTL,
    Past,
    Player,
)
from gnomon.optimizers.safe_descent import Differentiable
from gnomon.optimizers.state import State

__all__ = ["FenchelGame", "GameState", "Round", "averaged_gradient_descent", "frank_wolfe", "heavy_ball", "nesterov"]

Points = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "x_player": Instance((Player,), "a Player"),
    "y_player": Instance((Player,), "a Player"),
    "weights": Either(Options("uniform", "linear"), Instance((Callable,), "a callable")),  # type: ignore[arg-type]
    "max_iter": Integer(low=0),
    "tol": Either(Nothing(), Real(low=0.0)),
    "certify_every": Integer(low=1),
    "block": Integer(low=1),
}


class Round(NamedTuple):
    """What is known after a round.

    Attributes
    ----------
    number : int
        Rounds played.
    loss : float
        f of the average.
    gap : float
        (regret_x + regret_y) / sum of weights: f of the average is at most this far above the least value of f on the
        domain. Infinite on an unbounded domain.
    regret_x, regret_y : float
        What each player paid more than with the best fixed point.
    """

    number: int
    loss: float
    gap: float
    regret_x: float
    regret_y: float


@dataclass(kw_only=True)
class GameState(State):
    """Where a game stands; `embedding` is the weighted average of the first player's points.

    Attributes
    ----------
    start, x, u, y : ndarray
        Where both begin; the last points of the players, with y = grad f(u).
    total_x, total_y : ndarray
        Sums of the points, each times its weight.
    weight, last_weight : float
        Sum of the weights, and that of the last round.
    paid_x, paid_conjugate : float
        Sums of alpha <x, y> and of alpha f*(y), by f*(grad f(u)) = <u, grad f(u)> - f(u).
    rounds : list of Round
        The certified rounds.
    """

    start: Points
    x: Points
    u: Points
    y: Points
    total_x: Points
    total_y: Points
    weight: float = 0.0
    last_weight: float = 0.0
    paid_x: float = 0.0
    paid_conjugate: float = 0.0
    rounds: list[Round] = field(default_factory=list)

    def copy(self) -> Self:
        """Return a state with arrays and a list of its own."""
        other = super().copy()
        other.rounds = list(self.rounds)
        return other


class FenchelGame(Optimizer[GameState, Differentiable]):
    """Minimise a convex f by the game g(x, y) = <x, y> - f*(y), in which x wants little and y wants much.

    In round t of weight alpha_t the first player pays alpha_t <x_t, y_t> and the second alpha_t (f*(y_t) - <x_t, y_t>).
    The weighted average of the first player's points is the result, and

        f(average) - min f  <=  (regret_x + regret_y) / sum of weights,

    so whatever has little regret minimises f, and the regrets certify how far it has come. The conjugate f* is never
    needed: the second player's points are gradients of f. `recipes` names the choices that are known methods.

    For an f that is not convex the game may be played, but the gap certifies nothing.

    Parameters
    ----------
    x_player, y_player : Player
        At most one of them may be prescient; it moves second.
    domain : Domain or None, default=None
        Where x may go; None is the whole space.
    weights : {"uniform", "linear"} or callable, default="uniform"
        alpha_t: 1, t, or a function of t = 1, 2, ... that is > 0.
    max_iter : int >= 0, default=1000
        Rounds in all.
    tol : float >= 0 or None, default=None
        End when the certified gap is at most this; None plays all rounds.
    certify_every : int >= 1, default=1
        Rounds between certificates; one costs two evaluations of f and one linear oracle, and f is evaluated once in
        every round besides.
    block : int >= 1, default=50
        Rounds between reports.

    References
    ----------
    .. [1] Wang, Abernethy & Levy, "No-regret dynamics in the Fenchel game: a unified framework for algorithmic convex
       optimization", Mathematical Programming 205, 2024.
    """

    unit = "round"
    dtypes = (np.float64,)
    state_type: ClassVar[type[State]] = GameState
    uses_blas = True
    remedy = "Raise max_iter."

    @entrance("FenchelGame")
    def __init__(
        self,
        x_player: Player,
        y_player: Player,
        *,
        domain: Domain | None = None,
        weights: str | Callable[[int], float] = "uniform",
        max_iter: int = 1000,
        tol: float | None = None,
        certify_every: int = 1,
        block: int = 50,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        if x_player.prescient and y_player.prescient:
            what = f"x_player={type(x_player).__name__} and y_player={type(y_player).__name__}"
            remedy = "One of them has to move first."
            raise ValueError(message(what, "not prescient both", remedy=remedy))
        self.x_player, self.y_player = x_player, y_player
        self.domain: Domain = WholeSpace() if domain is None else domain
        self.weights: str | Callable[[int], float] = weights
        self.max_iter: int = checked["max_iter"]
        self.tol: float | None = checked["tol"]
        self.certify_every: int = checked["certify_every"]
        self.block: int = checked["block"]

    @property
    def has_schedule(self) -> bool:
        """Whether all rounds are to be played."""
        return self.tol is None

    def start(self, objective: Differentiable, Y: Points) -> GameState:
        """Put both players at Y."""
        zero = np.zeros_like(Y)
        return GameState(
            embedding=Y, start=Y.copy(), x=Y.copy(), u=Y.copy(), y=zero, total_x=zero.copy(), total_y=zero.copy()
        )

    def stage(self, iteration: int) -> str:
        """Return "game"."""
        return "game"

    def step(self, objective: Differentiable, state: GameState, limit: int) -> Step:
        """Play one round."""
        weight = self._weight(state.iteration + 1)
        x_past = Past(
            state.start, state.x, state.total_y, state.weight, state.y if state.iteration else None, state.last_weight
        )
        y_past = Past(state.start, state.u, state.total_x, state.weight, state.x, state.last_weight)
        if self.y_player.prescient:
            x = self.x_player.play(LinearLosses(self.domain), x_past, weight, None)
            u = self.y_player.play(ConjugateLosses(), y_past, weight, x)
            y = check_gradient(objective, objective.gradient(u), u)
        else:
            u = self.y_player.play(ConjugateLosses(), y_past, weight, None)
            y = check_gradient(objective, objective.gradient(u), u)
            x = self.x_player.play(LinearLosses(self.domain), x_past, weight, y if self.x_player.prescient else None)
        state.x, state.u, state.y = x, u, y
        state.total_x = state.total_x + weight * x
        state.total_y = state.total_y + weight * y
        state.weight += weight
        state.last_weight = weight
        state.paid_x += weight * inner(x, y)
        state.paid_conjugate += weight * (inner(u, y) - objective.loss(u))
        state.embedding = state.total_x / state.weight
        state.iteration += 1
        return Step(float(np.linalg.norm(y)), 0.0, self._certified(objective, state))

    def excess(self, state: GameState) -> float | None:
        """Return how many times tol the last certified gap is."""
        if not self.tol:
            return None
        return state.rounds[-1].gap / self.tol if state.rounds else math.inf

    def _certified(self, objective: Differentiable, state: GameState) -> str:
        if state.iteration % self.certify_every and state.iteration != self.max_iter:
            return ""
        loss = objective.loss(state.embedding)
        regret_x = state.paid_x - self.domain.lowest(state.total_y)
        regret_y = state.paid_conjugate - state.paid_x + state.weight * loss
        gap = (regret_x + regret_y) / state.weight
        state.rounds.append(Round(state.iteration, loss, gap, regret_x, regret_y))
        if self.tol is None or not gap <= self.tol:
            return ""
        return f"The certified gap {gap:.2g} fell to tol={self.tol:g} in round {state.iteration}."

    def _weight(self, number: int) -> float:
        if isinstance(self.weights, str):
            return 1.0 if self.weights == "uniform" else float(number)
        weight = float(self.weights(number))
        if not (math.isfinite(weight) and weight > 0.0):
            raise ValueError(message(f"weights({number})={weight!r}", "a number > 0"))
        return weight

    def divergence(self, objective: Differentiable, state: GameState) -> tuple[str, str]:
        """Return the player that sets the step, and a remedy."""
        name = type(self.x_player).__name__
        return f"x_player={name}", f"Lower the step of {name}, or use a bounded domain."


def averaged_gradient_descent(step: float, *, domain: Domain | None = None, **options: Any) -> FenchelGame:
    """Return the game of gradient descent with averaging: x_t = x_{t-1} - step grad f(x_{t-1}), x_1 = x_0.

    Parameters
    ----------
    step : float > 0
        R / (G sqrt T) for a distance R to the minimum, gradients of norm at most G and T rounds; 1 / (2 L) where the
        gradient has the Lipschitz constant L.
    domain : Domain or None, default=None
        Points are projected on it.
    **options
        Further parameters of `FenchelGame`.

    Notes
    -----
    f(average) - f(x*) <= R^2 / (2 step T) + step G^2 / 2, and <= 2 L R^2 / T for the step 1 / (2 L).
    """
    return FenchelGame(OMD(step), BestRespPlus(), domain=domain, weights="uniform", **options)


def frank_wolfe(domain: Domain, **options: Any) -> FenchelGame:
    """Return the game of Frank and Wolfe's method with the step 2 / (t + 1): points of the domain are only averaged.

    Parameters
    ----------
    domain : Domain
        Bounded; only its linear oracle is asked.
    **options
        Further parameters of `FenchelGame`.

    Notes
    -----
    f(average) - min f <= 2 L diameter^2 / (T + 1) where the gradient has the Lipschitz constant L.
    """
    return FenchelGame(BestRespPlus(), FTL(), domain=domain, weights="linear", **options)


def heavy_ball(smoothness: float, *, domain: Domain | None = None, **options: Any) -> FenchelGame:
    """Return the game of Polyak's heavy ball.

    The averages w_t follow w_t = w_{t-1} - eta_t grad f(w_{t-1}) + beta_t (w_{t-1} - w_{t-2}) with
    eta_t = t / (2 (t + 1) L) and beta_t = (t - 2) / (t + 1), 0 for t <= 2.

    Parameters
    ----------
    smoothness : float > 0
        L, the Lipschitz constant of the gradient.
    domain : Domain or None, default=None
        Points are projected on it.
    **options
        Further parameters of `FenchelGame`.
    """
    return FenchelGame(OMDPlus(1.0 / (4.0 * smoothness)), FTL(), domain=domain, weights="linear", **options)


def nesterov(smoothness: float, *, domain: Domain | None = None, **options: Any) -> FenchelGame:
    """Return the game of Nesterov's accelerated gradient.

    The averages w_t follow z_t = w_{t-1} + beta_t (w_{t-1} - w_{t-2}), w_t = z_t - eta_t grad f(z_t) with
    eta_t = t / (2 (t + 1) L) and beta_t = (t - 2) / (t + 1), 0 for t <= 2.

    Parameters
    ----------
    smoothness : float > 0
        L, the Lipschitz constant of the gradient.
    domain : Domain or None, default=None
        Points are projected on it.
    **options
        Further parameters of `FenchelGame`.

    Notes
    -----
    f(average) - f(x*) <= 4 L R^2 / (T (T + 1)) for a start of distance R from the minimum x*.
    """
    return FenchelGame(OMDPlus(1.0 / (4.0 * smoothness)), OptimisticFTL(), domain=domain, weights="linear", **options)
