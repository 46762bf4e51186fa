"""Any finished map as a differentiable function of the data, and its inverse: a blend of local affine charts."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon import _core
from gnomon._threads import resolve_n_threads
from gnomon._validation import Integer, check_parameters, message
from gnomon.data import check_feature_count, check_table, find_duplicate_rows
from gnomon.exceptions import DataWarning
from gnomon.extension.atlas_charts import BlendLaw, fit_charts
from gnomon.extension.atlas_inverse import (
    INVERSE_POWER,
    INVERSE_ROWS,
    RoundTrip,
    invert,
    nearest_others,
    repeat_truncated,
)
from gnomon.extension.novelty import Novelty
from gnomon.geometry.check import check_places
from gnomon.linalg.table import RowTable
from gnomon.neighbors import NeighborGraph, compute_neighbors, query_neighbors

__all__ = ["AffineAtlas", "RoundTrip"]

Float64Array = npt.NDArray[np.float64]

_WHO = "AffineAtlas"
_FIRST, _MOST = 3, 12  # nearest rows looked at first and at most, in units of n_neighbors
_CONSENSUS = 4.0
_LAW_ROWS = 1000  # whose distances in the map give the law of the inverse
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
        In which the neighbours of the charts are found if there is no graph. Charts are blended by Euclidean
        distances.
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

    Memory: 8 (n_components + 0.5) n_neighbors bytes a row, besides data and map.

    References
    ----------
    .. [1] Franke & Nielson, "Smooth interpolation of large sets of scattered data", International Journal for
       Numerical Methods in Engineering 15, 1980 (blended local fits).
    """

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
        n_neighbors = check_parameters(_WHO, {"n_neighbors": Integer(1)}, {"n_neighbors": n_neighbors})["n_neighbors"]
        self._n_threads = resolve_n_threads(n_jobs, who=_WHO)
        table = check_table(X, who=_WHO, accept_sparse=True, min_samples=2)
        places = check_places(Y, table.n_samples, who=_WHO)
        self.n_features_in_, self._names = table.n_features, table.feature_names
        self._X, self._Y, self._members = _distinct(table.values, places)
        if self._X.shape[0] < 2:
            fact = f"{self._X.shape[0]} distinct row(s) with a place"
            raise ValueError(message(_WHO, "X", "a table of at least 2 distinct rows with a place", fact=fact))
        self._graph = self._neighbors(graph, n_neighbors, metric)
        self.n_neighbors_ = self._graph.n_neighbors
        self._charts = fit_charts(self._X, self._Y, self._graph, n_threads=self._n_threads)
        self.trust_, self.ridge_ = self._charts.trust, self._charts.ridge
        self.law_ = BlendLaw.of(self._near.distances)
        self.inverse_law_ = BlendLaw.of(self._map_distances(), power=INVERSE_POWER, n_rows=INVERSE_ROWS)
        self._table = RowTable.of(self._X)

    def _neighbors(self, graph: NeighborGraph | None, wanted: int, metric: str) -> NeighborGraph:
        n = int(self._X.shape[0])
        if graph is not None and graph.n_samples == n and (graph.mask is None or bool(graph.mask.all())):
            if graph.n_neighbors <= wanted:
                return graph
            return NeighborGraph(
                np.ascontiguousarray(graph.indices[:, :wanted]),
                np.ascontiguousarray(graph.distances[:, :wanted]),
                None,
                graph.metric,
                graph.method,
                graph.recall,
            )
        if graph is not None and graph.n_samples not in (n, len(self._members)):
            rule = f"of n_samples={len(self._members)} rows"
            raise ValueError(message(_WHO, f"graph of {graph.n_samples} rows", rule))
        return compute_neighbors(self._X, min(wanted, n - 1), metric=metric, n_threads=self._n_threads)

    @cached_property
    def _near(self) -> NeighborGraph:
        """Neighbours by Euclidean distance."""
        if self._graph.metric == "euclidean":
            return self._graph
        return compute_neighbors(self._X, self.n_neighbors_, n_threads=self._n_threads)

    @cached_property
    def _novelty(self) -> Novelty:
        return Novelty.learn(self._near.indices, self._near.distances)

    def _map_distances(self) -> npt.NDArray[np.float32]:
        n = len(self._Y)
        rows = np.unique(np.linspace(0, n - 1, min(n, _LAW_ROWS)).astype(np.int64))
        _, distances = query_neighbors(self._Y, self._Y[rows], self.n_neighbors_ + 1, n_threads=self._n_threads)
        return distances[:, 1:]

    def _check_rows(self, X_new: Any) -> Any:
        table = check_table(X_new, who=_WHO, accept_sparse=True, min_samples=0)
        check_feature_count(table, self.n_features_in_, self._names, who=_WHO)
        return _alike(table.values, self._X)

    @property
    def _sizes(self) -> tuple[int, int]:
        """How many nearest rows are looked at first, and at most."""
        return _FIRST * self.n_neighbors_ + 1, _MOST * self.n_neighbors_ + 1

    def _blend(
        self, X_new: Any, *, jacobians: bool = False, own: npt.NDArray[np.integer] | None = None
    ) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return positions, spreads, derivatives and scores of novelty; row own[i] takes no part in row i."""
        law, k = self.law_, self._near.n_neighbors

        def run(rows: Any, left_out: npt.NDArray[np.integer] | None, size: int) -> Any:
            candidates, distances = nearest_others(self._X, rows, left_out, size, self._n_threads)
            scores = self._novelty.score(candidates[:, :k], distances[:, :k])
            blend = (law.count, law.softness, law.power, _CONSENSUS, jacobians, self._n_threads)
            table, new = self._table.arguments, RowTable.of(rows).arguments
            positions, spread, truncated, derivatives = _core.atlas_predict(
                table, new, candidates, *(*self._charts.arguments, *blend)
            )
            return positions, spread, derivatives if jacobians else positions[:, :0], scores, truncated

        positions, spread, derivatives, scores = repeat_truncated(run, X_new, self._sizes, own)
        return positions, spread, derivatives, scores

    def transform(self, X_new: Any) -> Float64Array:
        """Place rows in the map, each as a function of the row alone.

        Parameters
        ----------
        X_new : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)

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
        positions, spread = np.empty((rows.shape[0], self._Y.shape[1])), np.empty(rows.shape[0])
        far = 0
        for begin in range(0, rows.shape[0], _BLOCK):
            some = slice(begin, begin + _BLOCK)
            positions[some], spread[some], _, scores = self._blend(rows[some])
            far += int(np.count_nonzero(self._novelty.far(scores)))
        if far:
            text = (
                f"{_WHO}: {far} of {rows.shape[0]} rows lie out of range, farther from the rows of the map than 1.5 "
                "times what is found among these; their places are extrapolated. See novelty()."
            )
            warnings.warn(text, DataWarning, stacklevel=3)
        return positions, spread

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
        found = np.empty((rows.shape[0], self._Y.shape[1], self.n_features_in_))
        for begin in range(0, rows.shape[0], _BLOCK):
            some = slice(begin, begin + _BLOCK)
            found[some] = self._blend(rows[some], jacobians=True)[2]
        return found[0] if one else found

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
            raise ValueError(message(_WHO, f"gradient of shape {given.shape}", f"of shape {jacobian.shape[:-1]}"))
        pulled: Float64Array = (given[..., None] * jacobian).sum(axis=-2)
        return pulled

    def _scores(self, rows: Any) -> Float64Array:
        indices, distances = query_neighbors(self._X, rows, self._near.n_neighbors, n_threads=self._n_threads)
        return self._novelty.score(indices, distances)

    def novelty(self, X_new: Any) -> Float64Array:
        """Say how far rows lie out of range.

        The score of a row is its mean distance to the nearest rows of the map over the mean of their own such
        distances. It is compared with the scores of the map's rows, each among the others.

        Parameters
        ----------
        X_new : as for `transform`

        Returns
        -------
        ndarray of shape (n_rows,), float64, in [0, 1]
            Share of the map's rows with a lower score: uniform for rows like those of the map, 1 for a row farther out
            than all of these. Above 0.95 a row is unusual, and many such rows speak of other data; `transform` warns of
            rows whose score is 1.5 times the largest one.
        """
        rows = self._check_rows(X_new)
        return self._novelty.level(self._scores(rows)) if rows.shape[0] else np.empty(0)

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
        for begin in range(0, len(places), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            rows[some] = self._invert(places[some])
            if return_error:
                again = self._blend(_alike(rows[some], self._X))[0]
                error[some] = np.sqrt(np.square(again - places[some]).sum(axis=1))
        return (rows, error) if return_error else rows

    def _invert(self, places: Float64Array, own: npt.NDArray[np.integer] | None = None) -> Float64Array:
        table = self._table.arguments
        return invert(table, self._charts, self.inverse_law_, places, self._sizes, own, self._n_threads)

    def _check_places(self, Y_new: Any) -> Float64Array:
        places = np.asarray(check_table(Y_new, who=_WHO, min_samples=0, dtype=np.float64).values)
        if places.shape[1] != self._Y.shape[1]:
            rule = f"of {self._Y.shape[1]} columns, those of the map"
            raise ValueError(message(_WHO, f"Y with {places.shape[1]} columns", rule))
        return places

    def round_trip(self, rows: Any = None) -> RoundTrip:
        """Go from rows of the map to their places and back, and from their places to rows and back.

        A row takes no part in its own way: f passes through the map, so that its error would else be zero.

        Parameters
        ----------
        rows : array-like of row numbers, default=None
            None takes at most 1000, evenly spread. A row without a place is not allowed.

        Returns
        -------
        RoundTrip
        """
        n = len(self._members)
        placed = np.flatnonzero(self._members >= 0)
        if rows is None:
            listed = placed[np.unique(np.linspace(0, len(placed) - 1, min(len(placed), _LAW_ROWS)).astype(np.int64))]
        else:
            listed = np.atleast_1d(np.asarray(rows))
            if listed.dtype.kind not in "iu" or (listed < 0).any() or (listed >= n).any():
                raise ValueError(message(_WHO, "rows", f"row numbers below n_samples={n}"))
            if (self._members[listed] < 0).any():
                raise ValueError(message(_WHO, "rows", "row numbers of rows with a place"))
        own = self._members[listed]
        places = self._Y[own]
        found = self._invert(places, own)
        again = self._blend(_alike(found, self._X), own=own)[0]
        map_error = np.sqrt(np.square(again - places).sum(axis=1))
        there = self._invert(self._blend(self._X[own], own=own)[0], own)
        data_error = np.square(there - _dense(self._X[own])).sum(axis=1)
        noise = np.array([_scatter(_dense(self._X[near])) for near in self._near.indices[own]])
        return RoundTrip(
            np.asarray(listed, dtype=np.int64),
            map_error,
            map_error / self._charts.reach[own],
            data_error,
            data_error / np.where(noise > 0.0, noise, np.inf),
        )


def _dense(rows: Any) -> Float64Array:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _scatter(rows: Float64Array) -> float:
    return float(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())


def _alike(rows: Any, table: Any) -> Any:
    """Return rows dense or in CSR form, as the table is."""
    if hasattr(table, "tocsr"):
        return rows if hasattr(rows, "tocsr") else sp.csr_array(rows)
    return np.ascontiguousarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _distinct(X: Any, Y: Float64Array) -> tuple[Any, Float64Array, npt.NDArray[np.int64]]:
    """Return distinct rows with a place, the places, and for each row of X the number of its own (-1: none)."""
    placed = np.flatnonzero(np.isfinite(Y[:, 0]))
    rows, places = (X, Y) if len(placed) == len(Y) else (X[placed], Y[placed])
    representatives, copies = find_duplicate_rows(rows)
    if len(representatives) < len(places):
        counts = np.bincount(copies, minlength=len(representatives))
        sums = [np.bincount(copies, weights=column, minlength=len(representatives)) for column in places.T]
        rows, places = rows[representatives], np.ascontiguousarray((np.stack(sums) / counts).T)
    members = np.full(len(Y), -1, dtype=np.int64)
    members[placed] = copies
    return rows, places, members
