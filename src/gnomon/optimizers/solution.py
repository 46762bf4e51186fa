"""What an optimizer returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gnomon.optimizers.state import Points

__all__ = ["Solution", "diverged"]


@dataclass(frozen=True)
class Solution:
    """The end of a descent.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        The points where the descent ended, in the number type of the objective; always finite.
    loss : list of (int, float)
        Iteration and loss, wherever this run evaluated the loss; the last entry is that of `embedding`. Empty if the
        optimizer was told not to evaluate it.
    converged : bool
        Whether the descent ended by its own rule: a schedule run to its end or a stopping rule that held. False if
        the caller asked it to end or max_iter came first.
    reason : str
        A sentence that says why it ended, and what to do if it did not converge.
    n_iter : int
        Iterations done in all, earlier runs that were resumed included.
    timings : dict of str to float
        Seconds by stage.
    state : State
        Pass it as `state` to the same optimizer to go on from here; the result is that of one run, bit for bit.
    """

    embedding: Points
    loss: list[tuple[int, float]]
    converged: bool
    reason: str
    n_iter: int
    timings: dict[str, float] = field(default_factory=dict)
    state: Any = None


def diverged(who: str, iteration: int, setting: str, remedy: str) -> FloatingPointError:
    """Return the error for an embedding that has left the finite numbers.

    Parameters
    ----------
    who : str
        The optimizer.
    iteration : int
        Where it happened, counted from 1.
    setting : str
        What decided the size of the step, such as ``"learning_rate=200"``; may be empty.
    remedy : str
        One sentence.
    """
    by = f" with {setting}" if setting else ""
    return FloatingPointError(
        f"{who}: the embedding must stay finite (it did not in iteration {iteration}{by}). {remedy}"
    )
