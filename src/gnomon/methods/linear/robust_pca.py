"""Robust principal component analysis: components that a few entries of any size do not disturb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Rule, message, warn
from gnomon.data import check_table
from gnomon.exceptions import DataWarning
from gnomon.linalg import principal_components, product, robust_coordinates, robust_derivative
from gnomon.methods.base import PlacesRows
from gnomon.methods.linear.decomposition import DECOMPOSED, RULES, Decomposition, Prepared, decompose, prepare
from gnomon.methods.linear.subspace import PrincipalSubspace
from gnomon.methods.parameters import check_n_components
from gnomon.objectives import LowRankSparse

__all__ = ["PublishesParts", "RobustPCA"]

Float64Array = npt.NDArray[np.float64]

_LITTLE = 0.1  # of the variance; planted parts keep 0.37 or more, tables without a low-rank part 0.04 or less


class PublishesParts(PrincipalSubspace):
    """Fitted attributes of a decomposition, and the way back from scores."""

    sparsity_: float

    def _publish(self, found: Decomposition, n_components: int, seed: int) -> None:
        self.center_ = found.prepared.center
        self.low_rank_ = found.low_rank
        self.sparse_ = found.sparse
        self.rank_ = found.svd.rank
        self.loss_ = found.loss
        self.convergence_ = found.convergence
        self.solution_ = found.solution
        self.n_iter_ = 0 if found.solution is None else found.solution.n_iter
        self._model = principal_components(self.low_rank_, n_components, seed=seed)
        self.components_ = self._model.components
        self.mean_ = self._model.mean
        self.explained_variance_ = self._model.explained_variance
        self.explained_variance_ratio_ = self._model.explained_variance_ratio
        self.variance_kept_ = 1.0
        if found.problem is not None:
            variance = float(self.explained_variance_.sum())
            self.variance_kept_ = found.share_kept(n_components, variance, seed=seed)
            self._warn_of_little_left()

    def _warn_of_little_left(self) -> None:
        """Warn if the low-rank part is too little to be a map of the table."""
        if self.variance_kept_ >= _LITTLE:
            return
        left = (
            f"keeps {100.0 * self.variance_kept_:.2g} % of the variance that {len(self.components_)} principal "
            "components have of X without its gross entries"
        )
        warn(
            f"the map {left if self.rank_ else 'is a single point'}: nearly all of X went to the sparse part, as it "
            "does where X has few columns, no low rank, columns of unlike units or mostly zeros. Raise sparsity, for "
            f"instance to {2.0 * self.sparsity_:.2g}, twice that of this fit, or use PCA, or HuberPCA where some "
            "entries are wrong.",
            DataWarning,
        )


@dataclass(eq=False, repr=False)
class RobustPCA(PublishesParts, PlacesRows):
    """Principal components of the low-rank part of a table, whose few large errors go to a sparse part.

    The table is taken apart as L + S, where the sum of the singular values of L plus `sparsity` times the sum of
    ``|S|`` is least (principal component pursuit); the map is the PCA of L. Entries that are NaN are unknown, and L
    fills them. If L is of low rank and spread over the table, and S is sparse without a pattern, both are found
    exactly, however large S is.

    Small noise in all entries is shared between both parts: the rank of L rises, and the map is a little narrower.
    Where there is no low-rank part, nearly all goes to S and the map shrinks to a point. A warning says so if less than
    a tenth of the variance is left (``variance_kept_``). Of 200 rows of 6 columns normal numbers kept 1 to 4 %, whole
    numbers from 0 to 4 nothing, wine in its own units 0.3 %. Two planted dimensions kept 30 % or more of 6 columns and
    94 % of 40. With twice the default `sparsity` the first three kept 85 % and more, and 2 % of gross entries in 6
    columns turned planted components by 1 degree instead of 8. Tables that are mostly zeros need three times as much.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map, at most min(n_samples, n_features).
    sparsity : float > 0 or None, default=None
        Price of the sparse part (lambda); None takes 1 / sqrt(share * max(n_samples, n_features)) with the share of
        entries that are known. Raise it for a sparser S, to twice that in tables of few columns; lower it for an L of
        lower rank. The value used is ``sparsity_``.
    penalty : {"fixed", "increasing", "balanced"}, default="increasing"
        Of the iteration, see `gnomon.optimizers.ADMM`; it does not change the result, only the way there.
    tol : float >= 0, default=1e-4
        End when both relative residuals are at most this. The default left the loss of the tables tried within 5e-5 of
        its minimum; where parts can be found exactly, each further digit takes five iterations, under noise 50 or more.
    max_iter : int >= 1, default=1000
        Most iterations. The number used is ``n_iter_``.
    center : {"median"} or None, default="median"
        What is taken off the columns first. The mean is not robust. With None the mean costs L one rank.
    random_state : int, Generator, RandomState or None, default=None
        Of the partial decompositions of large tables. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each iteration, the embedding there being L; returning True ends it.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        Scores of the rows of L, in the units of the features.
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions; the entry of largest magnitude of each is positive.
    mean_ : ndarray of shape (n_features,)
        Of the rows of L.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of L along each direction, and its share of that of L.
    low_rank_, sparse_ : ndarray of shape (n_samples, n_features)
        L, with the centre, and S; their sum is X up to the tolerance. Where X is not known S is 0.
    rank_ : int
        Of L without the centre.
    variance_kept_ : float
        Variance of the map over that of as many principal components of X, whose errors count up to three robust
        standard deviations of their column of S; 1 if all rows are equal.
    center_ : ndarray of shape (n_features,)
    sparsity_ : float
    loss_ : float
        Nuclear norm plus sparsity times the absolute errors.
    convergence_ : Convergence
        Residuals of all iterations and how well the end meets the conditions of a minimum.
    solution_, n_iter_, seed_, timings_
        What was used, and seconds by stage.

    References
    ----------
    .. [1] Candès, Li, Ma & Wright, "Robust principal component analysis?", Journal of the ACM 58, 2011.
    """

    n_components: int = 2
    _: KW_ONLY
    sparsity: float | None = None
    penalty: str = "increasing"
    tol: float = 1e-4
    max_iter: int = 1000
    center: str | None = "median"
    random_state: RandomState = None
    n_jobs: int | None = None
    callback: Callback | None = None
    verbose: bool | int = False

    _rules: ClassVar[dict[str, Rule]] = RULES
    _memory: ClassVar[Mapping[str, Cost]] = DECOMPOSED
    _writes_out: ClassVar[bool] = True
    _allows_missing: ClassVar[bool] = True
    _keeps_rows: ClassVar[bool] = False

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: object = None) -> Self:
        """Take X apart.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            NaN where nothing is known; each row and column holds a number. Sparse input is made dense, as both parts
            are.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.

        Warns
        -----
        DataWarning
            If ``variance_kept_`` is below a tenth: nearly all of X went to S, and the map says little about it.
        ConvergenceWarning
            If `max_iter` iterations end above `tol`.
        """
        parameters = self._check_parameters()
        table = check_table(X, accept_sparse=True, min_samples=2, allow_missing=True)
        self._refuse_excess(table, parameters)
        self._check_target(y, table.values)
        check_n_components(parameters["n_components"], min(table.values.shape))
        self.seed_ = current_run().seed
        self._remember_features(table)
        reporter = current_run().reporter
        reporter.begin("preparation")
        prepared = prepare(table.values, parameters["center"])
        self.sparsity_ = parameters["sparsity"]
        if self.sparsity_ is None:
            share = 1.0 if prepared.observed is None else float(prepared.observed.mean())
            self.sparsity_ = 1.0 / float(np.sqrt(share * max(prepared.values.shape)))
        problem = self._problem(prepared)
        found = decompose(prepared, problem, parameters)
        reporter.begin("components")
        self._publish(found, parameters["n_components"], self.seed_)
        self._size, self._spread = prepared.size, found.svd.values
        self._directions = np.ascontiguousarray(found.svd.right)  # as a copy has them: sums follow the order in memory
        self.embedding_ = self._model.transform(self.low_rank_)
        reporter.end()
        self.timings_ = reporter.timings
        return self

    def _problem(self, prepared: Prepared) -> LowRankSparse | None:
        if prepared.size == 0.0:
            return None
        return LowRankSparse(prepared.values, self.sparsity_, observed=prepared.observed, seed=self.seed_)

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of rows, each a function of the row alone, which a few entries of any size do not move.

        A row is fitted by a point of the subspace of L at the price of the fit: `sparsity` times its absolute errors,
        plus half of its squared coordinates over the singular values of L. For a row that was fitted that is its row of
        L, up to what `tol` left of the fit: 0.006 standard deviations of the map at most in 18 fits with the default,
        0.0005 with tol=1e-6; beside errors of 1e4 to 1e12 times the rest in tables of 40 to 60 columns 0.02 and 0.0008.
        It is no plain projection: an inner product with the directions follows each outlier.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            NaN where nothing is known.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        return super().transform(X)

    @property
    def _has_formula(self) -> bool:
        return True

    def _derive(self, X: Any) -> Float64Array:
        if self._size == 0.0:
            return np.zeros((X.shape[0], *self.components_.shape))
        rows = prepare(X, self.center_, size=self._size)
        if rows.observed is not None:
            raise ValueError(message("x", "a row without NaN", fact="there is no derivative by what is not known"))
        slopes = robust_derivative(rows.values, self._directions, self._spread, self.sparsity_)
        return np.asarray((self.components_ @ self._directions.T) @ slopes)

    def _place(self, X: Any) -> npt.NDArray[Any]:
        if self._size == 0.0:
            return np.zeros((X.shape[0], len(self.components_)))
        rows = prepare(X, self.center_, size=self._size)
        coordinates = robust_coordinates(
            rows.values, self._directions, self._spread, self.sparsity_, observed=rows.observed
        )
        low_rank = product(coordinates, self._directions)  # of which each row is that of the row alone
        low_rank *= self._size
        low_rank += self.center_
        return self._model.transform(low_rank)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
