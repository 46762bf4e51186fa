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

_GROUPS = Path("/sys/fs/cgroup")
_QUOTA_OF_GROUPS = (
    ("", ("cpu.max",)),
    ("cpu", ("cpu.cfs_quota_us", "cpu.cfs_period_us")),
)  # folder, files of the quota
_MEMORY_OF_GROUPS = (  # folder, limit, what is taken, and the files' pages that are given up when memory is short
    ("", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
_FIELDS_OF_LIMITS = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}  # limits of `ulimit -v` and -d, and their fields in statm


def free_memory() -> float:
    """Return the bytes that can still be taken; infinity if unknown.

    The least of what the system has, what the control groups of the process leave, from its own to the root, and what
    its own limits do (``ulimit -v`` and ``-d``).
    """
    free = min(_left_by_limits(), _left_by_groups())
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return min(free, 1024.0 * int(line.split()[1]))
    return free


def _left_by_groups() -> float:
    """Return the bytes that the limits of control groups leave; infinity if there are none."""
    left = math.inf
    for folder, limit, usage, spare in _limited_groups():
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            allowed, taken = int((folder / limit).read_text()), int((folder / usage).read_text())
            with contextlib.suppress(OSError, ValueError):
                counts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                taken -= int(counts.get(spare, 0))
            left = min(left, float(max(0, allowed - taken)))
    return left


@functools.lru_cache(maxsize=1)
def _limited_groups() -> tuple[tuple[Path, str, str, str], ...]:
    """Return the folders of the control groups of this process that may limit its memory, with names of files."""
    found = []
    for name, limit, usage, spare in _MEMORY_OF_GROUPS:
        found += [(folder, limit, usage, spare) for folder in _groups(name, "memory") if (folder / limit).exists()]
    return tuple(found)


def _groups(folder: str, controller: str) -> dict[Path, None]:
    """Return the folders of the control groups of this process, from its own to the root, in the order of their names.

    In a container the root is its own group; a service of the system has its group some folders below.
    """
    own = [""]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            controllers, path = line.split(":", 2)[1:]
            if not controllers or controller in controllers.split(","):
                own += [path.strip("/")]
    return dict.fromkeys(_GROUPS / folder / part for path in own for part in (path, *map(str, Path(path).parents)))


def _left_by_limits() -> float:
    """Return the bytes that the limits of the process itself leave; infinity if there are none."""
    left = math.inf
    with contextlib.suppress(ImportError, OSError, ValueError, IndexError):
        import resource  # not on every system

        for name, field in _FIELDS_OF_LIMITS.items():
            allowed = resource.getrlimit(getattr(resource, name))[0]
            if allowed != resource.RLIM_INFINITY:
                pages = int(Path("/proc/self/statm").read_text().split()[field])
                left = min(left, float(max(0, allowed - pages * resource.getpagesize())))
    return left


def _cgroup_quota() -> float:
    """Return the least CPU quota of the control groups of the process in cores, infinity if there is none."""
    least = math.inf
    for folder, files in _QUOTA_OF_GROUPS:
        for group in _groups(folder, "cpu"):
            with contextlib.suppress(OSError, ValueError):  # "max" is no number: no quota
                quota, period = (int(part) for name in files for part in (group / name).read_text().split())
                if quota > 0:
                    least = min(least, quota / period)
    return least


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
