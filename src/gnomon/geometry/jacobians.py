"""The linear map that best carries displacements in the data to displacements in a map, around each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import product
from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.geometry.check import has_place
from gnomon.geometry.expansion import expand_axes, expand_errors
from gnomon.linalg.table import RowTable
from gnomon.neighbors import NeighborGraph, check_graph

__all__ = ["LocalJacobians", "local_jacobians"]

_RULES: dict[str, Rule] = {
    "ridge": Real(0.0),
    "variance_share": Real(0.0, 1.0, low_open=True),
    "pooling": Integer(0),
    "origin": Options("mean", "point"),
}


@dataclass(frozen=True)
class LocalJacobians(ShortRepr):
    """Local linear maps from data of n_features to an embedding of n_components, one for each listed row.

    The map of row i is ``B_i`` of shape (n_components, n_features), with
    ``B_i.T = sum_j (x_j - x_i) outer coefficients[i, j]`` over its neighbours j. Only the coefficients are stored;
    `axes` expands them. With V_i an orthonormal frame of the local tangent space, ``B_i = J_i V_i.T``.

    Attributes
    ----------
    rows : ndarray of shape (n,), int64
        Row numbers of the points that the other arrays describe.
    coefficients : ndarray of shape (n, n_neighbors, n_components), float64
        Units of the map per squared unit of the data; NaN where `mask` is False. They sum to zero over the neighbours'
        weights, and are those of the fits before pooling.
    r2 : ndarray of shape (n,), float32, at most 1
        Share of the neighbours' weighted squared displacements in the map, from their mean, that the fit accounts for.
        With few neighbours in many dimensions it is high even for a random map; 0 where all neighbours lie on one
        point in the map; NaN where `mask` is False.
    predicted_r2 : ndarray of shape (n,), float32, at most 1
        The same with each neighbour predicted from a fit to the others (tangent space held fixed), beside the others'
        mean. It is the honest measure of how far the map is locally linear; zero or negative means that the fit says
        nothing. It is that of the fit before pooling, which predicts no better.
    ellipses : ndarray of shape (n, n_components, n_components), float64
        ``J_i J_i.T``: image of the unit ball of the tangent space, in squared units of the map per squared unit of
        the data. The square roots of its eigenvalues are the semi-axes of the distortion ellipse. Before pooling.
    dimension : ndarray of shape (n,), int32
        Dimension of the tangent space; 0 where `mask` is False.
    mask : ndarray of shape (n,), bool
        False where fewer than two neighbours differ from the point and from each other, or the point has no place in
        the map: nothing can be said there.
    indices, weights : ndarray of shape (n_samples, n_neighbors), int32 and float32
        The neighbours used; weight 0 where there is none.
    r2_error : ndarray of shape (n,), float32
        Standard error of `predicted_r2`, by the jackknife over the neighbours.
    predicted_square : ndarray of shape (n,), float32
        Squared predictions of the left-out neighbours as a share of the squares that they predict.
    places : ndarray of shape (n_samples, n_components), float64
        The embedding; NaN where a row has no place.
    ridge, variance_share : float
        As given.
    origin : {"mean", "point"}
        As given.
    pooling : int
        Times that the Jacobians are averaged over neighbours when they are expanded.
    calibration : float
        Factor that the coefficients were multiplied by after the fit.
    """

    rows: npt.NDArray[np.int64]
    coefficients: npt.NDArray[np.float64]
    r2: npt.NDArray[np.float32]
    predicted_r2: npt.NDArray[np.float32]
    ellipses: npt.NDArray[np.float64]
    dimension: npt.NDArray[np.int32]
    mask: npt.NDArray[np.bool_]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]
    r2_error: npt.NDArray[np.float32]
    predicted_square: npt.NDArray[np.float32]
    places: npt.NDArray[np.float64]
    ridge: float = 0.0
    variance_share: float = 1.0
    pooling: int = 0
    origin: str = "mean"
    calibration: float = 1.0

    def held_out_r2(self) -> npt.NDArray[np.float32]:
        """Return `stretched_r2` of fits that are averaged, else `predicted_r2`."""
        return self.stretched_r2() if self.pooling else self.predicted_r2

    def stretch(self) -> float:
        """Return the one factor, not negative, that makes the predictions of left-out neighbours best; 0 if nothing."""
        square = self.predicted_square.astype(np.float64)
        product = 0.5 * (self.predicted_r2 + square)
        total = float(np.sum(square[self.mask]))
        return max(float(np.sum(product[self.mask])) / total, 0.0) if total > 0 else 0.0

    def stretched_r2(self, factor: float | None = None) -> npt.NDArray[np.float32]:
        """Return `predicted_r2` after all predictions are stretched by one factor, `stretch` by default.

        Damping shortens predictions; it does not change their direction. 0 where all predictions say nothing.
        """
        factor = self.stretch() if factor is None else factor
        square = self.predicted_square.astype(np.float64)
        product = 0.5 * (self.predicted_r2 + square)
        stretched: npt.NDArray[np.float32] = (factor * (2.0 * product - factor * square)).astype(np.float32)
        return stretched

    @property
    def n_components(self) -> int:
        """Number of components of the map."""
        return int(self.coefficients.shape[2])

    def displacements(self, X: Any, position: int) -> npt.NDArray[np.float64]:
        """Return x_j - x_i over the neighbours j of the point at `position` in `rows`: (n_neighbors, n_features)."""
        i = self.rows[position]
        wanted = np.append(self.indices[i], i)
        values = X[wanted].toarray() if hasattr(X, "toarray") else np.asarray(X[wanted])
        values = values.astype(np.float64)
        differences: npt.NDArray[np.float64] = values[:-1] - values[-1]
        differences[self.weights[i] == 0] = 0.0
        return differences

    def axes(self, X: Any, position: int) -> npt.NDArray[np.float64]:
        """Return ``B_i`` of shape (n_components, n_features), in units of the map per unit of the feature.

        Column f is the displacement in the map for a unit change of feature f within the local tangent space; it is
        exactly zero for a feature that is constant among the neighbours.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The data of the fit.
        position : int
            Position in `rows`.
        """
        if self.pooling:
            return expand_axes(X, self, int(self.rows[position]))
        axes: npt.NDArray[np.float64] = product(self.coefficients[position].T, self.displacements(X, position))
        return axes

    def axes_error(self, X: Any, position: int, features: Any = None) -> npt.NDArray[np.float64]:
        """Return the standard errors of `axes`, (n_components, n_features), in the same units.

        Of some features only, by their column numbers, if they are given.

        They answer for scatter of the places in the map about a locally linear function of the data, not for what
        ridge and curvature bend: jackknife over the rows whose places enter. NaN where `mask` is False.
        """
        if not self.mask[position]:
            return np.full((self.n_components, X.shape[1] if features is None else len(features)), np.nan)
        return expand_errors(X, self, int(self.rows[position]), features)


def _neighborhoods(
    Y: npt.NDArray[np.float64], graph: NeighborGraph, weights: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return indices and weights; neighbours that do not exist or have no place in the map get weight 0."""
    indices = np.ascontiguousarray(graph.indices, dtype=np.int32)
    if weights is None:
        checked = np.ones(indices.shape, dtype=np.float32)
    else:
        checked = np.array(weights, dtype=np.float32, order="C")
        if checked.shape != indices.shape or not np.all(np.isfinite(checked)) or np.any(checked < 0):
            raise ValueError(
                message(
                    f"weights of shape {checked.shape}",
                    f"finite, not negative and of the graph's shape {indices.shape}",
                )
            )
    if graph.mask is not None:
        checked[~graph.mask] = 0.0
    placed = has_place(Y)
    if not placed.all():
        checked[~placed[indices]] = 0.0
        checked[~placed] = 0.0
    return indices, checked


@entrance("local_jacobians")
def local_jacobians(
    X: Any,
    Y: npt.NDArray[Any],
    graph: NeighborGraph,
    *,
    weights: npt.NDArray[Any] | None = None,
    rows: npt.NDArray[Any] | None = None,
    ridge: float = 1e-3,
    variance_share: float = 0.9,
    pooling: int = 0,
    origin: str = "mean",
) -> LocalJacobians:
    """Fit, around each point, the linear map from the data to the embedding.

    For point i, weighted ridge regression, with a constant, of the places y_j of its neighbours in the embedding on
    the coordinates of x_j in the local tangent space: the leading directions of the weighted covariance of the
    neighbours. The constant keeps the noise of the point itself, which all displacements from it share, out of the
    fit. It needs nothing but the positions, so it explains any embedding made anywhere.

    All Jacobians are matrices from the same features to the same map, so that they can be averaged over neighbours
    without aligning frames: noise averages out, and an affine map whose tangent spaces are full stays exact.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data. float32, float64, uint8 and CSR are read where they lie. Displacements are formed in float64, so a
        constant offset costs no precision.
    Y : ndarray of shape (n_samples, n_components)
        The embedding; a row with NaN has no place in the map and takes no part.
    graph : NeighborGraph of n_samples rows
        Neighbours in the data.
    weights : ndarray of shape (n_samples, n_neighbors), default=None
        Weight >= 0 of each neighbour; equal weights by default.
    rows : ndarray of row numbers, default=None
        The points wanted; all by default.
    ridge : float >= 0, default=1e-3
        Damping in units of the mean squared singular value of the tangent space.
    variance_share : float in (0, 1], default=0.9
        The tangent space holds at least this share of the local variance.
    pooling : int >= 0, default=0
        Times that each Jacobian is replaced by the mean over its point and the point's neighbours, when it is
        expanded. It needs the Jacobians of all rows.
    origin : {"mean", "point"}, default="mean"
        What displacements are measured from: the mean of the neighbours, or the point itself without a constant. The
        latter believes the noise of the point, and `predicted_r2` is then positive even for a random map.

    Returns
    -------
    LocalJacobians

    Notes
    -----
    For an affine embedding Y = X A + c and ridge 0, ``B_i`` is exactly A.T projected on the tangent space. Rotating,
    scaling or shifting Y does the same to ``B_i``; the choice of frame in the tangent space cancels.
    """
    given = {"ridge": ridge, "variance_share": variance_share, "pooling": pooling, "origin": origin}
    checked = check_parameters(_RULES, given)
    if checked["pooling"] and rows is not None:
        raise ValueError(message(f"pooling={pooling}", "0 if rows are given"))
    table = RowTable.of(X)
    places = np.array(Y, dtype=np.float64, order="C")
    places[~np.isfinite(places).all(axis=1)] = np.nan
    if not table.shape[0] == places.shape[0] == graph.n_samples:
        raise ValueError(
            message(
                f"X with {table.shape[0]:,} rows, Y with {places.shape[0]:,} and a graph with {graph.n_samples:,}",
                "of the same length",
            )
        )
    check_graph(graph, graph.n_samples, ordered=False)
    indices, used = _neighborhoods(places, graph, weights)
    listed = np.arange(places.shape[0]) if rows is None else np.asarray(rows)
    listed = np.ascontiguousarray(listed, dtype=np.int64)
    coefficients, ellipses, r2, predicted_r2, r2_error, predicted_square, dimension = _core.local_jacobians(
        table.core,
        places,
        indices,
        used,
        listed,
        checked["ridge"],
        checked["variance_share"],
        origin == "mean",
        current_run().n_threads,
    )
    return LocalJacobians(
        rows=listed,
        coefficients=coefficients,
        r2=r2,
        predicted_r2=predicted_r2,
        ellipses=ellipses,
        dimension=dimension,
        mask=dimension > 0,
        indices=indices,
        weights=used,
        r2_error=r2_error,
        predicted_square=predicted_square,
        places=places,
        **checked,
    )
