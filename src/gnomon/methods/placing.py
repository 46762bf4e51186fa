"""What the methods' losses ask of a new row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.extension import PlacementLoss

if TYPE_CHECKING:
    from gnomon.objectives import KLDivergence

__all__ = ["divergence_loss"]


def divergence_loss(objective: KLDivergence, positions: npt.NDArray[np.float32]) -> PlacementLoss:
    """Return t-SNE's loss of a new row, with the normaliser of the finished map."""
    (normalizer,) = objective.repulsions
    return PlacementLoss.of_divergence(objective.kernel, math.exp(normalizer.energy(positions)), len(positions))
