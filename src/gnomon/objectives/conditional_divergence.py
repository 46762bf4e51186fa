"""The loss of SNE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.kernels import Gaussian
from gnomon.objectives.composite import PairObjective
from gnomon.objectives.normalization import negative_entropy, positive_total
from gnomon.objectives.row_loss import PairTerm, Repulsion, RowLoss
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["ConditionalDivergence"]


class ConditionalDivergence(PairObjective):
    """The sum over points of the Kullback-Leibler divergences of their neighbour distributions.

    With affinities p_j|i whose rows sum to 1 and Z_i = sum over j != i of k_ij,

        loss = sum_i sum_j p_j|i log(p_j|i Z_i / k_ij),
        gradient_i = 2 sum_j [ -(p_j|i + p_i|j) / k_ij + 1 / Z_i + 1 / Z_j ] k'_ij (y_i - y_j).

    Parameters
    ----------
    affinities : Affinities
        Rows that sum to 1 (normalization "rows"), not symmetric.
    kernel : OutputKernel, default=Gaussian()
        Similarity of two points of the embedding, between 0 and 1.

    References
    ----------
    .. [1] Hinton & Roweis, "Stochastic neighbor embedding", NeurIPS 2002, eq. 3-5.
    """

    name = "conditional_kl"

    @entrance("ConditionalDivergence")
    def __init__(self, affinities: Affinities, kernel: OutputKernel | None = None) -> None:
        self.kernel: OutputKernel = Gaussian() if kernel is None else kernel
        if affinities.normalization != "rows":
            raise ValueError(
                message(
                    f"affinities with normalization {affinities.normalization!r}",
                    'conditional, with normalization "rows"',
                    remedy="Use conditional_affinities(graph).",
                )
            )
        values, _ = positive_total(affinities)
        matrix = sp.csr_array(affinities.matrix)
        rows = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        both = sp.csr_array(matrix + matrix.T)
        super().__init__(
            [EdgePairs(both, self.kernel, "log", scale=0.5)],
            [
                AllPairs(
                    matrix.shape[0], self.kernel, "value", weights=(rows, rows), dtype=matrix.dtype.type, link="row_log"
                )
            ],
            constant=negative_entropy(values, 1.0),
        )

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return the divergence of a new row's own distribution, sum_j p_j (-log k_j) + log sum_l k_l."""
        return RowLoss((PairTerm(self.kernel, "log"),), (Repulsion(self.kernel, "value", 1.0, "log"),))
