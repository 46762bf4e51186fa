"""The alternating direction method of multipliers: a sum of functions, each minimised by its own proximal map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Real, Rule, check_parameters
from gnomon.linalg import share
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.state import Points, State

__all__ = ["ADMM", "ADMMState", "Residuals", "SplitObjective"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "penalty": Options("fixed", "increasing", "balanced"),
    "first_penalty": Either(Nothing(), Real(low=0.0, low_open=True)),
    "relaxation": Real(low=0.0, high=2.0, low_open=True, high_open=True),
    "max_iter": Integer(low=0),
    "tol": Real(low=0.0),
    "track_loss": Boolean(),
    "block": Integer(low=1),
}
_GROWTH = 1.2  # of an increasing penalty in an iteration
_SHARE = 0.25  # it grows while the primal residual is above this share of the dual one
_LARGEST_GROWTH = 1e4  # in all: from there on the penalty is fixed, as the proof of convergence asks
_RATIO, _FACTOR = 4.0, 10.0  # a balanced penalty changes where one residual is so much larger, by at most the factor
_LEAST_SHARE = 1e-8
_BALANCE_EVERY, _BALANCE_UNTIL = 20, 1000  # iterations; fixed after them
_ENTRIES = 1 << 16  # of a table that are worked on together, so that they stay in the cache


class SplitObjective(Protocol):
    """A sum f(Y) + h_0(Y) + h_1(Y) + ... of convex functions of a matrix, known by their proximal maps."""

    @property
    def n_samples(self) -> int:
        """Rows of Y."""
        ...

    @property
    def row_separable(self) -> tuple[bool, ...]:
        """For each h whether it is a sum over rows, so that its map may be asked for some rows alone."""
        ...

    @property
    def scale(self) -> float:
        """Frobenius norm that differences of Y are compared with."""
        ...

    def first_penalty(self, rule: str) -> float:
        """Return where a rule for the penalty starts."""
        ...

    def loss(self, Y: Any) -> float:
        """Return the sum."""
        ...

    def prox(self, V: Float64Array, penalty: float, memory: Any, out: Float64Array) -> Any:
        """Write argmin f(Y) + penalty / 2 |Y - V|^2 to `out`, which may be V; return the `memory` of the next call."""
        ...

    def prox_term(self, index: int, V: Float64Array, penalty: float, rows: slice) -> Float64Array:
        """Return argmin h_index(Y) + penalty / 2 |Y - V|^2 for some rows."""
        ...


class Residuals(NamedTuple):
    """What an iteration left.

    Attributes
    ----------
    iteration : int
    primal : float
        Largest distance of a copy from Y, over the objective's scale.
    dual : float
        Largest change of a copy, times its penalty, over the norm of the largest multiplier.
    penalty : float
        Sum of the penalties.
    """

    iteration: int
    primal: float
    dual: float
    penalty: float


@dataclass(kw_only=True)
class ADMMState(State):
    """Where an alternating descent stands.

    Attributes
    ----------
    copies, multipliers : ndarray of shape (n_terms, n_samples, n_components)
        Of each h its own Y, and the multiplier of its difference from the common one.
    penalties : ndarray of shape (n_terms,)
    memory : object
        What the objective's `prox` returned; never changed.
    residuals : list of Residuals
        Of all iterations.
    """

    copies: Float64Array
    multipliers: Float64Array
    penalties: Float64Array
    memory: Any = None
    residuals: list[Residuals] = field(default_factory=list)

    def copy(self) -> Self:
        """Return a state with arrays and a list of its own."""
        other = super().copy()
        other.residuals = list(self.residuals)
        return other


class ADMM(Optimizer[ADMMState, SplitObjective]):
    """Minimise f(Y) + sum h_i(Y) by giving each h_i a copy Y_i and asking for Y_i = Y.

    An iteration is

        Y   = argmin f(Y) + sum penalty_i / 2 |Y - Y_i - Z_i / penalty_i|^2
        Y_i = argmin h_i(Y_i) + penalty_i / 2 |Y_i - Y + Z_i / penalty_i|^2     for each i, given Y
        Z_i = Z_i + penalty_i (Y_i - Y).

    All copies together are one block, so there are two, for which the method converges to a minimum with any fixed
    penalty.

    Parameters
    ----------
    penalty : {"fixed", "increasing", "balanced"}, default="fixed"
        "fixed": as it starts. "increasing": times 1.2 after each iteration whose primal residual is above a quarter of
        the dual one, up to 1e4 times the first. It never grows regardless of the dual residual, as it does in widely
        used programs, which then end at a feasible point that is no minimum. "balanced": for each copy times the fourth
        root of the residuals' ratio, by 10 at most, where one is four times the other; looked at every 20 iterations up
        to the 1000th.
    first_penalty : float > 0 or None, default=None
        Where it starts; None asks the objective.
    relaxation : float in (0, 2), default=1.6
        Share of Y against the old copy in the last two lines; 1 is none.
    max_iter : int >= 0, default=1000
        Iterations in all.
    tol : float >= 0, default=1e-6
        End when both residuals are at most this.
    track_loss : bool, default=False
        Evaluate the loss after each block.
    block : int >= 1, default=1
        Iterations between reports.

    References
    ----------
    .. [1] Boyd, Parikh, Chu, Peleato & Eckstein, "Distributed optimization and statistical learning via the alternating
       direction method of multipliers", Foundations and Trends in Machine Learning 3, 2011, sections 3.3, 3.4 and 7.1.
    .. [2] Lin, Chen & Ma, "The augmented Lagrange multiplier method for exact recovery of corrupted low-rank matrices",
       2010 (increasing penalty).
    """

    state_type: ClassVar[type[State]] = ADMMState
    dtypes = (np.float64,)
    uses_blas = True

    @entrance("ADMM")
    def __init__(
        self,
        *,
        penalty: str = "fixed",
        first_penalty: float | None = None,
        relaxation: float = 1.6,
        max_iter: int = 1000,
        tol: float = 1e-6,
        track_loss: bool = False,
        block: int = 1,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        self.penalty: str = checked["penalty"]
        self.first_penalty: float | None = checked["first_penalty"]
        self.relaxation: float = checked["relaxation"]
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.track_loss: bool = checked["track_loss"]
        self.block: int = checked["block"]

    def start(self, objective: SplitObjective, Y: Points) -> ADMMState:
        """Give each term a copy of Y and no multiplier."""
        n_terms = len(objective.row_separable)
        first = objective.first_penalty(self.penalty) if self.first_penalty is None else self.first_penalty
        return ADMMState(
            embedding=Y,
            copies=np.repeat(Y[None], n_terms, axis=0),
            multipliers=np.zeros((n_terms, *Y.shape)),
            penalties=np.full(n_terms, float(first)),
        )

    def step(self, objective: SplitObjective, state: ADMMState, limit: int) -> Step:
        """Do one iteration."""
        total = float(state.penalties.sum())
        target = self._gather(objective, state)
        state.memory = objective.prox(target, total, state.memory, target)
        norms = np.array([self._update_copy(objective, state, index) for index in range(len(state.copies))])
        primal = norms[:, 0] / (objective.scale or 1.0)
        dual = norms[:, 1] / (float(norms[:, 2].max()) or 1.0)
        state.iteration += 1
        state.residuals.append(Residuals(state.iteration, float(primal.max()), float(dual.max()), total))
        largest = float(max(primal.max(), dual.max()))
        if largest <= self.tol:
            return Step(largest, 0.0, f"Both residuals fell to tol={self.tol:g} in iteration {state.iteration}.")
        self._adapt(state, primal, dual)
        return Step(largest)

    def excess(self, state: ADMMState) -> float | None:
        """Say that it ends at a time unknown: residuals fall in spurts, as penalties and supports change."""
        return math.inf if self.tol else None

    def divergence(self, objective: SplitObjective, state: ADMMState) -> tuple[str, str]:
        """Return the penalty and what to do."""
        return f"penalty={float(state.penalties.sum()):g}", "Check the objective's proximal maps and its data."

    def _update_copy(self, objective: SplitObjective, state: ADMMState, index: int) -> tuple[float, float, float]:
        """Bring a copy and its multiplier up to date; return the norms of both residuals and of the multiplier."""
        Y, copy, multiplier = state.embedding, state.copies[index], state.multipliers[index]
        penalty = float(state.penalties[index])

        def update(rows: slice) -> tuple[float, ...]:
            now, before = Y[rows], copy[rows]
            V = multiplier[rows] * (-1.0 / penalty)
            work = np.multiply(now, self.relaxation)
            V += work
            V += np.multiply(before, 1.0 - self.relaxation, out=work)
            new = objective.prox_term(index, V, penalty, rows)
            np.subtract(new, V, out=V)
            size = _square(V)
            np.multiply(V, penalty, out=multiplier[rows])
            gap, change = _square(np.subtract(new, now, out=work)), _square(np.subtract(new, before, out=work))
            copy[rows] = new
            return gap, change, size

        blocks = _blocks(Y.shape) if objective.row_separable[index] else [slice(0, len(Y))]
        gap, change, size = np.sqrt(np.sum(share(update, blocks), axis=0))
        return float(gap), penalty * float(change), penalty * float(size)

    def _gather(self, objective: SplitObjective, state: ADMMState) -> Float64Array:
        """Write where the copies and multipliers want Y to be over the old Y, which is not needed any more."""
        target, total = state.embedding, float(state.penalties.sum())

        def gather(rows: slice) -> None:
            block = target[rows]
            for index, penalty in enumerate(state.penalties):
                part = state.copies[index, rows] * (penalty / total)
                part += state.multipliers[index, rows] * (1.0 / total)
                if index:
                    block += part
                else:
                    block[:] = part

        share(gather, _blocks(target.shape))
        return target

    def _adapt(self, state: ADMMState, primal: Float64Array, dual: Float64Array) -> None:
        """Change the penalties for the next iteration; multipliers are not scaled by them and stay."""
        total = state.residuals[-1].penalty
        if self.penalty == "increasing" and primal.max() > _SHARE * dual.max():
            if total * _GROWTH <= _LARGEST_GROWTH * state.residuals[0].penalty:
                state.penalties *= _GROWTH
        elif self.penalty == "balanced" and state.iteration % _BALANCE_EVERY == 0 and state.iteration <= _BALANCE_UNTIL:
            least = _LEAST_SHARE * max(primal.max(), dual.max())  # positive, else the iteration had ended
            ratio = np.maximum(primal, least) / np.maximum(dual, least)
            factor = np.clip(np.sqrt(np.sqrt(ratio)), 1.0 / _FACTOR, _FACTOR)
            state.penalties *= np.where((ratio > _RATIO) | (ratio < 1.0 / _RATIO), factor, 1.0)


def _blocks(shape: tuple[int, ...]) -> list[slice]:
    step = max(1, _ENTRIES // max(1, shape[1]))
    return [slice(begin, min(begin + step, shape[0])) for begin in range(0, shape[0], step)]


def _square(X: Float64Array) -> float:
    return float(np.square(X).sum())
