"""Low-rank factors from some columns of a matrix, which stand for all the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Options, Rule, check_parameters, message
from gnomon.linalg.draws import draw_by_weight, uniform_matrix
from gnomon.linalg.low_rank.factor import Float64Array, LowRank, SymmetricAccess

__all__ = ["factor_of_core", "nystrom"]

_RULES: dict[str, Rule] = {"rank": Integer(1), "landmarks": Options("uniform", "k-means++"), "seed": Integer(0)}
_SMALLEST_EIGENVALUE = 1e-10  # of the core, as a share of its largest; below it there is mostly rounding
_MOST_NEGATIVE = 1e-8  # as a share of the largest: below it a matrix is not positive semidefinite
_STREAM_LANDMARKS = 111


def nystrom(
    matrix: SymmetricAccess, rank: int, *, landmarks: str = "uniform", seed: int = 0, who: str = "nystrom"
) -> LowRank:
    """Approximate a positive semidefinite matrix K by C W^+ C', with columns C of K and their own block W.

    Parameters
    ----------
    matrix : SymmetricAccess of order n_samples
        Positive semidefinite. `rank` columns and the diagonal are read.
    rank : int in [1, n_samples]
        Number of columns.
    landmarks : {"uniform", "k-means++"}, default="uniform"
        "uniform": all columns are equally likely. "k-means++": the next column is drawn by its squared distance, in
        the space where K holds inner products, from the nearest one before it.
    seed : int in [0, 2**63), default=0
        Of the draws.
    who : str, default="nystrom"
        Opens the error text.

    Returns
    -------
    LowRank
        Eigenvalues of W below 1e-10 of the largest are left out, and the rank is lower by their number.

    Raises
    ------
    ValueError
        If `rank` exceeds n_samples, or W has an eigenvalue far below zero.

    References
    ----------
    .. [1] Williams & Seeger, "Using the Nystroem method to speed up kernel machines", NeurIPS 2000.
    .. [2] Arthur & Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    values = check_parameters(who, _RULES, {"rank": rank, "landmarks": landmarks, "seed": seed})
    rank = check_rank(values["rank"], matrix.n_samples, who=who)
    diagonal = matrix.diagonal()
    with single_threaded_blas():
        if values["landmarks"] == "uniform":
            keys = uniform_matrix(values["seed"], _STREAM_LANDMARKS, (matrix.n_samples, 1)).ravel()
            chosen = np.sort(np.argsort(keys, kind="stable")[:rank])
            columns = matrix.block(None, chosen)
        else:
            chosen, columns = _scattered_columns(matrix, diagonal, rank, values["seed"])
        factor = factor_of_core(columns, columns[chosen], who=who)
    residual = max(float(diagonal.sum()) - float(np.vdot(factor, factor)), 0.0)
    return LowRank(factor, "nystrom", residual, bounded=True, landmarks=chosen)


def check_rank(rank: int, n_samples: int, *, who: str) -> int:
    """Return the rank, or raise ValueError if it exceeds the order of the matrix."""
    if rank > n_samples:
        raise ValueError(message(who, f"rank={rank}", f"at most n_samples={n_samples}", remedy="Lower rank."))
    return rank


def factor_of_core(columns: Float64Array, core: Float64Array, *, who: str) -> Float64Array:
    """Return B with B B' = C W^+ C', for C (n, l) and the symmetric W (l, l); columns by falling eigenvalue of W."""
    eigenvalues, vectors = scipy.linalg.eigh((core + core.T) / 2.0, check_finite=False)
    largest = float(np.abs(eigenvalues).max(initial=0.0))
    if eigenvalues.size and eigenvalues[0] < -_MOST_NEGATIVE * largest:
        raise indefinite(who, float(eigenvalues[0]), largest)
    kept = np.flatnonzero(eigenvalues > _SMALLEST_EIGENVALUE * largest)[::-1]
    return np.ascontiguousarray(columns @ (vectors[:, kept] / np.sqrt(eigenvalues[kept])))


def indefinite(who: str, found: float, largest: float) -> ValueError:
    """Return the error for a matrix that should be positive semidefinite and is not."""
    return ValueError(
        message(
            who,
            "the similarity",
            "positive semidefinite",
            fact=f"a part of it has {found:.3g} where the largest eigenvalue or diagonal entry is {largest:.3g}",
            remedy="Use method='randomized', which keeps the positive part.",
        )
    )


def _scattered_columns(
    matrix: SymmetricAccess, diagonal: Float64Array, rank: int, seed: int
) -> tuple[npt.NDArray[np.intp], Float64Array]:
    draws = uniform_matrix(seed, _STREAM_LANDMARKS, (rank, 1)).ravel()
    n = matrix.n_samples
    columns = np.empty((rank, n))
    chosen = np.empty(rank, dtype=np.intp)
    weights = np.ones(n)
    for step in range(rank):
        if not weights.any():  # the chosen columns repeat all others
            return chosen[:step], np.ascontiguousarray(columns[:step].T)
        pivot = draw_by_weight(weights, float(draws[step]))
        chosen[step] = pivot
        columns[step] = matrix.block(None, chosen[step : step + 1])[:, 0]
        squared = np.maximum(diagonal + diagonal[pivot] - 2.0 * columns[step], 0.0)
        squared[pivot] = 0.0
        weights = squared if step == 0 else np.minimum(weights, squared)
    return chosen, np.ascontiguousarray(columns.T)
