"""Six measures of how alike two embeddings are, and what each gives for unrelated ones.

An embedding is made ready for them once: `Positions` takes out what scale and place cannot change. Two of the measures
look at the distances of all pairs of rows, but never hold more than a few megabytes of them: the sums they need are
gathered block by block, in the order of the blocks, so that they do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import inner, length, pair_distances, product, row_distances
from gnomon._entrance import entrance
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon._validation import message
from gnomon.data.arrays import unmasked
from gnomon.evaluation.scores import TREE_COMPONENTS, nearest_in_map, shared_neighbors, spearman
from gnomon.linalg import inner_products, orthonormalised, singular_values, small_svd
from gnomon.neighbors import compute_neighbors

__all__ = [
    "ALL_PAIRS",
    "MEASURES",
    "Positions",
    "Settings",
    "check_embedding",
    "correct_for_chance",
    "distance_correlation",
    "placed_rows",
    "rank_correlation",
]

Floats = npt.NDArray[np.float64]

_ROUNDING = 32 * np.finfo(np.float64).eps

_BLOCK_PAIRS = 2**20  # of one block: 8 MB of float64 distances
_DIRECT_COMPONENTS = 16  # up to here differences are summed; beyond, matrix products are faster
_ALL_RANKS_BELOW = 1_000_000  # pairs up to which ranks are exact
_SHIFT = np.uint32(11)  # of float32 bits: leaves 12 bits of the mantissa, steps of 1 / 4096 of a squared distance
_TOP = 1 + (0x3F800000 >> 11)  # codes of squared distances from 0 to 1


def check_embedding(Y: Any, name: str) -> Floats:
    """Return an embedding as a C-contiguous float64 array of at least 4 rows; NaN and infinities stay."""
    given = np.asarray(unmasked(Y, name=name))
    if given.ndim != 2 or given.shape[1] == 0:
        raise ValueError(message(f"{name} of shape {given.shape}", "2-D with at least one component"))
    if given.dtype.kind not in "buif":
        raise TypeError(message(f"{name} of type {given.dtype}", "of real numbers"))
    if given.shape[0] < 4:
        raise ValueError(message(f"{name} with {given.shape[0]:,} rows", "of at least 4 rows"))
    return np.ascontiguousarray(given, dtype=np.float64)


def placed_rows(*embeddings: Floats) -> npt.NDArray[np.int64]:
    """Return the rows that have a place, all coordinates finite, in every embedding."""
    finite = np.logical_and.reduce([np.isfinite(Y).all(axis=1) for Y in embeddings])
    return np.flatnonzero(finite).astype(np.int64)


def _whitened(values: Floats) -> Floats:
    """Return the coordinates along the principal axes, each of the same length; axes without extent are dropped."""
    left, lengths, _ = small_svd(values)
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

    def __init__(self, Y: Floats, *, name: str, whiten: bool = False) -> None:
        largest = float(np.max(np.abs(Y)))
        # Divided first: squares of large or tiny coordinates must not leave the range of numbers.
        values = Y / largest if largest > 0 else Y.copy()
        values -= values.mean(axis=0)
        values -= values.mean(axis=0)  # again: far from the origin the first mean is rounded
        extent = float(np.max(np.abs(values)))
        if not extent > _ROUNDING:
            fact = f"all {len(Y):,} rows lie at one place" if extent == 0 else "they differ by rounding alone"
            raise ValueError(message(name, "of rows at two places or more", fact=fact))
        values /= extent
        values /= length(values)
        self.values = _whitened(values) if whiten else values
        self._nearest: dict[int, npt.NDArray[np.int32]] = {}

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @entrance("similarity")
    def subset(self, rows: npt.NDArray[np.int64]) -> Positions:
        """Return some of the rows, centred and scaled anew but not whitened again."""
        return Positions(self.values[rows], name="a sample")

    def nearest(self, n_neighbors: int) -> npt.NDArray[np.int32]:
        """Return the nearest rows of every row, itself not counted, in Euclidean distance; kept for the next call."""
        if n_neighbors not in self._nearest:
            if self.values.shape[1] <= TREE_COMPONENTS:
                found = nearest_in_map(self.values, n_neighbors)
            else:
                found = compute_neighbors(self.values, n_neighbors, method="exact").indices
            self._nearest[n_neighbors] = found
        return self._nearest[n_neighbors]


def _map_blocks(one_block: Callable[[int, int], Any], n: int) -> Iterator[Any]:
    """Call a function of (first row, end) for blocks of rows; results in the order of the blocks."""
    rows = max(16, _BLOCK_PAIRS // n)
    starts = range(0, n, rows)
    with single_threaded_blas(), ThreadPool() as pool:
        yield from pool.map(lambda begin: one_block(begin, min(begin + rows, n)), starts)


def _squared_to_later(values: Floats, begin: int, end: int) -> Floats:
    """Return squared distances from the rows begin..end to the rows from `begin` on."""
    if values.shape[1] <= _DIRECT_COMPONENTS:
        squared: Floats = row_distances(values[begin:end], values[begin:], squared=True)
        return squared
    squares = np.square(values[begin:]).sum(axis=1)
    squared = product(values[begin:end], values[begin:].T)
    squared *= -2.0
    squared += squares
    squared += squares[: end - begin, None]
    return np.maximum(squared, 0.0, out=squared)


def _later(n_rows: int, n_columns: int) -> npt.NDArray[np.bool_]:
    """Say which pairs of a block are of a row and one after it."""
    return np.arange(n_columns) > np.arange(n_rows)[:, None]


def distance_correlation(a: Floats, b: Floats) -> tuple[float, float]:
    """Return the distance correlation of two centred embeddings and its level for unrelated ones.

    Parameters
    ----------
    a, b : ndarray of shape (n_samples, n_components), float64
        Centred, of any number of components each.

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
    sums, traces = _double_centred_products(a, b)
    scale = np.sqrt(sums[1] * sums[2])
    if not scale > 0:
        return 0.0, 0.0  # all distances are equal on one side
    value = np.sqrt(max(sums[0], 0.0) / scale)
    chance = np.sqrt(traces[0] * traces[1] / ((len(a) - 1) * scale))
    return float(min(value, 1.0)), float(min(chance, 1.0))


def _double_centred_products(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return <A, B>, <A, A>, <B, B> and the traces of A and B, the double-centred distance matrices."""
    n = len(a)
    # Double centring takes a constant out of the distances; taking most of it out first keeps the sums accurate.
    shifts = np.array([np.sqrt(2.0 * np.square(values).sum(axis=1).mean()) for values in (a, b)])

    def one_block(begin: int, end: int) -> tuple[Floats, list[Floats]]:
        later = _later(end - begin, n - begin)
        left, right = (
            (np.sqrt(_squared_to_later(values, begin, end)) - shift) * later
            for values, shift in zip((a, b), shifts, strict=True)
        )
        products = np.array([inner(left, right), inner(left, left), inner(right, right)])
        sums = [part.sum(axis=0) for part in (left, right)]
        for part, total in zip((left, right), sums, strict=True):
            total[: end - begin] += part.sum(axis=1)
        return products, sums

    # The diagonal first: distance 0 less the shift.
    products = n * np.array([shifts[0] * shifts[1], shifts[0] ** 2, shifts[1] ** 2])
    row_sums = np.repeat(-shifts[:, None], n, axis=1)
    for block, sums in _map_blocks(one_block, n):
        products += 2.0 * block
        row_sums[:, n - len(sums[0]) :] += sums
    totals = row_sums.sum(axis=1)
    i, j = np.array([0, 0, 1]), np.array([1, 0, 1])
    centred = products - 2.0 / n * np.sum(row_sums[i] * row_sums[j], axis=1) + totals[i] * totals[j] / n**2
    return centred, -(totals / n + n * shifts)


def rank_correlation(a: Floats, b: Floats) -> float:
    """Return Spearman's correlation of the distances of all pairs in two centred embeddings.

    Parameters
    ----------
    a, b : ndarray of shape (n_samples, n_components), float64
        Centred, of any number of components each.

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
        squared = [_relative(pair_distances(values, squared=True), values).astype(np.float64) for values in (a, b)]
        return spearman(squared[0], squared[1])
    return _counted_rank_correlation(a, b)


def _relative(squared: Floats, values: Floats) -> npt.NDArray[np.float32]:
    """Return squared distances over a bound of them, in float32."""
    # No distance exceeds twice the largest distance from the centre; the margin is for rounding.
    bound = 4.001 * float(np.square(values).sum(axis=1).max())
    return (squared / bound).astype(np.float32)


def _counted_rank_correlation(a: Floats, b: Floats) -> float:
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
    for block in _map_blocks(count, n):
        counts += block
    n_pairs = n * (n - 1) // 2
    # Middle ranks of each code, centred and scaled to [-1/2, 1/2].
    ranks = (np.cumsum(counts, axis=1) - counts / 2.0) / n_pairs - 0.5

    def products(begin: int, end: int) -> float:
        left, right = codes(begin, end)
        return inner(ranks[0][left], ranks[1][right])

    together = sum(_map_blocks(products, n))
    alone = np.sqrt(np.prod(np.sum(counts * ranks**2, axis=1)))
    return float(np.clip(together / alone, -1.0, 1.0)) if alone > 0 else 0.0


@dataclass(frozen=True)
class Settings:
    """What the measures need to know beside the embeddings; without permutations some chance levels are NaN."""

    n_neighbors: int
    n_permutations: int
    seed: int


Measure = Callable[[Positions, Positions, Settings], tuple[float, float]]
"""Returns the similarity and its chance level, both in [0, 1]."""


def correct_for_chance(value: float, chance: float) -> float:
    """Return (value - chance) / (1 - chance), 0 if that is negative: 1 stays 1, and chance becomes 0."""
    return max(0.0, (value - chance) / (1.0 - chance)) if chance < 1.0 else 0.0


def _aligned_share(a: Floats, b: Floats, *, by_squares: bool = False) -> float:
    """Return the share of the variance of one that the other explains after the best rotation and scaling."""
    return min(float(singular_values(product(a.T, b), by_squares=by_squares).sum()) ** 2, 1.0)


def _of_few_columns(values: Floats) -> Floats:
    """Return rows of the same inner products, turned into as many columns as there are rows at most."""
    n, d = values.shape
    return values if d <= n else product(values, orthonormalised(np.ascontiguousarray(values.T)))


def _procrustes(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    left, right = _of_few_columns(a.values), _of_few_columns(b.values)
    value = _aligned_share(left, right)
    if settings.n_permutations == 0:
        return value, np.nan
    # No closed form is known for the mean of a nuclear norm over permutations. Shuffling the other side is shuffling
    # this one by the inverse: both are taken, so that the chance level is symmetric. What squares lose of the smallest
    # singular values is far below what the mean of so few permutations leaves open.
    rng = np.random.default_rng(settings.seed)
    shuffled = []
    for _ in range(settings.n_permutations):
        order = rng.permutation(a.n_samples)
        shuffled += [
            _aligned_share(left[order], right, by_squares=True),
            _aligned_share(left, right[order], by_squares=True),
        ]
    return value, sum(shuffled) / len(shuffled)


def _cka(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    gram_norms = length(inner_products(a.values)) * length(inner_products(b.values))
    value = length(product(a.values.T, b.values)) ** 2 / gram_norms
    # Exact mean over permutations: rows of centred Gram matrices sum to zero, and their traces are 1 here.
    return min(value, 1.0), min(1.0 / ((a.n_samples - 1) * gram_norms), 1.0)


def _distance_correlation(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    return distance_correlation(a.values, b.values)


def _spearman(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    # Over all permutations the mean of Spearman's correlation is exactly zero.
    return (1.0 + rank_correlation(a.values, b.values)) / 2.0, 0.5


def _shared(a: Positions, b: Positions, k: int) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = shared_neighbors(a.nearest(k), b.nearest(k), None).astype(np.int64)
    return counts


def _knn(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    k = settings.n_neighbors
    return float(np.mean(_shared(a, b, k))) / k, k / (a.n_samples - 1)


def _jaccard(a: Positions, b: Positions, settings: Settings) -> tuple[float, float]:
    from scipy.stats import hypergeom

    k = settings.n_neighbors
    shared = _shared(a, b, k)
    # Of unrelated rows the number of shared neighbours is hypergeometric.
    possible = np.arange(k + 1)
    odds = hypergeom(a.n_samples - 1, k, k).pmf(possible)
    return float(np.mean(shared / (2 * k - shared))), float(np.sum(odds * possible / (2 * k - possible)))


MEASURES: dict[str, Measure] = {
    "procrustes": _procrustes,
    "cka": _cka,
    "distance_correlation": _distance_correlation,
    "knn": _knn,
    "jaccard": _jaccard,
    "spearman": _spearman,
}
ALL_PAIRS = ("distance_correlation", "spearman")
"""Measures that take time quadratic in the number of rows."""
