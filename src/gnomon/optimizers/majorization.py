"""Majorization: each step goes to the minimum of a quadratic above the loss, or further where that is lower."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.optimizers.base import Optimizer, Step, Valued
from gnomon.optimizers.state import Points, State

__all__ = ["Majorizable", "Majorization", "MajorizationState"]

_RULES: dict[str, Rule] = {
    "max_iter": Integer(low=0),
    "tol": Real(low=0.0),
    "memory": Integer(low=0),
    "block": Integer(low=1),
}
_PATIENCE = 3  # steps below tol in a row that end an extrapolated run: one alone may be a poor extrapolation
_RIDGE = 1e-10  # of the mean diagonal: differences of late steps are nearly dependent


class Majorizable(Valued, Protocol):
    """An objective that knows a quadratic above it."""

    def majorize(self, Y: Points) -> tuple[float, Points]:
        """Return the loss at Y and the minimum of a quadratic that touches the loss at Y and is nowhere below it."""
        ...


@dataclass(kw_only=True)
class MajorizationState(State):
    """Where a majorization stands.

    Attributes
    ----------
    loss : float
        Of the embedding.
    image : ndarray of shape (n_samples, n_components)
        Minimum of the quadratic that touches the loss at the embedding.
    image_changes, step_changes : ndarray of shape (memory, n_samples, n_components)
        Changes of the image, and of image - embedding, in the last steps.
    n_changes : int
        How many were made; the last is at place n_changes - 1 modulo memory.
    n_small : int
        Last steps in a row that lowered the loss by less than tol.
    last_fall : float
        Share of the loss by which the last step lowered it.
    n_evaluations : int
        Calls of ``objective.majorize``.
    """

    loss: float
    image: Points
    image_changes: npt.NDArray[Any]
    step_changes: npt.NDArray[Any]
    n_changes: int = 0
    n_small: int = 0
    last_fall: float = math.inf
    n_evaluations: int = 1


class Majorization(Optimizer[MajorizationState, Majorizable]):
    """Go to the minimum of a quadratic above the loss, again and again: for the stress this is SMACOF.

    The loss never rises. With a memory, the last steps are combined into a longer one (Anderson's extrapolation); it
    is taken only where the loss is lower there, else the plain step is, at the cost of a second evaluation.

    Parameters
    ----------
    max_iter : int >= 0, default=300
        Iterations in all.
    tol : float >= 0, default=1e-6
        End when a step lowers the loss by less than this share of it, with a memory in three steps in a row.
    memory : int >= 0, default=5
        Steps that are combined; 0 takes plain steps.
    block : int >= 1, default=10
        Iterations between reports.

    References
    ----------
    .. [1] de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977 (SMACOF).
    .. [2] Walker & Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer. Anal. 49, 2011.
    """

    state_type: ClassVar[type[State]] = MajorizationState
    uses_blas = True

    @entrance("Majorization")
    def __init__(self, *, max_iter: int = 300, tol: float = 1e-6, memory: int = 5, block: int = 10) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters(_RULES, given)
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.memory: int = checked["memory"]
        self.block: int = checked["block"]

    def start(self, objective: Majorizable, Y: Points) -> MajorizationState:
        """Evaluate the start."""
        loss, image = objective.majorize(Y)
        changes = np.zeros((self.memory, *Y.shape), dtype=Y.dtype)
        return MajorizationState(
            embedding=Y, loss=loss, image=image, image_changes=changes, step_changes=changes.copy()
        )

    def step(self, objective: Majorizable, state: MajorizationState, limit: int) -> Step:
        """Do one iteration."""
        plain = state.image - state.embedding
        length = math.sqrt(np.square(plain, dtype=np.float64).sum())
        if state.loss == 0.0 or length == 0.0:
            return Step(length, 0.0, "The loss cannot be lowered: its gradient is zero.")
        taken = (
            self._try(objective, state, self._extrapolate(state, plain)) if min(state.n_changes, self.memory) else None
        )
        if taken is None:
            taken = self._try(objective, state, state.image)
            state.n_changes = 0
        if taken is None:
            eps = float(np.finfo(state.embedding.dtype).eps)
            reason = f"No step lowers the loss by more than {state.embedding.dtype} can tell ({eps:.1g} of it)."
            return Step(length, 0.0, reason)
        points, loss, image = taken
        if self.memory:
            place = state.n_changes % self.memory
            state.image_changes[place] = image - state.image
            state.step_changes[place] = (image - points) - plain
            state.n_changes += 1
        state.last_fall = (state.loss - loss) / state.loss
        small = state.loss - loss < self.tol * state.loss
        state.n_small = state.n_small + 1 if small else 0
        moved = math.sqrt(np.square(points - state.embedding, dtype=np.float64).sum())
        state.embedding, state.loss, state.image = points, loss, image
        state.iteration += 1
        if state.n_small >= (_PATIENCE if self.memory else 1):
            return Step(length, moved, f"A step lowered the loss by less than tol={self.tol:g} of it.")
        return Step(length, moved)

    def excess(self, state: MajorizationState) -> float | None:
        """Return by how many times tol of it the last steps lowered the loss."""
        return state.last_fall / self.tol if self.tol else None

    def _try(
        self, objective: Majorizable, state: MajorizationState, points: Points
    ) -> tuple[Points, float, Points] | None:
        """Return points with their loss and image if the loss is lower there."""
        if not np.isfinite(points).all():
            return None
        loss, image = objective.majorize(points)
        state.n_evaluations += 1
        return (points, loss, image) if loss < state.loss else None

    def _extrapolate(self, state: MajorizationState, plain: Points) -> Points:
        """Return the image, less the combination of its changes whose changes of the step cancel most of the step."""
        used = min(state.n_changes, self.memory)
        changes = state.step_changes[:used].reshape(used, -1).astype(np.float64)
        gram = changes @ changes.T
        gram[np.diag_indices(used)] += _RIDGE * max(float(np.trace(gram)) / used, np.finfo(np.float64).tiny)
        factors = np.linalg.solve(gram, changes @ plain.ravel().astype(np.float64))
        longer = state.image - np.tensordot(factors, state.image_changes[:used].astype(np.float64), axes=1)
        return np.ascontiguousarray(longer, dtype=state.embedding.dtype)
