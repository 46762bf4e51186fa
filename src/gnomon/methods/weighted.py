"""Methods of rows that count by weight and number."""

from __future__ import annotations

from typing import Any, Self

from gnomon._entrance import entrance
from gnomon._estimator import all_or_nothing
from gnomon.methods.base import WeighsRows
from gnomon.methods.rows import RowEmbedder

__all__ = ["WeightedRowEmbedder"]


class WeightedRowEmbedder(WeighsRows, RowEmbedder):
    """A method of rows whose `fit` takes their weights; equal rows count as many times as they come."""

    @entrance(seeded=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the map of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Finite numbers, or with metric="precomputed" the distances, shape (n_samples, n_samples).
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many rows each row stands for, >= 0: a row of weight 3 is three rows. Only their ratios count. A row of
            weight 0 takes no part in the fit and is placed afterwards, as by `transform`. None counts each row once.

        Returns
        -------
        self
            The fitted estimator; the map is ``embedding_``.

        Raises
        ------
        MemoryError
            If the method keeps all pairs of rows, or much of them, and there is less memory; before any work.
        ValueError
            If X, y, sample_weight or a parameter is refused, or going through all pairs would take more than three
            hours of one core.
        """
        return self._fit(X, y, sample_weight)
