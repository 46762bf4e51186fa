"""Refusing a computation that would not fit in memory, before it begins."""

from __future__ import annotations

import functools
import math
import numbers
import re
import time
from collections.abc import Callable
from typing import Any

from gnomon._machine import free_memory
from gnomon._run import current_run
from gnomon._validation import message

__all__ = ["ALWAYS_THERE", "available_memory", "check_budget", "in_bytes", "require_memory"]

ALWAYS_THERE = 2.0**26
"""Bytes that are not asked for: to ask the system takes longer than to fit a small table."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_BUDGET = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt])(i?)b?|b?)", re.IGNORECASE)
_LITTLE = 0.01  # share of what was free in this second for which that is not read again


def available_memory() -> float:
    """Return the bytes that the run may still take: its budget, or what is free; infinity if unknown."""
    return min(free_memory(), current_run().memory)


def check_budget(budget: Any, name: str = "memory_budget") -> float:
    """Return a budget in bytes, not more than that of the run.

    Parameters
    ----------
    budget : float > 0, str or None
        Bytes, or a number with a unit: ``"4G"`` and ``"4 GB"`` are 4e9 bytes, ``"4 GiB"`` is 2^32. None sets no limit
        beside what is free.
    name : str, default="memory_budget"
        Of the parameter, for errors.

    Returns
    -------
    float
        That of the run for None; infinity if that has none.

    Raises
    ------
    TypeError
        If it is neither a number nor a text.
    ValueError
        If it is not positive, or no amount of memory.
    """
    if budget is None:
        return current_run().memory
    what, rule, remedy = f"{name}={budget!r:.60}", "an amount of memory > 0", 'Give bytes, or a text such as "4G".'
    found = math.nan
    if isinstance(budget, str):
        match = _BUDGET.fullmatch(budget.strip())
        if match:
            number, unit, binary = match.groups()
            found = float(number) * (_BINARY_UNITS if binary else _UNITS)[(unit or "").lower()]
    elif isinstance(budget, numbers.Real) and not isinstance(budget, bool):
        found = float(budget)
    else:
        raise TypeError(message(what, rule, fact=type(budget).__name__, remedy=remedy))
    if not found > 0.0:
        raise ValueError(message(what, rule, remedy=remedy))
    return min(found, current_run().memory)


def require_memory(what: str, needed: float, *, fact: str, remedy: str, who: str = "") -> None:
    """Raise MemoryError if a computation needs more bytes than can be taken.

    Parameters
    ----------
    what : str
        The table, such as ``"X of 200000 columns"``.
    needed : float
        Bytes at the peak.
    fact : str
        What needs them.
    remedy : str
        One sentence.
    who : str, default=""
        Opens the error text; by default the name of the run.
    """
    if needed < _LITTLE * _lately(available_memory, current_run().memory, int(time.monotonic())):
        return
    available = available_memory()
    if needed > available:
        rule = f"one whose computation fits in memory, {in_bytes(available)}"
        raise MemoryError(message(what, rule, fact=f"{fact} take {in_bytes(needed)}", remedy=remedy, who=who))


@functools.lru_cache(maxsize=1)
def _lately(read: Callable[[], float], budget: float, second: int) -> float:
    """Return what was read in a second under a budget; that takes half as long as a small fit by `PCA`."""
    return read()


def in_bytes(n_bytes: float) -> str:
    """Write an amount of memory for people, to three digits.

    Parameters
    ----------
    n_bytes : float

    Returns
    -------
    str
    """
    if 0.0 < n_bytes < 1e9:
        return f"{n_bytes / 1e6:.3g} MB"
    gigabytes = n_bytes / 1e9
    return f"{gigabytes:.3g} GB" if gigabytes < 1000 else f"{gigabytes:,.0f} GB"
