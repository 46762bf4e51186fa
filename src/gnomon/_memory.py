"""Refusing a computation that would not fit in memory, before it begins."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

from gnomon._validation import message

__all__ = ["available_memory", "require_memory"]

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> float:
    """Return the bytes that can still be taken, by the system and by a container's limit; infinity if unknown."""
    free = math.inf
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = 1024.0 * int(line.split()[1])
    for limit, usage in _CGROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            free = min(free, float(int(Path(limit).read_text()) - int(Path(usage).read_text())))
    return free


def require_memory(who: str, what: str, needed: float, *, fact: str, remedy: str) -> None:
    """Raise MemoryError if a computation needs more bytes than can be taken.

    Parameters
    ----------
    who : str
        Opens the error text.
    what : str
        The table, such as ``"X of 200000 columns"``.
    needed : float
        Bytes at the peak.
    fact : str
        What needs them.
    remedy : str
        One sentence.
    """
    available = available_memory()
    if needed > available:
        rule = f"one whose computation fits in memory, {_gigabytes(available)}"
        raise MemoryError(message(who, what, rule, fact=f"{fact} take {_gigabytes(needed)}", remedy=remedy))


def _gigabytes(n_bytes: float) -> str:
    gigabytes = n_bytes / 1e9
    return f"{gigabytes:.3g} GB" if gigabytes < 1000 else f"{gigabytes:,.0f} GB"
