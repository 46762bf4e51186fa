"""Every fitted method as one function with derivative and inverse: by its own formula, else by an atlas of its map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon import linalg
from gnomon._entrance import entrance
from gnomon._estimator import check_is_fitted
from gnomon._validation import message
from gnomon.data import check_feature_count, check_one_row, check_table, plain_row
from gnomon.scale import by_blocks

if TYPE_CHECKING:
    from gnomon.data import Table
    from gnomon.extension.atlas.atlas import AffineAtlas
    from gnomon.extension.atlas.forward import Novelty

__all__ = ["MapFunction"]

Float64Array = npt.NDArray[np.float64]

_N_NEIGHBORS = 15


class _Made:
    """Where what is made after the fit is kept, so that a question changes no attribute of the estimator."""

    atlas: AffineAtlas | None = None
    constant: bool | None = None
    novelty: Novelty | None = None  # of the neighbours found in the fit


class MapFunction:
    """What an estimator with ``embedding_`` inherits to be one function, with a derivative and an inverse.

    A method with a differentiable formula of its own says so in `_has_formula`, overrides `_evaluate`, `_derive` and
    `inverse_transform`, and does not keep its rows. Every other method is the function of an atlas of its map.
    """

    embedding_: npt.NDArray[Any]
    n_features_in_: int
    _keeps_rows: ClassVar[bool] = True  # a reference to what was fitted, for the atlas
    _allows_missing: ClassVar[bool] = False  # whether NaN may stand for what is not known
    _fitted_rows: Any = None
    _present: npt.NDArray[np.intp] | None = None  # which rows took part in the fit; None for all
    _atlas: _Made

    @property
    def _has_formula(self) -> bool:
        """Whether the function is a formula of the method and no atlas."""
        return False

    @property
    def _takes_distances(self) -> bool:
        """Whether a table holds distances, where a stored zero means "equal"."""
        metric = getattr(self, "metric", None)
        return isinstance(metric, str) and metric == "precomputed"

    @property
    def _has_own_graph(self) -> bool:
        """Whether neighbours that a fit found are those of its rows in its metric."""
        return True

    def _keep_rows_for_atlas(self, table: Table) -> None:
        self._fitted_rows = table.values if self._keeps_rows and not self._takes_distances else None
        self.__dict__.pop("_present", None)
        self._atlas = _Made()

    @property
    def _fitted_places(self) -> npt.NDArray[Any]:
        """Positions of the rows that took part in the fit."""
        return self.embedding_ if self._present is None else self.embedding_[self._present]

    @property
    def _kept(self) -> _Made:
        """What was made after the fit; a file holds none of it."""
        made: _Made = self.__dict__.setdefault("_atlas", _Made())
        return made

    def _make_atlas(self) -> AffineAtlas:
        """Return the atlas of the map, made when it is first asked for."""
        made = self._kept
        if made.atlas is None:
            if self._fitted_rows is None:
                remedy = "Pass the features and the map to gnomon.AffineAtlas."
                raise ValueError(message("the fit", "one of rows of features", remedy=remedy))
            from gnomon.extension.atlas.atlas import AffineAtlas
            from gnomon.neighbors import NeighborGraph, metric_name

            graph = getattr(self, "graph_", None)
            usable = self._has_own_graph and isinstance(graph, NeighborGraph) and graph.n_neighbors >= _N_NEIGHBORS
            metric = getattr(self, "metric", "euclidean")
            made.atlas = AffineAtlas(
                self._fitted_rows,
                self._fitted_places,
                graph=graph if usable else None,
                n_neighbors=_N_NEIGHBORS,
                metric=metric_name(metric, getattr(self, "metric_params", None)) or "euclidean",
                n_jobs=getattr(self, "n_jobs", None),
            )
        return made.atlas

    def _is_constant(self) -> bool:
        """Whether all rows that were fitted share one place."""
        if self._has_formula:
            return False
        made = self._kept
        if made.constant is None:
            places = self._fitted_places
            made.constant = bool((places == places[:1]).all())
        return made.constant

    @property
    def _is_own_function(self) -> bool:
        """Whether the function needs no atlas."""
        return self._has_formula or self._is_constant()

    def _check_new(self, X: Any) -> Any:
        """Return new rows as a table that fits the method, or raise an error about them."""
        check_is_fitted(self)
        distances, missing = self._takes_distances, self._allows_missing
        names = getattr(self, "feature_names_in_", None)
        table = check_table(
            X, accept_sparse=True, min_samples=0, keep_zeros=distances, allow_missing=missing, known_as=names
        )
        check_feature_count(table, self.n_features_in_, names)
        return table.values

    @entrance()
    @by_blocks
    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Place rows in the map, each as a function of the row alone; the map does not change.

        This is the function of which `jacobian` is the derivative: the method's formula if it has a differentiable
        one, else an `AffineAtlas` of its map, made on first use and smooth.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features)
            Of a stored table or memory map the rows are read and placed in blocks, by who works in the run, to the
            same bytes; the answer is in memory.
            With metric="precomputed" the distances of the rows to those fitted, shape (n_rows, n_samples); without
            features there is no derivative, and rows are placed as by the method's ``place``.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            A row that was fitted gets its fitted position, up to rounding.

        Warns
        -----
        DataWarning
            If an atlas is asked for rows that are out of its range.
        """
        rows = self._check_new(X)
        if rows.shape[0] == 0 and hasattr(self, "embedding_"):
            return np.empty((0, self.embedding_.shape[1]), dtype=self.embedding_.dtype)
        if self._is_constant():
            return np.repeat(self._fitted_places[:1], rows.shape[0], axis=0)
        return self._evaluate(rows)

    def _evaluate(self, X: Any) -> npt.NDArray[Any]:
        """Return the places of checked rows, one at least."""
        return self._make_atlas().transform(X)

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
            return np.repeat(linalg.dense_rows(self._fitted_rows[:1]), places.shape[0], axis=0)
        found: Float64Array = self._make_atlas().inverse_transform(Y)
        return found

    @entrance()
    def jacobian(self, x: Any) -> Float64Array:
        """Return the derivative of `transform` by the features.

        Parameters
        ----------
        x : array-like of shape (n_features,), or rows of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_components, n_features), or (n_rows, n_components, n_features), float64
            Units of the map per unit of each feature.
        """
        one = not hasattr(x, "tocsr") and np.ndim(x) == 1
        rows = self._check_new(np.asarray(x)[None] if one else x)
        if self._is_constant():
            found = np.zeros((rows.shape[0], self.embedding_.shape[1], self.n_features_in_))
        else:
            found = self._derive(rows)
        return found[0] if one else found

    def linearize(self, x: Any) -> tuple[Float64Array, Float64Array]:
        """Return the place of one row and the derivative there, for a loop that asks often.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            For speed an array of float64.

        Returns
        -------
        place : ndarray of shape (n_components,)
            That of `transform`, up to rounding, without its warning.
        jacobian : ndarray of shape (n_components, n_features), float64
        """
        atlas = self._kept.atlas
        return self._linearize(x) if atlas is None or self._takes_distances else atlas.linearize(x)

    @entrance()
    def _linearize(self, x: Any) -> tuple[Float64Array, Float64Array]:
        """Do so where no atlas is made yet, or none is needed."""
        row = plain_row(x, getattr(self, "n_features_in_", -1))
        rows = self._check_new(check_one_row(x)) if row is None else row[None]
        if self._is_constant():
            return self._fitted_places[0].copy(), np.zeros((self.embedding_.shape[1], self.n_features_in_))
        if self._has_formula or self._takes_distances:
            return self._expand(rows)
        return self._make_atlas().linearize(rows[0])

    def _expand(self, X: Any) -> tuple[Float64Array, Float64Array]:
        """Return the place of one checked row and the derivative there, by the formula."""
        return self._evaluate(X)[0], self._derive(X)[0]

    def _derive(self, X: Any) -> Float64Array:
        """Return the derivatives at checked rows, (n_rows, n_components, n_features)."""
        return self._make_atlas().jacobian(X)
