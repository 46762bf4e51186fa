"""The forward fits of an explanation: how many neighbours, how strongly damped, and how often averaged.

All are chosen by rows that are left out. Without noise near rows change in other features than rows a little farther
away, as the views of an object that turns do, and a wide reach smears; with noise a narrow one finds little else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon._threads import single_threaded_blas
from gnomon.explanations.jackknife import jackknife_error
from gnomon.geometry import LocalJacobians, local_jacobians
from gnomon.geometry.check import has_place
from gnomon.geometry.expansion import foretell_by_rounds
from gnomon.linalg.table import dense_in_stored, evenly_spaced
from gnomon.neighbors import NeighborGraph

__all__ = [
    "LINEAR",
    "choose_neighbors",
    "choose_pooling",
    "fit_forward",
    "fits_around",
    "median_r2",
    "predicted_shares",
]

COUNTS = (4, 6, 8, 10)
"""Neighbours tried, besides all."""

LINEAR = 0.5
"""Median R2 of the forward fits from which on they stand without comparison with inverse ones."""

_POOLING = 3  # rounds of averaging, at most
_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
_RIDGE_ROWS = 1000  # points that choose the ridge

_STREAM = 314
_LOOKED_AT = 200  # rows whose nearest neighbours are predicted
_NEAREST = 2  # of each row, one at a time
_SHARP = 0.95  # share of the best score that more neighbours keep
_CERTAIN = 2.0  # standard errors by which less reach must be better
_HELD = 4  # one row in so many is held out of fits that are averaged
_CENTRES = 100
_TESTED = 3  # nearest held-out rows of each
_LOSS = 0.25  # of the median R2 that fewer neighbours may cost
_SLACK = 4 / 3  # times what the best choice leaves unpredicted that one with more damping or averaging may leave

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def _profile_scores(X: Any, graph: NeighborGraph, counts: tuple[int, ...]) -> Array:
    """Return for some rows how well the deviations of the features over k neighbours tell which change to another.

    The squared cosine of the local deviations of all features and the distances, feature by feature, to a neighbour
    that is left out: (rows and neighbours left out, counts).
    """
    found = []
    for i in evenly_spaced(graph.n_samples, _LOOKED_AT).tolist():
        near = graph.indices[i] if graph.mask is None else graph.indices[i][graph.mask[i]]
        if len(near) < graph.n_neighbors:
            continue
        values, _ = dense_in_stored(X[np.append(near, i)])  # where no row stores a number there is no distance
        squares = (values[:-1] - values[-1]) ** 2
        sums = np.cumsum(squares, axis=0)
        for left in range(_NEAREST):
            away = np.sqrt(squares[left])
            deviations = np.sqrt(sums[[k - 1 for k in counts]] - squares[left])
            sizes = np.sum(squares[left]) * np.sum(deviations**2, axis=1)
            if (sizes > 0).all():
                found.append(product(deviations, away) ** 2 / sizes)
    return np.array(found).reshape(len(found), len(counts))


def choose_neighbors(X: Any, graph: NeighborGraph) -> int:
    """Choose how many neighbours tell best which features change from a row to one that they have not seen.

    From some 200 rows the two nearest neighbours are left out one at a time, and the distance to each, feature by
    feature, is compared with the root mean square distances to the others. All neighbours are taken unless fewer are
    clearly better: then the most of 4, 6, 8 and 10 that score 0.95 of the best.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    graph : NeighborGraph
        Neighbours in the data, the nearest first.

    Returns
    -------
    int
        One of 4, 6, 8, 10 and ``graph.n_neighbors``.
    """
    counts = (*(k for k in COUNTS if k < graph.n_neighbors), graph.n_neighbors)
    with single_threaded_blas():
        scores = _profile_scores(X, graph, counts)
    if len(scores) < 2 * _NEAREST:
        return graph.n_neighbors
    means = scores.mean(axis=0)
    best = int(np.argmax(means))
    gain = _SHARP * scores[:, best] - scores[:, -1]
    if gain.mean() <= _CERTAIN * gain.std(ddof=1) / np.sqrt(len(gain) / _NEAREST):
        return graph.n_neighbors
    return max(k for k, mean in zip(counts, means, strict=True) if mean >= _SHARP * means[best])


def choose_pooling(
    X: Any, places: Array, graph: NeighborGraph, n_neighbors: int, *, ridge: float, pooled_ridge: float
) -> int:
    """Choose how often fits are averaged over neighbours, by how they predict the places of rows held out.

    A quarter of the rows is held out of all fits. From up to 100 of the others the steps in the map to the three
    nearest rows held out are predicted by the fit alone and by its averages. The most rounds are taken that do not
    leave clearly more than 4/3 of what the best number of rounds leaves unpredicted, after all predictions are
    stretched by one factor.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    places : ndarray of shape (n_samples, n_components), float64
        The embedding; NaN where a row has no place.
    graph : NeighborGraph
        Neighbours in the data.
    n_neighbors : int
        Neighbours of each fit.
    ridge, pooled_ridge : float >= 0
        Damping of the fits that are not averaged, and of those that are.

    Returns
    -------
    int
        From 0 to 3.
    """
    n = graph.n_samples
    held = np.zeros(n, dtype=bool)
    held[np.random.default_rng((0, _STREAM)).permutation(n)[: n // _HELD]] = True
    tests = _tests(places, graph, held)
    if len(tests) < _NEAREST:
        return _POOLING
    seen = np.argsort(held[graph.indices], axis=1, kind="stable")[:, :n_neighbors]
    weights = 1.0 - np.take_along_axis(held[graph.indices], seen, axis=1)
    if graph.mask is not None:
        weights *= np.take_along_axis(graph.mask, seen, axis=1)
    kept = NeighborGraph(
        np.ascontiguousarray(np.take_along_axis(graph.indices, seen, axis=1)),
        np.ascontiguousarray(np.take_along_axis(graph.distances, seen, axis=1)),
        metric=graph.metric,
    )
    alone = fits_around(X, places, kept, weights, [i for i, _ in tests], ridge=ridge, rounds=0)
    averaged = fits_around(X, places, kept, weights, [i for i, _ in tests], ridge=pooled_ridge, rounds=_POOLING)
    sums = np.concatenate([_predictions(X, alone, tests), _predictions(X, averaged, tests)[1:]])
    best = sums[int(np.argmax(predicted_shares(sums.sum(axis=1))))]
    return next(rounds for rounds in range(_POOLING, -1, -1) if not _clearly_worse(sums[rounds], best))


def _tests(places: Array, graph: NeighborGraph, held: npt.NDArray[np.bool_]) -> list[tuple[int, Ints]]:
    """Return rows and the nearest rows held out of each."""
    placed = has_place(places)
    rows = np.flatnonzero(placed & ~held)
    found = []
    for i in rows[evenly_spaced(len(rows), _CENTRES)].tolist():
        near = graph.indices[i] if graph.mask is None else graph.indices[i][graph.mask[i]]
        tested = near[held[near] & placed[near]][:_TESTED].astype(np.int64)
        if len(tested):
            found.append((i, tested))
    return found


def fits_around(
    X: Any,
    places: Array,
    graph: NeighborGraph,
    weights: npt.NDArray[Any],
    rows: Sequence[int],
    *,
    ridge: float,
    rounds: int,
) -> LocalJacobians:
    """Fit what the averages at some rows are made of; all other rows have no fit.

    Parameters
    ----------
    X, places, graph : as for `fit_forward`
    weights : ndarray of shape (n_samples, n_neighbors)
        Of the neighbours; those of weight 0 take no part.
    rows : sequence of int
    ridge : float >= 0
        Damping of the fits.
    rounds : int >= 0
        Times that they are averaged.

    Returns
    -------
    LocalJacobians
        Of all rows, with ``pooling`` of `rounds`; at `rows` the same as of fits to all.
    """
    wanted = np.array(rows)
    for _ in range(rounds):
        wanted = np.union1d(wanted, graph.indices[wanted][weights[wanted] > 0])
    part = local_jacobians(X, places, graph, weights=weights, rows=wanted, ridge=ridge, variance_share=1.0)
    n = graph.n_samples
    coefficients = np.full((n, *part.coefficients.shape[1:]), np.nan)
    coefficients[wanted] = part.coefficients
    mask = np.zeros(n, dtype=bool)
    mask[wanted] = part.mask
    return replace(part, rows=np.arange(n), coefficients=coefficients, mask=mask, pooling=rounds)


def _predictions(X: Any, fits: LocalJacobians, tests: list[tuple[int, Ints]]) -> Array:
    """Return for each test the squares of steps, their products with the predictions, and the predictions' squares.

    By the fits averaged 0, 1, ... times: (pooling + 1, tests, 3). In units of the steps' own squares, so that each test
    counts the same; 0 where there is no fit.
    """
    found = np.zeros((fits.pooling + 1, len(tests), 3))
    for t, (i, tested) in enumerate(tests):
        steps = fits.places[tested] - fits.places[i]
        size = float(np.sum(steps**2))
        if size > 0 and fits.mask[i]:
            predicted = foretell_by_rounds(X, fits, i, tested)
            found[:, t, 0] = 1.0
            found[:, t, 1] = np.sum(steps * predicted, axis=(1, 2)) / size
            found[:, t, 2] = np.sum(predicted**2, axis=(1, 2)) / size
    return found


def predicted_shares(sums: Array) -> Array:
    """Return the share of the squares that is predicted after the best stretch, at least 0, and 0 without predictions.

    Parameters
    ----------
    sums : ndarray of shape (..., 3)
        Of the squares, of their products with the predictions, and of the predictions' squares.
    """
    total, product, square = np.moveaxis(sums, -1, 0)
    whole = square * total
    found: Array = np.divide(np.maximum(product, 0.0) ** 2, whole, out=np.zeros_like(whole), where=whole > 0)
    return found


def _clearly_worse(sums: Array, best: Array) -> bool:
    """Say whether fits leave clearly more than 4/3 of what the best leave, by the jackknife over the tests."""

    def excess(these: Array, least: Array) -> Array:
        found: Array = (1.0 - predicted_shares(these)) - _SLACK * (1.0 - predicted_shares(least))
        return found

    without = excess(sums.sum(axis=0) - sums, best.sum(axis=0) - best)
    return bool(excess(sums.sum(axis=0), best.sum(axis=0)) > _CERTAIN * jackknife_error(without))


def _choose_ridges(X: Any, Y: Array, graph: NeighborGraph) -> tuple[float, float]:
    """Return the ridges of fits alone and of fits that are averaged.

    From how well they predict each neighbour from the others at even points. Alone, the fits that predict best. Where
    they are averaged and stretched, damping costs little and keeps the noise of directions without spread out: the
    strongest that leaves at most a third more unexplained than the best.
    """
    rows = evenly_spaced(len(Y), _RIDGE_ROWS)
    alone, stretched = np.full((2, len(_RIDGES)), np.inf)
    for k, ridge in enumerate(_RIDGES):
        fits = local_jacobians(X, Y, graph, rows=rows, ridge=ridge, variance_share=1.0)
        if fits.mask.any():
            alone[k] = 1.0 - float(np.median(fits.predicted_r2[fits.mask]))
            stretched[k] = 1.0 - float(np.median(fits.stretched_r2()[fits.mask]))
    strongest = np.flatnonzero(stretched <= min(stretched) * _SLACK)[-1]
    return _RIDGES[int(np.argmin(alone))], _RIDGES[int(strongest)]


def median_r2(fits: LocalJacobians) -> float:
    """Return the median share of the neighbours' steps that the fits to the others predict; NaN without fits."""
    scores = fits.held_out_r2()[fits.mask]
    return float(np.median(scores)) if len(scores) else float("nan")


def fit_forward(
    X: Any, places: Array, graph: NeighborGraph, n_neighbors: int | str, pooling: int | str
) -> LocalJacobians:
    """Fit places by features over neighbours of each row.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    places : ndarray of shape (n_samples, n_components), float64
        The embedding; NaN where a row has no place.
    graph : NeighborGraph
        Neighbours in the data.
    n_neighbors : int or "auto"
        The first so many neighbours. "auto" takes as many as `choose_neighbors` says, but all if the median R2 of fits
        over fewer is lower by more than 0.25.
    pooling : int >= 0 or "auto"
        Times that fits are averaged. "auto" averages three times; if the fits then predict at least half, as often as
        `choose_pooling` says.

    Returns
    -------
    LocalJacobians
        Of all rows.
    """
    if n_neighbors != "auto":
        return _fit_over(X, places, graph, int(n_neighbors), pooling)
    fewer = choose_neighbors(X, graph)
    fits = _fit_over(X, places, graph, fewer, pooling)
    if fewer == graph.n_neighbors:
        return fits
    wide = _fit_over(X, places, graph, graph.n_neighbors, pooling)
    return wide if median_r2(wide) > median_r2(fits) + _LOSS else fits


def _fit_over(X: Any, places: Array, graph: NeighborGraph, n_neighbors: int, pooling: int | str) -> LocalJacobians:
    near = graph.nearest(n_neighbors)

    def fit(ridge: float, rounds: int) -> LocalJacobians:
        return local_jacobians(X, places, near, ridge=ridge, variance_share=1.0, pooling=rounds)

    alone, pooled = _choose_ridges(X, places, near)
    if pooling != "auto":
        return fit(pooled if int(pooling) > 0 else alone, int(pooling))
    fits = fit(pooled, _POOLING)
    if not median_r2(fits) >= LINEAR:
        return fits
    rounds = choose_pooling(X, places, graph, n_neighbors, ridge=alone, pooled_ridge=fits.ridge)
    return replace(fits, pooling=rounds) if rounds else fit(alone, 0)
