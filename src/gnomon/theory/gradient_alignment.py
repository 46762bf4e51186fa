"""Do UMAP, by what a run descends on average, and two-kernel locally linear embedding push the same way?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.objectives import Frobenius, ReconstructionTrace
from gnomon.objectives.pairs import check_embedding
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["Alignment", "FieldAgreement", "expected_umap_gradient", "field_agreement", "gradient_alignment"]

_FORCE_RULES: dict[str, Rule] = {"negative_sample_rate": Real(0.0), "repulsion_strength": Real(0.0)}
_RULES: dict[str, Rule] = {"negative_sample_rate": Real(0.0), "n_permutations": Integer(0)}


@entrance("expected_umap_gradient")
def expected_umap_gradient(
    affinities: Affinities,
    Y: npt.ArrayLike,
    kernel: OutputKernel,
    *,
    negative_sample_rate: float = 5.0,
    repulsion_strength: float = 1.0,
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

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64

    References
    ----------
    .. [1] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021, section 5.
    """
    given = {"negative_sample_rate": negative_sample_rate, "repulsion_strength": repulsion_strength}
    checked = check_parameters(_FORCE_RULES, given)
    n = affinities.n_samples
    points = check_embedding(Y, n)
    attraction = EdgePairs(affinities.matrix, kernel, "log", symmetric=affinities.symmetric)
    repulsion = AllPairs(n, kernel, "log_deficit")
    weight = checked["repulsion_strength"] * checked["negative_sample_rate"] / (2.0 * n)
    degrees = attraction.edges.degrees.astype(np.float64)[:, None]
    pull, push = (term.force(points).astype(np.float64) for term in (attraction, repulsion))
    return np.asarray(-(pull + weight * degrees * push))


class FieldAgreement(NamedTuple):
    """How two fields of forces on the same points agree.

    Attributes
    ----------
    inner_product : float
        Frobenius inner product.
    cosine : float
        The same of unit fields, in [-1, 1]; 0 where one of them vanishes.
    share_positive : float
        Share of the points whose two forces make an acute angle.
    """

    inner_product: float
    cosine: float
    share_positive: float


@entrance("field_agreement")
def field_agreement(a: npt.ArrayLike, b: npt.ArrayLike) -> FieldAgreement:
    """Compare two fields of shape (n_samples, n_components), such as gradients of two losses at one map.

    Parameters
    ----------
    a, b : array-like of shape (n_samples, n_components)
        A vector for each point.

    Returns
    -------
    FieldAgreement
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 2 or first.shape != second.shape:
        raise ValueError(message(f"fields of shape {first.shape} and {second.shape}", "of one shape"))
    products = np.sum(first * second, axis=1)
    inner = float(products.sum())
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return FieldAgreement(inner, inner / size if size > 0 else 0.0, float(np.mean(products > 0)))


@dataclass(frozen=True)
class Alignment:
    """How UMAP's mean force and that of two-kernel locally linear embedding agree at one map.

    Attributes
    ----------
    inner_product : float
        Frobenius inner product of the two gradients.
    cosine : float
        The same of unit gradients, in [-1, 1].
    share_positive : float
        Share of the points whose two gradients make an acute angle.
    umap_norm, reconstruction_norm : float
        Frobenius norms; where one is near 0, at a map at rest, the cosine is noise.
    null_mean, null_std : float
        Cosine with the weights' rows and columns permuted together: what the form of the loss alone gives. NaN without
        permutations.
    control : float
        Cosine of UMAP's gradient with that of two-kernel PCA, which knows no neighbours; NaN without a target. The sign
        of `cosine` says little where this is as large.
    """

    inner_product: float
    cosine: float
    share_positive: float
    umap_norm: float
    reconstruction_norm: float
    null_mean: float
    null_std: float
    control: float

    @property
    def z_score(self) -> float:
        """Cosine above the null's mean, in standard deviations of the null; NaN without two permutations."""
        return (self.cosine - self.null_mean) / self.null_std if self.null_std > 0 else np.nan


@entrance("gradient_alignment", seeded=True)
def gradient_alignment(
    affinities: Affinities,
    weights: Any,
    embeddings: Mapping[str, npt.ArrayLike],
    kernel: OutputKernel,
    *,
    target: npt.ArrayLike | None = None,
    negative_sample_rate: float = 5.0,
    n_permutations: int = 10,
    random_state: RandomState = 0,
) -> dict[str, Alignment]:
    """Compare the mean force of UMAP with that of two-kernel locally linear embedding at given maps.

    Parameters
    ----------
    affinities : Affinities of n_samples points
        UMAP's memberships.
    weights : ReconstructionWeights, or sparse matrix of shape (n_samples, n_samples)
        Rows sum to 1.
    embeddings : mapping of str to array-like of shape (n_samples, n_components)
        Maps by name, such as states along a run. Conjecture 1 of [1]_ speaks of those before convergence.
    kernel : OutputKernel
        Of both methods.
    target : Gram, array-like of shape (n_samples, n_samples) or None, default=None
        Similarities of the data for the control, the loss of two-kernel PCA.
    negative_sample_rate : float >= 0, default=5
        UMAP's.
    n_permutations : int >= 0, default=10
        Draws of the null model.
    random_state : int, Generator, RandomState or None, default=0
        Decides the permutations.

    Returns
    -------
    dict of str to Alignment
        One for each map.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023,
       Conjecture 1.
    """
    given = {"negative_sample_rate": negative_sample_rate, "n_permutations": n_permutations}
    check_parameters(_RULES, given)
    if not embeddings:
        raise ValueError(message("embeddings", "at least one map"))
    W = sp.csr_array(getattr(weights, "W", weights))
    n = affinities.n_samples
    if W.shape != (n, n):
        raise ValueError(message(f"weights of shape {W.shape}", f"of shape {(n, n)}"))
    trace = ReconstructionTrace(W, kernel)
    rng = np.random.default_rng(current_run().seed)
    nulls = [
        ReconstructionTrace(sp.csr_array(W[order][:, order]), kernel)
        for order in (rng.permutation(n) for _ in range(n_permutations))
    ]
    control = None if target is None else Frobenius(target, kernel)
    found = {}
    for name, Y in embeddings.items():
        points = np.ascontiguousarray(Y, dtype=np.float32)
        umap = expected_umap_gradient(affinities, points, kernel, negative_sample_rate=negative_sample_rate)
        ours = trace.gradient(points).astype(np.float64)
        draws = [field_agreement(umap, null.gradient(points)).cosine for null in nulls]
        found[name] = Alignment(
            **field_agreement(umap, ours)._asdict(),
            umap_norm=float(np.linalg.norm(umap)),
            reconstruction_norm=float(np.linalg.norm(ours)),
            null_mean=float(np.mean(draws)) if draws else np.nan,
            null_std=float(np.std(draws, ddof=1)) if len(draws) > 1 else np.nan,
            control=np.nan if control is None else field_agreement(umap, control.gradient(points)).cosine,
        )
    return found
