"""The loss of PaCMAP, and its three phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.kernels import NoiseContrast
from gnomon.objectives.base import Embedding
from gnomon.objectives.edges import check_embedding

if TYPE_CHECKING:
    from gnomon.affinities import PacmapPairs
    from gnomon.kernels import OutputKernel

__all__ = ["PacmapLoss", "phase_weights"]

# d / (c + d) = 1 - k and 1 / (1 + d) = k for d = 1 + s and the kernel k = 1 / (1 + d / c).
_NEAR, _MID_NEAR, _FURTHER = NoiseContrast(1.0 / 10.0), NoiseContrast(1.0 / 10_000.0), NoiseContrast(1.0)
_FIRST, _SECOND = 2.0 / 9.0, 4.0 / 9.0  # shares of the iterations after which the phases end: 100 and 200 of 450


def phase_weights(iteration: int, max_iter: int) -> tuple[float, float, float]:
    """Return the weights of near, mid-near and further pairs in an iteration.

    Parameters
    ----------
    iteration : int in [0, max_iter)
        Counted from 0.
    max_iter : int
        The phases take 2/9, 2/9 and 5/9 of it: 100, 100 and 250 of 450.

    Returns
    -------
    near, mid_near, further : float
        (2, 1000 falling linearly to 3, 1), then (3, 3, 1), then (1, 0, 1).
    """
    first, second = round(_FIRST * max_iter), round(_SECOND * max_iter)
    if iteration < first:
        done = iteration / first
        return 2.0, 1000.0 * (1.0 - done) + 3.0 * done, 1.0
    return (3.0, 3.0, 1.0) if iteration < second else (1.0, 0.0, 1.0)


class PacmapLoss:
    """Near pairs pulled close, mid-near pairs pulled gently together, further pairs driven apart.

    With d = 1 + squared distance in the embedding, summed over the pairs chosen,

        loss = w_n sum_near d / (10 + d) + w_m sum_mid_near d / (10000 + d) + w_f sum_further 1 / (1 + d).

    In the terms of the other losses: -w_n k_{1/10} - w_m k_{1/10000} + w_f k_1 and a constant, with the kernel
    `NoiseContrast`, k_c = 1 / (1 + c d).

    Parameters
    ----------
    pairs : PacmapPairs
        The pairs.
    n_threads : int, default=1
        Does not change the result.

    Attributes
    ----------
    weights : (float, float, float)
        w_n, w_m and w_f; those of the last phase, (1, 0, 1), until `at` sets others.

    References
    ----------
    .. [1] Wang, Huang, Rudin & Shaposhnik, "Understanding how dimension reduction tools work", JMLR 22, 2021.
    """

    evaluation = "exact"

    def __init__(self, pairs: PacmapPairs, *, n_threads: int = 1) -> None:
        matrices = (pairs.near, pairs.mid_near, pairs.further)
        if len({matrix.shape for matrix in matrices}) != 1:
            raise ValueError(message("PacmapLoss", "pairs", "three matrices of one shape"))
        self.n_samples = pairs.n_samples
        self.n_threads = n_threads
        self.weights = phase_weights(1, 1)
        self._near, self._mid_near, self._further = matrices
        self._n_near, self._n_mid_near = (float(matrix.data.sum(dtype=np.float64)) for matrix in matrices[:2])

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the weights of one iteration, counted from 0, of max_iter; an optimizer calls it before each."""
        self.weights = phase_weights(iteration, max_iter)

    def evaluation_for(self, n_components: int) -> str:
        """Return how an embedding of n_components dimensions is evaluated: "exact", over all pairs chosen."""
        return self.evaluation

    def loss(self, Y: Embedding) -> float:
        """Return the loss under the present weights."""
        points = self._check(Y)
        near, mid_near, further = self.weights
        loss = near * (self._n_near - _edge_energy(self._near, _NEAR, points))
        if mid_near:
            loss += mid_near * (self._n_mid_near - _edge_energy(self._mid_near, _MID_NEAR, points))
        return loss + further * _edge_energy(self._further, _FURTHER, points)

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient under the present weights."""
        attraction, repulsion = self.forces(Y)
        return np.asarray(-(attraction + repulsion))

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient."""
        points = self._check(Y)
        near, mid_near, further = self.weights
        attraction = _edge_force(self._near, _NEAR, points, 4.0 * near)
        if mid_near:
            attraction += _edge_force(self._mid_near, _MID_NEAR, points, 4.0 * mid_near)
        return attraction, _edge_force(self._further, _FURTHER, points, -4.0 * further)

    def _check(self, Y: Embedding) -> Embedding:
        return check_embedding(Y, self.n_samples, who="PacmapLoss")


def _squares(matrix: sp.csr_array, Y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.asarray(np.square(Y[rows] - Y[matrix.indices]).sum(axis=1))


def _edge_energy(matrix: sp.csr_array, kernel: OutputKernel, Y: Embedding) -> float:
    """Return sum_ij a_ij k(s_ij)."""
    return float(matrix.data.astype(np.float64) @ kernel.value(_squares(matrix, Y.astype(np.float64))))


def _edge_force(matrix: sp.csr_array, kernel: OutputKernel, Y: Embedding, scale: float) -> Embedding:
    """Return scale sum_j a_ij k'(s_ij) (y_i - y_j)."""
    points = Y.astype(np.float64)
    values = matrix.data * kernel.derivative(_squares(matrix, points))
    slopes = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.asarray(scale * (slopes.sum(axis=1)[:, None] * points - slopes @ points), dtype=np.float32)
