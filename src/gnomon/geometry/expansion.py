"""Jacobians of single points, expanded from their coefficients when asked for, with standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.geometry.jacobians import LocalJacobians

__all__ = ["expand_axes", "expand_errors", "pooling_shares"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BLOCK = 16  # points whose displacements are held at once
_RANK_SHARE = 1e-12
_NO_SLACK = 1e-9


def pooling_shares(jacobians: LocalJacobians, i: int) -> tuple[Ints, Floats]:
    """Return the rows whose Jacobians are averaged into that of row i, and the share of each; shares sum to 1."""
    rows: Ints = np.array([i], np.int64)
    shares: Floats = np.ones(1)
    for _ in range(jacobians.pooling):
        near = jacobians.indices[rows].astype(np.int64)
        used = (jacobians.weights[rows] > 0) & jacobians.mask[near]
        part = shares / (1 + used.sum(axis=1))
        members = np.concatenate([rows, near[used]])
        sizes = np.concatenate([part, np.repeat(part, used.sum(axis=1))])
        found, inverse = np.unique(members, return_inverse=True)
        rows, shares = found, np.bincount(inverse.ravel(), weights=sizes).astype(np.float64)
    return rows, shares


def read_rows(X: Any, rows: Ints) -> Floats:
    """Return rows of a dense or sparse table as a dense float64 array."""
    values: Floats = (X[rows].toarray() if hasattr(X, "toarray") else np.asarray(X[rows])).astype(np.float64)
    return values


def _members(jacobians: LocalJacobians, centres: Ints) -> tuple[npt.NDArray[np.bool_], Ints, Ints]:
    """Return which neighbours of the centres are used, all rows that take part, and the centres' place in them."""
    used = jacobians.weights[centres] > 0
    rows = np.unique(np.concatenate([centres, jacobians.indices[centres][used]]))
    return used, rows.astype(np.int64), np.searchsorted(rows, centres)


def _places(jacobians: LocalJacobians, centres: Ints, rows: Ints, used: npt.NDArray[np.bool_]) -> Ints:
    """Return where the neighbours of the centres stand in `rows`; that of the centre for those not used."""
    near = np.where(used, jacobians.indices[centres], centres[:, None])
    found: Ints = np.searchsorted(rows, near)
    return found


def expand_axes(X: Any, jacobians: LocalJacobians, i: int) -> Floats:
    """Return the pooled Jacobian of row i, (n_components, n_features), in units of the map per unit of the feature."""
    centres, shares = pooling_shares(jacobians, i)
    used, rows, own = _members(jacobians, centres)
    parts = shares[:, None, None] * jacobians.coefficients[centres]
    total = np.zeros((len(rows), jacobians.n_components))
    np.add.at(total, _places(jacobians, centres, rows, used)[used], parts[used])
    np.add.at(total, own, -np.where(used[:, :, None], parts, 0.0).sum(axis=1))
    values = read_rows(X, rows)
    values -= values[np.searchsorted(rows, i)]
    axes: Floats = total.T @ values
    return _silenced(axes, X, jacobians, i)


def _silenced(axes: Floats, X: Any, jacobians: LocalJacobians, i: int) -> Floats:
    """Set the columns of features to zero that are constant among the neighbours of row i."""
    near = jacobians.indices[i][jacobians.weights[i] > 0].astype(np.int64)
    values = read_rows(X, np.append(near, i))
    axes[:, ~np.any(values != values[-1], axis=0)] = 0.0
    return axes


def _fits(jacobians: LocalJacobians, Z: Floats, T: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return, for a batch of points, the influence of each target on the Jacobian and the left-out residuals.

    Parameters
    ----------
    Z : ndarray of shape (m, k, n_features)
        Displacements of the neighbours from the point in the data; changed in place.
    T : ndarray of shape (m, k, n_components)
        Their displacements in the map.
    weights : ndarray of shape (m, k)
        They sum to one for each point.

    Returns
    -------
    influence : ndarray of shape (m, k, n_features)
        dB[a, f] / dy_ja, the same for all components a.
    residuals : ndarray of shape (m, k, n_components)
    """
    if jacobians.origin == "mean":
        Z -= np.einsum("mk,mkf->mf", weights, Z)[:, None]
        T = T - np.einsum("mk,mka->ma", weights, T)[:, None]
    roots = np.sqrt(weights)[:, :, None]
    Z *= roots
    values, vectors = np.linalg.eigh(Z @ np.swapaxes(Z, 1, 2))
    values, vectors = np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]
    sums = np.cumsum(values, axis=1)
    before = np.concatenate([np.zeros((len(sums), 1)), sums[:, :-1]], axis=1)
    kept = (before < jacobians.variance_share * sums[:, -1:]) | (np.arange(values.shape[1]) == 0)
    kept &= values > _RANK_SHARE * values[:, :1]
    mean = np.sum(values * kept, axis=1) / np.maximum(kept.sum(axis=1), 1)
    damped = np.where(kept, values + jacobians.ridge * mean[:, None], np.inf)
    inverse = (vectors / damped[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    hat = (vectors * (values / damped)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    left = T - (hat @ (roots * T)) / np.where(roots > 0, roots, 1.0)
    slack = 1 - weights * (jacobians.origin == "mean") - np.diagonal(hat, axis1=1, axis2=2)
    residuals = np.where((slack > _NO_SLACK)[:, :, None], left / np.maximum(slack, _NO_SLACK)[:, :, None], T)
    return roots * (inverse @ Z), residuals


def expand_errors(X: Any, jacobians: LocalJacobians, i: int) -> Floats:
    """Return the standard errors of `expand_axes`: jackknife over the rows that took part.

    The Jacobian is linear in the places of the rows. Its variance is the sum over the rows of the squared influence
    of the row's place times the squared residual of that place, predicted from the others.
    """
    centres, shares = pooling_shares(jacobians, i)
    used, rows, own = _members(jacobians, centres)
    places = _places(jacobians, centres, rows, used)
    values = read_rows(X, rows)
    values -= values[np.searchsorted(rows, i)]
    Y = jacobians.places[rows]
    influence = np.zeros_like(values)
    residuals, counts = np.zeros_like(Y), np.zeros(len(rows))
    for begin in range(0, len(centres), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        at, here = places[part], own[part]
        weights = jacobians.weights[centres[part]].astype(np.float64)
        weights /= weights.sum(axis=1, keepdims=True)
        Z, T = values[at] - values[here][:, None], Y[at] - Y[here][:, None]
        rise, left = _fits(jacobians, Z, T, weights)
        take = used[part]
        share = np.broadcast_to(shares[part][:, None], take.shape)[take]
        np.add.at(influence, at[take], share[:, None] * rise[take])
        np.add.at(residuals, at[take], share[:, None] * left[take])
        np.add.at(counts, at[take], share)
    residuals /= np.maximum(counts, 1e-300)[:, None]
    errors: Floats = jacobians.calibration * np.sqrt((residuals**2).T @ influence**2)
    return _silenced(errors, X, jacobians, i)
