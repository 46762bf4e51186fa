"""Whether stretches of a table that follow each other are alike, as those of a slow series are whose rows are noisy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log, row_distances
from gnomon.linalg import uniform_matrix
from gnomon.neighbors.distances import pair_distances
from gnomon.neighbors.precomputed import among_rows

__all__ = ["chance_of_stretches", "evidence_of_order", "stretches_of_rows"]

Floats = npt.NDArray[np.float64]

_MOST_ROWS = 2048  # of longer tables every so many-th
_LANDMARKS = 64
_LEAST = 8  # rows of a stretch
_MOST = 64  # stretches
_SHUFFLES = 12
_CLEAR = 6.0  # standard deviations above the mean of shuffled rows
_STREAM = 0x5376
_STREAM_SHUFFLES = 0x5377
_CLOSENESS = 2.0 ** np.arange(6)  # over the median of squared distances


def chance_of_stretches(X: Any, metric: str | Callable[..., float] = "euclidean", *, seed: int = 0) -> float:
    """Return the chance that stretches of a table follow each other as closely as they do.

    A table is cut where its rows change, until within each stretch no change is seen; then it is asked whether each
    stretch is nearer to the next than to those after that. A table in random order is one stretch. One sorted by
    classes is cut where one class ends, and each order of the classes is as likely as any other. A slow series is cut
    into stretches of one way, each near the next, however much noise hides how near rows are.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        In the order of the table.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`.
    seed : int, default=0
        Draws the landmarks and the shuffled rows.

    Returns
    -------
    float
        No less than the true chance. Of fewer than eleven stretches more than one in a million, whatever their order.
    """
    places = _places(X, metric, seed)
    means = np.stack([places[begin:end].mean(axis=0) for begin, end in stretches_of_rows(places, seed=seed)])
    return min(1.0, math.exp(-evidence_of_order(row_distances(means, means, squared=True))))


def _places(X: Any, metric: Any, seed: int) -> Floats:
    """Return ranks of the distances to landmarks, in [-0.5, 0.5], of rows in the order of the table.

    Ranks hold rows far out down. Noise in many columns hardly shows in them, as differences of distances are told in
    the directions in which landmarks lie apart.
    """
    n = X.shape[0]
    if n > _MOST_ROWS:
        X = among_rows(X, np.arange(0, n, -(-n // _MOST_ROWS)), metric)
        n = X.shape[0]
    landmarks = np.argsort(uniform_matrix(seed, _STREAM, (n, 1))[:, 0], kind="stable")[:_LANDMARKS]
    others = np.broadcast_to(landmarks.astype(np.int32), (n, len(landmarks)))
    far = pair_distances(X, np.ascontiguousarray(others), metric=metric)
    ranks = np.empty(far.shape)
    for column, rank in zip(far.T, ranks.T, strict=True):
        values = np.sort(column)
        rank[:] = np.searchsorted(values, column) + np.searchsorted(values, column, side="right")
    return np.asarray(ranks / (2 * n) - 0.5)


def stretches_of_rows(places: Floats, *, seed: int = 0) -> list[tuple[int, int]]:
    """Cut a table where its rows change.

    A stretch is cut in two where the means of the sides differ most for their lengths, if they differ more than the
    most that they do in shuffled rows, by six standard deviations of that. The longest are cut first, into 64
    stretches of eight rows at least.

    Parameters
    ----------
    places : ndarray of shape (n_samples, n_dimensions)
        Places of rows in the order of the table.
    seed : int, default=0
        Shuffles the rows.

    Returns
    -------
    list of (int, int)
        The first row of each stretch and the first after it, in ascending order.
    """
    drawn = uniform_matrix(seed, _STREAM_SHUFFLES, (len(places), _SHUFFLES))
    whole: list[tuple[int, int]] = []
    todo = [(0, len(places))]
    while todo and len(whole) + len(todo) < _MOST:
        todo.sort(key=lambda ends: (ends[0] - ends[1], ends[0]))
        begin, end = todo.pop(0)
        cut = _cut(places[begin:end], drawn[begin:end])
        if cut is None:
            whole.append((begin, end))
        else:
            todo += [(begin, begin + cut), (begin + cut, end)]
    return sorted(whole + todo)


def _cut(places: Floats, drawn: Floats) -> int | None:
    """Return the row before which a stretch changes; None if it does not. The order of what is drawn shuffles it."""
    n = len(places)
    if n < 2 * _LEAST:
        return None
    places = places - places.mean(axis=0)
    changes = _changes(places)
    shuffled = [_changes(places[np.argsort(column, kind="stable")]).max() for column in drawn.T]
    most = int(np.argmax(changes))
    return most + _LEAST if changes[most] > np.mean(shuffled) + _CLEAR * np.std(shuffled) else None


def _changes(places: Floats) -> Floats:
    """Return how far apart the means are of the rows before and from each row on, for the lengths of both sides."""
    n = len(places)
    before = np.arange(_LEAST, n - _LEAST + 1)
    sums = np.cumsum(places, axis=0)[before - 1]
    return np.asarray(np.einsum("ij,ij->i", sums, sums) * n / (before * (n - before)))


def evidence_of_order(squared: Floats) -> float:
    """Say how much sooner a random walk would go this way through points than through them in random order.

    At each point the next is drawn from those that are left, more likely the nearer: by exp(-b d^2), of several b. The
    chance of the given order, over that of any order, is 1 on the mean over all orders, so that it is as high as some
    number in at most one of as many.

    Parameters
    ----------
    squared : ndarray of shape (n_points, n_points)
        Squared distances, in the order that is asked for.

    Returns
    -------
    float
        Logarithm of that ratio, on the mean over the b; 0 of fewer than three points, or of equal ones.
    """
    n = len(squared)
    usual = float(np.median(squared[np.triu_indices(n, 1)])) if n > 2 else 0.0
    if not usual > 0:
        return 0.0
    told = np.zeros(len(_CLOSENESS))
    for i in range(n - 1):
        near = -_CLOSENESS[:, None] * squared[i, i + 1 :] / usual
        told += near[:, 0] - _log_mean_exp(near)
    return float(_log_mean_exp(told))


def _log_mean_exp(x: Floats) -> Floats:
    most = x.max(axis=-1)
    return np.asarray(most + log(exp(x - most[..., None]).mean(axis=-1)))
