"""Affinities of new rows to their nearest fitted rows: each row's own distribution over its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon.affinities import gaussian_weights, membership_weights, weights_of_new_rows

__all__ = ["GaussianRows", "MembershipRows", "NewAffinities", "ReconstructionRows", "ScaledRows", "UniformRows"]

Float32Array = npt.NDArray[np.float32]


class NewAffinities(Protocol):
    """A rule that weighs the nearest fitted rows of each new row; rows of weights sum to 1."""

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return weights of shape (n_new, n_neighbors), each row a function of itself alone."""
        ...


@dataclass(frozen=True)
class MembershipRows:
    """Fuzzy memberships of UMAP, with one neighbour less assumed to be fully connected: the row itself.

    Parameters
    ----------
    local_connectivity : float >= 1
        Of the fitted rows.
    usual_distance : float >= 0
        Mean distance of fitted rows to their neighbours; its thousandth bounds the bandwidth from below.
    """

    local_connectivity: float
    usual_distance: float

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return memberships divided by their sum."""
        weights, _, _ = membership_weights(
            distances,
            local_connectivity=max(0.0, self.local_connectivity - 1.0),
            usual_distance=self.usual_distance,
            n_threads=n_threads,
        )
        return _normalised(weights)


@dataclass(frozen=True)
class GaussianRows:
    """Gaussian affinities p_j|i of a given perplexity.

    Parameters
    ----------
    perplexity : float >= 1
    """

    perplexity: float

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return p_j|i."""
        return gaussian_weights(distances, perplexity=self.perplexity, n_threads=n_threads)[0]


@dataclass(frozen=True)
class UniformRows:
    """All neighbours alike."""

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return 1 / n_neighbors for each."""
        return _normalised(np.isfinite(distances).astype(np.float32))


@dataclass(frozen=True)
class ReconstructionRows:
    """The weights that rebuild a new row from its nearest fitted rows.

    Parameters
    ----------
    weights : {"signed", "non_negative"}
    regularization : float >= 0
    """

    weights: str
    regularization: float

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return weights that sum to 1."""
        found = weights_of_new_rows(
            rows,
            X_new,
            indices,
            weights=self.weights,
            regularization=self.regularization,
            n_threads=n_threads,
        )
        return np.ascontiguousarray(found, dtype=np.float32)


@dataclass(frozen=True)
class ScaledRows:
    """The neighbours of smallest distance in units of their local scale, all alike; the others not at all.

    Parameters
    ----------
    scales : ndarray of shape (n_samples,), float64
        Of the fitted rows, see `gnomon.affinities.scaled.local_scales`.
    count : int >= 1
        Neighbours chosen.
    """

    scales: npt.NDArray[np.float64]
    count: int

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array, n_threads: int
    ) -> Float32Array:
        """Return 1 / count for those chosen, 0 for the others."""
        squares = np.square(distances.astype(np.float64)) / self.scales[indices]
        chosen = np.argsort(squares, axis=1, kind="stable")[:, : self.count]
        weights = np.zeros(distances.shape, dtype=np.float32)
        np.put_along_axis(weights, chosen, np.float32(1.0), axis=1)
        return _normalised(np.where(np.isfinite(distances), weights, np.float32(0.0)))


def _normalised(weights: Float32Array) -> Float32Array:
    """Divide rows by their sums, taken one after the other so that they do not depend on the number of rows."""
    totals = np.zeros(len(weights))
    for column in weights.T:
        totals += column
    return np.asarray(weights / np.where(totals > 0.0, totals, 1.0)[:, None], dtype=np.float32)
