"""Inverse and derivative of every fitted method: its own formula where it has one, else an atlas of its map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data import check_feature_count, check_table
from gnomon.extension.atlas.atlas import AffineAtlas
from gnomon.linalg.table import dense_rows
from gnomon.neighbors import NeighborGraph

if TYPE_CHECKING:
    from gnomon.data import Table

__all__ = ["MapFunction"]

Float64Array = npt.NDArray[np.float64]

_N_NEIGHBORS = 15


class MapFunction:
    """What an estimator with ``embedding_`` inherits to be a differentiable function with an inverse.

    A method with a formula of its own overrides `_derive` and `inverse_transform`, and does not keep its rows.
    """

    embedding_: npt.NDArray[Any]
    n_features_in_: int
    _keeps_rows: ClassVar[bool] = True  # a reference to what was fitted, for the atlas
    _fitted_rows: Any = None
    _atlas: AffineAtlas | None = None

    def _keep_rows_for_atlas(self, table: Table) -> None:
        given = getattr(self, "metric", None)
        distances = isinstance(given, str) and given == "precomputed"
        self._fitted_rows = table.values if self._keeps_rows and not distances else None
        self._atlas = None

    def _make_atlas(self) -> AffineAtlas:
        """Return the atlas of the map, made when it is first asked for."""
        if self._atlas is None:
            if self._fitted_rows is None:
                remedy = "Pass the features and the map to gnomon.AffineAtlas."
                raise ValueError(message("the fit", "one of rows of features", remedy=remedy))
            graph = getattr(self, "graph_", None)
            usable = isinstance(graph, NeighborGraph) and graph.n_neighbors >= _N_NEIGHBORS
            metric = getattr(self, "metric", "euclidean")
            plain = isinstance(metric, str) and not getattr(self, "metric_params", None)
            self._atlas = AffineAtlas(
                self._fitted_rows,
                self.embedding_,
                graph=graph if usable else None,
                n_neighbors=_N_NEIGHBORS,
                metric=metric if plain else "euclidean",
                n_jobs=getattr(self, "n_jobs", None),
            )
        return self._atlas

    @entrance()
    def inverse_transform(self, Y: Any) -> npt.NDArray[Any]:
        """Return rows of the data at places of the map, each a function of the place alone.

        The method has no formula for it: an `AffineAtlas` of the map finds them, made on first use. Its `round_trip`
        tells how far to believe them.

        Parameters
        ----------
        Y : array-like of shape (n_rows, n_components)

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
        """
        check_is_fitted(self)
        if getattr(self, "_one_place", False) and self._fitted_rows is not None:
            places = check_table(Y, min_samples=0).values
            return np.repeat(dense_rows(self._fitted_rows[:1]), places.shape[0], axis=0)
        found: Float64Array = self._make_atlas().inverse_transform(Y)
        return found

    @entrance()
    def jacobian(self, x: Any) -> Float64Array:
        """Return the derivative of the place of a row by its features.

        Parameters
        ----------
        x : array-like of shape (n_features,), or rows of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_components, n_features), or (n_rows, n_components, n_features), float64
            Units of the map per unit of each feature: of the method's formula if it has a differentiable one, else of
            an `AffineAtlas` of its map, made on first use.
        """
        check_is_fitted(self)
        one = not hasattr(x, "tocsr") and np.ndim(x) == 1
        table = check_table(np.asarray(x)[None] if one else x, accept_sparse=True, min_samples=0)
        check_feature_count(table, self.n_features_in_, getattr(self, "feature_names_in_", None))
        found = self._derive(table.values)
        return found[0] if one else found

    def _derive(self, X: Any) -> Float64Array:
        """Return the derivatives at checked rows, (n_rows, n_components, n_features)."""
        if getattr(self, "_one_place", False):
            return np.zeros((X.shape[0], self.embedding_.shape[1], self.n_features_in_))
        return self._make_atlas().jacobian(X)
