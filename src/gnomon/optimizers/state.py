"""Where a descent stands."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Points", "State"]

Points = npt.NDArray[Any]
"""Points of an embedding, or a vector for each: (n_samples, n_components), row-major, float32 or float64 as the
objective's `dtype` says."""


@dataclass(kw_only=True)
class State:
    """All that a descent needs to go on; optimizers with a memory add it in subclasses.

    A running descent changes its own copy in place.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    iteration : int
        Iterations done.
    gradient_norm : float
        Norm of the last gradient seen; infinite before the first.
    largest_gradient_norm : float
        Largest norm of a gradient seen.
    best_loss : float
        Lowest loss seen since the stopping rules began to look.
    best_iteration : int
        When it was seen.
    anchors : ndarray of shape (n_terms, n_samples, n_components) or None
        The embeddings from which added terms were last estimated, None if none has been.
    """

    embedding: Points
    iteration: int = 0
    gradient_norm: float = math.inf
    largest_gradient_norm: float = 0.0
    best_loss: float = math.inf
    best_iteration: int = 0
    anchors: Points | None = None

    def copy(self) -> Self:
        """Return a state with arrays of its own."""
        other = copy(self)
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                setattr(other, field.name, value.copy())
        return other
