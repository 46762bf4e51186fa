"""Low-rank factors from products with random vectors."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gnomon._threads import single_threaded_blas
from gnomon._validation import Boolean, Integer, Rule, check_parameters
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.low_rank.factor import Float64Array, LowRank, SymmetricAccess
from gnomon.linalg.low_rank.nystrom import check_rank, factor_of_core

__all__ = ["randomized_factor"]

_RULES: dict[str, Rule] = {
    "rank": Integer(1),
    "semidefinite": Boolean(),
    "n_oversamples": Integer(0),
    "n_power_iterations": Integer(0),
    "seed": Integer(0),
}
_STREAM_SKETCH = 113


def randomized_factor(
    matrix: SymmetricAccess,
    rank: int,
    *,
    semidefinite: bool = False,
    n_oversamples: int = 10,
    n_power_iterations: int = 4,
    seed: int = 0,
    who: str = "randomized_factor",
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
        Products that turn Q towards the leading eigenvectors.
    seed : int in [0, 2**63), default=0
        Of the random start.
    who : str, default="randomized_factor"
        Opens the error text.

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
    values = check_parameters(who, _RULES, given | {"n_power_iterations": n_power_iterations, "seed": seed})
    n = matrix.n_samples
    rank = check_rank(values["rank"], n, who=who)
    trace = float(matrix.diagonal().sum())
    with single_threaded_blas():
        basis = normal_matrix(values["seed"], _STREAM_SKETCH, (n, min(n, rank + values["n_oversamples"])))
        for _ in range(values["n_power_iterations"] + 1):
            basis, _ = np.linalg.qr(matrix.matvec(basis))
        image = matrix.matvec(basis)
        if values["semidefinite"]:
            factor = _largest_columns(factor_of_core(image, basis.T @ image, who=who), rank)
        else:
            factor = _positive_part(basis, image, rank)
    residual = max(trace - float(np.vdot(factor, factor)), 0.0)
    return LowRank(factor, "randomized", residual, bounded=values["semidefinite"])


def _largest_columns(factor: Float64Array, rank: int) -> Float64Array:
    """Return the best approximation B of a given rank, B B' to factor factor', with orthogonal columns."""
    left, lengths, _ = scipy.linalg.svd(factor, full_matrices=False, check_finite=False)
    return np.ascontiguousarray(left[:, :rank] * lengths[:rank])


def _positive_part(basis: Float64Array, image: Float64Array, rank: int) -> Float64Array:
    core = basis.T @ image
    eigenvalues, vectors = scipy.linalg.eigh((core + core.T) / 2.0, check_finite=False)
    noise = 1e-14 * float(np.abs(eigenvalues).max(initial=0.0))
    kept = np.flatnonzero(eigenvalues > noise)[::-1][:rank]
    return np.ascontiguousarray(basis @ (vectors[:, kept] * np.sqrt(eigenvalues[kept])))
