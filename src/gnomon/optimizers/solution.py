"""What an optimizer returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Solution", "diverged"]


@dataclass(frozen=True)
class Solution:
    """The end of a descent.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float32
        The points where the descent ended; always finite.
    loss : list of (int, float)
        Iteration and loss, wherever the loss was evaluated.
    converged : bool
        Whether the descent ended by its own rule: a schedule run to its end or a stopping rule that held. False if
        the caller asked it to end.
    reason : str
        A sentence that says why it ended.
    n_iter : int
        Iterations done in all, earlier runs that were resumed included.
    timings : dict of str to float
        Seconds by stage.
    state : object
        Pass it as `state` to the same optimizer to go on from here; the result is that of one run, bit for bit.
    """

    embedding: npt.NDArray[np.float32]
    loss: list[tuple[int, float]]
    converged: bool
    reason: str
    n_iter: int
    timings: dict[str, float] = field(default_factory=dict)
    state: Any = None


def diverged(who: str, iteration: int, learning_rate: float) -> FloatingPointError:
    """Return the error for an embedding that has left the finite numbers."""
    return FloatingPointError(
        f"{who}: the embedding must stay finite (it did not in iteration {iteration} with "
        f"learning_rate={learning_rate:g}). Lower learning_rate, or check the initial embedding."
    )
