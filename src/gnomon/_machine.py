"""What the machine lets this process use: processors and memory."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["free_memory", "usable_cpus"]

_MEMORY_OF_CONTAINERS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_memory() -> float:
    """Return the bytes that can still be taken, by the system and by a container's limit; infinity if unknown."""
    free = math.inf
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = 1024.0 * int(line.split()[1])
    for limit, usage in _MEMORY_OF_CONTAINERS:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            free = min(free, float(int(Path(limit).read_text()) - int(Path(usage).read_text())))
    return free


def _cgroup_quota() -> float:
    """Return the CPU quota of a container in cores, infinity if there is none."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            return int(quota) / int(period)
    with contextlib.suppress(OSError, ValueError):
        quota = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text()
        period = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text()
        if int(quota) > 0:
            return int(quota) / int(period)
    return math.inf


@functools.lru_cache(maxsize=1)
def _recent_quota(read: Callable[[], float], second: int) -> float:
    """Return the quota as of a second; to read it takes a tenth of the time of a small fit."""
    return read()


def usable_cpus() -> int:
    """Return how many threads are worth running: affinity, container quota and OMP_NUM_THREADS are respected."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _recent_quota(_cgroup_quota, int(time.monotonic()))
    if quota < cpus:
        cpus = max(1, math.floor(quota))
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # a list has one entry a level of nesting
    if limit.isdecimal() and int(limit) > 0:
        cpus = min(cpus, int(limit))
    return cpus
