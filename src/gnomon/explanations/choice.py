"""Which fit explains a map: the one that best predicts the places of rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.explanations.jackknife import jackknife_error
from gnomon.explanations.reach import fits_around, predicted_shares
from gnomon.explanations.rows import dense_rows_of
from gnomon.geometry import LocalJacobians
from gnomon.geometry.check import has_place
from gnomon.geometry.expansion import expand_axes_of_rows
from gnomon.geometry.inverse import MapNeighbors, regress_features
from gnomon.linalg import stacked_products
from gnomon.linalg.table import RowTable, evenly_spaced, stored_columns
from gnomon.neighbors import NeighborGraph

__all__ = ["FitChoice", "choose_fit"]

NEIGHBORS = (50, 100, 200, 400)
"""Nearest points of the map over which the inverse fit may be made."""

_STREAM = 313
_HELD = 4  # one row in so many is held out
_CENTRES = 100
_STEPS = 3  # in the graph, from a centre to the rows that its fits are tested on
_REFERENCE, _TESTED = 30, 10  # of these, the nearest in the map: those of the mean, and those held out
_FIRST = 4  # one centre in so many decides whether all are worth trying
_CERTAIN = 2.0  # standard errors by which the inverse fit must predict more
_SLACK = 0.6  # share of the best inverse fit that one over more points must keep
_NUMBERS = 1 << 20  # of the neighbours' features, held in double at a time

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FitChoice:
    """The fit chosen, and the scores that chose it.

    Attributes
    ----------
    direction : {"forward", "inverse"}
        Places fitted by features, or features by places.
    n_neighbors : int
        Neighbours of each fit: in the data if it is forward, in the map if it is inverse.
    scores : dict of str to float
        Share of the squared steps in the map, from the centre of a neighbourhood to held-out rows, that each fit tried
        predicts after all its predictions are stretched by one factor: "forward", "inverse 50" and so on. Empty if
        none was compared.
    """

    direction: str
    n_neighbors: int
    scores: dict[str, float]


@dataclass(frozen=True)
class _Test:
    """Held-out rows around one training row, and the training rows from whose mean they are predicted."""

    centre: int
    reference: Ints
    tested: Ints


def _tests(places: Array, graph: NeighborGraph, held: npt.NDArray[np.bool_], centres: Ints) -> list[_Test]:
    """Return the tests of some centres: rows a few steps away in the data, and of these the nearest in the map.

    So they tell of the map's own neighbourhood, but not of rows that the map lays there from elsewhere.
    """
    placed = has_place(places)
    found = []
    for i in centres.tolist():
        reached = np.array([i])
        for _ in range(_STEPS):
            near = graph.indices[reached]
            near = near.ravel() if graph.mask is None else near[graph.mask[reached]]
            reached = np.unique(np.append(reached, near))
        reached = reached[placed[reached] & (reached != i)]
        reached = reached[np.argsort(np.sum((places[reached] - places[i]) ** 2, axis=1), kind="stable")]
        out = held[reached]
        reference, tested = reached[~out][:_REFERENCE], reached[out][:_TESTED]
        if len(reference) > 1 and len(tested):
            found.append(_Test(i, reference, tested))
    return found


def _steps(X: Any, places: Array, tests: list[_Test], columns: Ints | None) -> tuple[Array, Array]:
    """Return the steps from the mean of the reference to the held-out rows of each test, in the data and in the map.

    Of shapes (len(tests), n_tested, n_features), or of some columns of the data, and (len(tests), n_tested,
    n_components); zero where a test has fewer rows. Both are in units of the scatter of the reference in the map.
    """
    width = int(X.shape[1]) if columns is None else len(columns)
    data, steps = (np.zeros((len(tests), _TESTED, n)) for n in (width, places.shape[1]))
    for t, test in enumerate(tests):
        centre = places[test.reference].mean(axis=0)
        scale = np.mean(np.sum((places[test.reference] - centre) ** 2, axis=1)) * len(test.tested)
        if scale > 0:
            values = dense_rows_of(X, np.concatenate([test.reference, test.tested]), columns)
            mean = values[: len(test.reference)].mean(axis=0)
            data[t, : len(test.tested)] = (values[len(test.reference) :] - mean) / np.sqrt(scale)
            steps[t, : len(test.tested)] = (places[test.tested] - centre) / np.sqrt(scale)
    return data, steps


def _sums(data: Array, steps: Array, axes: Array) -> Array:
    """Return for each test the squares of steps, their products with the predictions, and the predictions' squares."""
    predicted = stacked_products(data, np.swapaxes(axes, 1, 2))
    predicted[~np.isfinite(predicted).all(axis=(1, 2))] = 0.0
    pairs = ((steps, steps), (steps, predicted), (predicted, predicted))
    return np.stack([np.sum(one * other, axis=(1, 2)) for one, other in pairs], axis=1)


def _clearly_better(inverse: Array, forward: Array) -> bool:
    """Say whether the inverse fit predicts clearly more, by the jackknife over the tests."""

    def gain(these: Array, others: Array) -> Array:
        return predicted_shares(these) - predicted_shares(others)

    without = gain(inverse.sum(axis=0) - inverse, forward.sum(axis=0) - forward)
    return bool(gain(inverse.sum(axis=0), forward.sum(axis=0)) > _CERTAIN * jackknife_error(without))


def choose_fit(
    X: Any,
    places: Array,
    graph: NeighborGraph,
    *,
    ridge: float,
    pooling: int,
    inverse: bool = False,
    among: Ints | None = None,
) -> FitChoice:
    """Choose between fits to neighbours in the data and inverse fits over neighbours in the map.

    A quarter of the rows is held out of all fits. Around up to 100 of the others each fit predicts where held-out
    rows near by lie in the map; only 25 are tried if the inverse fits do not lead there. The inverse fit is chosen if
    at its best it predicts clearly more than the forward fit, by two standard errors; then over the most points with
    which it still predicts more, and 0.6 of what it does at best.

    The choice is one for the map: of 30 maps of known data, choosing for each point by the tests around it predicted
    0.005 more of the held-out squares in the mean.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data.
    places : ndarray of shape (n_samples, n_components), float64
        The embedding; NaN where a row has no place.
    graph : NeighborGraph
        Neighbours in the data.
    ridge : float >= 0
        Damping of the forward fits.
    pooling : int >= 0
        Times that the forward fits are averaged.
    inverse : bool, default=False
        Whether an inverse fit is wanted in any case, so that only its neighbours are chosen.
    among : ndarray of int64, default=None
        The rows with a place that enter fits; all of them by default. The graph must lead to no others.

    Returns
    -------
    FitChoice
    """
    placed = has_place(places)
    if among is not None:
        placed &= np.isin(np.arange(len(places)), among)
    few = FitChoice("inverse", NEIGHBORS[0], {}) if inverse else FitChoice("forward", graph.n_neighbors, {})
    counts = [k for k in NEIGHBORS if 2 * k <= int(placed.sum())]
    if not counts:
        return few
    held = np.zeros(len(places), dtype=bool)
    held[np.random.default_rng((0, _STREAM)).permutation(len(places))[: len(places) // _HELD]] = True
    centres = np.flatnonzero(placed & ~held)
    centres = centres[evenly_spaced(len(centres), _CENTRES)]
    rest = np.arange(len(centres)) % _FIRST > 0
    tests = _tests(places, graph, held, centres[~rest])
    if len(tests) < 2:
        return few
    weights = (~held[graph.indices]).astype(np.float32)
    fits = fits_around(X, places, graph, weights, centres.tolist(), ridge=ridge, rounds=pooling)
    seen = MapNeighbors(places, np.flatnonzero(placed & ~held))

    together = max(1, _NUMBERS // (counts[-1] * int(X.shape[1])))

    def judge(part: list[_Test]) -> list[Array]:
        blocks = [part[start : start + together] for start in range(0, len(part), together)]
        return [_judge(X, places, block, fits, seen, counts) for block in blocks]

    with single_threaded_blas():
        sums = np.concatenate(judge(tests))
        first = predicted_shares(sums.sum(axis=0))
        if inverse or first[1:].max() > first[0]:
            sums = np.concatenate([sums, *judge(_tests(places, graph, held, centres[rest]))])
    forward, *found = predicted_shares(sums.sum(axis=0)).tolist()
    scores = {"forward": forward} | {f"inverse {k}": score for k, score in zip(counts, found, strict=True)}
    best = int(np.argmax(found))
    if not inverse and not _clearly_better(sums[:, 1 + best], sums[:, 0]):
        return FitChoice("forward", graph.n_neighbors, scores)
    least = max(_SLACK * found[best], 0.0 if inverse else forward)
    return FitChoice("inverse", max(k for k, score in zip(counts, found, strict=True) if score >= least), scores)


def _judge(
    X: Any, places: Array, tests: list[_Test], fits: LocalJacobians, seen: MapNeighbors, counts: list[int]
) -> Array:
    """Return the `_sums` of the forward fit and of the inverse fits, (len(tests), 1 + len(counts), 3)."""
    centres = np.array([test.centre for test in tests])
    near = seen.nearest(centres, counts[-1] - counts[-1] // _HELD)
    # Columns that none of these rows stores say nothing: of wide sparse tables, most.
    rows = [near.ravel(), *(rows for test in tests for rows in (test.reference, test.tested))]
    columns = stored_columns(X[np.concatenate(rows)]) if hasattr(X, "tocsr") else None
    data, steps = _steps(X, places, tests, columns)
    members, at = np.unique(near, return_inverse=True)
    values, at, seats = X[members], at.reshape(near.shape), places[members]
    values = values if columns is None else values[:, columns]
    table = RowTable.of(values)
    found = [_sums(data, steps, expand_axes_of_rows(X, fits, centres, columns))]
    for k in counts:
        axes = regress_features(values, at[:, : k - k // _HELD], seats, table=table).axes
        found.append(_sums(data, steps, axes))
    return np.stack(found, axis=1)
