"""An embedding made ready to be compared with others: what scale and place cannot change is taken out once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.evaluation.scores import nearest_in_map
from gnomon.neighbors import compute_neighbors

__all__ = ["Positions", "check_embedding", "placed_rows"]

Floats = npt.NDArray[np.float64]

_ROUNDING = 32 * np.finfo(np.float64).eps
_TREE_COMPONENTS = 8  # a k-d tree is of use up to about this many components


def check_embedding(Y: Any, name: str, *, who: str) -> Floats:
    """Return an embedding as a C-contiguous float64 array of at least 4 rows; NaN and infinities stay."""
    given = np.asarray(Y)
    if given.ndim != 2 or given.shape[1] == 0:
        raise ValueError(message(who, f"{name} of shape {given.shape}", "2-D with at least one component"))
    if given.dtype.kind not in "buif":
        raise TypeError(message(who, f"{name} of type {given.dtype}", "of real numbers"))
    if given.shape[0] < 4:
        raise ValueError(message(who, f"{name} with {given.shape[0]} rows", "of at least 4 rows"))
    return np.ascontiguousarray(given, dtype=np.float64)


def placed_rows(*embeddings: Floats) -> npt.NDArray[np.int64]:
    """Return the rows that have a place, all coordinates finite, in every embedding."""
    finite = np.logical_and.reduce([np.isfinite(Y).all(axis=1) for Y in embeddings])
    return np.flatnonzero(finite).astype(np.int64)


def _whitened(values: Floats) -> Floats:
    """Return the coordinates along the principal axes, each of the same length; axes without extent are dropped."""
    left, lengths, _ = np.linalg.svd(values, full_matrices=False)
    kept = lengths > lengths[0] * max(values.shape) * np.finfo(np.float64).eps
    axes: Floats = np.ascontiguousarray(left[:, kept]) / np.sqrt(np.count_nonzero(kept))
    return axes


class Positions:
    """Rows of an embedding, centred and of squared Frobenius norm one, with their neighbours when asked for.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_components), float64
        Centred; the squares of all entries sum to 1.
    """

    def __init__(self, Y: Floats, *, name: str, who: str, whiten: bool = False, n_threads: int = 1) -> None:
        largest = float(np.max(np.abs(Y)))
        # Divided first: squares of large or tiny coordinates must not leave the range of numbers.
        values = Y / largest if largest > 0 else Y.copy()
        values -= values.mean(axis=0)
        values -= values.mean(axis=0)  # again: far from the origin the first mean is rounded
        extent = float(np.max(np.abs(values)))
        if not extent > _ROUNDING:
            fact = f"all {len(Y)} rows lie at one place" if extent == 0 else "they differ by rounding alone"
            raise ValueError(message(who, name, "of rows at two places or more", fact=fact))
        values /= extent
        values /= np.linalg.norm(values)
        self.values = _whitened(values) if whiten else values
        self._n_threads = n_threads
        self._nearest: dict[int, npt.NDArray[np.int32]] = {}

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def subset(self, rows: npt.NDArray[np.int64]) -> Positions:
        """Return some of the rows, centred and scaled anew but not whitened again."""
        return Positions(self.values[rows], name="a sample", who="similarity", n_threads=self._n_threads)

    def nearest(self, n_neighbors: int) -> npt.NDArray[np.int32]:
        """Return the nearest rows of every row, itself not counted, in Euclidean distance; kept for the next call."""
        if n_neighbors not in self._nearest:
            if self.values.shape[1] <= _TREE_COMPONENTS:
                found = nearest_in_map(self.values, n_neighbors, self._n_threads)
            else:
                found = compute_neighbors(self.values, n_neighbors, method="exact", n_threads=self._n_threads).indices
            self._nearest[n_neighbors] = found
        return self._nearest[n_neighbors]
