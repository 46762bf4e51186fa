"""Descents of points on a curved surface: by sampled epochs, and along the gradient of all pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Options, Real, Rule, check_parameters, message
from gnomon.objectives import CrossEntropy, OnSurface
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.sampled_descent import usual_epochs
from gnomon.optimizers.state import Points, State, Stopping

__all__ = ["SampledSurfaceDescent", "SampledSurfaceState", "SurfaceDescent", "SurfaceState"]

_SAMPLED_RULES: dict[str, Rule] = {
    "max_iter": Either(Options("auto"), Integer(low=0)),
    "learning_rate": Real(low=0.0, low_open=True),
    "block": Integer(low=1),
}
_RULES: dict[str, Rule] = {"max_iter": Integer(low=0), "tol": Real(low=0.0), "block": Integer(low=1)}
_DECREASE, _TRIES = 1e-4, 30  # Armijo's share of the linear decrease; halvings of a step
_LONGEST = 1.0  # of a point's step, in units of the map


@dataclass(kw_only=True)
class SampledSurfaceState(State):
    """Where a sampled descent on a surface stands; its iterations are epochs.

    Attributes
    ----------
    first_moment : ndarray of shape (n_samples, width), float64
        Adam's averages of the force, vectors at the points.
    second_moment : ndarray of shape (n_samples,), float64
        Its averages of the mean square of a component.
    """

    first_moment: Points
    second_moment: Points


class SampledSurfaceDescent(Optimizer[SampledSurfaceState, OnSurface]):
    """`SampledDescent` of a cross-entropy on a surface.

    Forces are those of an epoch of `SampledDescent`, by geodesic distances, with the length of a pair's force cut to 4.
    Each point moves along the geodesic of Adam's step, which has no preferred axes, and its average of the force is
    carried along (parallel transport) [1]_. A step of length v leads as far as 2 R atan(v / 2R) on a sphere of radius
    R and 2 R asinh(v / 2R) on a hyperboloid, v to second order.

    Parameters
    ----------
    max_iter : "auto" or int >= 0, default="auto"
        Epochs; "auto" is 500 up to 10000 points, else 200.
    learning_rate : float > 0, default=1.0
        Step of the first epoch, in units of the map; falls linearly to 0.
    block : int >= 1, default=10
        Epochs between reports.

    References
    ----------
    .. [1] Becigneul & Ganea, "Riemannian adaptive optimization methods", ICLR 2019.
    """

    unit = "epoch"
    evaluation = "sampled"
    dtypes = (np.float64,)
    state_type: ClassVar[type[State]] = SampledSurfaceState
    has_schedule = True
    track_loss = False

    @entrance("SampledSurfaceDescent")
    def __init__(
        self, max_iter: int | Literal["auto"] = "auto", *, learning_rate: float = 1.0, block: int = 10
    ) -> None:
        given = {"max_iter": max_iter, "learning_rate": learning_rate, "block": block}
        checked = check_parameters(_SAMPLED_RULES, given)
        self.max_iter: int | str = checked["max_iter"]
        self.learning_rate: float = checked["learning_rate"]
        self.block: int = checked["block"]

    def resolve_max_iter(self, n_samples: int) -> int:
        """Return the number of epochs for n_samples points."""
        return usual_epochs(n_samples) if self.max_iter == "auto" else int(self.max_iter)

    @entrance("SampledSurfaceDescent")
    def start(self, objective: OnSurface, Y: Points) -> SampledSurfaceState:
        """Begin without a memory, on a cross-entropy."""
        if not isinstance(objective.flat, CrossEntropy):
            what, rule = f"objective of {type(objective.flat).__name__}", "of CrossEntropy to be sampled on a surface"
            raise ValueError(message(what, rule, remedy="Use SurfaceDescent."))
        return SampledSurfaceState(embedding=Y, first_moment=np.zeros_like(Y), second_moment=np.zeros(len(Y)))

    def stage(self, iteration: int) -> str:
        """Return "epochs"."""
        return "epochs"

    def step(self, objective: OnSurface, state: SampledSurfaceState, limit: int) -> Step:
        """Run all epochs to `limit` at once."""
        flat = objective.flat
        assert isinstance(flat, CrossEntropy)
        _core.surface_epochs(
            objective.compiled_surface,
            flat.edges.graph,
            *flat.sampling_weights,
            flat.compiled_kernel,
            flat.sampling,
            _core.SampledSchedule(self.learning_rate, max(self.resolve_max_iter(objective.n_samples), 1)),
            state.iteration,
            limit,
            state.embedding,
            state.first_moment,
            state.second_moment,
            current_run().n_threads,
        )
        state.iteration = limit
        return Step()

    def divergence(self, objective: OnSurface, state: SampledSurfaceState) -> tuple[str, str]:
        """Return the learning rate and what to do."""
        return f"learning_rate={self.learning_rate:g}", "Lower learning_rate, or check the initial embedding."


@dataclass(kw_only=True)
class SurfaceState(State):
    """Where a descent along the gradient on a surface stands.

    Attributes
    ----------
    step_size : float
        Of the last step, in units of the map per unit of the gradient; 0 before the first.
    loss : float
        At the embedding; NaN before the first step.
    gradient : ndarray of shape (n_samples, width), float64
        There.
    """

    gradient: Points
    step_size: float = 0.0
    loss: float = math.nan


class SurfaceDescent(Optimizer[SurfaceState, OnSurface]):
    """Descend along the Riemannian gradient of all pairs; the loss falls in every iteration.

    Every point moves along the geodesic that its gradient leaves in. The step is tried from twice the last one down by
    halves until the loss falls by 1e-4 of what the gradient foretells (Armijo); no point moves farther than 1 unit of
    the map in a step.

    Parameters
    ----------
    max_iter : int >= 0, default=500
        Iterations; each takes one evaluation of all pairs, or a few.
    tol : float >= 0, default=1e-5
        End when the norm of the gradient is at most this share of the largest seen.
    block : int >= 1, default=50
        Iterations between reports.

    References
    ----------
    .. [1] Absil, Mahony & Sepulchre, "Optimization algorithms on matrix manifolds", 2008, chapter 4.
    """

    dtypes = (np.float64,)
    state_type: ClassVar[type[State]] = SurfaceState

    @entrance("SurfaceDescent")
    def __init__(self, *, max_iter: int = 500, tol: float = 1e-5, block: int = 50) -> None:
        checked = check_parameters(_RULES, {"max_iter": max_iter, "tol": tol, "block": block})
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.block: int = checked["block"]

    @property
    def stopping(self) -> Stopping:
        """A small gradient."""
        return Stopping(tol=self.tol)

    def start(self, objective: OnSurface, Y: Points) -> SurfaceState:
        """Begin without knowing a step."""
        return SurfaceState(embedding=Y, gradient=np.zeros_like(Y))

    def step(self, objective: OnSurface, state: SurfaceState, limit: int) -> Step:
        """Do one iteration."""
        if state.step_size == 0.0:
            state.loss, state.gradient = objective.loss_and_gradient(state.embedding)
        lengths = _lengths(state.gradient)
        norm, longest = float(np.sqrt(np.square(lengths).sum())), float(lengths.max(initial=0.0))
        if longest == 0.0:
            return Step(norm, finished="The gradient is zero.")
        size = min(2.0 * state.step_size, _LONGEST / longest) if state.step_size else _LONGEST / longest
        for _ in range(_TRIES):
            tried = objective.surface.go(state.embedding, -size * state.gradient)
            loss, gradient = objective.loss_and_gradient(tried)
            if loss <= state.loss - _DECREASE * size * norm**2:
                state.embedding, state.loss, state.gradient, state.step_size = tried, loss, gradient, size
                state.iteration += 1
                return Step(norm, size * norm)
            size *= 0.5
        return Step(norm, finished="No step along the gradient lowers the loss by what can be told.")


def _lengths(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=1)))
