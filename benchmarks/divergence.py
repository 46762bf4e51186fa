"""The loss of t-SNE by one evaluator for all maps of a table: NumPy, SciPy and scikit-learn only.

    KL(P | Q) = sum_ij p_ij log(p_ij / q_ij),  q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i - y_j|^2),  Z = sum_{i != j} w_ij

P comes from the exact nearest neighbours of the rows. The sum over P has few terms; Z has n^2, taken block by block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Normalizer", "joint_affinities", "kl_divergence", "nearest_neighbor_affinities", "normalizer"]

_BLOCK = 256  # a block of 256 x 1024 float32 and its copy stay in the cache of one core
_WIDTH = 1024
_EXACT_ROWS = 100_000  # up to here Z is summed over all pairs: about 6 CPU seconds at 70,000 rows


@dataclass(frozen=True)
class Normalizer:
    """The sum Z over all ordered pairs, and the standard error of its estimate (0 if every pair was summed)."""

    value: float
    standard_error: float


def joint_affinities(
    distances: npt.NDArray[np.floating], indices: npt.NDArray[np.integer], perplexity: float
) -> sp.csr_array:
    """Turn neighbour distances into symmetric affinities that sum to 1.

    Parameters
    ----------
    distances, indices : ndarray of shape (n_samples, n_neighbors)
        The neighbours of each row, the row itself not counted.
    perplexity : float < n_neighbors
        exp(entropy in nats) of each row of conditional affinities, found by bisection.
    """
    n, k = distances.shape
    if not 1 < perplexity < k:
        raise ValueError(f"joint_affinities: perplexity={perplexity} must be between 1 and n_neighbors={k}.")
    squared = np.square(distances, dtype=np.float64)
    squared -= squared.min(axis=1, keepdims=True)
    scale = np.maximum(squared.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    squared /= scale
    low, high = np.full((n, 1), -40.0), np.full((n, 1), 40.0)  # bounds of the logarithm of the precision
    for _ in range(60):
        middle = 0.5 * (low + high)
        p = np.exp(-np.exp(middle) * squared)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        entropy = np.log(total) + np.exp(middle) * (p * squared).sum(axis=1, keepdims=True)
        flat = entropy > math.log(perplexity)
        low, high = np.where(flat, middle, low), np.where(flat, high, middle)
    conditional = sp.csr_array((p.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sp.csr_array((conditional + conditional.T) / (2.0 * n))


def nearest_neighbor_affinities(X: npt.NDArray[np.floating], perplexity: float = 30.0) -> sp.csr_array:
    """Affinities of a table from its exact 3 * perplexity nearest neighbours (brute force: minutes at 70,000 x 784)."""
    from sklearn.neighbors import NearestNeighbors

    k = min(len(X) - 1, int(3 * perplexity))
    distances, indices = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=-1).fit(X).kneighbors()
    return joint_affinities(distances, indices, perplexity)


def _row_sums(columns: npt.NDArray[np.float32], rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Sum of w over all columns for each row, the row's own w = 1 included; both are (n_components, length).

    Differences rather than products: near pairs weigh most and must not suffer from cancellation.
    """
    sums = np.zeros(rows.shape[1])
    for start in range(0, columns.shape[1], _WIDTH):
        block = columns[:, start : start + _WIDTH]
        w = np.ones((rows.shape[1], block.shape[1]), np.float32)
        for r, c in zip(rows, block, strict=True):
            difference = r[:, None] - c
            w += np.square(difference, out=difference)
        sums += np.reciprocal(w, out=w).sum(axis=1)
    return sums


def normalizer(Y: npt.NDArray[np.floating], n_rows: int | None = None) -> Normalizer:
    """Sum w over all ordered pairs of different points.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
        The map.
    n_rows : int, default=None
        Sum over all j for this many i, a fixed random sample without replacement, and scale up: unbiased, with the
        standard error stated. All rows by default up to 100,000 samples, above that 10,000 rows.
    """
    n = len(Y)
    if n_rows is None:
        n_rows = n if n <= _EXACT_ROWS else 10_000
    n_rows = min(n, n_rows)
    columns = np.ascontiguousarray((Y - Y.mean(axis=0, dtype=np.float64)).T, dtype=np.float32)
    sample = columns if n_rows == n else columns[:, np.random.default_rng(0).choice(n, size=n_rows, replace=False)]
    sums = np.concatenate([_row_sums(columns, sample[:, i : i + _BLOCK]) for i in range(0, n_rows, _BLOCK)]) - 1.0
    if n_rows == n:
        return Normalizer(float(sums.sum()), 0.0)
    error = n * float(sums.std(ddof=1)) / math.sqrt(n_rows) * math.sqrt(1.0 - n_rows / n)
    return Normalizer(n * float(sums.mean()), error)


def kl_divergence(P: sp.csr_array, Y: npt.NDArray[np.floating], n_rows: int | None = None) -> float:
    """KL divergence in nats between affinities that sum to 1 and the map; for `n_rows` see `normalizer`."""
    pairs = P.tocoo()
    p = pairs.data.astype(np.float64)
    row, column = pairs.coords
    difference = Y[row].astype(np.float64) - Y[column]
    log_w = -np.log1p(np.einsum("ij,ij->i", difference, difference))
    entropy_part = float(np.sum(p[p > 0] * np.log(p[p > 0])))
    return entropy_part - float(p @ log_w) + float(p.sum()) * math.log(normalizer(Y, n_rows).value)
