"""Work in rounds: parts keep their states where they are worked on, and messages go between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["LocalRounds", "RoundOf", "Rounds", "RoundsWork", "Sent", "Source"]

Source = tuple[int, str]
"""A part, and the name of one of the messages that it sends in its last round."""


@dataclass(frozen=True)
class Sent:
    """What a part leaves at the end of a round.

    Attributes
    ----------
    state : object
        Stays where the part is worked on.
    messages : mapping of str to object
        By name.
    """

    state: Any
    messages: Mapping[str, Any] = field(default_factory=dict)


class RoundOf(NamedTuple):
    """A round in a run of rounds.

    Attributes
    ----------
    first, last : int
        The steps of the run are [first, last).
    number : int
        Of the round, from 0.
    """

    first: int
    last: int
    number: int


class RoundsWork(ABC):
    """What is done in each round; sent to the workers once for each part, so it is small.

    Attributes
    ----------
    n_parts : int
    """

    n_parts: int

    @abstractmethod
    def rounds(self, first: int, last: int) -> Sequence[Mapping[int, Sequence[Source]]]:
        """Return, for each round of the steps [first, last), who takes part and which messages it reads.

        A message is that of the round in which its sender last took part.
        """

    @abstractmethod
    def part(self, number: int) -> Any:
        """Return what a part needs beside its state, which never changes; made in this process, when it is sent."""

    @abstractmethod
    def step(self, held: Any, state: Any, read: Sequence[Any], run: RoundOf) -> Sent:
        """Do a part's work of one round, on a worker; a function of its arguments.

        It leaves messages and the state that a run begins with as they are, and shares no memory with the state that
        the run ends with. In between it may change what it made itself, once all readers have it.

        Parameters
        ----------
        held : object
            What `part` made; it may keep memory there to be used again.
        state : object
            What the part's round before left.
        read : sequence of object
            The messages asked for.
        run : RoundOf
            Which round this is.
        """

    @property
    @abstractmethod
    def on_worker(self) -> RoundsWork:
        """The same without what only this process needs: `step` alone is called."""


class Rounds(ABC):
    """Who does the rounds of some work, one part beside the other."""

    def __init__(self, work: RoundsWork) -> None:
        self.work = work

    @abstractmethod
    def run(self, states: Sequence[Any], first: int, last: int) -> list[Any]:
        """Do the rounds of the steps [first, last); return the states after them, in the order of the parts.

        States that a run returned may be given to the next as they are: then they are still where they were left.
        """

    def close(self) -> None:  # noqa: B027  in this process there is nothing to let go
        """Let go of what workers hold."""


class LocalRounds(Rounds):
    """One part after the other in this process, each by all threads of the run."""

    def __init__(self, work: RoundsWork) -> None:
        super().__init__(work)
        self._parts = [work.part(number) for number in range(work.n_parts)]

    def run(self, states: Sequence[Any], first: int, last: int) -> list[Any]:
        """Do the rounds, in which all messages are read before any is sent."""
        sent = [Sent(state) for state in states]
        for number, who in enumerate(self.work.rounds(first, last)):
            read = {part: [sent[source].messages[name] for source, name in asked] for part, asked in who.items()}
            for part, messages in read.items():
                sent[part] = self.work.step(self._parts[part], sent[part].state, messages, RoundOf(first, last, number))
        return [one.state for one in sent]
