"""What the methods' losses ask of a new row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.extension import GaussianRows, MembershipRows, NewAffinities, PlacementLoss, UniformRows

if TYPE_CHECKING:
    from gnomon.neighbors import NeighborGraph
    from gnomon.objectives import CrossEntropy, KLDivergence

__all__ = ["cross_entropy_loss", "divergence_loss", "named_affinities", "named_loss", "usual_distance"]


def usual_distance(graph: NeighborGraph) -> float:
    """Return the mean finite distance of a graph, 0 if there is none."""
    finite = graph.distances[np.isfinite(graph.distances)]
    return float(finite.mean(dtype=np.float64)) if finite.size else 0.0


def divergence_loss(objective: KLDivergence, positions: npt.NDArray[np.float32]) -> PlacementLoss:
    """Return t-SNE's loss of a new row, with the normaliser of the finished map."""
    (normalizer,) = objective.repulsions
    return PlacementLoss.of_divergence(objective.kernel, math.exp(normalizer.energy(positions)), len(positions))


def cross_entropy_loss(objective: CrossEntropy) -> PlacementLoss:
    """Return the loss of a new row under sampled repulsion; summed over all pairs, of a row of mean degree."""
    n, repulsion = objective.n_samples, objective.repulsion
    drawn = objective.sampling_weights[1] if len(objective.sampling_weights[1]) else None
    if objective.requested_evaluation == "sampled":
        return PlacementLoss.of_cross_entropy(objective.kernel, repulsion, n, drawn)
    degrees = objective.sampling_weights[0].astype(np.float64)
    charges = 0.5 * (degrees / degrees.mean() + (1.0 if drawn is None else drawn))
    return PlacementLoss.of_cross_entropy(objective.kernel, repulsion, n, charges)


def named_affinities(name: str, given: dict[str, Any], graph: NeighborGraph) -> NewAffinities:
    """Return the affinities of new rows that go with those chosen by name."""
    if name == "fuzzy":
        return MembershipRows(given.get("local_connectivity", 1.0), usual_distance(graph))
    return UniformRows() if name == "uniform" else GaussianRows(given.get("perplexity", 30.0))


def named_loss(name: str, objective: Any, positions: npt.NDArray[np.float32]) -> PlacementLoss | None:
    """Return the loss of a new row that goes with one chosen by name, None if there is none."""
    if name == "kl":
        return divergence_loss(objective, positions)
    if name == "conditional_kl":
        return PlacementLoss.of_conditional_divergence(objective.kernel)
    if name == "cross_entropy":
        return cross_entropy_loss(objective)
    if name == "info_nce":
        n = len(positions)
        return PlacementLoss.of_contrast(objective.kernel, min(objective.n_noise, n - 1), n)
    return None
