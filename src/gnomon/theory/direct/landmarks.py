"""A map of some points, carried on to all others by a linear system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._validation import SEED, Integer, Real, Rule, check_parameters
from gnomon.affinities import Affinities
from gnomon.linalg import solve_graph_system
from gnomon.theory.direct.balance import balanced_map
from gnomon.theory.direct.scale import Float64Array, at_best_scale, umap_loss

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["landmark_map"]

_RULES: dict[str, Rule] = {
    "share": Real(low=0.0, high=1.0, low_open=True),
    "n_solves": Integer(low=0),
    "seed": SEED,
}


@entrance("landmark_map")
def landmark_map(
    affinities: Affinities, kernel: OutputKernel, *, share: float = 0.25, n_solves: int = 4, seed: int = 0
) -> Float64Array:
    """Map a random share of the points, and put each other point at the weighted mean of its neighbours.

    Landmarks are joined by their edges and by the ways over one other point, A_LL + A_LU D_U^-1 A_UL, and mapped by
    `balanced_map`; all others follow from one system, L_UU Y_U = A_UL Y_L. Means lie inside: the map is denser than
    UMAP's between landmarks, however it is scaled.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    share : float in (0, 1], default=0.25
        Of the points that are landmarks, at least ten.
    n_solves : int >= 0, default=4
        Of the landmarks' map.
    seed : int >= 0, default=0
        Of the draw.

    Returns
    -------
    ndarray of shape (n_samples, 2), float64
    """
    checked = check_parameters(_RULES, {"share": share, "n_solves": n_solves, "seed": seed})
    matrix = sp.csr_array(affinities.matrix.astype(np.float64))
    n = matrix.shape[0]
    n_chosen = min(max(round(checked["share"] * n), 10), n)
    chosen = np.zeros(n, dtype=bool)
    chosen[np.random.default_rng(checked["seed"]).choice(n, n_chosen, replace=False)] = True
    inverse = 1.0 / np.maximum(np.asarray(matrix.sum(axis=1)), 1e-300)
    ways = matrix[chosen][:, ~chosen]
    joined = sp.csr_array(matrix[chosen][:, chosen] + ways @ sp.diags_array(inverse[~chosen]) @ ways.T)
    joined.setdiag(0.0)
    joined.eliminate_zeros()
    joined = sp.csr_array(0.5 * (joined + joined.T), dtype=np.float32)
    joined.sort_indices()
    Y = np.zeros((n, 2))
    Y[chosen] = balanced_map(Affinities(joined, "membership", symmetric=True), kernel, n_solves=checked["n_solves"])
    Y += solve_graph_system(matrix, matrix @ Y, held=chosen).Z
    return at_best_scale(umap_loss(affinities, kernel), Y)
