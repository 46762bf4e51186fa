"""A table as a matrix of low rank plus a sparse one, and smooth along a graph if one is given."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import sparse_product
from gnomon._entrance import entrance
from gnomon._threads import single_threaded_blas
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.linalg import (
    Smoothing,
    ThresholdedSVD,
    eigenpairs,
    inner,
    product,
    singular_value_threshold,
    symmetric_operator,
)

__all__ = ["LowRankSparse", "Optimality"]

Float64Array = npt.NDArray[np.float64]

_ALL = slice(None)
_ROWS = 1024  # whose signs are compared together
_GROSS = 1000.0  # times the median magnitude of what a column holds beside zeros

_RULES: dict[str, Rule] = {"sparsity": Real(0.0, low_open=True), "smoothness": Real(0.0)}


@dataclass(frozen=True)
class Optimality:
    """How far a decomposition is from meeting the conditions that a minimum meets; all but `outside` are 0 there.

    With L = U S V', the sparse part E and the multiplier Z of X = L + E (for missing entries 0).

    Attributes
    ----------
    inside : float
        Largest entry of ``|U' Z V - I|``.
    outside : float
        Spectral norm of the part of Z orthogonal to U and V; at most 1 at a minimum.
    bound : float
        How far the largest ``|Z|`` exceeds the sparsity, as a share of it.
    sign : float
        Largest ``|Z - sparsity * sign(E)|`` where E is not zero, likewise.
    smooth : float
        Norm of the difference of the graph term's multiplier from its gradient, relative; 0 without a graph.
    """

    inside: float
    outside: float
    bound: float
    sign: float
    smooth: float

    @property
    def largest(self) -> float:
        """The largest violation."""
        return max(self.inside, self.outside - 1.0, self.bound, self.sign, self.smooth)


class LowRankSparse:
    """The loss of robust principal component analysis, in the form that splitting methods take.

        loss(L) = |L|_* + sparsity * sum |X - L| + smoothness * tr(L' Phi L)

    The first sum is the nuclear norm, the second goes over the observed entries; X - L is the sparse part there.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        Finite. Not copied.
    sparsity : float > 0
        Factor on the absolute errors.
    observed : ndarray of shape (n_samples, n_features), bool, default=None
        Which entries are known; all by default.
    laplacian : sparse matrix of shape (n_samples, n_samples), default=None
        Phi, of a graph on the rows; symmetric.
    smoothness : float >= 0, default=0.0
        Factor on the sum of squared differences along edges; 0 leaves the graph out.
    seed : int in [0, 2**63), default=0
        Of the further directions of partial decompositions.

    References
    ----------
    .. [1] Candès, Li, Ma & Wright, "Robust principal component analysis?", Journal of the ACM 58, 2011.
    .. [2] Shahid, Kalofolias, Bresson, Bronstein & Vandergheynst, "Robust principal component analysis on graphs",
       ICCV 2015.
    """

    dtype = np.float64
    evaluation = "exact"

    @entrance("LowRankSparse")
    def __init__(
        self,
        X: Float64Array,
        sparsity: float,
        *,
        observed: npt.NDArray[np.bool_] | None = None,
        laplacian: Any = None,
        smoothness: float = 0.0,
        seed: int = 0,
    ) -> None:
        given = check_parameters(_RULES, {"sparsity": sparsity, "smoothness": smoothness})
        self.X = np.asarray(X, dtype=np.float64)
        if self.X.ndim != 2:
            raise ValueError(message(f"X of shape {self.X.shape}", "a matrix"))
        if observed is not None and observed.shape != self.X.shape:
            raise ValueError(message(f"observed of shape {observed.shape}", f"of X's, {self.X.shape}"))
        if given["smoothness"] > 0.0 and laplacian is None:
            raise ValueError(message(f"smoothness={smoothness}", "0 without a laplacian"))
        self.observed = observed
        self.sparsity: float = given["sparsity"]
        self.smoothness: float = given["smoothness"]
        self._set_table(self.X)
        self._laplacian = laplacian if self.smoothness > 0.0 else None
        self._smoothing: Smoothing | None = None  # of the last penalty
        self._seed = seed

    def _set_table(self, X: Float64Array) -> None:
        self.X = X
        self.scale = float(np.sqrt(np.square(X if self.observed is None else X[self.observed]).sum()))

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def row_separable(self) -> tuple[bool, ...]:
        """The errors are a sum over rows, the graph term is not."""
        return (True,) if self._laplacian is None else (True, False)

    def first_penalty(self, rule: str) -> float:
        """Return 1 over four times the mean of ``|X|``, or for "increasing" 1.25 over the spectral norm of X."""
        known = self.X if self.observed is None else self.X[self.observed]
        total = float(np.abs(known).sum())
        if total == 0.0:
            return 1.0
        if rule == "increasing":
            return 1.25 / _spectral_norm(self.X)
        return known.size / (4.0 * total)

    def with_gross_entries_cut(self) -> LowRankSparse:
        """Return the loss of X with gross entries at a thousand times the median magnitude of their columns.

        The sizes of errors do not matter to the minimum, and they do to the iteration, whose residuals are compared
        with the norm of X: it ends before it sees what is small beside the errors. See `has_minimum_of`.

        Returns
        -------
        LowRankSparse
            This one if no entry is gross.
        """
        limit = np.full(self.X.shape[1], np.inf)
        for j, column in enumerate(self.X.T):
            held = np.abs(column[column != 0.0])
            if held.size:
                limit[j] = _GROSS * np.median(held)
        if not any((np.abs(self.X[begin : begin + _ROWS]) > limit).any() for begin in range(0, len(self.X), _ROWS)):
            return self
        cut = copy(self)
        cut._set_table(np.clip(self.X, -limit, limit))
        return cut

    def has_minimum_of(self, cut: LowRankSparse, Y: Float64Array) -> bool:
        """Say whether the minimum Y of the loss with gross entries cut is one of this loss.

        It is, as both are convex, if all that was cut is an error there, of the sign that it has here.
        """
        gross = cut.X != self.X
        return bool((np.sign(cut.X[gross] - Y[gross]) == np.sign(self.X[gross])).all())

    def loss(self, Y: npt.ArrayLike, *, nuclear_norm: float | None = None) -> float:
        """Return the loss of the low-rank part Y; its nuclear norm need not be computed if it is known."""
        low_rank = np.asarray(Y, dtype=np.float64)
        with single_threaded_blas():
            if nuclear_norm is None:
                nuclear_norm = float(scipy.linalg.svdvals(low_rank, check_finite=False).sum())
        errors = np.abs(self.X - low_rank)
        total = float(errors.sum() if self.observed is None else errors[self.observed].sum())
        loss = nuclear_norm + self.sparsity * total
        if self._laplacian is not None:
            loss += self.smoothness * inner(low_rank, sparse_product(self._laplacian, low_rank))
        return loss

    @entrance("LowRankSparse")
    def prox(self, V: Float64Array, penalty: float, memory: Any, out: Float64Array) -> ThresholdedSVD:
        """Lower the singular values of V by 1 / penalty; the singular vectors are the memory of the next call."""
        found = singular_value_threshold(V, 1.0 / penalty, start=memory, seed=self._seed)
        found.matrix(out=out)
        return found

    def prox_term(self, index: int, V: Float64Array, penalty: float, rows: slice) -> Float64Array:
        """Return what minimises the errors (0) or the graph term (1) near V; the latter for all rows only."""
        if index == 1:
            weight = 2.0 * self.smoothness / penalty
            if self._smoothing is None:
                self._smoothing = Smoothing(self._laplacian, weight)
            elif self._smoothing.weight != weight:
                self._smoothing = self._smoothing.with_weight(weight)
            return self._smoothing.solve(V)
        X, limit = self.X[rows], self.sparsity / penalty
        errors = X - V
        errors -= np.clip(errors, -limit, limit)  # X - V moved towards zero: the sparse part
        near = np.subtract(X, errors, out=errors)
        if self.observed is not None:
            np.copyto(near, V, where=~self.observed[rows])
        return near

    def sparse_part(self, copy: Float64Array, rows: slice = _ALL) -> Float64Array:
        """Return the sparse part of an iteration from its copy of the error term: exactly zero in most entries.

        Parameters
        ----------
        copy : ndarray of shape (n_rows, n_features), float64
        rows : slice, default=slice(None)
            Which rows these are.

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
        """
        sparse = self.X[rows] - copy
        if self.observed is not None:
            sparse[~self.observed[rows]] = 0.0
        return sparse

    def _sign(self, errors: Float64Array, copy: Float64Array, rows: slice) -> float:
        """Return how far multipliers of some rows are from what the signs of their sparse part ask for."""
        sparse = self.sparse_part(copy, rows)
        support = sparse != 0.0
        return _largest(errors[support] / self.sparsity - np.sign(sparse[support]))

    def optimality(self, svd: ThresholdedSVD, copies: Float64Array, multipliers: Float64Array) -> Optimality:
        """Measure the conditions of a minimum.

        Parameters
        ----------
        svd : ThresholdedSVD
            Of the low-rank part.
        copies, multipliers : ndarray of shape (n_terms, n_samples, n_features)
            Of the terms, as `gnomon.optimizers.ADMM` has them.

        Returns
        -------
        Optimality
        """
        errors, total = multipliers[0], multipliers[0] if len(multipliers) == 1 else multipliers.sum(axis=0)
        with single_threaded_blas():
            inside = product(product(svd.left.T, total), svd.right.T)
            rest = product(svd.left, product(svd.left.T, total))
            np.subtract(total, rest, out=rest)
            rest -= product(product(rest, svd.right.T), svd.right)
            outside = _spectral_norm(rest, overwrite=True)
        del rest, total
        smooth = 0.0
        if self._laplacian is not None:
            gradient = 2.0 * self.smoothness * sparse_product(self._laplacian, svd.matrix())
            smooth = float(np.linalg.norm(multipliers[1] + gradient)) / (float(np.linalg.norm(gradient)) or 1.0)
        return Optimality(
            inside=float(np.abs(inside - np.eye(svd.rank)).max(initial=0.0)),
            outside=outside,
            bound=max(_largest(errors) / self.sparsity - 1.0, 0.0),
            sign=max((self._sign(errors[rows], copies[0][rows], rows) for rows in _blocks(len(errors))), default=0.0),
            smooth=smooth,
        )


def _blocks(n_rows: int) -> list[slice]:
    return [slice(begin, begin + _ROWS) for begin in range(0, n_rows, _ROWS)]


def _largest(X: Float64Array) -> float:
    """Return the largest magnitude of an entry."""
    return max(float(X.max(initial=0.0)), -float(X.min(initial=0.0)))


def _spectral_norm(X: Float64Array, *, overwrite: bool = False) -> float:
    """Return the largest singular value."""
    largest = _largest(X)
    if largest == 0.0:
        return 0.0
    scaled = np.divide(X, largest, out=X if overwrite else None)  # squares of tiny entries would be lost
    tall = scaled if X.shape[0] >= X.shape[1] else scaled.T
    gram = symmetric_operator(lambda V: product(tall.T, product(tall, V)), tall.shape[1])
    square = eigenpairs(gram, 1, which="largest").values[0]
    return largest * float(np.sqrt(max(square, 0.0)))
