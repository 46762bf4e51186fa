"""Coordinates of rows in a subspace that a few entries of any size do not move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.linalg.products import product

__all__ = ["huber_coordinates", "robust_coordinates", "robust_derivative"]

Float64Array = npt.NDArray[np.float64]

_ROWS = 256  # worked on together
_RELAXATION = 1.6
_RATIO, _FACTOR = 5.0, 2.0
_BALANCE_EVERY, _BALANCE_UNTIL = 5, 200
_HUBER_STEPS = 50  # each halves the distance to the minimum or better, unless nearly all entries are outliers
_HUBER_BLOCK = 256
_BEYOND = 2.0  # times as far as any fitted entry
_FELT = 1e-12  # of a direction of length 1: a smaller part is what rounding leaves of none


def robust_coordinates(
    X: Float64Array,
    directions: Float64Array,
    spread: Float64Array,
    sparsity: float,
    *,
    observed: npt.NDArray[np.bool_] | None = None,
    tol: float = 1e-8,
    max_iter: int = 5000,
) -> Float64Array:
    """Fit coordinates in a subspace that errors of any size in a few entries do not move.

    For each row x the coordinates minimise

        1/2 sum_k a_k^2 / spread_k + sparsity * |x - a directions|_1.

    Of a low-rank plus sparse decomposition L = U S V' with spread S the minimiser for a row of the fitted table is its
    row of U S: with the singular vectors fixed, the nuclear norm is the least of a sum over rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        Finite; what is not observed is not looked at.
    directions : ndarray of shape (rank, n_features), float64
        Orthonormal rows.
    spread : ndarray of shape (rank,), float64
        Positive.
    sparsity : float > 0
        Largest force of an entry.
    observed : ndarray of shape (n_rows, n_features), bool, default=None
        Which entries are known; all by default.
    tol : float, default=1e-8
        A row is done when both of its relative residuals are below it.
    max_iter : int, default=5000
        Most iterations.

    Returns
    -------
    ndarray of shape (n_rows, rank), float64
        Each row is a function of the same row of X alone, up to rounding.

    References
    ----------
    .. [1] Feng, Xu & Yan, "Online robust PCA via stochastic optimization", NeurIPS 2013 (sample projection).
    """
    coordinates = np.zeros((len(X), len(spread)))
    if len(spread) == 0:
        return coordinates
    with single_threaded_blas():
        for begin in range(0, len(X), _ROWS):
            rows = slice(begin, begin + _ROWS)
            known = np.ones(X[rows].shape, dtype=bool) if observed is None else observed[rows]
            problem = _Rows(np.where(known, X[rows], 0.0), known, directions, spread, sparsity)
            coordinates[rows] = problem.solve(tol, max_iter)[0]
    return coordinates


def robust_derivative(
    X: Float64Array, directions: Float64Array, spread: Float64Array, sparsity: float, *, tol: float = 1e-8
) -> Float64Array:
    """Return the derivative of `robust_coordinates` by the rows, all of which is observed.

    The coordinates are a piecewise linear function of a row: the entries that are met exactly decide, and the others
    pull with a constant force.

    Parameters
    ----------
    X, directions, spread, sparsity, tol : as for `robust_coordinates`

    Returns
    -------
    ndarray of shape (n_rows, rank, n_features), float64
    """
    found = np.zeros((len(X), len(spread), X.shape[1]))
    if len(spread) == 0:
        return found
    with single_threaded_blas():
        known = np.ones(X.shape, dtype=bool)
        met = _Rows(X, known, directions, spread, sparsity).solve(tol, 5000)[1]
        met &= np.abs(directions).max(axis=0) > _FELT  # what lies along no direction is met by any coordinates
        for row, own in zip(found, met, strict=True):
            weighted = spread[:, None] * directions[:, own]
            row[:, own] = weighted @ np.linalg.pinv(directions[:, own].T @ weighted)
    return found


class _Rows:
    """Some rows, by the alternating direction method; each has a penalty of its own and ends by itself."""

    def __init__(
        self,
        X: Float64Array,
        known: npt.NDArray[np.bool_],
        directions: Float64Array,
        spread: Float64Array,
        sparsity: float,
    ) -> None:
        # The forces of all entries move no coordinate beyond reach, and so no fitted entry beyond far: an entry farther
        # out pulls in full by whatever it is. At its size the residuals would be relative to it, not to the rest.
        reach = sparsity * spread * np.abs(directions).sum(axis=1)
        far = _BEYOND * (reach[:, None] * np.abs(directions)).sum(axis=0)
        X = np.clip(X, -far, far)
        self._X, self._known, self._directions, self._spread = X, known, directions, spread
        self._limit = np.where(known, sparsity, 0.0)  # an entry that is not known pulls with no force
        self._size = np.linalg.norm(X, axis=1)

    def solve(self, tol: float, max_iter: int) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
        """Return the coordinates, and which entries of each row are met exactly."""
        result = np.zeros((len(self._X), len(self._spread)))
        met = np.ones(self._X.shape, dtype=bool)
        active = np.flatnonzero(self._size > 0.0)  # a row of zeros has coordinates of zero
        X, limit, size = self._X[active], self._limit[active], self._size[active, None]
        total = np.abs(X).sum(axis=1, keepdims=True)
        penalty = self._known[active].sum(axis=1, keepdims=True) / (4.0 * total)
        copy, multiplier = X.copy(), np.zeros_like(X)
        coordinates = np.zeros((len(active), len(self._spread)))
        for iteration in range(1, max_iter + 1):
            if len(active) == 0:
                break
            shrunk = penalty * self._spread / (1.0 + penalty * self._spread)
            coordinates = product(copy + multiplier / penalty, self._directions.T) * shrunk
            fitted = product(coordinates, self._directions)
            V = _RELAXATION * fitted + (1.0 - _RELAXATION) * copy - multiplier / penalty
            multiplier = np.clip(penalty * (X - V), -limit, limit)  # penalty * (new copy - V)
            new = V + multiplier / penalty
            primal = np.linalg.norm(new - fitted, axis=1, keepdims=True) / size
            dual = penalty * np.linalg.norm(new - copy, axis=1, keepdims=True)
            norm = np.linalg.norm(multiplier, axis=1, keepdims=True)
            dual /= np.where(norm > 0.0, norm, 1.0)
            copy = new
            if iteration % _BALANCE_EVERY == 0 and iteration <= _BALANCE_UNTIL:
                penalty = penalty * np.where(primal > _RATIO * dual, _FACTOR, 1.0)
                penalty = penalty / np.where(dual > _RATIO * primal, _FACTOR, 1.0)
            done = (np.maximum(primal, dual) <= tol)[:, 0]
            if done.any():
                result[active[done]] = coordinates[done]
                met[active[done]] = np.abs(multiplier[done]) < limit[done]
                stay = ~done
                active, coordinates = active[stay], coordinates[stay]
                X, limit, size, penalty = X[stay], limit[stay], size[stay], penalty[stay]
                copy, multiplier = copy[stay], multiplier[stay]
        result[active] = coordinates
        met[active] = np.abs(multiplier) < limit
        return result, met


def huber_coordinates(rows: npt.ArrayLike, directions: npt.ArrayLike, threshold: float) -> Float64Array:
    """Fit each row by a combination of directions, large errors counted by their size.

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_features)
        Without the centre of the subspace.
    directions : array-like of shape (n_components, n_features)
        Orthonormal.
    threshold : float > 0
        Errors below it are squared, those above count by their size (see `gnomon.objectives.HuberFit`).

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
        Of 50 reweighted least-squares fits the last; each a function of its row alone.

    References
    ----------
    .. [1] Holland & Welsch, "Robust regression using iteratively reweighted least-squares", Communications in
       Statistics 6, 1977.
    """
    table, V = np.asarray(rows, dtype=np.float64), np.asarray(directions, dtype=np.float64)
    first, second = np.tril_indices(len(V))
    pairs = V[first] * V[second]
    out = np.empty((len(table), len(V)))
    for begin in range(0, len(table), _HUBER_BLOCK):
        some = table[begin : begin + _HUBER_BLOCK]
        found = product(some, V.T)
        normal = np.empty((len(some), len(V), len(V)))
        for _ in range(_HUBER_STEPS):
            errors = np.abs(some - product(found, V))
            weights = np.minimum(1.0, threshold / np.maximum(errors, threshold))
            normal[:, first, second] = product(weights, pairs.T)
            found = _solved(normal, product(weights * some, V.T))
        out[begin : begin + _HUBER_BLOCK] = found
    return out


def _solved(normal: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solutions of positive definite systems, of which the lower triangles count, by Cholesky's factors."""
    size = right.shape[1]
    lower, found = np.zeros_like(normal), np.empty_like(right)
    for j in range(size):
        column = normal[:, j:, j] - (lower[:, j:, :j] * lower[:, j, None, :j]).sum(axis=2)
        lower[:, j:, j] = column / np.sqrt(column[:, :1])
        found[:, j] = (right[:, j] - (lower[:, j, :j] * found[:, :j]).sum(axis=1)) / lower[:, j, j]
    for j in reversed(range(size)):
        found[:, j] = (found[:, j] - (lower[:, j + 1 :, j] * found[:, j + 1 :]).sum(axis=1)) / lower[:, j, j]
    return found
