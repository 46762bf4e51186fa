"""Any finished map as a differentiable function of the data, and its inverse: a blend of local affine charts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.data import check_feature_count, check_one_row, check_table, plain_row
from gnomon.extension.atlas.charts import BlendLaw, fit_charts
from gnomon.extension.atlas.file import Sources, read_sources, write_sources
from gnomon.extension.atlas.forward import Forward, MetricRange, Novelty, tell_of_far
from gnomon.extension.atlas.inverse import Inverse, RoundTrip, go_round, inverse_law
from gnomon.extension.atlas.lifts import Lift, lift_of
from gnomon.extension.atlas.points import MapPoints, NearestPoints
from gnomon.geometry.check import check_places
from gnomon.linalg.table import RowTable
from gnomon.neighbors import NeighborGraph, compute_neighbors
from gnomon.scale import by_blocks

__all__ = ["AffineAtlas"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 4096  # rows placed at a time


class AffineAtlas:
    """A map as a differentiable function: a smooth blend of the affine charts around its points.

    ``f(x) = sum_i phi_i(x) (y_i + B_i (x - x_i))``, B_i the local linear map of `gnomon.geometry.local_jacobians`,
    phi_i >= 0 with sum 1, which depend smoothly on the distances from x to about `n_neighbors` nearest rows and are 0
    beyond. f passes through the map, ``f(x_i) = y_i`` with derivative B_i. Where the map is affine in the data and
    n_neighbors is above their dimension f is that affine function.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The data of the map. A reference is kept, or a copy in float32 if they are integers. Equal rows become one, at
        the mean of their places.
    Y : array-like of shape (n_samples, n_components)
        The map. Rows with NaN have no place and take no part.
    graph : NeighborGraph, default=None
        Neighbours in the data, of all rows or of the distinct ones; computed if not given. With fewer neighbours than
        n_neighbors all are used.
    n_neighbors : int >= 1, default=15
        Neighbours that a chart is fitted to, and about as many charts are blended.
    metric : str, default="euclidean"
        In which the neighbours of the charts are found if there is no graph, else the graph says it. Under "cosine",
        "correlation" (dense tables), "periodic" and "haversine" charts are of points whose distances are as the metric
        has them, such as rows of length one, so that f is a function of directions or has no seam. Under every other
        metric they are blended by Euclidean distances; how far out rows lie is measured by the metric all the same,
        where it is one of those searched here, else by Euclidean distances.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Attributes
    ----------
    n_neighbors_ : int
        Neighbours of a chart.
    trust_ : ndarray of shape (n_distinct,), float64, in [0, 1]
        What each chart's B was multiplied by: how well its fit predicts neighbours that are left out of it.
    ridge_ : float
        Damping of the fits, chosen so that neighbours are best predicted from each other.
    law_, inverse_law_ : BlendLaw
        How charts are weighted by distances in the data, and in the map.
    method_ : {"exact", "cells", "scikit-learn"}
        How the rows of the map nearest to a new one are found; "cells" in large dense tables, see
        `gnomon.neighbors.RowSearch`. Found at the first question, like ``recall_``.
    recall_ : float in [0, 1]
        Share of the nearest rows found, at least 0.998 on a sample; where one is missed f jumps by its weight.
    n_features_in_ : int

    Notes
    -----
    Weights. With the squared distances s_i, ``w_i = S(log(rho / s_i) / softness) s_i^-power``: S is a step with two
    continuous derivatives, and so has the radius rho(x), the solution of ``sum_i S_i = count``. (The distance to the
    k-th neighbour has none where two rows change ranks.) `softness` follows the dimension of the data such that
    n_neighbors rows have weight at a usual place. The factor s^-power makes f pass through the map.
    Where more than 12 n_neighbors rows would be needed, far from all of them, rho is the distance to the nearest row
    left out: f is continuous there and its derivative may jump.

    Tears. Neighbours that lie far apart in the map have little weight in the fit of a chart. Where charts disagree,
    their weights are multiplied by the fourth power of the weighted share of the charts that agree with them, within
    about twice the scale of the map: f takes the side of the majority instead of the empty middle, and is steep where
    the majority changes. `predict` tells how far the charts disagreed.

    Memory: 8 (n_components + 1) n_neighbors bytes a row, besides data and map; under a metric of points these as well,
    and as much again for the inverse under "cosine" and "correlation".

    References
    ----------
    .. [1] Franke & Nielson, "Smooth interpolation of large sets of scattered data", International Journal for
       Numerical Methods in Engineering 15, 1980 (blended local fits).
    """

    @entrance("AffineAtlas")
    def __init__(
        self,
        X: Any,
        Y: Any,
        *,
        graph: NeighborGraph | None = None,
        n_neighbors: int = 15,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        n_neighbors = check_parameters({"n_neighbors": Integer(1)}, {"n_neighbors": n_neighbors})["n_neighbors"]
        table = check_table(X, accept_sparse=True, min_samples=2)
        places = check_places(Y, table.n_samples)
        points = MapPoints.of(table.values, places)
        if len(points) < 2:
            fact = f"{len(points)} distinct row(s) with a place"
            raise ValueError(message("X", "a table of at least 2 distinct rows with a place", fact=fact))
        neighbors = points.graph(graph, n_neighbors, metric=metric)
        self._learn(Sources(points, neighbors, table.feature_names, n_jobs))

    def _learn(self, sources: Sources) -> None:
        self._sources = sources
        self._points, graph, self._names, self.n_jobs = sources
        points, k = self._points, graph.n_neighbors
        self.n_features_in_, self.n_neighbors_ = int(points.X.shape[1]), k
        lift = lift_of(graph.metric, points.X)
        lifted = lift.points(points.X)
        rows = RowTable.of(lifted)
        charts = fit_charts(lifted, points.Y, graph)
        self.trust_, self.ridge_ = charts.trust, charts.ridge
        back = (lift, rows, charts)
        if not lift.gives_rows:
            back = (Lift(), RowTable.of(points.X), fit_charts(points.X, points.Y, graph))
        measured = MetricRange.of(points.X, graph.metric, k, lift)
        known = None if measured is None else Novelty.learn(graph.indices, graph.distances, metric=graph.metric)
        if graph.metric != "euclidean":
            graph = compute_neighbors(lifted, k)
        self._indices = graph.indices
        self.law_, self.inverse_law_ = BlendLaw.of(graph.distances), inverse_law(points.Y, k)
        self._is_dense = isinstance(points.X, np.ndarray)
        self._novelty = Novelty.learn(graph.indices, graph.distances) if known is None else known
        self._forward = Forward(lift, NearestPoints(lifted, k), rows, charts, self.law_, self._novelty, k, measured)
        self._inverse = Inverse(back[0], NearestPoints(points.Y, k), *back[1:], self.inverse_law_)

    @entrance("AffineAtlas.save")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the atlas to one file, arrays and text without code, that `gnomon.load` and `AffineAtlas.load` read.

        Parameters
        ----------
        path : str or path-like
            File to write; what was there stays until the new file is complete.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        write_sources(path, self._sources)

    @classmethod
    @entrance("AffineAtlas.load")
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an atlas written by `save`; its charts are fitted again, to the same bytes.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If there is no such file or it cannot be read.
        ValueError
            If the file is damaged, holds anything that `save` does not write, or was written by a newer gnomon.
        """
        made = cls.__new__(cls)
        made._learn(read_sources(path))
        return made

    @property
    def method_(self) -> str:
        """How the nearest rows are found."""
        return self._forward.nearest.search.method

    @property
    def recall_(self) -> float:
        """Share of the nearest rows found."""
        return self._forward.nearest.search.recall

    def _check_rows(self, X_new: Any) -> Any:
        table = check_table(X_new, accept_sparse=True, min_samples=0, known_as=self._names)
        check_feature_count(table, self.n_features_in_, self._names, kept_as="those of fit")
        return self._points.in_form(table.values)

    def _check_places(self, Y_new: Any) -> Float64Array:
        places = np.asarray(check_table(Y_new, min_samples=0, dtype=np.float64).values)
        if places.shape[1] != self._points.Y.shape[1]:
            rule = f"of {self._points.Y.shape[1]} columns, those of the map"
            raise ValueError(message(f"Y with {places.shape[1]} columns", rule))
        return places

    @entrance("AffineAtlas")
    @by_blocks
    def transform(self, X_new: Any) -> Float64Array:
        """Place rows in the map, each as a function of the row alone.

        Parameters
        ----------
        X_new : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_components), float64
            A row of the map gets its place.

        Warns
        -----
        DataWarning
            If rows are out of range, see `novelty`.
        """
        return self.predict(X_new)[0]

    @entrance("AffineAtlas")
    def predict(self, X_new: Any) -> tuple[Float64Array, Float64Array]:
        """Place rows and say how far the charts agree on each place.

        Parameters
        ----------
        X_new : as for `transform`

        Returns
        -------
        positions : ndarray of shape (n_rows, n_components), float64
        spread : ndarray of shape (n_rows,), float64
            Weighted root mean square distance of the charts' predictions from the position, in units of the map. Large
            where the map is torn.
        """
        rows = self._check_rows(X_new)
        positions, spread = np.empty((rows.shape[0], self._points.Y.shape[1])), np.empty(rows.shape[0])
        scores = np.empty(rows.shape[0])
        for some in _blocks(rows.shape[0]):
            positions[some], spread[some], _, scores[some] = self._forward.blend(rows[some])
            if self._forward.measured is not None:
                scores[some] = self._forward.scores(rows[some])
        tell_of_far(self._novelty, scores, self._forward.n_neighbors)
        return positions, spread

    @entrance("AffineAtlas")
    def jacobian(self, x: Any) -> Float64Array:
        """Return the derivative of the map, that of the weights included.

        Parameters
        ----------
        x : array-like of shape (n_features,), or rows of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_components, n_features), or (n_rows, n_components, n_features), float64
            Units of the map per unit of each feature. 8 n_components n_features bytes a row.
        """
        one = not hasattr(x, "tocsr") and np.ndim(x) == 1
        rows = self._check_rows(np.asarray(x)[None] if one else x)
        found = np.empty((rows.shape[0], self._points.Y.shape[1], self.n_features_in_))
        for some in _blocks(rows.shape[0]):
            found[some] = self._forward.blend(rows[some], jacobians=True).jacobians
        return found[0] if one else found

    def linearize(self, x: Any) -> tuple[Float64Array, Float64Array]:
        """Return the place of one row and the derivative there, in tens of microseconds: a step of a simulation.

        In dense tables of moderate size (`method_` "exact") all rows are compared in one compiled call.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        place : ndarray of shape (n_components,), float64
            That of `transform`, up to rounding, without its warning.
        jacobian : ndarray of shape (n_components, n_features), float64
            That of `jacobian`, up to rounding.
        """
        row = plain_row(x, self.n_features_in_)
        if row is not None and self._is_dense and self.method_ == "exact":
            return self._forward.linearize(row)
        return self._linearize(x)

    @entrance("AffineAtlas")
    def _linearize(self, x: Any) -> tuple[Float64Array, Float64Array]:
        """Do so for a row that is to be checked, or a table that is large or sparse."""
        found = self._forward.blend(self._check_rows(check_one_row(x)), jacobians=True)
        return found.positions[0], found.jacobians[0]

    @entrance("AffineAtlas")
    def pull_back(self, x: Any, gradient: Any) -> Float64Array:
        """Return the gradient by the features of a function U(f(x)) of the map.

        A bias potential U on the map exerts the force ``-atlas.pull_back(x, dU_dy)`` on the configuration x.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_rows, n_features)
        gradient : array-like of shape (n_components,) or (n_rows, n_components)
            dU/dy at the place of x.

        Returns
        -------
        ndarray of the shape of x, float64
        """
        jacobian = self.jacobian(x)
        given = np.asarray(gradient, dtype=np.float64)
        if given.shape != jacobian.shape[:-1]:
            raise ValueError(message(f"gradient of shape {given.shape}", f"of shape {jacobian.shape[:-1]}"))
        pulled: Float64Array = (given[..., None] * jacobian).sum(axis=-2)
        return pulled

    @entrance("AffineAtlas")
    def novelty(self, X_new: Any) -> Float64Array:
        """Say how far rows lie out of range.

        The score of a row is its mean distance to the nearest rows of the map, one fewer than `n_neighbors_`, over the
        mean of their own such distances. It is compared with the scores of the map's rows, each taken as if it were
        new: among the others, and with the distances that these have without it. Distances are in the metric of the
        map. Of those that end at 1 between rows that have nothing in common ("jaccard", "dice", "sokalsneath",
        "ruzicka") it is the mean distance alone that is compared.

        Parameters
        ----------
        X_new : as for `transform`

        Returns
        -------
        ndarray of shape (n_rows,), float64, in [0, 1]
            Share of the map's rows with a lower score: uniform for rows like those of the map, 1 for a row farther out
            than all of these. Above 0.95 a row is unusual, and many such rows speak of other data; `transform` warns of
            rows whose score is 1.5 times the largest one; of distances that end at 1 the score is d / (1 - d).
        """
        rows = self._check_rows(X_new)
        scores = np.empty(rows.shape[0])
        for some in _blocks(rows.shape[0]):
            scores[some] = self._forward.scores(rows[some])
        return self._novelty.level(scores)

    @entrance("AffineAtlas")
    def inverse_transform(self, Y_new: Any, *, return_error: bool = False) -> Any:
        """Return rows of the data at places of the map, each a function of the place alone.

        A blend of ``x_i + C_i (y - y_i)`` over the nearest points of the map, the mean of the rows that share a place.
        C_i is the regression of the displacements of the row's neighbours in the data on those in the map, so that the
        result is a combination of rows; y - y_i is cut off at three times the distance of the farthest of these
        neighbours, and far from the map the result stays near its edge.

        Parameters
        ----------
        Y_new : array-like of shape (n_rows, n_components)
            Any number of components.
        return_error : bool, default=False

        Returns
        -------
        X_new : ndarray of shape (n_rows, n_features), float64
            Dense.
        error : ndarray of shape (n_rows,), float64
            With return_error: distance in the map between each place and that of its row by `transform`, in units
            of the map. Of the map's own points see `round_trip`.
        """
        places = self._check_places(Y_new)
        rows = np.empty((len(places), self.n_features_in_))
        error = np.empty(len(places))
        for some in _blocks(len(places)):
            rows[some] = self._inverse.invert(places[some])
            if return_error:
                again = self._forward.blend(self._points.in_form(rows[some])).positions
                error[some] = np.sqrt(np.square(again - places[some]).sum(axis=1))
        return (rows, error) if return_error else rows

    @entrance("AffineAtlas")
    def round_trip(self, rows: Any = None) -> RoundTrip:
        """Go from rows of the map to their places and back, and from their places to rows and back.

        A row takes no part in its own round trip: f passes through the map, so that its error would otherwise be zero.

        Parameters
        ----------
        rows : array-like of row numbers, default=None
            None takes at most 1000, evenly spread. A row without a place is not allowed.

        Returns
        -------
        RoundTrip
        """
        return go_round(self._points, self._indices, self._forward, self._inverse, rows)


def _blocks(n: int) -> Iterator[slice]:
    for begin in range(0, n, _BLOCK):
        yield slice(begin, begin + _BLOCK)
