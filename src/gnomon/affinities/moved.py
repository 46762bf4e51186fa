"""Affinities of one row to the others if it lay elsewhere, all others keeping their calibration."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log
from gnomon.affinities.base import sums_to_one
from gnomon.affinities.derivatives import DataAffinities, Float64
from gnomon.linalg import first_columns

__all__ = ["MovedRows"]

_LEAST = float(np.finfo(np.float64).tiny)


class MovedRows:
    """What ties a row to the others from other places.

    The row weighs its nearest others as a fitted row does, calibrated to its new distances. Each other row weighs it by
    its own curve of weights over squared distances, which is interpolated in the logarithm: exact for a Gaussian
    whose precision stays. It has the row as a neighbour if that is nearer than its last one.

    Parameters
    ----------
    affinities : DataAffinities
        Of the fitted rows, joined as "total" or "membership".
    """

    def __init__(self, affinities: DataAffinities) -> None:
        self._affinities = affinities
        self._lists = np.where(affinities.mask, affinities.squared, np.inf)
        self._reach = np.where(affinities.mask, affinities.squared, -np.inf).max(axis=1, initial=-np.inf)
        self._fuzzy = affinities.join == "membership"

    def ties(self, i: int, squared: Float64) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return which other rows a row is tied to from q places, the most first, and by how much.

        Parameters
        ----------
        i : int
            The row.
        squared : ndarray of shape (q, n_samples), float64
            Squared distances of the places to the fitted rows; that to the row itself is not looked at.

        Returns
        -------
        others : ndarray of shape (q, m), int32
            Where fewer than m are tied, others with weight 0 follow.
        weights : ndarray of shape (q, m), float32
            Affinities, in units of the mean sum of a fitted row's.
        """
        there = np.array(squared)
        there[:, i] = np.inf
        joined = self._affinities.joined_weights(self._own(there), self._of_others(i, there))
        tied = np.flatnonzero(joined.any(axis=0))
        order = np.argsort(-joined[:, tied], axis=1, kind="stable")
        others = tied[order]
        weights = np.take_along_axis(joined, others, axis=1) / self._affinities.mean_degree
        return others.astype(np.int32), weights.astype(np.float32)

    def _own(self, squared: Float64) -> Float64:
        """Return the weights that the row gives the others, (q, n_samples)."""
        k = min(self._affinities.n_neighbors, squared.shape[1] - 1)
        near = first_columns(squared, k)
        distances = np.sqrt(np.take_along_axis(squared, near, axis=1)).astype(np.float32)
        weights = np.asarray(self._affinities.affinity.of_rows(distances), dtype=np.float64)
        found = np.zeros(squared.shape)
        np.put_along_axis(found, near, weights if self._fuzzy else sums_to_one(weights), axis=1)
        return found

    def _of_others(self, i: int, squared: Float64) -> Float64:
        """Return the weights that the others give the row, (q, n_samples)."""
        lists, weights = self._lists, self._affinities.weights.values
        place, other = np.nonzero(squared < self._reach)
        at = squared[place, other]
        after = np.clip((lists[other] < at[:, None]).sum(axis=1), 1, max(lists.shape[1] - 1, 1))
        near, far = (np.maximum(weights[other, side], _LEAST) for side in (after - 1, after))
        begin, end = lists[other, after - 1], lists[other, after]
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where((end > begin) & np.isfinite(end), (at - begin) / (end - begin), 0.0)
        curve = np.minimum(near * exp(along * log(far / near)), 1.0)
        found = np.zeros(squared.shape)
        if not self._fuzzy:  # its new weight takes the place of the old one in the other row's sum
            rows = self._affinities.touched(i)[1:]
            before = np.zeros(squared.shape[1])
            before[rows] = (weights[rows] * (self._affinities.indices[rows] == i)).sum(axis=1)
            curve /= 1.0 - before[other] + curve
        found[place, other] = curve
        return found
