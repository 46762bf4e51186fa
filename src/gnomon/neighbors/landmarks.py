"""A few rows that stand for all: landmarks, and which of them is nearest to each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product, squared_lengths
from gnomon._entrance import part
from gnomon._progress import Reporter
from gnomon._threads import single_threaded_blas
from gnomon._validation import SEED, Integer, Options, Rule, check_parameters, message
from gnomon.linalg import uniform_matrix
from gnomon.neighbors.distances import row_distances
from gnomon.neighbors.precomputed import clip_distances

__all__ = ["Landmarks", "choose_landmarks", "draw_landmarks"]

_STREAM, _STREAM_DRAWN = 231, 232
_KEYS = 1 << 20  # made at a time
_DRAWN_RULES: dict[str, Rule] = {"n_landmarks": Integer(1), "seed": SEED}
_RULES: dict[str, Rule] = {"n_landmarks": Integer(1), "method": Options("maxmin", "random"), "seed": SEED}

Float64Array = npt.NDArray[np.float64]
FromRow = Callable[[int], npt.ArrayLike]
"""Takes a row number to the distances of all rows from it, shape (n_samples,)."""


@dataclass(frozen=True)
class Landmarks:
    """Rows that were chosen, and the cell of each: the rows that are nearest to it.

    Attributes
    ----------
    indices : ndarray of shape (n_landmarks,), int64
        Their row numbers, in the order of their choice.
    nearest : ndarray of shape (n_samples,), int64
        For each row the place in `indices` of the landmark nearest to it, the first chosen of several.
    distances : ndarray of shape (n_samples,), float64
        How far that one is; infinite where no landmark can be reached.
    counts : ndarray of shape (n_landmarks,), int64
        Rows in the cell of each landmark, itself counted.
    """

    indices: npt.NDArray[np.int64]
    nearest: npt.NDArray[np.int64]
    distances: Float64Array

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows in the cell of each landmark, itself counted."""
        return np.bincount(self.nearest, minlength=len(self.indices))


@part("draw_landmarks")
def draw_landmarks(n_samples: int, n_landmarks: int, *, seed: int = 0, stream: int = 0) -> npt.NDArray[np.int64]:
    """Draw rows uniformly, without looking at them.

    Each row has a key, 64 bits of a hash of seed, stream and row number; the rows of the smallest keys are drawn. So
    neither blocks nor workers change which these are, one pass over the numbers finds them, and a larger draw holds a
    smaller one.

    Parameters
    ----------
    n_samples : int >= 1
        Rows there are.
    n_landmarks : int in [1, n_samples]
        How many are drawn.
    seed : int in [0, 2**63), default=0
        Of the hash.
    stream : int >= 0, default=0
        Another stream draws other rows.

    Returns
    -------
    ndarray of shape (n_landmarks,), int64
        Their row numbers, ascending.

    References
    ----------
    .. [1] Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the hash).
    """
    n = check_parameters({"n_samples": Integer(1)}, {"n_samples": n_samples})["n_samples"]
    checked = check_parameters(_DRAWN_RULES, {"n_landmarks": n_landmarks, "seed": seed})
    wanted, seed = checked["n_landmarks"], checked["seed"]
    if wanted > n:
        raise ValueError(message(f"n_landmarks={wanted}", f"at most n_samples={n}"))
    start = _mixed(np.array([seed, stream, _STREAM_DRAWN], dtype=np.uint64))
    start = _mixed(start[:1] ^ _mixed(start[1:2] ^ start[2:]))
    share = (wanted + 8.0 * np.sqrt(wanted) + 64.0) / n  # of the keys; hardly ever too few are below it
    rows = _smallest_keys(n, wanted, start, share)
    return np.sort(rows if len(rows) == wanted else _smallest_keys(n, wanted, start, 1.0))


def _smallest_keys(n: int, wanted: int, start: npt.NDArray[np.uint64], share: float) -> npt.NDArray[np.int64]:
    """Return the rows of the smallest keys, as far as these are in the lowest share of all keys that there can be."""
    most = np.uint64(2**64 - 1) if share >= 1.0 else np.uint64(share * 2.0**64)
    rows, keys = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
    for first in range(0, n, _KEYS):
        some = np.arange(first, min(first + _KEYS, n), dtype=np.int64)
        found = _mixed(_mixed(some.astype(np.uint64)) ^ start)
        small = found <= most
        rows, keys = np.concatenate([rows, some[small]]), np.concatenate([keys, found[small]])
    return rows[np.lexsort((rows, keys))[:wanted]]


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the hash of each word: the step and the finisher of SplitMix64."""
    mixed = words + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


@part("choose_landmarks")
def choose_landmarks(
    X: Any,
    n_landmarks: int,
    *,
    method: str = "maxmin",
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_samples: int | None = None,
    seed: int = 0,
    reporter: Reporter | None = None,
) -> Landmarks:
    """Choose landmarks among rows.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features), or callable
        Finite values; with metric="precomputed" a dense matrix of distances. A callable takes a row number to the
        distances of all rows from it, of shape (n_samples,), infinite where there is no path.
    n_landmarks : int in [1, n_samples]
        How many are wanted.
    method : {"maxmin", "random"}, default="maxmin"
        "maxmin": the first is drawn, each further one is the row farthest from those chosen; fewer are returned where
        all other rows equal one chosen. "random": drawn without replacement.
    metric, metric_params : as for `gnomon.neighbors.cross_distances`, or "precomputed"
        Distance of rows.
    n_samples : int or None, default=None
        Number of rows, where X is a callable.
    seed : int in [0, 2**63), default=0
        Of the draws.
    reporter : Reporter, default=None
        Told about progress in landmarks.

    Returns
    -------
    Landmarks

    References
    ----------
    .. [1] Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985.
    .. [2] de Silva & Tenenbaum, "Sparse multidimensional scaling using landmark points", Stanford, 2004.
    """
    checked = check_parameters(_RULES, {"n_landmarks": n_landmarks, "method": method, "seed": seed})
    n_landmarks = checked["n_landmarks"]
    if callable(X):
        n, from_row = Integer(1).check(n_samples), X
    else:
        n, from_row = int(X.shape[0]), _distances_from(X, metric, metric_params)
    if n_landmarks > n:
        raise ValueError(message(f"n_landmarks={n_landmarks}", f"at most n_samples={n}"))
    keys = uniform_matrix(seed, _STREAM, (n, 1)).ravel()
    drawn = np.argsort(keys, kind="stable")[:n_landmarks] if method == "random" else [int(keys.argmin())]
    indices: list[int] = []
    nearest, distances = np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    with single_threaded_blas():
        while len(indices) < n_landmarks:
            place = len(indices)
            row = int(drawn[place]) if place < len(drawn) else int(distances.argmax())
            if place >= len(drawn) and distances[row] == 0.0:
                break
            indices.append(row)
            found = np.array(from_row(row), dtype=np.float64)
            found[row] = 0.0
            closer = found < distances
            nearest[closer], distances[closer] = place, found[closer]
            if reporter is not None:
                reporter.update(place + 1, n_landmarks)
    return Landmarks(np.array(indices, dtype=np.int64), nearest, distances)


def _distances_from(X: Any, metric: str | Callable[..., float], params: Mapping[str, Any] | None) -> FromRow:
    if isinstance(metric, str) and metric == "precomputed":
        return lambda row: clip_distances(X[row].astype(np.float64))
    if metric not in ("euclidean", "l2") or not isinstance(X, np.ndarray) or params:
        from_rows = row_distances(X, metric=metric, metric_params=params)
        return lambda row: from_rows(np.array([row]))[0]
    rows = X - X.mean(axis=0, dtype=np.float64)
    largest = float(np.abs(rows).max())
    if largest > 0.0:
        rows /= largest  # squares neither overflow nor vanish
    squares = squared_lengths(rows)
    resolution = 64.0 * np.finfo(np.float64).eps  # of the squares: what lies below it is rounding of equal rows

    def from_row(row: int) -> Float64Array:
        found = product(rows, -2.0 * rows[row])
        found += squares
        found += squares[row]
        found[found <= resolution * (squares + squares[row])] = 0.0
        return np.asarray(largest * np.sqrt(found))

    return from_row
