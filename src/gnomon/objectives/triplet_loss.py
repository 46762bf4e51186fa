"""The loss of TriMap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon.objectives.added import AddedTerms
from gnomon.objectives.base import Embedding
from gnomon.objectives.pairs import check_embedding

if TYPE_CHECKING:
    from gnomon.affinities import Triplets

__all__ = ["TripletLoss"]


class TripletLoss:
    """How far triplets (i, j, k) are from being in order: i nearer to j than to k.

    With D = 1 + squared distance in the embedding, summed over the triplets t = (i, j, k),

        loss = sum_t w_t D_ij / (D_ij + D_ik),
        gradient_i = 2 sum_t w_t / (D_ij + D_ik)^2 [D_ik (y_i - y_j) - D_ij (y_i - y_k)],

    and the opposite of the two terms at j and at k.

    Parameters
    ----------
    triplets : Triplets
        The triplets and their weights.

    Attributes
    ----------
    added : AddedTerms
        Further terms, none at first; in units of n_samples: triplets in a wide map pull far less
        than their weights.

    References
    ----------
    .. [1] Amid & Warmuth, "TriMap: large-scale dimensionality reduction using triplets", arXiv:1910.00204, 2019.
    """

    evaluation = "exact"

    def __init__(self, triplets: Triplets) -> None:
        self.n_samples = triplets.n_samples
        self._triplets = _core.Triplets(triplets.others, triplets.closer, triplets.farther, triplets.weights)
        self.added = AddedTerms((), float(self.n_samples))

    def evaluation_for(self, n_components: int) -> str:
        """Return how an embedding of n_components dimensions is evaluated: "exact", over all triplets chosen."""
        return self.evaluation

    def loss(self, Y: Embedding) -> float:
        """Return the loss, between 0 and the sum of the weights, and the added terms."""
        points = self._check(Y)
        return self._triplets.loss(points, current_run().n_threads) + self.added.loss(points)

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient of the loss."""
        points = self._check(Y)
        gradient = self._triplets.gradient(points, 1.0, 1.0, current_run().n_threads)
        return gradient - self.added.force(points) if self.added.acting else gradient

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return what pulls i and j together and what drives i and k apart; their sum is minus the gradient.

        Added terms count as attraction.
        """
        points = self._check(Y)
        attraction = self._triplets.gradient(points, -1.0, 0.0, current_run().n_threads)
        if self.added.acting:
            attraction = attraction + self.added.force(points)
        return attraction, self._triplets.gradient(points, 0.0, -1.0, current_run().n_threads)

    @entrance("TripletLoss")
    def _check(self, Y: Embedding) -> Embedding:
        return check_embedding(Y, self.n_samples)
