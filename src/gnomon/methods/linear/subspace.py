"""What fitted principal components offer: the way back from scores to rows, and the normal distribution of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._estimator import check_is_fitted
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, check_parameters
from gnomon.data import check_feature_count, check_table, check_target_length
from gnomon.linalg import PrincipalComponents, draw_rows_of_model, log_likelihood, model_covariance, model_precision
from gnomon.methods.parameters import check_scores
from gnomon.scale import by_blocks

__all__ = ["NormalModel", "PrincipalScores", "PrincipalSubspace", "linear_derivative"]

Float64Array = npt.NDArray[np.float64]


class PrincipalSubspace:
    """An estimator with orthonormal directions ``components_`` through a point ``mean_``."""

    components_: npt.NDArray[np.float64]
    mean_: npt.NDArray[np.float64]

    @entrance()
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]:
        """Return the points of the principal subspace that have the scores Y.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_components)

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
        """
        check_is_fitted(self)
        scores = check_scores(Y, len(self.components_))
        with single_threaded_blas():
            return np.asarray(scores @ self.components_ + self.mean_)


class PrincipalScores(PrincipalSubspace):
    """One whose map is a formula of the row's scores; linear, if the derivative is not overridden."""

    _keeps_rows = False

    @property
    def _has_formula(self) -> bool:
        return True

    def _derive(self, X: Any) -> npt.NDArray[np.float64]:
        return np.repeat(np.asarray(self.components_, dtype=np.float64)[None], X.shape[0], axis=0)


def linear_derivative(
    model: PrincipalComponents, n_rows: int, n_features: int, n_components: int
) -> npt.NDArray[np.float64]:
    """Return the directions of the components once for each row, (n_rows, n_components, n_features); 0 for others."""
    found = np.zeros((n_rows, n_components, n_features))
    found[:, : len(model.components)] = model.components
    return found


class NormalModel:
    """Mixin of an estimator that has fitted principal components as ``_model``.

    The distribution has the variance of each component along it and ``noise_variance_`` along all other directions
    (probabilistic principal component analysis).
    """

    _model: PrincipalComponents
    n_jobs: int | None
    n_features_in_: int

    @entrance()
    @by_blocks
    def score_samples(self, X: Any) -> Float64Array:
        """Return the log-likelihood of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,), float64
            In nats.

        Raises
        ------
        ValueError
            If a direction has no variance, so that there is no density.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        table = check_table(X, accept_sparse=True, known_as=names)
        check_feature_count(table, self.n_features_in_, names)
        return log_likelihood(self._model, table.values)

    @entrance()
    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log-likelihood of rows, in nats; see `score_samples`. No y is used."""
        check_target_length(X, y)
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Float64Array:
        """Return the covariance of the distribution, of shape (n_features, n_features)."""
        check_is_fitted(self)
        return model_covariance(self._model)

    @entrance()
    def get_precision(self) -> Float64Array:
        """Return the inverse of the covariance, of shape (n_features, n_features).

        Raises
        ------
        ValueError
            If a direction has no variance.
        """
        check_is_fitted(self)
        return model_precision(self._model)

    @entrance(seeded=True)
    def sample(self, n_samples: int = 1, *, random_state: RandomState = None) -> Float64Array:
        """Draw new rows from the distribution.

        Parameters
        ----------
        n_samples : int >= 0, default=1
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
            In the units of the features.
        """
        check_is_fitted(self)
        n_rows = check_parameters({"n_samples": Integer(0)}, {"n_samples": n_samples})["n_samples"]
        seed = current_run().seed
        return draw_rows_of_model(self._model, n_rows, seed=seed)
