"""Rounds on the workers of a Dask cluster, and what happens when one of them dies."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from distributed import wait
from distributed.scheduler import KilledWorker

from gnomon._run import current_run
from gnomon._validation import message
from gnomon.scale.mail import Held, LostMessageError, Mailbox, abort, do_rounds
from gnomon.scale.rounds import Rounds, RoundsWork

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["ClusterRounds"]

_GLANCE = 1.0  # seconds between looks at the workers while rounds are waited for
_PATIENCE = 60.0  # seconds without a worker after which the work is given up
_ATTEMPTS = 5  # times that workers may die in one run of rounds


class ClusterRounds(Rounds):
    """Each part on one worker of a Dask cluster, where its state stays; messages go from worker to worker.

    A run of rounds is one task for each worker, all at the same time. The states at its end come to this process. If a
    worker dies, the run begins again from its beginning on the workers that are there then: what is lost is the time
    of one run.

    Parameters
    ----------
    work : RoundsWork
    client : distributed.Client

    Attributes
    ----------
    n_restarts : int
        How often a run began again.
    """

    def __init__(self, work: RoundsWork, client: Client) -> None:
        super().__init__(work)
        self.client = client
        self.n_restarts = 0
        self._places: dict[int, str] = {}
        self._held: dict[str, Future[Held]] = {}
        self._left: tuple[Sequence[Any], dict[str, Future[dict[int, Any]]]] = ([], {})  # states, and where they are

    def run(self, states: Sequence[Any], first: int, last: int) -> list[Any]:
        """Do the rounds; begin again where workers die."""
        for _ in range(_ATTEMPTS):
            try:
                return self._run(states, first, last)
            except (_LostWorkerError, CancelledError, KilledWorker):
                self.close()
                self.n_restarts += 1
        fact = f"workers died {_ATTEMPTS} times between the steps {first} and {last}"
        remedy = "Read the logs of the workers; where the system ended them, give them more memory."
        rule = "a cluster whose workers live as long as its rounds"
        raise ConnectionError(message("executor", rule, fact=fact, remedy=remedy))

    def close(self) -> None:
        """Let go of parts and states."""
        self._places, self._held, self._left = {}, {}, ([], {})

    def _run(self, states: Sequence[Any], first: int, last: int) -> list[Any]:
        self._settle()
        left, began = self._left
        if len(left) != len(states) or any(one is not other for one, other in zip(left, states, strict=True)):
            began = {
                place: self._scatter({part: states[part] for part in self._of(place)}, place) for place in self._held
            }
        run = uuid.uuid4().hex
        ends = {
            place: self.client.submit(
                do_rounds,
                held,
                began[place],
                run,
                first,
                last,
                self._places,
                workers=[place],
                key=f"rounds-{run}-{number}",
                pure=False,
                priority=1,
            )
            for number, (place, held) in enumerate(self._held.items())
        }
        try:
            self._await(list(ends.values()))
            found = {part: state for one in self.client.gather(list(ends.values())) for part, state in one.items()}
        except BaseException:
            self._abort(run, list(ends.values()))
            raise
        states = [found[part] for part in range(self.work.n_parts)]
        self._left = (states, ends)
        return states

    def _of(self, place: str) -> list[int]:
        return [part for part, other in self._places.items() if other == place]

    def _scatter(self, value: Any, place: str) -> Future[Any]:
        try:
            sent: list[Future[Any]] = self.client.scatter([value], workers=[place], hash=False)
            return sent[0]
        except (OSError, KeyError, TimeoutError) as error:  # it is gone
            raise _LostWorkerError from error

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
        try:
            self.client.register_plugin(Mailbox())
        except OSError as error:  # a worker died while it was told
            raise _LostWorkerError from error
        n = self.work.n_parts
        chosen = workers[:n]
        self._places = {part: chosen[part * len(chosen) // n] for part in range(n)}
        work, name = self.work.on_worker, current_run().name
        for place in chosen:
            parts = {part: self.work.part(part) for part in self._of(place)}
            self._held[place] = self._scatter(Held(work, parts, name), place)

    def _await(self, futures: Sequence[Future[Any]]) -> None:
        """Wait for tasks; raise what one of them raised, or that one of their workers is gone."""
        while True:
            with self.client.as_current(), suppress(TimeoutError):
                wait(futures, timeout=_GLANCE)
            errors = [one.exception() for one in futures if one.status == "error"]
            gone = not set(self._held) <= set(self._workers())
            lost = [isinstance(error, LostMessageError | OSError | KilledWorker) for error in errors]
            for error, is_lost in zip(errors, lost, strict=True):
                if not is_lost and error is not None:
                    raise error
            if gone or any(lost) or any(one.status in ("cancelled", "lost") for one in futures):
                raise _LostWorkerError
            if all(one.status == "finished" for one in futures):
                return

    def _abort(self, run: str, futures: Sequence[Future[Any]]) -> None:
        """End what still runs, so that its workers are free."""
        if self.client.status != "running":
            return
        self.client.cancel(futures)
        self.client.run(abort, run, on_error="ignore")


class _LostWorkerError(Exception):
    """A worker of a part is gone."""
