"""Low-rank factors by Cholesky's method with chosen pivots."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Options, Real, Rule, check_parameters
from gnomon.linalg.draws import draw_by_weight, uniform_matrix
from gnomon.linalg.low_rank.factor import Float64Array, LowRank, SymmetricAccess
from gnomon.linalg.low_rank.nystrom import check_rank, indefinite

__all__ = ["pivoted_cholesky"]

_RULES: dict[str, Rule] = {
    "rank": Integer(1),
    "pivots": Options("random", "greedy"),
    "tolerance": Real(0.0, 1.0),
    "seed": Integer(0),
}
_MOST_NEGATIVE = 1e-8  # of a residual diagonal, as a share of the largest entry: rounding stays far above
_ROUNDING = 1e-14  # share of the trace below which the residual is rounding
_STREAM_PIVOTS = 112


def pivoted_cholesky(
    matrix: SymmetricAccess,
    rank: int,
    *,
    pivots: str = "random",
    tolerance: float = 0.0,
    seed: int = 0,
    who: str = "pivoted_cholesky",
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
    tolerance : float in [0, 1], default=0.0
        End when the residual trace is below this share of the trace.
    seed : int in [0, 2**63), default=0
        Of the draws.
    who : str, default="pivoted_cholesky"
        Opens the error text.

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
    given = {"rank": rank, "pivots": pivots, "tolerance": tolerance, "seed": seed}
    values = check_parameters(who, _RULES, given)
    rank = check_rank(values["rank"], matrix.n_samples, who=who)
    draws = uniform_matrix(values["seed"], _STREAM_PIVOTS, (rank, 1)).ravel() if values["pivots"] == "random" else None
    with single_threaded_blas():
        rows, chosen, left = _eliminate(matrix, rank, draws, max(values["tolerance"], _ROUNDING), who)
    return LowRank(np.ascontiguousarray(rows.T), "cholesky", float(left.sum()), bounded=True, landmarks=chosen)


def _eliminate(
    matrix: SymmetricAccess, rank: int, draws: Float64Array | None, tolerance: float, who: str
) -> tuple[Float64Array, npt.NDArray[np.intp], Float64Array]:
    """Return the transposed factor, its pivots (greedy without draws) and what is left of the diagonal."""
    left = matrix.diagonal()
    largest = float(np.abs(left).max())
    left = _not_negative(left, largest, who)
    enough = tolerance * float(left.sum())
    rows, chosen = np.empty((rank, left.size)), np.empty(rank, dtype=np.intp)
    for step in range(rank):
        if not float(left.sum()) > enough:
            return rows[:step], chosen[:step], left
        pivot = int(np.argmax(left)) if draws is None else draw_by_weight(left, float(draws[step]))
        chosen[step] = pivot
        column = matrix.block(None, chosen[step : step + 1])[:, 0] - rows[:step, pivot] @ rows[:step]
        rows[step] = column / np.sqrt(left[pivot])
        left = left - rows[step] ** 2
        left[chosen[: step + 1]] = 0.0
        left = _not_negative(left, largest, who)
    return rows, chosen, left


def _not_negative(left: Float64Array, largest: float, who: str) -> Float64Array:
    lowest = float(left.min())
    if lowest < -_MOST_NEGATIVE * largest:
        raise indefinite(who, lowest, largest)
    return np.maximum(left, 0.0)
