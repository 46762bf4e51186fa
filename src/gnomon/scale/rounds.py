"""Work in rounds: parts keep their states where they are worked on, and messages go between them."""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon._progress import Reporter
from gnomon._run import current_run, running
from gnomon._validation import message
from gnomon.scale.executor import Executor, LocalExecutor

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["ClusterRounds", "LocalRounds", "RoundOf", "Rounds", "RoundsWork", "Sent", "rounds_of"]

_GLANCE = 1.0  # seconds between looks at the workers while rounds are waited for
_PATIENCE = 60.0  # seconds without a worker after which the work is given up
_ATTEMPTS = 5  # times that workers may die in one run of rounds

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
        """Do a part's work of one round, on a worker; a function of its arguments, which it leaves as they are.

        Parameters
        ----------
        held : object
            What `part` made.
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


class ClusterRounds(Rounds):
    """Each part on one worker of a Dask cluster, where its state stays; messages go from worker to worker.

    The states at the end of each run of rounds come to this process. If a worker dies, the run begins again from
    there, on the workers that are left: what is lost is the time of one run.

    Parameters
    ----------
    work : RoundsWork
    client : distributed.Client
    """

    def __init__(self, work: RoundsWork, client: Client) -> None:
        super().__init__(work)
        self.client = client
        self.n_restarts = 0
        self._places: list[str] = []
        self._parts: list[Future[Any]] = []
        self._left: tuple[Sequence[Any], list[Future[Any]]] = ([], [])  # states, and where they were left

    def run(self, states: Sequence[Any], first: int, last: int) -> list[Any]:
        """Do the rounds; begin again where workers die."""
        from distributed.scheduler import KilledWorker

        for _ in range(_ATTEMPTS):
            try:
                return self._run(states, first, last)
            except (_Lost, CancelledError, KilledWorker):
                self.close()
                self.n_restarts += 1
        fact = f"workers died {_ATTEMPTS} times between the steps {first} and {last}"
        remedy = "Read the logs of the workers; where the system ended them, give them more memory."
        rule = "a cluster whose workers live as long as its rounds"
        raise ConnectionError(message("executor", rule, fact=fact, remedy=remedy))

    def close(self) -> None:
        """Let go of parts and states."""
        self._places, self._parts, self._left = [], [], ([], [])

    def _run(self, states: Sequence[Any], first: int, last: int) -> list[Any]:
        self._settle()
        left, sent = self._left
        if len(left) != len(states) or any(one is not other for one, other in zip(left, states, strict=True)):
            sent = self._scatter([Sent(state) for state in states])
        for number, who in enumerate(self.work.rounds(first, last)):
            asked = {source for sources in who.values() for source in sources}
            taken = {source: self._submit(source[0], _take, sent[source[0]], source[1]) for source in sorted(asked)}
            sent = list(sent)  # what is not asked for any more is let go by the workers once it has been read
            for part, sources in who.items():
                read = [taken[source] for source in sources]
                sent[part] = self._submit(part, _step, self._parts[part], sent[part], (first, last, number), *read)
        ends = [self._submit(part, _state, one) for part, one in enumerate(sent)]
        try:
            self._await(ends)
            found = list(self.client.gather(ends))
        except BaseException:
            if self.client.status == "running":
                self.client.cancel(ends)
            raise
        self._left = (found, sent)
        return found

    def _submit(self, part: int, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        key = f"{function.__name__.strip('_')}-{uuid.uuid4()}"
        return self.client.submit(function, *arguments, workers=[self._places[part]], key=key, pure=False)

    def _scatter(self, values: Sequence[Any]) -> list[Future[Any]]:
        """Send each value to the worker of its part."""
        try:
            return [
                self.client.scatter([value], workers=[place], hash=False)[0]
                for value, place in zip(values, self._places, strict=True)
            ]
        except (OSError, KeyError, TimeoutError) as error:
            raise _Lost from error

    def _workers(self) -> list[str]:
        return sorted(self.client.scheduler_info(n_workers=-1)["workers"])

    def _settle(self) -> None:
        """Give each part a worker, if it has none."""
        if self._places:
            return
        end = time.monotonic() + _PATIENCE
        while not (workers := self._workers()):
            if time.monotonic() > end:
                fact = f"the cluster has no workers for {_PATIENCE:.0f} s"
                raise TimeoutError(message("executor", "a cluster with workers", fact=fact, remedy="Start one."))
            time.sleep(0.1)
        n = self.work.n_parts
        self._places = [workers[part * len(workers) // n if n >= len(workers) else part] for part in range(n)]
        work, name = self.work.on_worker, current_run().name
        self._parts = self._scatter([_Held(work, self.work.part(number), name) for number in range(n)])

    def _await(self, futures: Sequence[Future[Any]]) -> None:
        """Wait for tasks; raise what they raised, or that one of their workers is gone."""
        from distributed import wait

        while True:
            try:
                wait(futures, timeout=_GLANCE)
                break
            except TimeoutError:
                if not set(self._places) <= set(self._workers()):
                    raise _Lost from None
        for one in futures:
            if one.status == "error":
                error = one.exception()
                assert error is not None
                raise error
            if one.status in ("cancelled", "lost"):
                raise _Lost


class _Lost(Exception):
    """A worker of a part is gone."""


@dataclass(frozen=True)
class _Held:
    """What a worker has for a part."""

    work: RoundsWork
    part: Any
    name: str


def _step(held: _Held, before: Sent, run: tuple[int, int, int], *read: Any) -> Sent:
    from distributed import get_worker

    state = get_worker().state
    each = max(1, int(state.nthreads) // max(1, len(state.executing)))
    with running(name=held.name, n_threads=each, executor=None, reporter=Reporter()):
        return held.work.step(held.part, before.state, read, RoundOf(*run))


def _take(sent: Sent, name: str) -> Any:
    """Return a message, in a task of its own, so that the state of its sender stays where it is."""
    return sent.messages[name]


def _state(sent: Sent) -> Any:
    return sent.state


def rounds_of(work: RoundsWork, executor: Executor) -> Rounds:
    """Return who does the rounds: this process, or the workers of the executor's ``client``."""
    if isinstance(executor, LocalExecutor):
        return LocalRounds(work)
    client: Client = executor.client  # type: ignore[attr-defined]
    return ClusterRounds(work, client)
