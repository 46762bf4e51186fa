"""Principal component analysis: Gram affinity, linear kernel, Frobenius loss, solved as an eigenproblem."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gnomon._random import RandomState, resolve_seed
from gnomon._threads import resolve_n_threads
from gnomon._validation import Either, Integer, Nothing, Options, Rule, check_parameters, message
from gnomon.data import check_feature_count, check_table
from gnomon.linalg import PrincipalComponents, principal_components
from gnomon.methods.base import Embedder

__all__ = ["PCA"]


class PCA(Embedder):
    """Map rows onto the directions of largest variance.

    Parameters
    ----------
    n_components : int >= 1 or None, default=2
        Number of directions, at most min(n_samples, n_features); None keeps that many.
    solver : {"auto", "covariance", "gram", "svd", "randomized"}, default="auto"
        How the directions are computed. "auto" decides by shape; the choice made is ``solver_``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the randomized solver; the others draw nothing. The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the training rows, in the units of the features.
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions; the entry of largest magnitude of each is positive.
    mean_ : ndarray of shape (n_features,)
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each direction (divisor n_samples - 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as shares of the total variance.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred data.
    n_components_ : int
    solver_ : str
    seed_ : int

    References
    ----------
    .. [1] Jolliffe, "Principal Component Analysis", Springer, 2002.
    .. [2] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011 (randomized solver).
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "n_components": Either(Integer(1), Nothing()),
        "solver": Options("auto", "covariance", "gram", "svd", "randomized"),
    }

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        solver: str = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None) -> Self:
        """Find the directions of largest variance.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers. Sparse input is not densified.
        y : ignored

        Returns
        -------
        PCA
            The fitted estimator.
        """
        parameters = check_parameters("PCA", self._rules, self.get_params())
        table = check_table(X, who="PCA", accept_sparse=True, min_samples=2)
        self._remember_features(table)
        limit = min(table.values.shape)
        n_components = limit if parameters["n_components"] is None else parameters["n_components"]
        if n_components > limit:
            raise ValueError(
                message(
                    "PCA",
                    f"n_components={n_components}",
                    f"at most min(n_samples, n_features)={limit}",
                    remedy=f"Use n_components={limit} or fewer.",
                )
            )
        self.seed_ = resolve_seed(self.random_state, who="PCA")
        self._model = principal_components(
            table.values,
            n_components,
            seed=self.seed_,
            n_threads=resolve_n_threads(self.n_jobs, who="PCA"),
            solver=parameters["solver"],
        )
        self._publish(self._model)
        self.embedding_ = self._model.transform(table.values)
        return self

    def _publish(self, model: PrincipalComponents) -> None:
        self.components_ = model.components
        self.mean_ = model.mean
        self.explained_variance_ = model.explained_variance
        self.explained_variance_ratio_ = model.explained_variance_ratio
        self.singular_values_ = model.singular_values
        self.n_components_ = int(model.components.shape[0])
        self.solver_ = model.solver

    def fit_transform(self, X: Any, y: object = None) -> npt.NDArray[Any]:
        """Fit and return the scores of the training rows, ``embedding_``."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of rows, each a function of the row alone.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        check_is_fitted(self)
        table = check_table(X, who="PCA", accept_sparse=True, min_samples=0)
        check_feature_count(table, self.n_features_in_, getattr(self, "feature_names_in_", None), who="PCA")
        return self._model.transform(table.values)

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
        table = check_table(Y, who="PCA", min_samples=0)
        if table.values.shape[1] != self.n_components_:
            raise ValueError(
                message(
                    "PCA", f"Y with {table.values.shape[1]} columns", f"of {self.n_components_} columns, n_components"
                )
            )
        return self._model.inverse_transform(np.asarray(table.values))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
