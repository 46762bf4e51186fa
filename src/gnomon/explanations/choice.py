"""Which fit explains a map: the one that best predicts the places of rows that it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.explanations.rows import dense_rows_of
from gnomon.geometry import local_jacobians
from gnomon.geometry.inverse import MapNeighbors, regress_features
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
_WORTH = 1.2  # which they are from so many times the forward fit's share on
_GAIN = 1.5  # times the share that the forward fit predicts, from which on the inverse fit is chosen
_CERTAIN = 2.0  # standard errors by which it must be beyond
_SLACK = 0.6  # share of the best inverse fit that one over more points must keep

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


def _tests(places: Array, graph: NeighborGraph, held: npt.NDArray[np.bool_]) -> list[_Test]:
    """Return the tests: rows a few steps away in the data, and of these the nearest in the map.

    So they tell of the map's own neighbourhood, but not of rows that the map lays there from elsewhere.
    """
    placed: npt.NDArray[np.bool_] = np.isfinite(places[:, 0])
    centres = np.flatnonzero(placed & ~held)
    centres = centres[np.unique(np.linspace(0, len(centres) - 1, min(len(centres), _CENTRES)).astype(np.int64))]
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


def _shares(X: Any, places: Array, tests: list[_Test], axes: Callable[[int], Array]) -> Array:
    """Return for each test the squares of steps, their products with the predictions, and the predictions' squares."""
    found = np.zeros((len(tests), 3))
    for t, test in enumerate(tests):
        centre = places[test.reference].mean(axis=0)
        scale = np.mean(np.sum((places[test.reference] - centre) ** 2, axis=1)) * len(test.tested)
        values = dense_rows_of(X, np.concatenate([test.reference, test.tested]))
        values -= values[: len(test.reference)].mean(axis=0)
        predicted = values[len(test.reference) :] @ axes(t).T
        steps = places[test.tested] - centre
        if scale > 0 and np.isfinite(predicted).all():
            found[t] = np.array([np.sum(steps**2), np.sum(steps * predicted), np.sum(predicted**2)]) / scale
    return found


def _predicted(shares: Array) -> Any:
    """Return the share of the squares that is predicted after the best stretch, from sums in the last axis."""
    total, product, square = np.moveaxis(shares, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.maximum(product, 0.0) ** 2 / (square * total)
    return np.nan_to_num(share)


def _clearly_better(inverse: Array, forward: Array) -> bool:
    """Say whether the inverse fit predicts clearly more, by the jackknife over the tests."""
    gain = float(_predicted(inverse.sum(axis=0)) - _GAIN * _predicted(forward.sum(axis=0)))
    without = _predicted(inverse.sum(axis=0) - inverse) - _GAIN * _predicted(forward.sum(axis=0) - forward)
    n = len(inverse)
    error = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
    return gain > _CERTAIN * error


def choose_fit(
    X: Any, places: Array, graph: NeighborGraph, *, ridge: float, pooling: int, inverse: bool = False
) -> FitChoice:
    """Choose between fits to neighbours in the data and inverse fits over neighbours in the map.

    A quarter of the rows is held out of all fits. Around up to 100 of the others each fit predicts where held-out
    rows near by lie in the map; only 25 are tried if the inverse fits do not lead there. The inverse fit is chosen if
    it predicts clearly more than half as much again as the forward fit; then over the most points with which it still
    does, and predicts 0.6 of what it does at best.

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

    Returns
    -------
    FitChoice
    """
    placed = np.isfinite(places[:, 0])
    few = FitChoice("inverse", NEIGHBORS[0], {}) if inverse else FitChoice("forward", graph.n_neighbors, {})
    counts = [k for k in NEIGHBORS if 2 * k <= int(placed.sum())]
    if not counts:
        return few
    held = np.zeros(len(places), dtype=bool)
    held[np.random.default_rng((0, _STREAM)).permutation(len(places))[: len(places) // _HELD]] = True
    tests = _tests(places, graph, held)
    if len(tests) < 2 * _FIRST:
        return few
    weights = (~held[graph.indices]).astype(np.float32)
    fits = local_jacobians(X, places, graph, weights=weights, ridge=ridge, variance_share=1.0, pooling=pooling)
    seen = MapNeighbors(places, np.flatnonzero(placed & ~held))

    def judge(part: list[_Test]) -> tuple[Array, dict[int, Array]]:
        ours = _shares(X, places, part, lambda t: fits.axes(X, part[t].centre))
        return ours, {k: _inverse_shares(X, places, part, seen, k - k // _HELD) for k in counts}

    with single_threaded_blas():
        ours, theirs = judge(tests[::_FIRST])
        best = max(float(_predicted(shares.sum(axis=0))) for shares in theirs.values())
        if inverse or best > _WORTH * _predicted(ours.sum(axis=0)):
            ours, theirs = judge(tests)
    found = {k: float(_predicted(shares.sum(axis=0))) for k, shares in theirs.items()}
    scores = {"forward": float(_predicted(ours.sum(axis=0)))} | {f"inverse {k}": score for k, score in found.items()}
    most = max(counts, key=lambda k: found[k])
    if not inverse and not _clearly_better(theirs[most], ours):
        return FitChoice("forward", graph.n_neighbors, scores)
    usable = [k for k in counts if found[k] >= _SLACK * found[most] and (inverse or _clearly_better(theirs[k], ours))]
    return FitChoice("inverse", max(usable), scores)


def _inverse_shares(X: Any, places: Array, tests: list[_Test], seen: MapNeighbors, k: int) -> Array:
    near = seen.nearest(np.array([test.centre for test in tests]), k)

    def axes(t: int) -> Array:
        found: Array = regress_features(dense_rows_of(X, near[t])[None], places[near[t]][None]).axes[0]
        return found

    return _shares(X, places, tests, axes)
