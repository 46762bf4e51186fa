"""Neighbours of new rows whose distances to the fitted rows the user computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.neighbors.precomputed import clip_distances

__all__ = ["nearest_given"]

_WHO = "nearest_given"
_BLOCK = 512


def nearest_given(distances: Any, n_neighbors: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Find the smallest distances of each new row.

    Parameters
    ----------
    distances : ndarray or CSR of shape (n_new, n_samples)
        Of new rows to fitted ones, >= 0. What a sparse matrix does not store is no neighbour; a stored 0 is a distance.
    n_neighbors : int in [1, n_samples]
        Found for each row.

    Returns
    -------
    indices : ndarray of shape (n_new, n_neighbors), int32
    distances : ndarray of shape (n_new, n_neighbors), float32
        Ascending by (distance, index); inf, at index 0, where a row has fewer.
    """
    n_new = distances.shape[0]
    indices = np.zeros((n_new, n_neighbors), dtype=np.int32)
    lengths = np.full((n_new, n_neighbors), np.inf, dtype=np.float32)
    if not isinstance(distances, np.ndarray):
        for i in range(n_new):
            part = slice(distances.indptr[i], distances.indptr[i + 1])
            columns, row = distances.indices[part], clip_distances(distances.data[part].astype(np.float64), _WHO)
            order = np.lexsort((columns, row))[:n_neighbors]
            indices[i, : order.size], lengths[i, : order.size] = columns[order], row[order]
        return indices, lengths
    for begin in range(0, n_new, _BLOCK):
        block = clip_distances(np.asarray(distances[begin : begin + _BLOCK], dtype=np.float64), _WHO)
        order = np.argsort(block, axis=1, kind="stable")[:, :n_neighbors]
        indices[begin : begin + len(block)] = order
        lengths[begin : begin + len(block)] = np.take_along_axis(block, order, axis=1)
    return indices, lengths
