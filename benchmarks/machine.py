"""What the figures were measured on; ratios travel between machines, seconds do not."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["cpu_flags", "describe_machine", "instruction_set_levels", "n_cores"]

# What each x86-64 level adds, by the names in /proc/cpuinfo (psABI, section 3.1.1).
_LEVELS = {
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def _cpuinfo(field: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(field)), "")


def cpu_flags() -> set[str]:
    """Return the instruction sets of the CPU as the system names them; empty where it does not tell."""
    return set(_cpuinfo("flags").split())


def instruction_set_levels(flags: set[str] | None = None) -> list[str]:
    """Return the x86-64 levels that this CPU runs, lowest first; empty on other CPUs."""
    flags = cpu_flags() if flags is None else flags
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    levels = ["x86-64"]
    for level, needed in _LEVELS.items():
        if not needed <= flags:
            break
        levels.append(level)
    return levels


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe_machine() -> dict[str, Any]:
    """Return the CPU, its usable cores, memory, load, system and interpreter."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    return {
        "cpu": _cpuinfo("model name") or platform.processor(),
        "cores": n_cores(),
        "levels": instruction_set_levels(),
        "memory_bytes": memory,
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
