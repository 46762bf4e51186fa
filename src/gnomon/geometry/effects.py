"""What each feature does to a point's place in the map, in units that compare across features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import weighted_sums
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon.geometry.jacobians import LocalJacobians
from gnomon.linalg.table import RowTable, evenly_spaced

__all__ = ["FeatureEffects", "calibrated_effects", "feature_effects", "foretold_steps"]

_TRIED_ROWS = 1000


@dataclass(frozen=True)
class FeatureEffects(ShortRepr):
    """Effects of the features on the places of n points; everything is in units of the map.

    Attributes
    ----------
    indices : ndarray of shape (n, n_top), int32
        The features of largest importance, descending; ties by feature number.
    arrows : ndarray of shape (n, n_top, n_components), float32
        Displacement in the map per one local standard deviation of the feature; NaN where undefined.
    importance : ndarray of shape (n, n_top), float32
        Length of the arrow; NaN where undefined.
    mean_importance : ndarray of shape (n_features,), float64
        Mean length over the points where it is defined; 0 if there is none.
    all_importance : ndarray of shape (n, n_features), float32, or None
        Length of the arrow of every feature, if asked for.
    ellipses : ndarray of shape (n, n_components, n_components), float64, or None
        ``B_i B_i.T`` of averaged Jacobians, if they were averaged (``jacobians.pooling``): in squared units of the map
        per squared unit of the data.
    """

    indices: npt.NDArray[np.int32]
    arrows: npt.NDArray[np.float32]
    importance: npt.NDArray[np.float32]
    mean_importance: npt.NDArray[np.float64]
    all_importance: npt.NDArray[np.float32] | None = None
    ellipses: npt.NDArray[np.float64] | None = None


def feature_effects(X: Any, jacobians: LocalJacobians, *, n_top: int = 8, all_features: bool = False) -> FeatureEffects:
    """Turn local Jacobians into the displacement per local standard deviation of each feature.

    The arrow of feature f at point i is ``B_i[:, f] * localstd_if``, where localstd is the weighted root mean square
    of x_jf - x_if over the neighbours j; so features of different units compare. Of averaged Jacobians it is the mean
    of these over the point and its neighbours, which ranks features better under noise: that of 15 rows scatters. It
    stays 0 for a feature that is constant among the point's own neighbours. The full (n, n_features) table is
    formed only if `all_features` is True.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data that the Jacobians were fitted to.
    jacobians : LocalJacobians of n points
        How the map changes with the features at each.
    n_top : int >= 1, default=8
        Features kept for each point; at most n_features are.
    all_features : bool, default=False
        Also return the importance of every feature for every point.

    Returns
    -------
    FeatureEffects
    """
    table = RowTable.of(X)
    n, k, d = jacobians.coefficients.shape
    flat = jacobians.coefficients.reshape(n, k * d)
    n_top = min(n_top, table.shape[1])
    if jacobians.pooling:
        return _pooled(table, jacobians, np.empty(0, np.int64), n_top, all_features)[0]
    hoods = (jacobians.indices, jacobians.weights, jacobians.rows)
    indices, arrows, importance, everything, mean = _core.feature_effects(
        table.core, *hoods, flat, n_top, all_features, current_run().n_threads
    )
    return FeatureEffects(indices, arrows, importance, mean, everything if all_features else None)


def _pooled(
    table: RowTable, jacobians: LocalJacobians, tried: npt.NDArray[np.int64], n_top: int, all_features: bool
) -> tuple[FeatureEffects, npt.NDArray[np.float64]]:
    """Return the effects of averaged Jacobians, and the neighbours' displacements that they predict at some rows."""
    flat = jacobians.coefficients.reshape(len(jacobians.rows), -1)
    hoods = (jacobians.indices, jacobians.weights)
    indices, arrows, importance, everything, mean, ellipses, predicted = _core.pooled_effects(
        table.core,
        *hoods,
        flat,
        jacobians.places,
        tried,
        jacobians.pooling,
        n_top,
        all_features,
        current_run().n_threads,
    )
    effects = FeatureEffects(indices, arrows, importance, mean, everything if all_features else None, ellipses)
    return effects, predicted


def foretold_steps(X: Any, jacobians: LocalJacobians) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the steps in the map from points to their neighbours that the Jacobians at the points foretell.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data that the Jacobians were fitted to.
    jacobians : LocalJacobians of all rows

    Returns
    -------
    rows : ndarray of shape (m,), int64
        Those whose Jacobian is defined.
    steps : ndarray of shape (m, n_neighbors, n_components), float64
        ``B_i (x_j - x_i)``; 0 for neighbours that do not exist.
    """
    rows = np.flatnonzero(jacobians.mask)
    return rows, _pooled(RowTable.of(X), jacobians, rows, 1, False)[1]


def calibrated_effects(X: Any, jacobians: LocalJacobians, *, n_top: int = 8) -> tuple[LocalJacobians, FeatureEffects]:
    """Give averaged Jacobians the length at which they best predict the neighbours' displacements in the map.

    Damping, noise in the features and the average of maps from different tangent spaces all shorten them. One factor
    for all points, by least squares over the neighbours of at most 1000 evenly spaced points; 1 for an affine map.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data that the Jacobians were fitted to.
    jacobians : LocalJacobians of all rows
        With ``pooling``; without it nothing is changed.
    n_top : as in `feature_effects`

    Returns
    -------
    jacobians : LocalJacobians
        With scaled coefficients; ``calibration`` is the factor.
    effects : FeatureEffects
        Of the scaled Jacobians.
    """
    if not jacobians.pooling:
        return jacobians, feature_effects(X, jacobians, n_top=n_top)
    defined = np.flatnonzero(jacobians.mask)
    tried = defined[evenly_spaced(len(defined), _TRIED_ROWS)]
    table = RowTable.of(X)
    effects, predicted = _pooled(table, jacobians, tried, min(n_top, table.shape[1]), False)
    weights = jacobians.weights[tried].astype(np.float64)
    weights /= weights.sum(axis=1, keepdims=True)
    found = np.where(weights[:, :, None] > 0, jacobians.places[jacobians.indices[tried]], 0.0)
    found -= weighted_sums(weights, found)[:, None]
    predicted = predicted - weighted_sums(weights, predicted)[:, None]
    product = float(np.sum(weighted_sums(weights, predicted * found)))
    square = float(np.sum(weighted_sums(weights, predicted**2)))
    factor = product / square if square > 0 and product > 0 else 1.0
    scaled = replace(jacobians, coefficients=jacobians.coefficients * factor, calibration=factor)
    assert effects.ellipses is not None
    return scaled, replace(
        effects,
        arrows=(effects.arrows * np.float32(factor)).astype(np.float32),
        importance=(effects.importance * np.float32(factor)).astype(np.float32),
        mean_importance=effects.mean_importance * factor,
        ellipses=effects.ellipses * factor**2,
    )
