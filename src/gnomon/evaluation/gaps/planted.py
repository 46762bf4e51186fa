"""Falls of density between two clouds whose gap is known, which tell how deep a fall such a gap shows."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon._threads import in_order
from gnomon.evaluation.gaps.falls import fall_between
from gnomon.evaluation.gaps.saddles import Landscape

__all__ = ["planted_falls"]

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=64)
def planted_falls(
    sizes: tuple[int, int], dimension: int, limit: float, island: bool, n_nulls: int, seed: int
) -> Floats:
    """Return the falls between two normal clouds, half-way between whose peaks the logarithm is lower by `limit`."""
    a = np.arange(sum(sizes)) < sizes[0]
    apart = math.sqrt(8.0 * (limit + math.log(2.0)))

    def one(number: int) -> float:
        drawn = np.random.default_rng((seed, 3, number)).normal(size=(len(a), dimension))
        drawn[a, 0] += apart
        return fall_between(Landscape.of(drawn.astype(np.float32)), a, ~a, island=island, limit=limit).value

    return np.array(list(in_order(one, range(n_nulls))))
