"""Jacobians of single points, expanded from their coefficients when asked for, with standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product, sparse_product, weighted_sums
from gnomon._threads import single_threaded_blas
from gnomon.linalg import dense_rows, stacked_products, symmetric_eigen
from gnomon.linalg.table import dense_in_stored

if TYPE_CHECKING:
    from gnomon.geometry.jacobians import LocalJacobians

__all__ = [
    "expand_axes",
    "expand_axes_of_rows",
    "expand_deviations",
    "expand_errors",
    "foretell_by_rounds",
    "place_influences",
    "pooling_shares",
    "shares_of_fits",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_ROWS = 64  # whose features are written out at once, and stay in the cache
_BLOCK = 32  # points whose displacements are held at once
_NUMBERS = 1 << 21  # of displacements in the data, held at once
_SPREAD = 1 << 16  # points whose weights are spread over their neighbours at once
_DENSE = 4  # scalar products of all rows are formed if they are at most so many times those needed
_RANK_SHARE = 1e-12
_NO_SLACK = 1e-9


def pooling_shares(jacobians: LocalJacobians, i: int, rounds: int | None = None) -> tuple[Ints, Floats]:
    """Return the rows whose Jacobians are averaged into that of row i, and the share of each; shares sum to 1.

    `rounds` of averaging, as many as the Jacobians have by default.
    """
    return _pools(jacobians, i, jacobians.pooling if rounds is None else rounds)[-1]


def shares_of_fits(jacobians: LocalJacobians, rows: Ints, weights: Floats) -> Floats:
    """Return with which weight the fit of every row enters a weighted sum of pooled Jacobians.

    Parameters
    ----------
    jacobians : LocalJacobians of all rows
    rows : ndarray of shape (m,), int64
        Those whose pooled Jacobians are added up, each once, where `mask` is True.
    weights : ndarray of shape (m, n_weights)
        Several sums are looked at together.

    Returns
    -------
    ndarray of shape (n_samples, n_weights)
        Sums over the rows are those of `weights`.
    """
    shares = np.zeros((len(jacobians.mask), weights.shape[1]))
    shares[rows] = weights
    for _ in range(jacobians.pooling):
        known = np.flatnonzero(shares.any(axis=1))
        spread = np.zeros_like(shares)
        for some in np.split(known, range(_SPREAD, len(known), _SPREAD)):
            near = jacobians.indices[some]
            used = (jacobians.weights[some] > 0) & jacobians.mask[near]
            part = shares[some] / (1 + used.sum(axis=1))[:, None]
            spread[some] += part
            counts = used.sum(axis=1)
            for one, column in zip(spread.T, part.T, strict=True):
                one += np.bincount(near[used], np.repeat(column, counts), len(one))
        shares = spread
    return shares


def place_influences(X: Any, jacobians: LocalJacobians, centres: Ints) -> tuple[Floats, Floats]:
    """Return what the places of neighbours do to the Jacobians of single fits, before pooling.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data of the fits.
    jacobians : LocalJacobians of all rows
    centres : ndarray of shape (m,), int64
        The fits, where `mask` is True.

    Returns
    -------
    coefficients : ndarray of shape (m, n_neighbors, n_neighbors)
        A step of neighbour j in the map adds, in its direction, the sum over l of entry j, l times x_l - x_i.
    residuals : ndarray of shape (m, n_neighbors, n_components)
        Of the places of the neighbours, each predicted from the others.
    """
    k, d = jacobians.indices.shape[1], jacobians.n_components
    coefficients, residuals = np.empty((len(centres), k, k)), np.empty((len(centres), k, d))
    step = max(1, _NUMBERS // (k * int(X.shape[1])))
    for start in range(0, len(centres), step):
        part = slice(start, start + step)
        used, rows, own = _members(jacobians, centres[part])
        at = _places(jacobians, centres[part], rows, used)
        values, _ = dense_in_stored(X[rows])
        Z = values[at] - values[own][:, None]
        Y = jacobians.places[rows]
        weights = jacobians.weights[centres[part]].astype(np.float64)
        weights /= weights.sum(axis=1, keepdims=True)
        with single_threaded_blas():
            found = _fits(jacobians, _times(Z, np.swapaxes(Z, 1, 2)), Y[at] - Y[own][:, None], weights)
        coefficients[part], residuals[part] = found
    return jacobians.calibration * coefficients, residuals


def _pools(jacobians: LocalJacobians, i: int, rounds: int) -> list[tuple[Ints, Floats]]:
    """Return rows, in ascending order, and shares after 0, 1, ..., `rounds` rounds of averaging."""
    rows: Ints = np.array([i], np.int64)
    shares: Floats = np.ones(1)
    pools = [(rows, shares)]
    for _ in range(rounds):
        near = jacobians.indices[rows].astype(np.int64)
        used = (jacobians.weights[rows] > 0) & jacobians.mask[near]
        part = shares / (1 + used.sum(axis=1))
        members = np.concatenate([rows, near[used]])
        sizes = np.concatenate([part, np.repeat(part, used.sum(axis=1))])
        rows = _distinct(members)
        shares = np.bincount(np.searchsorted(rows, members), weights=sizes).astype(np.float64)
        pools.append((rows, shares))
    return pools


def _members(jacobians: LocalJacobians, centres: Ints) -> tuple[npt.NDArray[np.bool_], Ints, Ints]:
    """Return which neighbours of the centres are used, all rows that take part, and the centres' place in them."""
    used = jacobians.weights[centres] > 0
    rows = _distinct(np.concatenate([centres, jacobians.indices[centres][used]]).astype(np.int64))
    return used, rows, np.searchsorted(rows, centres)


def _distinct(rows: Ints) -> Ints:
    """Return rows in ascending order, each once: `np.unique` takes six times as long for so few."""
    ordered = np.sort(rows)
    found: Ints = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return found


def _places(jacobians: LocalJacobians, centres: Ints, rows: Ints, used: npt.NDArray[np.bool_]) -> Ints:
    """Return where the neighbours of the centres stand in `rows`; that of the centre for those not used."""
    near = np.where(used, jacobians.indices[centres], centres[:, None])
    found: Ints = np.searchsorted(rows, near)
    return found


def expand_axes(X: Any, jacobians: LocalJacobians, i: int) -> Floats:
    """Return the pooled Jacobian of row i, (n_components, n_features), in units of the map per unit of the feature."""
    total, rows = _sums(jacobians, pooling_shares(jacobians, i))
    values = dense_rows(X[rows])
    values -= values[np.searchsorted(rows, i)]
    return _silenced(product(total, values), X, jacobians, i)


def foretell_by_rounds(X: Any, jacobians: LocalJacobians, i: int, others: Ints) -> Floats:
    """Return the steps in the map from row i to others that its Jacobian foretells after 0, 1, ... rounds of averaging.

    Of shape (pooling + 1, len(others), n_components); features that are constant among the row's own neighbours count
    too. The Jacobians are not expanded: few steps cost less.
    """
    pools = _pools(jacobians, i, jacobians.pooling)
    centres = pools[-1][0]
    used, rows, own = _members(jacobians, centres)
    at = _places(jacobians, centres, rows, used)
    if isinstance(X, np.ndarray) and X.dtype == np.uint8:  # products of bytes are exact in whatever order
        steps = np.subtract(X[others], X[i], dtype=np.float64)
        along = np.empty((len(rows), len(others)))
        for begin in range(0, len(rows), _ROWS):
            part = slice(begin, begin + _ROWS)
            product(X[rows[part]].astype(np.float64), steps.T, out=along[part])
        along -= along[np.searchsorted(rows, i)].copy()
    else:
        steps, values = (dense_rows(X[some]) - dense_rows(X[[i]]) for some in (others, rows))
        along = product(values, steps.T)
    coefficients = np.where(used[:, :, None], jacobians.coefficients[centres], 0.0)
    foretold = stacked_products(np.swapaxes(coefficients, 1, 2), along[at] - along[own][:, None])
    by_centre = foretold.reshape(len(centres), -1)
    found = [product(shares[None], by_centre[np.searchsorted(centres, members)]) for members, shares in pools]
    return np.stack([one.reshape(jacobians.n_components, len(others)).T for one in found])


def _sums(jacobians: LocalJacobians, pool: tuple[Ints, Floats]) -> tuple[Floats, Ints]:
    """Return what rows enter the average of Jacobians over a pool with, (n_components, n_rows), and the rows."""
    centres, sizes = pool
    used, rows, own = _members(jacobians, centres)
    at = _places(jacobians, centres, rows, used)
    parts = sizes[:, None, None] * np.where(used[:, :, None], jacobians.coefficients[centres], 0.0)
    total = np.empty((jacobians.n_components, len(rows)))
    for one, part in zip(total, np.moveaxis(parts, 2, 0), strict=True):
        one[:] = np.bincount(at.ravel(), part.ravel(), len(rows))
        one -= np.bincount(own, part.sum(axis=1), len(rows))
    return total, rows


def expand_axes_of_rows(X: Any, jacobians: LocalJacobians, listed: Ints, columns: Ints | None = None) -> Floats:
    """Return the pooled Jacobians of the listed rows, (len(listed), n_components, n_features), or some columns of them.

    They are those of `expand_axes` but for features that are constant among a row's own neighbours. The fits that enter
    several averages are formed once: fast where the rows lie near each other.
    """
    import scipy.sparse as sp

    pools = [pooling_shares(jacobians, int(i)) for i in listed]
    centres = np.unique(np.concatenate([members for members, _ in pools]))
    sizes = np.cumsum([0] + [len(members) for members, _ in pools])
    places = np.searchsorted(centres, np.concatenate([members for members, _ in pools]))
    shape = (len(listed), len(centres))
    averages = sp.csr_array((np.concatenate([shares for _, shares in pools]), places, sizes), shape=shape)
    used, rows, own = _members(jacobians, centres)
    coefficients = np.where(used[:, :, None], jacobians.coefficients[centres], 0.0)
    members = np.concatenate([_places(jacobians, centres, rows, used).ravel(), own])
    lines = np.concatenate([np.repeat(np.arange(len(centres)), used.shape[1]), np.arange(len(centres))])
    values, stored = dense_in_stored(X[rows] if columns is None else X[rows][:, columns])
    values -= values[0].copy()
    n_columns = int(X.shape[1]) if columns is None else len(columns)
    axes = np.zeros((len(listed), jacobians.n_components, n_columns))
    for c in range(jacobians.n_components):
        steps = np.concatenate([coefficients[:, :, c].ravel(), -coefficients[:, :, c].sum(axis=1)])
        fits = sp.csr_array((steps, (lines, members)), shape=(len(centres), len(rows)))
        axes[:, c, stored] = sparse_product(sparse_product(averages, fits), values)
    return axes


def expand_deviations(X: Any, jacobians: LocalJacobians, listed: Ints) -> Floats:
    """Return the local standard deviation of every feature at the listed rows, (len(listed), n_features).

    It is the weighted root mean square of x_j - x_i over the neighbours. Where Jacobians are averaged, it is averaged
    too, once over the row and its neighbours; a feature that is constant among the row's own neighbours keeps 0.
    """
    pools = [pooling_shares(jacobians, int(i), min(jacobians.pooling, 1)) for i in listed]
    centres = np.unique(np.concatenate([members for members, _ in pools]))
    used, rows, own = _members(jacobians, centres)
    places = _places(jacobians, centres, rows, used)
    values, stored = dense_in_stored(X[rows])
    weights = jacobians.weights[centres].astype(np.float64)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    single = np.stack(
        [
            np.sqrt(product(((values[near] - values[at]) ** 2).T, w))
            for w, near, at in zip(weights, places, own, strict=True)
        ]
    )
    deviations = np.stack([product(single[np.searchsorted(centres, members)].T, shares) for members, shares in pools])
    deviations[single[np.searchsorted(centres, listed)] == 0] = 0.0
    if isinstance(stored, slice):
        return deviations
    found = np.zeros((len(listed), int(X.shape[1])))
    found[:, stored] = deviations
    return found


def _silenced(axes: Floats, X: Any, jacobians: LocalJacobians, i: int, features: Ints | None = None) -> Floats:
    """Set the columns of features to zero that are constant among the neighbours of row i."""
    near = jacobians.indices[i][jacobians.weights[i] > 0].astype(np.int64)
    values = dense_rows(X[np.append(near, i)])
    constant = ~np.any(values != values[-1], axis=0)
    axes[:, constant if features is None else constant[features]] = 0.0
    return axes


def _fits(jacobians: LocalJacobians, grams: Floats, T: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the influence of each target on the Jacobian, by its coefficients, and the left-out residuals.

    Parameters
    ----------
    grams : ndarray of shape (m, k, k)
        Scalar products of the displacements of the neighbours from the point in the data.
    T : ndarray of shape (m, k, n_components)
        Their displacements in the map.
    weights : ndarray of shape (m, k)
        They sum to one for each point.

    Returns
    -------
    coefficients : ndarray of shape (m, k, k)
        dB[a, :] / dy_ja is the sum over l of entry j, l times the displacement of neighbour l, for all components a.
    residuals : ndarray of shape (m, k, n_components)
    """
    if jacobians.origin == "mean":
        means = weighted_sums(weights, grams)
        grams = grams - means[:, None] - means[:, :, None] + weighted_sums(weights, means)[:, None, None]
        T = T - weighted_sums(weights, T)[:, None]
    roots = np.sqrt(weights)[:, :, None]
    solved = [symmetric_eigen(one) for one in roots * grams * np.swapaxes(roots, 1, 2)]
    values = np.maximum(np.stack([one for one, _ in solved]), 0.0)
    vectors = np.stack([one for _, one in solved])
    sums = np.cumsum(values, axis=1)
    before = np.concatenate([np.zeros((len(sums), 1)), sums[:, :-1]], axis=1)
    kept = (before < jacobians.variance_share * sums[:, -1:]) | (np.arange(values.shape[1]) == 0)
    kept &= values > _RANK_SHARE * values[:, :1]
    mean = np.sum(values * kept, axis=1) / np.maximum(kept.sum(axis=1), 1)
    damped = np.where(kept, values + jacobians.ridge * mean[:, None], np.inf)
    inverse = _times(vectors / damped[:, None, :], np.swapaxes(vectors, 1, 2))
    hat = _times(vectors * (values / damped)[:, None, :], np.swapaxes(vectors, 1, 2))
    left = T - _times(hat, roots * T) / np.where(roots > 0, roots, 1.0)
    slack = 1 - weights * (jacobians.origin == "mean") - np.diagonal(hat, axis1=1, axis2=2)
    residuals = np.where((slack > _NO_SLACK)[:, :, None], left / np.maximum(slack, _NO_SLACK)[:, :, None], T)
    coefficients = roots * inverse * np.swapaxes(roots, 1, 2)
    if jacobians.origin == "mean":
        coefficients -= coefficients.sum(axis=2, keepdims=True) * weights[:, None]
    return coefficients, residuals


def _times(A: Floats, B: Floats) -> Floats:
    """Return the products of matrices with matrices, (m, k, l) with (m, l, n)."""
    return stacked_products(A, B)


def expand_errors(X: Any, jacobians: LocalJacobians, i: int, features: Ints | None = None) -> Floats:
    """Return the standard errors of `expand_axes`, of all features or some: jackknife over the rows that took part.

    The Jacobian is linear in the places of the rows. Its variance is the sum over the rows of the squared influence
    of the row's place times the squared residual of that place, predicted from the others.
    """
    centres, shares = pooling_shares(jacobians, i)
    used, rows, own = _members(jacobians, centres)
    places = _places(jacobians, centres, rows, used)
    values = dense_rows(X[rows])
    wanted = np.arange(values.shape[1]) if features is None else np.asarray(features, dtype=np.int64)
    varies = np.any(values != values[0], axis=0)
    values = np.compress(varies, values, axis=1)
    values -= values[np.searchsorted(rows, i)]
    shown = varies[wanted]
    columns = (np.cumsum(varies) - 1)[wanted[shown]]
    Y, d = jacobians.places[rows], jacobians.n_components
    T = Y[places] - Y[own][:, None]
    weights = jacobians.weights[centres].astype(np.float64)
    weights /= weights.sum(axis=1, keepdims=True)
    share = np.where(used, shares[:, None], 0.0)
    with single_threaded_blas():
        if len(rows) ** 2 <= _DENSE * places.size * places.shape[1]:
            influence, left = _influence_together(jacobians, values, columns, places, own, T, weights, share)
        else:
            influence, left = _influence_in_blocks(jacobians, values, columns, places, own, T, weights, share)
        residuals, counts = np.zeros((len(rows), d)), np.zeros((len(rows), 1))
        _add_rows(residuals, places, share, left)
        _add_rows(counts, places, share, np.ones((*places.shape, 1)))
        residuals /= np.maximum(counts, 1e-300)
        errors = np.zeros((d, len(wanted)))
        errors[:, shown] = jacobians.calibration * np.sqrt(product((residuals**2).T, influence**2))
    return _silenced(errors, X, jacobians, i, wanted)


def _influence_together(
    jacobians: LocalJacobians,
    values: Floats,
    columns: Ints,
    at: Ints,
    own: Ints,
    T: Floats,
    weights: Floats,
    share: Floats,
) -> tuple[Floats, Floats]:
    """Return the influence of each row's place on columns of the mean Jacobian, and the residuals of all fits.

    By the scalar products of all rows with each other: fast where many fits share few rows.
    """
    products, n = product(values, values.T), len(values)
    cross = products[at, own[:, None]]
    grams = products[at[:, :, None], at[:, None, :]] - cross[:, :, None] - cross[:, None, :]
    grams += np.diagonal(products)[own][:, None, None]
    coefficients, left = _fits(jacobians, grams, T, weights)
    coefficients *= share[:, :, None]
    fits = np.bincount((at[:, :, None] * n + at[:, None, :]).ravel(), coefficients.ravel(), n * n)
    fits -= np.bincount((at * n + own[:, None]).ravel(), coefficients.sum(axis=2).ravel(), n * n)
    return product(fits.reshape(n, n), values[:, columns]), left


def _influence_in_blocks(
    jacobians: LocalJacobians,
    values: Floats,
    columns: Ints,
    at: Ints,
    own: Ints,
    T: Floats,
    weights: Floats,
    share: Floats,
) -> tuple[Floats, Floats]:
    """Return what `_influence_together` does, some fits at a time."""
    influence, left = np.zeros((len(values), len(columns))), np.empty_like(T)
    for begin in range(0, len(at), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        Z = values[at[part]] - values[own[part]][:, None]
        coefficients, left[part] = _fits(jacobians, _times(Z, np.swapaxes(Z, 1, 2)), T[part], weights[part])
        steps = Z if np.array_equal(columns, np.arange(Z.shape[2])) else Z[:, :, columns]
        _add_rows(influence, at[part], share[part], _times(coefficients, steps))
    return influence, left


def _add_rows(total: Floats, at: Ints, share: Floats, parts: Floats) -> None:
    """Add parts (m, k, n) times their shares (m, k) to the rows of a table (n_rows, n) that `at` (m, k) names."""
    import scipy.sparse as sp

    found, where = np.unique(at, return_inverse=True)
    sums: Any = sp.csc_array((share.ravel(), where.ravel(), np.arange(at.size + 1)), shape=(len(found), at.size))
    total[found] += sparse_product(sums, parts.reshape(at.size, parts.shape[2]))
