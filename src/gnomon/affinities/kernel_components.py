"""Principal components in the feature space of a kernel, and the places of rows along them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon.affinities.gram import Gram
from gnomon.linalg import LowRank, Reflection, inner, product, symmetric_eigen, with_signs

__all__ = [
    "KernelComponents",
    "approximate_components",
    "exact_components",
    "negative_share",
    "place_by_similarity",
    "weighted_components",
]

Float64Array = npt.NDArray[np.float64]

_ZERO = 1e-12  # an eigenvalue below this share of the largest is rounding
_ROUNDING = 1e-14  # of the sum of the diagonal: what rounding of the similarities leaves of eigenvalues that are 0
_BLOCK_ENTRIES = 1_000_000  # similarities of new rows held at a time by each thread


@dataclass(frozen=True)
class KernelComponents:
    """The leading eigenpairs of H K H, and the functions of a row that they stand for.

    Attributes
    ----------
    values : ndarray of shape (n_components,), float64
        Falling, not below 0; what rounding left of an eigenvalue of 0 is 0.
    vectors : ndarray of shape (n_samples, n_components), float64
        Orthonormal columns, or zeros where the value is 0.
    trace : float
        Sum of the diagonal of H K H.
    landmarks : ndarray of shape (n_landmarks,), intp, or None
        Rows whose similarities place a row; None for all.
    projection : ndarray of shape (n_landmarks, n_components), float64
        A row with similarities k to the landmarks has the scores ``k @ projection - offset``.
    offset : ndarray of shape (n_components,), float64
    mean_weights : ndarray of shape (n_landmarks,), float64
        The mean of all rows in the feature space as a combination of the landmarks.
    residual : float
        Share of the trace of K that an approximation left out, 0 without one.
    """

    values: Float64Array
    vectors: Float64Array
    trace: float
    landmarks: npt.NDArray[np.intp] | None
    projection: Float64Array
    offset: Float64Array
    mean_weights: Float64Array
    residual: float = 0.0

    @property
    def scores(self) -> Float64Array:
        """Scores of the rows they were found from, of shape (n_samples, n_components)."""
        scores: Float64Array = self.vectors * np.sqrt(self.values)
        return scores

    @property
    def n_positive(self) -> int:
        """Number of eigenvalues above 0."""
        return int(np.count_nonzero(self.values))


def exact_components(gram: Gram, n_components: int, *, seed: int = 0) -> KernelComponents:
    """Find the leading eigenpairs of H K H.

    Parameters
    ----------
    gram : Gram
        K, of any signature; eigenvalues that are not positive give columns of zeros.
    n_components : int in [1, n_samples]
        Number of pairs.
    seed : int in [0, 2**63), default=0
        Of the random start of the iteration.
    """
    n = gram.n_samples
    found = gram.leading_eigenpairs(n_components, seed=seed)
    diagonal = gram.diagonal()
    means = gram.matvec(np.full((n, 1), 1.0 / n))[:, 0]
    if gram.kind == "linear":  # what is far from the origin is not rounding here: the table was centred before
        diagonal = gram.centred().diagonal()
        trace = float(diagonal.sum())
    else:
        trace = float(diagonal.sum()) - n * float(means.mean())
    values = _without_rounding(found.values, float(np.abs(diagonal).sum()))
    vectors = np.where(values > 0.0, found.vectors, 0.0)
    projection = _over_roots(vectors - vectors.mean(axis=0), values)
    with single_threaded_blas():
        offset: Float64Array = product(projection.T, means)
    return KernelComponents(values, vectors, trace, None, projection, offset, np.full(n, 1.0 / n))


def weighted_components(gram: Gram, n_components: int, weights: Float64Array, *, seed: int = 0) -> KernelComponents:
    """Find the components of rows that stand for several: H takes off the weighted mean, and rows count by weight.

    The matrix of all pairs is written out.

    Parameters
    ----------
    gram : Gram
        K, of any signature.
    n_components : int in [1, n_samples]
        Number of pairs.
    weights : ndarray of shape (n_samples,), float64
        Positive.
    seed : int in [0, 2**63), default=0
        Of the random start of the iteration.

    Returns
    -------
    KernelComponents
        ``vectors`` such that the weighted sums of their squares are 1.
    """
    shares, roots, reflect = weights / weights.sum(), np.sqrt(weights), Reflection(weights)
    with single_threaded_blas():
        centred = gram.dense()
        means = product(centred, shares)
        centred = (centred - means[:, None] - means + inner(shares, means)) * (roots[:, None] * roots)
        diagonal = centred.diagonal().copy()
        plain = reflect(reflect(centred).T)
        found = Gram.from_matrix((plain + plain.T) / 2.0).leading_eigenpairs(n_components, seed=seed)
        values = _without_rounding(found.values, float(np.abs(diagonal).sum()))
        points = with_signs(reflect(found.vectors) / roots[:, None])
        vectors = np.where(values > 0.0, points - product(points.T, shares), 0.0)
        projection = _over_roots(weights[:, None] * vectors, values)
        offset: Float64Array = product(projection.T, means)
    return KernelComponents(values, vectors, float(diagonal.sum()), None, projection, offset, shares)


def approximate_components(
    gram: Gram, found: LowRank, n_components: int, weights: Float64Array | None = None
) -> KernelComponents:
    """Find the leading eigenpairs of H B B' H for an approximation B B' of K from some of its columns.

    Parameters
    ----------
    gram : Gram
        K.
    found : LowRank
        Made of it by "nystrom" or "cholesky".
    n_components : int >= 1
        Number of pairs; those beyond the rank are zero.
    weights : ndarray of shape (n_samples,), float64, or None, default=None
        As of `weighted_components`; None for 1.
    """
    assert found.landmarks is not None
    mean = np.average(found.B, axis=0, weights=weights)
    own = np.abs(gram.diagonal())
    total, n_rows = (float(own.sum()), found.n_samples) if weights is None else (inner(own, weights), weights.sum())
    with single_threaded_blas():
        counted = found.B if weights is None else found.B * weights[:, None]
        scatter = product(counted.T, found.B) - n_rows * np.outer(mean, mean)
        kept = min(n_components, found.rank)
        some, rotated = symmetric_eigen(scatter, kept)
        values = np.zeros(n_components)
        values[:kept] = _without_rounding(some[:kept], total)
        rotation = np.zeros((found.rank, n_components))
        rotation[:, :kept] = rotated
        scores = product(found.B - mean, rotation * (values > 0.0))
        vectors = _over_roots(scores, values)
        signed = with_signs(vectors)
        rotation *= np.where((signed * vectors).sum(axis=0) < 0.0, -1.0, 1.0)
        features = _to_factor(found)
        projection = product(features, rotation * (values > 0.0))
        offset = product((rotation * (values > 0.0)).T, mean)
        weights = product(features, mean)
    trace = total - float(n_rows) * inner(mean, mean)
    plain = float(own.sum())
    residual = found.residual_trace / plain if plain > 0.0 else 0.0
    return KernelComponents(values, signed, trace, found.landmarks, projection, offset, weights, residual)


def _to_factor(found: LowRank) -> Float64Array:
    """Return the matrix that takes similarities to the landmarks to rows of B."""
    own = found.B[found.landmarks]
    if found.method == "cholesky":  # lower triangular, and B B' = C (own own')^-1 C'
        identity = np.eye(own.shape[0])
        return np.asarray(scipy.linalg.solve_triangular(own, identity, lower=True, check_finite=False).T)
    return np.asarray(own / np.square(own).sum(axis=0), dtype=np.float64)  # eigenvectors times roots


def _without_rounding(values: Float64Array, total: float) -> Float64Array:
    floor = max(_ZERO * float(np.abs(values).max(initial=0.0)), _ROUNDING * total)
    return np.where(values > floor, values, 0.0)


def _over_roots(columns: Float64Array, values: Float64Array) -> Float64Array:
    """Return the columns over the roots of their values, zeros where these are 0."""
    return np.asarray(columns / np.sqrt(np.where(values > 0.0, values, 1.0)), dtype=np.float64)


def place_by_similarity(
    components: KernelComponents, similarities: Callable[[slice], Float64Array], n_rows: int
) -> Float64Array:
    """Return the scores of rows, some at a time.

    Parameters
    ----------
    components : KernelComponents
        Where to place them.
    similarities : callable
        Takes a run of rows to their similarities to the landmarks.
    n_rows : int
        Number of rows.
    """
    n_threads = current_run().n_threads
    size = max(1, _BLOCK_ENTRIES // max(components.projection.shape[0], 1))
    begins = range(0, n_rows, size)

    def work(begin: int) -> Float64Array:
        near = similarities(slice(begin, min(begin + size, n_rows)))
        return np.asarray(product(near, components.projection) - components.offset, dtype=np.float64)

    with single_threaded_blas():
        if n_threads == 1 or len(begins) == 1:
            return np.concatenate([work(begin) for begin in begins])
        with ThreadPool() as pool:
            return np.concatenate(list(pool.map(work, begins)))


def negative_share(gram: Gram) -> float:
    """Return the sum of the magnitudes of the negative eigenvalues of H K H over that of all; 0 if all are 0."""
    if gram.semidefinite:
        return 0.0
    with single_threaded_blas():
        values = scipy.linalg.eigvalsh(gram.centred().dense(), check_finite=False, overwrite_a=True)
    total = float(np.abs(values).sum())
    rounding = _ROUNDING * gram.n_samples * float(np.abs(values).max(initial=0.0))
    return float(-values[values < -rounding].sum()) / total if total > 0.0 else 0.0
