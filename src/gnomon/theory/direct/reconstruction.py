"""Two-kernel locally linear embedding, made linear and solved once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.linalg import eigenpairs, with_signs
from gnomon.objectives import ReconstructionTrace
from gnomon.theory.direct.balance import springs_at, step_of_springs
from gnomon.theory.direct.eigenmap import bent
from gnomon.theory.direct.scale import Float64Array, at_best_scale, umap_loss

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["reconstruction_map"]

_RULES: dict[str, Rule] = {"n_components": Integer(low=1), "ranks": Real(low=0.0, high=1.0), "n_solves": Integer(low=0)}


@entrance("reconstruction_map")
def reconstruction_map(
    affinities: Affinities, kernel: OutputKernel, *, n_components: int = 2, ranks: float = 0.5, n_solves: int = 1
) -> Float64Array:
    """Map a graph by the linear system of two-kernel locally linear embedding, at the scale of least loss of UMAP.

    Rows reconstruct each other by the weights W = D^-1 A. The map of locally linear embedding, the eigenvectors of
    (I - W)' (I - W), is bent towards ranks as in `eigenmap`; at it, edges are springs of stiffness
    4 (w_ij + w_ji) (-k'), and the rest of the gradient of tr(M K) + sum_ij k_ij / n moves them once.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    n_components : int >= 1, default=2
    ranks : float in [0, 1], default=0.5
        As in `eigenmap`.
    n_solves : int >= 0, default=1
        0 is locally linear embedding at the best scale.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    given = {"n_components": n_components, "ranks": ranks, "n_solves": n_solves}
    checked = check_parameters(_RULES, given)
    matrix = sp.csr_array(affinities.matrix.astype(np.float64))
    n, q = matrix.shape[0], checked["n_components"]
    W = sp.csr_array(sp.diags_array(1.0 / np.maximum(np.asarray(matrix.sum(axis=1)), 1e-300)) @ matrix)
    rest = sp.csr_array(sp.eye_array(n) - W)
    pairs = eigenpairs(sp.csr_array(rest.T @ rest), q, known=np.ones(n), tol=1e-4)
    loss = umap_loss(affinities, kernel, q)
    Y = at_best_scale(loss, bent(with_signs(pairs.vectors), checked["ranks"]))
    trace = ReconstructionTrace(W, kernel)
    for _ in range(checked["n_solves"]):
        springs = springs_at(W + W.T, kernel, Y, logarithmic=False)
        Y = at_best_scale(loss, Y + step_of_springs(trace, springs, Y))
    return Y
