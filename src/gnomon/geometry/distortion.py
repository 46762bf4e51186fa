"""What a map does to lengths, areas and neighbourhoods around each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Real, check_parameters, message
from gnomon.geometry.jacobians import LocalJacobians
from gnomon.neighbors import NeighborGraph

__all__ = ["Distortion", "distortion"]

_ROUNDING = 1e-7  # a semi-axis below this share of the longest is zero up to the rounding of its square
_POINT_SHARE = 0.01  # a neighbourhood is stretched by at least this share of the median one
_RULES = {
    "lost_ratio": Real(0.0, 1.0),
    "tear_stretch": Real(1.0, low_open=True),
    "tear_r2": Real(0.0),
}


@dataclass(frozen=True)
class Distortion:
    """Distortion ellipses of a map at n points (Tissot's indicatrix): images of the unit ball of the tangent space.

    An isometry gives circles of radius 1. Everything is NaN (masks: False) where the Jacobian is undefined.

    Attributes
    ----------
    semi_axes : ndarray of shape (n, n_components), float64
        Semi-axes of the ellipse, descending: units of the map per unit of the data.
    directions : ndarray of shape (n, n_components, n_components), float64
        Column c is the direction of semi-axis c in the map, of length 1; its largest entry is positive.
    angle : ndarray of shape (n,), float64
        Of the longest axis in a map of two components: radians from the first component, in (-pi/2, pi/2]. NaN in
        maps of other dimensions.
    area : ndarray of shape (n,), float64
        Product of the semi-axes: the factor by which the map scales areas (volumes).
    log_area : ndarray of shape (n,), float64
        Natural logarithm of the area over its median: positive where the map gives more room than elsewhere, -inf
        where the area is 0.
    anisotropy : ndarray of shape (n,), float64
        Longest over shortest semi-axis, at least 1; inf where a direction is lost altogether.
    lost_direction : ndarray of shape (n,), bool
        Whether the shortest semi-axis is less than `lost_ratio` times the longest.
    tear : ndarray of shape (n,), bool, or None
        Whether the map tears neighbours away from the point; None if the places were not given.
    stretch : ndarray of shape (n,), float64, or None
        Largest ratio of distance in the map to distance in the data over the neighbours, divided by the lower
        quartile of these ratios: how much farther than the nearest quarter some neighbour is put.
    """

    semi_axes: npt.NDArray[np.float64]
    directions: npt.NDArray[np.float64]
    angle: npt.NDArray[np.float64]
    area: npt.NDArray[np.float64]
    log_area: npt.NDArray[np.float64]
    anisotropy: npt.NDArray[np.float64]
    lost_direction: npt.NDArray[np.bool_]
    tear: npt.NDArray[np.bool_] | None = None
    stretch: npt.NDArray[np.float64] | None = None


def _principal_axes(ellipses: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return semi-axes, descending, and their directions as columns, of ellipses without NaN."""
    squares, directions = np.linalg.eigh(ellipses)
    axes = np.sqrt(np.maximum(squares[:, ::-1], 0.0))
    axes[axes <= _ROUNDING * axes[:, :1]] = 0.0
    directions = directions[:, :, ::-1]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None, :], axis=1)
    return axes, directions * np.where(largest < 0, -1.0, 1.0)


def _lower_quartile(ratios: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the lower quartile of each row, NaN left out; every row has a number."""
    ordered = np.sort(ratios, axis=1)  # NaN come last
    place = 0.25 * (np.count_nonzero(np.isfinite(ratios), axis=1) - 1)
    below = np.floor(place).astype(np.int64)
    low, high = (np.take_along_axis(ordered, at[:, None], axis=1)[:, 0] for at in (below, np.ceil(place).astype(int)))
    quartile: npt.NDArray[np.float64] = low + (place - below) * (high - low)
    return quartile


def _stretches(
    places: npt.NDArray[np.float64], graph: NeighborGraph, jacobians: LocalJacobians
) -> npt.NDArray[np.float64]:
    """Return the largest stretch of a neighbour over the lower quartile at each point; NaN where nothing is known."""
    rows = jacobians.rows
    indices = jacobians.indices[rows]
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = np.linalg.norm(places[indices] - places[rows][:, None, :], axis=2)
        ratios = lengths / graph.distances[rows].astype(np.float64)
    ratios[(jacobians.weights[rows] == 0) | ~np.isfinite(ratios)] = np.nan
    known = np.isfinite(ratios).any(axis=1)
    result = np.full(len(rows), np.nan)
    if known.any():
        quartile = _lower_quartile(ratios[known])
        floor = _POINT_SHARE * float(np.median(quartile))
        scale = np.maximum(quartile, floor)
        largest = np.nanmax(ratios[known], axis=1)
        result[known] = np.divide(largest, scale, out=np.where(largest > 0, np.inf, 1.0), where=scale > 0)
    return result


def _check_tears(Y: Any, graph: NeighborGraph, jacobians: LocalJacobians) -> npt.NDArray[np.float64]:
    places = np.asarray(Y, dtype=np.float64)
    n_samples = jacobians.indices.shape[0]
    if places.ndim != 2 or places.shape[0] != n_samples:
        raise ValueError(message(f"Y of shape {places.shape}", f"2-D with {n_samples} rows"))
    if not np.array_equal(graph.indices, jacobians.indices):
        raise ValueError(message("graph", "the one that the Jacobians were fitted with"))
    return places


@entrance("distortion")
def distortion(
    jacobians: LocalJacobians,
    *,
    Y: Any = None,
    graph: NeighborGraph | None = None,
    lost_ratio: float = 0.1,
    tear_stretch: float = 5.0,
    tear_r2: float = 0.9,
) -> Distortion:
    """Measure how a map scales, squeezes and tears the neighbourhood of each point.

    Parameters
    ----------
    jacobians : LocalJacobians of n points
        Local linear maps from the data to the map.
    Y : array-like of shape (n_samples, n_components), default=None
        The map, needed with `graph` to find tears.
    graph : NeighborGraph, default=None
        The one that the Jacobians were fitted with, for the distances in the data.
    lost_ratio : float in [0, 1], default=0.1
        A direction counts as lost if its semi-axis is less than this share of the longest.
    tear_stretch : float > 1, default=5
        A point is torn if some neighbour's distance in the map, per distance in the data, exceeds the lower quartile
        over the neighbours by this factor, and the local linear map does not account for it:
    tear_r2 : float >= 0, default=0.9
        ... `LocalJacobians.predicted_r2` is below this value. (A smooth map that stretches one direction more than
        another is predicted well and is no tear, however large the factor; a jump right through the middle of a
        neighbourhood is predicted with R2 up to 3/4.)

    Returns
    -------
    Distortion

    Raises
    ------
    ValueError
        If only one of Y and graph is given, or they do not belong to the Jacobians.

    Notes
    -----
    The lower quartile is that of a neighbourhood of which less than three quarters are torn away. Where the map puts
    a quarter of the neighbours on the point itself, 0.01 of the median quartile over all points takes its place.

    References
    ----------
    .. [1] Tissot, "Memoire sur la representation des surfaces et les projections des cartes geographiques", 1881.
    .. [2] Perrault-Joncas & Meila, "Non-linear dimensionality reduction: Riemannian metric estimation and the problem
       of geometric discovery", 2013.
    """
    given = {"lost_ratio": lost_ratio, "tear_stretch": tear_stretch, "tear_r2": tear_r2}
    checked = check_parameters(_RULES, given)
    if (Y is None) != (graph is None):
        raise ValueError(message("Y and graph", "given together"))
    n, d = len(jacobians.rows), jacobians.n_components
    mask = jacobians.mask
    axes, directions = np.full((n, d), np.nan), np.full((n, d, d), np.nan)
    axes[mask], directions[mask] = _principal_axes(jacobians.ellipses[mask])
    area = np.prod(axes, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        anisotropy = axes[:, 0] / axes[:, -1]
        positive = area > 0
        log_area = np.log(area) - (np.median(np.log(area[positive])) if positive.any() else 0.0)
    angle = np.full(n, np.nan)
    if d == 2:
        angle[mask] = np.arctan2(directions[mask, 1, 0], directions[mask, 0, 0])
        angle[angle > np.pi / 2] -= np.pi
        angle[angle <= -np.pi / 2] += np.pi
    tear = stretch = None
    if graph is not None:
        stretch = _stretches(_check_tears(Y, graph, jacobians), graph, jacobians)
        stretch[~mask] = np.nan
        tear = mask & (stretch > checked["tear_stretch"]) & (jacobians.predicted_r2 < checked["tear_r2"])
    return Distortion(
        semi_axes=axes,
        directions=directions,
        angle=angle,
        area=area,
        log_area=log_area,
        anisotropy=anisotropy,
        lost_direction=mask & ((axes[:, -1] < checked["lost_ratio"] * axes[:, 0]) | (axes[:, 0] == 0)),
        tear=tear,
        stretch=stretch,
    )
