"""The loss of PaCMAP, and its three phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.kernels import NoiseContrast
from gnomon.objectives.pair_objective import PairObjective, PairTerm, Repulsion, RowLoss
from gnomon.objectives.terms import EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import PacmapPairs

__all__ = ["FURTHER", "LAST_PHASE", "NEAR_REACH", "PacmapLoss", "phase_weights"]

# d / (c + d) = 1 - k and 1 / (1 + d) = k for d = 1 + s and the kernel k = 1 / (1 + d / c).
NEAR_REACH = 10.0
"""c of the near pairs."""
FURTHER = NoiseContrast(1.0)
"""The kernel of the further pairs, 1 / (1 + d)."""
_NEAR, _MID_NEAR = NoiseContrast(1.0 / NEAR_REACH), NoiseContrast(1.0 / 10_000.0)
_FIRST = 2.0 / 9.0  # share of the iterations after which the first phase ends: 100 of 450
LAST_PHASE = 4.0 / 9.0
"""Share of the iterations after which the last phase begins: 200 of 450."""


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
    first, second = round(_FIRST * max_iter), round(LAST_PHASE * max_iter)
    if iteration < first:
        done = iteration / first
        return 2.0, 1000.0 * (1.0 - done) + 3.0 * done, 1.0
    return (3.0, 3.0, 1.0) if iteration < second else (1.0, 0.0, 1.0)


class PacmapLoss(PairObjective):
    """Near pairs pulled close, mid-near pairs pulled gently together, further pairs driven apart.

    With d = 1 + squared distance in the embedding, summed over the pairs chosen,

        loss = w_n sum_near d / (10 + d) + w_m sum_mid_near d / (10000 + d) + w_f sum_further 1 / (1 + d).

    In the terms of the other losses: -w_n k_{1/10} - w_m k_{1/10000} + w_f k_1 and a constant, with the kernel
    `NoiseContrast`, k_c = 1 / (1 + c d).

    Parameters
    ----------
    pairs : PacmapPairs
        The pairs.

    Attributes
    ----------
    weights : (float, float, float)
        w_n, w_m and w_f; those of the last phase, (1, 0, 1), until `at` sets others.

    References
    ----------
    .. [1] Wang, Huang, Rudin & Shaposhnik, "Understanding how dimension reduction tools work", JMLR 22, 2021.
    """

    @entrance("PacmapLoss")
    def __init__(self, pairs: PacmapPairs) -> None:
        matrices = (pairs.near, pairs.mid_near, pairs.further)
        if len({matrix.shape for matrix in matrices}) != 1:
            raise ValueError(message("pairs", "three matrices of one shape"))
        self._counts = [float(matrix.data.sum(dtype=np.float64)) for matrix in matrices]
        self._near, self._mid_near, self._further = (
            _pairs_of(matrix, kernel) for matrix, kernel in zip(matrices, (_NEAR, _MID_NEAR, FURTHER), strict=True)
        )
        super().__init__(self._near, self._further, added_unit=self._counts[0])
        self._weigh(*phase_weights(1, 1))

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the weights of one iteration, counted from 0, of max_iter; an optimizer calls it before each."""
        self._weigh(*phase_weights(iteration, max_iter))
        self.added.at(iteration, max_iter)

    def costs(self, max_iter: int) -> list[tuple[int, float]]:
        """Return what iterations cost relative to the first: the last phase has no mid-near pairs."""
        near, mid_near, further = self._counts
        return [(round(LAST_PHASE * max_iter), (near + further) / (near + mid_near + further))]

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return that of a new row in the last phase, its further pairs replaced by their mean over all points."""
        ratio = self._counts[2] / self._counts[0]
        repulsion = Repulsion(FURTHER, "value", ratio / self.n_samples)
        return RowLoss((PairTerm(_NEAR, "value", -1.0),), (repulsion,))

    def _weigh(self, near: float, mid_near: float, further: float) -> None:
        self.weights = (near, mid_near, further)
        self.constant = near * self._counts[0] + mid_near * self._counts[1]
        self.attractions = [*self._near, *self._mid_near] if mid_near else [*self._near]
        for terms, scale in ((self._near, -near), (self._mid_near, -mid_near), (self._further, further)):
            for term in terms:
                term.scale = scale


def _pairs_of(matrix: Any, kernel: NoiseContrast) -> list[EdgePairs]:
    """Return the sum of k over pairs as a list of one term, or of none if there are no pairs."""
    return [EdgePairs(matrix, kernel, "value", symmetric=True)] if matrix.nnz else []
