"""Measures of two embeddings that look at the distances of all pairs of rows, a block of rows at a time.

Neither measure holds more than a few megabytes of distances: the sums they need are gathered block by block, in the
order of the blocks, so that they do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist, pdist

from gnomon._threads import single_threaded_blas
from gnomon.evaluation.scores import spearman

__all__ = ["distance_correlation", "rank_correlation"]

Floats = npt.NDArray[np.float64]

_BLOCK_PAIRS = 2**20  # of one block: 8 MB of float64 distances
_DIRECT_COMPONENTS = 16  # up to here differences are summed; beyond, matrix products are faster
_ALL_RANKS_BELOW = 1_000_000  # pairs up to which ranks are exact
_SHIFT = np.uint32(11)  # of float32 bits: leaves 12 bits of the mantissa, steps of 1 / 4096 of a squared distance
_TOP = 1 + (0x3F800000 >> 11)  # codes of squared distances from 0 to 1


def _map_blocks(one_block: Callable[[int, int], Any], n: int, n_threads: int) -> Iterator[Any]:
    """Call a function of (first row, end) for blocks of rows; results in the order of the blocks."""
    rows = max(16, _BLOCK_PAIRS // n)
    starts = range(0, n, rows)
    with single_threaded_blas(), ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(lambda begin: one_block(begin, min(begin + rows, n)), starts)


def _squared_to_later(values: Floats, begin: int, end: int) -> Floats:
    """Return squared distances from the rows begin..end to the rows from `begin` on."""
    if values.shape[1] <= _DIRECT_COMPONENTS:
        squared: Floats = cdist(values[begin:end], values[begin:], "sqeuclidean")
        return squared
    squares = np.einsum("ij,ij->i", values[begin:], values[begin:])
    squared = values[begin:end] @ values[begin:].T
    squared *= -2.0
    squared += squares
    squared += squares[: end - begin, None]
    return np.maximum(squared, 0.0, out=squared)


def _later(n_rows: int, n_columns: int) -> npt.NDArray[np.bool_]:
    """Say which pairs of a block are of a row and one after it."""
    return np.arange(n_columns) > np.arange(n_rows)[:, None]


def distance_correlation(a: Floats, b: Floats, *, n_threads: int = 1) -> tuple[float, float]:
    """Return the distance correlation of two centred embeddings and its level for unrelated ones.

    Parameters
    ----------
    a, b : ndarray of shape (n_samples, n_components), float64
        Centred, of any number of components each.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    value, chance : float in [0, 1]
        Chance is the root of the exact mean of the squared correlation over all permutations of the rows of `b`. The
        double-centred matrices have rows of sum zero, so that the mean of their product is tr A tr B / (n - 1).

    References
    ----------
    .. [1] Székely, Rizzo & Bakirov, "Measuring and testing dependence by correlation of distances", Annals of
       Statistics 35, 2007.
    """
    inner, traces = _double_centred_products(a, b, n_threads)
    scale = np.sqrt(inner[1] * inner[2])
    if not scale > 0:
        return 0.0, 0.0  # all distances are equal on one side
    value = np.sqrt(max(inner[0], 0.0) / scale)
    chance = np.sqrt(traces[0] * traces[1] / ((len(a) - 1) * scale))
    return float(min(value, 1.0)), float(min(chance, 1.0))


def _double_centred_products(a: Floats, b: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """Return <A, B>, <A, A>, <B, B> and the traces of A and B, the double-centred distance matrices."""
    n = len(a)
    # Double centring takes a constant out of the distances; taking most of it out first keeps the sums accurate.
    shifts = np.array([np.sqrt(2.0 * np.mean(np.einsum("ij,ij->i", values, values))) for values in (a, b)])

    def one_block(begin: int, end: int) -> tuple[Floats, list[Floats]]:
        later = _later(end - begin, n - begin)
        left, right = (
            (np.sqrt(_squared_to_later(values, begin, end)) - shift) * later
            for values, shift in zip((a, b), shifts, strict=True)
        )
        products = np.array([np.vdot(left, right), np.vdot(left, left), np.vdot(right, right)])
        sums = [part.sum(axis=0) for part in (left, right)]
        for part, total in zip((left, right), sums, strict=True):
            total[: end - begin] += part.sum(axis=1)
        return products, sums

    # The diagonal first: distance 0 less the shift.
    products = n * np.array([shifts[0] * shifts[1], shifts[0] ** 2, shifts[1] ** 2])
    row_sums = np.repeat(-shifts[:, None], n, axis=1)
    for block, sums in _map_blocks(one_block, n, n_threads):
        products += 2.0 * block
        row_sums[:, n - len(sums[0]) :] += sums
    totals = row_sums.sum(axis=1)
    i, j = np.array([0, 0, 1]), np.array([1, 0, 1])
    inner = products - 2.0 / n * np.sum(row_sums[i] * row_sums[j], axis=1) + totals[i] * totals[j] / n**2
    return inner, -(totals / n + n * shifts)


def rank_correlation(a: Floats, b: Floats, *, n_threads: int = 1) -> float:
    """Return Spearman's correlation of the distances of all pairs in two centred embeddings.

    Parameters
    ----------
    a, b : ndarray of shape (n_samples, n_components), float64
        Centred, of any number of components each.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    float in [-1, 1]
        Up to a million pairs by exact ranks. Beyond, squared distances that agree to 1 part in 4096 count as equal:
        ranks are then found by counting, without a list of all pairs. The error is at most the sum over the codes of
        the squared share of pairs that have it: about 1e-6, or 1e-5 where some rows lie far outside all others.
        0 if all distances of one side are equal.
    """
    n = len(a)
    if n * (n - 1) // 2 <= _ALL_RANKS_BELOW:
        # In float32 distances that differ by the rounding of a shift or rotation alone are equal again.
        squared = [_relative(pdist(values, "sqeuclidean"), values).astype(np.float64) for values in (a, b)]
        return spearman(squared[0], squared[1])
    return _counted_rank_correlation(a, b, n_threads)


def _relative(squared: Floats, values: Floats) -> npt.NDArray[np.float32]:
    """Return squared distances over a bound of them, in float32."""
    # No distance exceeds twice the largest distance from the centre; the margin is for rounding.
    bound = 4.001 * float(np.max(np.einsum("ij,ij->i", values, values)))
    return (squared / bound).astype(np.float32)


def _counted_rank_correlation(a: Floats, b: Floats, n_threads: int) -> float:
    """Rank all pairs by two passes: count how many have each code, then sum the products of the codes' ranks."""
    n = len(a)

    def codes(begin: int, end: int) -> list[npt.NDArray[np.uint32]]:
        later = _later(end - begin, n - begin)
        found = []
        for values in (a, b):
            squared = _relative(_squared_to_later(values, begin, end)[later], values)
            found.append(squared.view(np.uint32) >> _SHIFT)  # bits of positive floats are in their order
        return found

    def count(begin: int, end: int) -> list[npt.NDArray[np.intp]]:
        return [np.bincount(code, minlength=_TOP) for code in codes(begin, end)]

    counts = np.zeros((2, _TOP), dtype=np.int64)
    for block in _map_blocks(count, n, n_threads):
        counts += block
    n_pairs = n * (n - 1) // 2
    # Middle ranks of each code, centred and scaled to [-1/2, 1/2].
    ranks = (np.cumsum(counts, axis=1) - counts / 2.0) / n_pairs - 0.5

    def products(begin: int, end: int) -> float:
        left, right = codes(begin, end)
        return float(np.dot(ranks[0][left], ranks[1][right]))

    together = sum(_map_blocks(products, n, n_threads))
    alone = np.sqrt(np.prod(np.sum(counts * ranks**2, axis=1)))
    return float(np.clip(together / alone, -1.0, 1.0)) if alone > 0 else 0.0
