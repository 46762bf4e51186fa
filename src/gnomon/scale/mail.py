"""Messages between tasks that work at the same time on several workers of a Dask cluster.

They go from worker to worker over the connections that Dask keeps, as the pieces of its own shuffles do, all those of a
round together; the scheduler sees one task for each worker and run.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from distributed import WorkerPlugin, get_worker
from distributed.protocol.serialize import Serialize, to_serialize

from gnomon._progress import Reporter
from gnomon._run import running
from gnomon.scale.rounds import RoundOf, RoundsWork, Source
from gnomon.scale.task import Packed

if TYPE_CHECKING:
    from distributed import Worker

__all__ = ["Held", "LostMessageError", "Mailbox", "abort", "do_rounds"]

Key = tuple[str, int, int, str]
"""Run, round of the sender, part that sends, name of the message."""

_PATIENCE = 600.0  # seconds without a message after which the others are taken for lost
_GLANCE = 1.0  # seconds between looks at whether the run was aborted


class LostMessageError(RuntimeError):
    """A run of rounds was aborted, or a message did not come."""


class Mailbox(WorkerPlugin):
    """What came for the parts of one worker and has not been read."""

    name = "gnomon-mail"

    def setup(self, worker: Worker) -> None:
        """Begin to receive."""
        self._changed = threading.Condition()
        self._messages: dict[Key, Any] = {}
        self._aborted: set[str] = set()
        worker.handlers["gnomon_mail"] = self.receive
        worker.extensions[self.name] = self

    async def receive(self, keys: Sequence[Sequence[Any]], data: Any) -> None:
        """Take messages from another worker."""
        messages = data.data if isinstance(data, Serialize) else data
        self.put(
            {(run, number, part, name): one for (run, number, part, name), one in zip(keys, messages, strict=True)}
        )

    def put(self, messages: Mapping[Key, Any]) -> None:
        """Keep messages until they are read."""
        with self._changed:
            self._messages.update({key: one for key, one in messages.items() if key[0] not in self._aborted})
            self._changed.notify_all()

    def read(self, key: Key, *, last: bool) -> Any:
        """Wait for a message; forget it if this is the last reader."""
        end = time.monotonic() + _PATIENCE
        with self._changed:
            while key not in self._messages:
                if key[0] in self._aborted or time.monotonic() > end:
                    raise LostMessageError(f"the message {key[3]!r} of part {key[2]} did not come")
                self._changed.wait(_GLANCE)
            return self._messages.pop(key) if last else self._messages[key]

    def abort(self, run: str) -> None:
        """Let those who wait in a run fail, and forget what came for it."""
        with self._changed:
            self._aborted.add(run)
            self._messages = {key: data for key, data in self._messages.items() if key[0] != run}
            self._changed.notify_all()


@dataclass(frozen=True)
class Held(Packed):
    """What a worker has of the work.

    Attributes
    ----------
    work : RoundsWork
        Its `on_worker`.
    parts : dict of int to object
        Of its parts.
    name : str
        Of the run, for errors.
    """

    work: RoundsWork
    parts: dict[int, Any]
    name: str


@dataclass
class _Routes:
    """Who reads what, and who sends what to whom."""

    read: dict[tuple[int, int], list[tuple[int, int, str]]] = field(default_factory=dict)
    sent: dict[tuple[int, int], dict[str, list[int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, rounds: Sequence[Mapping[int, Sequence[Source]]]) -> _Routes:
        """Follow the plan: a message is that of the round in which its sender last took part."""
        routes, last = cls(), dict[int, int]()
        for number, who in enumerate(rounds):
            for part, sources in who.items():
                routes.read[number, part] = [(last[source], source, name) for source, name in sources]
                for source, name in sources:
                    routes.sent.setdefault((last[source], source), {}).setdefault(name, []).append(part)
            last.update(dict.fromkeys(who, number))
        return routes


def do_rounds(
    held: Held, states: dict[int, Any], run: str, first: int, last: int, places: dict[int, str]
) -> dict[int, Any]:
    """Do the rounds of the parts of this worker, while others do those of theirs; return the states after them.

    Parameters
    ----------
    held : Held
    states : dict of int to object
        By part.
    run : str
        A name that no other run has.
    first, last : int
        The steps of the run are [first, last).
    places : dict of int to str
        Address of the worker of each part.
    """
    worker = get_worker()
    box: Mailbox = worker.extensions[Mailbox.name]
    rounds = held.work.rounds(first, last)
    routes, here = _Routes.of(rounds), worker.address
    left = {  # readers on this worker of each message
        (number, part, name): sum(places[reader] == here for reader in readers)
        for (number, part), names in routes.sent.items()
        for name, readers in names.items()
    }
    states, pending = dict(states), list[Future[Any]]()
    threads = max(1, int(worker.state.nthreads) // max(1, len(worker.state.executing)))

    def read(sources: Sequence[tuple[int, int, str]]) -> list[Any]:
        found = []
        for source in sources:
            left[source] -= 1
            found.append(box.read((run, *source), last=left[source] == 0))
        return found

    with running(name=held.name, n_threads=threads, executor=None, reporter=Reporter()):
        for number, who in enumerate(rounds):
            messages = {part: read(routes.read[number, part]) for part in who if part in states}
            leaving: dict[str, dict[Key, Any]] = {}  # by the worker that they go to
            for part, found in messages.items():
                sent = held.work.step(held.parts[part], states[part], found, RoundOf(first, last, number))
                states[part] = sent.state
                for name, readers in routes.sent.get((number, part), {}).items():
                    for place in {places[reader] for reader in readers}:
                        leaving.setdefault(place, {})[run, number, part, name] = sent.messages[name]
            box.put(leaving.pop(here, {}))
            pending += [_send(worker, place, leaving[place]) for place in sorted(leaving)]
            pending = [one for one in pending if not _arrived(one)]
        for one in pending:
            one.result(_PATIENCE)
    return states


def abort(run: str, dask_worker: Worker) -> None:
    """Abort a run, in a call of `Client.run`."""
    if Mailbox.name in dask_worker.extensions:
        dask_worker.extensions[Mailbox.name].abort(run)


def _send(worker: Worker, place: str, messages: Mapping[Key, Any]) -> Future[Any]:
    async def send() -> None:
        await worker.rpc(place).gnomon_mail(keys=list(messages), data=to_serialize(list(messages.values())))

    return asyncio.run_coroutine_threadsafe(send(), worker.loop.asyncio_loop)


def _arrived(sending: Future[Any]) -> bool:
    """Say whether a message has arrived; raise what kept it from arriving."""
    if sending.done():
        sending.result()
    return sending.done()
