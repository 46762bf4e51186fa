"""Plain gradient steps of a given length, in float64: descent whose every step has a proof."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon._threads import single_threaded_blas
from gnomon._validation import Boolean, Integer, Real, Rule, check_parameters, message
from gnomon.optimizers.solution import Solution, diverged

__all__ = ["SafeDescent", "SafeDescentState"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "learning_rate": Real(0.0),
    "preconditioned": Boolean(),
    "max_iter": Integer(low=0),
    "min_grad_norm": Real(0.0),
    "block": Integer(low=1),
}
_RIDGE = 1e-12  # of the trace of Yc'Yc, so that a column that vanishes divides nothing by zero


class DoubleObjective(Protocol):
    """An objective in float64, such as `Strain`."""

    @property
    def n_samples(self) -> int:
        """Number of points."""
        ...

    def loss(self, Y: Float64Array) -> float:
        """Return the loss."""
        ...

    def gradient(self, Y: Float64Array) -> Float64Array:
        """Return the gradient."""
        ...


@dataclass(frozen=True)
class SafeDescentState:
    """Where a descent stands.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float64
    iteration : int
        Iterations done.
    """

    embedding: Float64Array
    iteration: int = 0


class SafeDescent:
    """Descend by Y <- Y - learning_rate * gradient, or by the preconditioned step.

    The preconditioned step of the strain, with learning_rate = 1/8, is Y + 1/2 (T Yc - Yc Yc'Yc) (Yc'Yc)^-1: the
    Babylonian square root on top of subspace iteration. Its error shrinks by (1 + lambda_d+1 / lambda_d) / 2 in an
    iteration, that of the safe step by 1 - (lambda_d - lambda_d+1) / (3 lambda_1): it gains where the components wanted
    differ much in size. Its loss may rise in the first iterations.

    Parameters
    ----------
    learning_rate : float >= 0
        Factor of the gradient; `Strain.safe_step` knows one that lowers the loss in every iteration.
    preconditioned : bool, default=False
        Multiply the gradient by (Yc'Yc)^-1 from the right, with a ridge of 1e-12 of its trace.
    max_iter : int >= 0, default=5000
        Most iterations.
    min_grad_norm : float >= 0, default=0.0
        End when the Frobenius norm of the gradient is at most this.
    block : int >= 1, default=10
        Iterations between evaluations of the loss and reports.
    """

    def __init__(
        self,
        learning_rate: float,
        *,
        preconditioned: bool = False,
        max_iter: int = 5000,
        min_grad_norm: float = 0.0,
        block: int = 10,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _RULES}
        checked = check_parameters("SafeDescent", _RULES, given)
        self.learning_rate: float = checked["learning_rate"]
        self.preconditioned: bool = checked["preconditioned"]
        self.max_iter: int = checked["max_iter"]
        self.min_grad_norm: float = checked["min_grad_norm"]
        self.block: int = checked["block"]

    def minimize(
        self,
        objective: DoubleObjective,
        Y0: npt.ArrayLike,
        *,
        reporter: Reporter | None = None,
        state: SafeDescentState | None = None,
        stop_after: int | None = None,
    ) -> Solution:
        """Descend from Y0.

        Parameters
        ----------
        objective : objective in float64
            What to minimise.
        Y0 : array-like of shape (n_samples, n_components)
            Where to start; not changed. Its mean stays where it is.
        reporter : Reporter, default=None
            Told after each block; may ask to end.
        state : SafeDescentState, default=None
            Go on from the state of an earlier Solution; Y0 is not used then.
        stop_after : int, default=None
            End when so many iterations have been done in all, to be resumed later.

        Returns
        -------
        Solution
            `embedding` is float64. `converged` says whether the gradient fell below `min_grad_norm`. The loss of the
            start is the first of the history.

        Raises
        ------
        FloatingPointError
            If the embedding leaves the finite numbers.
        """
        reporter = Reporter() if reporter is None else reporter
        if state is None:
            state = SafeDescentState(_check_start(Y0, objective.n_samples))
        last = self.max_iter if stop_after is None else min(stop_after, self.max_iter)
        Y: Any = state.embedding.copy()
        began, n_iter, stopped, converged = time.perf_counter(), state.iteration, False, False
        history = [(n_iter, objective.loss(Y))] if n_iter == 0 else []
        while n_iter < last and not (converged or stopped):
            before = n_iter
            end = min((n_iter // self.block + 1) * self.block, last)
            with single_threaded_blas():
                n_iter, converged = self._descend(objective, Y, n_iter, end)
                loss = objective.loss(Y) if n_iter > before else None
            if loss is not None:
                history.append((n_iter, loss))
                if not np.isfinite(loss):
                    raise diverged("SafeDescent", n_iter, self.learning_rate)
                stopped = reporter.update(n_iter, self.max_iter, loss=loss, embedding=Y)
        reason = f"Iteration {n_iter} of {self.max_iter} was reached."
        if converged:
            reason = f"The gradient's norm fell to min_grad_norm={self.min_grad_norm:.3g} in iteration {n_iter}."
        elif stopped:
            reason = f"The callback asked to end after iteration {n_iter} of {self.max_iter}."
        timings = {"descent": time.perf_counter() - began}
        return Solution(Y, history, converged, reason, n_iter, timings, SafeDescentState(Y, n_iter))

    def _descend(self, objective: DoubleObjective, Y: Float64Array, begin: int, end: int) -> tuple[int, bool]:
        """Move Y to iteration `end`, or to where the gradient vanishes; return the iteration and whether it did."""
        for iteration in range(begin, end):
            gradient = objective.gradient(Y)
            norm = float(np.linalg.norm(gradient))
            if not np.isfinite(norm):
                raise diverged("SafeDescent", iteration, self.learning_rate)
            if norm <= self.min_grad_norm:
                return iteration, True
            Y -= self.learning_rate * (self._precondition(gradient, Y) if self.preconditioned else gradient)
        return end, False

    @staticmethod
    def _precondition(gradient: Float64Array, Y: Float64Array) -> Float64Array:
        centred = Y - Y.mean(axis=0)
        scatter = centred.T @ centred
        ridge = _RIDGE * float(np.trace(scatter))
        if not ridge > 0.0:  # all points lie on one another, where the gradient is zero
            return gradient
        return np.linalg.solve(scatter + ridge * np.eye(len(scatter)), gradient.T).T


def _check_start(Y0: npt.ArrayLike, n_samples: int) -> Float64Array:
    """Return a new float64 copy of Y0, or raise ValueError if shape or values cannot be started from."""
    start = np.array(Y0, dtype=np.float64, order="C", copy=True)
    if start.ndim != 2 or start.shape[0] != n_samples or start.shape[1] < 1:
        rule = f"of shape (n_samples={n_samples}, n_components)"
        raise ValueError(message("SafeDescent", f"Y0 of shape {start.shape}", rule))
    if not np.isfinite(start).all():
        raise ValueError(message("SafeDescent", "Y0", "finite"))
    return start
