"""Steps among matrices with orthonormal columns: along the gradient, then back to the nearest such matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import Either, Integer, Options, Real, Rule, check_parameters
from gnomon.objectives import polar_factor
from gnomon.optimizers.base import Optimizer, Step, Valued
from gnomon.optimizers.state import Points, State

__all__ = ["PolarDescent", "PolarObjective", "PolarState"]

_RULES: dict[str, Rule] = {
    "learning_rate": Either(Options("infinite"), Real(0.0, low_open=True)),
    "max_iter": Integer(low=0),
    "tol": Real(low=0.0),
    "block": Integer(low=1),
}


class PolarObjective(Valued, Protocol):
    """A loss -tr(U' S U) + constant on matrices with orthonormal columns, with S positive semidefinite."""

    def scatter_times(self, U: Points) -> Points:
        """Return S U."""
        ...

    def largest_eigenvalue(self) -> float:
        """Return about the largest eigenvalue of S."""
        ...


@dataclass(kw_only=True)
class PolarState(State):
    """Where a polar descent stands.

    Attributes
    ----------
    largest_eigenvalue : float
        Of S.
    """

    largest_eigenvalue: float


class PolarDescent(Optimizer[PolarState, PolarObjective]):
    """Descend by U <- polar(U + eta S U), with polar(M) the nearest matrix with orthonormal columns.

    The loss falls in every iteration for every eta > 0: tr(U' S U) is convex, so that it grows at least as its
    linear part, which the polar factor makes largest. With eta = infinity this is orthogonal iteration. The error
    falls by (1 + eta lambda_(k+1)) / (1 + eta lambda_k) in each iteration, fastest for the largest eta.

    Parameters
    ----------
    learning_rate : "infinite" or float > 0, default="infinite"
        eta times the largest eigenvalue of S.
    max_iter : int >= 0, default=1000
        Iterations in all.
    tol : float >= 0, default=1e-8
        End when the norm of the gradient along the orthonormal matrices, 2 (I - U U') S U, is at most this share of
        the largest eigenvalue of S (checked in each iteration).
    block : int >= 1, default=10
        Iterations between evaluations of the loss and reports.
    """

    state_type: ClassVar[type[State]] = PolarState
    dtypes = (np.float64,)
    uses_blas = True

    @entrance("PolarDescent")
    def __init__(
        self,
        learning_rate: float | str = "infinite",
        *,
        max_iter: int = 1000,
        tol: float = 1e-8,
        block: int = 10,
    ) -> None:
        given = {"learning_rate": learning_rate, "max_iter": max_iter, "tol": tol, "block": block}
        checked = check_parameters(_RULES, given)
        self.learning_rate: float | str = checked["learning_rate"]
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.block: int = checked["block"]

    def start(self, objective: PolarObjective, Y: Points) -> PolarState:
        """Make the columns orthonormal."""
        return PolarState(embedding=polar_factor(Y), largest_eigenvalue=objective.largest_eigenvalue())

    def step(self, objective: PolarObjective, state: PolarState, limit: int) -> Step:
        """Do one iteration."""
        U, largest = state.embedding, state.largest_eigenvalue
        pulled = objective.scatter_times(U)
        norm = 2.0 * float(np.linalg.norm(pulled - U @ (U.T @ pulled)))
        if norm <= self.tol * largest or not math.isfinite(norm):
            return Step(norm, 0.0, f"The gradient's norm fell to {self.tol:g} of the largest eigenvalue.")
        if isinstance(self.learning_rate, str):
            following = polar_factor(pulled)
        else:
            following = polar_factor(U + (self.learning_rate / largest) * pulled)
        length = float(np.linalg.norm(following - U))
        state.embedding = following
        state.iteration += 1
        return Step(norm, length)

    def excess(self, state: PolarState) -> float | None:
        """Return how many times the gradient's norm is the share of the largest eigenvalue at which it ends."""
        if not self.tol:
            return None
        least = self.tol * state.largest_eigenvalue
        return state.gradient_norm / least if least > 0.0 else math.inf

    def divergence(self, objective: PolarObjective, state: PolarState) -> tuple[str, str]:
        """Return the step and what to do."""
        return f"learning_rate={self.learning_rate}", "Check the objective's scatter_times."
