"""L-BFGS: steps along directions that the last gradients' changes make Newton-like."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length
from gnomon._entrance import entrance
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.objectives import Objective
from gnomon.objectives.base import check_gradient
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.downhill import LEAST_FALL, fall_downhill
from gnomon.optimizers.loop import schedule_of
from gnomon.optimizers.state import COMPARE, UPHILL, Points, State, Stopping

__all__ = ["LBFGS", "LBFGSState"]

_RULES: dict[str, Rule] = {
    "max_iter": Integer(low=0),
    "tol": Real(low=0.0),
    "memory": Integer(low=1),
    "block": Integer(low=1),
}
_VERY_HIGH = 1e10  # stands for a loss that is not finite, in units of the loss: the line search turns back

_SMALL = 0.01  # share of its largest norm that the gradient falls below before float32 hides the loss's fall


@dataclass(kw_only=True)
class LBFGSState(State):
    """Where L-BFGS stands.

    Attributes
    ----------
    anchor : ndarray of shape (n_samples, n_components)
        Where the curvature's memory was last empty.
    anchor_iteration : int
        When that was.
    """

    anchor: Points
    anchor_iteration: int = 0


class LBFGS(Optimizer[LBFGSState, Objective]):
    """Descend by SciPy's L-BFGS-B without bounds, for objectives whose gradient is that of their loss.

    Each block is one call of SciPy and begins with an empty memory of the curvature, at points rounded to the
    objective's number type; the search itself computes in float64. SciPy gives its memory to nobody, so a run that was
    ended inside a block is resumed from the beginning of the block: the iterations since are done again, and the
    result is that of one run, bit for bit.

    Parameters
    ----------
    max_iter : int >= 0, default=500
        Iterations in all; one takes a little more than one evaluation of loss and gradient.
    tol : float >= 0, default=1e-5
        End when the norm of the gradient is at most this share of the largest seen. The descent also ends, as
        converged, when the iterations of a block lower the loss by less than the objective's number type can tell,
        1.2e-7 of it for each in float32; not so where the loss is drawn anew whenever it is evaluated and the gradient
        is above a hundredth of the largest: noise hides what is left, which is warned of.
    memory : int >= 1, default=10
        Changes of the gradient remembered.
    block : int >= 1, default=100
        Iterations between reports; short blocks make little use of the memory.

    References
    ----------
    .. [1] Byrd, Lu, Nocedal & Zhu, "A limited memory algorithm for bound constrained optimization", SIAM Journal on
       Scientific Computing 16, 1995.
    """

    state_type: ClassVar[type[State]] = LBFGSState
    follows_gradient = True

    @entrance("LBFGS")
    def __init__(self, *, max_iter: int = 500, tol: float = 1e-5, memory: int = 10, block: int = 100) -> None:
        given = {"max_iter": max_iter, "tol": tol, "memory": memory, "block": block}
        checked = check_parameters(_RULES, given)
        self.max_iter: int = checked["max_iter"]
        self.tol: float = checked["tol"]
        self.memory: int = checked["memory"]
        self.block: int = checked["block"]

    @property
    def stopping(self) -> Stopping:
        """A small gradient."""
        return Stopping(tol=self.tol)

    @entrance("LBFGS")
    def start(self, objective: Objective, Y: Points) -> LBFGSState:
        """Begin without a memory, on an objective that stays the same."""
        if schedule_of(objective) is not None:
            what, rule = f"objective={type(objective).__name__}", "one that stays the same"
            raise ValueError(message(what, rule, remedy="Use Adam for an objective with a schedule."))
        return LBFGSState(embedding=Y, anchor=Y)

    def step(self, objective: Objective, state: LBFGSState, limit: int) -> Step:
        """Run SciPy from the anchor to `limit`, or to where it ends."""
        scaled = _Scaled(objective, state.anchor)
        if not math.isfinite(scaled.first):
            return Step(math.nan)
        begin, done, satisfied = state.anchor_iteration, state.anchor_iteration, False

        def ends(_: object) -> None:
            nonlocal done, satisfied
            done += 1
            state.largest_gradient_norm = max(state.largest_gradient_norm, scaled.norm)
            # what an earlier run went past is not looked at again
            if done > state.iteration and scaled.norm <= self.tol * state.largest_gradient_norm:
                satisfied = True
                raise StopIteration

        result = self._search(scaled, state.anchor, limit - begin, ends)
        state.iteration = begin + int(result.nit)
        state.embedding = result.x.reshape(state.anchor.shape).astype(state.anchor.dtype)
        norm = length(result.jac) * scaled.unit
        state.largest_gradient_norm = max(state.largest_gradient_norm, scaled.first_norm)
        if satisfied:
            return Step(norm, finished=self._satisfied(norm, state))
        if state.iteration < limit or state.iteration == self.block_end(begin):  # not cut short by the caller
            if scaled.first - float(result.fun) <= scaled.noise * max(result.nit, 1):
                if scaled.has_lost_gradient:
                    what = f"the gradient of {type(objective).__name__} after iteration {state.iteration}"
                    fact, remedy = "the loss is", f"To find where, {COMPARE}"
                    raise FloatingPointError(message(what, "finite", fact=fact, remedy=remedy))
                if begin == 0 and fall_downhill(objective, state.anchor) < LEAST_FALL:
                    return Step(norm, failed=UPHILL)
                return self.no_fall(objective, state, norm, self._exhausted(norm, state, scaled.noise))
            state.anchor, state.anchor_iteration = state.embedding, state.iteration
        return Step(norm)

    def _search(self, scaled: _Scaled, anchor: Points, max_iter: int, callback: Any) -> Any:
        from scipy.optimize import minimize  # takes a while to import

        options: Any = {
            "maxiter": max_iter,
            "maxfun": 100 * (max_iter + 1),  # out of reach: a line search evaluates 20 times at most
            "maxcor": self.memory,
            "ftol": 0.0,  # one short step proves little: `step` looks at whole blocks
            "gtol": 0.0,
        }
        with single_threaded_blas():  # SciPy's sums would depend on the number of threads
            start = anchor.astype(np.float64).ravel()
            return minimize(scaled, start, jac=True, method="L-BFGS-B", callback=callback, options=options)

    def _satisfied(self, norm: float, state: LBFGSState) -> str:
        largest = state.largest_gradient_norm
        return f"The gradient's norm {norm:.2g} fell to tol={self.tol:g} of its largest, {largest:.2g}."

    def _exhausted(self, norm: float, state: LBFGSState, noise: float) -> str:
        share = norm / state.largest_gradient_norm if state.largest_gradient_norm else 0.0
        text = (
            f"An iteration lowers the loss by less than {state.anchor.dtype} can tell ({noise:.1g} of it); "
            f"the gradient's norm is {share:.2g} of its largest."
        )
        if share > _SMALL:
            text += " Unless the descent began near the minimum, the gradient is too inexact: evaluate all pairs."
        return text


class _Scaled:
    """Loss and gradient as SciPy wants them: of a float64 vector, in units of the loss at the anchor.

    Attributes
    ----------
    first, unit : float
        Loss at the anchor in the unit, and the unit.
    noise : float
        Share of a loss that the objective's number type can tell.
    first_norm, norm : float
        Norms of the first gradient asked for and of the last, not scaled.
    has_lost_gradient : bool
        Whether a gradient was not finite where the loss was.
    """

    def __init__(self, objective: Objective, anchor: Points) -> None:
        self._objective, self._shape, self._dtype = objective, anchor.shape, anchor.dtype
        loss = objective.loss(anchor)
        self.unit = abs(loss) or 1.0
        self.first = loss / self.unit
        self.noise = float(np.finfo(anchor.dtype).eps)
        self.first_norm = self.norm = 0.0
        self.has_lost_gradient = False

    def __call__(self, x: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        with np.errstate(over="ignore"):
            Y = x.reshape(self._shape).astype(self._dtype)
        value, slopes = _loss_and_gradient(self._objective, Y)
        loss, gradient = value / self.unit, slopes.astype(np.float64).ravel()
        norm = length(gradient)
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self.has_lost_gradient |= math.isfinite(loss)
            return _VERY_HIGH, np.zeros_like(gradient)
        self.norm, self.first_norm = norm, self.first_norm or norm
        return loss, gradient / self.unit


def _loss_and_gradient(objective: Objective, Y: Points) -> tuple[float, Points]:
    """Return both, from one evaluation where the objective offers it."""
    both = getattr(objective, "loss_and_gradient", None)
    loss, gradient = (objective.loss(Y), objective.gradient(Y)) if both is None else both(Y)
    return float(loss), check_gradient(objective, gradient, Y)
