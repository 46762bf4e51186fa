"""Cells of rows around their means."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.neighbors.parts import nearest_centres

__all__ = ["k_means"]

_ROUNDS = 100


def k_means(coordinates: npt.NDArray[np.float32], n_cells: int, *, seed: int = 0) -> npt.NDArray[np.intp]:
    """Part rows into cells so that each row is nearest to the mean of its own.

    Starts from rows drawn by their squared distance to those drawn before, and moves means until no row changes its
    cell, 100 times at most. Equal rows may leave fewer cells than asked for.

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_features), float32
        Finite rows, compared by Euclidean distance.
    n_cells : int in [1, n_samples]
        Cells wanted.
    seed : int in [0, 2**63), default=0
        Decides the first means.

    Returns
    -------
    ndarray of shape (n_samples,), intp
        The cell of each row, numbered from 0 without gaps.

    References
    ----------
    .. [1] Arthur & Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    rows = _of_size_one(np.asarray(coordinates, dtype=np.float32))
    centres = rows[_drawn_apart(rows, n_cells, seed)]
    cells = nearest_centres(centres, rows, 1)[:, 0]
    for _ in range(_ROUNDS):
        order = np.argsort(cells, kind="stable")
        filled, begins = np.unique(cells[order], return_index=True)
        sums = np.add.reduceat(rows[order], begins, axis=0, dtype=np.float64)
        centres[filled] = sums / np.diff(np.append(begins, len(rows)))[:, None]
        before, cells = cells, nearest_centres(centres, rows, 1)[:, 0]
        if np.array_equal(before, cells):
            break
    return np.unique(cells, return_inverse=True)[1]


def _of_size_one(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return rows divided by a power of two, so that squares of huge and tiny ones are numbers."""
    largest = max(float(rows.max(initial=0.0)), -float(rows.min(initial=0.0)))
    exponent = -int(np.frexp(largest)[1]) if largest > 0 else 0
    return np.ascontiguousarray(np.ldexp(rows, exponent) if exponent else rows)


def _drawn_apart(rows: npt.NDArray[np.float32], count: int, seed: int) -> list[int]:
    """Return rows of which each was drawn in proportion to its squared distance to the nearest one before."""
    rng = np.random.default_rng(seed)
    chosen = [int(rng.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < count:
        away = rows - rows[chosen[-1]]
        nearest = np.minimum(nearest, np.square(away, out=away).sum(axis=1, dtype=np.float64))
        total = nearest.sum()
        if not total > 0:
            break
        chosen.append(int(rng.choice(len(rows), p=nearest / total)))
    return chosen
