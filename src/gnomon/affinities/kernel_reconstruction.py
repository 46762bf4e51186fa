"""Weights that rebuild points from their neighbours in the feature space of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.kernels.inputs import InputKernel
from gnomon.linalg.table import RowTable

__all__ = ["similarities_of_new_row", "weights_in_feature_space"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 1 << 20  # numbers in the local matrices of the rows worked on at once
_ROUNDING = 1e-9  # a negative eigenvalue that is a smaller share of the largest is rounding


def weights_in_feature_space(
    similarities: Callable[[int], Float64Array],
    present: npt.NDArray[np.bool_],
    *,
    regularization: float,
    non_negative: bool,
) -> Float64Array:
    """Find the combination of its neighbours that lies nearest to each point, distances being those of a kernel.

    The neighbours lie around a point i as in the matrix G_jk = K_jk - K_ij - K_ik + K_ii, of which a factor gives
    positions in as many dimensions as there are neighbours; their weights are found as those of rows are.

    Parameters
    ----------
    similarities : callable
        i -> K of point i and of its neighbours, in this order, (n_neighbors + 1, n_neighbors + 1).
    present : ndarray of shape (n_points, n_neighbors), bool
        Which neighbours there are; others get the weight 0.
    regularization, non_negative : float > 0, bool
        As for the rows of a table.

    Returns
    -------
    ndarray of shape (n_points, n_neighbors), float64
        Rows sum to 1.

    Raises
    ------
    ValueError
        If K is not finite, or no inner product: no positions have such distances.
    """
    n, k = present.shape
    found = np.empty((n, k))
    height = max(_BLOCK // (k + 1) ** 2, 1)
    with single_threaded_blas():
        for first in range(0, n, height):
            rows = slice(first, min(first + height, n))
            K = np.stack([similarities(i) for i in range(rows.start, rows.stop)])
            _check_finite(K, first)
            gram = K[:, 1:, 1:] - K[:, 1:, :1] - K[:, :1, 1:] + K[:, :1, :1]
            positions = _positions(gram, np.abs(K).max(axis=(1, 2)), first)
            m = len(positions)
            table = RowTable.of(np.vstack([np.zeros((m, k)), positions.reshape(m * k, k)]))
            found[rows] = _core.reconstruction_weights(
                table.core,
                np.arange(m, m + m * k, dtype=np.int32).reshape(m, k),
                present[rows].astype(np.float32),
                regularization,
                non_negative,
                current_run().n_threads,
            )
    return found


def _check_finite(K: Float64Array, first: int) -> None:
    broken = np.flatnonzero(~np.isfinite(K).all(axis=(1, 2)))
    if broken.size:
        fact = f"row {first + broken[0]} and its neighbours have others"
        raise ValueError(message("the input kernel", "one of finite similarities", fact=fact))


def _positions(gram: Float64Array, sizes: Float64Array, first: int) -> Float64Array:
    """Return B with B B' = G for each of the matrices, made from similarities of some size each."""
    values, vectors = np.linalg.eigh(gram)
    rounding = _ROUNDING * np.abs(values).max(axis=1) + 1e-14 * gram.shape[1] * sizes
    wrong = np.flatnonzero(values[:, 0] < -rounding)
    if wrong.size:
        row = int(wrong[0])
        fact = f"around row {first + row} it has the eigenvalues {values[row, 0]:.3g} to {values[row, -1]:.3g}"
        rule, remedy = "positive semidefinite around each row", "Use a kernel such as 'gaussian'."
        raise ValueError(message("the input kernel", rule, fact=fact, remedy=remedy))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def similarities_of_new_row(kernel: InputKernel, x: Any, neighbors: Any) -> Float64Array:
    """Return K of a new row, (1, n_features), and of its neighbours among the given rows, of the same kind."""
    dense = isinstance(neighbors, np.ndarray)
    one, others = (np.asarray(part, dtype=np.float64) if dense else part.astype(np.float64) for part in (x, neighbors))
    if dense and kernel.of_differences:  # distances of rows far from the origin keep their digits
        one, others = one - one, others - one
    between = kernel.block(one, others)
    return np.block([[kernel.diagonal(one)[:, None], between], [between.T, kernel.block(others, others)]])
