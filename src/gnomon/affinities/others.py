"""Random points for every point, drawn by number: the same for any number of threads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run

__all__ = ["random_others"]


def random_others(excluded: npt.NDArray[np.int32], count: int, *, seed: int, stream: int) -> npt.NDArray[np.int32]:
    """Draw distinct points for every point, neither itself nor among those excluded.

    Parameters
    ----------
    excluded : ndarray of shape (n_samples, n_excluded), int32
        Row numbers that a row must not draw.
    count : int in [0, n_samples - 1 - n_excluded]
        Points drawn for each.
    seed : int in [0, 2**63)
        The seed of the computation.
    stream : int >= 0
        Names the purpose: equal seeds with different streams give independent draws.

    Returns
    -------
    ndarray of shape (n_samples, count), int32
        In the order drawn.
    """
    drawn: npt.NDArray[np.int32] = _core.random_others(
        seed, stream, np.ascontiguousarray(excluded, dtype=np.int32), count, current_run().n_threads
    )
    return drawn
