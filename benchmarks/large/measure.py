"""Seconds by the clock, seconds of all processors, and the largest memory of a process with all of its children."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Stages"]

_EVERY = 0.2  # seconds between two looks


def _memory(pid: int) -> int:
    """Return the bytes that a process and its children hold in memory of their own; pages of mapped files not."""
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        children = [Path(task, "children").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return 0  # it has ended
    own = sum(1024 * int(fields.get(name, "0 kB").split()[0]) for name in ("RssAnon", "RssShmem"))
    return own + sum(_memory(int(child)) for found in children for child in found)


def _processors() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Stages:
    """What stages of a program take.

    Attributes
    ----------
    taken : dict of str to dict
        Of each stage: ``seconds``, ``cpu_seconds`` (of children when they have ended) and ``peak_bytes``.
    """

    def __init__(self) -> None:
        self.taken: dict[str, dict[str, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what happens inside the block."""
        peak, over = [_memory(os.getpid())], threading.Event()

        def watch() -> None:
            while not over.wait(_EVERY):
                peak[0] = max(peak[0], _memory(os.getpid()))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        wall, cpu = time.perf_counter(), _processors()
        try:
            yield
        finally:
            taken = {"seconds": time.perf_counter() - wall, "cpu_seconds": _processors() - cpu}
            over.set()
            watcher.join()
            self.taken[name] = {**taken, "peak_bytes": float(max(peak[0], _memory(os.getpid())))}

    @property
    def peak_bytes(self) -> float:
        """Largest memory over all stages."""
        return max(one["peak_bytes"] for one in self.taken.values())
