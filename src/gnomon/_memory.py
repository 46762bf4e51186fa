"""Refusing a computation that would not fit in memory, before it begins."""

from __future__ import annotations

from gnomon._machine import free_memory
from gnomon._run import current_run
from gnomon._validation import message

__all__ = ["available_memory", "require_memory"]


def available_memory() -> float:
    """Return the bytes that the run may still take: its budget, or what is free; infinity if unknown."""
    return min(free_memory(), current_run().memory)


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
    available = available_memory()
    if needed > available:
        rule = f"one whose computation fits in memory, {_gigabytes(available)}"
        raise MemoryError(message(what, rule, fact=f"{fact} take {_gigabytes(needed)}", remedy=remedy, who=who))


def _gigabytes(n_bytes: float) -> str:
    gigabytes = n_bytes / 1e9
    return f"{gigabytes:.3g} GB" if gigabytes < 1000 else f"{gigabytes:,.0f} GB"
