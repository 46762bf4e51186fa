"""Join the two directions of conditional weights to one symmetric matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon import _core
from gnomon._run import current_run

__all__ = ["fuzzy_union", "mean_of_directions", "rows_as_matrix", "sum_of_directions"]


def _csr(parts: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]) -> sp.csr_array:
    offsets, columns, values = parts
    n = offsets.size - 1
    matrix = sp.csr_array((values, columns, offsets), shape=(n, n))
    matrix.has_canonical_format = True  # columns come sorted and unique
    return matrix


def mean_of_directions(indices: npt.NDArray[np.int32], weights: npt.NDArray[np.float32]) -> sp.csr_array:
    """Return (W + W') / s with s such that all entries sum to 1.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors), float32
        Rows sum to 1, or to 0 for a row without neighbours. Entries of 0 are not stored.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    n_weighted = int(np.count_nonzero(weights.any(axis=1)))
    scale = 0.5 / max(n_weighted, 1)
    return _csr(
        _core.symmetrize(np.ascontiguousarray(indices, dtype=np.int32), weights, False, scale, current_run().n_threads)
    )


def fuzzy_union(
    indices: npt.NDArray[np.int32], weights: npt.NDArray[np.float32], *, set_op_mix_ratio: float = 1.0
) -> sp.csr_array:
    """Return r (W + W' - W W') + (1 - r) W W', entry by entry.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors), float32
        In [0, 1]. Entries that come out as 0 are not stored.
    set_op_mix_ratio : float in [0, 1], default=1.0
        r: 1 is the fuzzy union, 0 the fuzzy intersection.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    indices = np.ascontiguousarray(indices, dtype=np.int32)
    return _csr(_core.symmetrize(indices, weights, True, set_op_mix_ratio, current_run().n_threads))


def sum_of_directions(indices: npt.NDArray[np.int32], chosen: npt.NDArray[np.bool_] | None = None) -> sp.csr_array:
    """Return (C + C') / 2 of the choices C that rows make: half the number of times that a pair was chosen.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_chosen), int32
        What each row chose, different from each other.
    chosen : ndarray of shape (n_samples, n_chosen), bool, or None, default=None
        False where an entry is none.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    weights = np.ones(indices.shape, dtype=np.float32) if chosen is None else chosen.astype(np.float32)
    return _csr(
        _core.symmetrize(np.ascontiguousarray(indices, dtype=np.int32), weights, False, 0.5, current_run().n_threads)
    )


def rows_as_matrix(indices: npt.NDArray[Any], weights: npt.NDArray[Any]) -> sp.csr_array:
    """Return weights of neighbours as a matrix, each row its own.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors)
        Entries of 0 are not stored.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        In the precision of the weights, columns sorted in each row.
    """
    n_samples, n_neighbors = indices.shape
    starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    parts = (weights.flatten(), indices.flatten(), starts)  # copies, which sorting changes
    matrix = sp.csr_array(parts, shape=(n_samples, n_samples))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
