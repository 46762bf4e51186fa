"""What the robust methods share: a table brought to unit size, taken apart, and the principal components of a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._costs import Cost
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, message, warn
from gnomon.exceptions import ConvergenceWarning, DataWarning
from gnomon.linalg import ThresholdedSVD, principal_components
from gnomon.objectives import LowRankSparse, Optimality
from gnomon.optimizers import ADMM, Residuals, Solution

__all__ = ["DECOMPOSED", "RULES", "Convergence", "Decomposition", "Prepared", "decompose", "prepare"]

Float64Array = npt.NDArray[np.float64]

_CLIP = 3.0 * 1.4826  # three standard deviations of normal errors, over the median of their magnitudes

RULES: dict[str, Rule] = {
    "n_components": Integer(1),
    "sparsity": Either(Real(0.0, low_open=True), Nothing()),
    "penalty": Options("fixed", "increasing", "balanced"),
    "tol": Real(0.0),
    "max_iter": Integer(1),
    "center": Either(Options("median"), Nothing()),
}

DECOMPOSED: Mapping[str, Cost] = {
    "preparation": Cost(fixed=2e5, entry=14.0),
    "decomposition": Cost(fixed=2e5, row=200.0, entry=42.0, square=85.0),
    "components": Cost(fixed=1e6, row=300.0, entry=76.0, square=72.0),
}
"""Bytes of a table taken apart: both parts, their copies and multipliers in double, and what decompositions take."""


@dataclass(frozen=True)
class Convergence:
    """How the iteration of a decomposition went.

    Attributes
    ----------
    residuals : list of Residuals
        Primal and dual residual and penalty of each iteration.
    optimality : Optimality
        How far the end is from the conditions of a minimum.
    converged : bool
    reason : str
        Why it ended.
    """

    residuals: list[Residuals]
    optimality: Optimality
    converged: bool
    reason: str


@dataclass(frozen=True)
class Prepared:
    """A table of which the centre is taken off and the size is near one.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features), float64
        0 where nothing was observed.
    observed : ndarray of bool of the same shape, or None
        None if all is.
    center : ndarray of shape (n_features,)
    size : float
        What values were divided by: a power of two, which changes no digit; 0 if there is nothing but the centre.
    """

    values: Float64Array
    observed: npt.NDArray[np.bool_] | None
    center: Float64Array
    size: float


def prepare(X: Any, center: str | Float64Array | None, *, size: float | None = None) -> Prepared:
    """Centre a table and scale it.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        NaN where nothing was observed.
    center : "median", None or ndarray of shape (n_features,)
        Medians of the columns, nothing or the centre of another table.
    size : float, default=None
        Of another table; None takes the power of two next to the largest entry.
    """
    values = np.array(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64, order="C")
    missing = np.isnan(values)
    observed = ~missing if missing.any() else None
    if observed is not None:
        _check_observed(observed, by_column=not isinstance(center, np.ndarray))
    if isinstance(center, np.ndarray):
        middle = center
    elif center == "median":
        middle = np.median(values, axis=0) if observed is None else np.nanmedian(values, axis=0)
    else:
        middle = np.zeros(values.shape[1])
    values -= middle
    if observed is not None:
        values[missing] = 0.0
    if size is None:
        largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        # Below 1e-14 of the centre a deviation is its rounding.
        known = largest > 1e-14 * float(np.abs(middle).max(initial=0.0))
        size = float(2.0 ** np.round(np.log2(largest))) if known else 0.0
    values *= 1.0 / size if size > 0.0 else 0.0
    return Prepared(values, observed, middle, size)


def _check_observed(observed: npt.NDArray[np.bool_], *, by_column: bool) -> None:
    for axis, name in ((1, "row"), (0, "column"))[: 2 if by_column else 1]:
        empty = np.flatnonzero(~observed.any(axis=axis))
        if empty.size:
            fact = f"{empty.size} {name}s hold only NaN, the first is {name} {empty[0]}"
            what, rule = "X", f"a table with a number in each {name}"
            raise ValueError(message(what, rule, fact=fact, remedy=f"Leave such {name}s out."))


@dataclass(frozen=True)
class Decomposition:
    """A table taken apart, in its own units.

    Attributes
    ----------
    prepared : Prepared
    problem : LowRankSparse or None
        None if the table holds nothing but its centre.
    solution : Solution or None
    low_rank : ndarray of shape (n_samples, n_features), float64
        With the centre.
    sparse : ndarray of shape (n_samples, n_features), float64
    """

    prepared: Prepared
    problem: LowRankSparse | None
    solution: Solution | None
    low_rank: Float64Array
    sparse: Float64Array

    @property
    def svd(self) -> ThresholdedSVD:
        """Of the low-rank part without the centre, in units of its size."""
        if self.solution is None or self.solution.state.memory is None:
            n_samples, n_features = self.low_rank.shape
            return ThresholdedSVD(np.empty((n_samples, 0)), np.empty(0), np.empty((0, n_features)))
        found: ThresholdedSVD = self.solution.state.memory
        return found

    @cached_property
    def convergence(self) -> Convergence:
        """Report of the iteration."""
        if self.solution is None or self.problem is None:
            return Convergence([], Optimality(0.0, 0.0, 0.0, 0.0, 0.0), True, "The table holds nothing but its centre.")
        state = self.solution.state
        optimality = self.problem.optimality(self.svd, state.copies, state.multipliers)
        return Convergence(state.residuals, optimality, self.solution.converged, self.solution.reason)

    def share_kept(self, n_components: int, variance: float, *, seed: int) -> float:
        """Return which share of the variance that so many components of the table have is left in the low-rank part.

        Parameters
        ----------
        n_components : int
        variance : float
            Of the low-rank part along its components.
        seed : int

        Returns
        -------
        float
            0 if there is none. Of the table, entries of the sparse part count up to three robust standard deviations
            of their column, so that gross errors of any size are no part of its variance.
        """
        observed = self.prepared.observed
        magnitudes = np.abs(self.sparse)
        if observed is not None:
            magnitudes[~observed] = np.nan
        limit = _CLIP * np.nanmedian(magnitudes, axis=0)
        table = np.clip(self.sparse, -limit, limit, out=magnitudes)
        table += self.low_rank
        table -= self.prepared.center
        whole = float(principal_components(table, n_components, seed=seed).explained_variance.sum())
        return min(variance / whole, 1.0) if whole > 0.0 else 0.0

    @cached_property
    def loss(self) -> float:
        """Loss in the units of the table."""
        if self.solution is None or self.problem is None:
            return 0.0
        nuclear_norm = float(self.svd.values.sum())
        return self.prepared.size * self.problem.loss(self.solution.embedding, nuclear_norm=nuclear_norm)


def decompose(prepared: Prepared, problem: LowRankSparse | None, parameters: dict[str, Any]) -> Decomposition:
    """Minimise, and bring both parts to the units of the table.

    Parameters
    ----------
    prepared : Prepared
    problem : LowRankSparse or None
        On the prepared values; None if its size is 0.
    parameters : dict
        Checked; penalty, tol and max_iter of `ADMM`.
    """
    reporter = current_run().reporter
    if problem is None:
        warn(f"{len(prepared.values):,} rows hold 1 distinct row; they share one position.", DataWarning)
        low_rank = np.tile(prepared.center, (len(prepared.values), 1))
        return Decomposition(prepared, None, None, low_rank, np.zeros_like(low_rank))
    reporter.begin("decomposition", parameters["max_iter"])
    optimizer = ADMM(penalty=parameters["penalty"], tol=parameters["tol"], max_iter=parameters["max_iter"])
    cut = problem.with_gross_entries_cut()
    solution = optimizer.minimize(cut, cut.X, reporter=reporter)
    if cut is not problem and not problem.has_minimum_of(cut, solution.state.copies[0]):
        solution = optimizer.minimize(problem, prepared.values, reporter=reporter)
    if not solution.converged and solution.n_iter == parameters["max_iter"]:
        last = solution.state.residuals[-1]
        text = (
            f"{solution.n_iter} iterations left a primal residual of {last.primal:.2g} and a dual one of "
            f"{last.dual:.2g}, above tol={parameters['tol']:g}. Raise max_iter."
        )
        warn(text, ConvergenceWarning)
    low_rank = solution.embedding * prepared.size
    low_rank += prepared.center
    sparse = problem.sparse_part(solution.state.copies[0])
    sparse *= prepared.size
    return Decomposition(prepared, problem, solution, low_rank, sparse)
