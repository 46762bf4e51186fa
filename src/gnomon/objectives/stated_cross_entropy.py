"""The cross-entropy that the UMAP paper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.objectives.composite import PairObjective
from gnomon.objectives.edges import Edges
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["StatedCrossEntropy"]


class StatedCrossEntropy(PairObjective):
    """The cross-entropy of fuzzy sets with every pair counted, summed over ordered pairs.

        loss = sum_ij [ mu_ij log(mu_ij / k_ij) + (1 - mu_ij) log((1 - mu_ij) / (1 - k_ij)) ],
        gradient_i = 4 sum_j [ -mu_ij / k_ij + (1 - mu_ij) / (1 - k_ij) ] k'_ij (y_i - y_j).

    UMAP's sampling does not descend it: its repulsion is far weaker (see `CrossEntropy`). Maps of this loss are
    diffuse, which is a property of the loss. Below a squared distance of 0.001, -log(1 - k) goes on as a straight line.

    Parameters
    ----------
    affinities : Affinities
        Memberships in [0, 1].
    kernel : OutputKernel
        Similarity of two points of the embedding, between 0 and 1.
    evaluation : {"auto", "exact", "tree"}, default="auto"
        How the repulsion is summed; "auto" takes the tree from 4000 points on where it can.
    theta : float in [0, 1], default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018, definition 10.
    .. [2] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021.
    """

    name = "stated_cross_entropy"

    @entrance("StatedCrossEntropy")
    def __init__(
        self, affinities: Affinities, kernel: OutputKernel, *, evaluation: str = "auto", theta: float = 0.8
    ) -> None:
        self.kernel = kernel
        values = Edges.from_affinities(affinities).values.astype(np.float64)
        if values.max() > 1:
            raise ValueError(message("affinities", "memberships in [0, 1]", fact=f"the largest is {values.max()}"))
        inside = values[(values > 0) & (values < 1)]
        constant = float(np.sum(inside * np.log(inside) + (1 - inside) * np.log1p(-inside)))
        n = affinities.n_samples
        half = np.full(n, 0.5, dtype=np.float32)
        super().__init__(
            [EdgePairs(affinities.matrix, kernel, "log")],
            [
                AllPairs(
                    n, kernel, "log_deficit", weights=(half, np.ones_like(half)), evaluation=evaluation, theta=theta
                ),
                EdgePairs(affinities.matrix, kernel, "log_deficit", scale=-1.0),
            ],
            constant=constant,
        )
