"""The loss of two-kernel locally linear embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import sparse_product
from gnomon._entrance import entrance
from gnomon._validation import Either, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.affinities import ReconstructionWeights
from gnomon.objectives.pair_objective import PairObjective, PairTerm, Repulsion, RowLoss
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["ReconstructionTrace"]

_RULES: dict[str, Rule] = {
    "penalty": Options("uniform", "quadratic"),
    "penalty_strength": Either(Nothing(), Real(low=0.0)),
    "evaluation": Options("auto", "exact", "interpolated", "tree"),
    "theta": Real(low=0.0, high=1.0),
}


class ReconstructionTrace(PairObjective):
    """How well the weights that reconstruct each row from its neighbours fit the embedding, as tr(M K).

    With weights w_ij whose rows sum to 1, M = (I - W)' (I - W), v_ij = (W' W)_ij and similarities K of the embedding,

        loss = tr(M K) + lambda sum_ij k_ij,
        gradient_i = -4 sum_j (w_ij + w_ji - v_ij - lambda) k'_ij (y_i - y_j).

    The uniform penalty, lambda = 1 / n, keeps points apart: with it attraction and repulsion balance exactly, and the
    collapsed map has loss n. The quadratic penalty compares K with the identity instead,
    loss = tr(M K) + |I - K|_F^2 / n.

    Parameters
    ----------
    weights : ReconstructionWeights, or sparse matrix of shape (n_samples, n_samples)
        W, of either sign. Weights that are not negative keep every edge an attraction; they, or strongly regularised
        ones, give the better maps.
    kernel : OutputKernel
        Similarity of two points of the embedding.
    penalty : {"uniform", "quadratic"}, default="uniform"
        What keeps points apart.
    penalty_strength : float >= 0 or None, default=None
        lambda, or the factor on the quadratic penalty; None takes 1 / n_samples.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="auto"
        How the penalty is summed; "interpolated" needs a smooth kernel, and the quadratic one is always exact.
    theta : float in [0, 1], default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.

    Attributes
    ----------
    exaggeration : float, default 1.0
        Factor on the whole fit tr(M K) in `gradient` and `forces`, as if the penalty were weaker by it; `loss` never
        counts it. Similarities fall so fast that neighbours which begin far apart never meet: with a weak penalty the
        map stays small while it is sorted.
    mean_attraction : float
        Attraction on a point, the sum of w_ij + w_ji over j, on average: 2.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023,
       Lemma 4 (whose constant is -4).
    """

    mean_attraction = 2.0

    @entrance("ReconstructionTrace")
    def __init__(
        self,
        weights: ReconstructionWeights | Any,
        kernel: OutputKernel,
        *,
        penalty: str = "uniform",
        penalty_strength: float | None = None,
        evaluation: str = "auto",
        theta: float = 0.8,
    ) -> None:
        checked = check_parameters(
            _RULES,
            {"penalty": penalty, "penalty_strength": penalty_strength, "evaluation": evaluation, "theta": theta},
        )
        given: Any = weights.W if isinstance(weights, ReconstructionWeights) else weights
        if not isinstance(given, scipy.sparse.sparray | scipy.sparse.spmatrix):
            rule, fact = "reconstruction weights or a sparse matrix", f"found {type(given).__name__}"
            raise TypeError(message("weights", rule, fact=fact, remedy="Use reconstruction_weights(X, graph)."))
        matrix: Any = given
        W = scipy.sparse.csr_array(matrix, dtype=np.float64)
        n = W.shape[0]
        _check_rows(W)
        self.kernel = kernel
        strength = 1.0 / n if checked["penalty_strength"] is None else checked["penalty_strength"]
        selection = sparse_product(W.T, W)
        at_zero = float(kernel.value(np.zeros(1))[0])
        own = (n - 2.0 * float(W.diagonal().sum()) + float(selection.diagonal().sum())) * at_zero
        quadratic = checked["penalty"] == "quadratic"
        penalties = AllPairs(
            n,
            kernel,
            "square" if quadratic else "value",
            evaluation="exact" if quadratic else checked["evaluation"],
            theta=theta,
            scale=strength,
        )
        diagonal = strength * n * ((1.0 - at_zero) ** 2 if quadratic else at_zero)
        chosen = EdgePairs(_off_diagonal(W + W.T), kernel, "value", scale=-1.0, symmetric=True)
        shared = _off_diagonal(selection)  # nothing where each row chooses one other
        together = [EdgePairs(shared, kernel, "value")] if shared.nnz else []
        self._penalties = penalties
        super().__init__(
            [chosen],
            [*together, penalties],
            constant=own + diagonal,
            exaggerated=[chosen, *together],
            added_unit=float(n),  # each row's weights sum to 1
        )

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return that of a new row which no other row chooses, -sum_j w_j k_j and the penalty."""
        penalty = self._penalties
        return RowLoss((PairTerm(self.kernel, "value", -1.0),), (Repulsion(self.kernel, penalty.law, penalty.scale),))


def _off_diagonal(matrix: Any) -> scipy.sparse.csr_array:
    off = scipy.sparse.csr_array(matrix, copy=True)
    off.setdiag(0.0)
    off.eliminate_zeros()
    off.sort_indices()
    return off


def _check_rows(W: Any) -> None:
    if W.shape[0] != W.shape[1]:
        raise ValueError(message(f"weights of shape {W.shape}", "a square matrix"))
    sums = np.asarray(W.sum(axis=1)).ravel()
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if not np.isfinite(sums).all() or abs(sums[worst] - 1.0) > 1e-4:
        fact = f"row {worst} sums to {sums[worst]:g}"
        raise ValueError(message("weights", "rows that sum to 1", fact=fact))
