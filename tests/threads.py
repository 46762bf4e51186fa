"""Calling something on a given number of threads, to see that the result does not depend on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gnomon._run import running


def on_threads(n_threads: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, to be called in a run of so many threads."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with running(n_threads=n_threads):
            return function(*args, **kwargs)

    return call


def of_a_whole_machine(**environment: str) -> dict[str, str]:
    """Return the environment of a process that takes as many threads as the machine has, also under workers."""
    return {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"} | environment
