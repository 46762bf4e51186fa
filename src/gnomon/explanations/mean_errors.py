"""Standard errors of means of arrows over many points, whose fits share rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import sparse_product
from gnomon._threads import single_threaded_blas
from gnomon.explanations.jackknife import places_in_blocks
from gnomon.geometry.check import has_place
from gnomon.geometry.expansion import expand_axes_of_rows, expand_deviations, place_influences, shares_of_fits
from gnomon.geometry.inverse import InverseFits, blocks_of_fits, regress_features
from gnomon.linalg import dense_rows
from gnomon.linalg.table import RowTable, evenly_spaced, stored_columns

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["error_of_mean"]

_ROWS = 400  # whose influence is found at most
_FEW = 1000  # inverse fits of so many points are all formed
_PATCHES, _PATCH = 16, 25  # of more points: places in the map, and rows around each, whose influence is found
_OUTER = 5  # one of so many neighbours lies at the rim
_TOGETHER = 32  # rows whose fits are averaged in one go
_NUMBERS = 1 << 21  # held in double at a time
_PAIRED = 1 << 15  # features of fits without one row each that are formed at a time
_COLUMNS = 4096  # of a sparse table that are looked at in one go

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Moved = tuple[Array, Array, int]  # by feature the mean square and the mean of what rows do; the rows that do something


def error_of_mean(
    explanation: Explanation, rows: npt.NDArray[Any], weights: Array, mean: Array, toward: Array | None = None
) -> Array:
    """Return the standard errors of a mean of arrows over points of a map.

    Points near each other have fits that share rows, so the arrows are no independent draws: averaged fits of all
    points can be nearly the same, and be wrong together. The rows of the data are the draws. Each moves the mean
    because it is one of the points, and because it enters the fits around it, often with opposite signs; the error is
    the root of the sum of squares over the rows of all that they do (infinitesimal jackknife [1]_). In forward fits it
    is the row's place, missed by its residual; in inverse fits, where neighbours are taken in the map, the row is left
    out and one at the rim takes its place.

    The map itself, the damping and the local scale of the features in forward fits are taken as given. Of more than
    400 rows, those looked at are a sample of about 400, and the error is known to about a tenth.

    Parameters
    ----------
    explanation : Explanation
    rows : ndarray of shape (m,), int
        Points that have an explanation, each once.
    weights : ndarray of shape (m,)
        With which they enter the mean; they sum to one.
    mean : ndarray of shape (n_features,)
        The mean.
    toward : ndarray of shape (m, n_components), default=None
        The direction along which each arrow is measured; None for lengths.

    Returns
    -------
    ndarray of shape (n_features,), float64

    References
    ----------
    .. [1] Jaeckel, "The infinitesimal jackknife", Bell Laboratories memorandum MM 72-1215-11, 1972.
    """
    asked = weights > 0
    rows, weights = np.asarray(rows, dtype=np.int64)[asked], weights[asked]
    toward = None if toward is None else toward[asked]
    if explanation.n_repeats:
        rows, weights, toward = _by_sets(explanation, rows, weights, toward)
    with single_threaded_blas():
        if explanation._inverse is None:
            squares, means, n_moving = _by_forward_fits(explanation, rows, weights, mean, toward)
        else:
            squares, means, n_moving = _by_inverse_fits(explanation, explanation._inverse, rows, weights, mean, toward)
    square = n_moving * squares
    if explanation._inverse is not None:
        fits = explanation._inverse.among
        # What every row does alike comes of leaving one out of a fixed number of neighbours, and is no scatter.
        n = int(np.count_nonzero(has_place(explanation.places))) if fits is None else len(fits)
        square -= (n_moving * means) ** 2 / n
    error: Array = np.sqrt(np.maximum(square, 0.0))
    return error


def _columns_in_blocks(X: Any) -> Iterator[tuple[Any, Any]]:
    """Return columns and the table of them, at once of a dense table; of a sparse one only those that it stores."""
    stored = stored_columns(X)
    if stored is None:
        yield slice(None), X
        return
    for start in range(0, len(stored), _COLUMNS):
        columns = stored[start : start + _COLUMNS]
        yield columns, X[:, columns].tocsr()


def _by_sets(
    explanation: Explanation, rows: Ints, weights: Array, toward: Array | None
) -> tuple[Ints, Array, Array | None]:
    """Return the rows that stand for sets of rows that repeat each other, with the weights of their sets.

    Rows of a set are one draw, and have the same arrows. A row stays that stands for others but has no explanation.
    """
    stand = explanation.representatives[rows]
    found, at = np.unique(np.where(explanation.mask[stand], stand, rows).astype(np.int64), return_inverse=True)
    sums = np.bincount(at, weights).astype(np.float64)
    if toward is None:
        return found, sums, None
    means = [np.bincount(at, weights * one) / sums for one in toward.T]
    return found, sums, np.stack(means, axis=1)


def _measured(arrows: Array, toward: Array | None) -> Array:
    """Return the lengths of arrows (m, n_components, n_features), or how far they lead in directions (m, ...)."""
    found: Array = np.linalg.norm(arrows, axis=1) if toward is None else np.sum(toward[:, :, None] * arrows, axis=1)
    return found


def _directions(arrows: Array, toward: Array | None) -> Array:
    """Return in which direction a change of an arrow changes what is measured, (m, n_components, n_features or 1)."""
    if toward is not None:
        return toward[:, :, None]
    lengths = np.linalg.norm(arrows, axis=1, keepdims=True)
    found: Array = np.divide(arrows, lengths, out=np.zeros_like(arrows), where=lengths > 0)
    return found


def _by_forward_fits(explanation: Explanation, rows: Ints, weights: Array, mean: Array, toward: Array | None) -> Moved:
    """Return what rows do to the mean, on the mean and squared, and the number of all rows that do something."""
    jacobians, X = explanation._jacobians, explanation._fitted
    pull = weights[:, None] if toward is None else weights[:, None] * toward
    shares = shares_of_fits(jacobians, rows, pull)
    centres = np.flatnonzero(shares.any(axis=1) & jacobians.mask)
    used = jacobians.weights[centres] > 0
    touched = np.zeros(explanation.n_samples, dtype=bool)
    touched[rows] = touched[jacobians.indices[centres][used]] = True
    moving = np.flatnonzero(touched)
    chosen = moving[evenly_spaced(len(moving), _ROWS)]
    chosen = chosen[np.concatenate(places_in_blocks(explanation.places[chosen]))]
    position = np.full(explanation.n_samples, -1)
    position[chosen] = np.arange(len(chosen))
    at = np.where(used, position[jacobians.indices[centres]], -1)
    entered = (at >= 0).any(axis=1)
    centres, at, used = centres[entered], at[entered], used[entered]
    sums, members, missed = _sums(explanation, centres, shares[centres], at, used, len(chosen), toward is None)
    own, of_row = np.zeros(explanation.n_samples), np.full(explanation.n_samples, -1)
    own[rows], of_row[rows] = weights, np.arange(len(rows))
    squares, means = np.zeros(explanation.n_features), np.zeros(explanation.n_features)
    for columns, table in _columns_in_blocks(X):
        moved = _steps(table, sums, members)
        for start in range(0, len(chosen), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            some = chosen[part]
            known = jacobians.mask[some]
            shape = len(some), jacobians.n_components, moved.shape[1]
            deviations, arrows = np.zeros(moved[part].shape), np.zeros(shape)
            if known.any():
                deviations[known] = expand_deviations(table, jacobians, some[known])
                arrows[known] = expand_axes_of_rows(table, jacobians, some[known]) * deviations[known][:, None]
            moved[part] *= deviations
            if toward is None:
                moved[part] *= np.sum(_directions(arrows, None) * missed[part][:, :, None], axis=1)
            asked = np.flatnonzero(own[some] > 0)
            along = None if toward is None else toward[of_row[some[asked]]]
            moved[start + asked] += own[some[asked], None] * (_measured(arrows[asked], along) - mean[columns])
        squares[columns], means[columns] = np.mean(moved**2, axis=0), np.mean(moved, axis=0)
    return squares, means, len(moving)


def _sums(
    explanation: Explanation, centres: Ints, shares: Array, at: Ints, used: npt.NDArray[np.bool_], n: int, lengths: bool
) -> tuple[Any, Ints, Array]:
    """Return what the places of n rows do to a weighted sum of Jacobians, and their residuals.

    What they do is a sparse matrix (n, n_members) times these members, rows of the data, each less any one row; members
    are the second value. `at` (m, n_neighbors) says which of the rows each neighbour of the centres is, -1 for others.
    Along directions a row's step is as long as its residual; for lengths it is of unit length, since its direction
    differs by feature.
    """
    import scipy.sparse as sp

    jacobians, X = explanation._jacobians, explanation._fitted
    coefficients, left = place_influences(X, jacobians, centres)
    fit, neighbor = np.nonzero(at >= 0)
    row = at[fit, neighbor]
    counts = np.maximum(np.bincount(row, minlength=n), 1)
    missed = np.stack([np.bincount(row, one, n) / counts for one in left[fit, neighbor].T], axis=1)
    size = shares[fit, 0] if lengths else np.sum(shares[fit] * missed[row], axis=1)
    parts = size[:, None] * np.where(used[fit], coefficients[fit, neighbor], 0.0)
    members = np.unique(np.concatenate([centres, jacobians.indices[centres][used]]))
    near = np.searchsorted(members, np.where(used[fit], jacobians.indices[centres[fit]], centres[fit, None]))
    columns = np.concatenate([near.ravel(), np.searchsorted(members, centres[fit])])
    lines = np.concatenate([np.repeat(row, near.shape[1]), row])
    entries = (np.concatenate([parts.ravel(), -parts.sum(axis=1)]), (lines, columns))
    return sp.coo_array(entries, shape=(n, len(members))).tocsc(), members, missed


def _steps(X: Any, sums: Any, members: Ints) -> Array:
    """Return what `_sums` tells of the features of a table, (n, n_features)."""
    found = np.zeros((sums.shape[0], X.shape[1]))
    step = max(1, _NUMBERS // X.shape[1])
    first = dense_rows(X[members[:1]])
    for start in range(0, len(members), step):
        part = slice(start, start + step)
        found += sparse_product(sums[:, part].tocsr(), dense_rows(X[members[part]]) - first)
    return found


def _by_inverse_fits(
    explanation: Explanation, fits: InverseFits, rows: Ints, weights: Array, mean: Array, toward: Array | None
) -> Moved:
    """Return what rows do to the mean, on the mean and squared, and the number of all rows that do something."""
    X, k = explanation._fitted, fits.n_neighbors
    few = len(rows) <= _FEW
    blocks = np.split(np.arange(len(rows)), range(_FEW, len(rows), _FEW))
    touched = np.zeros(explanation.n_samples, dtype=bool)
    chosen = np.empty(0, np.int64)
    if not few:
        seeds = rows[evenly_spaced(len(rows), _PATCHES)]
        chosen = np.unique(fits.nearest(seeds, min(_PATCH, k)))
    entered = []
    for block in blocks:
        near = fits.nearest(rows[block])
        touched[near] = True
        if few:
            moving = np.flatnonzero(touched)
            chosen = moving[evenly_spaced(len(moving), _ROWS)]
        entered.append(block[np.isin(near, chosen).any(axis=1)])
    position = np.full(explanation.n_samples, -1)
    position[chosen] = np.arange(len(chosen))
    taking_part = np.concatenate(entered)
    at = np.empty(explanation.n_samples, np.int64)
    at[rows] = np.arange(len(rows))
    taking_part = at[fits.in_order(rows[taking_part])]
    stored = stored_columns(X)
    columns, table = (slice(None), X) if stored is None else (stored, X[:, stored].tocsr())
    moved = _moved_by_inverse_fits(fits, table, rows, weights, mean[columns], toward, taking_part, position)
    squares, means = np.zeros(explanation.n_features), np.zeros(explanation.n_features)
    squares[columns], means[columns] = np.mean(moved**2, axis=0), np.mean(moved, axis=0)
    return squares, means, int(np.count_nonzero(touched))


def _moved_by_inverse_fits(
    fits: InverseFits,
    X: Any,
    rows: Ints,
    weights: Array,
    mean: Array,
    toward: Array | None,
    taking_part: Ints,
    position: Ints,
) -> Array:
    """Return what rows, those with a `position`, do to the mean of some features, (n_rows, n_features)."""
    k, n_features = fits.n_neighbors, int(X.shape[1])
    moved = np.zeros((int(position.max()) + 1, n_features))
    rim = min(max(1, k // _OUTER), k - 2)
    table = RowTable.of(X)
    for together in blocks_of_fits(len(taking_part), k, n_features):
        part = taking_part[together]
        near = fits.nearest(rows[part])
        columns, values, at, placed, table = _around(X, near, fits.places, table)
        whole = regress_features(values, at, placed, table=table)
        arrows = whole.arrows()
        at_rim = (arrows - regress_features(values, at[:, : k - rim], placed, table=table).arrows()) / rim
        along = None if toward is None else toward[part]
        sense = (fits.calibration * weights[part])[:, None, None] * _directions(arrows, along)
        places = position[near]
        hoods, inside = np.nonzero(places >= 0)
        step = max(1, _PAIRED // arrows.shape[2])
        for start in range(0, len(hoods), step):
            m, j = hoods[start : start + step], inside[start : start + step]
            change = arrows[m] - whole.arrows_without(m, j) - at_rim[m]
            _add(moved, places[m, j], columns, np.sum(sense[m] * change, axis=1))
        own = np.flatnonzero(position[rows[part]] >= 0)
        measured = _measured(fits.calibration * arrows[own], None if along is None else along[own])
        own_weights, own_rows = weights[part[own], None], position[rows[part[own]]]
        if isinstance(columns, slice):
            moved[own_rows] += own_weights * (measured - mean)
        else:
            moved[own_rows] -= own_weights * mean
            _add(moved, own_rows, columns, own_weights * measured)
    return moved


def _around(X: Any, near: Ints, places: Array, table: RowTable) -> tuple[Any, Any, Ints, Array, RowTable]:
    """Return the columns that matter to fits of near rows, the rows, where near ones are in them, and their places.

    Of a sparse table these are the columns that the rows store: others change nowhere and take no part.
    """
    if isinstance(X, np.ndarray):
        return slice(None), X, near, places, table
    members = np.unique(near)
    values = X[members]
    columns = np.unique(np.append(values.indices, 0))  # one at least
    values = values[:, columns].tocsr()
    return columns, values, np.searchsorted(members, near), places[members], RowTable.of(values)


def _add(table: Array, rows: Ints, columns: Any, values: Array) -> None:
    """Add to some columns of rows, which may come several times."""
    np.add.at(table, rows if isinstance(columns, slice) else (rows[:, None], columns), values)
