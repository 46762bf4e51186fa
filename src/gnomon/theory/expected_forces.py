"""What a UMAP run descends on average."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.objectives.edges import check_embedding
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["expected_umap_gradient"]

_RULES: dict[str, Rule] = {
    "negative_sample_rate": Real(0.0),
    "repulsion_strength": Real(0.0),
    "n_threads": Integer(1),
}


def expected_umap_gradient(
    affinities: Affinities,
    Y: npt.ArrayLike,
    kernel: OutputKernel,
    *,
    negative_sample_rate: float = 5.0,
    repulsion_strength: float = 1.0,
    n_threads: int = 1,
) -> npt.NDArray[np.float64]:
    """Return minus the mean force of an epoch of UMAP's sampling, times the largest membership.

    g_i = 2 sum_j mu_ij grad_i(-log k_ij) + (g m d_i / n) sum_l grad_i(-log(1 - k_il)): only the head of an edge moves
    away from the points drawn, so that point i feels its own degree d_i. It is the gradient of no function unless all
    degrees are equal.

    Parameters
    ----------
    affinities : Affinities of n_samples points
        Memberships mu.
    Y : array-like of shape (n_samples, n_components)
        The map.
    kernel : OutputKernel
        k, such as ``UMAPKernel.from_min_dist(0.1)``.
    negative_sample_rate : float >= 0, default=5
        m.
    repulsion_strength : float >= 0, default=1
        g.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64

    References
    ----------
    .. [1] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021, section 5.
    """
    who = "expected_umap_gradient"
    given = {
        "negative_sample_rate": negative_sample_rate,
        "repulsion_strength": repulsion_strength,
        "n_threads": n_threads,
    }
    checked = check_parameters(who, _RULES, given)
    n = affinities.n_samples
    points = check_embedding(Y, n, who=who)
    attraction = EdgePairs(affinities.matrix, kernel, "log", n_threads=n_threads, who=who)
    repulsion = AllPairs(n, kernel, "log_deficit", n_threads=n_threads, who=who)
    weight = checked["repulsion_strength"] * checked["negative_sample_rate"] / (2.0 * n)
    degrees = attraction.edges.degrees.astype(np.float64)[:, None]
    pull, push = (term.force(points).astype(np.float64) for term in (attraction, repulsion))
    return np.asarray(-(pull + weight * degrees * push))
