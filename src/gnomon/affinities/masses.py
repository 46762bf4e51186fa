"""Affinities of rows that stand for several: what pairs of all the rows amount to.

A point of mass m stands for m equal rows. What is near a row, and on what scale, is told by the distinct rows alone, so
the weights v_j|i of its neighbours are those without masses. A neighbour counts as many times as it stands for rows:

    "rows", "total"    p_j|i = m_j v_j|i / sum_l m_l v_l|i,    P_ij = (m_i p_j|i + m_j p_i|j) / (2 sum_l m_l),
    "membership"       m_i m_j mu_ij,  mu the union of both directions.

These are the sums over all pairs of rows that two points stand for; rows of one point do not pull at each other. Masses
that are all equal give the affinities without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.affinities.base import Affinities, fuzzy_union, rows_as_matrix, scaled_mean_of_directions, sums_to_one

__all__ = ["by_mass", "joined_by_mass"]

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]


def joined_by_mass(
    indices: npt.NDArray[np.int32], weights: Float32Array, masses: Float64Array, join: Any, set_op_mix_ratio: float
) -> Affinities:
    """Join the weights of the neighbours of rows that stand for several.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors), float32
        >= 0, without regard to the masses.
    masses : ndarray of shape (n_samples,), float64
        Of mean 1.
    join : {"total", "rows", "membership"}
        As of `NeighborAffinity`.
    set_op_mix_ratio : float in [0, 1]
        Of "membership".

    Returns
    -------
    Affinities
        With the masses.
    """
    if join == "membership":
        union = fuzzy_union(indices, weights, set_op_mix_ratio=set_op_mix_ratio)
        return Affinities(by_mass(union, masses), "membership", masses=masses, symmetric=True)
    shares = sums_to_one(weights * masses[indices])
    if join == "rows":
        return Affinities(rows_as_matrix(indices, shares.astype(np.float32)), "rows", masses=masses)
    total = float(masses[shares.any(axis=1)].sum())
    own = np.asarray(shares * masses[:, None], dtype=np.float32)
    matrix = scaled_mean_of_directions(indices, own, max(total, np.finfo(float).tiny))
    return Affinities(matrix, "total", masses=masses, symmetric=True)


def by_mass(matrix: scipy.sparse.csr_array, masses: Float64Array) -> scipy.sparse.csr_array:
    """Return m_i a_ij m_j, in the precision of a."""
    heads = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = (matrix.data * (masses[heads] * masses[matrix.indices])).astype(matrix.dtype)
    found = scipy.sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    found.has_canonical_format = matrix.has_canonical_format
    return found
