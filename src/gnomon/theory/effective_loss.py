"""Which loss a UMAP run really lowers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._validation import message
from gnomon.objectives import CrossEntropy, StatedCrossEntropy

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["EVERY_PAIR", "EffectiveLoss", "effective_loss"]

EVERY_PAIR = 5000  # points up to which all pairs are summed


@dataclass(frozen=True)
class EffectiveLoss(ShortRepr):
    """The losses along a UMAP run, summed over ordered pairs.

    Attributes
    ----------
    stated : ndarray of shape (n_states,)
        The cross-entropy that the paper prints.
    sampled : ndarray of shape (n_states,)
        The loss whose gradient is the mean force of the sampling where degrees are equal: repulsive weight
        m (d_i + d_j) / (4 n) in place of 1 - mu_ij.
    effective : ndarray of shape (n_states,)
        The same if the points drawn moved as well, m (d_i + d_j) / (2 n): the effective loss of the literature.
    repulsion_ratio : float
        Mean repulsive weight of a pair under the stated loss, over that under the sampled one.
    attraction : ndarray of shape (n_samples,)
        Attractive weight d_i of each point; its repulsive weight under the sampled loss is m d_i / 2.
    """

    stated: npt.NDArray[np.float64]
    sampled: npt.NDArray[np.float64]
    effective: npt.NDArray[np.float64]
    repulsion_ratio: float
    attraction: npt.NDArray[np.float64]

    def summary(self) -> str:
        """Return what the losses did between the first state and the last, in words."""
        lines = [
            f"{name}: {losses[0]:.6g} -> {losses[-1]:.6g} ({'fell' if losses[-1] < losses[0] else 'rose'})"
            for name, losses in (("stated", self.stated), ("sampled", self.sampled), ("effective", self.effective))
        ]
        lines.append(f"The stated loss repels {self.repulsion_ratio:.4g} times as much as the sampling does.")
        return "\n".join(lines)


@entrance("effective_loss")
def effective_loss(
    affinities: Affinities,
    embeddings: Sequence[npt.ArrayLike],
    kernel: OutputKernel,
    *,
    negative_sample_rate: float = 5.0,
    repulsion_strength: float = 1.0,
) -> EffectiveLoss:
    """Compare, along a UMAP run, the loss that the paper states with the one that its sampling lowers.

    Parameters
    ----------
    affinities : Affinities of n_samples points
        Memberships of the run, ``UMAP.affinities_``.
    embeddings : sequence of array-like of shape (n_samples, n_components)
        Maps along the run, such as those a callback received.
    kernel : OutputKernel
        Kernel of the run, ``UMAP.kernel_``.
    negative_sample_rate, repulsion_strength : float, default=5 and 1
        Of the run.

    Returns
    -------
    EffectiveLoss

    Raises
    ------
    ValueError
        If there is no embedding.

    References
    ----------
    .. [1] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021.
    """
    if len(embeddings) == 0:
        raise ValueError(message("embeddings", "at least one map"))
    n = affinities.n_samples
    maps = [np.ascontiguousarray(Y, dtype=np.float32) for Y in embeddings]
    evaluation = "exact" if n <= EVERY_PAIR or maps[0].shape[1] > 3 else "tree"
    stated = StatedCrossEntropy(affinities, kernel, evaluation=evaluation)
    once, twice = (
        CrossEntropy(
            affinities,
            kernel,
            negative_sample_rate=negative_sample_rate,
            repulsion_strength=factor * repulsion_strength,
            evaluation=evaluation,
        )
        for factor in (1.0, 2.0)
    )
    degrees = once.edges.degrees.astype(np.float64)
    pairs = n * (n - 1.0)
    sampled_weight = negative_sample_rate * repulsion_strength * degrees.mean() / (2.0 * n)
    stated_weight = 1.0 - degrees.sum() / pairs
    return EffectiveLoss(
        stated=np.array([stated.loss(Y) for Y in maps]),
        sampled=np.array([once.loss(Y) for Y in maps]),
        effective=np.array([twice.loss(Y) for Y in maps]),
        repulsion_ratio=float(stated_weight / sampled_weight) if sampled_weight else np.inf,
        attraction=degrees,
    )
