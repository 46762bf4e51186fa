"""When a descent may end before its last iteration."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.optimizers.state import State

__all__ = ["Stopping"]


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

    def unmet(self, state: State) -> str:
        """Return what did not come before the last iteration, as a clause; "" if nothing was waited for."""
        if self.tol is None or state.largest_gradient_norm == 0.0:
            return ""
        share = state.gradient_norm / state.largest_gradient_norm
        return f" before the gradient's norm fell to tol={self.tol:g} of its largest (it is {share:.2g} of it)"
