"""What may change in an objective while it is descended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from gnomon.objectives.added import added_terms
from gnomon.optimizers.state import State

__all__ = ["Exaggerable", "Scheduled", "estimate", "exaggerated", "schedule_of"]


@runtime_checkable
class Scheduled(Protocol):
    """An objective that changes from iteration to iteration, such as one with phases.

    What `at` sets must depend on its arguments alone, so that a descent can be resumed anywhere. Stopping rules rest:
    the schedule is run to its end.
    """

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the form of one iteration, counted from 0, of max_iter; called before each."""
        ...


def schedule_of(objective: object) -> Scheduled | None:
    """Return the objective if it changes from iteration to iteration, else None.

    One that does so only in some of its forms says which by an attribute `scheduled`.
    """
    return objective if isinstance(objective, Scheduled) and getattr(objective, "scheduled", True) else None


def estimate(objective: object, state: State, *, now: bool) -> None:
    """Bring what added terms estimate from the embedding to where the state says.

    Parameters
    ----------
    objective : Scheduled
        After its `at`.
    state : State
        Its `anchors` are the embeddings of the estimates.
    now : bool
        Whether estimates that are due are made from the present embedding.
    """
    state.anchors = added_terms(objective).estimate(state.embedding, state.anchors, anew=now)


@runtime_checkable
class Exaggerable(Protocol):
    """An objective whose attraction can be multiplied for a while.

    Attributes
    ----------
    exaggeration : float
        Factor of the attraction.
    """

    exaggeration: float


@contextmanager
def exaggerated(objective: object, factor: float) -> Iterator[None]:
    """Multiply the exaggeration of an objective that has one inside the block."""
    if factor == 1.0 or not isinstance(objective, Exaggerable):
        yield
        return
    before = objective.exaggeration
    objective.exaggeration = before * factor
    try:
        yield
    finally:
        objective.exaggeration = before
