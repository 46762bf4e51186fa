"""Seconds by the clock, seconds of all processors, and the largest memory of a process with all of its children."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gnomon import Progress

__all__ = ["Stages", "memory_held"]

_EVERY = 0.2  # seconds between two looks


def memory_held(pid: int | None = None) -> int:
    """Return the bytes that a process and its children hold in memory of their own; pages of mapped files not."""
    pid = os.getpid() if pid is None else pid
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        children = [Path(task, "children").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return 0  # it has ended
    own = sum(1024 * int(fields.get(name, "0 kB").split()[0]) for name in ("RssAnon", "RssShmem"))
    return own + sum(memory_held(int(child)) for found in children for child in found)


def _processors() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Stages:
    """What stages of a program take; one that is entered again is added to.

    Parameters
    ----------
    tell : callable or None, default=None
        Called with the name of a stage and what it took when it ends.

    Attributes
    ----------
    taken : dict of str to dict
        Of each stage: ``seconds``, ``cpu_seconds`` (of children when they have ended) and ``peak_bytes``.
    """

    def __init__(self, tell: Callable[[str, dict[str, float]], None] | None = None) -> None:
        self.taken: dict[str, dict[str, float]] = {}
        self._tell = tell
        self._name = ""

    def begin(self, name: str) -> None:
        """End the stage that runs and begin another."""
        self.end()
        self._name, self._peak, self._over = name, memory_held(), threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        self._began = time.perf_counter(), _processors()

    def end(self) -> None:
        """End the stage that runs, if any."""
        if not self._name:
            return
        wall, cpu = self._began
        known = self.taken.get(self._name, {"seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0.0})
        seconds, cpu_seconds = time.perf_counter() - wall, _processors() - cpu
        self._over.set()
        self._watcher.join()
        peak = float(max(known["peak_bytes"], self._peak, memory_held()))
        name, self._name = self._name, ""
        self.taken[name] = {
            "seconds": known["seconds"] + seconds,
            "cpu_seconds": known["cpu_seconds"] + cpu_seconds,
            "peak_bytes": peak,
        }
        if self._tell is not None:
            self._tell(name, self.taken[name])

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what happens inside the block."""
        self.begin(name)
        try:
            yield
        finally:
            self.end()

    def follow(self, names: Mapping[str, str], other: str) -> Callable[[Progress], None]:
        """Return a callback for a computation whose stages are measured, each by the name that stands for its own.

        Parameters
        ----------
        names : mapping of str to str
        other : str
            The name of all other stages together.
        """

        def callback(progress: Progress) -> None:
            name = names.get(progress.stage, other)
            if name != self._name:
                self.begin(name)

        return callback

    def _watch(self) -> None:
        over = self._over
        while not over.wait(_EVERY):
            self._peak = max(self._peak, memory_held())

    @property
    def peak_bytes(self) -> float:
        """Largest memory over all stages."""
        return max(one["peak_bytes"] for one in self.taken.values())
