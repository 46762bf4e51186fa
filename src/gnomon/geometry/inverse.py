"""The features as a linear function of the place in the map, around each point, turned round to say what moves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._threads import in_order, single_threaded_blas
from gnomon.geometry.check import has_place
from gnomon.geometry.effects import FeatureEffects
from gnomon.linalg import dense_rows, first_columns, product, stacked_products, stacked_solve
from gnomon.linalg.table import RowTable

__all__ = ["InverseFits", "MapNeighbors", "Regressions", "blocks_of_fits", "inverse_fits", "regress_features"]

_LEAST_VARIANCE = 1e-3  # of the residuals, as a share of the feature's variance in the neighbourhood
_RIDGE = 1e-9  # keeps the spread of places on a line invertible
_NUMBERS, _NEIGHBORS = 1 << 15, 1 << 14  # features and neighbours of rows whose fits are formed at a time

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Regressions:
    """Regressions of the features on the place in the map in m neighbourhoods of k rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    near : ndarray of shape (m, k), int32
        The rows of each neighbourhood.
    mean : ndarray of shape (m, n_features)
        Of the displacements of the rows from the first one, in units of the features.
    squares : ndarray of shape (m, n_features)
        Sums of squares of the displacements from the mean.
    rest : ndarray of shape (m, n_features)
        The part of them that the place does not account for.
    steps : ndarray of shape (m, k, n_components)
        Of their places from their mean, in units of the map.
    spread : ndarray of shape (m, n_components, n_components)
        Inverse of the sum of squares of `steps`.
    slopes : ndarray of shape (m, n_components, n_features)
        Features per unit of the map.
    precision : ndarray of shape (m, n_features)
        One over the variance of the residuals; 0 for a feature that is constant.
    gain : ndarray of shape (m, n_components, n_components)
        What turns slopes times precisions into `axes`.
    mask : ndarray of shape (m,), bool
        False where all rows lie on one place.
    """

    X: Any
    near: npt.NDArray[np.int32]
    mean: Floats
    squares: Floats
    rest: Floats
    steps: Floats
    spread: Floats
    slopes: Floats
    precision: Floats
    gain: Floats
    mask: npt.NDArray[np.bool_]

    def displacements(self, hoods: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Floats:
        """Return the displacement of a row of each of some neighbourhoods from its mean, (len(hoods), n_features)."""
        found = dense_rows(self.X[self.near[hoods, rows]]) - dense_rows(self.X[self.near[hoods, 0]])
        found -= self.mean[hoods]
        return found

    @property
    def axes(self) -> Floats:
        """Displacement in the map per unit of each feature, (m, n_components, n_features)."""
        return stacked_products(self.gain, self.slopes * self.precision[:, None])

    @property
    def deviation(self) -> Floats:
        """Standard deviation of each feature in each neighbourhood, (m, n_features)."""
        found: Floats = np.sqrt(self.squares / self.near.shape[1])
        return found

    @property
    def leverage(self) -> Floats:
        """How far each row draws the regression to itself, (m, k)."""
        found: Floats = 1.0 / self.steps.shape[1] + _squares(self.steps, self.spread)
        return np.minimum(found, 1.0 - 1e-9)

    def errors(self) -> Floats:
        """Return the standard errors of `axes`: jackknife over the rows, the spread of the places held fixed."""
        k, d = self.steps.shape[1:]
        found = np.empty_like(self.slopes)
        slack, every = 1.0 - self.leverage, np.arange(k)
        for m, T in enumerate(self.steps):
            X = self.displacements(np.full(k, m), every)
            residuals = X - product(T, self.slopes[m])
            change = product(T, self.spread[m]) / slack[m][:, None]
            slopes = self.slopes[m] - change[:, :, None] * residuals[:, None]
            least = _LEAST_VARIANCE * np.mean(X**2, axis=0)
            freedom = max(k - 1 - d, 1)
            rest = np.sum(residuals**2, axis=0) - residuals**2 / slack[m][:, None]
            rest = np.maximum(rest / max(freedom - 1, 1), least)
            precision = np.where(self.precision[m] > 0, 1.0 / np.where(rest > 0, rest, 1.0), 0.0)
            weighted = slopes * precision[:, None]
            axes = stacked_solve(stacked_products(weighted, np.swapaxes(slopes, 1, 2)) + k * self.spread[m], weighted)
            found[m] = np.sqrt((k - 1) / k * np.sum((axes - axes.mean(axis=0)) ** 2, axis=0))
        return found

    def arrows(self) -> Floats:
        """Return the displacement in the map per standard deviation of each feature, (m, n_components, n_features)."""
        return self.axes * self.deviation[:, None]

    def arrows_without(self, hoods: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Floats:
        """Return the arrows of some neighbourhoods without one row each, (len(hoods), n_components, n_features).

        They are those of a regression on the k - 1 other rows; `rows` are places in the neighbourhoods.
        """
        k, d = self.steps.shape[1:]
        T, slopes = self.steps[hoods, rows], self.slopes[hoods]
        without, pull = self.displacements(hoods, rows), stacked_products(T[:, None], self.spread[hoods])[:, 0]
        slack = np.maximum(1.0 - 1.0 / k - np.sum(pull * T, axis=1), 1e-9)
        residuals = without - stacked_products(T[:, None], slopes)[:, 0]
        change = pull / slack[:, None]
        slopes -= change[:, :, None] * residuals[:, None]
        variance = np.maximum(self.squares[hoods] - k / (k - 1.0) * without**2, 0.0) / (k - 1.0)
        rest = self.rest[hoods] - residuals**2 / slack[:, None]
        rest = np.maximum(rest / max(k - 2 - d, 1), _LEAST_VARIANCE * variance)
        precision = np.where(rest > 0, 1.0 / np.where(rest > 0, rest, 1.0), 0.0)
        weighted = slopes * precision[:, None]
        spread = self.spread[hoods] + change[:, :, None] * pull[:, None]
        information = stacked_products(weighted, np.swapaxes(slopes, 1, 2)) + (k - 1.0) * spread
        found: Floats = stacked_solve(information, weighted) * np.sqrt(variance)[:, None]
        return found

    def predictions(self, table: RowTable | None = None) -> tuple[Floats, Floats, Floats]:
        """Return each row's step from the mean of the others, its prediction by the others, and that by all.

        The variances of the residuals are held fixed. All have shape (m, k, n_components). `table` is that of X.
        """
        k, d = self.steps.shape[1:]
        weighted = self.slopes * self.precision[:, None]
        core = (RowTable.of(self.X) if table is None else table).core
        flat = weighted.reshape(len(weighted), -1)
        toward, own = _core.hood_projections(core, self.near, self.mean, flat, self.precision, current_run().n_threads)
        information = stacked_products(weighted, np.swapaxes(self.slopes, 1, 2))
        change = stacked_products(self.steps, self.spread) / (1.0 - self.leverage)[:, :, None]
        along = np.sum(self.steps * toward, axis=2)
        left = toward - stacked_products(self.steps, information)
        square = own - 2.0 * along + _squares(self.steps, information)
        cross = change[..., :, None] * left[..., None, :]
        matrix = _inverses(self.gain)[:, None] - cross - np.swapaxes(cross, 2, 3)
        matrix += square[:, :, None, None] * change[..., :, None] * change[..., None, :]
        goal = toward - change * (own - along)[:, :, None]
        others = k / (k - 1.0)
        solved = stacked_solve(matrix.reshape(-1, d, d), goal.reshape(-1, d, 1)).reshape(goal.shape)
        return others * self.steps, others * solved, stacked_products(toward, np.swapaxes(self.gain, 1, 2))


def _squares(steps: Floats, matrices: Floats) -> Floats:
    """Return s' M s of each step (m, k, d) with the matrix (m, d, d) of its neighbourhood, (m, k)."""
    found: Floats = np.sum(stacked_products(steps, matrices) * steps, axis=2)
    return found


def _inverses(matrices: Floats) -> Floats:
    return stacked_solve(matrices, np.broadcast_to(np.eye(matrices.shape[1]), matrices.shape))


def regress_features(X: Any, near: npt.NDArray[Any], places: Floats, *, table: RowTable | None = None) -> Regressions:
    """Regress the features of neighbouring rows on their places, and turn the regression round.

    The slopes B (features by place) become axes by generalised least squares with the places' own spread as prior,
    ``(B D^-1 B.T + S^-1)^-1 B D^-1``, with D the variance of each feature's residuals: a count, a draw of zero and one
    and a column of another unit all weigh by what their own scatter lets them say.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data. A column without change must hold exactly equal numbers.
    near : ndarray of shape (m, k), int
        The rows of m neighbourhoods.
    places : ndarray of shape (n_samples, n_components)
        Of all rows.
    table : RowTable, default=None
        That of X, if it is known.

    Returns
    -------
    Regressions
    """
    near, placed = np.ascontiguousarray(near, dtype=np.int32), places[near]
    k, d = placed.shape[1:]
    T = placed - placed.mean(axis=1, keepdims=True)
    square = stacked_products(np.swapaxes(T, 1, 2), T)
    size = np.trace(square, axis1=1, axis2=2)
    mask = size > 0
    square += (np.where(mask, _RIDGE * size / d, 1.0))[:, None, None] * np.eye(d)
    spread = _inverses(square)
    core = (RowTable.of(X) if table is None else table).core
    mean, moments, squares = _core.hood_moments(core, near, T.reshape(len(T), -1), current_run().n_threads)
    slopes = stacked_products(spread, moments)
    rest = squares - np.sum(slopes * moments, axis=1)
    variance = np.maximum(rest / max(k - 1 - d, 1), _LEAST_VARIANCE * squares / k)
    precision = np.where(variance > 0, 1.0 / np.where(variance > 0, variance, 1.0), 0.0)
    gain = _inverses(stacked_products(slopes * precision[:, None], np.swapaxes(slopes, 1, 2)) + k * spread)
    return Regressions(X, near, mean, squares, rest, T, spread, slopes, precision, gain, mask)


class MapNeighbors:
    """Finds the rows nearest in a map.

    Parameters
    ----------
    places : ndarray of shape (n_samples, n_components)
        The map.
    among : ndarray of int64, default=None
        The rows looked among; all with a place by default.
    """

    def __init__(self, places: Floats, among: Ints | None = None) -> None:
        from scipy.spatial import cKDTree

        self.places = places
        self.rows: Ints = np.flatnonzero(has_place(places)) if among is None else among
        self._tree = cKDTree(places[self.rows])

    def nearest(self, rows: npt.NDArray[Any], n_neighbors: int) -> Ints:
        """Return the nearest to some rows with a place, (len(rows), n_neighbors); a row found counts as its own."""
        wanted = np.arange(1, n_neighbors + 1)
        found: Ints = self.rows[self._tree.query(self.places[rows], k=wanted, workers=current_run().n_threads)[1]]
        return found

    def in_order(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return some rows in an order in which they lie near those before: their neighbours then stay in the cache."""
        rank = np.full(len(self.places), len(self.places))
        rank[self.rows[self._tree.indices]] = np.arange(len(self.rows))
        return rows[np.argsort(rank[rows], kind="stable")]


@dataclass(frozen=True)
class InverseFits(ShortRepr):
    """Regressions of the features on the place over the nearest points of the map, one for each row.

    Only the places are kept; axes are formed from the data when asked for.

    Attributes
    ----------
    places : ndarray of shape (n_samples, n_components)
        The embedding; NaN where a row has no place.
    n_neighbors : int
        Nearest points of the map in each fit, the row itself counted.
    r2, predicted_r2, r2_error, predicted_square : ndarray of shape (n_samples,), float32
        As in `LocalJacobians`, of the steps in the map of these neighbours; after `calibration`.
    mask : ndarray of shape (n_samples,), bool
        False where the row has no place or all neighbours lie on one place.
    calibration : float
        Factor that gives all axes the length at which they predict left-out neighbours best.
    among : ndarray of int64, or None
        The rows that enter fits; None for all with a place.
    """

    places: Floats
    n_neighbors: int
    r2: npt.NDArray[np.float32]
    predicted_r2: npt.NDArray[np.float32]
    r2_error: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_]
    calibration: float
    among: Ints | None = None

    def regressions(self, X: Any, rows: npt.NDArray[Any]) -> Regressions:
        """Return the regressions at a few rows where `mask` is True: of the data, only their neighbours are read."""
        near = self.nearest(rows)
        members, at = np.unique(near, return_inverse=True)
        return regress_features(X[members], at.reshape(near.shape), self.places[members])

    @cached_property
    def _neighbors(self) -> MapNeighbors:
        return MapNeighbors(self.places, self.among)

    def nearest(self, rows: npt.NDArray[Any], n_neighbors: int | None = None) -> Ints:
        """Return the rows nearest in the map, (len(rows), n_neighbors), nearest first: those of the fits by default."""
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        return self._neighbors.nearest(np.asarray(rows, dtype=np.int64), wanted)

    def in_order(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return some rows in an order in which their fits are formed fastest: those near each other together."""
        return self._neighbors.in_order(rows)

    def axes(self, X: Any, i: int) -> Floats:
        """Return the displacement of row i in the map per unit of each feature, (n_components, n_features)."""
        if not self.mask[i]:
            return np.full((self.places.shape[1], X.shape[1]), np.nan)
        with single_threaded_blas():
            found: Floats = self.calibration * self.regressions(X, np.array([i])).axes[0]
        return found

    def axes_error(self, X: Any, i: int, features: Any = None) -> Floats:
        """Return the standard errors of `axes`, of all features or some, in the same units.

        By the jackknife over the neighbours: they answer for the scatter of the features about a linear function of the
        place, not for what its curvature and the prior bend.
        """
        wanted = slice(None) if features is None else np.asarray(features, dtype=np.int64)
        if not self.mask[i]:
            return np.full((self.places.shape[1], X.shape[1]), np.nan)[:, wanted]
        with single_threaded_blas():
            found: Floats = self.calibration * self.regressions(X, np.array([i])).errors()[0][:, wanted]
        return found

    def deviation(self, X: Any, i: int) -> Floats:
        """Return the standard deviation of each feature over the neighbours of row i, (n_features,)."""
        if not self.mask[i]:
            return np.full(X.shape[1], np.nan)
        found: Floats = self.regressions(X, np.array([i])).deviation[0]
        return found

    def each_arrows(self, X: Any, rows: npt.NDArray[Any]) -> Iterator[Floats]:
        """Yield the displacement per standard deviation of every feature, (n_components, n_features), for many rows."""
        table = RowTable.of(X)
        for part in blocks_of_fits(len(rows), self.n_neighbors, int(X.shape[1])):
            block = np.asarray(rows[part], dtype=np.int64)
            arrows = np.full((len(block), self.places.shape[1], X.shape[1]), np.nan)
            known = self.mask[block]
            if known.any():
                fits = regress_features(X, self.nearest(block[known]), self.places, table=table)
                arrows[known] = self.calibration * fits.axes * fits.deviation[:, None]
            yield from arrows

    def importance(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the length of the arrow of every feature at every row, (n_samples, n_features)."""
        found = np.empty((len(self.places), int(X.shape[1])), np.float32)
        rows = self.in_order(np.arange(len(found)))
        for i, arrows in zip(rows, self.each_arrows(X, rows), strict=True):
            found[i] = np.linalg.norm(arrows, axis=0)
        return found

    def effects(self, X: Any, n_top: int) -> FeatureEffects:
        """Return the features of largest importance of every row, with their arrows."""
        return _all_effects(X, self.places, self._neighbors, self.n_neighbors, self.mask, n_top).scaled(
            self.calibration
        )


@dataclass(frozen=True)
class _Effects:
    indices: npt.NDArray[np.int32]
    arrows: Floats
    lengths: Floats
    total: Floats
    scores: Floats

    def scaled(self, factor: float) -> FeatureEffects:
        return FeatureEffects(
            indices=self.indices,
            arrows=(factor * self.arrows).astype(np.float32),
            importance=(factor * self.lengths).astype(np.float32),
            mean_importance=factor * self.total,
        )


def blocks_of_fits(n: int, n_neighbors: int, n_features: int) -> list[slice]:
    """Return in which blocks n fits are formed: what is held of each stays in the cache."""
    step = max(1, min(_NUMBERS // n_features, _NEIGHBORS // n_neighbors))
    return [slice(start, start + step) for start in range(0, n, step)]


def _block_effects(X: Any, table: RowTable, places: Floats, near: Ints, n_top: int) -> tuple[Any, ...]:
    """Return for some rows the top features, their arrows and lengths, the sum of lengths, and the scores.

    Scores are, for each row, the shares of the neighbours' squares in product, square and fit, then the sums over the
    neighbours that the standard error needs.
    """
    fits = regress_features(X, near, places, table=table)
    arrows = fits.arrows()
    lengths = np.linalg.norm(arrows, axis=1)
    top = first_columns(np.where(np.isnan(lengths), np.inf, -lengths), n_top)
    steps, predicted, fitted = fits.predictions(table)
    total = np.sum(steps**2, axis=2)
    whole = np.maximum(np.sum(total, axis=1), np.finfo(np.float64).tiny)
    product, square = np.sum(steps * predicted, axis=2), np.sum(predicted**2, axis=2)
    shares = (total, product, square)
    scores = np.stack([np.sum(one, axis=1) / whole for one in shares[1:]], axis=1)
    fit = np.stack([np.sum(fits.steps * fitted, axis=(1, 2)), np.sum(fitted**2, axis=(1, 2))], axis=1)
    fit /= np.maximum(np.sum(fits.steps**2, axis=(1, 2)), np.finfo(np.float64).tiny)[:, None]
    # Leaving out neighbour j changes product and square shares; covariances give the error for any stretch.
    rest = np.maximum(whole[:, None] - total, np.finfo(np.float64).tiny)
    without = np.stack([(np.sum(one, axis=1)[:, None] - one) / rest for one in shares[1:]], axis=2)
    without -= without.mean(axis=1, keepdims=True)
    k = near.shape[1]
    spread = (k - 1) / k * stacked_products(np.swapaxes(without, 1, 2), without)
    packed = np.column_stack([scores, fit, spread[:, 0, 0], spread[:, 0, 1], spread[:, 1, 1], fits.mask])
    chosen = np.take_along_axis(arrows, top[:, None], axis=2)
    return top, np.swapaxes(chosen, 1, 2), np.take_along_axis(lengths, top, axis=1), lengths.sum(axis=0), packed


def _all_effects(
    X: Any, places: Floats, neighbors: MapNeighbors, n_neighbors: int, mask: npt.NDArray[np.bool_], n_top: int
) -> _Effects:
    n, d = places.shape
    n_top = min(n_top, int(X.shape[1]))
    rows = neighbors.in_order(np.flatnonzero(mask))
    table = RowTable.of(X)
    parts = blocks_of_fits(len(rows), n_neighbors, int(X.shape[1]))
    indices = np.zeros((n, n_top), np.int32)
    arrows, lengths = np.full((n, n_top, d), np.nan), np.full((n, n_top), np.nan)
    scores, total = np.full((n, 8), np.nan), np.zeros(int(X.shape[1]))
    with single_threaded_blas():
        found = in_order(
            lambda part: _block_effects(X, table, places, neighbors.nearest(rows[part], n_neighbors), n_top), parts
        )
        for part, (top, best, long, whole, score) in zip(parts, found, strict=True):
            indices[rows[part]], arrows[rows[part]], lengths[rows[part]] = top, best, long
            scores[rows[part]] = score
            total += whole
    return _Effects(indices, arrows, lengths, total / max(len(rows), 1), scores)


def inverse_fits(
    X: Any, places: Floats, *, n_neighbors: int, n_top: int = 8, among: Ints | None = None
) -> tuple[InverseFits, FeatureEffects]:
    """Regress the features on the place around every point of a map, and turn each regression round.

    Where neighbours in the data are mostly noise, as in sparse counts, many neighbours in the map average it out.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    places : ndarray of shape (n_samples, n_components), float64
        The embedding; NaN where a row has no place.
    n_neighbors : int > n_components + 2
        Nearest points of the map in each fit, the row itself counted.
    n_top : int >= 1, default=8
        Features kept for each point.
    among : ndarray of int64, default=None
        The rows with a place that enter fits; all of them by default.

    Returns
    -------
    fits : InverseFits
    effects : FeatureEffects
        Of all rows.
    """
    placed = has_place(places)
    neighbors = MapNeighbors(places, among)
    n_neighbors = min(n_neighbors, len(neighbors.rows))
    effects = _all_effects(X, places, neighbors, n_neighbors, placed, n_top)
    mask = placed & (effects.scores[:, 7] == 1)
    product, square, along, fitted, a, b, c = effects.scores[:, :7].T
    whole = float(np.sum(square[mask]))
    factor = float(np.sum(product[mask])) / whole if whole > 0 else 0.0
    factor = factor if factor > 0 else 1.0
    r2 = 2.0 * factor * product - factor**2 * square
    error = np.sqrt(np.maximum(4.0 * factor**2 * a - 4.0 * factor * factor**2 * b + factor**2 * factor**2 * c, 0.0))
    r2[~mask] = error[~mask] = np.nan
    fits = InverseFits(
        places=places,
        n_neighbors=n_neighbors,
        r2=np.where(mask, 2.0 * factor * along - factor**2 * fitted, np.nan).astype(np.float32),
        predicted_r2=r2.astype(np.float32),
        r2_error=error.astype(np.float32),
        mask=mask,
        calibration=factor,
        among=among,
    )
    return fits, effects.scaled(factor)
