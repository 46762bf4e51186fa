"""Principal component analysis: Gram affinity, linear kernel, Frobenius loss, solved as an eigenproblem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing, check_is_fitted
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Boolean, Either, Elsewhere, Integer, Nothing, Options, Real, Rule, message, warn
from gnomon.data import check_feature_count, check_sample_weight, check_table, warn_of_one_row
from gnomon.exceptions import DataWarning
from gnomon.linalg import Moments, PrincipalComponents, principal_components, principal_components_of_moments
from gnomon.linalg.principal.scatter import centring_memory
from gnomon.methods.base import DifferentiableScores, WeighsRows
from gnomon.methods.forecast import Forecast
from gnomon.methods.linear.subspace import NormalModel
from gnomon.methods.other_names import PCA as NAMES
from gnomon.methods.other_names import PCA_SOLVERS, other_names
from gnomon.methods.parameters import check_n_components, check_scores
from gnomon.scale import by_blocks, several_blocks, stored_principal_components

if TYPE_CHECKING:
    from gnomon.data.stored import StoredTable
    from gnomon.extension.sensitivity import Sensitivity

__all__ = ["PCA"]

Float64Array = npt.NDArray[np.float64]

_ROWS = 4096  # of an array that is read in blocks
_LIMIT = "min(n_samples, n_features)"
_LEAST_FREEDOM = 1e-6  # of the sum of weights less 1, by which squares are divided


def _shares_as_counts(weights: Float64Array) -> Float64Array:
    """Return weights with a mean of 1 over the rows whose weight is positive."""
    ratios = weights / weights.max()  # of which the sum is in range
    counts: Float64Array = ratios * (np.count_nonzero(weights) / ratios.sum())
    return counts


@other_names(NAMES)
class PCA(NormalModel, WeighsRows, DifferentiableScores):
    """Map rows onto the directions of largest variance.

    Parameters
    ----------
    n_components : int >= 1, float in (0, 1) or None, default=2
        Number of directions, at most min(n_samples, n_features); a share takes the fewest that explain so much of the
        variance, 0.9 for instance; None keeps all. The number kept is ``n_components_``.
    solver : {"auto", "covariance", "gram", "svd", "randomized"}, default="auto"
        How the directions are computed. "auto" decides by shape; the choice made is ``solver_``.
    whiten : bool, default=False
        Divide the scores by their standard deviations, so that each column has variance 1. Scores along directions
        without variance stay 0.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the randomized solver; the others draw nothing. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the training rows, in the units of the features, or without unit if whitened. Rows that came in
        blocks (`fit_blocks`, `partial_fit`, a stored table) are not kept; `transform` maps them.
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions; the entry of largest magnitude of each is positive.
    loadings_ : ndarray of shape (n_features, n_components)
        Directions times the standard deviation of the scores: covariances of features and whitened scores.
    mean_ : ndarray of shape (n_features,)
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each direction (divisor n_samples - 1, or the sum of the weights - 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as shares of the total variance.
    total_variance_ : float
        Sum of the variances of all features.
    noise_variance_ : float
        Mean variance of the directions left out, of the first min(n_samples, n_features).
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred data.
    n_components_ : int
    n_samples_ : int
        Rows, or the rounded sum of their weights.
    solver_ : str
    seed_ : int

    References
    ----------
    .. [1] Jolliffe, "Principal Component Analysis", Springer, 2002.
    .. [2] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011 (randomized solver).
    .. [3] Tipping & Bishop, "Probabilistic principal component analysis", JRSS B 61, 1999 (likelihood and samples).

    Examples
    --------
    >>> import gnomon
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> gnomon.PCA().fit_transform(X).shape
    (1797, 2)
    """

    _keeps_rows, _fits_blocks = False, True
    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Either(Integer(1), Real(0.0, 1.0, low_open=True, high_open=True), Nothing()),
        "solver": Elsewhere(Options("auto", "covariance", "gram", "svd", "randomized"), PCA_SOLVERS),
        "whiten": Boolean(),
    }

    def __init__(
        self,
        n_components: int | float | None = 2,
        *,
        solver: str = "auto",
        whiten: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.whiten = whiten
        self.random_state = random_state
        self.n_jobs = n_jobs

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions of largest variance.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or stored table of shape (n_samples, n_features)
            Finite numbers. Sparse input is not densified without sample_weight. A stored table or memory map of more
            than two blocks (of 32 MB in float32, at most 131,072 rows) is read in blocks, by who works in the run: in
            one pass for a scatter matrix in float64 up to 4096 columns (2000 of a sparse table), beyond in four for a
            randomized range. ``embedding_`` then is not kept. The scatter matrix loses components with singular values
            below 1e-8 of the largest; solver="svd" finds them too, by triangular factors of the blocks. With
            sample_weight or solver="gram" the table has to fit in memory.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many rows each row stands for, >= 0: a row of weight 3 is three rows, also in the variances, whose
            divisor is the sum of the weights - 1. Weights that sum to 1 or less are shares: they count as scaled to a
            mean of 1 over the rows of positive weight. A row of weight 0 takes no part in the fit; it has its scores
            all the same. None counts each row once.

        Returns
        -------
        PCA
            The fitted estimator.

        Raises
        ------
        ValueError
            If X, y, sample_weight or a parameter is refused.
        """
        parameters = self._check_parameters()
        stored = several_blocks(X)
        if stored is not None and sample_weight is None and parameters["solver"] != "gram":
            return self._fit_stored(stored, y, parameters)
        table = check_table(X, accept_sparse=True, min_samples=2)
        self._refuse_excess(table, parameters)
        self._check_target(y, table.values)
        weights = check_sample_weight(sample_weight, table.values)
        if weights is not None and not weights.sum() > 1.0 + _LEAST_FREEDOM:
            weights = _shares_as_counts(weights)
        self._remember_features(table)
        rows = table.values if weights is None or weights.all() else table.values[weights > 0.0]
        weights = None if weights is None or (weights == 1.0).all() else weights[weights > 0.0]
        warn_of_one_row(rows)
        limit = min(rows.shape)
        n_components = _resolve_n_components(parameters["n_components"], limit, _LIMIT)
        self.seed_, self._weighted = current_run().seed, weights is not None
        model = principal_components(rows, n_components, weights=weights, seed=self.seed_, solver=parameters["solver"])
        self._moments: Moments | None = None
        self._publish(model)
        self.embedding_ = self._scale(model.transform(table.values))
        return self

    def _fit_stored(self, stored: StoredTable, y: Any, parameters: dict[str, Any]) -> Self:
        """Find the directions of a table that is read in blocks."""
        self._check_target(y, stored)
        n_components = _resolve_n_components(parameters["n_components"], min(stored.shape), _LIMIT)
        seed = current_run().seed
        model = stored_principal_components(stored, n_components, solver=parameters["solver"], seed=seed)
        self._remember_stored(stored)
        self.seed_, self._weighted, self._moments = seed, False, None
        self._publish(model)
        return self

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        """Return what a fit takes: a block of centred rows and matrices of n_features x n_features, and the scores."""
        wanted = parameters["n_components"]
        kept = wanted if isinstance(wanted, int) else min(n_samples, n_features)
        columns = parameters["n_varying" if kept < parameters["n_varying"] else "n_columns"]
        scores = 8.0 * n_samples * kept
        peaks = {"components": centring_memory(n_samples, columns, parameters["itemsize"]) + scores + 1e5}
        return Forecast.of_stages(peaks, f"a block of rows, directions and scores of {n_samples:,} rows")

    @entrance()
    @all_or_nothing
    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Add rows to those seen by earlier calls and find the directions of all of them.

        Nothing but a mean and a matrix of n_features x n_features is kept of the rows, so they may be more than fit
        in memory. The result is that of `fit` on all rows at once, up to rounding, in any order of the blocks. Each
        call solves the eigenproblem; `fit_blocks` does so once.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            One row at least.
        y : array-like of n_rows values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Returns
        -------
        PCA
            The fitted estimator, without ``embedding_``.

        Raises
        ------
        MemoryError
            If the matrix does not fit in memory.

        Warns
        -----
        DataWarning
            If the estimator was fitted by `fit`, which keeps no matrix to add rows to: those rows are forgotten.
        """
        before: Moments | None = getattr(self, "_moments", None)
        if before is None and hasattr(self, "components_"):
            text = "partial_fit begins anew and forgets the rows given to fit. Give all rows to partial_fit."
            warn(text, DataWarning)
        parameters = self._check_for_blocks()
        moments = self._moments_of(X, before is None)
        self._check_target(y, X)
        self._solve(moments if before is None else before.merge(moments), parameters)
        return self

    @entrance(seeded=True)
    @all_or_nothing
    def fit_blocks(self, blocks: Iterable[Any]) -> Self:
        """Find the directions of rows that come in blocks, in one pass.

        Parameters
        ----------
        blocks : iterable of tables as for `fit`, or one array of shape (n_samples, n_features)
            Blocks have one row at least and the same columns; the memory needed is that of one block and some
            matrices of n_features x n_features. An array, such as ``numpy.load(path, mmap_mode="r")``, is read 4096
            rows at a time.

        Returns
        -------
        PCA
            The fitted estimator, without ``embedding_``, as after `partial_fit` of each block.

        Raises
        ------
        MemoryError
            If the matrices do not fit in memory.
        """
        parameters = self._check_for_blocks()
        if isinstance(blocks, np.ndarray) and blocks.ndim == 2:
            array = blocks
            blocks = (array[begin : begin + _ROWS] for begin in range(0, len(array), _ROWS))
        moments: Moments | None = None
        for block in blocks:
            part = self._moments_of(block, moments is None)
            moments = part if moments is None else moments.merge(part)
        if moments is None or moments.count < 2:
            found = 0 if moments is None else moments.count
            raise ValueError(message("blocks", "of at least 2 rows together", fact=f"{found} sample(s)"))
        self._solve(moments, parameters)
        return self

    def _check_for_blocks(self) -> dict[str, Any]:
        parameters = self._check_parameters()
        if parameters["solver"] not in ("auto", "covariance"):
            what = f"solver={parameters['solver']!r}"
            raise ValueError(message(what, "'auto' or 'covariance' for rows in blocks"))
        self.seed_ = current_run().seed
        return parameters

    def _moments_of(self, X: Any, first: bool) -> Moments:
        """Return the moments of a block, which must have the columns of the first one."""
        names = None if first else getattr(self, "feature_names_in_", None)
        table = check_table(X, accept_sparse=True, known_as=names)
        if first:
            self._remember_features(table)
        else:
            check_feature_count(table, self.n_features_in_, names)
        return Moments.of(table.values)

    def _solve(self, moments: Moments, parameters: dict[str, Any]) -> None:
        limit = moments.mean.size
        n_components = _resolve_n_components(parameters["n_components"], limit, "n_features")
        model = principal_components_of_moments(moments, n_components)
        self._moments = moments
        self._publish(model)
        self.__dict__.pop("embedding_", None)  # of rows that were fitted before

    def _publish(self, model: PrincipalComponents) -> None:
        self._model = model
        self.components_ = model.components
        self.mean_ = model.mean
        self.explained_variance_ = model.explained_variance
        self.explained_variance_ratio_ = model.explained_variance_ratio
        self.total_variance_ = model.total_variance
        self.noise_variance_ = model.noise_variance
        self.singular_values_ = model.singular_values
        self.n_components_ = int(model.components.shape[0])
        self.n_samples_ = model.n_samples
        self.solver_ = model.solver

    @property
    def loadings_(self) -> Float64Array:
        """Directions times the standard deviation of the scores, (n_features, n_components)."""
        return np.asarray(self.components_.T * np.sqrt(self.explained_variance_))

    def _scale(self, scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return scores / self._deviations().astype(scores.dtype) if self.whiten else scores

    def _deviations(self) -> Float64Array:
        """Return the standard deviations of the scores, 1 for directions without variance."""
        least = np.finfo(np.float64).eps * float(self.explained_variance_[0])
        return np.sqrt(np.where(self.explained_variance_ > least, self.explained_variance_, 1.0))

    @entrance()
    @by_blocks
    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of rows, each a function of the row alone.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features)
            A stored table or memory map is read in blocks; the answer is in memory all the same.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        table = check_table(X, accept_sparse=True, min_samples=0, known_as=names)
        check_feature_count(table, self.n_features_in_, names)
        return self._evaluate(table.values)

    def _evaluate(self, X: Any) -> npt.NDArray[Any]:
        return self._scale(self._model.transform(X))

    @entrance()
    def inverse_transform(self, Y: Any) -> npt.NDArray[Any]:
        """Return the points of the principal subspace that have the scores Y.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_components)

        Returns
        -------
        ndarray of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        scores = check_scores(Y, self.n_components_)
        return self._model.inverse_transform(scores * self._deviations() if self.whiten else scores)

    @property
    def _has_formula(self) -> bool:
        return True

    def _derive(self, X: Any) -> Float64Array:
        axes = self.components_ / self._deviations()[:, None] if self.whiten else self.components_
        return np.repeat(np.asarray(axes, dtype=np.float64)[None], X.shape[0], axis=0)

    def _differentiate(self, X: npt.NDArray[np.float64], *arguments: Any, **options: Any) -> Sensitivity:
        if self.whiten:
            raise ValueError(message("whiten=True", "False"))
        return super()._differentiate(X, *arguments, **options)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _resolve_n_components(wanted: int | float | None, limit: int, name: str) -> int | float:
    if wanted is None:
        return limit
    check_n_components(wanted, limit, f"at most {name}={limit}")
    return wanted
