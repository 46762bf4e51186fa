"""States of a descent in the journal of the run, from which one that was cut goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon.optimizers.state import State

if TYPE_CHECKING:
    from gnomon.scale import Journal

__all__ = ["Checkpoints"]

StateT = TypeVar("StateT", bound=State)

_EVERY = 50  # iterations between two of them


class Checkpoints:
    """The states of one descent, known by where it starts and how it steps.

    Parameters
    ----------
    journal : Journal or None
        Of the run; without one, or without a folder, nothing is kept.
    optimizer : object
        Its class and its numbers count, not who does its steps.
    state : State
        Before the first iteration.
    max_iter : int
    """

    def __init__(self, journal: Journal | None, optimizer: Any, state: State, max_iter: int) -> None:
        self._journal = journal if journal is not None and journal.folder is not None and _is_plain(state) else None
        self._max_iter = max_iter
        if self._journal is None:
            return
        numbers = {
            name: value for name, value in vars(optimizer).items() if isinstance(value, int | float | str | None)
        }
        told = f"{type(optimizer).__name__} {max_iter} {sorted(numbers.items())} {state.embedding.shape}"
        found = hashlib.blake2b(told.encode(), digest_size=8)
        found.update(state.embedding.data)
        self._name = f"layout-{found.hexdigest()}"

    def latest(self, state: StateT) -> StateT:
        """Return the last state that was kept, or the given one."""
        if self._journal is None:
            return state
        assert self._journal.folder is not None
        kept = sorted(self._journal.folder.glob(f"{self._name}-*.npz"))
        return _with(state, self._journal.stage(kept[-1].stem, dict)) if kept else state

    def keep(self, state: State) -> None:
        """Keep a state, if it is time to."""
        if self._journal is not None and (state.iteration % _EVERY == 0 or state.iteration == self._max_iter):
            self._journal.stage(f"{self._name}-{state.iteration:06d}", lambda: _arrays(state))


def _is_plain(state: State) -> bool:
    values = [getattr(state, one.name) for one in fields(state)]
    return all(value is None or isinstance(value, np.ndarray | int | float) for value in values)


def _arrays(state: State) -> dict[str, npt.NDArray[Any]]:
    values = {one.name: getattr(state, one.name) for one in fields(state)}
    return {name: np.asarray(value) for name, value in values.items() if value is not None}


def _with(state: StateT, arrays: Mapping[str, npt.NDArray[Any]]) -> StateT:
    found = state.copy()
    for name, value in arrays.items():
        setattr(found, name, value if value.ndim else value.item())
    return found
