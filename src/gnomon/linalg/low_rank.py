"""Low-rank factors of symmetric matrices: some columns, chosen pivots or random products stand for all the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._threads import single_threaded_blas
from gnomon._validation import SEED, Boolean, Integer, Options, Real, Rule, check_parameters, message
from gnomon.linalg.draws import draw_by_weight, normal_matrix, uniform_matrix
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.products import inner, inner_products, product

__all__ = ["LowRank", "SymmetricAccess", "nystrom", "pivoted_cholesky", "randomized_factor"]

Float64Array = npt.NDArray[np.float64]
_NYSTROM_RULES: dict[str, Rule] = {"rank": Integer(1), "landmarks": Options("uniform", "k-means++"), "seed": SEED}
_SMALLEST_EIGENVALUE = 1e-10  # of the core, as a share of its largest; below it there is mostly rounding
_MOST_NEGATIVE = 1e-8  # as a share of the largest: below it a matrix is not positive semidefinite
_STREAM_LANDMARKS = 111
_CHOLESKY_RULES: dict[str, Rule] = {
    "rank": Integer(1),
    "pivots": Options("random", "greedy"),
    "tol": Real(0.0, 1.0),
    "seed": SEED,
}
_ROUNDING = 1e-14  # share of the trace below which the residual is rounding
_STREAM_PIVOTS = 112
_RANDOMIZED_RULES: dict[str, Rule] = {
    "rank": Integer(1),
    "semidefinite": Boolean(),
    "n_oversamples": Integer(0),
    "n_power_iterations": Integer(0),
    "seed": SEED,
}
_STREAM_SKETCH = 113


class SymmetricAccess(Protocol):
    """A symmetric matrix of order n_samples of which products and single columns can be had, but never all of it."""

    @property
    def n_samples(self) -> int:
        """Order of the matrix."""
        ...

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return the product with Y of shape (n_samples, n_columns)."""
        ...

    def block(self, rows: npt.NDArray[np.intp] | None, columns: npt.NDArray[np.intp]) -> Float64Array:
        """Return the entries in the given rows (None: all) and columns."""
        ...

    def diagonal(self) -> Float64Array:
        """Return the n_samples entries on the diagonal."""
        ...


@dataclass(frozen=True)
class LowRank:
    """The approximation B B' of a symmetric matrix K.

    Attributes
    ----------
    B : ndarray of shape (n_samples, rank), float64
        The factor; its rank may be lower than asked for, where K has no more to give.
    method : {"randomized", "nystrom", "cholesky"}
        How it was found.
    residual_trace : float
        Sum of the diagonal of K - B B', not below 0. Known without looking at K again.
    bounded : bool
        Whether K - B B' is known to be positive semidefinite. `residual_trace` then bounds each of its eigenvalues.
    landmarks : ndarray of shape (n_landmarks,), intp, or None
        The columns of K that were read, in the order they were chosen; None if products were used.
    """

    B: Float64Array
    method: str
    residual_trace: float
    bounded: bool
    landmarks: npt.NDArray[np.intp] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.B.shape[0])

    @property
    def rank(self) -> int:
        """Number of columns of the factor."""
        return int(self.B.shape[1])

    @property
    def error_bound(self) -> float:
        """Bound on the spectral norm of K - B B', up to rounding; infinite where none is known."""
        return self.residual_trace if self.bounded else float("inf")

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return B (B' Y) for Y of shape (n_samples, n_columns)."""
        with single_threaded_blas():
            return product(self.B, product(self.B.T, Y))

    def centred(self) -> LowRank:
        """Return the approximation H B B' H of H K H, where H subtracts the mean; bounds of the error stay valid."""
        return replace(self, B=self.B - self.B.mean(axis=0))


@part("nystrom")
def nystrom(matrix: SymmetricAccess, rank: int, *, landmarks: str = "uniform", seed: int = 0) -> LowRank:
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
    .. [1] Williams & Seeger, "Using the Nyström method to speed up kernel machines", NeurIPS 2000.
    .. [2] Arthur & Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    values = check_parameters(_NYSTROM_RULES, {"rank": rank, "landmarks": landmarks, "seed": seed})
    rank = check_rank(values["rank"], matrix.n_samples)
    diagonal = matrix.diagonal()
    with single_threaded_blas():
        if values["landmarks"] == "uniform":
            keys = uniform_matrix(values["seed"], _STREAM_LANDMARKS, (matrix.n_samples, 1)).ravel()
            chosen = np.sort(np.argsort(keys, kind="stable")[:rank])
            columns = matrix.block(None, chosen)
        else:
            chosen, columns = _scattered_columns(matrix, diagonal, rank, values["seed"])
        factor = _factor_of_core(columns, columns[chosen])
    residual = max(float(diagonal.sum()) - inner(factor, factor), 0.0)
    return LowRank(factor, "nystrom", residual, bounded=True, landmarks=chosen)


def check_rank(rank: int, n_samples: int) -> int:
    """Return the rank, or raise ValueError if it exceeds the order of the matrix."""
    if rank > n_samples:
        raise ValueError(message(f"rank={rank}", f"at most n_samples={n_samples}", remedy="Lower rank."))
    return rank


def _factor_of_core(columns: Float64Array, core: Float64Array) -> Float64Array:
    """Return B with B B' = C W^+ C', for C (n, l) and the symmetric W (l, l); columns by falling eigenvalue of W."""
    eigenvalues, vectors = symmetric_eigen((core + core.T) / 2.0)
    largest = float(np.abs(eigenvalues).max(initial=0.0))
    if eigenvalues.size and eigenvalues[-1] < -_MOST_NEGATIVE * largest:
        raise indefinite(float(eigenvalues[-1]), largest)
    kept = eigenvalues > _SMALLEST_EIGENVALUE * largest
    return product(columns, vectors[:, kept] / np.sqrt(eigenvalues[kept]))


def indefinite(found: float, largest: float) -> ValueError:
    """Return the error for a matrix that should be positive semidefinite and is not."""
    return ValueError(
        message(
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


@part("pivoted_cholesky")
def pivoted_cholesky(
    matrix: SymmetricAccess, rank: int, *, pivots: str = "random", tol: float = 0.0, seed: int = 0
) -> LowRank:
    """Approximate a positive semidefinite matrix by a partial Cholesky factor.

    Parameters
    ----------
    matrix : SymmetricAccess of order n_samples
        Positive semidefinite. The diagonal is read, and one column for each step.
    rank : int in [1, n_samples]
        Number of steps.
    pivots : {"random", "greedy"}, default="random"
        "random": the next column is drawn with probability proportional to what is left of the diagonal, which finds
        the bulk of the data as well as outliers. "greedy": the column where most is left.
    tol : float in [0, 1], default=0.0
        End when the residual trace is below this share of the trace.
    seed : int in [0, 2**63), default=0
        Of the draws.

    Returns
    -------
    LowRank
        Its rank is lower than asked for if the residual vanished before. ``landmarks`` are the pivots.

    Raises
    ------
    ValueError
        If `rank` exceeds n_samples, or the matrix shows that it is not positive semidefinite.

    References
    ----------
    .. [1] Chen, Epperly, Tropp & Webber, "Randomly pivoted Cholesky: practical approximation of a kernel matrix with
       few entry evaluations", Comm. Pure Appl. Math. 78, 2025.
    """
    given = {"rank": rank, "pivots": pivots, "tol": tol, "seed": seed}
    values = check_parameters(_CHOLESKY_RULES, given)
    rank = check_rank(values["rank"], matrix.n_samples)
    draws = uniform_matrix(values["seed"], _STREAM_PIVOTS, (rank, 1)).ravel() if values["pivots"] == "random" else None
    with single_threaded_blas():
        rows, chosen, left = _eliminate(matrix, rank, draws, max(values["tol"], _ROUNDING))
    return LowRank(np.ascontiguousarray(rows.T), "cholesky", float(left.sum()), bounded=True, landmarks=chosen)


def _eliminate(
    matrix: SymmetricAccess, rank: int, draws: Float64Array | None, tolerance: float
) -> tuple[Float64Array, npt.NDArray[np.intp], Float64Array]:
    """Return the transposed factor, its pivots (greedy without draws) and what is left of the diagonal."""
    left = matrix.diagonal()
    largest = float(np.abs(left).max())
    left = _not_negative(left, largest)
    enough = tolerance * float(left.sum())
    rows, chosen = np.empty((rank, left.size)), np.empty(rank, dtype=np.intp)
    for step in range(rank):
        if not float(left.sum()) > enough:
            return rows[:step], chosen[:step], left
        pivot = int(np.argmax(left)) if draws is None else draw_by_weight(left, float(draws[step]))
        chosen[step] = pivot
        column = matrix.block(None, chosen[step : step + 1])[:, 0] - product(rows[:step].T, rows[:step, pivot])
        rows[step] = column / np.sqrt(left[pivot])
        left = left - rows[step] ** 2
        left[chosen[: step + 1]] = 0.0
        left = _not_negative(left, largest)
    return rows, chosen, left


def _not_negative(left: Float64Array, largest: float) -> Float64Array:
    lowest = float(left.min())
    if lowest < -_MOST_NEGATIVE * largest:
        raise indefinite(lowest, largest)
    return np.maximum(left, 0.0)


@part("randomized_factor")
def randomized_factor(
    matrix: SymmetricAccess,
    rank: int,
    *,
    semidefinite: bool = False,
    n_oversamples: int = 10,
    n_power_iterations: int = 4,
    seed: int = 0,
) -> LowRank:
    """Approximate a symmetric matrix by a factor of nearly the best accuracy that its rank allows.

    Parameters
    ----------
    matrix : SymmetricAccess of order n_samples
        Products with n_power_iterations + 2 blocks of vectors and the diagonal are taken.
    rank : int in [1, n_samples]
        Number of columns.
    semidefinite : bool, default=False
        Whether the matrix is known to be positive semidefinite. If so, the approximation is K Q (Q' K Q)^+ Q' K with
        the basis Q found, from which K differs by a positive semidefinite matrix; else it is the positive part of
        Q Q' K Q Q', without a bound.
    n_oversamples : int >= 0, default=10
        Further directions of Q.
    n_power_iterations : int >= 0, default=4
        Products that bring Q closer to the leading eigenvectors.
    seed : int in [0, 2**63), default=0
        Of the random start.

    Returns
    -------
    LowRank
        Columns by falling length.

    References
    ----------
    .. [1] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011.
    .. [2] Tropp, Yurtsever, Udell & Cevher, "Fixed-rank approximation of a positive-semidefinite matrix from streaming
       data", NeurIPS 2017.
    """
    given = {"rank": rank, "semidefinite": semidefinite, "n_oversamples": n_oversamples}
    values = check_parameters(_RANDOMIZED_RULES, given | {"n_power_iterations": n_power_iterations, "seed": seed})
    n = matrix.n_samples
    rank = check_rank(values["rank"], n)
    trace = float(matrix.diagonal().sum())
    with single_threaded_blas():
        basis = normal_matrix(values["seed"], _STREAM_SKETCH, (n, min(n, rank + values["n_oversamples"])))
        for _ in range(values["n_power_iterations"] + 1):
            basis = orthonormalised(matrix.matvec(basis))
        image = matrix.matvec(basis)
        if values["semidefinite"]:
            factor = _largest_columns(_factor_of_core(image, product(basis.T, image)), rank)
        else:
            factor = _positive_part(basis, image, rank)
    residual = max(trace - inner(factor, factor), 0.0)
    return LowRank(factor, "randomized", residual, bounded=values["semidefinite"])


def _largest_columns(factor: Float64Array, rank: int) -> Float64Array:
    """Return the best approximation B of a given rank, B B' to factor factor', with orthogonal columns."""
    return product(factor, symmetric_eigen(inner_products(factor), rank)[1])


def _positive_part(basis: Float64Array, image: Float64Array, rank: int) -> Float64Array:
    core = product(basis.T, image)
    eigenvalues, vectors = symmetric_eigen((core + core.T) / 2.0)
    noise = 1e-14 * float(np.abs(eigenvalues).max(initial=0.0))
    kept = np.flatnonzero(eigenvalues > noise)[:rank]
    return product(basis, vectors[:, kept] * np.sqrt(eigenvalues[kept]))
