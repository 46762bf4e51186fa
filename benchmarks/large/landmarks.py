"""A map of some rows with all others placed in it, put together from the parts that `gnomon.map` uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from benchmarks.large.measure import Stages
from gnomon.data.stored import ArrayTable

__all__ = ["Placed", "place_all"]


@dataclass(frozen=True)
class Placed:
    """Positions of all rows.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, 2), float32
    landmarks : ndarray of shape (n_landmarks,)
        Rows that were fitted, ascending.
    stages : Stages
        What fit and placement took.
    """

    embedding: npt.NDArray[np.float32]
    landmarks: npt.NDArray[np.int64]
    stages: Stages = field(repr=False)


def place_all(
    X: npt.NDArray[Any], n_landmarks: int, *, seed: int = 0, estimator: Callable[..., Any] = gnomon.UMAP
) -> Placed:
    """Fit a uniform sample of rows and place the others, block by block.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        In memory or mapped from a file.
    n_landmarks : int <= n_samples
    seed : int, default=0
    estimator : callable, default=gnomon.UMAP
        Called with random_state.

    Returns
    -------
    Placed
    """
    table, stages = ArrayTable(X), Stages()
    landmarks = np.arange(table.n_samples)
    if n_landmarks < table.n_samples:
        landmarks = np.sort(np.random.default_rng(seed).choice(table.n_samples, n_landmarks, replace=False))
    Y = np.empty((table.n_samples, 2), dtype=np.float32)
    with stages.stage("fit"):
        fitted = estimator(random_state=seed).fit(np.asarray(X[landmarks]))
    Y[landmarks] = fitted.embedding_
    is_placed = np.ones(table.n_samples, dtype=bool)
    is_placed[landmarks] = False
    with stages.stage("place"):
        for block in table.blocks():
            rows = block.start + np.flatnonzero(is_placed[block.start : block.stop])
            if len(rows):
                Y[rows] = fitted.place(np.asarray(X[block.start : block.stop])[rows - block.start])
    return Placed(Y, landmarks, stages)
