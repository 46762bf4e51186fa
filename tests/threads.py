"""Calling something on a given number of threads, to see that the result does not depend on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon._run import running


def on_threads(n_threads: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, to be called in a run of so many threads."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with running(n_threads=n_threads):
            return function(*args, **kwargs)

    return call
