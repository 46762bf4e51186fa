"""The three verbs on the workers of a Dask cluster: what they find does not depend on how many there are."""

from __future__ import annotations

import contextlib
import math
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

from gnomon._cached import cached_property
from gnomon._memory import in_bytes
from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.scale.task import Call, Done, Fixed, Value, combine_done, work
from gnomon.scale.verbs import Executor, Shared

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DaskExecutor"]

_Value = TypeVar("_Value")
_AHEAD = 3  # tasks handed in for each thread of the workers, so that none waits for the client
_GLANCE = 2.0  # seconds between looks at the workers while a result is waited for
_ARRIVAL = 2.0  # times a shared value that it takes while it arrives, beside the value
_CONNECTING = 10.0  # seconds for a scheduler to answer
_PROCESS = 2.5e8  # bytes of a worker before its first task: Python, Dask and what gnomon imports
_INLINE = 20_000  # bytes of a function and its arguments that go with each task; more is broadcast
_VERSIONS = ("gnomon", "numpy", "scipy")  # that decide bytes
_LESS = "Give workers more memory or fewer threads, or take fewer landmarks."
_LOGS = "Read the logs of the workers; where the system ended them, give them more memory."


class DaskExecutor(Executor):
    """Work on the workers of a Dask cluster; scheduling, retries, spilling and the dashboard are Dask's.

    A worker of t threads runs t tasks at a time; a task uses the threads of its worker divided by the tasks that run
    there when it begins, and may take the worker's memory limit divided by t. A task whose worker dies is done again
    elsewhere, as often as ``distributed.scheduler.allowed-failures`` says.

    Parameters
    ----------
    client : distributed.Client, cluster of distributed.deploy or str
        A client stays open; of a cluster, or the address of a scheduler, a client is made and closed by `close`.
    timeout : float > 0, default=60.0
        Seconds without a worker, or with none but workers that are paused because their memory is full, after which a
        call fails.

    Attributes
    ----------
    client : distributed.Client

    Raises
    ------
    gnomon.exceptions.MissingDependencyError
        If distributed is not installed.
    TypeError
        If it is anything else.
    ValueError
        If the client is asynchronous or closed, or if a worker has another version of gnomon, NumPy or SciPy.
    TimeoutError
        If the address does not answer within 10 s, or if the cluster has no workers for the timeout.
    """

    def __init__(self, client: Any, *, timeout: float = 60.0) -> None:
        distributed = import_optional("distributed", package="distributed", extra="scale")
        self._timeout = timeout
        self._owned = not isinstance(client, distributed.Client)
        self.client: Client = _connect(distributed, client) if self._owned else client
        if self.client.asynchronous or self.client.status != "running":
            found = "asynchronous" if self.client.asynchronous else self.client.status
            what, remedy = f"executor={type(self.client).__name__} that is {found}", "Make one with Client(address)."
            raise ValueError(message(what, "a connected client of synchronous calls", remedy=remedy))
        self._checked: set[str] = set()  # addresses of workers whose versions are known to fit
        self._workers: dict[str, Any] = {}
        self._looked = -math.inf
        try:
            self._await_workers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the client if it was made here."""
        if self._owned:
            self.client.close()

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *shared: Any, needed: float = 0.0
    ) -> Iterator[Any]:
        """Yield the results in order; about three tasks a thread are handed in ahead of the one that is yielded."""
        return self._map(self._prepare(function, shared, needed), items)

    def reduce(
        self,
        function: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        items: Sequence[Any],
        *shared: Any,
        needed: float = 0.0,
    ) -> Any:
        """Combine on the workers, where what is between stays."""
        call = self._prepare(function, shared, needed)
        joining = self._prepare(combine, (), 0.0)
        for _ in range(_allowed_failures()):
            try:
                return call.open(self._reduce(call, joining, items))
            except CancelledError:  # the workers that died had the only copies of a shared value
                self._restore(call)
                self._restore(joining)
        raise self._died(call, None)

    def broadcast(self, value: _Value) -> Shared[_Value]:
        """Send a value to all workers; those that join later fetch it from the others, or from here if all died."""
        self._await_workers()
        return Shared(_Replicated(value, self._scatter(value)))

    # ------------------------------------------------------------------------------------------------------- tasks

    def _prepare(self, function: Callable[..., Any], shared: Sequence[Any], needed: float) -> Call:
        """Pack what all tasks of a call have in common, and refuse what no worker can hold."""
        self._await_workers()
        fixed = Fixed.of(function, shared)
        call = Call.of_current_run(fixed, [one.held for one in shared if isinstance(one, Shared)], needed)
        if needed:
            self._require_room(call)
        if len(fixed.packed) > _INLINE:
            call.shared.insert(0, self.broadcast(fixed.open()).held)
            call.fixed = None
        return call

    def _submit(self, call: Call, item: Any) -> Future[Done]:
        self._look()
        return self.client.submit(
            work, call.task(item), *(one.future for one in call.shared), key=f"{call.stage}-{uuid.uuid4()}", pure=False
        )

    def _map(self, call: Call, items: Iterable[Any]) -> Iterator[Any]:
        pending: deque[_Job] = deque()
        try:
            for item in items:
                pending.append(_Job(item, self._submit(call, item)))
                if len(pending) >= self._ahead():
                    yield self._next(call, pending)
            while pending:
                yield self._next(call, pending)
        finally:
            self._drop(job.future for job in pending)

    def _next(self, call: Call, pending: deque[_Job]) -> Any:
        """Return the result of the first of the pending tasks and forget it."""
        while True:
            try:
                done = self._result(call, pending[0].future)
                break
            except CancelledError:
                self._restore(call)
                for job in pending:
                    if job.future.status in ("cancelled", "lost"):
                        job.renew(self._submit(call, job.item), lambda: self._died(call, None))
        pending.popleft().future.release()
        return call.open(done)

    def _reduce(self, call: Call, joining: Call, items: Sequence[Any]) -> Done:
        """Hand in the tree from its first leaf to its last, no more leaves ahead than `map` does."""
        leaves: deque[Future[Done]] = deque()
        waiting: list[tuple[int, Future[Done]]] = []  # sizes of complete trees, descending, and what will be their sums

        def join(left: Future[Done], right: Future[Done]) -> Future[Done]:
            key, shared = f"{joining.stage}-{uuid.uuid4()}", (one.future for one in joining.shared)
            return self.client.submit(combine_done, joining.task(None), left, right, *shared, key=key, pure=False)

        try:
            for item in items:
                size, found = 1, self._submit(call, item)
                leaves.append(found)
                while waiting and waiting[-1][0] == size:
                    found = join(waiting.pop()[1], found)
                    size *= 2
                waiting.append((size, found))
                if len(leaves) >= self._ahead():
                    self._finish(call, leaves[0])
                    leaves.popleft()
            while len(waiting) > 1:
                right = waiting.pop()[1]
                waiting.append((0, join(waiting.pop()[1], right)))
            return self._result(call, waiting[0][1])
        finally:
            self._drop([*leaves, *(found for _, found in waiting)])

    def _drop(self, futures: Iterable[Future[Done]]) -> None:
        """Cancel what is still to be done; what runs ends by itself, since threads cannot be stopped."""
        futures = list(futures)
        unfinished = [future for future in futures if not future.done()]
        if unfinished and self.client.status == "running":
            with contextlib.suppress(Exception):  # the error on its way says more
                self.client.cancel(unfinished)
        for future in futures:  # the traceback of an error keeps the objects
            future.release()

    # ----------------------------------------------------------------------------------------------------- waiting

    def _finish(self, call: Call, future: Future[Done]) -> None:
        """Wait until a task is done; raise what it raised, or what keeps it from being done."""
        from distributed import wait
        from distributed.scheduler import KilledWorker

        while not future.done():
            try:
                with self.client.as_current():
                    wait([future], timeout=_GLANCE)
            except TimeoutError:
                self._await_workers(future)
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                raise self._died(call, error) from None
            assert error is not None
            raise error
        if future.status in ("cancelled", "lost"):
            raise CancelledError

    def _result(self, call: Call, future: Future[Done]) -> Done:
        seconds = 30.0
        while True:
            self._finish(call, future)
            try:
                done: Done = future.result(timeout=seconds)
                return done
            except TimeoutError:  # the transfer takes long, or its worker is gone and the task is done again
                self._await_workers()
                seconds *= 2

    def _look(self) -> None:
        """Ask the scheduler for the workers, not more often than the glances are apart."""
        if time.monotonic() - self._looked >= _GLANCE:
            self._workers = dict(self.client.scheduler_info(n_workers=-1)["workers"])
            self._looked = time.monotonic()
            self._check_versions()

    def _await_workers(self, future: Future[Done] | None = None) -> None:
        """Return when a worker takes tasks or is at one, or when the future is done; raise when the time is out."""
        end = time.monotonic() + self._timeout
        while True:
            self._check_connected(end)
            self._looked = -math.inf
            self._look()
            if any(map(_can_work, self._workers.values())) or (future is not None and future.done()):
                return
            if time.monotonic() > end:
                raise self._idle()
            time.sleep(0.1)

    def _check_connected(self, end: float) -> None:
        """Wait for the scheduler to answer again, as long as the client tries and the time is not out."""
        while self.client.status != "running":
            if self.client.status in ("closed", "closing", "failed") or time.monotonic() > end:
                fact = f"the scheduler at {_address(self.client)} does not answer"
                remedy = "Start it, and this call again; with a folder it goes on where it was."
                raise ConnectionError(message("executor", "a cluster that is reached", fact=fact, remedy=remedy))
            time.sleep(0.1)

    def _idle(self) -> Exception:
        """Return the error of a cluster none of whose workers takes tasks."""
        seconds, address = f"for {self._timeout:.0f} s", _address(self.client)
        if not self._workers:
            fact, remedy = f"the cluster has no workers {seconds}", f'Start one: "dask worker {address}".'
            return TimeoutError(message("executor", "a cluster with workers", fact=fact, remedy=remedy))
        limit = in_bytes(min(float(worker["memory_limit"] or math.inf) for worker in self._workers.values()))
        fact = f"all {len(self._workers)} are paused {seconds} because their memory, {limit} each, is full"
        remedy = "Give workers more memory or fewer threads."
        return MemoryError(message("executor", "a cluster with workers that take tasks", fact=fact, remedy=remedy))

    def _check_versions(self) -> None:
        """Refuse workers whose results could have other bytes; each worker is asked once."""
        unknown = [address for address in self._workers if address not in self._checked]
        if not unknown:
            return
        versions = _asker()
        here = versions(_VERSIONS)
        for address, there in self.client.run(versions, _VERSIONS, workers=unknown, on_error="return").items():
            if isinstance(there, BaseException):  # it died, or is dying
                continue
            for name in _VERSIONS:
                if there[name] != here[name]:
                    fact = f"the worker {address} has {name} {there[name]}, this process {here[name]}"
                    remedy = "Install the same versions on both."
                    raise ValueError(message("executor", "a cluster of one version", fact=fact, remedy=remedy))
            self._checked.add(address)

    # ------------------------------------------------------------------------------------------ copies and limits

    def _scatter(self, value: Any) -> Future[Any]:
        began, times = time.time(), _allowed_failures()
        for _ in range(times):
            try:
                (future,) = self.client.scatter([Value(value)], broadcast=True, hash=False)
                return future
            except (OSError, KeyError):  # a worker died on the way
                self._await_workers()
        share, arriving = self._share(), in_bytes(_ARRIVAL * _bytes_of(value))
        what = f"the {type(value).__name__} that all tasks of a stage read"
        if self._full_since(began):
            fact = f"workers were ended {times} times as it arrived, since they took more than their limit"
            rule = f"one that fits in {in_bytes(share)} as it arrives, which takes {arriving}"
            raise MemoryError(message(what, rule, fact=fact, remedy=_LESS))
        raise ConnectionError(
            message(
                what,
                "one that arrives at the workers",
                fact=f"{times} times a worker died before it was there, where one has {in_bytes(share)}",
                remedy=_LOGS,
            )
        )

    def _restore(self, call: Call) -> None:
        """Send again the shared values that died with their workers."""
        self._await_workers()
        for one in call.shared:
            if one.future.status != "finished" or not self.client.who_has([one.future]).get(one.future.key):
                one.future = self._scatter(one.value)

    @property
    def n_workers(self) -> int:  # type: ignore[override] # workers come and go
        """Workers of the cluster at the last look."""
        return len(self._workers)

    def _ahead(self) -> int:
        return max(2, _AHEAD * sum(int(worker["nthreads"]) for worker in self._workers.values()))

    def _share(self) -> float:
        """Return the least memory that a task has on a worker, in bytes."""
        return min(map(_share_of, self._workers.values()), default=math.inf)

    def _require_room(self, call: Call) -> None:
        """Raise MemoryError if a worker has less for each task than one takes, beside what all tasks share."""
        sizes = [one.n_bytes for one in call.shared]
        held = _PROCESS + sum(sizes)
        least = min(self._workers.values(), key=_share_of)
        limit = _limit_of(least)
        room = max(0.0, limit - held) / least["nthreads"]
        needed = max([call.needed, *(_ARRIVAL * size for size in sizes)])
        if needed > room:
            fact = f"a task takes {in_bytes(needed)}, the worker itself {in_bytes(held)} of its {in_bytes(limit)}"
            raise MemoryError(self._too_large(call, fact, room))

    def _too_large(self, call: Call, fact: str, share: float) -> str:
        return message(
            f"the stage {call.stage!r}", f"one whose tasks fit in {in_bytes(share)}", fact=fact, remedy=_LESS
        )

    def _full_since(self, began: float) -> bool:
        """Return whether nannies have ended workers for their memory since a time."""
        return any(at >= began for at, _ in self.client.get_events("worker-restart-memory"))

    def _died(self, call: Call, error: Any) -> Exception:
        """Return the error of a task whose workers died each time."""
        share = self._share()
        last = getattr(error, "last_worker", None)
        if last is not None and last.memory_limit:
            share = last.memory_limit / last.nthreads
        times = _allowed_failures() if error is None else error.allowed_failures + 1
        if self._full_since(call.began):
            fact = f"workers were ended {times} times because they took more than their limit"
            if call.needed:
                fact += f"; a task was forecast to take {in_bytes(call.needed)}"
            return MemoryError(self._too_large(call, fact, share))
        rule = "one whose tasks leave their workers alive"
        fact = f"{times} workers died at a task of it, where one has {in_bytes(share)}"
        return ConnectionError(message(f"the stage {call.stage!r}", rule, fact=fact, remedy=_LOGS))


class _Replicated:
    """A value that workers have, and that the client keeps for the case that they die."""

    def __init__(self, value: Any, future: Future[Any]) -> None:
        self.value = value
        self.future = future

    @cached_property
    def n_bytes(self) -> float:
        """Bytes of the value."""
        return _bytes_of(self.value)


class _Job:
    """A task that was handed in, and what it would take to hand it in again."""

    def __init__(self, item: Any, future: Future[Done]) -> None:
        self.item = item
        self.future = future
        self._left = _allowed_failures()

    def renew(self, future: Future[Done], error: Callable[[], Exception]) -> None:
        self.future = future
        self._left -= 1
        if self._left == 0:
            raise error()


def _bytes_of(value: Any) -> float:
    """Return the bytes of a value on its way to a worker."""
    from distributed.protocol.pickle import dumps

    buffers: list[Any] = []
    return float(len(dumps(value, buffer_callback=buffers.append)) + sum(one.raw().nbytes for one in buffers))


def _limit_of(worker: dict[str, Any]) -> float:
    return float(worker["memory_limit"] or math.inf)


def _share_of(worker: dict[str, Any]) -> float:
    return _limit_of(worker) / float(worker["nthreads"])


def _can_work(worker: dict[str, Any]) -> bool:
    return bool(worker.get("status") != "paused" or worker["metrics"]["task_counts"].get("executing"))


def _allowed_failures() -> int:
    """Return how many workers may die at a task before it is given up: one more than Dask's setting."""
    import dask

    return int(dask.config.get("distributed.scheduler.allowed-failures")) + 1


def _connect(distributed: Any, to: Any) -> Client:
    if not isinstance(to, str | distributed.deploy.Cluster):
        rule = "a distributed.Client, a cluster of distributed.deploy or the address of a scheduler"
        raise TypeError(message(f"executor of type {type(to).__name__}", rule))
    address = to if isinstance(to, str) else to.scheduler_address
    if "://" not in address:
        what, remedy = f"executor={address!r:.80}", 'It looks like "tcp://127.0.0.1:8786".'
        raise ValueError(message(what, "the address of a scheduler", remedy=remedy))
    try:
        client: Client = distributed.Client(to, timeout=_CONNECTING, set_as_default=False)
        return client
    except (OSError, TimeoutError) as error:
        what, rule = f"executor={address!r:.80}", "the address of a scheduler that answers"
        fact, remedy = f"none within {_CONNECTING:.0f} s", 'Start one with "dask scheduler", which prints its address.'
        raise TimeoutError(message(what, rule, fact=fact, remedy=remedy)) from error


def _address(client: Client) -> str:
    return str(getattr(client.scheduler, "address", "unknown address"))


def _asker() -> Callable[[Sequence[str]], dict[str, str]]:
    """Return a function that tells versions; it is sent as a whole, so that it runs where gnomon is not installed."""

    def versions(names: Sequence[str]) -> dict[str, str]:
        import importlib

        found = {}
        for name in names:
            try:
                found[name] = str(importlib.import_module(name).__version__)
            except ImportError:
                found[name] = "not installed"
        return found

    return versions
