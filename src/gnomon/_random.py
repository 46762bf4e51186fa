"""Where a public random_state becomes the one integer seed that everything inside uses."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from gnomon._validation import message

__all__ = ["RandomState", "resolve_seed"]

RandomState = int | np.random.Generator | np.random.RandomState | None


def resolve_seed(random_state: RandomState) -> int:
    """Turn a random_state into a seed.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        An int is the seed itself, also as an array of no dimensions, of NumPy or torch. A generator is advanced by one
        draw. None draws a seed from the operating system.

    Returns
    -------
    int in [0, 2**63)
        Store it: it repeats the run even if no seed was given.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(33))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    value: Any = random_state
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        if 0 <= int(value) < 2**63:
            return int(value)
        raise ValueError(message(f"random_state={random_state!r}", "in [0, 2**63)"))
    raise TypeError(message(f"random_state={random_state!r}", "an int, a numpy Generator or RandomState, or None"))
