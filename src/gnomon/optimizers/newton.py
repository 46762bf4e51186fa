"""Newton's method with damping: the last steps to a minimum, where losses are flat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import length
from gnomon._entrance import entrance
from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.objectives.base import check_gradient
from gnomon.optimizers.base import Optimizer, Step, Valued
from gnomon.optimizers.state import Points, State, Stopping

__all__ = ["Newton", "NewtonState"]

_RULES: dict[str, Rule] = {"max_iter": Integer(low=0), "tol": Real(low=0.0), "damping": Real(low=0.0, low_open=True)}
_LEAST, _MOST = 1e-12, 1e12  # damping in units of the mean curvature
_TRIALS, _TRIALS_NEAR = 40, 4
_ACCEPTED, _GOOD = 0.1, 0.7
_NEAR = 1e4  # roundings of the loss


class TwiceDifferentiable(Valued, Protocol):
    """What the method asks of an objective: losses, gradients and the matrix of second derivatives."""

    def gradient(self, Y: Any) -> npt.NDArray[Any]:
        """Return the gradient, (n_samples, n_components)."""
        ...

    def hessian(self, Y: Any) -> npt.NDArray[np.float64]:
        """Return the Hessian, a new array, component by component."""
        ...


@dataclass(kw_only=True)
class NewtonState(State):
    """Where Newton's method stands.

    Attributes
    ----------
    damping : float
        Added to the Hessian's diagonal in the next step, in units of its mean.
    """

    damping: float


class Newton(Optimizer[NewtonState, TwiceDifferentiable]):
    """Descend by Newton steps, with as much added to the diagonal of the Hessian as makes the loss fall.

    An iteration factorises a dense matrix of n_samples * n_components rows: for some thousand points that are near a
    minimum. Close to it the number of right digits doubles in each iteration. A loss that rotating and shifting the map
    does not change has no curvature along these; the damping keeps steps out of them.

    Parameters
    ----------
    max_iter : int >= 0, default=50
        Iterations in all.
    tol : float >= 0, default=1e-10
        End when the norm of the gradient is at most this share of the largest seen.
    damping : float > 0, default=1e-3
        At the start, in units of the mean of the Hessian's diagonal; a third of it after a good step, more after a
        failed one (Levenberg and Marquardt).

    References
    ----------
    .. [1] Nocedal & Wright, "Numerical Optimization", 2nd ed., Springer, 2006, chapters 3 and 4.
    """

    state_type: ClassVar[type[State]] = NewtonState
    uses_blas = True
    follows_gradient = True

    @entrance("Newton")
    def __init__(self, *, max_iter: int = 50, tol: float = 1e-10, damping: float = 1e-3) -> None:
        given = {"max_iter": max_iter, "tol": tol, "damping": damping}
        checked = check_parameters(_RULES, given)
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.damping: float = checked["damping"]
        self.block = 1

    @property
    def stopping(self) -> Stopping:
        """A small gradient."""
        return Stopping(tol=self.tol)

    def start(self, objective: TwiceDifferentiable, Y: Points) -> NewtonState:
        """Begin with the damping given."""
        return NewtonState(embedding=Y, damping=self.damping)

    def step(self, objective: TwiceDifferentiable, state: NewtonState, limit: int) -> Step:
        """Take one step that lowers the loss."""
        Y = state.embedding
        loss, gradient = objective.loss(Y), check_gradient(objective, objective.gradient(Y), Y).astype(np.float64)
        norm = length(gradient)
        if norm == 0.0:
            return Step(0.0, 0.0, "The gradient is 0.")
        H = objective.hessian(Y)
        unit = float(np.abs(np.diagonal(H)).mean()) or 1.0
        noise = 4.0 * float(np.finfo(np.float64).eps) * max(abs(loss), 1.0)
        for trial in range(_TRIALS):
            move = _solve(H, state.damping * unit, gradient)
            if move is not None:
                expected = 0.5 * float((move * gradient).sum())
                near = expected < _NEAR * noise  # the loss can no longer tell: the gradient decides
                if near and trial >= _TRIALS_NEAR:
                    break
                gain = self._gain(objective, (Y - move).astype(Y.dtype), loss, norm, expected, near)
                if gain > _ACCEPTED:
                    state.damping = max(_LEAST, state.damping / (10.0 if gain > _GOOD else 1.0))
                    state.embedding, state.iteration = (Y - move).astype(Y.dtype), state.iteration + 1
                    return Step(norm, float(np.linalg.norm(move)))
            state.damping *= 4.0
            if state.damping > _MOST:
                break
        reason = f"No step lowers the loss by more than float64 can tell; the gradient's norm is {norm:.2g}."
        return self.no_fall(objective, state, norm, reason)

    def _gain(
        self, objective: TwiceDifferentiable, Y: Points, loss: float, norm: float, expected: float, near: bool
    ) -> float:
        """Return the fall of the loss as a share of that expected, or near the minimum that of the gradient's norm."""
        if near:
            return 1.0 - float(np.linalg.norm(objective.gradient(Y))) / norm
        return (loss - objective.loss(Y)) / expected


def _solve(
    H: npt.NDArray[np.float64], damping: float, gradient: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """Return the step (H + damping I)^-1 gradient, or None where the matrix is not positive definite."""
    damped = H.copy()
    damped[np.diag_indices(len(H))] += damping
    try:
        factor = scipy.linalg.cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    step = scipy.linalg.cho_solve(factor, np.ascontiguousarray(gradient.T).ravel(), check_finite=False)
    return np.asarray(step.reshape(gradient.shape[::-1]).T)
