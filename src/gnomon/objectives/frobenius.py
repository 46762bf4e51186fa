"""Squared differences between similarities: two-kernel PCA, raw stress and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.affinities import Affinities, Gram
from gnomon.objectives.base import Embedding
from gnomon.objectives.pair_objective import PairObjective
from gnomon.objectives.terms import TargetPairs

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["Frobenius"]


class Frobenius(PairObjective):
    """The squared distance between the similarities of the data and those of the embedding.

        loss = sum over i != j of w_ij (k_ij - t_ij)^2,  gradient_i = 8 sum_j w_ij (k_ij - t_ij) k'_ij (y_i - y_j),

    or with both matrices double-centred, the diagonal counted. With t the similarities k_x(x_i, x_j) it is the loss of
    two-kernel PCA; with t the distances and the kernel `Distance` it is twice the raw stress of metric
    multidimensional scaling, where the targets push apart and the distances themselves pull.

    Parameters
    ----------
    target : Gram, or array-like of shape (n_samples, n_samples)
        Symmetric; kept in float32.
    kernel : OutputKernel
        Similarity of two points of the embedding.
    centered : bool, default=False
        Compare H K H with H T H instead, with the centring matrix H = I - 1 1' / n.
    weights : array-like of shape (n_samples, n_samples) or (n_samples,), or None, default=None
        Weights w_ij of the pairs, symmetric and >= 0, or u with w_ij = u_i u_j; kept in float32. A pair of weight 0 is
        left out. None weighs all pairs 1, as does centered=True, which takes no weights.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023,
       section 5 (whose eq. 7 omits the factor 8).
    """

    @entrance("Frobenius")
    def __init__(
        self, target: Any, kernel: OutputKernel, *, centered: bool = False, weights: npt.ArrayLike | None = None
    ) -> None:
        self.kernel = kernel
        if isinstance(target, Affinities) or hasattr(target, "tocsr"):
            rule, fact = "dense, a similarity of every pair", f"found {type(target).__name__}"
            remedy = "Pass an array of shape (n_samples, n_samples), or Gram.from_kernel('gaussian', X)."
            raise TypeError(message("target", rule, fact=fact, remedy=remedy))
        matrix = target.dense() if isinstance(target, Gram) else target
        self._pairs = TargetPairs(matrix, kernel, centered=centered, weights=weights)
        self._falls = bool(kernel.derivative(np.ones(1))[0] < 0)
        super().__init__([], [self._pairs], added_unit=float(self._pairs.n_samples))

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient.

        The targets attract and the similarities repel, the other way round for a kernel that grows with distance.
        """
        of_targets, of_similarities = self._pairs.halves(self._check(Y))
        return (of_targets, of_similarities) if self._falls else (of_similarities, of_targets)
