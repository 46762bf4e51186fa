"""Whether a map is at a minimum of its loss, and going on to one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon._threads import single_threaded_blas
from gnomon._validation import warn
from gnomon.exceptions import ConvergenceWarning
from gnomon.extension.sensitivity.data_loss import DataLoss
from gnomon.extension.sensitivity.solve import MOST_DENSE, System
from gnomon.linalg import procrustes
from gnomon.objectives.expansion import flat, unflat
from gnomon.objectives.terms import Float64
from gnomon.optimizers import LBFGS, Newton

__all__ = ["Stationarity", "polished", "stationarity", "warn_unless_stationary"]

_FAR = 100.0  # radii moved in polishing that speak for a loss that falls for ever
_SMALL_STEP = 0.01  # distance to the minimum, in radii of the map, below which a map counts as there


@dataclass(frozen=True)
class Stationarity:
    """How near a map is to a minimum of its loss, where implicit differentiation is exact.

    Attributes
    ----------
    gradient : float
        Norm of the gradient over that of its attractive half: 0 at a stationary point.
    step : float
        Root mean square distance of the points to where Newton's step takes them, in root mean square radii of the
        map; 0 at a stationary point.
    curvature : float
        Smallest curvature of the loss over displacements that are no rigid motions, in units of the median of the
        Hessian's diagonal; above 0 at a minimum, NaN where it is not known (solver "iterative").
    damping : float
        Added to the Hessian's diagonal, in the same units.
    moved : float
        Root mean square distance that polishing moved the points, in the same units as `step`; 0 without.
    reason : str
        Why polishing ended; "" without.
    """

    gradient: float
    step: float
    curvature: float
    damping: float
    moved: float = 0.0
    reason: str = ""

    @property
    def is_minimum(self) -> bool:
        """Whether the map is at a minimum: no negative curvature, no damping needed and a small step left."""
        return not self.curvature <= 0.0 and self.step <= _SMALL_STEP

    def summary(self) -> str:
        """Return the facts in words."""
        state = "at a minimum of its loss" if self.is_minimum else "not at a minimum of its loss"
        text = f"The map is {state}: relative gradient {self.gradient:.1g}, {self.step:.1g} radii from it"
        if not math.isnan(self.curvature):
            text += f", smallest relative curvature {self.curvature:.1g}"
        if self.damping:
            text += f", damping {self.damping:.1g}"
        if self.reason:
            text += f"; polishing moved the points by {self.moved:.2g} radii"
        return text + "."


def polished(loss: DataLoss, Y: Float64, *, max_iter: int, solver: str) -> tuple[Float64, float, str]:
    """Go on from a map to a minimum of the exact loss, by L-BFGS and, where the Hessian fits, Newton's method.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
    moved : float
        Root mean square distance from the map, after shifting and rotating it back, in radii of the map.
    reason : str
        Why the descent ended.
    """
    dense = solver == "dense" or (solver == "auto" and Y.size <= MOST_DENSE)
    solution = LBFGS(max_iter=max_iter, tol=1e-4 if dense else 1e-9, memory=20, block=500).minimize(loss, Y)
    if dense:
        solution = Newton(max_iter=100, tol=1e-11).minimize(loss, solution.embedding)
    found = np.asarray(solution.embedding, dtype=np.float64)
    found = procrustes(found, Y, scaling=False).apply(found)
    return found, _root_mean_square(found - Y) / _radius(Y), solution.reason


def stationarity(loss: DataLoss, Y: Float64, system: System, *, moved: float = 0.0, reason: str = "") -> Stationarity:
    """Return the facts of a map under a factorised Hessian."""
    pairs = loss.expand(Y)
    with single_threaded_blas():
        step = unflat(system.solve(flat(pairs.gradient)[:, None])[:, 0], Y.shape[1])
    unit = system.typical or 1.0
    return Stationarity(
        gradient=pairs.relative_gradient,
        step=_root_mean_square(step) / _radius(Y),
        curvature=system.smallest / unit,
        damping=system.damping / unit,
        moved=moved,
        reason=reason,
    )


def warn_unless_stationary(facts: Stationarity, *, polishing: bool) -> None:
    """Warn where implicit differentiation does not say what a new fit would do."""
    if facts.is_minimum:
        return
    remedy = "Pass polish=True, or fit with more iterations."
    if polishing:
        remedy = "Raise max_iter."
        if facts.moved > _FAR:
            seems = "The loss seems to have no minimum: it falls while points move apart."
            remedy = f"{seems} Raise the perplexity, or an exaggeration below 1."
    warn(f"{facts.summary()} What a new fit would do may differ. {remedy}", ConvergenceWarning)


def _root_mean_square(V: Float64) -> float:
    return math.sqrt(float(np.square(V).sum()) / len(V))


def _radius(Y: Float64) -> float:
    return _root_mean_square(Y - Y.mean(axis=0)) or 1.0
